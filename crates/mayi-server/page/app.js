// The page: its parts, and what is requested and redrawn when the state changes.
//
// A field changes the state, and the page then asks for what depends on it, once nothing has changed for a
// moment. The server decides everything; nothing about robots.txt is decided here.

import { compare, decide, dialects, diff, latest, lint, overview, readPage, registry, settled } from "./api.js";
import { held, isOther, keepAddress, link } from "./address.js";
import { Combobox } from "./combobox.js";
import { showComparison } from "./comparison.js";
import { Decisions } from "./decisions.js";
import { byId, counted, element, fill, shown } from "./dom.js";
import { Editor } from "./editor.js";
import { EXAMPLE } from "./example.js";
import { fetching } from "./fetching.js";
import { fileTools } from "./filetools.js";
import { Findings } from "./findings.js";
import { Grid } from "./grid.js";
import { History } from "./history.js";
import { livePages } from "./livepage.js";
import { edited, wellFormed } from "./octets.js";
import { showCrawlers, showSummary } from "./overview.js";
import { agent, fetched, file, naming, requests, response, site, state, words } from "./state.js";
import { tabs } from "./tabs.js";
import { problem as tellProblem, say, sayAloud } from "./telling.js";
import { toolbar } from "./toolbar.js";
import { showVersions, Versions } from "./versions.js";
import { pageRules } from "./why.js";
import { wizard } from "./wizard.js";

/** Octets of one request, about: a long file is sent with each URL. */
const MOST_SENT = 2 * 1024 * 1024;

/** The crawlers that are shown beside the chosen one, if none are given. */
const WELL_KNOWN = ["Googlebot", "Bingbot", "GPTBot", "ClaudeBot", "CCBot"];

const UNKNOWN = "Not in the registry of known crawlers.";

/** The report of lint that is shown, and the text that it is about. */
let linted = { text: null, report: null };

// ---------------------------------------------------------------------------------------- messages

/** Shows what went wrong with one kind of question, or that it went well. */
const problem = (about, found) =>
  tellProblem(about, found, () => {
    if (known.size === 0) loadRegistries();
    askAll.now();
  });

/** Tells screen readers what has changed, once it has settled. */
const announce = settled(
  () => {
    const said = [byId("decisions-count").textContent, byId("findings-heading").textContent];
    say(`Decisions: ${said.join(". ")}`);
  },
  () => 700,
);

// ---------------------------------------------------------------------------------------- what is asked

const askDecisions = latest(async (signal) => {
  const { all, skipped } = requests();
  const size = JSON.stringify(all[0] ?? "").length;
  const together = Math.max(1, Math.floor(MOST_SENT / Math.max(1, size)));
  const answers = [];
  if (all.length === 0) showDecisions([], 0, 0);
  for (let from = 0; from < all.length; from += together) {
    const some = all.slice(from, from + together);
    const body = some.map((request, place) => ({ ...request, explain: decisions.isOpen(from + place) }));
    const got = await decide(body, signal);
    // An error may not have its URL.
    answers.push(...got.map((one, place) => (one.error ? { url: some[place].url, ...one } : one)));
    if (signal.aborted) return;
    showDecisions(answers, all.length, skipped);
  }
});

function showDecisions(answers, asked, skipped) {
  decisions.show(answers, asked, skipped, site());
  const lit = answers.filter((one) => one.access?.rule);
  editor.light(new Map(lit.map((one) => [one.access.rule.line, one.access.allowed ? "allowed" : "disallowed"])));
}

/** Asks for the explanation of one decision, whose row was opened. */
async function explain(place) {
  const request = requests().all[place];
  if (!request) return;
  try {
    const decision = await decide({ ...request, explain: true });
    // What was asked may have changed meanwhile; then the newer answer is on its way.
    if (JSON.stringify(requests().all[place]) === JSON.stringify(request)) decisions.showOne(place, decision);
    problem("decisions", null);
  } catch (error) {
    problem("decisions", error);
  }
}

const askLint = latest(async (signal) => {
  const text = editor.text;
  const report = await lint({ robots: wellFormed(text), ...(state.style && { select: ["style"] }) }, signal);
  return { text, report };
});

const askComparison = latest((signal) => {
  const agents = words(wellFormed(state.compareAgents));
  return compare({ robots: wellFormed(state.robots), ...(agents.length > 0 && { agents }) }, signal);
});

/** The crawlers of the table: those that were given, or the chosen one, those of the file and a few well-known ones. */
async function tableCrawlers(signal) {
  const given = words(wellFormed(state.compareAgents));
  if (given.length > 0) return [...new Set(given)];
  const compared = await compare({ robots: wellFormed(state.robots) }, signal);
  const all = compared.readings.flatMap((reading) => reading.of.map((one) => one.crawler));
  const [others, named] = [all.filter((name) => name === "*"), all.filter((name) => name !== "*")];
  return [...new Set([agent(), ...named, ...WELL_KNOWN, ...others])].filter(Boolean);
}

/** Asks about all URLs as all crawlers. */
const askGrid = latest(async (signal, everything) => {
  const { all, skipped } = requests();
  // Most are of one site, which need not be said each time.
  const brief = (url) => (url.startsWith(`${site()}/`) ? url.slice(site().length) : url);
  const agents = await tableCrawlers(signal);
  const onMore = () =>
    askAbout(
      "grid",
      () => askGrid(true),
      () => {},
    );
  await grid.ask(signal, { requests: all, agents, brief, everything, onMore });
  fill(
    byId("grid-dialect"),
    `These are the decisions of the dialect ${state.dialect}, which you choose under Decisions. `,
    element(
      "button",
      { type: "button", class: "small", onclick: () => set({ tab: "compare" }, { now: true }) },
      "Show where other dialects decide differently",
    ),
  );
  byId("grid-skipped").textContent = skipped > 0 ? `${counted(skipped, "more URL")} not checked.` : "";
});

const askOverview = latest((signal) => overview({ robots: file(), dialect: state.dialect }, signal));

function showOverview(result) {
  byId("overview").hidden = false;
  showSummary({ sentences: byId("overview-sentences"), kinds: byId("overview-kinds") }, result, (kind) => {
    showCrawlers(byId("crawlers"), result);
    set({ tab: "crawlers" });
    byId(`kind-${kind}`).focus();
  });
  if (state.tab === "crawlers") showCrawlers(byId("crawlers"), result);
}

const askVersions = latest(async (signal) => {
  const [old, now] = [wellFormed(versions.other), wellFormed(state.robots)];
  return { old, now, site: site(), diff: await diff({ old, new: now, dialect: state.dialect }, signal) };
});

const askPage = latest((signal) => {
  return readPage({ ...(agent() && { agent: agent() }), ...response() }, signal);
});

async function askAbout(about, ask, show) {
  const answered = await ask();
  if (answered === null) return;
  problem(about, answered.problem ?? null);
  // No request is pending any more; the banner says if the page shows old answers.
  if (about === "decisions") decisions.stale = false;
  if (!answered.problem) {
    show(answered.result);
    announce.later();
  }
}

function showLint(result) {
  linted = result;
  findings.show(result.report);
  editor.mark(
    result.report.diagnostics.flatMap(({ place, lines = [], severity }) => [
      ...(place ? [{ ...place, severity }] : []),
      // Further lines with the same cause are marked as a whole.
      ...lines
        .filter((line) => line !== place?.line)
        .map((line) => ({ line, column: 1, end_column: Infinity, severity })),
    ]),
  );
}

function fix(fixes) {
  if (linted.text !== editor.text) {
    sayAloud("The text has changed: wait for the new findings.");
    return;
  }
  const edits = fixes.flatMap((one) => one.edits);
  rewrite(edited(editor.text, edits, linted.report.text_start ?? 0));
}

/** Puts another text in the editor, which can be undone: by the browser for a short change, else by us. */
function rewrite(text) {
  versions.keep("before", editor.text);
  if (editor.replace(text)) return;
  history.step(() => {
    fetched.instead = null;
    editor.load(text);
    set({ robots: editor.text });
  });
}

/** What is asked only while its tab is open. */
const PANELS = {
  compare: [askComparison, (result) => showComparison(byId("comparison"), result)],
  grid: [askGrid, () => {}],
  versions: [askVersions, (result) => showVersions(byId("versions"), result)],
  page: [askPage, (result) => fill(byId("page-rules"), pageRules(result))],
};

const askAll = settled(
  async () => {
    decisions.stale = true;
    await naming.understand(wellFormed(state.agent.trim()), wellFormed(state.robots));
    show();
    askAbout("decisions", askDecisions, () => {});
    askAbout("overview", askOverview, showOverview);
    askAbout("lint", askLint, showLint);
    for (const [tab, [ask, showIt]] of Object.entries(PANELS)) {
      if (state.tab === tab) askAbout(tab, ask, showIt);
      // A question that is no longer asked can't be wrong.
      else problem(tab, null);
    }
    keepAddress();
  },
  // A long file is sent with every question: it is asked about less often.
  () => (state.robots.length > 100_000 ? 500 : 150),
);

// ---------------------------------------------------------------------------------------- the parts

const editor = new Editor({
  area: byId("robots"),
  frame: byId("editor"),
  overlay: byId("overlay"),
  gutter: byId("gutter"),
  onInput: (text) => {
    fetched.instead = null;
    set({ robots: text });
  },
});

const decisions = new Decisions({
  list: byId("decisions"),
  count: byId("decisions-count"),
  onOpen: explain,
  onPoint: (line) => editor.point(line),
});

const grid = new Grid();

const versions = new Versions({
  onPaste: (other) => set({ other }),
  onChoose: () => set({}, { now: true }),
});

const findings = new Findings({ onFix: fix });

const combos = {
  agent: new Combobox({ input: byId("agent"), label: "Known crawlers", onChange: (agent) => set({ agent }) }),
  pageAgent: new Combobox({ input: byId("page-agent"), label: "Known crawlers", onChange: (agent) => set({ agent }) }),
  purposes: new Combobox({
    input: byId("purposes"),
    many: true,
    label: "Known purposes",
    onChange: (purposes) => set({ purposes }),
  }),
  apps: new Combobox({
    input: byId("apps"),
    many: true,
    label: "Known applications",
    onChange: (apps) => set({ apps }),
  }),
  compare: new Combobox({
    input: byId("compare-agents"),
    many: true,
    label: "Known crawlers",
    onChange: (compareAgents) => set({ compareAgents }),
  }),
  grid: new Combobox({
    input: byId("grid-agents"),
    many: true,
    label: "Known crawlers",
    onChange: (compareAgents) => set({ compareAgents }),
  }),
};

const tabList = tabs(document.querySelector('[role="tablist"]'), (tab) => set({ tab }, { now: true }));

const fetchForm = fetching({
  base: site,
  onFile: ({ robots, kept: instead, base, asked }) =>
    history.step(() => {
      fetched.instead = instead;
      // The editor knows one way to end a line, as every text area.
      editor.load(robots);
      versions.keep("fetched", editor.text);
      set({ robots: editor.text, base, urls: urlsFor(base, asked) }, { now: true });
    }),
  onUndo: () => history.undo() || sayAloud("The file was edited after that. Undo the edits first with Ctrl+Z."),
});

/** The URLs after a fetch: what was typed stays, and the URL that was asked about is among them. */
function urlsFor(base, asked) {
  const lines = state.urls === EXAMPLE.urls ? [] : state.urls.split("\n").filter((line) => line.trim() !== "");
  const path = asked.replace(/^[^:]*:\/\/[^/]*/, "");
  const isRoot = path === "" || path === "/" || path === "/robots.txt";
  const has = (url) => lines.some((line) => (isRoot ? line.trim().startsWith(`${base}/`) : line.trim() === url));
  const first = isRoot ? `${base}/` : asked;
  return `${(has(first) ? lines : [first, ...lines]).join("\n")}\n`;
}

const history = new History({
  take: () => {
    const { tab, ...fields } = state;
    return { ...fields, instead: fetched.instead };
  },
  put: ({ instead, ...fields }) => {
    if (instead !== undefined) fetched.instead = instead;
    fetchForm.forget();
    load({ ...state, ...fields });
  },
});

const goals = wizard({
  text: () => editor.text,
  site,
  onDone: (text) => {
    rewrite(text);
    sayAloud("The file was changed. Ctrl+Z undoes this.");
  },
});
byId("wizard-open").addEventListener("click", () => goals.open());

livePages({ base: site, onPage: (fields) => history.step(() => set(fields, { now: true })) });

fileTools({ editor, rewrite, say: sayAloud });

toolbar({
  link,
  onExample: () => {
    history.step(() => {
      fetched.instead = null;
      fetchForm.forget();
      load({ ...EXAMPLE, tab: state.tab });
    });
  },
  say: sayAloud,
});

// ---------------------------------------------------------------------------------------- what is held

/** Changes what the page holds, and asks for what depends on it. */
function set(changes, { now = false } = {}) {
  Object.assign(state, changes);
  show();
  if (now) askAll.now();
  else askAll.later();
}

/** Puts something else in the place of everything. */
function load(held) {
  Object.assign(state, held);
  if (!tabList.names.includes(state.tab)) state.tab = EXAMPLE.tab;
  editor.load(state.robots);
  state.robots = editor.text;
  show();
  askAll.now();
}

/** Brings the fields in line with what is held; a field that has it already is left alone. */
function show() {
  for (const [id, name] of Object.entries({ urls: "urls", headers: "headers", html: "html", dialect: "dialect" })) {
    const field = byId(id);
    if (field.value !== state[name]) field.value = state[name];
  }
  versions.pasted = state.other;
  byId("use-page").checked = state.usePage;
  byId("style").checked = state.style;
  combos.agent.value = state.agent;
  combos.pageAgent.value = state.agent;
  combos.purposes.value = state.purposes;
  combos.apps.value = state.apps;
  combos.compare.value = state.compareAgents;
  combos.grid.value = state.compareAgents;
  tabList.show(state.tab);
  for (const hint of [byId("agent-hint"), byId("page-agent-hint")]) {
    if (naming.show(hint, state.agent.trim(), (agent) => set({ agent }, { now: true }))) continue;
    hint.textContent = known.size === 0 ? "" : (known.get(state.agent.trim().toLowerCase()) ?? UNKNOWN);
  }
  byId("dialect-hint").textContent = readings.get(state.dialect) ?? "";
  // Folded away until they are used; what the user has opened stays open.
  if (state.purposes || state.apps) byId("more").open = true;
  byId("urls-hint").textContent = `A path without a host is on ${shown(site())}.`;
  const note = byId("page-note");
  note.hidden = !state.usePage;
  note.textContent = "The decisions also use the response under Page controls.";
}

/** What is said about each dialect. */
const readings = new Map();

/** What the registry says about a crawler, by its product token in lower case. */
const known = new Map();

async function loadAddress() {
  const found = await held();
  if (found === null) sayAloud("The link is damaged or from another version: showing the example.");
  fetched.instead = null;
  load(found ?? EXAMPLE);
  versions.keep("opened", state.robots);
}

for (const name of ["urls", "headers", "html"]) {
  byId(name).addEventListener("input", (event) => set({ [name]: event.target.value }));
}
byId("dialect").addEventListener("change", (event) => set({ dialect: event.target.value }, { now: true }));
byId("style").addEventListener("change", (event) => set({ style: event.target.checked }, { now: true }));
byId("use-page").addEventListener("change", (event) => set({ usePage: event.target.checked }, { now: true }));

addEventListener("hashchange", () => {
  if (isOther()) loadAddress();
});
document.addEventListener("reveal", ({ detail }) => editor.reveal(detail.line, detail));
document.querySelector(".skip").addEventListener("click", (event) => {
  // The fragment is the state: it must not become the name of an element.
  event.preventDefault();
  set({ tab: "decisions" });
  byId("answers").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    askAll.now();
  } else if (event.key === "F8" && linted.report) {
    event.preventDefault();
    nextFinding(event.shiftKey);
  }
});

function nextFinding(backwards) {
  const linesOf = (one) => one.lines ?? (one.place ? [one.place.line] : []);
  const lines = [...new Set(linted.report.diagnostics.flatMap(linesOf))].sort((a, b) => a - b);
  if (lines.length === 0) return;
  const at = document.activeElement === byId("robots") ? editor.caretLine : 0;
  const next = backwards
    ? (lines.findLast((line) => line < at) ?? lines.at(-1))
    : (lines.find((line) => line > at) ?? lines[0]);
  editor.reveal(next, { focus: true });
  const there = linted.report.diagnostics.filter((one) => linesOf(one).includes(next));
  say(there.map((one) => `Line ${next}, ${one.severity}: ${one.message}`).join(" "));
}

/** Fills what is suggested. Without it everything can still be typed. */
async function loadRegistries() {
  const fill = async (asked, use) => {
    try {
      use(await asked);
    } catch {
      // Other requests report when the server is gone; missing suggestions need no message of their own.
    }
  };
  await Promise.all([
    fill(registry("agents"), (agents) => {
      const entries = agents.map((agent) => ({
        value: agent.token,
        note: [agent.operator, agent.kind].filter(Boolean).join(", "),
      }));
      for (const { value, note } of entries) known.set(value.toLowerCase(), note);
      show();
      goals.agents = agents;
      combos.agent.entries = entries;
      combos.pageAgent.entries = entries;
      const withOthers = [{ value: "*", note: "any other crawler" }, ...entries];
      combos.compare.entries = withOthers;
      combos.grid.entries = withOthers;
    }),
    fill(registry("purposes"), (purposes) => {
      combos.purposes.entries = purposes.map((purpose) => ({ value: purpose.token, note: purpose.description }));
    }),
    fill(registry("applications"), (applications) => {
      combos.apps.entries = applications.map((application) => ({
        value: application.identifier,
        note: application.product_token,
      }));
    }),
    fill(dialects(), (all) => {
      byId("dialect").replaceChildren(...all.map(({ name }) => element("option", { value: name }, name)));
      for (const { name, summary } of all) readings.set(name, summary);
      show();
    }),
  ]);
}

loadRegistries();
loadAddress();

// The page: its state, what is updated when the state changes, and the requests that this needs.
//
// `state` is what a link carries. A field changes it, and the page then requests what depends on it, once
// nothing has changed for a moment. The server decides everything; nothing about robots.txt is decided here.

import { get, latest, post, settled, useKey } from "./api.js";
import { Combobox } from "./combobox.js";
import { showComparison, showMatrix } from "./comparison.js";
import { Decisions } from "./decisions.js";
import { byId, element, shown } from "./dom.js";
import { Editor } from "./editor.js";
import { EXAMPLE } from "./example.js";
import { absolute, fetching } from "./fetching.js";
import { showFindings } from "./findings.js";
import { edited, wellFormed } from "./octets.js";
import { fragmentOf, stateOf } from "./share.js";
import { tabs } from "./tabs.js";
import { toolbar } from "./toolbar.js";
import { pageRules } from "./why.js";

/** URLs that are asked about; more are counted. */
const MOST_URLS = 200;

/** Octets of one request, about: a long file is sent with each URL. */
const MOST_SENT = 2 * 1024 * 1024;

/** Rows and columns of the table of URLs and crawlers. */
const MOST_ROWS = 25;
const MOST_COLUMNS = 12;

/** The crawlers that are shown beside the chosen one, if none are given. */
const WELL_KNOWN = ["Googlebot", "Bingbot", "GPTBot", "ClaudeBot", "CCBot"];

/** A fragment of this length is kept in the address bar as one types. */
const MOST_IN_ADDRESS = 16_000;

const state = { ...EXAMPLE };

/** Where a tab keeps a fragment that is too long for the address bar. */
const IN_TAB = "mayi-state";

function keepInTab(fragment) {
  try {
    if (fragment === null) sessionStorage.removeItem(IN_TAB);
    else sessionStorage.setItem(IN_TAB, fragment);
  } catch {
    // Storage is refused or full: a link can still be copied.
  }
}

function keptInTab() {
  try {
    return sessionStorage.getItem(IN_TAB) ?? "";
  } catch {
    return "";
  }
}

/** What is sent in place of the text of a fetched file until it is edited: octets, or how the fetch ended. */
let kept = null;

/** The report of lint that is shown, and the text that it is about. */
let linted = { text: null, report: null };

// ---------------------------------------------------------------------------------------- what is told

const problems = new Map();

/** Shows what went wrong with one kind of question, or that it went well. */
function problem(about, found) {
  if (found) problems.set(about, found);
  else problems.delete(about);
  const banner = byId("problem");
  const [first] = problems.values();
  banner.hidden = !first;
  if (!first) {
    banner.replaceChildren();
    return;
  }
  const again = element("button", { type: "button", onclick: () => askAll.now() }, "Try again");
  const says = first.gone ? `${first.message} What is shown may be out of date.` : first.message;
  if (first.status === 401) {
    // Do not remove what is being typed there.
    if (!byId("key")) banner.replaceChildren(element("span", {}, says), keyForm());
  } else if (banner.textContent !== says + again.textContent) banner.replaceChildren(element("span", {}, says), again);
}

/** A form for the key, if the server needs one. */
function keyForm() {
  const input = element("input", { type: "password", id: "key", autocomplete: "off" });
  const given = (event) => {
    event.preventDefault();
    useKey(input.value.trim() || null);
    loadRegistries();
    askAll.now();
  };
  return element(
    "form",
    { onsubmit: given },
    element("label", { for: "key" }, "Key "),
    input,
    " ",
    element("button", { type: "submit" }, "Use"),
  );
}

/** Tells screen readers what has changed, once it has settled. */
const announce = settled(
  () => {
    const said = [byId("decisions-count").textContent, byId("findings-heading").textContent];
    say(`Decisions: ${said.join(". ")}`);
  },
  () => 700,
);

function say(sentence) {
  const status = byId("status");
  if (status.textContent !== sentence) status.textContent = sentence;
}

/** Says something that those who see should see too. */
function sayAloud(sentence) {
  say(sentence);
  const toast = element("p", { class: "toast", "aria-hidden": "true" }, sentence);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 4000);
}

// ---------------------------------------------------------------------------------------- what is asked

const words = (list) =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** The header fields of a text with a field on each line; a line that starts with white space goes on. */
function fieldsOf(text) {
  const fields = [];
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (/^[ \t]/.test(line) && fields.length > 0) fields.at(-1)[1] += ` ${line.trim()}`;
    else if (colon > 0) fields.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return fields;
}

/** The site that a path alone is of: that of the first URL with one, or where the file came from. */
function site() {
  // At the start of a line, and with a scheme of some length: a search everywhere in a long line takes for ever.
  const first = /^[ \t]*([a-z][a-z0-9+.-]{0,30}:\/\/[^/?#\s]+)/im.exec(state.urls);
  return first ? first[1] : state.base;
}

const response = () => ({ headers: fieldsOf(wellFormed(state.headers)), html: wellFormed(state.html) });

function requests() {
  const robots = kept ?? wellFormed(state.robots);
  const lines = wellFormed(state.urls)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const shared = {
    agent: wellFormed(state.agent.trim()),
    robots,
    dialect: state.dialect,
    purposes: words(wellFormed(state.purposes)),
    apps: words(wellFormed(state.apps)),
    ...(state.usePage && { page: response() }),
  };
  const urls = lines.slice(0, MOST_URLS).map((line) => absolute(line, site()));
  return { all: urls.map((url) => ({ url, ...shared })), skipped: lines.length - urls.length };
}

const askDecisions = latest(async (signal) => {
  const { all, skipped } = requests();
  const size = JSON.stringify(all[0] ?? "").length;
  const together = Math.max(1, Math.floor(MOST_SENT / Math.max(1, size)));
  const answers = [];
  if (all.length === 0) showDecisions([], 0, 0);
  for (let from = 0; from < all.length; from += together) {
    const some = all.slice(from, from + together);
    const body = some.map((request, place) => ({ ...request, explain: decisions.isOpen(from + place) }));
    const got = await post("/v1/decide", body, signal);
    // An error may not have its URL.
    answers.push(...got.map((one, place) => (one.error ? { url: some[place].url, ...one } : one)));
    if (signal.aborted) return;
    showDecisions(answers, all.length, skipped);
  }
});

function showDecisions(answers, asked, skipped) {
  decisions.show(answers, asked, skipped);
  const lit = answers.filter((one) => one.access?.rule);
  editor.light(new Map(lit.map((one) => [one.access.rule.line, one.access.allowed ? "allowed" : "disallowed"])));
}

/** Asks for the explanation of one decision, whose row was opened. */
async function explain(place) {
  const request = requests().all[place];
  if (!request) return;
  try {
    const decision = await post("/v1/decide", { ...request, explain: true });
    // What was asked may have changed meanwhile; then the newer answer is on its way.
    if (JSON.stringify(requests().all[place]) === JSON.stringify(request)) decisions.showOne(place, decision);
    problem("decisions", null);
  } catch (error) {
    problem("decisions", error);
  }
}

const askLint = latest(async (signal) => {
  const text = editor.text;
  const report = await post("/v1/lint", { robots: wellFormed(text) }, signal);
  return { text, report };
});

const askComparison = latest((signal) => {
  const agents = words(wellFormed(state.compareAgents));
  return post("/v1/compare", { robots: wellFormed(state.robots), ...(agents.length > 0 && { agents }) }, signal);
});

/** Asks about the URLs as several crawlers in every dialect, as far as that is not too much. */
const askMatrix = latest(async (signal) => {
  const { all } = requests();
  const named = words(wellFormed(state.compareAgents)).filter((agent) => agent !== "*");
  const agents =
    named.length > 0 ? named.slice(0, MOST_COLUMNS) : [...new Set([state.agent.trim(), ...WELL_KNOWN])].filter(Boolean);
  const dialects = readings.size > 0 ? [...readings.keys()] : [state.dialect];
  const each = JSON.stringify(all[0] ?? "").length * agents.length * dialects.length;
  const urls = all.slice(0, Math.min(MOST_ROWS, Math.floor((2 * MOST_SENT) / Math.max(1, each))));
  const body = urls.flatMap((request) =>
    agents.flatMap((agent) => dialects.map((dialect) => ({ ...request, agent, dialect }))),
  );
  const decisions = body.length > 0 ? await post("/v1/decide", body, signal) : [];
  // Most are of one site, which need not be said each time.
  const brief = (url) => (url.startsWith(`${site()}/`) ? url.slice(site().length) : url);
  return {
    urls: urls.map((request) => brief(request.url)),
    agents,
    dialects,
    decisions,
    left: all.length - urls.length,
  };
});

const askPage = latest((signal) => {
  const agent = wellFormed(state.agent.trim());
  return post("/v1/page", { ...(agent && { agent }), ...response() }, signal);
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
  const list = byId("findings");
  showFindings({ list, heading: byId("findings-heading"), fixAll: byId("fix-all"), report: result.report, onFix: fix });
  editor.mark(
    result.report.diagnostics.filter((one) => one.place).map((one) => ({ ...one.place, severity: one.severity })),
  );
}

function fix(fixes) {
  if (linted.text !== editor.text) {
    sayAloud("The text has changed: wait for the new findings.");
    return;
  }
  const edits = fixes.flatMap((one) => one.edits);
  editor.replace(edited(editor.text, edits, linted.report.text_start ?? 0));
}

const askAll = settled(
  () => {
    decisions.stale = true;
    askAbout("decisions", askDecisions, () => {});
    askAbout("lint", askLint, showLint);
    if (state.tab === "compare") {
      askAbout("compare", askComparison, (result) => showComparison(byId("comparison"), result));
      askAbout("matrix", askMatrix, (result) => showMatrix(byId("matrix"), result));
    }
    if (state.tab === "page") {
      askAbout("page", askPage, (result) =>
        byId("page-rules").replaceChildren(...pageRules(result).flat(Infinity).filter(Boolean)),
      );
    }
    // A question that is no longer asked can't be wrong.
    for (const [about, tab] of Object.entries({ compare: "compare", matrix: "compare", page: "page" })) {
      if (state.tab !== tab) problem(about, null);
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
    kept = null;
    set({ robots: text });
  },
});

const decisions = new Decisions({
  list: byId("decisions"),
  count: byId("decisions-count"),
  onOpen: explain,
  onPoint: (line) => editor.point(line),
});

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
};

const tabList = tabs(document.querySelector('[role="tablist"]'), (tab) => set({ tab }, { now: true }));

const fetched = fetching({
  base: site,
  onFile: ({ robots, kept: instead, base, asked }) => {
    const path = asked.replace(/^[^:]*:\/\/[^/]*/, "");
    const first = path === "" || path === "/robots.txt" ? `${base}/` : asked;
    const lines = state.urls.split("\n").map((line) => line.trim());
    const same = lines.filter((line) => line.startsWith("/") || line.startsWith(`${base}/`));
    kept = instead;
    // The editor knows one way to end a line, as every text area.
    editor.load(robots);
    set({ robots: editor.text, base, urls: `${[...new Set([first, ...same])].join("\n")}\n` }, { now: true });
  },
});

toolbar({
  link: async () => {
    const fragment = await fragmentOf(state);
    return location.origin + location.pathname + (fragment && `#${fragment}`);
  },
  onExample: () => {
    kept = null;
    fetched.forget();
    load({ ...EXAMPLE, tab: state.tab });
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
  byId("use-page").checked = state.usePage;
  combos.agent.value = state.agent;
  combos.pageAgent.value = state.agent;
  combos.purposes.value = state.purposes;
  combos.apps.value = state.apps;
  combos.compare.value = state.compareAgents;
  tabList.show(state.tab);
  byId("agent-hint").textContent =
    known.size === 0 ? "" : (known.get(state.agent.trim().toLowerCase()) ?? "Not in the registry of known crawlers.");
  byId("dialect-hint").textContent = readings.get(state.dialect) ?? "";
  byId("urls-hint").textContent = `A path without a host is on ${shown(site())}.`;
  const note = byId("page-note");
  note.hidden = !state.usePage;
  note.textContent = "The decisions also use the response under Page controls.";
}

/** What is said about each dialect. */
const readings = new Map();

/** What the registry says about a crawler, by its product token in lower case. */
const known = new Map();

let inAddress = "";

/**
 * Keeps the fragment in the address bar, where it is short; a long one in this tab, so that loading the page
 * again does not lose what was written. It is the newest state that counts.
 */
const keepAddress = settled(
  async () => {
    const fragment = await fragmentOf(state);
    const isLong = fragment.length > MOST_IN_ADDRESS;
    inAddress = isLong ? "" : fragment;
    keepInTab(isLong ? fragment : null);
    history.replaceState(null, "", location.pathname + location.search + (inAddress && `#${inAddress}`));
  },
  () => 400,
).later;

async function loadAddress() {
  const fragment = location.hash.slice(1) || keptInTab();
  const held = fragment === "" ? EXAMPLE : await stateOf(fragment);
  if (held === null) sayAloud("The link is damaged or from another version: showing the example.");
  kept = null;
  load(held ?? EXAMPLE);
}

for (const name of ["urls", "headers", "html"]) {
  byId(name).addEventListener("input", (event) => set({ [name]: event.target.value }));
}
byId("dialect").addEventListener("change", (event) => set({ dialect: event.target.value }, { now: true }));
byId("use-page").addEventListener("change", (event) => set({ usePage: event.target.checked }, { now: true }));

addEventListener("hashchange", () => {
  if (location.hash.slice(1) !== inAddress) loadAddress();
});
document.addEventListener("reveal", (event) => editor.reveal(event.detail.line, { focus: event.detail.focus }));
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
  const lines = [...new Set(linted.report.diagnostics.filter((one) => one.place).map((one) => one.place.line))].sort(
    (a, b) => a - b,
  );
  if (lines.length === 0) return;
  const at = document.activeElement === byId("robots") ? editor.caretLine : 0;
  const next = backwards
    ? (lines.findLast((line) => line < at) ?? lines.at(-1))
    : (lines.find((line) => line > at) ?? lines[0]);
  editor.reveal(next, { focus: true });
  const there = linted.report.diagnostics.filter((one) => one.place?.line === next);
  say(there.map((one) => `Line ${next}, ${one.severity}: ${one.message}`).join(" "));
}

/** Fills what is suggested. Without it everything can still be typed. */
async function loadRegistries() {
  const fill = async (path, use) => {
    try {
      // Each answer is a list under its name.
      use((await get(path))[path.split("/").at(-1)]);
    } catch {
      // Other requests report when the server is gone; missing suggestions need no message of their own.
    }
  };
  await Promise.all([
    fill("/v1/registry/agents", (agents) => {
      const entries = agents.map((agent) => ({
        value: agent.token,
        note: [agent.operator, agent.kind].filter(Boolean).join(", "),
      }));
      for (const { value, note } of entries) known.set(value.toLowerCase(), note);
      show();
      combos.agent.entries = entries;
      combos.pageAgent.entries = entries;
      combos.compare.entries = [{ value: "*", note: "any other crawler" }, ...entries];
    }),
    fill("/v1/registry/purposes", (purposes) => {
      combos.purposes.entries = purposes.map((purpose) => ({ value: purpose.token, note: purpose.description }));
    }),
    fill("/v1/registry/applications", (applications) => {
      combos.apps.entries = applications.map((application) => ({
        value: application.identifier,
        note: application.product_token,
      }));
    }),
    fill("/v1/dialects", (dialects) => {
      byId("dialect").replaceChildren(...dialects.map(({ name }) => element("option", { value: name }, name)));
      for (const { name, summary } of dialects) readings.set(name, summary);
      show();
    }),
  ]);
}

loadRegistries();
loadAddress();

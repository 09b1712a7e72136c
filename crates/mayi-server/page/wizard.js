// The wizard: answers of a site's owner → a new file, or the smallest edit of the one in the editor. The engine
// writes and proves; what it does not understand it leaves alone, and says so.

import { diff, edit, latest, overview, settled } from "./api.js";
import { byId, element, fill, ticked } from "./dom.js";
import { wellFormed } from "./octets.js";
import { SITES } from "./sites.js";
import { showVersions } from "./versions.js";

/** What kinds of crawlers do, for people who have never heard of them. */
const KINDS = {
  search: ["Search engines", "They show your pages to people who search: Googlebot, Bingbot and others."],
  training: ["AI training", "They collect texts and pictures to train models with: GPTBot, ClaudeBot and others."],
  "ai-search": ["AI search", "They find pages that an assistant answers from, with a link: OAI-SearchBot and others."],
  assistant: ["AI assistants", "They fetch a page when a person asks an assistant about it: ChatGPT-User and others."],
  archive: ["Archives and research", "They keep copies of pages for later: archive.org_bot, CCBot and others."],
  tool: ["Tools", "They count links, draw previews, or watch whether a site is up: AhrefsBot and others."],
};

/** What pages may be used for, and which kind of crawlers does that. */
const USES = {
  search: ["Shown in search results", "search"],
  "ai-input": ["Used by assistants for their answers", "assistant"],
  train: ["Used to train AI models", "training"],
};

/** Wires the dialog. `text` gives the file in the editor, `site` its site, and `onDone` gets the new text. */
export function wizard({ text, site, onDone }) {
  const dialog = byId("wizard");
  const form = byId("wizard-form");
  const use = byId("wizard-use");
  let made = null;
  let changes = 0;

  const ask = latest(async (signal) => {
    const old = wellFormed(text());
    const body = bodyOf(form, old);
    if (!body.new && body.wishes.length === 0) return { old, now: old, isEmpty: true };
    const { robots: now, refused, diff: edited } = await edit(body, signal);
    if (refused) return { old, now, refused };
    // A new file is compared with the one in the editor, in whose place it comes.
    const means = body.new ? await diff({ old, new: now }, signal) : edited;
    const { summary } = await overview({ robots: now }, signal);
    return { old, now, diff: means, summary, site: site(), isHere: false };
  });

  const update = settled(
    async () => {
      const upTo = changes;
      const answered = await ask();
      if (answered === null || upTo !== changes) return;
      const { result, problem } = answered;
      made = result?.now ?? null;
      use.disabled = made === null || made === text();
      const place = byId("wizard-result");
      const wrong = problem ?? result.refused;
      if (wrong) fill(place, element("p", { class: "wrong" }, ticked(wrong.message)));
      else if (result.isEmpty) fill(place, element("p", {}, "Nothing is chosen yet."));
      else if (result.old === made) fill(place, element("p", {}, "Nothing has to change: the file says that already."));
      else {
        showVersions(place, result);
        place.prepend(
          element(
            "ul",
            { class: "sentences", role: "list" },
            result.summary.map((sentence) => element("li", {}, ticked(sentence))),
          ),
          element("h3", {}, "What changes"),
        );
      }
    },
    () => 200,
  );

  fill(
    byId("wizard-site"),
    element("option", { value: "" }, "Another kind of site"),
    Object.entries(SITES).map(([name, { label }]) => element("option", { value: name }, label)),
  );
  fill(byId("wizard-uses"), Object.keys(USES).map(useRow));

  form.addEventListener("input", ({ target }) => {
    const { site: kind, mode } = form.elements;
    if (target === kind || (target.name === "mode" && kind.value !== "")) {
      suggest(form, SITES[kind.value], mode.value === "new" ? "" : text());
    }
    for (const option of form.querySelectorAll("#wizard-kinds option[value='']")) {
      option.textContent = mode.value === "new" ? "like everybody" : "as it is";
    }
    // Who may fetch pages for something may use them for it, unless something else is said.
    for (const [use, [, kind]] of Object.entries(USES)) {
      if (target.name === `goal-${kind}`) form.elements[`use-${use}`].value = PREFERENCES[target.value];
    }
    // What was made, or is being made, is for other answers.
    changes += 1;
    made = null;
    use.disabled = true;
    update.later();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (made === null) return;
    dialog.close();
    onDone(made);
  });
  byId("wizard-cancel").addEventListener("click", () => dialog.close());
  byId("wizard-more").addEventListener("click", () => {
    byId("wizard-goals").append(goalRow());
  });
  fill(byId("wizard-goals"), goalRow());

  return {
    open: () => {
      dialog.showModal();
      update.now();
    },
    /** Offers the kinds of the registry, with examples. */
    set agents(agents) {
      const of = (kind) => agents.filter((agent) => agent.kind === kind || agent.used_for.includes(kind));
      fill(
        byId("wizard-kinds"),
        Object.keys(KINDS).map((kind) => kindRow(kind, of(kind))),
      );
    },
  };
}

const PREFERENCES = { "": "", allow: "allowed", refuse: "disallowed" };

/**
 * Answers what owners of such a site usually want, in the place of all that was answered. A folder that the file
 * has rules about is left to them.
 */
function suggest({ elements }, site, old) {
  byId("wizard-site-hint").textContent = site?.why ?? "";
  const { refused = [], uses = {}, folders = [] } = site ?? {};
  for (const kind of Object.keys(KINDS)) elements[`goal-${kind}`].value = refused.includes(kind) ? "refuse" : "";
  for (const use of Object.keys(USES)) elements[`use-${use}`].value = uses[use] ?? "";
  const isThere = (folder) => folder !== "/" && old.includes(folder);
  elements.folders.value = folders.filter((folder) => !isThere(folder)).join("\n");
}

function useRow(use) {
  const id = `use-${use}`;
  const says = { "": "say nothing", allowed: "yes", disallowed: "no" };
  return element(
    "div",
    { class: "kind-row" },
    element("label", { for: id }, USES[use][0]),
    element(
      "select",
      { id, name: id },
      Object.entries(says).map(([value, word]) => element("option", { value }, word)),
    ),
  );
}

function kindRow(kind, agents) {
  const [label, does] = KINDS[kind];
  const id = `goal-${kind}`;
  const byUse = agents.filter((agent) => agent.kind !== kind).map((agent) => agent.token);
  const also = byUse.length > 0 ? ` ${byUse.join(", ")} counts too: it archives the web, and its archive is used for this.` : "";
  return element(
    "div",
    { class: "kind-row" },
    element("label", { for: id }, label),
    element(
      "select",
      { id, name: id, "aria-describedby": `${id}-hint` },
      element("option", { value: "" }, "as it is"),
      element("option", { value: "allow" }, "may fetch everything"),
      element("option", { value: "refuse" }, "may fetch nothing"),
    ),
    element("p", { class: "hint", id: `${id}-hint` }, `${does} ${agents.length} are known.${also}`),
  );
}

/** A goal of its own: who, and what. */
function goalRow() {
  return element(
    "div",
    { class: "goal" },
    element("input", {
      name: "who",
      placeholder: "such as GPTBot",
      "aria-label": "Crawlers, separated by commas",
      spellcheck: "false",
    }),
    element(
      "select",
      { name: "say", "aria-label": "May they?" },
      element("option", { value: "allow" }, "may fetch"),
      element("option", { value: "refuse" }, "may not fetch"),
    ),
    element("input", {
      name: "path",
      placeholder: "such as /press/",
      "aria-label": "What, as a path",
      spellcheck: "false",
    }),
  );
}

const linesOf = (area) =>
  area.value
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** The answers, as the engine takes them. Later goals count before earlier ones. */
function bodyOf(form, old) {
  const { elements } = form;
  const isNew = elements.mode.value === "new";
  const folders = linesOf(elements.folders);
  const ofKinds = (say) =>
    Object.keys(KINDS)
      .filter((kind) => elements[`goal-${kind}`]?.value === say)
      .map((kind) => ({ say, who: [kind] }));
  // In a new file everybody may fetch everything anyway, unless all of the site is kept back.
  const allowed = isNew && !folders.includes("/") ? [] : ofKinds("allow");
  const uses = Object.fromEntries(
    Object.keys(USES)
      .map((use) => [use, elements[`use-${use}`].value])
      .filter(([, says]) => says !== ""),
  );
  // Content-Usage has no value for it.
  const { "ai-input": _, ...withoutInput } = uses;
  const rows = [...form.querySelectorAll(".goal")].map((row) => {
    const [who, say, path] = ["who", "say", "path"].map((name) => row.querySelector(`[name=${name}]`).value.trim());
    return { say, who: who.split(/[\s,]+/).filter(Boolean), ...(path && { path }) };
  });
  const purposes = elements.purpose.value.split(/[\s,]+/).filter(Boolean);
  const goals = [
    ...(isNew ? [] : folders.map((path) => ({ say: "refuse", who: ["*"], path }))),
    ...allowed,
    ...ofKinds("refuse"),
    ...rows.filter(({ who }) => who.length > 0),
    // Crawlers that are already refused need no preferences.
    ...(elements.usage.checked ? [{ say: "prefer", by: "content-usage", uses: withoutInput }] : []),
    ...(elements.signal.checked ? [{ say: "prefer", by: "content-signal", uses }] : []),
    ...(purposes.length > 0 ? [{ say: "refuse-purposes", purposes }] : []),
    ...linesOf(elements.sitemaps).map((url) => ({ say: "sitemap", url })),
  ];
  return isNew ? { new: { keep_out: folders }, wishes: goals } : { robots: old, wishes: goals };
}

// The wizard: answers of a site's owner → a new file, or the smallest edit of the one in the editor. The engine
// writes and proves; what it does not understand it leaves alone, and says so.

import { diff, edit, latest, settled } from "./api.js";
import { byId, element, fill, ticked } from "./dom.js";
import { wellFormed } from "./octets.js";
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
    return { old, now, diff: body.new ? await diff({ old, new: now }, signal) : edited, site: site(), isHere: false };
  });

  const update = settled(
    async () => {
      byId("wizard-new").hidden = form.elements.mode.value !== "new";
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
      else showVersions(place, result);
    },
    () => 200,
  );

  form.addEventListener("input", () => {
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
    byId("wizard-wishes").append(wishRow());
  });
  fill(byId("wizard-wishes"), wishRow());

  return {
    open: () => {
      dialog.showModal();
      update.now();
    },
    /** Offers the kinds of the registry, with examples. */
    set agents(agents) {
      const kinds = Map.groupBy(agents, (agent) => agent.kind);
      fill(
        byId("wizard-kinds"),
        Object.keys(KINDS)
          .filter((kind) => kinds.has(kind))
          .map((kind) => kindRow(kind, kinds.get(kind))),
      );
    },
  };
}

function kindRow(kind, agents) {
  const [label, does] = KINDS[kind];
  const id = `wish-${kind}`;
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
    element("p", { class: "hint", id: `${id}-hint` }, `${does} ${agents.length} are known.`),
  );
}

/** A wish of its own: who, and what. */
function wishRow() {
  return element(
    "div",
    { class: "wish" },
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

/** The answers, as the engine takes them. */
function bodyOf(form, old) {
  const { elements } = form;
  const isNew = elements.mode.value === "new";
  const said = (kind) => elements[`wish-${kind}`]?.value ?? "";
  const kinds = Object.keys(KINDS).filter((kind) => said(kind) !== "");
  const wishes = kinds
    // In a new file everybody may fetch everything anyway.
    .filter((kind) => !isNew || said(kind) === "refuse")
    .map((kind) => ({ say: said(kind), who: [kind] }));
  const folders = linesOf(elements.folders);
  if (!isNew) wishes.push(...folders.map((path) => ({ say: "refuse", who: ["*"], path })));
  for (const row of form.querySelectorAll(".wish")) {
    const [who, say, path] = ["who", "say", "path"].map((name) => row.querySelector(`[name=${name}]`).value.trim());
    const names = who.split(/[\s,]+/).filter(Boolean);
    if (names.length > 0) wishes.push({ say, who: names, ...(path && { path }) });
  }
  if (!isNew) return { robots: old, wishes };
  const preference = (kind) => ({ allow: "allowed", refuse: "disallowed" })[said(kind)] ?? "unknown";
  const uses = { search: preference("search"), "ai-input": preference("assistant"), train: preference("training") };
  return {
    new: {
      keep_out: folders,
      sitemaps: linesOf(elements.sitemaps),
      ...(elements.usage.checked && { content_usage: uses }),
      ...(elements.signal.checked && { content_signal: uses }),
      refused_purposes: elements.purpose.value.split(/[\s,]+/).filter(Boolean),
    },
    wishes,
  };
}

// Two versions of a file: which lines changed, and what that means, crawler by crawler.

import { byId, code, counted, element, fill, lineLink, shown } from "./dom.js";
import { lineDiff } from "./linediff.js";
import { BRIEFLY, ruleText } from "./words.js";

/** Lists are cut at these lengths, and the rest is counted. */
const MOST_NAMES = 12;
const MOST_CHANGES = 20;
const MOST_LINES = 400;

/** Lines that are shown around a change. */
const AROUND = 2;

/** What the file in the editor can be compared with. */
const CHOICES = {
  fetched: "the file as it was fetched",
  before: "the file before the last change by a button",
  opened: "the file as it was when this page was opened",
  pasted: "a file that I paste",
};

/** The choice of the other file. */
export class Versions {
  #kept = new Map();
  #select = byId("earlier");
  #area = byId("other");

  constructor({ onPaste, onChoose }) {
    this.#area.addEventListener("input", () => onPaste(this.#area.value));
    this.#select.addEventListener("change", onChoose);
    this.#offer("pasted");
  }

  /** Keeps a text to compare with, and compares with it from now on, unless one was pasted. */
  keep(name, text) {
    this.#kept.set(name, text);
    this.#offer(this.#area.value === "" ? name : "pasted");
  }

  /** The text that was pasted, where the page holds one. */
  set pasted(text) {
    if (this.#area.value !== text) {
      this.#area.value = text;
      if (text !== "") this.#select.value = "pasted";
    }
    byId("other-field").hidden = this.#select.value !== "pasted";
  }

  /** The text to compare with. */
  get other() {
    return this.#kept.get(this.#select.value) ?? this.#area.value;
  }

  #offer(chosen) {
    const names = Object.keys(CHOICES).filter((name) => name === "pasted" || this.#kept.has(name));
    fill(
      this.#select,
      names.map((name) => element("option", { value: name }, CHOICES[name])),
    );
    this.#select.value = chosen;
  }
}

/**
 * Draws what changed between two texts, and what the engine says of it. `site` is where examples are; `isHere`
 * says whether the new text is in the editor, so that its lines can be shown there.
 */
export function showVersions(place, { old, now, diff, site, isHere = true }) {
  if (old === now) {
    fill(place, element("p", {}, "The two files are the same."));
    return;
  }
  fill(place, meaning(diff, site, isHere), element("h3", {}, "Changed lines"), changedLines(old, now));
}

/** What a change means: a sentence, and a part for each group of crawlers. */
function meaning(diff, site, isHere) {
  const asked = `${counted(diff.asked, "crawler")} ${diff.asked === 1 ? "was" : "were"}`;
  const isOfAccess = (one) => one.changes.length > 0 || one.unproved.length > 0;
  const decided = diff.crawlers.filter(isOfAccess).flatMap((one) => one.crawlers);
  const named = decided.filter((name) => name !== "*").length;
  const others = named < decided.length && "all crawlers that the file does not name";
  const who = [others, named > 0 && counted(named, others ? "other" : "crawler")].filter(Boolean).join(" and for ");
  const sentence = {
    same: `No decision changes, for any crawler. ${asked} compared.`,
    changed:
      decided.length > 0
        ? `Decisions change for ${who}:`
        : "No decision changes, for any crawler. Other lines of the file change:",
    unproved: "Rules have changed. No URL was found that is decided differently, but there may be one.",
  }[diff.meaning];
  return [
    element("p", { class: "meaning" }, sentence),
    diff.crawlers.map((one) => forCrawlers(one, site, isHere)),
    records(diff.file),
    diff.left_out > 0 &&
      element("p", {}, `${counted(diff.left_out, "crawler")} not compared: the files name too many.`),
  ];
}

function forCrawlers(one, site, isHere) {
  const names = one.crawlers.map((name) => (name === "*" ? "all other crawlers" : shown(name, 60)));
  const more = names.length - MOST_NAMES;
  const who = `${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return element(
    "section",
    { class: "change" },
    element("h3", {}, who),
    ["disallowed", "allowed"].map((became) => changes(one, became, site, isHere)),
    one.unproved.length > 0 &&
      element(
        "p",
        {},
        "May or may not change a decision: ",
        one.unproved.slice(0, MOST_CHANGES).map((rule) => [code(ruleText(rule), 80), " "]),
      ),
    records(one.records),
  );
}

function changes(one, became, site, isHere) {
  const of = one.changes.filter((change) => change.became === became);
  if (of.length === 0) return null;
  const more = of.length - MOST_CHANGES;
  return [
    element(
      "p",
      {},
      element(
        "span",
        { class: `answer ${became}` },
        became === "allowed" ? "✓ may now fetch" : "✗ may no longer fetch",
      ),
    ),
    element(
      "ul",
      { class: "changes", role: "list" },
      of
        .slice(0, MOST_CHANGES)
        .map((change) =>
          element(
            "li",
            {},
            code(change.pattern, 120),
            element("span", { class: "example" }, " for example ", code(`${site}${change.example}`, 160)),
            element(
              "div",
              { class: "example" },
              "before: ",
              grounds(change.old, false),
              "; now: ",
              grounds(change.new, isHere),
            ),
          ),
        ),
      more > 0 && element("li", {}, `and ${more} more`),
    ),
  ];
}

/** The rule that decided, or why none did. Lines of the file that is not in the editor are no links. */
function grounds({ rule, reason }, isHere) {
  if (!rule) return BRIEFLY[reason] ?? reason;
  return [isHere ? lineLink(rule.line) : `line ${rule.line}`, " ", code(ruleText(rule), 80)];
}

/** Sitemaps, crawl delays and the like. */
function records(all) {
  return all.map((one) =>
    element(
      "p",
      {},
      element("strong", {}, shown(one.directive)),
      one.reordered ? ": other order" : ": ",
      one.removed.slice(0, MOST_CHANGES).map((value) => ["removed ", code(value.value, 120), " "]),
      one.added.slice(0, MOST_CHANGES).map((value) => ["added ", code(value.value, 120), " "]),
    ),
  );
}

/** The lines that were removed and added, with a few around them. */
function changedLines(old, now) {
  const lines = lineDiff(old, now);
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(([kind]) => kind !== " "),
  );
  const rows = [];
  let shownLines = 0;
  for (const [at, [kind, line]] of lines.entries()) {
    if (!near[at]) {
      if (near[at - 1]) rows.push(element("div", { class: "gap" }, "⋯"));
      continue;
    }
    if (++shownLines > MOST_LINES) break;
    const name = { "-": "removed", "+": "added", " ": "" }[kind];
    rows.push(
      element(
        "div",
        { class: `changed ${name}` },
        element("span", { "aria-hidden": "true" }, `${kind} `),
        name && element("span", { class: "unseen" }, `${name}: `),
        shown(line, 300) || " ",
      ),
    );
  }
  if (shownLines > MOST_LINES) rows.push(element("div", { class: "gap" }, "and more"));
  return element("div", { class: "lines", tabindex: "0", role: "region", "aria-label": "Changed lines" }, rows);
}

// What lint found: counts by severity, a filter, and a group for each kind, with fixes.

import { lintPage } from "./api.js";
import { byId, counted, element, fill, lineLink, ticked } from "./dom.js";
import { manual } from "./manual.js";

/** How many lines of a kind are listed; the rest is counted. */
const MOST_LINES = 500;

const SIGNS = { error: "✖", warning: "▲", note: "●" };

/** A finding stands for all lines with the same cause. */
const countOf = (one) => one.count ?? 1;

export class Findings {
  #report = null;
  #hidden = new Set();
  #open = new Set();
  #onFix;

  /** `onFix` gets fixes and applies them. */
  constructor({ onFix }) {
    this.#onFix = onFix;
    byId("findings-filter").addEventListener("input", () => this.#draw());
  }

  /** Shows what was found in a file. */
  show(report) {
    this.#report = report;
    const total = Object.values(report.severities).reduce((sum, count) => sum + count, 0);
    byId("findings-heading").textContent = total === 0 ? "Findings: none" : `Findings: ${total.toLocaleString("en")}`;
    // Fixes of a decoded file have offsets of a text that is not in the editor.
    const safe = this.#fixable ? report.diagnostics.map((one) => one.fix).filter((fix) => fix?.safe) : [];
    const fixAll = byId("fix-all");
    fixAll.hidden = safe.length < 2;
    fixAll.onclick = () => this.#onFix(safe);
    byId("findings-filter").hidden = total < 2;
    this.#draw();
  }

  get #fixable() {
    return this.#report.text_start !== null;
  }

  #draw() {
    if (!this.#report) return;
    const sought = byId("findings-filter").value.trim().toLowerCase();
    const isSought = (one) =>
      !this.#hidden.has(one.severity) &&
      `${one.code} ${one.name} ${one.message} ${one.reading}`.toLowerCase().includes(sought);
    const byCode = new Map();
    for (const one of this.#report.diagnostics) {
      if (isSought(one)) byCode.set(one.code, [...(byCode.get(one.code) ?? []), one]);
    }
    // Higher severities come first; otherwise the order of the file.
    const ranks = Object.keys(SIGNS);
    const groups = [...byCode.values()].sort((a, b) => ranks.indexOf(a[0].severity) - ranks.indexOf(b[0].severity));
    fill(
      byId("findings-severities"),
      ranks.map((severity) => this.#toggle(severity)),
    );
    fill(
      byId("findings"),
      groups.map((group) => this.#group(group, sought)),
    );
    if (groups.length === 0 && this.#report.diagnostics.length > 0)
      fill(byId("findings"), element("li", {}, "No finding matches the filter."));
  }

  /** A button that shows or hides the findings of a severity, with their count. */
  #toggle(severity) {
    const count = this.#report.severities[severity];
    if (count === 0) return null;
    const on = !this.#hidden.has(severity);
    const onclick = () => {
      this.#hidden[on ? "add" : "delete"](severity);
      this.#draw();
      byId(`show-${severity}`).focus();
    };
    return element(
      "button",
      { type: "button", class: "small", id: `show-${severity}`, "aria-pressed": String(on), onclick },
      element("span", { class: `sign ${severity}`, "aria-hidden": "true" }, SIGNS[severity]),
      ` ${counted(count, severity)}`,
    );
  }

  /** The first finding of a kind in full, and the others folded away. */
  #group(alike, sought) {
    const [first] = alike;
    const listed = alike.reduce((sum, one) => sum + countOf(one), 0);
    const count = sought === "" ? Math.max(listed, this.#report.totals[first.code] ?? 0) : listed;
    const fixes = alike.map((one) => one.fix).filter((fix) => fix?.safe);
    return element(
      "li",
      { class: `finding ${first.severity}` },
      this.#finding(first),
      count > 1 && this.#rest(alike, count),
      this.#fixable &&
        fixes.length > 1 &&
        element(
          "button",
          { type: "button", class: "small fix", onclick: () => this.#onFix(fixes) },
          `Fix all ${fixes.length}`,
          element("span", { class: "unseen" }, ` of ${first.code}`),
        ),
    );
  }

  #finding(one) {
    return [
      element(
        "p",
        { class: "message" },
        element("span", { class: `sign ${one.severity}`, "aria-hidden": "true" }, SIGNS[one.severity]),
        element("span", { class: "unseen" }, `${one.severity}: `),
        one.place && [lineLink(one.place.line), " "],
        ticked(one.message),
        " ",
        element(
          "a",
          { class: "code", href: lintPage(one.code), onclick: (event) => manual(event, one.code) },
          `${one.code} ${one.name}`,
        ),
      ),
      one.reading && element("p", { class: "reading" }, ticked(one.reading)),
      one.related
        .slice(0, 5)
        .map((other) => element("p", { class: "reading" }, lineLink(other.place.line), " ", ticked(other.message))),
      this.#fix(one),
    ];
  }

  #fix(one) {
    if (!one.fix || !this.#fixable) return null;
    return element(
      "p",
      {},
      element(
        "button",
        { type: "button", class: "small fix", onclick: () => this.#onFix([one.fix]) },
        one.fix.edits.length > 1 && countOf(one) > 1 ? `Fix all ${countOf(one)}` : "Fix",
        element("span", { class: "unseen" }, ` line ${one.place?.line ?? ""}`),
      ),
      " ",
      ticked(one.fix.label),
      !one.fix.safe && element("span", { class: "unsafe" }, " This can change decisions."),
    );
  }

  /** All of a kind. */
  #rest(alike, count) {
    const { code } = alike[0];
    // Those with the same words are listed by their lines alone.
    const byMessage = new Map();
    for (const one of alike) {
      const lines = one.lines ?? (one.place ? [one.place.line] : []);
      byMessage.set(one.message, [...(byMessage.get(one.message) ?? []), ...lines]);
    }
    let left = MOST_LINES;
    const items = [...byMessage].map(([message, all]) => {
      const lines = all.slice(0, left);
      left -= lines.length;
      return (
        lines.length > 0 &&
        element(
          "li",
          {},
          lines.map((line) => [lineLink(line), " "]),
          byMessage.size > 1 && ticked(message),
        )
      );
    });
    const more = count - (MOST_LINES - left);
    const details = element(
      "details",
      { open: this.#open.has(code) },
      element("summary", {}, `all ${count.toLocaleString("en")} of this kind`),
      element(
        "ul",
        { class: "alike", role: "list" },
        items,
        more > 0 && element("li", {}, `and ${more.toLocaleString("en")} more`),
      ),
    );
    details.addEventListener("toggle", () => this.#open[details.open ? "add" : "delete"](code));
    return details;
  }
}

// The list of decisions. Rows stay while their contents change, so that the focus and open rows stay too.

import { answer, code, counted, element, fill, lineLink, shown } from "./dom.js";
import { reasonOf, ruleText } from "./words.js";
import { usesStrip, why } from "./why.js";

export class Decisions {
  #list;
  #count;
  #rows = [];
  #site = "";
  #onOpen;
  #onPoint;

  /** `onOpen` is told when a row wants its explanation; `onPoint` which line is meant, or null. */
  constructor({ list, count, onOpen, onPoint }) {
    this.#list = list;
    this.#count = count;
    this.#onOpen = onOpen;
    this.#onPoint = onPoint;
  }

  /** Whether the row at this place is open. */
  isOpen(place) {
    return this.#rows[place]?.open ?? false;
  }

  /**
   * Shows the answers to these URLs; `answers` are decisions or errors, and may be fewer while more come. URLs
   * of other sites than `site`, whose file this is, are marked.
   */
  show(answers, asked, skipped, site) {
    this.#site = site;
    while (this.#rows.length > asked) this.#rows.pop().node.remove();
    for (const [place, decision] of answers.entries()) {
      if (!this.#rows[place]) {
        this.#rows[place] = this.#row(place);
        this.#list.append(this.#rows[place].node);
      }
      this.#rows[place].show(decision);
    }
    const allowed = answers.filter((decision) => decision.access?.allowed).length;
    const wrong = answers.filter((decision) => decision.error).length;
    const parts = [`${allowed} allowed`, `${answers.length - allowed - wrong} disallowed`];
    if (wrong > 0) parts.push(`${wrong} without an answer`);
    if (skipped > 0) parts.push(`${counted(skipped, "more URL")} not checked`);
    this.#count.textContent = asked === 0 ? "No URLs given." : parts.join(", ");
  }

  /** Shows one answer alone, to a row that was opened. */
  showOne(place, decision) {
    this.#rows[place]?.show(decision);
  }

  /** Says that what is shown is about an earlier question. */
  set stale(is) {
    this.#list.classList.toggle("stale", is);
    this.#list.setAttribute("aria-busy", String(is));
  }

  #row(place) {
    const verdict = element("div", { class: "verdict" });
    const about = element("div", { class: "about" });
    const uses = element("div", { class: "strip" });
    const id = `why-${place}`;
    const panel = element("div", { class: "why", id, hidden: true });
    const row = { open: false, decision: null };
    const label = element("span", { class: "unseen" });
    const toggle = element(
      "button",
      { type: "button", class: "toggle", "aria-expanded": "false", "aria-controls": id },
      "Why",
      label,
    );
    toggle.addEventListener("click", () => {
      row.open = !row.open;
      toggle.setAttribute("aria-expanded", String(row.open));
      panel.hidden = !row.open;
      if (row.open && !row.decision?.explanation) this.#onOpen(place);
    });
    const point = () => this.#onPoint(row.decision?.access?.rule?.line ?? null);
    row.node = element(
      "li",
      {
        class: "decision",
        onmouseenter: point,
        onfocusin: point,
        onmouseleave: () => this.#onPoint(null),
        onfocusout: () => this.#onPoint(null),
      },
      element("div", { class: "summary" }, verdict, about, toggle),
      uses,
      panel,
    );
    row.show = (decision) => {
      row.decision = decision;
      const focused = row.node.contains(document.activeElement) && document.activeElement !== toggle;
      label.textContent = ` for ${shown(decision.url ?? "")}`;
      row.node.classList.toggle("wrong", Boolean(decision.error));
      toggle.hidden = Boolean(decision.error);
      if (decision.error) {
        verdict.replaceChildren(
          element("span", { class: "answer unknown" }, element("span", { "aria-hidden": "true" }, "!"), " no answer"),
        );
        about.replaceChildren(
          element("p", { class: "url" }, code(decision.url ?? "")),
          element("p", { class: "by" }, shown(decision.error.message)),
        );
        uses.replaceChildren();
        panel.replaceChildren();
        panel.hidden = true;
        return;
      }
      const { access } = decision;
      panel.hidden = !row.open;
      verdict.replaceChildren(answer(access.allowed ? "allowed" : "disallowed"));
      fill(
        about,
        element("p", { class: "url" }, code(decision.url, 400)),
        element(
          "p",
          { class: "by" },
          access.rule
            ? [lineLink(access.rule.line), " ", code(ruleText(access.rule))]
            : reasonOf(access, shown(decision.agent)),
        ),
        isElsewhere(decision.url, this.#site) &&
          element(
            "p",
            { class: "elsewhere" },
            `This URL is on another site. The file is assumed to be the one of ${shown(this.#site, 80)}.`,
          ),
      );
      uses.replaceChildren(usesStrip(decision.uses));
      if (decision.explanation) fill(panel, why(decision));
      else if (row.open) panel.replaceChildren(element("p", {}, "…"));
      // The element that had the focus was replaced.
      if (focused) toggle.focus();
    };
    return row;
  }
}

/** Whether a URL is of another scheme, host or port than those of a site. */
function isElsewhere(url, site) {
  return URL.canParse(url) && URL.canParse(site) && new URL(url).origin !== new URL(site).origin;
}

// What lint found, as a list with fixes.

import { element, lineLink, shown } from "./dom.js";

/** How many of a kind are listed in full, and how many more by their lines. */
const MOST_ALIKE = 3;
const MOST_LINES = 200;

const RANKS = ["error", "warning", "note"];

const SIGNS = { error: "✖", warning: "▲", note: "●" };

/** Draws the findings. `onFix` gets the fixes and applies them. */
export function showFindings({ list, heading, fixAll, report, onFix }) {
  const found = report.diagnostics;
  const total = Object.values(report.totals).reduce((sum, count) => sum + count, 0);
  heading.textContent = total === 0 ? "Findings: none" : `Findings: ${total.toLocaleString("en")}`;
  // Fixes of a decoded file have offsets of a text that is not in the editor.
  const fixable = report.text_start !== null;
  const safe = fixable ? found.map((one) => one.fix).filter((fix) => fix?.safe) : [];
  fixAll.hidden = safe.length < 2;
  fixAll.onclick = () => onFix(safe);
  const byCode = new Map();
  for (const one of found) byCode.set(one.code, [...(byCode.get(one.code) ?? []), one]);
  // Higher severities come first; otherwise the order of the file.
  const worst = [...byCode.values()].sort(
    (one, other) => RANKS.indexOf(one[0].severity) - RANKS.indexOf(other[0].severity),
  );
  list.replaceChildren(
    ...worst.flatMap((alike) => {
      const more = report.totals[alike[0].code] - MOST_ALIKE;
      const items = alike.slice(0, MOST_ALIKE).map((one) => finding(one, fixable && onFix));
      if (more > 0) items.push(element("li", { class: "finding more" }, rest(alike, more)));
      return items;
    }),
  );
}

function finding(one, onFix) {
  return element(
    "li",
    { class: `finding ${one.severity}` },
    element(
      "p",
      { class: "message" },
      element("span", { class: `sign ${one.severity}`, "aria-hidden": "true" }, SIGNS[one.severity]),
      element("span", { class: "unseen" }, `${one.severity}: `),
      one.place && [lineLink(one.place.line), " "],
      ticked(one.message),
      " ",
      element("span", { class: "code", title: one.clauses.join(", ") }, `${one.code} ${one.name}`),
    ),
    one.reading && element("p", { class: "reading" }, ticked(one.reading)),
    one.related
      .slice(0, 5)
      .map((other) => element("p", { class: "reading" }, lineLink(other.place.line), " ", ticked(other.message))),
    one.fix &&
      onFix &&
      element(
        "p",
        {},
        element(
          "button",
          { type: "button", class: "fix", onclick: () => onFix([one.fix]) },
          "Fix",
          element("span", { class: "unseen" }, ` line ${one.place?.line ?? ""}`),
        ),
        " ",
        ticked(one.fix.label),
        !one.fix.safe && element("span", { class: "unsafe" }, " This can change decisions."),
      ),
  );
}

/** The same finding in other places: the lines alone. */
function rest(alike, more) {
  const others = alike.slice(MOST_ALIKE, MOST_ALIKE + MOST_LINES).filter((one) => one.place);
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      `${more.toLocaleString("en")} more of `,
      element("span", { class: "code" }, `${alike[0].code} ${alike[0].name}`),
    ),
    element(
      "p",
      {},
      others.map((one) => [lineLink(one.place.line), " "]),
      more > others.length && `and ${(more - others.length).toLocaleString("en")} more`,
    ),
  );
}

/** A sentence; text between backquotes is text of a file. */
function ticked(sentence) {
  return shown(sentence, 2000)
    .split("`")
    .map((part, place) => (place % 2 === 1 ? element("bdi", {}, element("code", {}, part)) : part));
}

// What lint found, as a list with fixes.

import { code, counted, element, lineLink, shown } from "./dom.js";

/** How many are listed; the file has the rest. */
const MOST = 100;

const SIGNS = { error: "✖", warning: "▲", note: "●" };

/** Draws the findings. `onFix` gets the fixes to make and says what came of it. */
export function showFindings({ list, heading, fixAll, report, onFix }) {
  const found = report.diagnostics;
  const total = Object.values(report.totals).reduce((sum, count) => sum + count, 0);
  heading.textContent = total === 0 ? "Findings: none" : `Findings: ${total.toLocaleString("en")}`;
  // Fixes of a decoded file have offsets of a text that is not in the editor.
  const fixable = report.text_start !== null;
  const safe = fixable ? found.map((one) => one.fix).filter((fix) => fix?.safe) : [];
  fixAll.hidden = safe.length < 2;
  fixAll.onclick = () => onFix(safe);
  const items = found.slice(0, MOST).map((one) =>
    element(
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
      one.related.slice(0, 5).map((other) => element("p", { class: "reading" }, lineLink(other.place.line), " ", ticked(other.message))),
      one.fix &&
        fixable &&
        element(
          "p",
          {},
          element("button", { type: "button", class: "fix", onclick: () => onFix([one.fix]) }, "Fix", element("span", { class: "unseen" }, ` line ${one.place?.line ?? ""}`)),
          " ",
          ticked(one.fix.label),
          !one.fix.safe && element("span", { class: "unsafe" }, " This can change decisions."),
        ),
    ),
  );
  if (total > items.length) items.push(element("li", {}, `and ${counted(total - items.length, "more finding")}`));
  list.replaceChildren(...items);
}

/** A sentence in which what stands between backquotes is text of a file. */
function ticked(sentence) {
  return shown(sentence, 2000)
    .split("`")
    .map((part, place) => (place % 2 === 1 ? element("bdi", {}, element("code", {}, part)) : part));
}

// The patterns of a file that crawlers and dialects read differently, with a column for each reading.

import { answer, code, counted, element, lineLink, shown } from "./dom.js";
import { BRIEFLY, ruleText } from "./words.js";

const MOST_ROWS = 100;
const MOST_PATTERNS = 3;

/** Draws a comparison into `place`. */
export function showComparison(place, comparison) {
  const patterns = counted(comparison.pattern_count, "pattern");
  if (comparison.rows.length === 0) {
    place.replaceChildren(element("p", {}, `${patterns}; no difference between crawlers was found.`), ...leftOut(comparison));
    return;
  }
  place.replaceChildren(
    element("p", {}, `${patterns}, read in ${comparison.readings.length} ways:`),
    element(
      "dl",
      { class: "readings" },
      comparison.readings.map((reading) =>
        element("div", {}, element("dt", {}, reading.name), element("dd", {}, readers(reading))),
      ),
    ),
    ...table(comparison),
    ...leftOut(comparison),
  );
}

/** The crawlers with this reading; dialects are named if it is not all of them. */
function readers(reading) {
  const byDialects = new Map();
  for (const one of reading.of) {
    const dialects = one.every_dialect ? "" : one.dialects.join(" and ");
    byDialects.set(dialects, [
      ...(byDialects.get(dialects) ?? []),
      one.crawler === "*" ? "any other crawler" : shown(one.crawler),
    ]);
  }
  return [...byDialects].map(([dialects, names]) => {
    const more = names.length - 12;
    const listed = `${names.slice(0, 12).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return element("p", {}, listed, dialects && element("span", { class: "dialects" }, ` in ${dialects}`));
  });
}

function table({ readings, rows }) {
  const row = (one) => {
    const why = new Map(one.why.map((of) => [of.reading, of]));
    const listed = one.patterns.slice(0, MOST_PATTERNS);
    const more = one.pattern_count - listed.length;
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        listed.map((of) => element("div", {}, code(of.pattern, 120))),
        more > 0 && element("div", { class: "more" }, `and ${more} more`),
        element("div", { class: "example" }, "for example ", code(one.patterns[0].example, 120)),
      ),
      readings.map((reading) => {
        const allowed = one.may.includes(reading.name);
        if (!allowed && !one.may_not.includes(reading.name)) return element("td", { "data-of": reading.name }, "–");
        return element(
          "td",
          { "data-of": reading.name },
          answer(allowed ? "allowed" : "disallowed", allowed ? "may" : "may not"),
          grounds(why.get(reading.name)),
        );
      }),
    );
  };
  const heads = readings.map((reading) => element("th", { scope: "col" }, reading.name));
  const more = rows.length - MOST_ROWS;
  return [
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison" },
      element(
        "table",
        { class: "matrix stacked" },
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "pattern"), heads)),
        element("tbody", {}, rows.slice(0, MOST_ROWS).map(row)),
      ),
    ),
    more > 0 && element("p", {}, `and ${counted(more, "more row")}`),
  ].filter(Boolean);
}

function grounds(of) {
  if (!of) return null;
  const { rule, reason } = of.grounds;
  if (!rule) return element("div", { class: "grounds" }, BRIEFLY[reason] ?? reason);
  const link = lineLink(rule.line);
  link.title = ruleText(rule);
  return element("div", { class: "grounds" }, link);
}

function leftOut({ patterns_left_out: patterns, crawlers_left_out: crawlers }) {
  return [
    patterns > 0 &&
      element("p", {}, `${counted(patterns, "pattern")} were not compared: too many patterns for this many crawlers.`),
    crawlers > 0 &&
      element("p", {}, `${counted(crawlers, "more crawler")} were not compared: the file names too many.`),
  ].filter(Boolean);
}

// How a decision was reached, and all of its parts: what opens below a decision.

import { answer, code, counted, element, lineLink, shown } from "./dom.js";
import { provenance } from "./provenance.js";
import { BY, reasonOf, ruleText, USES } from "./words.js";

/** Lists are cut at this length, and the rest is counted. */
const MOST = 30;

/** Groups that were not chosen are of less interest. */
const MOST_PASSED = 10;

/** Everything about a decision that has its explanation. */
export function why(decision) {
  const { explanation, access } = decision;
  return [
    section("How it was reached", chain(decision)),
    section("Warnings", warnings(decision.warnings)),
    section("Signals about each use", signals(decision)),
    section("Usage preferences", usage(decision)),
    section("Application directives", directives(decision)),
    section("Page", page(decision)),
    section("Other records for this crawler", records(decision.records)),
    section("Irregular lines", irregularities(explanation.irregularities)),
    section("Where the file came from", provenance(decision.file)),
    access.for_training && element("p", {}, "Its name ends in -ai, which means that it collects data for training."),
    element(
      "details",
      { class: "json" },
      element("summary", {}, "As JSON"),
      element(
        "pre",
        { tabindex: "0", role: "region", "aria-label": "The decision as JSON" },
        JSON.stringify(decision, null, 1),
      ),
    ),
  ];
}

function section(title, content) {
  return content && element("section", {}, element("h3", {}, title), content);
}

function chain({ access, agent, explanation }) {
  const steps = [];
  if (explanation.target.length > 0) {
    const forms = explanation.target.map((form) => code(form));
    const also = forms.length > 1 ? [" or, because its query can be written in two ways, ", forms.slice(1)] : "";
    steps.push(element("li", {}, "Patterns are compared with: ", forms[0], also));
  }
  if (explanation.groups.length > 0)
    steps.push(element("li", {}, groupsSentence(access, agent), groups(explanation.groups)));
  if (explanation.matches.length > 0) {
    const more = explanation.matches.length - MOST;
    steps.push(
      element(
        "li",
        {},
        matchesSentence(explanation.matches),
        matches(explanation.matches.slice(0, MOST)),
        more > 0 && element("p", {}, `and ${more} more`),
      ),
    );
  }
  const outcome = access.rule
    ? [code(ruleText(access.rule)), ` on `, lineLink(access.rule.line), " decides"]
    : [reasonOf(access, agent)];
  steps.push(element("li", {}, answer(access.allowed ? "allowed" : "disallowed"), ": ", outcome, "."));
  return [
    element("ol", { class: "chain" }, steps),
    explanation.clauses.length > 0 &&
      element(
        "p",
        { class: "clauses" },
        "Clauses: ",
        explanation.clauses.map((clause) => [element("code", {}, clause), " "]),
      ),
  ];
}

function groupsSentence(access, agent) {
  return access.group
    ? `The file's groups; ${shown(agent)} matches ${BY[access.group.by] ?? `by ${access.group.by}`}:`
    : `The file's groups; none applies to ${shown(agent)}:`;
}

function groups(all) {
  const kind = (word, name, listed, most, mostStarts) =>
    listed.length > 0 &&
    element(
      "li",
      { class: name },
      element("span", { class: "outcome" }, word),
      listed.slice(0, most).map((group, place) => [place > 0 && "; ", starts(group, mostStarts)]),
      listed.length > most && ` and ${counted(listed.length - most, "more group")}`,
    );
  const chosen = all.filter((group) => group.chosen);
  const passed = all.filter((group) => !group.chosen);
  return element(
    "ul",
    { class: "groups", role: "list" },
    kind(chosen.length > 1 ? "chosen, combined" : "chosen", "chosen", chosen, MOST, MOST),
    kind("skipped", "passed", passed, MOST_PASSED, 3),
  );
}

/** The lines that a group starts with; those that name the crawler are strong. */
function starts(group, most) {
  const more = group.starts.length - most;
  return [
    group.starts
      .slice(0, most)
      .map((start, place) => [
        place > 0 && ", ",
        start.by && group.chosen ? element("strong", {}, code(start.value, 80)) : code(start.value, 80),
        " ",
        lineLink(start.line),
      ]),
    more > 0 && ` and ${more} more`,
  ];
}

function matchesSentence(all) {
  if (all.length === 1) return "One rule matches:";
  const tie = all[0].octets === all[1].octets;
  const because = tie
    ? "of those with the most octets an allow rule wins, otherwise the first"
    : "the one with the most octets wins";
  return `${counted(all.length, "rule")} match; ${because}:`;
}

function matches(all) {
  const row = (rule, place) =>
    element(
      "tr",
      { class: place === 0 ? "won" : "lost" },
      element("td", {}, place === 0 ? "decides" : "lost"),
      element(
        "td",
        {},
        code(ruleText(rule)),
        rule.normalised !== rule.pattern && [" compared as ", code(rule.normalised)],
      ),
      element("td", { class: "figure" }, String(rule.octets)),
      element("td", {}, lineLink(rule.line)),
    );
  const heads = ["", "rule", "octets", "where"].map((head) =>
    head === "" ? element("td", {}) : element("th", { scope: "col" }, head),
  );
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rules that match" },
    element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, all.map(row))),
  );
}

function signals(decision) {
  const about = Object.entries(decision.signals ?? {});
  if (about.length === 0) return null;
  const items = about.map(([use, spoke]) => [
    element("dt", {}, use),
    element(
      "dd",
      {},
      spoke.map((signal, place) => [
        place > 0 && "; ",
        code(signal.signal),
        " says ",
        answer(signal.says),
        signal.line && [" on ", lineLink(signal.line)],
        signal.overridden && ", overridden by directives",
      ]),
    ),
  ]);
  return element("dl", {}, items);
}

function warnings(all = []) {
  if (all.length === 0) return null;
  const items = all.map((warning) => {
    const line = warning.place.in === "robots.txt" && warning.place.line;
    return element("li", {}, line && [lineLink(line), ": "], shown(warning.message));
  });
  return element("ul", {}, items);
}

function usage({ usage: held, overrides = [] }) {
  if (held === null || held === undefined) return null;
  const { other = {}, ...categories } = held;
  const item = ([label, says], note) => [element("dt", {}, code(label)), element("dd", {}, answer(says), note)];
  return [
    element(
      "dl",
      {},
      Object.entries(categories).map((entry) => item(entry)),
      Object.entries(other).map((entry) => item(entry, " (not in the vocabulary)")),
    ),
    overrides.map((over) =>
      element(
        "p",
        {},
        `For ${shown(over.category)} the file says ${over.preference}; `,
        code(`${over.application};${over.directive}`),
        ` makes it ${over.outcome}.`,
      ),
    ),
  ];
}

function directives({ directives: asked, explanation }) {
  const applications = explanation.applications.filter(
    (one) => asked[one.application] || one.rules.length > 0 || one.unusable.length > 0,
  );
  if (applications.length === 0) return null;
  const items = applications.map((one) => [
    element("dt", {}, code(one.application)),
    element(
      "dd",
      {},
      Object.entries(asked[one.application] ?? {}).map(([name, value]) => [code(`${name}=${valueText(value)}`), " "]),
      one.unusable.map((name) => [code(name), " is not used, because its type is not the registered one "]),
      one.rules.map((rule) => [lineLink(rule.line), rule.applies ? " applies " : " lost to a longer pattern "]),
    ),
  ]);
  return element("dl", {}, items);
}

/** A structured value, as it would be written, nearly. */
function valueText(value) {
  if (value === true) return "?1";
  if (value === false) return "?0";
  if (typeof value === "string") return JSON.stringify(value);
  if (value !== null && typeof value === "object") return String(Object.values(value)[0]);
  return String(value);
}

function page({ page: held }) {
  if (!held) return null;
  return pageRules(held);
}

/** The rules of a page, where each was found, and what was not understood. */
export function pageRules(held) {
  const at = new Map((held.found ?? []).map((found) => [found.rule, found.at]));
  const rules = Object.entries(held.rules).map(([name, value]) =>
    element(
      "tr",
      {},
      element("td", {}, code(value === true ? name : `${name}: ${value}`)),
      element("td", {}, shown(at.get(name) ?? "")),
    ),
  );
  const unsupported = held.unsupported ?? [];
  return [
    element(
      "p",
      { class: "uses" },
      ["index", "snippet", "follow"].map((use) => [answer(held[use] ? "allowed" : "disallowed", use), " "]),
    ),
    rules.length === 0
      ? element("p", {}, "No page rule applies to this crawler.")
      : element(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Page rules" },
          element(
            "table",
            {},
            element(
              "thead",
              {},
              element("tr", {}, element("th", { scope: "col" }, "rule"), element("th", { scope: "col" }, "found in")),
            ),
            element("tbody", {}, rules),
          ),
        ),
    unsupported.length > 0 &&
      element(
        "p",
        {},
        "Not understood: ",
        unsupported.slice(0, MOST).map((found) => [code(found.rule), ` (${shown(found.at)}) `]),
      ),
    held.fresh_seconds !== undefined &&
      held.fresh_seconds !== null &&
      element(
        "p",
        {},
        `These rules stay fresh for ${counted(held.fresh_seconds, "second")} after the response was generated.`,
      ),
  ];
}

function records(held) {
  const items = [];
  if (held.crawl_delay !== null) items.push(["crawl-delay", `${held.crawl_delay} s between requests`]);
  for (const [kind, values] of Object.entries(held)) {
    if (kind === "crawl_delay") continue;
    const texts = Array.isArray(values)
      ? values
      : Object.entries(values ?? {}).map(
          ([key, value]) => `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`,
        );
    for (const text of texts.slice(0, MOST)) items.push([kind.replaceAll("_", "-"), String(text)]);
    if (texts.length > MOST) items.push([kind, `and ${texts.length - MOST} more`]);
  }
  if (items.length === 0) return null;
  return element(
    "dl",
    {},
    items.map(([kind, text]) => [element("dt", {}, kind), element("dd", {}, code(text))]),
  );
}

function irregularities(all) {
  if (all.length === 0) return null;
  const items = all
    .slice(0, MOST)
    .map((found) =>
      element("li", {}, lineLink(found.line), `: ${found.summary} (`, element("code", {}, found.clause), ")"),
    );
  const more = all.length - MOST;
  return element("ul", {}, items, more > 0 && element("li", {}, `and ${more} more`));
}

/** What can't be done with a page that may not be fetched. A search engine may still know its address. */
const OF_CONTENT = ["train", "search", "ai-input"];

/** One answer for each use, in one line. */
export function usesStrip(uses) {
  const isKeptOut = uses.crawl === "disallowed";
  return element(
    "ul",
    { class: "uses", role: "list", "aria-label": "Uses" },
    Object.entries(uses).map(([use, says]) => {
      const isOfAccess = isKeptOut && OF_CONTENT.includes(use);
      const value = isOfAccess ? "disallowed" : says;
      const mark = answer(value, use);
      mark.title = `${USES[use] ?? use} ${value}${isOfAccess ? ": what may not be fetched can't be used" : ""}`;
      mark.append(element("span", { class: "unseen" }, `: ${value}`));
      return element("li", {}, mark);
    }),
  );
}

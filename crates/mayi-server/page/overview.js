// Who may do what with the site: sentences on top of the page, and a tab with all known crawlers by what they
// are for.

import { answer, code, counted, element, fill, lineLink, shown, ticked } from "./dom.js";
import { ruleText, USES } from "./words.js";

/** Rules that are listed, the rest is counted; and names, the rest is folded away. */
const MOST_RULES = 6;
const MOST_NAMES = 20;

/** How much may be fetched: its sign, its word and its colour. */
const AMOUNTS = {
  everything: ["✓", "everything", "allowed"],
  part: ["◐", "a part", "partly"],
  nothing: ["✗", "nothing", "disallowed"],
};

/** From this many sentences on, those of the two kinds that most owners ask about come first. */
const MANY = 4;
const ASKED_MOST = ["search", "training"];

/** Draws the sentences and a button for each kind of crawler; `onKind` is told which one is wanted. */
export function showSummary({ sentences, kinds }, overview, onKind) {
  const all = overview.summary;
  const first = overview.kinds.filter((one) => ASKED_MOST.includes(one.kind)).map((one) => one.summary);
  const list = (some) =>
    element(
      "ul",
      { class: "sentences", role: "list" },
      some.map((sentence) => element("li", {}, ticked(sentence))),
    );
  const isOpen = sentences.querySelector("details")?.open ?? false;
  fill(
    sentences,
    list(all.length < MANY ? all : first),
    all.length >= MANY &&
      element(
        "details",
        { open: isOpen },
        element("summary", {}, "Other crawlers, and how pages may be used"),
        list(all.filter((sentence) => !first.includes(sentence))),
      ),
  );
  fill(
    kinds,
    overview.kinds.map((one) =>
      element(
        "button",
        { type: "button", class: "small kind", title: one.summary, onclick: () => onKind(one.kind) },
        capital(one.label),
        Object.entries(AMOUNTS)
          .filter(([amount]) => one[amount] > 0)
          .map(([amount, [sign, word, name]]) =>
            element(
              "span",
              { class: `amount ${name}` },
              element("span", { "aria-hidden": "true" }, ` ${sign}${one[amount]}`),
              element("span", { class: "unseen" }, `, ${one[amount]} may fetch ${word}`),
            ),
          ),
      ),
    ),
  );
}

/** Draws all crawlers, by kind; crawlers of a kind with the same answer are together. */
export function showCrawlers(place, overview) {
  fill(
    place,
    overview.kinds.map((one) =>
      element(
        "section",
        { id: `kind-${one.kind}`, tabindex: "-1" },
        element("h3", {}, capital(one.label), element("span", { class: "count" }, ` ${one.crawlers.length}`)),
        element("p", { class: "sentence" }, ticked(one.summary)),
        table(one, overview.answers),
      ),
    ),
    overview.crawlers_left_out > 0 &&
      element("p", {}, `${counted(overview.crawlers_left_out, "crawler")} not looked at: there are too many.`),
  );
}

function table(kind, answers) {
  const together = new Map();
  for (const crawler of kind.crawlers) {
    together.set(crawler.answer, [...(together.get(crawler.answer) ?? []), crawler]);
  }
  return element(
    "table",
    { class: "matrix stacked crawlers" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ["crawler", "may fetch", "uses"].map((head) => element("th", { scope: "col" }, head)),
      ),
    ),
    element(
      "tbody",
      {},
      [...together].map(([at, crawlers]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, element("div", {}, names(crawlers))),
          element("td", { "data-of": "may fetch" }, crawling(answers[at].crawling)),
          element("td", { "data-of": "uses" }, uses(answers[at].uses)),
        ),
      ),
    ),
  );
}

function names(crawlers) {
  const name = (one, place) => [
    place > 0 && ", ",
    element(
      "span",
      { title: one.operator ? `of ${one.operator}` : null },
      one.token === "*" ? "every crawler that the file does not name" : shown(one.token, 60),
    ),
    one.by_use && element("span", { class: "soft" }, " (its archive is used for this)"),
  ];
  const more = crawlers.slice(MOST_NAMES);
  return [
    crawlers.slice(0, MOST_NAMES).map(name),
    more.length > 0 && element("details", {}, element("summary", {}, `and ${more.length} more`), more.map(name)),
  ];
}

/** How much may be fetched, and the rules that say so. */
function crawling({ answer: amount, proved, grounds, rules, rule_count: count }) {
  const [sign, word, name] = AMOUNTS[amount];
  const listed = rules.length > 0 ? rules : grounds.rule ? [grounds.rule] : [];
  const more = Math.max(rules.length, amount === "part" ? Math.min(count, rules.length) : 0) - MOST_RULES;
  return [
    element("span", { class: `answer ${name}` }, element("span", { "aria-hidden": "true" }, sign), ` ${word}`),
    !proved && element("span", { class: "soft" }, " (probably)"),
    element(
      "ul",
      { class: "rules", role: "list" },
      listed.slice(0, MOST_RULES).map((rule) => element("li", {}, lineLink(rule.line), " ", code(ruleText(rule), 80))),
      more > 0 && element("li", {}, `and ${counted(more, "more rule")}`),
    ),
  ];
}

/** What may be done with it, each with the line that says so. */
function uses(all) {
  return element(
    "ul",
    { class: "rules", role: "list" },
    all.map((one) => {
      const mark = answer(one.answer, one.use);
      mark.title = `${USES[one.use] ?? one.use} ${one.answer}`;
      mark.append(element("span", { class: "unseen" }, `: ${one.answer}`));
      const lines = [...new Set(one.because.map((ground) => ground.line).filter(Boolean))];
      return element(
        "li",
        {},
        mark,
        lines.map((line) => [" ", lineLink(line)]),
        one.elsewhere.length > 0 && [" but ", code(one.elsewhere[0].example, 60), " ", answer(one.elsewhere[0].answer)],
      );
    }),
  );
}

const capital = (label) => label[0].toUpperCase() + label.slice(1);

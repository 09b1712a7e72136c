// Crawlers × URLs at a glance: a sign for each pair, with its line on demand, and all of it as CSV.

import { decide } from "./api.js";
import { byId, code, counted, element, fill, lineLink, shown } from "./dom.js";
import { download } from "./filetools.js";
import { BRIEFLY, reasonOf, ruleText } from "./words.js";

/** What `*` stands for: a crawler that a file does not name. */
const ANY_OTHER = "any-other-crawler";

/** Octets of one request, about: a long file is sent with each question. */
const MOST_SENT = 2 * 1024 * 1024;

/** Requests that are sent without being asked for; a button sends the rest. */
const MOST_REQUESTS = 12;

/** The width of a column with a sign, and of the column of URLs at least. */
const CELL = 36;
const URL_WIDTH = 180;

const SIGN = { allowed: "✓", disallowed: "✗", wrong: "!" };

const nameOf = (agent) => (agent === "*" ? "any other crawler" : agent);

export class Grid {
  #held = null;
  #narrow = null;

  constructor() {
    byId("grid-csv").addEventListener("click", () => download(csv(this.#held), "decisions.csv", "text/csv"));
    new ResizeObserver(() => {
      if (this.#held && this.#isNarrow !== this.#narrow) this.#draw();
    }).observe(byId("grid"));
  }

  /**
   * Asks about every request as every crawler, and shows the answers as they come. `everything` goes on where
   * that takes very many requests.
   */
  async ask(signal, { requests, agents, brief, everything = false, onMore }) {
    const size = JSON.stringify(requests[0] ?? "").length * agents.length;
    const together = Math.max(1, Math.floor(MOST_SENT / Math.max(1, size)));
    const rows = [];
    const until = everything ? requests.length : together * MOST_REQUESTS;
    for (let from = 0; from < Math.min(requests.length, until); from += together) {
      const some = requests.slice(from, from + together);
      const body = some.flatMap((request) =>
        agents.map((agent) => ({ ...request, agent: agent === "*" ? ANY_OTHER : agent })),
      );
      const answers = await decide(body, signal);
      if (signal.aborted) return;
      for (const [at, { url, dialect }] of some.entries()) {
        rows.push({ url, dialect, answers: answers.slice(at * agents.length, (at + 1) * agents.length) });
      }
      this.#held = { rows, agents, brief, left: requests.length - rows.length, onMore };
      this.#draw();
    }
    if (requests.length === 0) {
      this.#held = { rows, agents, brief, left: 0, onMore };
      this.#draw();
    }
  }

  /** Whether a column for each crawler does not fit. */
  get #isNarrow() {
    return byId("grid").clientWidth < URL_WIDTH + CELL * this.#held.agents.length;
  }

  #draw() {
    const { rows, agents, left, onMore } = this.#held;
    this.#narrow = this.#isNarrow;
    byId("grid-csv").disabled = rows.length === 0;
    const pairs = rows.length * agents.length;
    const refused = rows.flatMap((row) => row.answers).filter((one) => kindOf(one) === "disallowed").length;
    byId("grid-count").textContent =
      pairs === 0
        ? "Give URLs under Decisions, and crawlers here."
        : `${counted(rows.length, "URL")} × ${counted(agents.length, "crawler")}: ${refused} of ${pairs} disallowed.`;
    fill(byId("grid"), pairs > 0 && (this.#narrow ? this.#cards() : this.#table()));
    fill(
      byId("grid-left"),
      left > 0 && [
        `The file is long: ${counted(left, "URL")} not asked about yet. `,
        element("button", { type: "button", class: "small", onclick: onMore }, "Ask about them too"),
      ],
    );
    fill(byId("grid-line"), pairs > 0 && "Select a mark to see the line that decides.");
  }

  #table() {
    const { rows, agents, brief } = this.#held;
    return element(
      "table",
      { class: "grid" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "URL"),
          agents.map((agent) => element("th", { scope: "col" }, element("span", {}, shown(nameOf(agent), 40)))),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((row) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, code(brief(row.url), 120)),
            row.answers.map((one, at) => element("td", {}, this.#cell(row, agents[at], one, ""))),
          ),
        ),
      ),
    );
  }

  /** A card for each URL: those who may and those who may not, by name. */
  #cards() {
    const { rows, agents, brief } = this.#held;
    return element(
      "ul",
      { class: "cards", role: "list" },
      rows.map((row) =>
        element(
          "li",
          {},
          element("p", { class: "url" }, code(brief(row.url), 120)),
          Object.keys(SIGN).map((kind) => {
            const of = row.answers.map((one, at) => [one, agents[at]]).filter(([one]) => kindOf(one) === kind);
            return (
              of.length > 0 &&
              element(
                "p",
                { class: "buttons" },
                of.map(([one, agent]) => this.#cell(row, agent, one, nameOf(agent))),
              )
            );
          }),
        ),
      ),
    );
  }

  #cell(row, agent, one, label) {
    const kind = kindOf(one);
    const { access, error } = one;
    const why = error?.message ?? (access.rule ? `line ${access.rule.line}` : BRIEFLY[access.reason]);
    const says = `${nameOf(agent)}: ${kind === "wrong" ? "no answer" : kind}, ${why}`;
    return element(
      "button",
      {
        type: "button",
        class: `cell ${kind}`,
        title: `${says}\n${this.#held.brief(row.url)}`,
        onclick: () => this.#tell(row, agent, one),
      },
      element("span", { "aria-hidden": "true" }, SIGN[kind]),
      label && ` ${shown(label, 40)}`,
      element("span", { class: "unseen" }, label ? ` ${kind}` : says),
    );
  }

  /** Says below the table what decided about a pair. */
  #tell(row, agent, one) {
    const { access, error } = one;
    fill(
      byId("grid-line"),
      element("strong", {}, shown(nameOf(agent))),
      " and ",
      code(this.#held.brief(row.url), 200),
      ": ",
      error
        ? shown(error.message)
        : [
            `${kindOf(one)}, `,
            access.rule
              ? [lineLink(access.rule.line), " ", code(ruleText(access.rule))]
              : reasonOf(access, shown(nameOf(agent))),
          ],
    );
    // The line is lit, but the page stays where it is: the next sign is asked for here.
    const detail = { line: access?.rule?.line, still: true };
    if (detail.line) document.dispatchEvent(new CustomEvent("reveal", { detail }));
  }
}

const kindOf = (one) => (one.error ? "wrong" : one.access.allowed ? "allowed" : "disallowed");

/** All answers, a line for each; a program of tables must not take a text for a formula. */
function csv({ rows, agents }) {
  const field = (text) =>
    `"${String(text)
      .replace(/^(?=[=+\-@\t])/, "'")
      .replaceAll('"', '""')}"`;
  const lines = rows.flatMap((row) =>
    row.answers.map((one, at) => {
      const { access, error } = one;
      const rule = access?.rule;
      return [
        row.url,
        agents[at],
        row.dialect,
        kindOf(one) === "wrong" ? "no answer" : kindOf(one),
        error?.message ?? access.reason,
        rule?.line ?? "",
        rule ? ruleText(rule) : "",
      ].map(field);
    }),
  );
  return `${["url,crawler,dialect,decision,reason,line,rule", ...lines.map((line) => line.join(","))].join("\r\n")}\r\n`;
}

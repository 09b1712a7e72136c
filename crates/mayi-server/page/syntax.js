// One line of robots.txt → pieces with a class, for colours alone. What a line means is the engine's to say.

const NAMES = new Map(
  Object.entries({
    start: ["user-agent", "useragent", "user agent", "user-agent-purpose"],
    rule: ["allow", "disallow", "disalow", "dissallow", "dissalow", "diasllow", "disallaw"],
    statement: [
      "content-usage",
      "content-signal",
      "app-directives",
      "app-directive",
      "disallowaitraining",
      "allowaitraining",
    ],
    record: [
      "sitemap",
      "site-map",
      "crawl-delay",
      "request-rate",
      "visit-time",
      "clean-param",
      "host",
      "noindex",
      "license",
    ],
  }).flatMap(([kind, names]) => names.map((name) => [name, kind])),
);

/** The pieces of a line as `[from, to, class]`, in order; what lies between has no class. */
export function pieces(line) {
  const found = [];
  const hash = line.indexOf("#");
  const end = hash < 0 ? line.length : hash;
  const colon = line.slice(0, end).indexOf(":");
  if (colon >= 0) {
    const name = line.slice(0, colon);
    const from = name.length - name.trimStart().length;
    const to = name.trimEnd().length;
    const kind =
      NAMES.get(
        name
          .trim()
          .replace(/^\ufeff/, "")
          .toLowerCase(),
      ) ?? "other";
    if (to > from) found.push([from, to, `name ${kind}`]);
    if (kind === "rule") {
      for (const wildcard of line.slice(colon, end).matchAll(/\*|\$(?=\s*$)/g)) {
        found.push([colon + wildcard.index, colon + wildcard.index + 1, "wildcard"]);
      }
    }
  }
  if (hash >= 0) found.push([hash, line.length, "comment"]);
  return found;
}

/**
 * Pieces and marks over each other: a list of `[from, to, classes]` that covers the line once. Marks may
 * overlap; each stretch has the classes of all that cover it.
 */
export function stretches(line, marks) {
  const all = [...pieces(line), ...marks].filter(([from, to]) => to > from);
  const cuts = [...new Set([0, line.length, ...all.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
  const made = [];
  for (let at = 0; at + 1 < cuts.length; at++) {
    const [from, to] = [cuts[at], cuts[at + 1]];
    const classes = all.filter((piece) => piece[0] <= from && piece[1] >= to).map((piece) => piece[2]);
    made.push([from, to, classes.join(" ")]);
  }
  return made;
}

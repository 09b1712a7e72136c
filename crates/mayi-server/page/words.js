// The names that reports use, in words.

/** The reason of a decision, if no rule decided. */
export function reasonOf(access, agent) {
  switch (access.reason) {
    case "no-rule":
      return "a group applies, but none of its rules matches";
    case "no-group":
      return `no group applies to ${agent}`;
    case "robots-txt":
      return "/robots.txt itself is always allowed";
    case "unavailable":
      return "the site has no robots.txt: everything is allowed";
    case "unreachable":
      return "the file could not be fetched: everything is disallowed until it can be";
    default:
      return access.reason;
  }
}

/** The same in a few words. */
export const BRIEFLY = {
  "no-rule": "no rule matches",
  "no-group": "no group",
  "robots-txt": "always",
  unavailable: "no file",
  unreachable: "file unreachable",
};

/** How a group was found. */
export const BY = {
  "product-token": "by its product token",
  regex: "by a regular expression",
  purpose: "by its purpose",
  global: "by *, because no group names it",
};

/** A rule as it would be written. */
export const ruleText = (rule) => `${rule.kind === "allow" ? "Allow" : "Disallow"}: ${rule.pattern}`;

/** The question that each use answers. */
export const USES = {
  crawl: "May it be fetched?",
  index: "May it be in an index?",
  snippet: "May parts of it be shown?",
  follow: "May its links be followed?",
  train: "May models be trained with it?",
  search: "May it be used in search?",
  "ai-input": "May it be given to a model as input?",
};

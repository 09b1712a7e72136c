// The names that reports use, in words.

/** Why a decision is as it is, where no rule decided. */
export function reasonOf(access, agent) {
  switch (access.reason) {
    case "no-rule":
      return "a group is for it, and none of its rules matches";
    case "no-group":
      return `no group is for ${agent}`;
    case "robots-txt":
      return "/robots.txt itself may always be fetched";
    case "unavailable":
      return "there is no such file: everything may be fetched";
    case "unreachable":
      return "the file could not be had: nothing may be fetched until it can";
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
  unreachable: "no file to be had",
};

/** How a group was found. */
export const BY = {
  "product-token": "by its product token",
  regex: "by a regular expression",
  purpose: "by its purpose",
  global: "as one that is not named",
};

/** A rule as it would be written. */
export const ruleText = (rule) => `${rule.kind === "allow" ? "Allow" : "Disallow"}: ${rule.pattern}`;

/** What each use is about. */
export const USES = {
  crawl: "May it be fetched?",
  index: "May it be in an index?",
  snippet: "May parts of it be shown?",
  follow: "May its links be followed?",
  train: "May models be trained with it?",
  search: "May it be used in search?",
  "ai-input": "May it be given to a model as input?",
};

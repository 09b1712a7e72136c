// What the page holds, and the requests that it makes of it.

import { EXAMPLE } from "./example.js";
import { Naming } from "./naming.js";
import { wellFormed } from "./octets.js";

/** URLs that are asked about; more are counted. */
const MOST_URLS = 200;

/** Everything that a link carries. */
export const state = { ...EXAMPLE };

/**
 * `instead` is what is sent in place of the text of a fetched file until it is edited: octets, or how the fetch
 * ended. It is in no link.
 */
export const fetched = { instead: null };

/** The file that is asked about. */
export const file = () => fetched.instead ?? wellFormed(state.robots);

/** A URL from what a person writes: the scheme may be left out, and a path is one of `base`. */
export function absolute(written, base) {
  // Before a number a colon is that of a port; elsewhere what is before it is a scheme, even one of no use here.
  if (/^[a-z][a-z0-9+.-]*:(?![0-9])/i.test(written)) return written;
  return written.startsWith("/") ? base + written : `https://${written}`;
}

export const words = (list) =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** The header fields of a text with a field on each line; a line that starts with white space goes on. */
function fieldsOf(text) {
  const fields = [];
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (/^[ \t]/.test(line) && fields.length > 0) fields.at(-1)[1] += ` ${line.trim()}`;
    else if (colon > 0) fields.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return fields;
}

/** The site that the file is for: where it came from, unless all URLs are of others; then that of the first URL. */
export function site() {
  // At the start of a line, and with a scheme of some length: a search everywhere in a long line takes for ever.
  const absolute = /^[ \t]*([a-z][a-z0-9+.-]{0,30}:\/\/[^/?#\s]+)/gim;
  const sites = Array.from(state.urls.matchAll(absolute), (found) => found[1]);
  return sites.length === 0 || sites.includes(state.base) ? state.base : sites[0];
}

export const response = () => ({ headers: fieldsOf(wellFormed(state.headers)), html: wellFormed(state.html) });

export const naming = new Naming();

/** The product token of the crawler that was given. */
export const agent = () => naming.tokenOf(wellFormed(state.agent.trim()));

/** A request for each URL, and how many URLs are too many. */
export function requests() {
  const lines = wellFormed(state.urls)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const shared = {
    agent: agent(),
    robots: file(),
    dialect: state.dialect,
    purposes: words(wellFormed(state.purposes)),
    apps: words(wellFormed(state.apps)),
    ...(state.usePage && { page: response() }),
  };
  const base = site();
  const urls = lines.slice(0, MOST_URLS).map((line) => absolute(line, base));
  return { all: urls.map((url) => ({ url, ...shared })), skipped: lines.length - urls.length };
}

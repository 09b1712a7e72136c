// Sends requests to our own server. A response to an outdated request is dropped; a failure is a `Problem`
// with a sentence for people.

/** Something that went wrong. `gone` is true if the server did not respond at all. */
export class Problem extends Error {
  constructor(message, { gone = false, status = null } = {}) {
    super(message);
    this.gone = gone;
    this.status = status;
  }
}

/** The key for this server, if it needs one. It is kept until the page is closed. */
let key = null;

/** Sends this key from now on. */
export function useKey(given) {
  key = given;
}

// ---------------------------------------------------------------------------------------- what can be asked
//
// All that the page asks of the engine is asked here, so that a build of the engine for browsers can take
// the place of the server.

/** Decisions about one request, or about a list of them. */
export const decide = (requests, signal) => post("/v1/decide", requests, signal);

/** What is wrong or doubtful in a file. */
export const lint = (body, signal) => post("/v1/lint", body, signal);

/** How crawlers and dialects read a file. */
export const compare = (body, signal) => post("/v1/compare", body, signal);

/** What may be done with a page. */
export const readPage = (body, signal) => post("/v1/page", body, signal);

/** A page of a site: its header fields and the start of its document. */
export const livePage = (url, signal) => get(`/v1/page?url=${encodeURIComponent(url)}`, signal);

/** The file of a site; with `fresh` the site is asked now, although a copy may be kept. */
export const robotsOf = (url, { fresh = false } = {}, signal) =>
  get(`/v1/robots?url=${encodeURIComponent(url)}${fresh ? "&fresh=true" : ""}`, signal);

/** A registry: `agents`, `purposes` or `applications`. */
export const registry = async (which) => (await get(`/v1/registry/${which}`))[which];

/** Who may do what with a site, by its file. */
export const overview = (body, signal) => post("/v1/overview", body, signal);

/** A file after goals of its owner, or a new one. */
export const edit = (body, signal) => post("/v1/edit", body, signal);

/** Which crawler a text names, such as a whole User-Agent string. */
export const crawlerOf = (body, signal) => post("/v1/crawler", body, signal);

/** Where a lint is described. */
export const lintPage = (code) => `/v1/registry/lints/${code}`;

/** The manual page of a lint, in Markdown. */
export const lintManual = async (code) => (await get(lintPage(code))).manual;

/** A file in one style: `{robots, changed, unformatted}`. */
export const format = (body, signal) => post("/v1/format", body, signal);

/** What the change from one file to another means. */
export const diff = (body, signal) => post("/v1/diff", body, signal);

/** The dialects. */
export const dialects = async () => (await get("/v1/dialects")).dialects;

// ---------------------------------------------------------------------------------------- how it is asked

const post = (path, body, signal) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });

const get = (path, signal) => ask(path, { signal });

async function ask(path, options) {
  let response;
  const headers = { ...options.headers, ...(key && { Authorization: `Bearer ${key}` }) };
  try {
    response = await fetch(path, { credentials: "omit", redirect: "error", ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not respond.", { gone: true });
  }
  const text = await response.text().catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server's response was incomplete.", { gone: true });
  });
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    const status = response.ok ? "" : ` (status ${response.status})`;
    throw new Problem(`The server's response is not JSON${status}.`, { status: response.status });
  }
  if (response.ok) return json;
  throw new Problem(sentence(json, response.status), { status: response.status });
}

/** Problem details (RFC 9457), or an error as decisions have it, in a sentence. */
function sentence(json, status) {
  const said = json.detail ?? json.error?.message ?? json.title;
  if (status === 413) return said ?? "The request is too large for this server.";
  if (status === 429) return said ?? "Too many requests for this server. Wait a moment.";
  return said ?? `The server rejected the request with status ${status}.`;
}

/**
 * A function that sends a request and gives `null` if a newer call has replaced it; the older request is aborted.
 * `run` gets a signal first, then the arguments.
 */
export function latest(run) {
  let current = null;
  return async (...args) => {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      const result = await run(mine.signal, ...args);
      return mine === current ? { result } : null;
    } catch (error) {
      if (mine !== current || error.name === "AbortError") return null;
      return { problem: error instanceof Problem ? error : new Problem(`Error in this page: ${error.message}`) };
    }
  };
}

/** Calls `run` once nothing has asked for it for a while; `now` does not wait. */
export function settled(run, wait) {
  let timer = null;
  const now = () => {
    clearTimeout(timer);
    timer = null;
    run();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(now, wait());
  };
  return { later, now };
}

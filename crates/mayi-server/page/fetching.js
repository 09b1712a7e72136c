// A site's own file → the editor. The server fetches it; this page sends requests to no other server.

import { get, latest } from "./api.js";
import { byId, element, shown } from "./dom.js";
import { file } from "./why.js";

/** A URL from what a person writes: the scheme may be left out, and a path is one of `base`. */
export function absolute(written, base) {
  // Before a number a colon is that of a port; elsewhere what is before it is a scheme, even one of no use here.
  if (/^[a-z][a-z0-9+.-]*:(?![0-9])/i.test(written)) return written;
  return written.startsWith("/") ? base + written : `https://${written}`;
}

/**
 * Wires the form. `onFile` gets `{robots, kept, base, asked}`: the text for the editor; what decides in its
 * place until it is edited, or null; the site; and the URL that was written.
 */
export function fetching({ onFile, base }) {
  const [form, site, button, story] = ["fetch", "site", "fetch-button", "story"].map(byId);
  const ask = latest((signal, url) => get(`/v1/robots?url=${encodeURIComponent(url)}`, signal));
  const tell = (kind, ...said) => {
    story.className = `story ${kind}`;
    story.replaceChildren(...said);
    story.hidden = said.length === 0;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const written = site.value.trim();
    if (written === "") {
      tell("wrong", "Enter the address of a site, such as https://example.com/.");
      site.focus();
      return;
    }
    const url = absolute(written, base());
    button.disabled = true;
    tell("", `Fetching the robots.txt of ${shown(url)} …`);
    const answered = await ask(url);
    button.disabled = false;
    if (answered === null) return;
    if (answered.problem) {
      tell("wrong", answered.problem.message);
      return;
    }
    const { result } = answered;
    const got = read(result);
    tell(
      got.kept ? "wrong" : "",
      element("details", {}, element("summary", {}, sentence(result, got)), file(result.file)),
    );
    onFile({ ...got, base: result.origin.replace(/\/$/, ""), asked: url });
  });
  return {
    /** What was fetched is no longer what is in the editor. */
    forget: () => tell(""),
  };
}

/** The text of the answer, and what to send in its place if the text alone would give other decisions. */
function read(result) {
  if (result.access !== "successful") return { robots: "", kept: ended(result.access) };
  const { robots, text } = result.copy;
  if (typeof robots === "string") return { robots, kept: null };
  const octets = Uint8Array.from(atob(robots.base64), (octet) => octet.charCodeAt(0));
  return { robots: text ?? new TextDecoder().decode(octets), kept: robots };
}

/** How a fetch ended, in the form of a request. It matters whether there is no file or it could not be fetched. */
function ended(access) {
  const status = Number(/: status (\d+)$/.exec(access)?.[1] ?? 0);
  if (status) return { status };
  return access.startsWith("unavailable") ? { status: 404 } : { error: access.replace(/^unreachable: /, "") };
}

function sentence(result, { kept }) {
  const origin = shown(result.origin);
  if (kept?.base64)
    return `The file of ${origin} is not UTF-8: decisions use its original octets, and its text is shown as well as possible.`;
  if (!kept) return `The file of ${origin}`;
  const why = shown(result.access.replace(/^\w+: /, ""));
  return result.access.startsWith("unavailable")
    ? `${origin} has no robots.txt (${why}): everything is allowed.`
    : `The robots.txt of ${origin} could not be fetched (${why}): everything is disallowed until it can be.`;
}

// A site's own file → the editor. The server fetches it; this page sends requests to no other server.
//
// A fetch never destroys: where there is no file, the editor stays as it is; where there is one, the change can
// be undone.

import { latest, robotsOf } from "./api.js";
import { byId, element, fill, shown } from "./dom.js";
import { facts, outcome, provenance } from "./provenance.js";
import { absolute } from "./state.js";

/**
 * Wires the form. `onFile` gets `{robots, kept, base, asked}`: the text for the editor; what decides in its
 * place until it is edited, or null; the site; and the URL that was written. `onUndo` undoes that.
 */
export function fetching({ onFile, onUndo, base }) {
  const [form, site, button, story] = ["fetch", "site", "fetch-button", "story"].map(byId);
  const ask = latest((signal, url, fresh) => robotsOf(url, { fresh }, signal));
  const tell = (kind, ...said) => {
    story.className = `story ${kind}`;
    fill(story, said);
    story.hidden = said.length === 0;
  };
  const press = (label, onclick) => element("button", { type: "button", class: "small", onclick }, label);

  async function run(url, fresh) {
    button.disabled = true;
    tell("", element("p", {}, `Fetching the robots.txt of ${shown(url)} …`));
    const answered = await ask(url, fresh);
    button.disabled = false;
    if (answered === null) return;
    if (answered.problem) {
      tell("wrong", element("p", {}, `${answered.problem.message} The file in the editor is as it was.`));
      return;
    }
    const { result } = answered;
    const got = { ...read(result), base: result.origin.replace(/\/$/, ""), asked: url };
    const loaded = result.access === "successful";
    if (loaded) onFile(got);
    tell(
      loaded ? "" : "wrong",
      element("p", {}, outcome(result).join(" "), !loaded && " The file in the editor is as it was."),
      element("p", { class: "facts" }, [...facts(result, got.octets)].join(" · ")),
      element(
        "p",
        { class: "buttons" },
        press("Fetch again now", () => run(url, true)),
        loaded && press("Undo", onUndo),
        // What holds without a file is a case of its own, which can be looked at.
        !loaded && press("Show the decisions for that", () => onFile(got)),
      ),
      element("details", {}, element("summary", {}, "Details"), provenance({ ...result.file, hops: result.asked })),
    );
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const written = site.value.trim();
    if (written === "") {
      tell("wrong", "Enter the address of a site, such as https://example.com/.");
      site.focus();
      return;
    }
    run(absolute(written, base()), false);
  });
  return {
    /** What was fetched is no longer what is in the editor. */
    forget: () => tell(""),
  };
}

/** The text of the answer, what to send in its place if the text alone would give other decisions, and its size. */
function read(result) {
  if (result.access !== "successful") return { robots: "", kept: ended(result.access), octets: null };
  const { robots, text } = result.copy;
  if (typeof robots === "string") return { robots, kept: null, octets: new TextEncoder().encode(robots).length };
  const octets = Uint8Array.from(atob(robots.base64), (octet) => octet.charCodeAt(0));
  return { robots: text ?? new TextDecoder().decode(octets), kept: robots, octets: octets.length };
}

/** How a fetch ended, in the form of a request. It matters whether there is no file or it could not be fetched. */
function ended(access) {
  const status = Number(/: status (\d+)$/.exec(access)?.[1] ?? 0);
  if (status) return { status };
  return access.startsWith("unavailable") ? { status: 404 } : { error: access.replace(/^unreachable: /, "") };
}

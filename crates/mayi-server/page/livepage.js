// A live page → the fields of Page controls: the server fetches its header fields and the start of its document.
// Nothing of it is run or drawn.

import { latest, livePage } from "./api.js";
import { byId, code, element, fill, shown } from "./dom.js";
import { absolute } from "./state.js";

/** Wires the form. `base` is the site of a path alone; `onPage` gets the header fields and HTML. */
export function livePages({ base, onPage }) {
  const [form, field, button, story] = ["live-page", "page-url", "page-fetch", "page-story"].map(byId);
  const ask = latest((signal, url) => livePage(url, signal));
  const tell = (kind, ...said) => {
    story.className = `story ${kind}`;
    fill(story, said);
    story.hidden = false;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const written = field.value.trim();
    if (written === "") {
      tell("wrong", element("p", {}, "Enter the address of a page, such as https://example.com/a."));
      field.focus();
      return;
    }
    const url = absolute(written, base());
    button.disabled = true;
    tell("", element("p", {}, `Fetching ${shown(url)} …`));
    const answered = await ask(url);
    button.disabled = false;
    if (answered === null) return;
    if (answered.problem) {
      tell("wrong", element("p", {}, answered.problem.message));
      return;
    }
    const { status, headers, html, message, cut, asked, url: found } = answered.result;
    const isThere = status !== null;
    if (isThere) onPage({ headers: headers.map((field) => field.join(": ")).join("\n"), html: textOf(html) });
    const redirects = asked.length - 1;
    tell(
      isThere ? "" : "wrong",
      element("p", {}, message, !isThere && " The fields are as they were."),
      isThere &&
        element(
          "p",
          { class: "facts" },
          redirects > 0 && ["found at ", code(found, 200), ". "],
          cut && "The rest of the document was not read.",
        ),
    );
  });
}

/** What was read of a document, as well as it can be shown. */
function textOf(html) {
  if (html === null || typeof html === "string") return html ?? "";
  const octets = Uint8Array.from(atob(html.base64), (octet) => octet.charCodeAt(0));
  return new TextDecoder().decode(octets);
}

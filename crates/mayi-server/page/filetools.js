// The buttons below the editor: format, copy and download.

import { format } from "./api.js";
import { byId, element } from "./dom.js";
import { wellFormed } from "./octets.js";

/** Wires them. `rewrite` puts another text in the editor; `say` tells what happened. */
export function fileTools({ editor, rewrite, say }) {
  byId("format").addEventListener("click", async () => {
    const text = editor.text;
    try {
      const formatted = await format({ robots: wellFormed(text) });
      if (editor.text !== text) say("The text has changed meanwhile: format it again.");
      else if (!formatted.changed) say(formatted.unformatted ?? "The file is already formatted.");
      else {
        rewrite(formatted.robots);
        say("Formatted. No decision has changed; Ctrl+Z undoes this.");
      }
    } catch (problem) {
      say(problem.message);
    }
  });
  byId("copy-file").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(editor.text);
      say("The file is copied.");
    } catch {
      byId("robots").select();
      say("The browser does not allow copying here: the text is selected, press Ctrl+C.");
    }
  });
  byId("download-file").addEventListener("click", () => download(editor.text, "robots.txt", "text/plain"));
}

/** Saves a text as a file. */
export function download(text, name, type) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  element("a", { href: url, download: name }).click();
  // The browser needs the address until it has started to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

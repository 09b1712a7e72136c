// The manual page of a lint, in a dialog. It is Markdown of a few kinds: headings, paragraphs, code and lists.

import { lintManual } from "./api.js";
import { byId, element, fill } from "./dom.js";

/** Shows the page of a lint, unless its link is opened elsewhere. */
export async function manual(event, code) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const dialog = byId("manual");
  const place = byId("manual-text");
  fill(place, element("p", {}, "…"));
  dialog.showModal();
  try {
    fill(place, drawn(await lintManual(code)));
  } catch (error) {
    fill(place, element("p", {}, error.message));
  }
}

/** Markdown → elements. */
export function drawn(markdown) {
  const made = [];
  for (const part of markdown.split(/^(```[^\n]*\n[\s\S]*?^```$)/m)) {
    if (part.startsWith("```")) {
      made.push(element("pre", {}, part.replace(/^```[^\n]*\n/, "").replace(/\n?```$/, "")));
      continue;
    }
    for (const paragraph of part
      .split(/\n{2,}/)
      .map((text) => text.trim())
      .filter(Boolean)) {
      const heading = /^(#+) (.*)$/.exec(paragraph);
      if (heading) made.push(element(heading[1].length === 1 ? "h2" : "h3", {}, inline(heading[2])));
      else if (/^[-*] /.test(paragraph)) made.push(element("ul", {}, items(paragraph)));
      else if (/^\d+\. /.test(paragraph)) made.push(element("ol", {}, items(paragraph)));
      else made.push(element("p", {}, inline(paragraph)));
    }
  }
  return made;
}

const MARK = /^(?:[-*]|\d+\.) /;
const items = (list) =>
  list.split(/\n(?=(?:[-*]|\d+\.) )/).map((item) => element("li", {}, inline(item.replace(MARK, ""))));

/** Text between backquotes is code; a link and a word with stars are plain. */
const inline = (text) =>
  text
    .replace(/\s*\n\s*/g, " ")
    .split("`")
    .map((part, place) =>
      place % 2 === 1
        ? element("code", {}, part)
        : part.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\*([^*]+)\*/g, "$1"),
    );

// Makes elements. Text is always set as text: nothing that came from a file or the network is ever parsed
// as HTML.

/** An element with attributes, listeners (`onclick`, …) and children; null and false children are left out. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...present(children));
  return made;
}

/** Puts other children into an element; null and false ones are left out. */
export const fill = (node, ...children) => node.replaceChildren(...present(children));

const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** The element of this id. */
export const byId = (id) => document.getElementById(id);

/**
 * Text from a file for people: what can't be seen, or turns the text around it, is shown as an escape.
 * Longer text is cut, as a line may have half a mebioctet.
 */
export function shown(text, most = 300) {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, (hidden) => {
    const code = hidden.codePointAt(0);
    return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** `1 rule`, `2 rules`. */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** Text in the type of a file, apart from the direction of what is around it. */
export const code = (text, most) => element("bdi", {}, element("code", {}, shown(text, most)));

/** A sentence; text between backquotes is text of a file. */
export function ticked(sentence) {
  return shown(sentence, 2000)
    .split("`")
    .map((part, place) => (place % 2 === 1 ? code(part, 2000) : part));
}

/** A mark that says an answer by its sign, its word and its colour. */
export function answer(value, word = value) {
  const sign = { allowed: "✓", disallowed: "✗" }[value] ?? "?";
  return element("span", { class: `answer ${value}` }, element("span", { "aria-hidden": "true" }, sign), ` ${word}`);
}

/**
 * A button that leads to a line of the editor. This function knows nothing of the editor, which listens for
 * `reveal`.
 */
export function lineLink(line, label = `line ${line}`) {
  return element(
    "button",
    {
      type: "button",
      class: "line-link",
      onclick: (event) => {
        // A click by key or screen reader has no count: then the focus goes along.
        const detail = { line, focus: event.detail === 0 };
        document.dispatchEvent(new CustomEvent("reveal", { detail }));
      },
    },
    label,
  );
}

// What a person gives as a crawler → the product token that is asked about. A whole User-Agent string, as it is
// in logs, names one or more.

import { crawlerOf } from "./api.js";
import { element, fill, ticked } from "./dom.js";

/** What a product token looks like; the engine has the last word. */
const TOKEN = /^[A-Za-z0-9_.-]*$/;

export class Naming {
  #text = "";
  #found = null;

  /** The product token that a text stands for. */
  tokenOf(text) {
    return text === this.#text && this.#found?.agent ? this.#found.agent : text;
  }

  /** Finds out which crawler a text names, unless it is a product token as it is. */
  async understand(text, robots) {
    if (text === this.#text) return;
    this.#found = TOKEN.test(text) ? null : await crawlerOf({ text, robots }).catch(() => null);
    this.#text = text;
  }

  /** Says what was understood; others that the text names can be chosen. */
  show(hint, text, onChoose) {
    if (text !== this.#text || !this.#found) return false;
    const { agent, known, message } = this.#found;
    const others = known.filter((one) => one.token.toLowerCase() !== agent?.toLowerCase());
    fill(
      hint,
      ticked(message),
      others.map((one) => [
        " ",
        element("button", { type: "button", class: "small", onclick: () => onChoose(one.token) }, `Take ${one.token}`),
      ]),
    );
    return true;
  }
}

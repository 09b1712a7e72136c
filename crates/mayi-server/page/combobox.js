// A text field with suggestions, by the ARIA 1.2 combobox pattern. Any text may be typed; suggestions help.
//
// With `many`, the field holds a list separated by commas, and suggestions are for the part at the caret.

import { element } from "./dom.js";

/** How many suggestions are listed; further ones are found by typing. */
const MOST = 60;

export class Combobox {
  #input;
  #list;
  #many;
  #entries = [];
  #shown = [];
  #active = -1;
  /** Whether there was nothing to suggest yet when somebody typed. */
  #isAwaiting = false;
  #onChange;

  /** `entries` are `{value, note}`; `onChange` gets the text at each change. */
  constructor({ input, many = false, label, onChange }) {
    this.#input = input;
    this.#many = many;
    this.#onChange = onChange;
    this.#list = element("ul", {
      role: "listbox",
      id: `${input.id}-list`,
      "aria-label": label,
      class: "suggestions",
      hidden: true,
    });
    // A press on an option must not take the focus from the field, which would close the list.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => {
      const option = event.target.closest('[role="option"]');
      if (option) this.#choose(Number(option.dataset.place));
    });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", this.#list.id);
    input.after(this.#list);
    input.addEventListener("input", () => {
      this.#onChange(input.value);
      this.#open();
    });
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => {
      this.#isAwaiting = false;
      this.#close();
    });
    input.addEventListener("click", () => this.#open());
  }

  set entries(entries) {
    this.#entries = entries.map((entry) => ({ ...entry, found: `${entry.value} ${entry.note ?? ""}`.toLowerCase() }));
    if (this.#isAwaiting) this.#open();
  }

  set value(text) {
    if (this.#input.value !== text) this.#input.value = text;
  }

  /** The part that is being typed, as a range of the text. */
  #part() {
    const text = this.#input.value;
    if (!this.#many) return [0, text.length];
    const caret = this.#input.selectionStart ?? text.length;
    const start = text.lastIndexOf(",", caret - 1) + 1;
    const end = text.indexOf(",", caret);
    return [start, end < 0 ? text.length : end];
  }

  #open() {
    this.#isAwaiting = this.#entries.length === 0;
    const [start, end] = this.#part();
    const asked = this.#input.value.slice(start, end).trim().toLowerCase();
    const isWhole = this.#entries.some((entry) => entry.value.toLowerCase() === asked);
    // A name that is complete is not a search: all are offered, so that another can be picked.
    const sought = isWhole && !this.#many ? "" : asked;
    // The shorter a name that starts so, the more of it was typed.
    const starting = this.#entries.filter((entry) => entry.found.startsWith(sought));
    if (sought !== "") starting.sort((one, other) => one.value.length - other.value.length);
    const inside =
      sought === ""
        ? []
        : this.#entries.filter((entry) => !entry.found.startsWith(sought) && entry.found.includes(sought));
    this.#shown = [...starting, ...inside].slice(0, MOST);
    this.#active = -1;
    if (this.#shown.length === 0 || (this.#many && isWhole)) return this.#close();
    this.#list.replaceChildren(
      ...this.#shown.map((entry, place) =>
        element(
          "li",
          { role: "option", id: `${this.#input.id}-option-${place}`, "data-place": place, "aria-selected": "false" },
          element("span", { class: "value" }, entry.value),
          entry.note && element("span", { class: "of" }, ` ${entry.note}`),
        ),
      ),
    );
    this.#list.hidden = false;
    this.#list.scrollTop = 0;
    this.#input.setAttribute("aria-expanded", "true");
    this.#input.removeAttribute("aria-activedescendant");
  }

  #close() {
    this.#list.hidden = true;
    this.#active = -1;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }

  #choose(place) {
    const [start, end] = this.#part();
    const text = this.#input.value;
    const before = this.#many && start > 0 ? `${text.slice(0, start)} ` : "";
    const after = this.#many ? text.slice(end) : "";
    this.#input.value = before + this.#shown[place].value + after;
    const caret = this.#input.value.length - after.length;
    this.#input.setSelectionRange(caret, caret);
    this.#close();
    this.#onChange(this.#input.value);
  }

  #activate(place) {
    const options = [...this.#list.children];
    this.#active = (place + options.length) % options.length;
    for (const [at, option] of options.entries()) {
      option.setAttribute("aria-selected", String(at === this.#active));
    }
    const option = options[this.#active];
    option.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", option.id);
  }

  #key(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const open = !this.#list.hidden;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp": {
        if (!open) this.#open();
        if (this.#list.hidden) return;
        const down = event.key === "ArrowDown";
        if (!event.altKey) this.#activate(this.#active < 0 ? (down ? 0 : -1) : this.#active + (down ? 1 : -1));
        event.preventDefault();
        break;
      }
      case "Enter":
        if (open && this.#active >= 0) {
          this.#choose(this.#active);
          event.preventDefault();
        } else {
          this.#close();
        }
        break;
      case "Escape":
        if (open) {
          this.#close();
          event.preventDefault();
        }
        break;
      default:
    }
  }
}

// The editor: a text area whose text is drawn by an overlay beneath it, in colours.
//
// Lines do not wrap and are of one height, so that only those in sight are drawn, however long the file is.
// The text area keeps the text, the caret, the selection, undo and everything that screen readers need; the
// overlay is hidden from them. A file with extremely long lines is shown plainly, by the text area itself.

import { element } from "./dom.js";
import { change, indexOfColumn } from "./octets.js";
import { stretches } from "./syntax.js";

/** Lines that are drawn above and below those in sight. */
const MARGIN = 10;

/** From this length of its longest line on, a file is shown plainly. */
const PLAIN_FROM = 5000;

/** Up to this length, a replacement is left to the browser, which can undo it. */
const UNDO_UP_TO = 20_000;

export class Editor {
  #area;
  #frame;
  #overlay;
  #gutter;
  #starts = [0];
  #marks = new Map();
  #lit = new Map();
  #pointed = null;
  #revealed = null;
  #drawing = false;
  #onInput;

  constructor({ area, frame, overlay, gutter, onInput }) {
    this.#area = area;
    this.#frame = frame;
    this.#overlay = overlay;
    this.#gutter = gutter;
    this.#onInput = onInput;
    area.addEventListener("input", () => this.#changed());
    area.addEventListener("scroll", () => this.#place());
    new ResizeObserver(() => this.#draw()).observe(area);
  }

  get text() {
    return this.#area.value;
  }

  /** Puts another text in, without a way back by undo: for one that was loaded. */
  load(text) {
    this.#area.value = text;
    this.#area.scrollTop = 0;
    this.#area.scrollLeft = 0;
    this.#revealed = null;
    this.#index();
    this.#draw();
  }

  /**
   * Changes the text as if by typing, so that the browser can undo it. False if that is not possible
   * here; then nothing has changed.
   */
  replace(text) {
    const { start, end, replacement } = change(this.text, text);
    if (start === end && replacement === "") return true;
    // Browsers insert line by line, which takes long for very many lines.
    if (replacement.length > UNDO_UP_TO || end - start > UNDO_UP_TO) return false;
    const before = this.text;
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(start, end);
    const done =
      replacement === "" ? document.execCommand("delete") : document.execCommand("insertText", false, replacement);
    if (done && this.text === text) return true;
    this.#area.value = before;
    return false;
  }

  /** How many lines there are. */
  get lineCount() {
    return this.#starts.length;
  }

  /** The text of a line, counted from 1, without its end. */
  line(number) {
    const start = this.#starts[number - 1];
    if (start === undefined) return "";
    const next = this.#starts[number];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }

  /** The line that the caret is in. */
  get caretLine() {
    const caret = this.#area.selectionStart;
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= caret) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** What lint found: a list of `{line, column, end_column, severity}`. */
  mark(places) {
    this.#marks.clear();
    for (const place of places) {
      const marks = this.#marks.get(place.line) ?? [];
      marks.push(place);
      this.#marks.set(place.line, marks);
    }
    this.#draw();
  }

  /** The lines that decided: a map from line to `allowed` or `disallowed`. */
  light(lines) {
    this.#lit = lines;
    this.#draw();
  }

  /** The line of the decision that the pointer or the focus is on, or null. */
  point(line) {
    if (this.#pointed === line) return;
    this.#pointed = line;
    this.#draw();
  }

  /**
   * Scrolls to a line and lights it; with `focus` the caret goes there and selects it, and with `still` the
   * page around the editor does not move.
   */
  reveal(line, { focus = false, still = false } = {}) {
    const height = this.#lineHeight();
    const top = (line - 1) * height;
    const area = this.#area;
    if (top < area.scrollTop || top + 2 * height > area.scrollTop + area.clientHeight) {
      area.scrollTop = Math.max(0, top - area.clientHeight / 3);
    }
    area.scrollLeft = 0;
    // It stays lit until another one is, or the text changes.
    this.#revealed = line;
    this.#draw();
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    if (!still) this.#frame.scrollIntoView({ block: "nearest", behavior });
    if (focus) {
      const start = this.#starts[line - 1] ?? 0;
      area.focus({ preventScroll: true });
      area.setSelectionRange(start, start + this.line(line).length);
    }
  }

  #changed() {
    this.#revealed = null;
    this.#index();
    // What was found and decided is about the text before. It stays until the answers come, which is a
    // moment: without it the marks would flicker at each key.
    this.#draw();
    this.#onInput(this.text);
  }

  #index() {
    const text = this.text;
    const starts = [0];
    let longest = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      longest = Math.max(longest, at - starts[starts.length - 1]);
      starts.push(at + 1);
    }
    longest = Math.max(longest, text.length - starts[starts.length - 1]);
    this.#starts = starts;
    this.#frame.classList.toggle("plain", longest > PLAIN_FROM);
  }

  #lineHeight() {
    return Number.parseFloat(getComputedStyle(this.#area).lineHeight) || 20;
  }

  #draw() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#drawNow();
    });
  }

  #drawNow() {
    const height = this.#lineHeight();
    const area = this.#area;
    const first = Math.max(1, Math.floor(area.scrollTop / height) - MARGIN + 1);
    const last = Math.min(this.lineCount, Math.ceil((area.scrollTop + area.clientHeight) / height) + MARGIN);
    const plain = this.#frame.classList.contains("plain");
    const lines = [];
    const numbers = [];
    for (let number = first; number <= last; number++) {
      const state = this.#stateOf(number);
      lines.push(element("div", { class: `line ${state}` }, plain ? "" : this.#pieces(number), "\n"));
      numbers.push(
        element("div", { class: `number ${state}`, "data-line": number }, this.#sign(number), String(number)),
      );
    }
    this.#overlay.replaceChildren(...lines);
    this.#gutter.replaceChildren(...numbers);
    this.#overlay.dataset.first = first;
    this.#frame.style.setProperty("--digits", Math.max(2, String(this.lineCount).length));
    this.#place();
  }

  /** Moves what is drawn to where the text area is scrolled; redraws once its edge comes near. */
  #place() {
    const height = this.#lineHeight();
    const area = this.#area;
    const first = Number(this.#overlay.dataset.first ?? 1);
    const top = (first - 1) * height - area.scrollTop;
    this.#overlay.style.transform = `translate(${-area.scrollLeft}px, ${top}px)`;
    this.#gutter.style.transform = `translateY(${top}px)`;
    const drawn = this.#overlay.childElementCount;
    const inSight = Math.ceil((area.scrollTop + area.clientHeight) / height);
    const above = first > 1 && top > -2 * height;
    const below = first + drawn - 1 < this.lineCount && first + drawn - 1 < inSight + 2;
    if (above || below) this.#draw();
  }

  #stateOf(number) {
    const lit = this.#lit.get(number);
    return [lit && `lit ${lit}`, number === (this.#pointed ?? this.#revealed) && "now"].filter(Boolean).join(" ");
  }

  #pieces(number) {
    const line = this.line(number);
    const marks = (this.#marks.get(number) ?? []).map((place) => {
      const from = indexOfColumn(line, place.column);
      const to = indexOfColumn(line, place.end_column);
      // A place without width still has to be seen.
      return [Math.min(from, Math.max(0, line.length - 1)), Math.max(to, from + 1), `mark ${place.severity}`];
    });
    return stretches(line, marks).map(([from, to, classes]) =>
      classes ? element("span", { class: classes }, line.slice(from, to)) : line.slice(from, to),
    );
  }

  #sign(number) {
    const worst = ["error", "warning", "note"].find((severity) =>
      this.#marks.get(number)?.some((place) => place.severity === severity),
    );
    const lit = this.#lit.get(number);
    return element(
      "span",
      { class: "signs" },
      worst && element("span", { class: `sign ${worst}` }, { error: "✖", warning: "▲", note: "●" }[worst]),
      lit && element("span", { class: `sign ${lit}` }, lit === "allowed" ? "✓" : "✗"),
    );
  }
}

// Steps that change several fields at once, such as a fetch, and the way back: Ctrl+Z and a button.
//
// What is typed has the browser's own undo. A step is undone only while the fields that it changed are as
// it left them, so that the two never mix: first the browser undoes what was typed since.

/** Steps that are remembered. */
const MOST = 20;

export class History {
  #past = [];
  #future = [];
  #take;
  #put;
  #typedIn = new Set();

  /** `take` gives the fields that a step can change, and `put` sets some of them. */
  constructor({ take, put }) {
    this.#take = take;
    this.#put = put;
    document.addEventListener("input", (event) => this.#typedIn.add(event.target.id));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Makes a change that can be undone. */
  step(change) {
    const before = this.#take();
    change();
    const after = this.#take();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return;
    const only = (held) => Object.fromEntries(changed.map((name) => [name, held[name]]));
    this.#past.push({ before: only(before), after: only(after) });
    this.#past.splice(0, this.#past.length - MOST);
    this.#future = [];
    this.#typedIn.clear();
  }

  /** Takes the last step back; false if what it changed has been changed again since. */
  undo() {
    return this.#move(this.#past, this.#future, "after", "before");
  }

  redo() {
    return this.#move(this.#future, this.#past, "before", "after");
  }

  #move(from, to, now, then) {
    const step = from.at(-1);
    if (!step) return false;
    const held = this.#take();
    if (Object.entries(step[now]).some(([name, value]) => held[name] !== value)) return false;
    to.push(from.pop());
    this.#put(step[then]);
    return true;
  }

  #key(event) {
    if (event.altKey || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    const redo = key === "y" || (key === "z" && event.shiftKey);
    if (!redo && key !== "z") return;
    // What was typed in another field is undone by the browser.
    const { id } = event.target;
    if (id !== "robots" && this.#typedIn.has(id)) return;
    if (redo ? this.redo() : this.undo()) event.preventDefault();
  }
}

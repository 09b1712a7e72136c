// What the page tells beside its answers: what went wrong, and what has just happened.

import { useKey } from "./api.js";
import { byId, element } from "./dom.js";

const problems = new Map();

/**
 * Shows what went wrong with one kind of question, or with `null` that it went well. `again` asks everything
 * again.
 */
export function problem(about, found, again) {
  if (found) problems.set(about, found);
  else problems.delete(about);
  const banner = byId("problem");
  const [first] = problems.values();
  banner.hidden = !first;
  if (!first) {
    banner.replaceChildren();
    return;
  }
  const button = element("button", { type: "button", onclick: again }, "Try again");
  const says = first.gone ? `${first.message} What is shown may be out of date.` : first.message;
  if (first.status === 401) {
    // Do not remove what is being typed there.
    if (!byId("key")) banner.replaceChildren(element("span", {}, says), keyForm(again));
  } else if (banner.textContent !== says + button.textContent) {
    banner.replaceChildren(element("span", {}, says), button);
  }
}

/** A form for the key, if the server needs one. */
function keyForm(again) {
  const input = element("input", { type: "password", id: "key", autocomplete: "off" });
  const given = (event) => {
    event.preventDefault();
    useKey(input.value.trim() || null);
    again();
  };
  return element(
    "form",
    { onsubmit: given },
    element("label", { for: "key" }, "Key "),
    input,
    " ",
    element("button", { type: "submit" }, "Use"),
  );
}

/** Tells screen readers. */
export function say(sentence) {
  const status = byId("status");
  if (status.textContent !== sentence) status.textContent = sentence;
}

/** Says something that those who see should see too. */
export function sayAloud(sentence) {
  say(sentence);
  const toast = element("p", { class: "toast", "aria-hidden": "true" }, sentence);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 4000);
}

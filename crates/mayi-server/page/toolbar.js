// The buttons at the top: colours, help and the link.

import { byId } from "./dom.js";

const THEMES = {
  auto: { sign: "◐", label: "Auto", says: "system setting" },
  light: { sign: "○", label: "Light", says: "light" },
  dark: { sign: "●", label: "Dark", says: "dark" },
};

/** Wires the buttons. `link` gives the link to copy; `say` tells what happened. */
export function toolbar({ link, onExample, say }) {
  theme();
  help();
  byId("start-over").addEventListener("click", onExample);
  byId("copy-link").addEventListener("click", async () => {
    const copied = await link();
    const length =
      copied.length > 8000
        ? ` It has ${copied.length.toLocaleString("en")} characters: some programs cut links of that length.`
        : "";
    try {
      await navigator.clipboard.writeText(copied);
      say(`The link is copied.${length}`);
    } catch {
      // Browsers offer the clipboard only to secure origins; otherwise the link goes to the address bar.
      history.replaceState(null, "", copied);
      say(`The browser does not allow copying here: the link is in the address bar.${length}`);
    }
  });
}

function theme() {
  const button = byId("theme");
  const root = document.documentElement;
  const show = () => {
    const { sign, label, says } = THEMES[root.dataset.theme ?? "auto"];
    const name = Object.assign(document.createElement("span"), { className: "label", textContent: label });
    button.replaceChildren(`${sign} `, name);
    button.setAttribute("aria-label", `${label} colours: ${says}`);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(root.dataset.theme ?? "auto") + 1) % names.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === "auto") localStorage.removeItem("mayi-theme");
      else localStorage.setItem("mayi-theme", next);
    } catch {
      // Storage is refused: the choice lasts until the page is closed.
    }
    show();
  });
  show();
}

function help() {
  const dialog = byId("help");
  byId("help-open").addEventListener("click", () => dialog.showModal());
  // A press beside the dialog closes it; one on it has another target.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "?" && !typing && !dialog.open && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      dialog.showModal();
    }
  });
}

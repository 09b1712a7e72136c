// What the page holds is kept in the address bar, where it is short, and a long one in this tab, so that loading
// the page again does not lose what was written.

import { settled } from "./api.js";
import { EXAMPLE } from "./example.js";
import { fragmentOf, stateOf } from "./share.js";
import { state } from "./state.js";

/** A fragment of this length is kept in the address bar as one types. */
const MOST_IN_ADDRESS = 16_000;

/** Where a tab keeps a fragment that is too long for the address bar. */
const IN_TAB = "mayi-state";

function keepInTab(fragment) {
  try {
    if (fragment === null) sessionStorage.removeItem(IN_TAB);
    else sessionStorage.setItem(IN_TAB, fragment);
  } catch {
    // Storage is refused or full: a link can still be copied.
  }
}

function keptInTab() {
  try {
    return sessionStorage.getItem(IN_TAB) ?? "";
  } catch {
    return "";
  }
}

let inAddress = "";

/** Keeps what the page holds now; it is the newest state that counts. */
export const keepAddress = settled(
  async () => {
    const fragment = await fragmentOf(state);
    const isLong = fragment.length > MOST_IN_ADDRESS;
    inAddress = isLong ? "" : fragment;
    keepInTab(isLong ? fragment : null);
    history.replaceState(null, "", location.pathname + location.search + (inAddress && `#${inAddress}`));
  },
  () => 400,
).later;

/** Whether the address is another one than what is kept there, as after a link was followed. */
export const isOther = () => location.hash.slice(1) !== inAddress;

/** What the address or the tab holds, or null where it is damaged. */
export async function held() {
  const fragment = location.hash.slice(1) || keptInTab();
  return fragment === "" ? EXAMPLE : await stateOf(fragment);
}

/** A link with everything that the page holds. */
export async function link() {
  const fragment = await fragmentOf(state);
  return location.origin + location.pathname + (fragment && `#${fragment}`);
}

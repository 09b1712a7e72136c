// Sets the colours that were chosen before anything is drawn: it is loaded ahead of the modules for that.
// What was chosen is kept in this browser; where that is refused, the system's colours are used.
"use strict";
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("mayi-theme");
  } catch {
    // Storage is refused: nothing was chosen.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
}

// Tabs by the ARIA pattern: one is in the tab order, arrows move between them and show at once.

/** Wires the tabs of a list; gives a function that shows one by its name. */
export function tabs(list, onShow) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const nameOf = (tab) => tab.id.replace(/^tab-/, "");
  const show = (name) => {
    for (const tab of all) {
      const selected = nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
    }
  };
  const choose = (tab) => {
    tab.focus();
    onShow(nameOf(tab));
  };
  for (const [place, tab] of all.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const to = {
        ArrowRight: (place + 1) % all.length,
        ArrowLeft: (place + all.length - 1) % all.length,
        Home: 0,
        End: all.length - 1,
      }[event.key];
      if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      choose(all[to]);
    });
  }
  return { show, names: all.map(nameOf) };
}

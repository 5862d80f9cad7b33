// Tabs: one panel at a time, chosen by mouse or arrow keys.

import { el } from "./dom.js";

export class Tabs {
  /** `tabs` are pairs `[name, title]`. `choose` is called with the name of the chosen tab. */
  constructor(label, tabs, choose) {
    this.panels = {};
    this.buttons = {};
    for (const [name, title] of tabs) {
      this.buttons[name] = el("button", { type: "button", role: "tab", id: `tab-${name}`,
        "aria-controls": `panel-${name}`, onclick: () => choose(name) }, title);
      this.panels[name] = el("section", { role: "tabpanel", id: `panel-${name}`, class: "panel",
        "aria-labelledby": `tab-${name}`, tabindex: "0", hidden: true });
    }
    const names = tabs.map(([name]) => name);
    const list = el("div", { role: "tablist", class: "tabs", "aria-label": label, onkeydown: (event) => {
      const at = names.indexOf(this.shown);
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const name = names.at(to % names.length);
      choose(name);
      this.buttons[name].focus();
    } }, Object.values(this.buttons));
    this.node = el("div", { class: "tabbed" }, list, Object.values(this.panels));
    this.names = names;
  }

  /** Shows the panel with this name, or the first one, and returns its name. */
  show(wanted) {
    this.shown = this.names.includes(wanted) ? wanted : this.names[0];
    for (const name of this.names) {
      const chosen = name === this.shown;
      this.buttons[name].setAttribute("aria-selected", String(chosen));
      this.buttons[name].tabIndex = chosen ? 0 : -1;
      this.panels[name].hidden = !chosen;
    }
    return this.shown;
  }
}

// Keys of the Konane view, and the overlay that lists them.

import { el } from "./dom.js";
import { SIGN, VERB, badge } from "./words.js";

const KEYS = [
  [["\u2190", "\u2192"], "one move back or forward in the game"],
  [["Shift", "\u2190 \u2191 \u2192 \u2193"], "from square to square on the board"],
  [["Enter"], "choose a stone, then the square on which it lands"],
  [["Esc"], "drop the chosen stone, or leave an explanation"],
  [["f"], "flip the board"],
  [["n"], "new game"],
  [["?"], "this help"],
];

const MEANING = {
  win: "the player who moves there wins with best play",
  loss: "the other player then wins",
  unknown: "not known yet",
};

export class Keys {
  /** `actions` are `{back, forward, flip, fresh, leave, board}`, and `tour` starts the tour. */
  constructor(actions, tour) {
    this.dialog = el("dialog", { class: "help-overlay", "aria-labelledby": "help-title" },
      el("h2", { id: "help-title" }, "Help"),
      el("h3", {}, "Signs"), el("ul", { class: "signs" }, Object.keys(SIGN).map((outcome) =>
        el("li", {}, badge(outcome, true), ` ${VERB[outcome]}: ${MEANING[outcome]}`))),
      el("h3", {}, "Keys"), el("table", {}, el("caption", { class: "unseen" }, "Keys"), el("tbody", {}, KEYS.map(([keys, text]) =>
        el("tr", {}, el("th", { scope: "row" }, keys.map((key) => [el("kbd", {}, key), " "])), el("td", {}, text))))),
      el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", onclick: () => this.dialog.close() }, "Close"),
        el("button", { type: "button", onclick: () => {
          this.dialog.close();
          tour();
        } }, "Take the tour")));
    this.button = el("button", { type: "button", class: "keys", title: "Help and keys (?)", "aria-label": "Help and keys",
      onclick: () => this.open() }, "?");
    const of = { ArrowLeft: actions.back, ArrowRight: actions.forward, f: actions.flip, n: actions.fresh, Escape: actions.leave, "?": () => this.open() };
    document.addEventListener("keydown", (event) => {
      const { key, target } = event;
      // Shift is needed for `?` on many keyboards. With arrows it moves between squares, from the last one on.
      const action = !event.shiftKey || key === "?" ? of[key] : key.startsWith("Arrow") ? actions.board : undefined;
      if (!this.dialog.isConnected || !action || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      if (target.closest("input:not([type=checkbox]), select, textarea, dialog, [role=tablist]")) return;
      event.preventDefault();
      action();
    });
  }

  open() {
    this.dialog.showModal();
  }
}

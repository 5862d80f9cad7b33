// The tour of the page. docs/tutorial.md has the same steps.

import { el, put, wide } from "./dom.js";
import { go } from "./state.js";

/** Key in the local storage, set when the tour has been taken or declined. */
const NOTE = "konane.tour";

const GAME = { game: "konane", board: "5x5", pos: "", play: "", values: "", flip: "", also: [], tab: "moves" };
const REMOVALS = ["c3", "c4"];

/** Steps: title, text, state of the page, and the part of the page that is marked. */
const STEPS = [
  ["The board", "Black and white stones fill the board. Black begins and takes away one of its own stones, from a corner or the "
    + "middle.", { ...GAME, moves: [], at: 0 }, ".slab"],
  ["The second stone", "White takes away a white stone next to the hole.", { ...GAME, moves: ["c3"], at: 1 }, ".slab"],
  ["Jumps", "Now the players jump in turn: over a stone of the other colour to the empty square behind it. The stone jumped over "
    + "leaves the board. The player who cannot jump has lost. Choose a stone, then where it lands.",
  { ...GAME, moves: REMOVALS, at: 2 }, ".slab"],
  ["Who wins", "\u2713: the player who makes this move wins with best play. \u2717: the other player wins then. The "
    + "program computes this for every move. The list has the best one first.", { ...GAME, moves: REMOVALS, at: 2 }, ".said, #panel-moves"],
  ["Why", "This tab explains one move: an answer to everything that the other player can try. \u201cShow step by step\u201d plays it on "
    + "the board.", { ...GAME, moves: REMOVALS, at: 2, tab: "why" }, "#panel-why"],
  ["Play", "Play begins a game against the program, with the side that can win. Values are hidden then, and there are hints and "
    + "warnings. At the end a report names the moves that gave the game away.", { ...GAME, moves: [], at: 0 }, "#play"],
  ["And more", "Search shows how the program finds a result, Openings who wins after the first two moves, Databases what is stored. "
    + "The keys \u2190 and \u2192 go through a game, and ? shows all keys.", { ...GAME, moves: [], at: 0 }, ".tabs, .keys"],
];

function read() {
  try {
    return localStorage.getItem(NOTE);
  } catch {
    // Without storage the tour is offered at every visit.
    return null;
  }
}

function write() {
  try {
    localStorage.setItem(NOTE, "done");
  } catch {
    // Without storage there is nothing to do.
  }
}

export class Tour {
  constructor() {
    this.node = el("aside", { class: "tour", "aria-label": "Tour", hidden: true });
  }

  /** Offers the tour at the first visit. */
  offer() {
    if (read()) return;
    this.node.hidden = false;
    this.node.className = "tour offer";
    put(this.node, el("span", { class: "wordy" }, "New here?"), el("button", { type: "button", class: "primary small", onclick: () => this.start() }, "Two-minute tour"),
      el("button", { type: "button", class: "small", onclick: () => this.#end() }, "No, thanks"));
  }

  start() {
    write();
    this.node.hidden = false;
    this.node.className = "tour running";
    this.#show(0);
  }

  #mark(selector) {
    for (const one of document.querySelectorAll(".toured")) one.classList.remove("toured");
    const parts = selector ? document.querySelectorAll(selector) : [];
    for (const one of parts) one.classList.add("toured");
    // On phones the tour covers the bottom of the page.
    parts[0]?.scrollIntoView({ block: wide.matches ? "nearest" : "center" });
  }

  #show(at) {
    const [title, text, state, part] = STEPS[at];
    go(state);
    this.#mark(part);
    const last = at === STEPS.length - 1;
    const next = el("button", { type: "button", class: "primary", onclick: () => last ? this.#end() : this.#show(at + 1) }, last ? "Done" : "Next");
    put(this.node, el("h2", {}, title, el("span", { class: "hint" }, `${at + 1} of ${STEPS.length}`)), el("p", { role: "status" }, text), el("div", { class: "buttons" }, next,
      at ? el("button", { type: "button", onclick: () => this.#show(at - 1) }, "Previous") : null,
      last ? null : el("button", { type: "button", onclick: () => this.#end() }, "End the tour")));
    next.focus({ preventScroll: true });
  }

  #end() {
    write();
    this.#mark(null);
    this.node.hidden = true;
  }
}

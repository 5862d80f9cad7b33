// The first two removals: every pair of them with its winner.

import { Latest, dropped, get } from "./api.js";
import { miniature } from "./board.js";
import { el, put } from "./dom.js";
import { startStones } from "./position.js";
import { link } from "./state.js";
import { capital } from "./words.js";

/** Returns the address of the position after an opening. */
function place(moves) {
  return link({ pos: "", moves, also: [], at: moves.length, tab: "moves" });
}

export class Openings {
  #latest = new Latest();
  #board = "";
  #complete = false;
  #running = false;

  constructor(panel, view) {
    this.panel = panel;
    this.view = view;
  }

  async update(answer, state) {
    if (!this.view.size || (this.#board === state.board && (this.#complete || this.#running))) return;
    if (this.#board !== state.board) put(this.panel, el("h2", {}, "Openings"), el("p", { class: "hint pulse" }, "Searching ..."));
    this.#board = state.board;
    this.#complete = false;
    this.#running = true;
    const signal = this.#latest.signal();
    try {
      // Ends when all winners are known, after some minutes, or when another tab or board is chosen.
      for (let round = 0; round < 60; round += 1) {
        const { openings, complete } = await get("openings", { board: state.board, time: Math.min(300 * 2 ** round, 2000) }, signal);
        signal.throwIfAborted();
        this.#complete = complete ?? openings.every(({ winner }) => winner !== "unknown");
        this.#draw(openings);
        if (this.#complete) break;
        await new Promise((resolve) => setTimeout(resolve, Math.min(200 * 1.5 ** round, 8000)));
        if (this.view.tabs.shown !== "openings" || this.view.state.board !== state.board) break;
      }
    } catch (error) {
      if (!dropped(error)) put(this.panel, el("h2", {}, "Openings"), el("p", { class: "error", role: "alert" }, capital(error.message)));
      else return;
    }
    this.#running = false;
  }

  #draw(openings) {
    const { size, numbers } = this.view;
    const count = (colour) => openings.filter(({ winner }) => winner === colour).length;
    const open = count("unknown");
    const start = startStones(size);
    put(this.panel, el("h2", {}, "Openings"), el("p", {},
      `Black removes stone 1 and White removes stone 2. Black wins after ${count("black")} of ${openings.length} such openings, `
      + `White after ${count("white")}${open ? `; ${open === 1 ? "1 is" : `${open} are`} not decided yet` : ""}.`),
    el("ul", { class: "openings" }, [...Map.groupBy(openings, ({ code, moves }) => code ?? moves.join()).values()].map((equal) => {
      const [{ moves, winner }, ...others] = equal;
      const squares = moves.map((move) => numbers.get(move));
      const stones = start.map((stone, square) => squares.includes(square) ? null : stone);
      return el("li", {}, el("a", { class: `opening ${winner}`, "data-key": moves.join(), href: place(moves) },
        miniature(stones, size, squares), el("span", { class: "name" }, moves.join(" ")),
        el("span", { class: "won" }, el("span", { class: `dot ${winner}`, "aria-hidden": "true" }, winner === "unknown" ? "?" : ""),
          winner === "unknown" ? "not decided" : `${capital(winner)} wins`)),
      others.length ? el("p", { class: "equal" }, "the same by symmetry: ", others.map((other, at) => [at ? ", " : "",
        el("a", { href: place(other.moves), "data-key": other.moves.join() }, other.moves.join(" "))])) : null);
    })));
  }
}

// The report on a game: how often a won position was kept, and the moves that gave the game away.

import { Latest, dropped, get } from "./api.js";
import { announce, el, put } from "./dom.js";
import { sleep } from "./judge.js";
import { go } from "./state.js";
import { SIGN, capital, firstSide, some, turnNumber } from "./words.js";

/** Search times of the requests in milliseconds, until every move is judged. */
const TIMES = [200, 1000, 2000, 2000, 2000];

/** Returns how often a side kept a won position, in a sentence. */
function accuracy(name, moves) {
  const known = moves.filter(({ before, after }) => before !== "unknown" && after !== "unknown");
  const chances = known.filter(({ side, before }) => before === side);
  const kept = chances.filter(({ side, after }) => after === side).length;
  const open = moves.length - known.length;
  const more = open ? ` ${open === 1 ? "1 position is" : `${open} positions are`} not decided.` : "";
  if (!chances.length) return `${name} never had a won position.${more}`;
  return `${name} had a won position at ${chances.length === 1 ? "1 move" : `${chances.length} moves`} and kept it at ${kept}: `
    + `accuracy ${Math.round((100 * kept) / chances.length)}\u00a0%.${more}`;
}

export class Report {
  #latest = new Latest();
  #game = "";

  constructor(view) {
    this.view = view;
    this.node = el("section", { class: "card report", "aria-label": "Report on the game", hidden: true });
    this.button = el("button", { type: "button", onclick: () => this.#request() }, "Judge the game");
  }

  /** Hides the report on another game, and requests one at the end of a game against the program. */
  update(state, answer) {
    this.button.disabled = state.moves.length === 0;
    if (this.#game !== this.#key(state)) {
      this.#latest.stop();
      this.#game = "";
      this.node.hidden = true;
    }
    const over = answer?.moves.length === 0 && state.moves.length > 0 && state.at === state.moves.length;
    if (over && state.play && !this.#game) this.#request();
  }

  #key({ board, pos, moves }) {
    return `${board};${pos};${moves.join()}`;
  }

  async #request() {
    const { state } = this.view;
    const { board, pos, moves } = state;
    this.#game = this.#key(state);
    const signal = this.#latest.signal();
    this.node.hidden = false;
    put(this.node, el("p", { class: "hint pulse" }, "Judging the moves ..."));
    try {
      for (const time of TIMES) {
        const report = await get("konane/report", { board, position: pos, moves: moves.join(","), time }, signal);
        signal.throwIfAborted();
        this.#draw(report, state);
        if (!report.reason) break;
        await sleep(500, signal);
      }
      announce(this.node.querySelector("p").textContent);
    } catch (error) {
      if (!dropped(error)) put(this.node, el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  #draw({ moves, result }, { play, pos }) {
    const sides = ["black", "white"].filter((side) => !play || side === play);
    const lines = sides.map((side) => accuracy(play ? "You" : capital(side), moves.filter((judged) => judged.side === side)));
    const mistakes = moves.filter(({ mark }) => mark === "?");
    const end = result === "unknown" ? "" : play ? (result === play ? "You won. " : "The program won. ") : `${capital(result)} won. `;
    put(this.node, el("h2", {}, play ? "Your game" : "The game"), lines.map((line, at) => el("p", {}, at ? "" : end, line)),
      mistakes.length ? [el("h3", {}, mistakes.length === 1 ? "The move that gave the game away" : "Moves that gave the game away"),
        el("ul", { class: "mistakes" }, mistakes.map(({ ply, side, move, better = [] }) => {
          const number = turnNumber(ply - 1, firstSide(pos), true);
          const whose = play ? (side === play ? "you" : "the program") : side;
          return el("li", { class: "head" }, el("button", { type: "button", class: "move", onclick: () => go({ at: ply - 1, values: "on" }),
            title: "Show the position before this move" }, el("span", { class: "badge loss", "aria-hidden": "true" }, SIGN.loss),
          el("span", { class: "name" }, `${number} ${move}`), el("span", { class: "detail" },
            `${capital(whose)}. ${better.length === 1 ? "The winning move was" : "Winning moves were"} ${some(better)}.`)),
          el("button", { type: "button", "aria-label": `Why? ${move} loses`, onclick: () => this.view.explain(ply - 1, move) }, "Why?"));
        }))] : el("p", { class: "hint" }, "No move gave a won game away."));
  }
}

// Puzzles: positions of random games with exactly one winning move, which is to be found on the board.

import { Latest, dropped, get } from "./api.js";
import { el, put } from "./dom.js";
import { sleep } from "./judge.js";
import { go } from "./state.js";
import { badge, capital } from "./words.js";

/** Search time of a request in milliseconds, and the maximum number of requests for a puzzle. */
const TIME = 1000;
const MAX_REQUESTS = 20;

const DIFFICULTIES = [["", "any difficulty"], ["easy", "easy"], ["medium", "medium"], ["hard", "hard"]];

export class Puzzles {
  #latest = new Latest();
  /** The puzzle as the program sends it; null before the first one. */
  #puzzle = null;

  constructor(panel, view) {
    this.view = view;
    this.difficulty = el("select", { id: "difficulty", "aria-label": "Difficulty" },
      DIFFICULTIES.map(([value, name]) => el("option", { value }, name)));
    this.next = el("button", { type: "button", class: "primary", onclick: () => this.#find() }, "New puzzle");
    this.task = el("div", { role: "status" });
    put(panel, el("h2", {}, "Puzzles"), el("p", { class: "hint" },
      "Exactly one move wins, and it is not the one that takes the most replies from the opponent. The difficulty is the size of the proof."),
    el("div", { class: "buttons" }, this.next, this.difficulty), this.task);
  }

  async #find() {
    const { board } = this.view.state;
    const signal = this.#latest.signal();
    put(this.task, el("p", { class: "hint pulse" }, "Looking for a puzzle ..."));
    try {
      for (let request = 0; request < MAX_REQUESTS; request += 1) {
        const seed = Math.floor(Math.random() * 2 ** 32);
        const { puzzle } = await get("konane/puzzle", { board, difficulty: this.difficulty.value, seed, time: TIME }, signal);
        signal.throwIfAborted();
        if (puzzle) {
          this.#puzzle = puzzle;
          return go({ board, pos: puzzle.position, moves: [], also: [], at: 0, play: "", values: "off", tab: "puzzles" });
        }
        await sleep(20, signal);
      }
      put(this.task, el("p", {}, `No puzzle was found on ${board}: choose another difficulty or a larger board.`));
    } catch (error) {
      if (!dropped(error)) put(this.task, el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
    return undefined;
  }

  update(answer, { board, pos, moves, at }) {
    const puzzle = this.#puzzle;
    if (!puzzle || puzzle.board !== board || puzzle.position !== pos) {
      if (puzzle) put(this.task);
      this.#puzzle = null;
      return;
    }
    const { solution } = puzzle;
    const [move] = at ? moves : [];
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    const why = button("Why?", () => this.view.explain(0, move));
    if (!move) {
      put(this.task, el("p", {}, `${capital(puzzle.to_move)} has ${puzzle.moves} moves. Find the one that wins.`), el("div", { class: "buttons" },
        button("Show the solution", () => this.view.play(solution))));
    } else if (move === solution) {
      put(this.task, el("p", {}, badge("win", true), ` ${move} wins, and no other move does. The proof has ${puzzle.proof_positions} positions: ${
        puzzle.difficulty}.`), el("div", { class: "buttons" }, why));
    } else {
      put(this.task, el("p", {}, badge("loss", true), ` ${move} loses.`), el("div", { class: "buttons" },
        button("Try again", () => this.view.at(0)), why));
    }
  }
}

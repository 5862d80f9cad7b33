// Playing against the program.

import { Latest, dropped, get } from "./api.js";
import { announce, el } from "./dom.js";
import { go } from "./state.js";
import { amount, capital, other } from "./words.js";

/** Long enough to see what happened before. */
const PAUSE = 450;

/** A level looks at four times as many positions as the one below. */
const LEVELS = 10;

export class Opponent {
  #latest = new Latest();
  /** For which position and choices a move is being asked for. */
  #asked = "";

  constructor(view) {
    this.view = view;
    this.side = el("select", { id: "play-side", onchange: () => this.#choose() },
      el("option", { value: "" }, "nobody: I move both sides"), el("option", { value: "black" }, "Black myself, White the program"),
      el("option", { value: "white" }, "White myself, Black the program"));
    this.level = el("select", { id: "play-level", onchange: () => this.#choose() },
      el("option", { value: "" }, "as well as it can"),
      Array.from({ length: LEVELS }, (_, at) => el("option", { value: String(at + 1) },
        `level ${at + 1}: looks at ${amount(4 ** (at + 1))} positions`)));
    this.said = el("p", { class: "hint", role: "status" });
    this.node = el("div", { class: "card opponent" },
      el("div", { class: "pair" }, el("label", { for: "play-side" }, "Play as"), this.side),
      el("div", { class: "pair" }, el("label", { for: "play-level" }, "The program plays"), this.level), this.said);
  }

  #choose() {
    this.said.textContent = "";
    go({ play: this.side.value, level: this.level.value }, { replace: true });
  }

  stop() {
    this.#latest.stop();
    this.#asked = "";
  }

  /** Moves if it is the program's turn at the end of the game so far, and no position is being set up. */
  async turn() {
    const { view } = this;
    const { state, answer } = view;
    this.side.value = state.play;
    this.level.value = state.level;
    const due = state.play && answer && state.at === state.moves.length && !view.setup.open;
    const asked = due ? `${state.board};${answer.position};${state.play};${state.level}` : "";
    if (asked === this.#asked) return;
    const signal = this.#latest.signal();
    this.#asked = asked;
    if (!due) return;
    if (!answer.moves.length) {
      const won = other(answer.to_move);
      this.said.textContent = won === state.play ? "You have won." : "The program has won.";
      announce(this.said.textContent);
      return;
    }
    if (answer.to_move === state.play) return;
    try {
      const question = get("konane/play", { board: state.board, position: answer.position, level: state.level }, signal);
      const [{ move, why }] = await Promise.all([question, new Promise((resolve) => setTimeout(resolve, PAUSE))]);
      signal.throwIfAborted();
      this.said.textContent = `The program plays ${move}. ${why ?? ""}`;
      if (move) view.play(move);
    } catch (error) {
      if (dropped(error)) return;
      this.#asked = "";
      this.said.textContent = capital(error.message);
    }
  }
}

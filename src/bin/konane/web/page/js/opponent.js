// Playing against the program.

import { Latest, dropped, get } from "./api.js";
import { announce, el } from "./dom.js";
import { go } from "./state.js";
import { amount, capital, other } from "./words.js";

/** Delay before a move of the program in milliseconds, so that the previous move is noticed. */
const PAUSE = 450;

/** Number of levels. Each searches four times as many positions as the one below. */
const LEVELS = 10;

export class Opponent {
  #latest = new Latest();
  /** Key of the position and options for which a move has been requested. */
  #asked = "";

  constructor(view) {
    this.view = view;
    this.side = el("select", { id: "play-side", onchange: () => this.#choose() },
      el("option", { value: "" }, "both sides"), el("option", { value: "black" }, "Black"),
      el("option", { value: "white" }, "White"));
    this.level = el("select", { id: "play-level", onchange: () => this.#choose() },
      el("option", { value: "" }, "at full strength"),
      Array.from({ length: LEVELS }, (_, at) => el("option", { value: String(at + 1) },
        `level ${at + 1}: searches ${amount(4 ** (at + 1))} positions`)));
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

  /** Plays the program's move if it is its turn in the last position and no position is being set up. */
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

// Games against the program: the choice of a side, the program's moves, and hints.

import { Latest, dropped, get } from "./api.js";
import { announce, el } from "./dom.js";
import { judge, mistake } from "./judge.js";
import { go } from "./state.js";
import { amount, capital, firstSide, other, outcomeOf } from "./words.js";

/** Delay before a move of the program in milliseconds, so that the previous move is noticed. */
const PAUSE = 450;

/** Number of levels. Each searches four times as many positions as the one below. */
const LEVELS = 10;

/** Level of a first game. */
const FIRST_LEVEL = "3";

/** Search time for a hint, and for the side that can win, in milliseconds. */
const HINT_TIME = 1000;

export class Opponent {
  #latest = new Latest();
  /** Key of the position and options for which a move has been requested. */
  #asked = "";
  /** Position after a mistake of the user, at which the user wants to play on. */
  #forgiven = "";

  constructor(view) {
    this.view = view;
    this.start = el("button", { type: "button", id: "play", class: "primary", onclick: () => this.#start(),
      title: "Begin a game against the program, with the side that can win" }, "Play");
    this.side = el("select", { id: "play-side", "aria-label": "Play as", onchange: () => this.#choose() },
      el("option", { value: "" }, "Play both"), el("option", { value: "black" }, "Play Black"),
      el("option", { value: "white" }, "Play White"));
    this.level = el("select", { id: "play-level", "aria-label": "Strength of the program", onchange: () => this.#choose() },
      el("option", { value: "" }, "full strength"),
      Array.from({ length: LEVELS }, (_, at) => el("option", { value: String(at + 1) },
        `level ${at + 1} (${amount(4 ** (at + 1))} positions)`)));
    this.hint = el("button", { type: "button", onclick: () => this.#hint() }, "Hint");
    this.back = el("button", { type: "button", title: "Take back your last move", onclick: () => this.#takeBack() }, "Take back");
    this.game = el("span", { class: "against", hidden: true }, this.level, this.hint, this.back);
    this.warn = el("input", { type: "checkbox", id: "warn", onchange: () => go({ warn: this.warn.checked ? "1" : "" }, { replace: true }) });
    this.warning = el("label", { class: "check", hidden: true,
      title: "Before the program answers a move that gives the game away, as far as the values are known" }, this.warn, " Warn me");
    this.said = el("p", { class: "hint said-by-program", role: "status" });
  }

  #choose() {
    this.said.textContent = "";
    // Values are hidden in a new game, unless the user has chosen to see them in this one.
    const values = this.side.value === this.view.state.play ? this.view.state.values : "";
    go({ play: this.side.value, level: this.level.value, values }, { replace: true });
  }

  /** Begins a game with the side that wins from the first position; with Black, if that is not known. */
  async #start() {
    const { board, pos, level } = this.view.state;
    this.said.textContent = "Preparing the game ...";
    try {
      const { outcome, to_move: first } = await judge(board, pos, [], HINT_TIME, this.#latest.signal());
      const play = outcomeOf({ outcome }) === "loss" ? other(first) : first;
      go({ moves: [], also: [], at: 0, play, level: level || FIRST_LEVEL, values: "", tab: "moves" });
      this.said.textContent = outcome === "unknown" ? "" : `You play ${capital(play)}, who can win.`;
    } catch (error) {
      if (!dropped(error)) this.said.textContent = capital(error.message);
    }
  }

  stop() {
    this.#latest.stop();
    this.#asked = "";
    this.said.textContent = "";
  }

  /** Shows a good move of the user. */
  async #hint() {
    const { view } = this;
    const { state, answer } = view;
    if (!answer?.moves.length) return;
    const signal = this.#latest.signal();
    this.said.textContent = "Searching for a good move ...";
    try {
      const { move, why } = await get("konane/play", { board: state.board, position: answer.position, time: HINT_TIME }, signal);
      signal.throwIfAborted();
      this.said.textContent = `Hint: ${move}. ${why}`;
      view.hint([{ move }]);
    } catch (error) {
      if (!dropped(error)) this.said.textContent = capital(error.message);
    }
  }

  /** Returns the ply of the user's last move; -1 if there is none. */
  #lastMove() {
    const { pos, play } = this.view.state;
    return this.view.played.findLastIndex((_, ply) => (firstSide(pos) === play) === (ply % 2 === 0));
  }

  #takeBack() {
    const at = this.#lastMove();
    if (at >= 0) this.view.take(this.view.played.slice(0, at));
  }

  /** True while the program does not answer a mistake, so that the user can take it back. */
  get waits() {
    const { state, answer, played } = this.view;
    return Boolean(state.play && state.warn && answer?.moves.length && answer.position !== this.#forgiven && state.at === state.moves.length
      && mistake(state.board, state.pos, played)?.side === state.play);
  }

  playOn() {
    this.#forgiven = this.view.answer.position;
    this.view.redraw();
    this.turn();
  }

  /** Plays the program's move if it is its turn in the last position and no position is being set up. */
  async turn() {
    const { view } = this;
    const { state, answer } = view;
    this.side.value = state.play;
    this.level.value = state.level;
    this.game.hidden = !state.play;
    this.start.hidden = Boolean(state.play);
    this.warning.hidden = !state.play;
    this.warn.checked = Boolean(state.warn);
    this.back.disabled = !state.play || this.#lastMove() < 0;
    this.hint.disabled = !answer?.moves.length || answer.to_move !== state.play;
    const due = state.play && answer && state.at === state.moves.length && !view.setup.open && !this.waits;
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
      if (!move) return;
      // The user's move may have turned out to be a mistake.
      if (this.waits) {
        this.#asked = "";
        return;
      }
      view.play(move);
      // `why` names the winner, which is hidden with the values.
      this.said.textContent = `The program plays ${move}. ${view.shows ? why ?? "" : ""}`;
    } catch (error) {
      if (dropped(error)) return;
      this.#asked = "";
      this.said.textContent = capital(error.message);
    }
  }
}

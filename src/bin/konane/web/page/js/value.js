// The value of a position as a combinatorial game, where it is computed quickly.

import { Latest, dropped, get } from "./api.js";

/** Time for a value, in milliseconds. */
const TIME = 100;

/** Maximum number of characters of a canonical form that is shown. */
const MAX_TEXT = 24;

export class GameValue {
  #latest = new Latest();
  #position = "";
  #text = "";

  /** `show` is called when a text has arrived. */
  constructor(show) {
    this.show = show;
  }

  /** Returns the value of the position of an answer in words; empty until it has arrived, or if it takes long. */
  of({ board, position, phase, complete, moves }) {
    // All outcomes come first, because requests about a board are served one at a time.
    if (phase !== "jump" || !complete || !moves.length) return "";
    if (this.#position !== position) {
      this.#position = position;
      this.#text = "";
      this.#ask(board, position);
    }
    return this.#text;
  }

  async #ask(board, position) {
    const signal = this.#latest.signal();
    try {
      const { value, mean, temperature } = await get("konane/value", { board, position, phase: "jump", time: TIME }, signal);
      if (value === "unknown" || position !== this.#position) return;
      const heat = mean === null ? "" : `mean ${mean}, temperature ${temperature}`;
      this.#text = value.length > MAX_TEXT ? heat && `As a game: ${heat}.`
        : `Value ${value}${heat && value !== mean ? `: ${heat}` : ""}.`;
      this.show();
    } catch (error) {
      // A value that was not found may be requested again.
      if (!dropped(error)) this.#position = "";
    }
  }
}

// A line of best play from the position, once its winner is known.

import { Latest, get } from "./api.js";
import { el, put } from "./dom.js";
import { link } from "./state.js";
import { outcomeOf } from "./words.js";

export class BestLine {
  #latest = new Latest();
  #shown = "";

  constructor() {
    this.node = el("p", { class: "best-line" });
  }

  async update(answer, { board }, played, shows) {
    const ready = shows && answer?.complete && answer.moves.length > 0 && outcomeOf(answer) !== "unknown";
    const key = ready ? `${board} ${answer.position} ${played.join()}` : "";
    if (key === this.#shown) return;
    this.#shown = key;
    const signal = this.#latest.signal();
    put(this.node);
    if (!ready) return;
    try {
      const { line } = await get("konane/line", { board, position: answer.position, time: 500 }, signal);
      signal.throwIfAborted();
      if (!line.length) return;
      put(this.node, "Best play: ", el("a", { class: "name", href: link({ moves: [...played, ...line], at: played.length }),
        title: "Take these moves into the game, to go through them" }, line.map((move) => [el("span", {}, move), " "])));
    } catch {
      // The moves and their values are there all the same.
    }
  }
}

// The moves of a position: winning ones first, undecided ones last; and a line of best play.

import { Latest, get } from "./api.js";
import { el, put } from "./dom.js";
import { link } from "./state.js";
import { badge, outcomeOf, plies, source } from "./words.js";

const TITLES = { win: "Winning", loss: "Losing", unknown: "Not decided yet" };

export class MoveList {
  constructor(panel, view) {
    this.panel = panel;
    this.view = view;
    this.line = new BestLine();
  }

  update(answer) {
    const { panel, view } = this;
    this.line.update(answer, view.state, view.played, view.shows);
    if (!answer || !answer.moves.length || !view.shows) this.shown = "";
    if (!answer) return put(panel, el("p", { class: "hint" }, "There is nothing to show yet."));
    if (!answer.moves.length) {
      return put(panel, el("h2", {}, "Moves"), el("p", {}, "There are none: who cannot move has lost."));
    }
    const row = (judged) => el("li", {}, el("button", { type: "button", class: "move", "data-key": judged.move, "data-move": judged.move,
      onclick: () => view.play(judged.move), onmouseenter: () => view.hint([judged]),
      onmouseleave: () => view.hint([]), onfocus: () => view.hint([judged]), onblur: () => view.hint([]) },
    view.shows ? badge(outcomeOf(judged)) : null, el("span", { class: "name" }, judged.move),
    el("span", { class: "detail" }, this.#detail(judged)),
    view.shows ? source(judged.source) : null));
    if (!view.shows) {
      const moves = [...answer.moves].sort((one, two) => one.move.localeCompare(two.move, "en", { numeric: true }));
      return put(panel, el("h2", {}, "Moves"), el("ul", { class: "moves" }, moves.map(row)));
    }
    // What is the same stays in place, for the pointer that is just over it.
    const shown = JSON.stringify([answer.position, view.played, answer.moves]);
    if (shown === this.shown) return undefined;
    this.shown = shown;
    // Rows that are replaced do not say that nobody looks at them any more.
    view.hint([]);
    const wide = answer.moves.some(({ remoteness }) => remoteness > 0) ? "wide" : "";
    const groups = ["win", "loss", "unknown"].map((outcome) => {
      const moves = answer.moves.filter((judged) => outcomeOf(judged) === outcome);
      return moves.length ? [el("h3", {}, `${TITLES[outcome]} (${moves.length})`),
        el("ul", { class: `moves ${wide}` }, moves.map(row))] : null;
    });
    return put(panel, el("h2", {}, "Moves"), groups, this.line.node, el("p", { class: "hint" },
      "W wins and L loses for the player who makes the move, if nobody errs afterwards. The word at the "
      + "end says how that is known. A ply is one move of one player."));
  }

  /** How long the game lasts after the move, and how many answers there are. */
  #detail({ remoteness, replies }) {
    const answers = replies === 0 ? "no reply" : replies === 1 ? "1 reply" : `${replies} replies`;
    return remoteness > 0 && this.view.shows ? `${plies(remoteness)} left, ${answers}` : answers;
  }
}

/** A line of best play from the position, once its winner is known. */
class BestLine {
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
      // The moves and their values are shown without it.
    }
  }
}

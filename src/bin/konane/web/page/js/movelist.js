// The list of moves of a position, the best one first and undecided ones last, and a line of best play.

import { Latest, get } from "./api.js";
import { el, put } from "./dom.js";
import { link } from "./state.js";
import { SIGN, badge, outcomeOf, plies, sourceText } from "./words.js";

const TITLES = { win: "Winning", loss: "Losing", unknown: "Not decided yet" };
const BEST = { win: "best", loss: "hardest to refute" };

/** Returns the most frequent source of values. The rules do not count: they are the source of a last move. */
function commonSource(moves) {
  const counts = Map.groupBy(moves.filter(({ source }) => source && source !== "rules"), ({ source }) => source);
  return [...counts].sort(([, one], [, two]) => two.length - one.length)[0]?.[0];
}

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
    if (!answer) return put(panel, el("p", { class: "hint" }, "Nothing to show yet."));
    if (!answer.moves.length) {
      return put(panel, el("h2", {}, "Moves"), el("p", {}, "No legal moves: the player to move loses."));
    }
    const common = commonSource(answer.moves);
    const best = view.shows && answer.complete ? answer.moves.length > 1 && answer.moves[0] : null;
    const row = (judged) => el("li", {}, el("button", { type: "button", class: "move", "data-key": judged.move, "data-move": judged.move,
      // Until the answer for the next position arrives, the list is that of the position before.
      onclick: () => view.answer?.position === answer.position && view.play(judged.move), onmouseenter: () => view.hint([judged]),
      onmouseleave: () => view.hint([]), onfocus: () => view.hint([judged]), onblur: () => view.hint([]) },
    view.shows ? badge(outcomeOf(judged)) : null, el("span", { class: "name" }, judged.move),
    judged === best ? el("span", { class: "rank" }, BEST[outcomeOf(judged)]) : null,
    el("span", { class: "detail" }, this.#detail(judged)),
    view.shows && judged.source && judged.source !== common && judged.source !== "rules"
      ? el("span", { class: "detail source" }, sourceText(judged.source)) : null));
    if (!view.shows) {
      const moves = [...answer.moves].sort((one, two) => one.move.localeCompare(two.move, "en", { numeric: true }));
      return put(panel, el("h2", {}, "Moves"), el("p", { class: "hint" }, "Values are hidden."),
        el("ul", { class: "moves" }, moves.map(row)));
    }
    // An unchanged list is kept, because the pointer may be over one of its rows.
    const shown = JSON.stringify([answer.position, view.played, answer.moves]);
    if (shown === this.shown) return undefined;
    this.shown = shown;
    // Replaced rows send no mouseleave event.
    view.hint([]);
    const wide = answer.moves.some(({ remoteness }) => remoteness > 1) ? "wide" : "";
    const byReplies = answer.moves.filter((judged) => outcomeOf(judged) === "win" && judged.remoteness === undefined).length > 1;
    const groups = ["win", "loss", "unknown"].map((outcome) => {
      const moves = answer.moves.filter((judged) => outcomeOf(judged) === outcome);
      return moves.length ? [el("h3", {}, `${TITLES[outcome]} (${moves.length})`),
        el("ul", { class: `moves ${wide}` }, moves.map(row))] : null;
    });
    return put(panel, el("h2", {}, "Moves"), groups, this.line.node, el("div", { class: "hint legend" },
      el("p", {}, `${SIGN.win}\u00a0wins: the player who makes this move wins with best play. `
        + `${SIGN.loss}\u00a0loses: the opponent wins then. ${SIGN.unknown}\u00a0is not known yet.`),
      el("p", {}, `${common ? `Values ${sourceText(common)}. ` : ""}A ply is one move of one player.${byReplies
        ? " The length of the game is not known, so winning moves that leave fewer replies come first." : ""}`)));
  }

  /** Returns the plies to the end, the move included, and the number of replies. */
  #detail({ remoteness, replies }) {
    const answers = replies === 0 ? "no reply" : replies === 1 ? "1 reply" : `${replies} replies`;
    return remoteness > 1 && this.view.shows ? `in ${plies(remoteness)}, ${answers}` : answers;
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

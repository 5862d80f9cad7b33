// The moves of the game so far, with the winner after each of them.

import { Latest, dropped } from "./api.js";
import { el, put, svg, unseen } from "./dom.js";
import { items, lineOf, tree } from "./lines.js";
import { judge, known, mistake, sleep } from "./judge.js";
import { firstSide, outcomeOf, turnNumber, winner } from "./words.js";

export class GameLine {
  #latest = new Latest();
  #asked = "";

  /** `at(ply, moves)` is called for a chosen ply of a line, and `found()` when a value has arrived. */
  constructor(at, found) {
    this.at = at;
    this.found = found;
    this.moves = el("ol", { class: "plies" });
    this.strip = el("div", { class: "strip" });
    this.node = el("section", { class: "line", "aria-label": "The game", hidden: true }, this.strip, this.moves);
  }

  stop() {
    this.#latest.stop();
    this.#asked = "";
  }

  update(state, shows) {
    const { board, pos, moves, also } = state;
    this.node.hidden = moves.length + also.length === 0;
    this.shows = shows;
    this.#draw(state);
    const game = `${board};${pos};${moves.join()}`;
    if (game === this.#asked || !shows) return;
    this.#asked = game;
    this.#fill(state);
  }

  /** Requests the values of positions of the game that are unknown, one after another. */
  async #fill(state) {
    const signal = this.#latest.signal();
    const { board, pos, moves } = state;
    try {
      // From the end, where searches are short. Unsolved positions are requested again later.
      for (const time of [40, 200, 500, 1000, 2000, 2000]) {
        let open = false;
        for (let at = moves.length; at >= 0; at -= 1) {
          const before = known(board, pos, moves.slice(0, at));
          if (before && outcomeOf(before) !== "unknown") continue;
          open = true;
          await judge(board, pos, moves.slice(0, at), time, signal);
          signal.throwIfAborted();
          this.#draw(this.state);
          this.found();
        }
        if (!open) return;
        await sleep(time, signal);
      }
    } catch (error) {
      // Failed requests leave a gap. The board reports an illegal move when its position is shown.
      if (!dropped(error)) this.#asked = "";
    }
  }

  #draw(state) {
    this.state = state;
    const { board, pos, moves, also, at } = state;
    const { shows } = this;
    const answers = Array.from({ length: moves.length + 1 }, (_, ply) => known(board, pos, moves.slice(0, ply)));
    const winners = answers.map((answer) => answer ? winner(outcomeOf(answer), answer.to_move) : "unknown");
    const current = moves.slice(0, at).join();
    const button = (line, whole, text, label) => el("button", { type: "button", class: "ply", "data-key": `ply-${line.join()}`,
      "aria-current": line.join() === current ? "step" : undefined, onclick: () => this.at(line.length, whole) }, text, label);
    const item = (one) => {
      if (Array.isArray(one)) return el("li", { class: "branch" }, el("ol", { class: "plies", "aria-label": "Variation" }, one.map(item)));
      const { node, after } = one;
      const slip = shows && mistake(board, pos, node.line);
      const number = turnNumber(node.line.length - 1, firstSide(pos), after);
      const mark = slip ? [el("span", { class: "mark", "aria-hidden": "true", title: "gives the win away" }, "\u2717"),
        unseen(", gives the win away")] : null;
      return el("li", { class: slip ? "slip" : "" }, number && el("span", { class: "count", "aria-hidden": "true" }, number),
        button(node.line, lineOf(node), node.move, mark));
    };
    put(this.moves, el("li", {}, button([], moves, "start")), items(tree([moves, ...also]), false).map(item));
    // A long game scrolls within its list.
    const shown = this.moves.querySelector("[aria-current]");
    if (shown) this.moves.scrollTop = shown.offsetTop - this.moves.offsetTop - this.moves.clientHeight / 2;
    put(this.strip, shows ? graph(winners, at) : null);
  }
}

/** Draws the winner after each move: a bar above the line for Black, below it for White. */
function graph(winners, at) {
  const width = Math.max(winners.length, 12);
  const runs = winners.map((colour, ply) => colour === winners[ply - 1] ? null : `from move ${ply} ${
    colour === "unknown" ? "not decided" : `${colour} wins`}`).filter(Boolean);
  return el("div", { class: "graph" }, el("span", { class: "of black", "aria-hidden": "true" }, "Black wins"),
    svg("svg", { viewBox: `0 0 ${width * 10} 40`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Winner in the course of the game: ${runs.join(", ")}.` },
    svg("rect", { class: "now", x: at * 10, y: 0, width: 10, height: 40 }),
    winners.map((colour, ply) => svg("rect", { class: `value ${colour}`, x: ply * 10 + 1,
      y: { black: 3, white: 20, unknown: 18 }[colour], width: 8, height: colour === "unknown" ? 4 : 17 })),
    svg("line", { x1: 0, x2: width * 10, y1: 20, y2: 20 })),
    el("span", { class: "of white", "aria-hidden": "true" }, "White wins"));
}

// Why a move loses: the reply that refutes it, and then the same for every further move. The content of a node of
// the tree is requested when the node is opened.

import { dropped, get } from "./api.js";
import { el, put } from "./dom.js";
import { judge } from "./judge.js";
import { link } from "./state.js";
import { badge, capital, other, outcomeOf, source } from "./words.js";

/** Search time for positions of the tree, in milliseconds. */
const TIME = 1000;

export class Why {
  #shown = "";

  constructor(panel, view) {
    this.panel = panel;
    this.view = view;
  }

  update(answer, state) {
    const { panel } = this;
    if (!answer) {
      this.#shown = "";
      return put(panel, el("p", { class: "hint" }, "Nothing to show yet."));
    }
    const { moves } = answer;
    const values = moves.map((judged) => judged.move + judged.outcome).join();
    // Open nodes are kept while the values are unchanged.
    if (this.#shown === `${state.board} ${answer.position} ${values}`) return undefined;
    this.#shown = `${state.board} ${answer.position} ${values}`;
    const at = { board: state.board, position: answer.position, mover: answer.to_move, played: [...this.view.played] };
    const lost = moves.filter((judged) => outcomeOf(judged) === "loss");
    const won = moves.filter((judged) => outcomeOf(judged) === "win");
    const open = moves.length - lost.length - won.length;
    return put(panel, el("h2", {}, "Why"), el("p", {}, this.#sentence(answer, lost, won)),
      el("ul", { class: "tree" }, won.map((judged) => this.#winning(at, judged)),
        lost.map((judged) => this.#losing(at, judged))),
      open ? el("p", { class: "hint" }, `${open === 1 ? "1 move is" : `${open} moves are`} not decided yet and not listed here.`) : null,
      open === moves.length ? null : el("p", { class: "hint" }, "Open a move to see what follows. Point at it to see it on the board."));
  }

  #sentence(answer, lost, won) {
    const [mover, opponent] = [capital(answer.to_move), capital(other(answer.to_move))];
    if (!answer.moves.length) return `${mover} cannot move, so ${opponent} has won.`;
    if (won.length) {
      return `${mover} wins with ${won.length === 1 ? "the first of these moves" : "each of the moves marked W"}: ${mover} `
        + `has a reply to every move of ${opponent}. ${lost.length ? `The moves marked L lose: ${opponent} has a reply that wins.` : ""}`;
    }
    if (lost.length === answer.moves.length) {
      return `${mover} has lost: to each of ${mover}'s moves ${opponent} has a reply that wins.`;
    }
    return lost.length ? `To these moves of ${mover}, ${opponent} has a reply that wins. The others are not decided yet.`
      : "No value is known yet.";
  }

  /** Returns an item with a button that opens it. `fill(body)` requests the content below it. */
  #item({ judged, before, text, played }, fill) {
    const body = el("div", { class: "under", hidden: true });
    const kind = outcomeOf(judged);
    const look = () => this.view.preview(before, judged.move, kind);
    const away = () => this.view.preview(null);
    let asked = false;
    const button = el("button", { type: "button", class: "node", "aria-expanded": "false", onclick: async () => {
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
      if (body.hidden || asked) return;
      asked = true;
      put(body, el("p", { class: "hint pulse" }, "Searching ..."));
      try {
        // Unknown content is requested again when the item is opened again.
        if (await fill(body)) asked = false;
      } catch (error) {
        asked = false;
        if (!dropped(error)) put(body, el("p", { class: "error", role: "alert" }, capital(error.message)));
      }
    }, onmouseenter: look, onfocus: look, onmouseleave: away, onblur: away },
    badge(kind), el("span", { class: "name" }, judged.move), el("span", { class: "detail" }, text));
    const goTo = el("a", { class: "goto", href: this.#address([...played, judged.move]),
      "aria-label": `go to the position after ${judged.move}` }, "go there");
    return el("li", {}, el("div", { class: "head" }, button, goTo), body);
  }

  #address(moves) {
    return link({ moves, at: moves.length });
  }

  /** Returns the item of a losing move, with the reply and the further moves below it. */
  #losing(at, judged) {
    const opponent = capital(other(at.mover));
    return this.#item({ judged, before: at.position, played: at.played, text: "loses" }, async (body) => {
      const { reply, after, source: from, outcome } = await get("konane/why",
        { board: at.board, position: at.position, move: judged.move, time: TIME });
      if (!reply || outcome !== "loss") {
        put(body, el("p", {}, outcome === "unknown" && reply ? `No reply is proven yet; the best one so far is ${reply}. Open this move again later.`
          : `There is no reply that refutes ${judged.move}.`));
        return true;
      }
      const show = () => this.view.preview(judged.after, reply, "win");
      put(body, el("p", { class: "reply", onmouseenter: show, onmouseleave: () => this.view.preview(null) },
        `${opponent} answers `, el("strong", {}, reply), ". ", source(from)));
      return this.#rest(body, { ...at, position: after, played: [...at.played, judged.move, reply] });
    });
  }

  /** Returns the item of a winning move, with the opponent's moves below it, which all lose. */
  #winning(at, judged) {
    return this.#item({ judged, before: at.position, played: at.played, text: "wins" }, (body) => {
      put(body);
      return this.#rest(body, { ...at, mover: other(at.mover), position: judged.after, played: [...at.played, judged.move] });
    });
  }

  /** Appends the moves of a side that loses. */
  async #rest(body, at) {
    const answer = await judge(at.board, at.position, [], TIME);
    const [mover, winner] = [capital(at.mover), capital(other(at.mover))];
    for (const old of body.querySelectorAll(":scope > .pulse")) old.remove();
    if (!answer.moves.length) {
      body.append(el("p", { class: "end" }, `${mover} cannot move. ${winner} has won.`));
      return false;
    }
    const open = answer.moves.filter((judged) => outcomeOf(judged) === "unknown").length;
    const count = answer.moves.length === 1 ? "one move is left, and it loses"
      : `${answer.moves.length} moves are left${open ? "" : ", and all lose"}`;
    body.append(el("p", { class: "hint" }, `For ${mover} ${count}${open ? `; ${open} not decided yet` : ""}.`),
      el("ul", { class: "tree" }, answer.moves.map((judged) => this.#losing(at, judged))));
    return false;
  }
}

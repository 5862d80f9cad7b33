// Why a position is won or lost: a move, and an answer to everything that the loser can play. The positions are a tree in
// which equal positions occur once. The board shows the line that leads to the chosen place in it, step by step.

import { Latest, dropped, get } from "./api.js";
import { el, put, wide } from "./dom.js";
import { sleep } from "./judge.js";
import { link } from "./state.js";
import { badge, capital, other, outcomeOf, some } from "./words.js";

/** Search time of a request, in milliseconds. */
const TIME = 1500;

/** Maximum number of positions whose moves are answered, for each request. */
const POSITIONS = 120;

/** Returns the moves that a player has in a lost position. */
function movesLeft(side, count) {
  if (count === 0) return `${side} has no move and has lost`;
  if (count === 1) return `${side} has one move, and it loses`;
  return `${side} has ${count} moves; ${count === 2 ? "both" : "all"} lose`;
}

export class Why {
  #latest = new Latest();
  /** Key of the explained position. */
  #shown = "";
  /** The move that the user has chosen, by its name. */
  #chosen = "";
  /** The explained move of the position, and its key. */
  #move = null;
  #subject = "";
  /** Lost positions by code: `{position, code, moves, defences, from}`. `from` is the place in the tree: a code and a defence. */
  #lost = new Map();
  /** Code of the first lost position, and the plies that lead to it: `{move, position, kind, text}`. */
  #root = null;
  #begin = [];
  /** Code of the position whose defences are requested. */
  #loading = null;
  /** Codes of positions whose defences are listed. */
  #open = new Set();

  constructor(panel, view) {
    this.panel = panel;
    this.view = view;
    this.sentence = el("p");
    this.tree = el("div", { class: "explanation" });
  }

  /** Explains this move of the next position that is shown. */
  choose(move) {
    this.#chosen = move;
    this.#shown = "";
  }

  update(answer, state) {
    if (!answer) {
      this.#shown = "";
      return put(this.panel, el("p", { class: "hint" }, "Nothing to show yet."));
    }
    if (!this.view.shows) {
      this.#shown = "";
      this.#subject = "";
      return put(this.panel, el("h2", {}, "Why"), el("p", {}, "Values are hidden. Choose \u201cShow values\u201d below the board to see an explanation."));
    }
    const { moves } = answer;
    const values = moves.map((judged) => judged.move + judged.outcome).join();
    // The explanation is kept while the values are unchanged.
    if (this.#shown === `${state.board} ${answer.position} ${values}`) return this.#root && !this.#loading ? this.#draw() : undefined;
    this.#shown = `${state.board} ${answer.position} ${values}`;
    this.answer = answer;
    const of = (outcome) => moves.filter((judged) => outcomeOf(judged) === outcome);
    const [won, lost] = [of("win"), of("loss")];
    const known = [...won, ...lost];
    const chosen = [this.#chosen, this.#move?.move].map((name) => known.find(({ move }) => move === name)).find(Boolean) ?? known[0];
    const group = (label, list) => list.length ? el("optgroup", { label }, list.map(({ move }) =>
      el("option", { value: move, selected: move === chosen.move }, move))) : null;
    const select = el("select", { id: "why-move", onchange: () => {
      this.#chosen = select.value;
      put(this.sentence, this.#sentence(won, lost, moves.find(({ move }) => move === select.value)));
      this.#explain(moves.find(({ move }) => move === select.value));
    } }, group("Why does it win?", won),
    group("How do I lose after it?", lost));
    put(this.sentence, this.#sentence(won, lost, chosen));
    put(this.panel, el("h2", {}, "Why"), this.sentence,
      chosen ? el("div", { class: "pair" }, el("label", { for: "why-move" }, "Explain the move"), select) : null, this.tree);
    // The explanation stays while values of other moves arrive.
    if (chosen && this.#subject === this.#key(chosen)) return undefined;
    put(this.tree);
    if (chosen) this.#explain(chosen);
    return undefined;
  }

  #key({ move, outcome }) {
    return `${this.view.state.board} ${this.answer.position} ${move} ${outcome}`;
  }

  /** Returns the result of the explained move in a sentence. */
  #sentence(won, lost, chosen) {
    const { answer } = this;
    const [mover, opponent] = [capital(answer.to_move), capital(other(answer.to_move))];
    if (!answer.moves.length) return `${mover} cannot move, so ${opponent} has won.`;
    if (won.includes(chosen)) {
      return `${mover} wins with ${chosen.move}: one winning move is enough, with an answer to everything that ${opponent} can play.`;
    }
    if (won.length) {
      return `${mover} loses with ${chosen.move}: ${opponent} then has an answer to everything. `
        + `${won.length === 1 ? `The winning move is ${won[0].move}` : `Winning moves are ${some(won.map(({ move }) => move))}`}.`;
    }
    if (lost.length === answer.moves.length) return `${mover} loses: ${opponent} has an answer to every move.`;
    return lost.length ? "Some moves lose. The others are not decided yet." : "No value is known yet.";
  }

  /** Requests the refutation that follows a move, and shows it. */
  async #explain(judged) {
    const { view, answer } = this;
    const { board } = view.state;
    const signal = this.#latest.signal();
    view.guide(null);
    this.#root = null;
    this.#loading = null;
    this.#move = judged;
    this.#subject = this.#key(judged);
    this.#lost.clear();
    this.#open.clear();
    const wins = outcomeOf(judged) === "win";
    const [mover, opponent] = [capital(answer.to_move), capital(other(answer.to_move))];
    this.winner = wins ? mover : opponent;
    this.loser = wins ? opponent : mover;
    put(this.tree, el("p", { class: "hint pulse" }, "Searching ..."));
    const question = wins ? { position: judged.after } : { position: answer.position, move: judged.move };
    try {
      const { reply, after, outcome, refutation } = await get("konane/why",
        { board, ...question, positions: POSITIONS, time: TIME }, signal);
      if (outcome !== "loss" || !refutation) {
        put(this.tree, el("p", {}, reply ? `The best reply so far is ${reply}, but no answer to everything is known yet.` : "No answer is known yet."),
          el("button", { type: "button", onclick: () => this.#explain(judged) }, "Search again"));
        return;
      }
      this.#add(refutation, null);
      this.#root = refutation[0].code;
      this.#open.add(this.#root);
      this.#begin = [{ move: judged.move, position: judged.after, kind: outcomeOf(judged), text: `${mover} plays ${judged.move}.` }];
      if (!wins) this.#begin.push({ move: reply, position: after, kind: "win", text: `${opponent} answers ${reply}.` });
      this.#begin.at(-1).text += ` ${movesLeft(this.loser, refutation[0].moves)}.`;
      this.#draw();
    } catch (error) {
      if (!dropped(error)) put(this.tree, el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  /** Adds a refutation, whose first position is at `from` in the tree. */
  #add(refutation, from) {
    for (const [index, lost] of refutation.entries()) {
      const known = this.#lost.get(lost.code);
      // The moves of a mirror image would not fit.
      if (known?.position === lost.position) known.defences ??= lost.defences;
      else if (!known) this.#lost.set(lost.code, { ...lost, from: index === 0 ? from : null });
    }
    for (const { code, defences = [] } of refutation) {
      for (const defence of defences) {
        defence.code = refutation[defence.next].code;
        const next = this.#lost.get(defence.code);
        if (next.code !== this.#root) next.from ??= { code, defence };
      }
    }
  }

  /** Requests the defences of an open position that earlier answers did not contain, until they are found. */
  async #load(lost) {
    const signal = this.#latest.signal();
    this.#loading = lost.code;
    try {
      for (let pause = 100; !lost.defences && this.#isShown(); pause = Math.min(2 * pause, 5000)) {
        const { refutation } = await get("konane/why", { board: this.view.state.board, position: lost.position,
          positions: POSITIONS, time: TIME }, signal);
        signal.throwIfAborted();
        if (refutation) this.#add(refutation, lost.from);
        if (!lost.defences) await sleep(pause, signal);
      }
      this.#loading = null;
      if (lost.defences) this.#draw();
    } catch (error) {
      if (dropped(error)) return;
      // The position can be opened again.
      this.#loading = null;
      this.tree.append(el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  #isShown() {
    const { view, panel, answer } = this;
    return panel.isConnected && view.tabs.shown === "why" && view.shows && view.answer?.position === answer.position;
  }

  /** Returns the plies from the position of the game to a lost position. */
  #path(lost) {
    if (!lost.from) return [...this.#begin];
    const { code, defence } = lost.from;
    return [...this.#path(this.#lost.get(code)), ...this.#pair(defence)];
  }

  /** Returns the plies of a defence and its answer. */
  #pair(defence) {
    const { move, after, answer, then, code } = defence;
    const next = this.#lost.get(code);
    const end = then === next.position || !next.moves ? movesLeft(this.loser, next.moves) : `This is ${this.#elsewhere(defence)}`;
    return [{ move, position: after, kind: "loss", text: `${this.loser} tries ${move}.` },
      { move: answer, position: then, kind: "win", text: `${this.winner} answers ${answer}. ${end}.` }];
  }

  /** Returns the place of the position after a defence that is explained elsewhere in the tree. */
  #elsewhere({ then, code }) {
    const next = this.#lost.get(code);
    const moves = this.#path(next).slice(this.#begin.length).map(({ move }) => move.replace("-", "\u2011")).join(" ");
    return `${then === next.position ? "the same position as" : "a mirror image of the position"} after ${moves}`;
  }

  /**
   * Shows a ply of a line on the board. After the last one, the line continues with the first defence. `lost` is the
   * position at its end; if that is a mirror image, the line cannot be continued.
   */
  #guide(line, at, lost) {
    const continues = lost.moves > 0 && lost.position === line.at(-1).position;
    const go = (to) => {
      if (to < 0) return this.view.guide(null);
      if (to < line.length) return this.#guide(line, to, lost);
      if (!continues) return undefined;
      this.#open.add(lost.code);
      this.#draw();
      if (!lost.defences) return undefined;
      const defence = lost.defences.find(({ then, code }) => then === this.#lost.get(code).position) ?? lost.defences[0];
      return this.#guide([...line, ...this.#pair(defence)], line.length, this.#lost.get(defence.code));
    };
    this.view.guide({ ...line[at], at, last: continues ? line.length : line.length - 1, go });
    // The row of a defence is also that of its answer.
    const answered = at + 1 + ((at + 1 - this.#begin.length) & 1);
    const moves = line.slice(0, answered).map(({ move }) => move).join(" ");
    for (const button of this.tree.querySelectorAll(".node")) button.toggleAttribute("data-shown", button.dataset.line === moves);
    const shown = this.tree.querySelector("[data-shown]");
    if (wide.matches) shown?.scrollIntoView({ block: "nearest" });
  }

  #draw() {
    const root = this.#lost.get(this.#root);
    const known = [...this.#lost.values()];
    const due = known.find(({ code, moves, defences }) => moves && !defences && this.#open.has(code));
    if (due && this.#loading !== due.code) this.#load(due);
    const more = known.some(({ moves, defences }) => moves && !defences);
    put(this.tree, el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", "data-key": "steps",
      onclick: () => this.#guide(this.#begin, 0, root) }, "Show step by step")),
    el("p", {}, this.#begin.map(({ text }) => text).join(" ")), root.moves ? this.#list(root) : null,
    el("p", { class: "hint" }, `${more ? `The first ${known.length} positions of this explanation` : `All ${known.length} positions of this `
      + "explanation"}. A position that can be reached in several ways, or whose mirror image has been explained, is explained once.`));
  }

  /** Returns the list of the defences of a position. */
  #list(lost) {
    const path = this.#path(lost);
    if (!lost.defences) return el("p", { class: "hint pulse" }, "Searching ...");
    return el("ul", { class: "tree" }, lost.defences.map((defence) => this.#item(lost, path, defence)));
  }

  /** Returns a defence with its answer. Below it are the further defences, unless they are elsewhere in the tree. */
  #item(lost, path, defence) {
    const next = this.#lost.get(defence.code);
    const line = [...path, ...this.#pair(defence)];
    const isHere = next.from?.defence === defence;
    const text = isHere || !next.moves ? movesLeft(this.loser, next.moves) : this.#elsewhere(defence);
    const isOpen = isHere && next.moves > 0 && this.#open.has(next.code);
    const moves = line.map(({ move }) => move);
    const button = el("button", { type: "button", class: "node", "data-line": moves.join(" "), "data-key": moves.join(" "),
      "aria-expanded": isHere && next.moves ? String(isOpen) : undefined, onclick: () => {
        if (isHere && next.moves) {
          if (isOpen) this.#open.delete(next.code);
          else this.#open.add(next.code);
          this.#draw();
        }
        this.#guide(line, line.length - 1, next);
      } },
    el("span", {}, el("span", { class: "detail" }, "After "), el("span", { class: "name" }, defence.move), el("span", { class: "detail" }, ", "),
      badge("win", true), " ", el("span", { class: "name reply" }, defence.answer), el("span", { class: "detail" }, ". "),
      el("span", { class: next.moves ? "detail" : "end" }, `${capital(text)}.`)));
    const { state, played } = this.view;
    const address = state && link({ moves: [...played, ...moves], at: played.length + moves.length });
    return el("li", {}, el("div", { class: "head" }, button, el("a", { class: "goto", href: address,
      "aria-label": `go there: the position after ${moves.join(" ")}` }, "go there")), isOpen ? this.#list(next) : null);
  }
}

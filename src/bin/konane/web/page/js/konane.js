// The view of Konane: the board with its controls, and the tabs.

import { Board } from "./board.js";
import { announce, el, put, wide } from "./dom.js";
import { GameLine } from "./gameline.js";
import { Judge, forget, mistake, textAfter } from "./judge.js";
import { Keys } from "./keys.js";
import { MoveList } from "./movelist.js";
import { Opponent } from "./opponent.js";
import { dimensions, readPosition, squareName, squareNumbers } from "./position.js";
import { Records } from "./record.js";
import { Report } from "./report.js";
import { Setup } from "./setup.js";
import { go } from "./state.js";
import { Tabs } from "./tabs.js";
import { GameValue } from "./value.js";
import { VERB, badge, capital, classText, ends, other, outcomeOf, some } from "./words.js";

const TABS = [["moves", "Moves"], ["why", "Why"], ["search", "Search"], ["openings", "Openings"],
  ["databases", "Databases"], ["puzzles", "Puzzles"]];
/** The panels, except for that of the moves, are loaded when they are shown. */
const PANELS = {
  why: () => import("./why.js").then(({ Why }) => Why),
  search: () => import("./search.js").then(({ KonaneSearch }) => KonaneSearch),
  openings: () => import("./openings.js").then(({ Openings }) => Openings),
  databases: () => import("./databases.js").then(({ Databases }) => Databases),
  puzzles: () => import("./puzzles.js").then(({ Puzzles }) => Puzzles),
};
const STONES = { x: "black stone", o: "white stone" };

export class Konane {
  /** The answer for the current position; null before it arrives. */
  answer = null;
  #selected = null;
  #looked = null;
  #hinted = [];
  /** The step of an explanation that the board shows instead of the position: `{position, move, kind, text, at, last, go}`. */
  #guide = null;
  #shown = null;

  constructor(tour) {
    this.board = new Board({ pick: (square) => this.#pick(square), look: (square) => this.#look(square),
      lift: (square) => this.#lift(square), drop: (square) => this.#drop(square) });
    this.judge = new Judge({ show: (answer) => this.#show(answer), failed: (error) => this.#failed(error),
      working: (status) => this.#working(status) });
    this.turn = el("h2", { class: "turn", id: "turn" });
    this.verdict = el("p", { class: "verdict" });
    this.phase = el("p", { class: "hint phase" });
    this.gameValue = new GameValue(() => this.#controls());
    this.status = el("div", { class: "thinking" });
    this.looking = el("span");
    this.pause = el("button", { type: "button", class: "small", onclick: () => {
      const working = this.looks === "working";
      this.judge.pause(working);
      if (!working) this.resume();
    } });
    this.leaveGuide = el("button", { type: "button", class: "small", onclick: () => this.guide(null) }, "Back to the game");
    this.error = el("p", { class: "error", role: "alert", hidden: true });
    this.steps = el("div", { class: "steps", role: "group", "aria-label": "Through the game" });
    this.slip = el("p", { class: "slip-note", role: "status" });
    this.line = new GameLine((at, moves) => this.at(at, moves), () => this.#slip());
    this.setup = new Setup(this);
    this.opponent = new Opponent(this);
    this.records = new Records(this);
    this.report = new Report(this);
    this.values = el("input", { type: "checkbox", id: "values", onchange: () => {
      // The default depends on whether the user plays against the program.
      const values = this.values.checked === !this.state.play ? "" : this.values.checked ? "on" : "off";
      go({ values }, { replace: true });
    } });
    const actions = { back: () => this.#step(-1), forward: () => this.#step(1),
      flip: () => go({ flip: this.state.flip ? "" : "1" }, { replace: true }),
      fresh: () => go({ pos: "", moves: [], also: [], at: 0 }), leave: () => this.guide(null), board: () => this.board.focus() };
    this.keys = new Keys(actions, () => tour.start());
    this.tabs = new Tabs("About this position", TABS, (tab) => go({ tab }, { replace: true }));
    this.parts = { moves: new MoveList(this.tabs.panels.moves, this) };
    this.node = el("div", { class: "columns" },
      el("section", { class: "stage", "aria-labelledby": "turn" },
        el("div", { class: "controls" }, el("button", { type: "button", title: "New game (n)", onclick: actions.fresh }, "New game"),
          el("button", { type: "button", title: "Flip the board (f)", onclick: actions.flip }, "Flip"),
          this.opponent.start, this.opponent.side, this.opponent.game, this.keys.button),
        el("div", { class: "said" }, el("div", { class: "heading" }, this.turn, this.status), this.verdict, this.phase,
          this.slip, this.opponent.said, this.error), this.board.node,
        el("div", { class: "below" }, this.steps, this.opponent.warning, el("label", { class: "check" }, this.values, el("span", {}, el("span", { class: "wordy" }, "Show "), "values"))),
        this.keys.dialog),
      el("section", { class: "side", "aria-label": "About this game" }, this.line.node,
        el("div", { class: "tools" }, this.setup.button, this.records.node, this.report.button), this.records.said,
        this.setup.form, this.report.node, this.tabs.node),
      el("section", { class: "rest", "aria-label": "Rules" },
        el("details", { class: "help card" }, el("summary", {}, "How is Konane played?"),
          el("p", {}, "Black removes one of its stones from the full board, from a corner or from the middle. White removes "
            + "one next to the hole. Then the players jump in turn, Black first: a stone jumps over an adjacent enemy stone "
            + "to the empty square behind it, and may continue over further stones in the same straight line. Jumped stones "
            + "leave the board. A player who cannot move loses."),
          el("p", {}, "Choose a stone, and for a jump the square on which it lands; or drag the stone there."))));
  }

  /** Shows the state of the address. `back` is true after a switch from another game. */
  update(state, back) {
    const before = this.state;
    this.state = state;
    this.size = dimensions(state.board);
    this.tabs.show(state.tab);
    if (this.tabs.shown !== "why" || !this.shows) this.guide(null);
    this.values.checked = this.shows;
    this.played = state.moves.slice(0, state.at);
    const same = before && before.board === state.board && before.pos === state.pos;
    if (same && before.moves.slice(0, before.at).join() === this.played.join() && this.answer) {
      this.board.resize(this.size, Boolean(state.flip));
      this.draw();
      this.#controls();
      this.#parts();
      this.#working(this.looks);
      this.line.update(state, this.shows);
      return back ? this.resume() : this.opponent.turn();
    }
    this.setup.close();
    this.#selected = null;
    this.#hinted = [];
    this.#guide = null;
    this.answer = null;
    // A late move of the program would be played in another game.
    this.opponent.stop();
    if (!this.size) {
      this.judge.stop();
      return this.#failed(new Error(`${state.board} is not a board: write ranks x files, such as 6x6, with up to `
        + "64 squares."));
    }
    this.board.resize(this.size, Boolean(state.flip));
    this.numbers = squareNumbers(this.size);
    // The stones are shown before the values arrive.
    const text = textAfter(state.board, state.pos, this.played);
    const forward = same && this.played.length === before.at + 1
      && this.played.slice(0, -1).join() === before.moves.slice(0, before.at).join();
    this.#shown = null;
    if (text) this.#place(text, forward ? this.played.at(-1) : null);
    this.error.hidden = true;
    this.#controls();
    return this.resume();
  }

  /** Stops all activity before a switch to another game. */
  leave() {
    this.judge.stop();
    this.line.stop();
    this.opponent.stop();
    this.parts.search?.leave();
  }

  /** Requests unknown values of the position and the program's move, unless a position is being set up. */
  resume() {
    if (this.setup.open) return;
    this.judge.ask(this.state.board, this.state.pos, this.played);
    this.opponent.turn();
  }

  /** Requests the values again, after a database has changed. */
  renew() {
    forget();
    this.resume();
  }

  /** True if values are shown. By default they are hidden in a game against the program. */
  get shows() {
    return this.state.values ? this.state.values !== "off" : !this.state.play;
  }

  /** Plays a move. If the game has continued with another one, that becomes another line. */
  play(move) {
    const { moves, at } = this.state;
    if (moves[at] === move) go({ at: at + 1 });
    else this.take([...this.played, move]);
  }

  /** Shows the end of these moves, which become the current line. */
  take(moves) {
    go({ moves, at: moves.length });
  }

  /** Explains a move at a ply of the game. */
  async explain(at, move) {
    (await this.#part("why"))?.choose(move);
    go({ at, tab: "why", values: this.state.play ? "on" : "" });
    if (!wide.matches) this.tabs.node.scrollIntoView();
  }

  /** Shows the position after this number of moves, of the current line or of another one. */
  at(at, moves = this.state.moves) {
    this.guide(null);
    if (at >= 0 && at <= moves.length) go({ moves, at });
  }

  /** Shows a step of an explanation on the board, or with null the current position again. */
  guide(step) {
    if (step === this.#guide) return;
    if (step && !this.#guide) this.board.node.scrollIntoView({ block: "nearest" });
    this.#guide = step;
    this.#selected = null;
    if (step) announce(step.text);
    this.draw();
    this.#controls();
    this.#working(this.looks);
  }

  /** Goes through the explanation that is shown, otherwise through the game. */
  #step(by) {
    if (this.#guide) return this.#guide.go(this.#guide.at + by);
    return this.at(this.state.at + by);
  }

  /** Draws moves of this position on the board while they are highlighted in a list. */
  hint(moves) {
    this.#hinted = moves.map(({ move }) => move);
    this.#look(this.#looked);
  }

  #place(text, move) {
    const read = readPosition(text, this.size);
    if (!read) return;
    const moved = move && this.#shown !== text
      ? { from: this.numbers.get(ends(move)[0]), to: this.numbers.get(ends(move)[1]) } : null;
    this.#shown = text;
    this.stones = read.stones;
    this.toMove = read.toMove;
    this.draw(moved);
  }

  #show(answer) {
    const first = this.answer === null;
    this.answer = answer;
    if (this.#shown !== answer.position) this.#place(answer.position, null);
    else this.draw();
    this.#controls();
    this.#parts();
    if (this.looks === "working") this.#working("working");
    if (first) this.opponent.turn();
    if (first || answer.complete) this.#announce();
    this.line.update(this.state, this.shows);
  }

  /** Shows what has changed since a position is being set up, or no longer is. */
  redraw() {
    this.draw();
    this.#controls();
    this.#parts();
  }

  /** Returns a panel after it has been loaded, if the program responds. */
  async #part(name) {
    try {
      const Part = this.parts[name] ? null : await PANELS[name]();
      return this.parts[name] ??= new Part(this.tabs.panels[name], this);
    } catch {
      put(this.tabs.panels[name], el("p", { class: "error", role: "alert" }, "The program does not respond: this part of the page cannot be loaded."));
      return null;
    }
  }

  #parts() {
    const { shown } = this.tabs;
    // While a position is set up, the panels show no values of the position of the game.
    const part = this.parts[shown];
    if (part) part.update(this.setup.open ? null : this.answer, this.state);
    else this.#part(shown).then((loaded) => loaded && this.tabs.shown === shown && this.#parts());
    this.report.update(this.state, this.answer);
  }

  #failed(error) {
    if (error.status !== 0) {
      this.error.textContent = capital(error.message);
      this.error.hidden = false;
    }
    if (this.answer) return;
    put(this.turn, "No position");
    put(this.verdict);
    put(this.phase);
    this.#parts();
  }

  #working(status) {
    this.looks = status;
    const open = this.answer ? this.answer.moves.filter((move) => outcomeOf(move) === "unknown").length : 0;
    if (this.#guide) return put(this.status, this.leaveGuide);
    if (status === "done" || !this.shows || (status === "stopped" && !this.answer)) return put(this.status);
    const what = open === 1 ? "1 value" : open ? `${open} values` : "the winner";
    put(this.looking, status === "stopped" ? "Search paused." : !this.answer ? "Searching ..."
      : [el("span", { class: "wordy" }, "Searching for "), `${what} ...`]);
    this.looking.className = status === "working" ? "pulse" : "";
    this.pause.textContent = status === "working" ? "Pause" : "Resume";
    // The button is kept across answers, so that no click on it is lost.
    if (!this.status.contains(this.pause)) put(this.status, this.looking, this.pause);
    return undefined;
  }

  #announce() {
    const { answer } = this;
    const move = this.played.at(-1);
    const mover = capital(other(answer.to_move));
    const values = this.shows ? answer.verdict : "";
    announce(`${move ? `${mover} played ${move}. ` : ""}${capital(answer.to_move)} to move. ${values}`);
  }

  #controls() {
    const { answer, state } = this;
    const guide = this.#guide;
    if (guide) {
      put(this.turn, `Explanation, step ${guide.at + 1}`);
      put(this.verdict, badge(guide.kind, true), " ", guide.text);
      put(this.phase);
    } else if (this.setup.open) {
      put(this.turn, "Set up a position");
      put(this.verdict, "Its values and moves are shown when you use it.");
      put(this.phase);
    } else if (answer) {
      const over = answer.moves.length === 0;
      const named = over ? other(answer.to_move) : answer.to_move;
      const whose = over || !state.play ? "" : named === state.play ? ": your turn" : ": the program";
      put(this.turn, el("span", { class: `dot ${named}`, "aria-hidden": "true" }), `${capital(named)} ${over ? "has won" : "to move"}${whose}`);
      const hidden = over || !this.shows;
      put(this.verdict, hidden ? (over ? `${capital(answer.to_move)} cannot move.` : "")
        : [badge(outcomeOf(answer), true), ` ${answer.verdict} ${classText(answer.class)}`]);
      const stones = this.stones?.filter(Boolean).length;
      const first = stones === this.stones?.length;
      put(this.phase, answer.phase !== "removal" ? this.#valueLine() : over ? "" : first
        ? "Remove a black stone: corner or middle."
        : "Remove a white stone next to the hole.");
    }
    this.#slip();
    const [now, last, go] = guide ? [guide.at, guide.last, guide.go] : [state.at, state.moves.length, (at) => this.at(at)];
    const step = (at, sign, name, key) => el("button", { type: "button", class: "step", title: name, "aria-label": name,
      "data-key": key, "aria-disabled": at === now || at < 0 || at > last ? "true" : undefined,
      onclick: () => at !== now && at >= 0 && at <= last && go(at) }, sign);
    put(this.steps, step(0, "\u21e4", "To the start", "start"), step(now - 1, "\u2190", "Back", "back"),
      step(now + 1, "\u2192", "Forward", "forward"), step(last, "\u21e5", "To the end", "end"));
  }

  /** Names the last move if it gave the game away: the user's, and with values that of either side. */
  #slip() {
    const { state } = this;
    const found = this.#guide || this.setup.open ? null : mistake(state.board, state.pos, this.played);
    const isNamed = found && (state.play ? found.side === state.play && (this.shows || state.warn) : this.shows);
    const key = isNamed ? `${found.ply} ${found.move} ${this.shows} ${this.opponent.waits}` : "";
    if (this.slip.dataset.of === key) return;
    this.slip.dataset.of = key;
    const button = (text, label, onclick) => el("button", { type: "button", class: "small", "aria-label": label, onclick }, text);
    put(this.slip, isNamed ? [badge("loss", true), ` ${found.move} gives the win away.${this.shows ? ` Winning: ${some(found.better)}. ` : " "}`,
      button("Why?", `Why? ${found.move} loses`, () => this.explain(found.ply, found.move)), " ",
      button("Take back", `Take back ${found.move}`, () => this.take(this.played.slice(0, -1))), " ",
      this.opponent.waits ? button("Play on", null, () => this.opponent.playOn()) : null] : []);
  }

  #valueLine() {
    const text = this.shows ? this.gameValue.of(this.answer) : "";
    return text && el("span", { class: "game-value",
      title: "The value as a combinatorial game: Black is Left. A positive value is good for Black." }, text);
  }

  #from(name) {
    return (this.answer?.moves ?? []).filter(({ move }) => ends(move)[0] === name);
  }

  #label(square) {
    const name = squareName(square, this.size);
    const stone = this.stones[square];
    const value = (judged) => this.shows ? `: ${VERB[outcomeOf(judged)]}` : "";
    const target = this.#target(square);
    if (target) return `${name}, empty, land here from ${ends(target.move)[0]}${value(target)}`;
    const moves = this.#from(name);
    const what = `${name}, ${stone ? STONES[stone] : "empty"}`;
    if (!moves.length) return what;
    if (this.answer.phase === "removal") return `${what}, can be removed${value(moves[0])}`;
    const jumps = moves.map((judged) => ends(judged.move)[1] + value(judged)).join(", ");
    return `${what}, can jump to ${jumps}${this.#selected === square ? ", chosen" : ""}`;
  }

  #target(square) {
    if (this.#selected === null || square === this.#selected) return undefined;
    const name = squareName(square, this.size);
    return this.#from(squareName(this.#selected, this.size)).find(({ move }) => ends(move)[1] === name);
  }

  /** Draws the position, with values, or what is shown instead of it. */
  draw(moved = null) {
    if (!this.stones) return;
    if (this.setup.open) return this.setup.draw();
    if (this.#guide) return this.#drawGuide();
    this.board.show(this.stones, (square) => {
      const moves = this.#from(squareName(square, this.size));
      const target = this.#target(square);
      const best = ["win", "unknown", "loss"].find((outcome) => moves.some((judged) => outcomeOf(judged) === outcome));
      const quiet = this.#selected !== null;
      return { label: this.#label(square),
        badge: !this.shows ? null : target ? outcomeOf(target) : quiet ? null : best,
        mark: target ? "target" : `${this.#selected === square ? "selected" : moves.length ? "movable" : ""} ${
          moves.length && this.answer.phase !== "removal" ? "draggable" : ""}` };
    }, moved);
    this.#look(this.#looked);
  }

  #drawGuide() {
    const { position, move, kind } = this.#guide;
    const { stones } = readPosition(position, this.size);
    this.board.show(stones, (square) => ({ mark: "guided",
      label: `${squareName(square, this.size)}, ${stones[square] ? STONES[stones[square]] : "empty"}` }));
    const [from, to] = ends(move).map((name) => this.numbers.get(name));
    this.board.draw([{ from, to, kind }]);
  }

  #arrow(judged) {
    const [from, to] = ends(judged.move).map((name) => this.numbers.get(name));
    return { from, to, kind: this.shows ? outcomeOf(judged) : "plain" };
  }

  #arrows(arrows) {
    const last = this.played.at(-1);
    const [from, to] = last ? ends(last).map((name) => this.numbers.get(name)) : [];
    this.board.draw([...(from === undefined || to === undefined ? [] : [{ from, to, kind: "last" }]), ...arrows]);
  }

  #look(square) {
    this.#looked = square;
    if (!this.answer || this.#guide || this.setup.open) {
      if (!this.#guide && this.stones && this.played) this.#arrows([]);
      return;
    }
    const hinted = this.answer.moves.filter(({ move }) => this.#hinted.includes(move));
    const target = square === null ? undefined : this.#target(square);
    const source = this.#selected ?? square;
    const moves = hinted.length ? hinted : target ? [target] : source === null ? []
      : this.#from(squareName(source, this.size));
    this.#arrows(moves.map((judged) => this.#arrow(judged)));
  }

  /** Chooses a stone that is going to be dragged. Returns false if it cannot be moved. */
  #lift(square) {
    if (this.setup.open || this.#guide || this.answer?.phase === "removal" || !this.#from(squareName(square, this.size)).length) return false;
    this.#selected = square;
    this.draw();
    return true;
  }

  /** Plays the move of the dragged stone to this square, if there is one. */
  #drop(square) {
    const target = square !== null && this.#target(square);
    if (target) return this.play(target.move);
    return this.#pick(null);
  }

  #pick(square) {
    if (this.setup.open) return square === null ? undefined : this.setup.toggle(square);
    if (this.#guide) return this.guide(null);
    if (!this.answer) return undefined;
    if (square === null) {
      this.#selected = null;
      return this.draw();
    }
    const target = this.#target(square);
    if (target) return this.play(target.move);
    const moves = this.#from(squareName(square, this.size));
    if (moves.length && this.answer.phase === "removal") return this.play(moves[0].move);
    this.#selected = moves.length && this.#selected !== square ? square : null;
    this.draw();
    if (this.#selected !== null) {
      announce(`${squareName(square, this.size)} chosen. Choose where it lands: `
        + `${moves.map(({ move }) => ends(move)[1]).join(", ")}.`);
    }
    return undefined;
  }
}

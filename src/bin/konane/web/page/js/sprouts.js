// The view of Sprouts: a position as a drawing, its lands with their Grundy numbers, its moves, and games.

import { Latest, address, dropped, get, url } from "./api.js";
import { announce, el, put } from "./dom.js";
import { curveOfLine, middleOf, textOf, withCurve } from "./drawing.js";
import { embed } from "./embed.js";
import { Curves, canonical } from "./curves.js";
import { Paper } from "./paper.js";
import { SearchPanel } from "./search.js";
import { format, go, link } from "./state.js";
import { Tabs } from "./tabs.js";
import { VERB, badge, capital, outcomeOf, sourceText } from "./words.js";

const CARDS = 60;

const NO_DRAWING = "The page has no drawing of this position: it is too large, or its boundaries do not fit together in the plane. ";
const HINT = "Draw a line from spot to spot, or click two spots. The number in a spot is its lives.";
const ABSTRACT = "Each panel is a region, each circle in it a boundary. The number of a spot is that of its curve ends, at most three; "
  + "spots with the same letter are the same one.";

/** Delay before a move of the program, and its maximum time to look for a winning move, in milliseconds. */
const PAUSE = 700;
const MAX_THINKING = 8000;

/** Maximum number of lost moves that the program compares. */
const MAX_COMPARED = 8;

function place(pos, rule, tab = "moves") {
  return format({ game: "sprouts", pos, rule, tab });
}

export class Sprouts {
  #latest = new Latest();
  /** The positions on the way here: { pos, play }. */
  #trail = [];
  #drawings = new Map();
  #all = false;
  #playable = null;
  #since = 0;
  #replied = "";
  #refocus = false;
  answer = null;

  constructor() {
    this.title = el("h2", { class: "turn", id: "turn" });
    this.verdict = el("p", { class: "verdict" });
    this.trail = el("nav", { class: "trail", "aria-label": "The way here" });
    this.paper = new Paper({ line: (...line) => this.#drawn(...line), tap: (from, to) => this.#tapped(from, to) });
    this.image = el("img", { alt: "", hidden: true, onerror: () => {
      this.image.hidden = true;
    }, onload: () => this.#views() });
    this.figure = el("figure", { class: "paper" }, this.paper.node, this.image);
    this.note = el("p", { class: "hint note", role: "status" });
    this.undo = el("button", { type: "button", onclick: () => this.#undo() }, "Undo");
    this.views = el("div", { class: "switch", role: "group", "aria-label": "Picture" }, ["Drawing", "Abstract view"].map((name, at) =>
      el("button", { type: "button", onclick: () => {
        this.abstract = at === 1;
        this.#views();
        this.#hint();
      } }, name)));
    this.values = el("input", { type: "checkbox", onchange: () => go({ values: this.values.checked ? "on" : "off" }, { replace: true }) });
    this.placing = el("input", { type: "checkbox" });
    this.text = el("input", { type: "text", id: "sprouts-text", spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
    this.error = el("p", { class: "error", role: "alert", hidden: true });
    this.lands = el("div", { class: "card lands", hidden: true });
    this.status = el("p", { class: "thinking" });
    this.spots = el("select", { id: "game-spots", "aria-label": "Spots of a new game" }, Array.from({ length: 11 }, (_, at) =>
      el("option", { value: String(at + 2), selected: at === 2 }, `${at + 2} spots`)));
    // A choice is valid at once, and for new games.
    this.side = el("select", { id: "game-side", "aria-label": "Opponent", onchange: () => go({ play: this.side.value, values: "" }) },
      el("option", { value: "" }, "you play both sides"), el("option", { value: "you" }, "against the program, you begin"),
      el("option", { value: "program" }, "against the program, it begins"));
    this.rule = el("select", { id: "game-rule", "aria-label": "Rule", onchange: () => go({ rule: this.rule.value }) },
      el("option", { value: "" }, "the last move wins"), el("option", { value: "misere" }, "the last move loses (mis\u00e8re)"));
    this.game = el("form", { class: "newgame", onsubmit: (event) => {
      event.preventDefault();
      this.#begin(`0*${this.spots.value}`, this.side.value);
    } }, el("button", { type: "submit", class: "primary" }, "New game"), this.spots, this.side, this.rule);
    this.form = el("form", { class: "card", onsubmit: (event) => {
      event.preventDefault();
      const pos = this.text.value.trim();
      if (pos) this.#begin(pos, "");
    } }, el("label", { class: "field", for: "sprouts-text" }, "Position"), el("div", { class: "pair" }, this.text,
      el("button", { type: "submit" }, "Show")),
    el("p", { class: "hint" }, "0*5 is the start with five spots. Spots with three lines to them are dead. Begin with: ",
      this.starts = el("span")));
    this.tabs = new Tabs("About this position", [["moves", "Moves"], ["search", "Search"]], (tab) => go({ tab }, { replace: true }));
    this.search = new SearchPanel(this.tabs.panels.search, { game: "sprouts",
      algorithms: [["dfpn", "df-pn"], ["pns", "PNS"]],
      question: () => this.answer && !this.#misere ? { position: this.state.pos } : null,
      place: ({ position }) => place(position, "", "search"),
      result: ({ outcome, reason, error }) => outcome === "win" ? "The player to move wins." : outcome === "loss"
        ? "The player to move loses." : `Unknown${reason || error ? `: ${reason ?? error}` : ""}.`,
      ended: () => this.#ask() });
    this.node = el("div", { class: "columns" },
      el("section", { class: "stage", "aria-labelledby": "turn" }, el("div", { class: "said" }, this.title, this.verdict),
        this.error, this.figure, this.note,
        el("div", { class: "below" }, this.undo, this.views),
        el("div", { class: "below" }, el("label", { class: "check" }, this.values, "Show values"),
          el("label", { class: "check" }, this.placing, "Place new spots myself")),
        this.game, this.status, this.trail, this.lands),
      el("section", { class: "side", "aria-label": "About this position" }, this.tabs.node),
      el("section", { class: "rest", "aria-label": "Other positions" }, this.form,
        el("details", { class: "help card" }, el("summary", {}, "How is Sprouts played?"),
          el("p", {}, "A player draws a line from a spot to another one or to the same one, and puts a new spot on it. Lines do "
            + "not cross, and no spot has more than three ends of lines. A player who cannot move loses; in the mis\u00e8re game this "
            + "player wins, and the numbers below do not decide it."),
          el("p", {}, "Draw with the mouse or a finger: press a spot and drag. Or click two spots, one after the other, or the same "
            + "spot twice; or choose one of the listed moves. The number in a spot is its lives: the ends of lines that it can still take. "
            + "Small grey spots are dead, and nothing can be played in shaded regions. A small hollow circle stands for dead "
            + "spots and curves that the text of the position omits."),
          el("p", {}, "Parts of the position that cannot reach each other are called lands. Each land has a Grundy number: "
            + "it is equivalent to a Nim heap of that size. The numbers of all lands are combined by exclusive or (\u2295). "
            + "If the result is 0, the player to move loses, otherwise the player to move wins."))));
  }

  get #hidden() {
    const { values, play } = this.state;
    return values === "off" || values === "" && play !== "";
  }

  /** True if the player who makes the last move loses. */
  get #misere() {
    return this.state.rule === "misere";
  }

  /** Parameters of the position in requests. */
  #asked(position) {
    return this.#misere ? { position, rule: "misere" } : { position };
  }

  #begin(pos, play) {
    this.#trail = [];
    this.#drawings.clear();
    this.answer = null;
    this.#replied = "";
    go({ pos, play, values: "" });
  }

  /** Shows the state of the address. `back` is true after a switch from another game. */
  update(state, back) {
    const before = this.state;
    const { pos, play, rule } = state;
    this.state = state;
    this.tabs.show(state.tab);
    if (before?.pos === pos && before.play === play && before.rule === rule && this.answer) {
      this.#draw();
      return back && (!this.answer.complete || play === "program") ? this.#ask() : undefined;
    }
    this.answer = null;
    this.#playable = null;
    this.#all = false;
    this.#since = Date.now();
    // The path to this position, cut where the position has occurred before.
    const at = this.#trail.findIndex((entry) => entry.pos === pos);
    this.#trail = [...(at >= 0 ? this.#trail.slice(0, at) : this.#trail), { pos, play }].slice(-60);
    this.text.value = pos;
    this.error.hidden = true;
    this.figure.hidden = false;
    this.#say("");
    put(this.title, "Sprouts");
    put(this.verdict, "");
    this.image.alt = `Abstract view of ${pos}`;
    this.image.src = url(address("sprouts/draw", { position: pos }));
    this.#show(this.#drawings.get(pos) ?? (/^0\*\d{1,2}$/.test(pos) ? embed(pos) : null));
    return this.#ask();
  }

  #show(drawing) {
    const isNew = drawing !== null && this.#drawings.get(this.state.pos) !== drawing;
    const settles = drawing?.settles;
    if (drawing) {
      this.#drawings.set(this.state.pos, drawing);
      drawing.settles = false;
    }
    this.paper.show(drawing, settles || isNew);
    this.#views();
  }

  /** Shows the drawing, or the abstract view if it is chosen or there is no drawing. */
  #views() {
    const abstract = this.abstract || this.answer !== null && !this.paper.drawing;
    this.paper.node.toggleAttribute("hidden", abstract);
    this.image.hidden = !abstract || !this.image.naturalWidth;
    [...this.views.children].forEach((button, at) => button.setAttribute("aria-pressed", String(abstract === (at === 1))));
    this.paper.open = this.answer !== null && this.state.play !== "program";
  }

  leave() {
    this.#latest.stop();
    this.search.leave();
    this.paper.finish();
    this.#replied = "";
  }

  async #ask() {
    const signal = this.#latest.signal();
    const { pos } = this.state;
    this.status.textContent = "Searching ...";
    try {
      for (let round = 0; round < 30; round += 1) {
        const time = Math.min((this.paper.drawing ? 200 : 50) * 2 ** round, 2000);
        const answer = await get("sprouts/position", { ...this.#asked(pos), time }, signal);
        signal.throwIfAborted();
        const first = this.answer === null;
        this.answer = answer;
        if (first) {
          this.#draw();
          announce(this.#hidden ? this.title.textContent : this.#sentence());
          await this.#prepare(signal);
        }
        await this.#playable?.match(answer.children, signal);
        this.#draw();
        if (this.#reply(signal) || answer.complete) break;
        if (!this.#hidden) this.status.textContent = "Searching for more values ...";
        await new Promise((resolve) => setTimeout(resolve, Math.min(100 * 1.5 ** round, 5000)));
        signal.throwIfAborted();
      }
      this.status.textContent = "";
    } catch (error) {
      if (dropped(error)) return;
      this.status.textContent = "";
      if (error.status !== 0) {
        this.error.textContent = capital(error.message);
        this.error.hidden = false;
      }
      if (this.answer) return;
      put(this.title, "No position");
      this.#say("");
      this.figure.hidden = true;
      this.paper.show(null);
      this.lands.hidden = true;
      put(this.tabs.panels.moves, el("p", { class: "hint" }, "Nothing to show yet."));
      this.search.update();
    }
  }

  /** Makes a drawing if there is none, and finds its moves. */
  async #prepare(signal) {
    const { answer } = this;
    if (!this.paper.drawing) {
      let found = null;
      for (const text of new Set([this.state.pos, answer.canonical])) {
        found = embedded(text);
        if (found && (await canonical([textOf(found)], signal))[0] === answer.canonical) break;
        found = null;
      }
      signal.throwIfAborted();
      this.#show(found);
      if (!found) this.#say(NO_DRAWING + ABSTRACT);
    }
    if (!this.paper.drawing) return;
    const playable = await Curves.of(this.paper.drawing, signal);
    signal.throwIfAborted();
    this.#playable = playable;
  }

  /** Plays a curve. `wanted` is the canonical text of a listed move. */
  async #play(curve, wanted, index = middleOf(curve)) {
    const { pos, play } = this.state;
    const drawing = withCurve(this.paper.drawing, curve, index);
    let [name] = await canonical([textOf(drawing)]);
    if (this.state.pos !== pos || this.state.play !== play) return;
    if (wanted && !this.#playable.byName.has(name)) name = wanted;
    else {
      drawing.settles = true;
      this.#drawings.set(name, drawing);
    }
    go({ pos: name, play: this.#next() });
  }

  /** Whose turn it is after the next move. */
  #next() {
    return { you: "program", program: "you" }[this.state.play] ?? "";
  }

  /** Shows a text below the drawing: a hint, or the reason why a move is refused. */
  #say(text, isRefusal = false) {
    this.note.textContent = text;
    this.note.classList.toggle("refusal", isRefusal);
  }

  /** Shows the meaning of the picture, unless there is another text. */
  #hint() {
    if (!["", HINT, ABSTRACT].includes(this.note.textContent)) return;
    const isOver = !this.answer?.children.length;
    this.#say(isOver ? "" : this.abstract ? ABSTRACT : this.state.play === "program" ? "" : HINT);
  }

  /** Calls an asynchronous function and shows its error. */
  async #attempt(work) {
    try {
      await work();
    } catch (error) {
      if (!dropped(error)) this.#say(capital(error.message), true);
    }
  }

  #accept(curve) {
    this.#say(HINT);
    return this.#attempt(async () => {
      if (!this.placing.checked) return this.#play(curve);
      this.#say("Click the place of the new spot on the line.");
      const index = await this.paper.place(curve);
      if (index !== undefined) await this.#play(curve, undefined, index);
    });
  }

  #drawn(points, from, to) {
    const { curve, refusal } = curveOfLine(this.paper.drawing, points, from, to);
    if (curve) return this.#accept(curve);
    this.#say(refusal, true);
  }

  #tapped(from, to) {
    const curve = this.#playable?.between(from, to);
    if (curve) return this.#accept(curve);
    this.#say(from === to ? "This spot cannot be joined to itself: that takes two lives." : "No line can join these two spots.", true);
  }

  /** Plays a listed move: with a curve if there is one, otherwise by showing the position after it. */
  async #choose(name) {
    const curve = this.paper.drawing && this.#playable?.curve(name);
    if (curve) return this.#play(curve, name);
    go({ pos: name, play: this.#next() });
  }

  /** Plays for the program if it is its turn. Returns true if it needs no more values. */
  #reply(signal) {
    const { answer, state } = this;
    if (state.play !== "program" || !answer.children.length) return false;
    const wins = answer.children.filter((child) => child.outcome === "win");
    if (!wins.length && !answer.complete && Date.now() - this.#since < MAX_THINKING) return false;
    if (this.#replied === state.pos) return true;
    this.#replied = state.pos;
    const pause = new Promise((resolve) => setTimeout(resolve, PAUSE));
    const choice = wins.length ? wins[Math.floor(Math.random() * wins.length)].position : this.#hardest(signal);
    this.#attempt(async () => {
      const [name] = await Promise.all([choice, pause]);
      if (!signal.aborted) await this.#choose(name);
    }).finally(() => {
      this.#replied = "";
    });
    return true;
  }

  /** A move after which few replies win. */
  async #hardest(signal) {
    const moves = [...this.answer.children].sort(() => Math.random() - 0.5).slice(0, MAX_COMPARED);
    let best = { name: moves[0].position, share: 2 };
    for (const { position } of moves) {
      const { children } = await get("sprouts/position", { ...this.#asked(position), time: 100 }, signal);
      const share = children.filter((child) => child.outcome === "win").length / Math.max(1, children.length);
      if (share < best.share) best = { name: position, share };
    }
    return best.name;
  }

  /** Goes back to the last position in which the user was to move. */
  #undo() {
    const { play } = this.state;
    const back = this.#trail.slice(0, -1).findLast((entry) => !play || entry.play !== "program");
    if (back) go(back);
  }

  #sentence() {
    const { outcome, children } = this.answer;
    if (!children.length) return `No move is left: the player to move has ${this.#misere ? "won" : "lost"}.`;
    const one = children.length === 1;
    const count = `There ${one ? "is 1 move" : `are ${children.length} different moves`}.`;
    if (this.#hidden) return count;
    if (outcome === "win") {
      const wins = children.filter((child) => child.outcome === "win").length;
      return `The player to move wins${wins ? ` with ${wins} of ${children.length} moves` : ""}.`;
    }
    if (outcome === "loss") return `The player to move loses with ${one ? "the only move" : `all ${children.length} moves`}.`;
    return `Not decided yet. ${count}`;
  }

  #heading() {
    const { play } = this.state;
    if (!play) return "Sprouts";
    if (this.answer.children.length) return play === "you" ? "Your move" : "The program's move";
    return (play === "you") === this.#misere ? "You have won" : "The program has won";
  }

  #draw() {
    const { answer, state } = this;
    const { panels } = this.tabs;
    const hidden = this.#hidden;
    this.values.checked = !hidden;
    const current = state.pos;
    put(this.title, this.#heading(), " ", el("span", { class: "code" }, answer.position ?? current));
    put(this.verdict, hidden ? null : badge(outcomeOf(answer), true), " ", this.#sentence());
    this.paper.node.setAttribute("aria-label", `Drawing of ${current}`);
    this.#hint();
    // A game that is opened by its address has an opponent, too.
    if (Boolean(this.side.value) !== Boolean(state.play)) this.side.value = state.play;
    this.rule.value = state.rule;
    put(this.starts, [2, 3, 4, 5, 6, 7, 8].map((spots) => [el("a", { href: place(`0*${spots}`, state.rule) }, `0*${spots}`), " "]));
    this.undo.disabled = this.#trail.length < 2;
    put(this.trail, this.#trail.length < 2 ? null : el("ol", {}, this.#trail.map(({ pos, play }) => el("li", {}, pos === current
      ? el("span", { "aria-current": "page" }, pos) : el("a", { href: link({ pos, play }) }, pos)))));
    this.#views();
    this.#lands();
    this.search.update();
    const listed = hidden ? [...answer.children].sort((a, b) => a.position < b.position ? -1 : 1) : answer.children;
    const shown = this.#all ? listed : listed.slice(0, CARDS);
    put(panels.moves, el("h2", {}, "Moves"), el("p", { class: "hint" }, hidden ? "Distinct positions after one move."
      : "Distinct positions after one move. \u2713: the move wins for the player who makes it. \u2717: it loses. "
        + (this.#misere ? "" : "The number is the Grundy number.")),
    el("ul", { class: "cards" }, shown.map((child) => this.#card(child, hidden))),
    shown.length < answer.children.length ? el("button", { type: "button", onclick: () => {
      this.#all = true;
      this.#draw();
    } }, `Show all ${answer.children.length}`) : null);
    if (this.#refocus && state.play !== "program") {
      this.#refocus = false;
      panels.moves.querySelector(".child")?.focus();
    }
  }

  #card(child, hidden) {
    const outcome = hidden ? "" : outcomeOf(child);
    const show = () => this.paper.preview(() => this.paper.open ? this.#playable?.curve(child.position) : null);
    const hide = () => this.paper.preview(null);
    return el("li", {}, el("a", { class: `child ${outcome}`, "data-key": child.position,
      href: link({ pos: child.position, play: this.#next() }), title: hidden ? null : sourceText(child.source),
      onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide, onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        if (this.state.play === "program") return;
        // A move with the keyboard moves the focus to the next list.
        this.#refocus = event.detail === 0;
        this.#attempt(() => this.#choose(child.position));
      } }, hidden ? null : badge(outcome, true), el("span", { class: "code" }, child.position === "!" ? "nothing left" : child.position),
    hidden ? null : el("span", { class: "detail" }, el("span", { class: "unseen" }, `${VERB[outcome]}, `),
      this.#misere ? null : child.grundy === null || child.grundy === undefined ? "Grundy number unknown" : `Grundy number ${child.grundy}`)));
  }

  #lands() {
    const { lands, grundy } = this.answer;
    this.lands.hidden = lands.length === 0 || this.#hidden || this.#misere;
    const known = lands.every((land) => Number.isInteger(land.grundy));
    const numbers = lands.map((land) => land.grundy ?? "?");
    const sum = grundy ?? (known ? lands.reduce((all, land) => all ^ land.grundy, 0) : null);
    put(this.lands, el("h3", {}, "Lands and Grundy numbers"), el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Land"), el("th", { scope: "col" }, "Grundy number"))),
      el("tbody", {}, lands.map((land) => el("tr", {}, el("th", { scope: "row" },
        lands.length > 1 ? el("a", { href: place(land.position, ""), class: "code" }, land.position) : el("span", { class: "code" }, land.position)),
      el("td", { title: sourceText(land.source) }, land.grundy ?? "unknown"))))),
    el("p", { class: "sum" }, lands.length > 1 ? `${numbers.join(" \u2295 ")} = ` : "Together: ",
      el("strong", {}, sum ?? "?"), sum === null || sum === undefined ? ", as long as a number is unknown"
        : sum === 0 ? ": the player to move loses" : ": the player to move wins"));
  }
}

/** A drawing of a text; null if it cannot be read or drawn. */
function embedded(text) {
  try {
    return embed(text);
  } catch {
    // The program also accepts other notations, which it translates to canonical texts.
    return null;
  }
}

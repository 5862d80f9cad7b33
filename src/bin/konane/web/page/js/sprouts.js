// The view of Sprouts: a position as a picture, its lands with their Grundy numbers, and the positions after each move.

import { Latest, address, dropped, get, url } from "./api.js";
import { announce, el, put } from "./dom.js";
import { SearchPanel } from "./search.js";
import { format, go } from "./state.js";
import { Tabs } from "./tabs.js";
import { VERB, badge, capital, outcomeOf, sourceText } from "./words.js";

const CARDS = 60;

function place(pos, tab = "moves") {
  return format({ game: "sprouts", pos, tab });
}

export class Sprouts {
  #latest = new Latest();
  #trail = [];
  #all = false;
  answer = null;

  constructor() {
    this.title = el("h2", { class: "turn", id: "turn" });
    this.verdict = el("p", { class: "verdict" });
    this.trail = el("nav", { class: "trail", "aria-label": "The way here" });
    this.image = el("img", { alt: "", hidden: true, onerror: () => {
      this.image.hidden = true;
    } });
    this.text = el("input", { type: "text", id: "sprouts-text", spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
    this.error = el("p", { class: "error", role: "alert", hidden: true });
    this.lands = el("div", { class: "card lands", hidden: true });
    this.status = el("p", { class: "thinking" });
    this.form = el("form", { class: "card", onsubmit: (event) => {
      event.preventDefault();
      const pos = this.text.value.trim();
      if (pos) go({ pos });
    } }, el("label", { class: "field", for: "sprouts-text" }, "Position"), el("div", { class: "pair" }, this.text,
      el("button", { type: "submit" }, "Show")),
    el("p", { class: "hint" }, "0*5 is the start with five spots. Spots with three lines to them are dead. Begin with: ",
      [2, 3, 4, 5, 6, 7, 8].map((spots) => [el("a", { href: place(`0*${spots}`) }, `0*${spots}`), " "])));
    this.tabs = new Tabs("About this position", [["moves", "Moves"], ["search", "Search"]], (tab) => go({ tab }, { replace: true }));
    this.search = new SearchPanel(this.tabs.panels.search, { game: "sprouts",
      algorithms: [["dfpn", "df-pn"], ["pns", "PNS"]],
      question: () => this.answer ? { position: this.state.pos } : null,
      place: ({ position }) => place(position, "search"),
      result: ({ outcome, reason, error }) => outcome === "win" ? "The player to move wins." : outcome === "loss"
        ? "The player to move loses." : `Unknown${reason || error ? `: ${reason ?? error}` : ""}.`,
      ended: () => this.#ask() });
    this.node = el("div", { class: "columns" },
      el("section", { class: "stage", "aria-labelledby": "turn" }, el("div", { class: "said" }, this.title, this.verdict), this.trail,
        this.error, el("figure", { class: "paper" }, this.image), this.status, this.lands),
      el("section", { class: "side", "aria-label": "About this position" }, this.tabs.node),
      el("section", { class: "rest", "aria-label": "Other positions" }, this.form, el("details", { class: "help card" }, el("summary", {}, "How is Sprouts played?"),
          el("p", {}, "A player draws a line from a spot to another one or to the same one, and puts a new spot on it. Lines do "
            + "not cross, and no spot has more than three ends of lines. A player who cannot move loses."),
          el("p", {}, "Parts of the position that cannot reach each other are called lands. Each land has a Grundy number: "
            + "it is equivalent to a Nim heap of that size. The numbers of all lands are combined by exclusive or (\u2295). "
            + "If the result is 0, the player to move loses, otherwise the player to move wins."))));
  }

  /** Shows the state of the address. `back` is true after a switch from another game. */
  update(state, back) {
    const before = this.state;
    this.state = state;
    this.tabs.show(state.tab);
    if (before?.pos === state.pos && this.answer) {
      this.#draw();
      return back && !this.answer.complete ? this.#ask() : undefined;
    }
    this.answer = null;
    this.#all = false;
    // The path to this position, cut where the position has occurred before.
    const at = this.#trail.indexOf(state.pos);
    this.#trail = at >= 0 ? this.#trail.slice(0, at + 1) : [...this.#trail, state.pos].slice(-30);
    this.text.value = state.pos;
    this.error.hidden = true;
    put(this.title, "Sprouts");
    put(this.verdict, "");
    const { pos } = state;
    this.image.onload = () => {
      this.image.hidden = false;
    };
    this.image.alt = `Picture of ${pos}`;
    this.image.src = url(address("sprouts/draw", { position: pos }));
    return this.#ask();
  }

  leave() {
    this.#latest.stop();
    this.search.leave();
  }

  async #ask() {
    const signal = this.#latest.signal();
    const { pos } = this.state;
    this.status.textContent = "Searching ...";
    try {
      for (let round = 0; round < 30; round += 1) {
        const answer = await get("sprouts/position", { position: pos, time: Math.min(200 * 2 ** round, 2000) }, signal);
        signal.throwIfAborted();
        const first = this.answer === null;
        this.answer = answer;
        this.#draw();
        if (first) announce(this.#sentence());
        if (answer.complete) break;
        this.status.textContent = "Searching for more values ...";
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
      this.image.hidden = true;
      this.lands.hidden = true;
      put(this.tabs.panels.moves, el("p", { class: "hint" }, "Nothing to show yet."));
      this.search.update();
    }
  }

  #sentence() {
    const { outcome, children } = this.answer;
    if (!children.length) return "No move is left: the player to move has lost.";
    if (outcome === "win") {
      const wins = children.filter((child) => child.outcome === "win").length;
      return `The player to move wins${wins ? ` with ${wins} of ${children.length} moves` : ""}.`;
    }
    const one = children.length === 1;
    if (outcome === "loss") return `The player to move loses with ${one ? "the only move" : `all ${children.length} moves`}.`;
    return `Not decided yet. There ${one ? "is 1 move" : `are ${children.length} different moves`}.`;
  }

  #draw() {
    const { answer } = this;
    const { panels } = this.tabs;
    put(this.title, "Sprouts ", el("span", { class: "code" }, answer.position ?? this.state.pos));
    put(this.verdict, badge(outcomeOf(answer), true), " ", this.#sentence());
    put(this.trail, this.#trail.length < 2 ? null : el("ol", {}, this.#trail.map((pos) => el("li", {}, pos === this.state.pos
      ? el("span", { "aria-current": "page" }, pos) : el("a", { href: place(pos) }, pos)))));
    this.#lands();
    this.search.update();
    const shown = this.#all ? answer.children : answer.children.slice(0, CARDS);
    put(panels.moves, el("h2", {}, "Moves"), el("p", { class: "hint" }, "Distinct positions after one move. W: the move wins for the player who "
      + "makes it. L: it loses. The number is the Grundy number."),
    el("ul", { class: "cards" }, shown.map((child) => this.#card(child))),
    shown.length < answer.children.length ? el("button", { type: "button", onclick: () => {
      this.#all = true;
      this.#draw();
    } }, `Show all ${answer.children.length}`) : null);
  }

  #card(child) {
    const outcome = outcomeOf(child);
    return el("li", {}, el("a", { class: `child ${outcome}`, "data-key": child.position, href: place(child.position),
      title: sourceText(child.source) }, badge(outcome, true), el("span", { class: "code" }, child.position || "nothing left"),
    el("span", { class: "detail" }, el("span", { class: "unseen" }, `${VERB[outcome]}, `),
      child.grundy === null || child.grundy === undefined ? "Grundy number unknown" : `Grundy number ${child.grundy}`)));
  }

  #lands() {
    const { lands, grundy } = this.answer;
    this.lands.hidden = lands.length === 0;
    const known = lands.every((land) => Number.isInteger(land.grundy));
    const numbers = lands.map((land) => land.grundy ?? "?");
    const sum = grundy ?? (known ? lands.reduce((all, land) => all ^ land.grundy, 0) : null);
    put(this.lands, el("h3", {}, "Lands and Grundy numbers"), el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Land"), el("th", { scope: "col" }, "Grundy number"))),
      el("tbody", {}, lands.map((land) => el("tr", {}, el("th", { scope: "row" },
        lands.length > 1 ? el("a", { href: place(land.position), class: "code" }, land.position) : el("span", { class: "code" }, land.position)),
      el("td", { title: sourceText(land.source) }, land.grundy ?? "unknown"))))),
    el("p", { class: "sum" }, lands.length > 1 ? `${numbers.join(" \u2295 ")} = ` : "Together: ",
      el("strong", {}, sum ?? "?"), sum === null || sum === undefined ? ", as long as a number is unknown"
        : sum === 0 ? ": the player to move loses" : ": the player to move wins"));
  }
}

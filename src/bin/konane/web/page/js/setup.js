// Set-up of a position by clicks on squares or as text. The program checks it.

import { Latest, dropped, post } from "./api.js";
import { announce, el } from "./dom.js";
import { isOtherColouring, ownStone, readPosition, squareName, startStones, writePosition } from "./position.js";
import { go } from "./state.js";
import { capital } from "./words.js";

export class Setup {
  open = false;
  #latest = new Latest();
  #canonical = null;

  constructor(view) {
    this.view = view;
    this.text = el("input", { type: "text", id: "position-text", spellcheck: "false", autocapitalize: "off",
      autocomplete: "off", "aria-describedby": "setup-error", oninput: () => this.#typed(), onpaste: (event) => this.#pasted(event) });
    const side = (value, name) => el("label", { class: "check" }, el("input", { type: "radio", name: "side", value,
      onchange: () => {
        this.toMove = value;
        this.#changed();
      } }), ` ${name}`);
    this.sides = el("fieldset", { class: "sides" }, el("legend", { class: "unseen" }, "Side to move"),
      side("black", "Black to move"), side("white", "White to move"));
    this.problem = el("p", { class: "error", id: "setup-error", role: "alert", hidden: true });
    this.use = el("button", { type: "submit", class: "primary" }, "Use this position");
    this.form = el("form", { class: "card setup", "aria-label": "Set up a position", hidden: true,
      onsubmit: (event) => {
        event.preventDefault();
        if (this.#canonical) this.#finish();
        else this.#check();
      } },
    el("p", { class: "hint" }, "Choose squares to add or remove stones. Stones stay on squares of their own colour, so each "
      + "square has only one kind of stone."),
    this.sides, el("div", { class: "buttons" },
      el("button", { type: "button", onclick: () => this.#set(startStones(view.size)) }, "All stones"),
      el("button", { type: "button", onclick: () => this.#set(startStones(view.size).fill(null)) }, "No stones")),
    el("label", { class: "field", for: "position-text" }, "Position as text"), this.text, this.problem,
    el("div", { class: "buttons" }, this.use,
      el("button", { type: "button", onclick: () => this.cancel() }, "Cancel")));
    this.button = el("button", { type: "button", "aria-expanded": "false",
      onclick: () => this.open ? this.cancel() : this.#begin() }, "Set up a position");
  }

  #begin() {
    const { view } = this;
    if (!view.size) return;
    view.guide(null);
    this.open = true;
    this.form.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.stones = [...(view.stones ?? startStones(view.size))];
    this.toMove = view.toMove ?? "black";
    view.judge.stop();
    view.opponent.stop();
    view.redraw();
    this.#changed();
  }

  /** Closes the form without a change of the board. */
  close() {
    this.open = false;
    this.#latest.stop();
    this.form.hidden = true;
    this.problem.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  cancel() {
    this.close();
    this.view.redraw();
    this.view.resume();
    this.button.focus();
  }

  #finish() {
    const pos = this.#canonical;
    this.close();
    this.view.answer = null;
    go({ pos, moves: [], at: 0 });
    this.button.focus();
  }

  toggle(square) {
    this.stones[square] = this.stones[square] ? null : this.#own(square);
    announce(`${squareName(square, this.view.size)} ${this.stones[square] ? "taken" : "empty"}`);
    this.#changed();
  }

  #own(square) {
    return ownStone(square, this.view.size, isOtherColouring(this.stones, this.view.size));
  }

  #set(stones) {
    this.stones = stones;
    this.#changed();
  }

  #changed() {
    this.text.value = writePosition(this.stones, this.toMove, this.view.size);
    for (const input of this.sides.querySelectorAll("input")) input.checked = input.value === this.toMove;
    this.draw();
    this.#check();
  }

  #typed() {
    this.#preview(this.text.value);
    this.#check();
  }

  /** Keeps the lines of a diagram apart: the field has one line. */
  #pasted(event) {
    const lines = event.clipboardData.getData("text").trim().split(/\s*\n\s*/);
    if (lines.length === 1) return;
    event.preventDefault();
    this.text.value = lines.join("/").replace(/\/([bw])$/i, " $1");
    this.#typed();
  }

  #preview(text) {
    const read = readPosition(text, this.view.size);
    if (!read) return;
    this.stones = read.stones;
    this.toMove = read.toMove;
    for (const input of this.sides.querySelectorAll("input")) input.checked = input.value === this.toMove;
    this.draw();
  }

  draw() {
    const { view } = this;
    view.board.show(this.stones, (square) => {
      const own = this.#own(square) === "x" ? "black" : "white";
      return { mark: "editable", label: `${squareName(square, view.size)}, ${
        this.stones[square] ? `${own} stone, remove it` : `empty, put a ${own} stone here`}` };
    });
    view.board.draw([]);
  }

  async #check() {
    this.#canonical = null;
    try {
      const answer = await post("konane/setup", { board: this.view.state.board, position: this.text.value },
        this.#latest.signal());
      this.#canonical = answer.position;
      // The text may be a diagram, which only the program reads.
      if (answer.position !== this.text.value) this.#preview(answer.position);
      this.problem.hidden = true;
      this.use.removeAttribute("aria-disabled");
    } catch (error) {
      if (dropped(error)) return;
      this.use.setAttribute("aria-disabled", "true");
      if (error.status === 0) return;
      this.problem.textContent = capital(error.message);
      this.problem.hidden = false;
    }
  }
}

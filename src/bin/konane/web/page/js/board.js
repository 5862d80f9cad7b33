// The board: a grid of buttons, with a layer for arrows above it. It shows stones and labels and is independent of the
// rules.

import { calm, el, put, svg } from "./dom.js";
import { SIGN } from "./words.js";
import { fileName, isOtherColouring, ownStone, squareName } from "./position.js";

/** Way of the pointer in pixels from which on a stone is dragged. */
const DRAG_DISTANCE = 5;

const STONE = { x: "black", o: "white" };

export class Board {
  #size = null;
  /** True if the board is turned by 180 degrees, so that rank 1 is at the top. */
  #flipped = false;
  #buttons = [];
  #focus = 0;
  #stones = [];
  /** The stone that follows the pointer: `{square, x, y}`, its square and the way of the pointer; null if there is none. */
  #dragged = null;
  /** The square on which a stone has been dropped. */
  #dropped = null;

  /**
   * `pick` is called for chosen squares, `look` for squares under the pointer or with the keyboard focus. `lift` is called
   * for the stone that is going to be dragged, and returns false if it cannot be moved; `drop` for the square where it is
   * dropped, or null.
   */
  constructor({ pick, look, lift, drop }) {
    this.arrows = svg("svg", { class: "arrows", "aria-hidden": "true", focusable: "false" });
    this.grid = el("div", { role: "grid", class: "grid", "aria-label": "Board" });
    this.slab = el("div", { class: "slab" }, grain(), this.grid);
    this.node = el("div", { class: "table" }, this.slab);
    this.pick = pick;
    this.look = look;
    this.lift = lift;
    this.drop = drop;
    this.grid.addEventListener("pointerdown", (event) => this.#press(event));
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    this.grid.addEventListener("mouseleave", () => this.look(null));
    this.grid.addEventListener("focusout", () => this.look(null));
  }

  /** Creates the squares, unless the board has this size and orientation. */
  resize(size, flipped) {
    if (this.#size?.ranks === size.ranks && this.#size?.files === size.files && this.#flipped === flipped) return;
    const hasFocus = this.grid.contains(document.activeElement);
    this.#size = size;
    this.#flipped = flipped;
    this.#stones = [];
    const { ranks, files } = size;
    this.slab.style.setProperty("--ranks", ranks);
    this.slab.style.setProperty("--files", files);
    this.node.style.setProperty("--ranks", ranks);
    this.node.style.setProperty("--files", files);
    this.grid.setAttribute("aria-rowcount", ranks);
    this.grid.setAttribute("aria-colcount", files);
    this.arrows.setAttribute("viewBox", `0 0 ${files} ${ranks}`);
    this.#buttons = [];
    const rows = [];
    for (let row = 0; row < ranks; row += 1) {
      const cells = [];
      for (let column = 0; column < files; column += 1) {
        const square = this.#turn(row * files + column);
        const button = el("button", { type: "button", tabindex: "-1", "data-square": squareName(square, size),
          class: `square own-${STONE[ownStone(square, size)]}`,
          onclick: () => this.#chosen(square),
          onmouseenter: () => this.look(square),
          onfocus: () => this.#focused(square) });
        this.#buttons[square] = button;
        cells.push(el("div", { role: "gridcell", class: "cell" }, button));
      }
      rows.push(el("div", { role: "row", class: "row" }, cells));
    }
    const edge = (count, name, kind) => el("div", { class: `edge ${kind}`, "aria-hidden": "true" },
      Array.from({ length: count }, (_, at) => el("span", {}, name(flipped ? count - 1 - at : at))));
    const rank = (at) => String(ranks - at);
    put(this.grid, rows);
    put(this.slab, grain(), edge(files, fileName, "files north"), edge(ranks, rank, "ranks west"), this.grid, this.arrows,
      edge(ranks, rank, "ranks east"), edge(files, fileName, "files south"));
    this.#focus = Math.min(this.#focus, this.#buttons.length - 1);
    this.#buttons[this.#focus].tabIndex = 0;
    if (hasFocus) this.focus(this.#focus);
  }

  /** Converts a square to its place on the screen in the order of reading, or a place to its square. */
  #turn(square) {
    return this.#flipped ? this.#size.ranks * this.#size.files - 1 - square : square;
  }

  /** Returns row and column of a square on the screen. */
  #place(square) {
    const { files } = this.#size;
    return [Math.floor(this.#turn(square) / files), this.#turn(square) % files];
  }

  /**
   * Shows stones (`x`, `o` or null for each square). `of(square)` returns the other properties of a square:
   * `{label, badge, mark, disabled}`. `moved` is the last move, which is animated.
   */
  show(stones, of, moved = null) {
    const before = this.#stones;
    this.#stones = stones;
    const isOther = isOtherColouring(stones, this.#size);
    for (const [square, button] of this.#buttons.entries()) {
      const { label, badge, mark } = of(square);
      const stone = stones[square];
      button.setAttribute("aria-label", label);
      button.className = `square own-${STONE[ownStone(square, this.#size, isOther)]} ${mark ?? ""}`;
      put(button, stone ? el("span", { class: `stone ${STONE[stone]}` }) : el("span", { class: "pit" }),
        badge ? el("span", { class: `badge ${badge}`, "aria-hidden": "true" }, SIGN[badge]) : null);
    }
    if (moved && before.length === stones.length && !calm.matches) this.#move(before, moved);
    this.#dropped = null;
    this.#follow();
  }

  /** Returns the square at a place of the window; null if there is none. */
  #squareAt(x, y) {
    const button = document.elementFromPoint(x, y)?.closest("[data-square]");
    return button && this.grid.contains(button) ? this.#buttons.indexOf(button) : null;
  }

  /** Lets a stone follow the pointer, once it has moved too far for a click. */
  #press(event) {
    const from = this.#squareAt(event.clientX, event.clientY);
    if (from === null || event.button !== 0 || !event.isPrimary) return;
    const ended = new AbortController();
    const { signal } = ended;
    const { pointerId } = event;
    const end = (square) => {
      ended.abort();
      if (!this.#dragged) return;
      this.#dragged = null;
      this.#dropped = square;
      this.drop(square);
    };
    this.grid.addEventListener("pointermove", ({ clientX, clientY }) => {
      const [x, y] = [clientX - event.clientX, clientY - event.clientY];
      if (!this.#dragged) {
        if (Math.hypot(x, y) < DRAG_DISTANCE) return;
        if (!this.lift(from)) return ended.abort();
        // No click follows on a square.
        this.grid.setPointerCapture(pointerId);
      }
      this.#dragged = { square: from, x, y };
      this.#follow();
    }, { signal });
    addEventListener("pointerup", ({ clientX, clientY }) => end(this.#squareAt(clientX, clientY)), { signal });
    addEventListener("pointercancel", () => end(null), { signal });
  }

  /** Moves the dragged stone to the pointer. */
  #follow() {
    if (!this.#dragged) return;
    const { square, x, y } = this.#dragged;
    const stone = this.#buttons[square]?.querySelector(".stone:not(.ghost)");
    if (!stone) return;
    stone.classList.add("dragged");
    stone.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Animates a move: the moved stone slides, removed stones fade. */
  #move(before, { from, to }) {
    for (const [square, button] of this.#buttons.entries()) {
      if (!before[square] || this.#stones[square] || (square === from && from !== to)) continue;
      const ghost = el("span", { class: `stone ${STONE[before[square]]} ghost` });
      button.append(ghost);
      ghost.animate([{ opacity: 1 }, { opacity: 0, transform: "scale(0.8)" }], 260).onfinish =
        () => ghost.remove();
    }
    const stone = this.#buttons[to]?.querySelector(".stone:not(.ghost)");
    if (from === to || to === this.#dropped || !stone) return;
    const cell = this.#buttons[to].getBoundingClientRect().width;
    const [[row, column], [toRow, toColumn]] = [this.#place(from), this.#place(to)];
    stone.animate([{ transform: `translate(${(column - toColumn) * cell}px, ${(row - toRow) * cell}px)` }, { transform: "none" }],
      { duration: 260, easing: "cubic-bezier(.3,.7,.3,1)" });
  }

  /** Draws moves: `[{from, to, kind}]`, squares and an outcome or `last`. */
  draw(moves) {
    const centre = (square) => {
      const [row, column] = this.#place(square);
      return [column + 0.5, row + 0.5];
    };
    put(this.arrows, moves.map(({ from, to, kind }) => {
      const [[x, y], [toX, toY]] = [centre(from), centre(to)];
      if (from === to) return svg("circle", { class: `ring ${kind}`, cx: x, cy: y, r: 0.4 });
      const length = Math.hypot(toX - x, toY - y);
      const [dx, dy] = [(toX - x) / length, (toY - y) / length];
      const at = (along, aside) => `${(toX - along * dx - aside * dy).toFixed(3)} `
        + `${(toY - along * dy + aside * dx).toFixed(3)}`;
      const shaft = `M${(x + 0.2 * dx).toFixed(3)} ${(y + 0.2 * dy).toFixed(3)}L${at(0.36, 0)}`;
      const head = `M${at(0.08, 0)}L${at(0.42, 0.19)}L${at(0.42, -0.19)}Z`;
      return svg("g", { class: `arrow ${kind}` }, svg("path", { class: "under", d: shaft + head }),
        svg("path", { class: "shaft", d: shaft }), svg("path", { class: "head", d: head }));
    }));
  }

  /** Moves the keyboard focus to a square, by default to that which had it last. */
  focus(square = this.#focus) {
    this.#buttons[square]?.focus();
  }

  #chosen(square) {
    this.#rove(square);
    this.pick(square);
  }

  #focused(square) {
    this.#rove(square);
    this.look(square);
  }

  #rove(square) {
    this.#buttons[this.#focus].tabIndex = -1;
    this.#buttons[square].tabIndex = 0;
    this.#focus = square;
  }

  /** Moves between squares by Shift and an arrow, Home or End. Arrows without Shift step through the game. */
  #key(event) {
    if (event.key === "Escape") this.pick(null);
    const { ranks, files } = this.#size;
    const [row, column] = this.#place(this.#focus);
    const isArrow = event.key.startsWith("Arrow");
    const to = {
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column], Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? ranks - 1 : row, files - 1],
    }[event.key];
    if (!to || isArrow !== event.shiftKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const [toRow, toColumn] = [Math.min(Math.max(to[0], 0), ranks - 1), Math.min(Math.max(to[1], 0), files - 1)];
    this.#buttons[this.#turn(toRow * files + toColumn)].focus();
  }
}

/** Pattern of the wood grain. */
function grain() {
  return svg("svg", { class: "grain", "aria-hidden": "true", focusable: "false" },
    svg("filter", { id: "grain", x: "0", y: "0", width: "100%", height: "100%" },
      svg("feTurbulence", { type: "fractalNoise", baseFrequency: "0.004 0.09", numOctaves: "4", seed: "11" }),
      svg("feColorMatrix", { values: "0 0 0 0 0.22  0 0 0 0 0.11  0 0 0 0 0.03  1.5 0 0 0 -0.62" })),
    svg("rect", { width: "100%", height: "100%", filter: "url(#grain)" }));
}

/** Returns a small picture of a position, with squares marked in the given order. */
export function miniature(stones, size, marks = []) {
  const { ranks, files } = size;
  return svg("svg", { class: "miniature", viewBox: `-0.25 -0.25 ${files + 0.5} ${ranks + 0.5}`, "aria-hidden": "true" },
    svg("rect", { class: "wood", x: -0.25, y: -0.25, width: files + 0.5, height: ranks + 0.5, rx: 0.3 }),
    stones.map((stone, square) => svg("circle", { class: stone ? STONE[stone] : "pit",
      cx: (square % files) + 0.5, cy: Math.floor(square / files) + 0.5, r: stone ? 0.4 : 0.28 })),
    marks.map((square, at) => svg("text", { x: (square % files) + 0.5,
      y: Math.floor(square / files) + 0.5, dy: "0.24" }, String(at + 1))));
}

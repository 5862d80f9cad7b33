// Game records as files (docs/GAME_FORMAT.md): headers, an empty line, and the moves.

import { announce, el } from "./dom.js";
import { MAX_LINES, items, others, tree } from "./lines.js";
import { dimensions } from "./position.js";
import { go, link } from "./state.js";
import { bytes, firstSide, quote, turnNumber } from "./words.js";

/** Maximum size of a file in bytes, the same as for the program. */
const MAX_BYTES = 1 << 20;

/** Maximum number of squares of a board, and of moves of a game. */
const MAX_SQUARES = 64;

/**
 * Parts of a line of moves, outside of comments: a brace, a parenthesis, the beginning of a remark, a NAG, a score, the
 * number of a turn, or any other word. The time is linear in the length of the line.
 */
const TOKEN = /[{}()#]|\$\d*|[01][-\u2010-\u2015\u2212][01]|\d+\.*|[^\s,{}()#$]+/g;
/** A removal or a jump with its landing squares, followed by marks. */
const MOVE = /^([a-z]{1,2}\d{1,2})(?:-?[a-z]{1,2}\d{1,2})*?(?:-?([a-z]{1,2}\d{1,2}))?[?!~]*$/i;
/** Words that are not moves: NAGs, scores, numbers, resignations. */
const SKIPPED = /^([$\d].*|[!?]+|\*|black|white|resigns\.?)$/i;

/**
 * Name and value of a header, `Name: value` or, as in records of chess, `[Name "value"]`; null for any other line.
 * Looks at each character a bounded number of times: a regular expression with optional spaces on both sides of the
 * value takes quadratic time.
 */
function readHeader(line) {
  const text = line.trim().replace(/^\[/, "").trimStart();
  const [name] = /^[a-z][a-z\d_-]*/i.exec(text) ?? [];
  if (!name) return null;
  const behind = text.slice(name.length);
  const value = behind.trimStart();
  if (value.startsWith(":")) return [name, value.slice(1).trim()];
  if (!value.startsWith('"') || value === behind) return null;
  return [name, value.slice(1).replace(/\]$/, "").trimEnd().replace(/"$/, "").trim()];
}

/**
 * Parses a record. Accepts everything that the program accepts, with the same meaning, and some texts that it rejects:
 * no empty line after the headers, commas between moves, other move numbers. `board` is that of a record without one.
 * Variations become other lines; one with a word that is not a move is skipped. The program checks that the moves are
 * legal. Throws an error that names the line.
 */
export function readRecord(text, board = "") {
  const record = { board: "", pos: "", moves: [], also: [] };
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  // Number of the line in which the comment that is open begins, 0 outside of comments.
  let comment = 0;
  // Moves of the current variation, null if it is skipped, and of those around it. The line in which the first of them begins.
  let [current, variation] = [record.moves, 0];
  const outer = [];
  let phase = "";
  for (const [at, line] of lines.entries()) {
    const header = comment || outer.length || record.moves.length ? null : readHeader(line);
    if (header) {
      const [name, value] = header;
      if (/^board$/i.test(name)) record.board = value.toLowerCase().replace("\u00d7", "x");
      else if (/^position$/i.test(name)) record.pos = value;
      else if (/^phase$/i.test(name) && /^jump$/i.test(value)) phase = " jump";
      continue;
    }
    TOKEN.lastIndex = 0;
    for (;;) {
      if (comment) {
        TOKEN.lastIndex = line.indexOf("}", TOKEN.lastIndex) + 1;
        if (TOKEN.lastIndex === 0) break;
        comment = 0;
      }
      const [token] = TOKEN.exec(line) ?? [];
      if (!token || token === "#") break;
      if (token === "{") {
        comment = at + 1;
      } else if (token === "}") {
        throw new Error(`Line ${at + 1}: there is no opening brace before this closing brace.`);
      } else if (token === "(") {
        if (/^\(\s*\d+\s*,\s*\d+\s*\)/.test(line.slice(TOKEN.lastIndex - 1))) {
          throw new Error(`Line ${at + 1}: a row and a column in parentheses are not a square. Moves look like c3 or c3-c5.`);
        }
        if (!outer.length) variation = at + 1;
        outer.push(current);
        current = current && current.length <= MAX_SQUARES ? current.slice(0, -1) : null;
      } else if (token === ")") {
        if (!outer.length) throw new Error(`Line ${at + 1}: there is no variation before this closing parenthesis.`);
        if (current && record.also.length < MAX_LINES) record.also.push(current);
        current = outer.pop();
      } else if (!SKIPPED.test(token)) {
        const match = MOVE.exec(token.replace(/[\u2010-\u2015\u2212]/g, "-"));
        if (match) {
          current?.push(match.slice(1).filter(Boolean).join("-").toLowerCase());
        } else if (outer.length) {
          current = null;
        } else {
          throw new Error(`Line ${at + 1}: "${quote(token)}" is not a move. Moves look like c3 or c3-c5.`);
        }
      }
    }
  }
  if (comment) throw new Error(`Line ${comment}: a comment begins here, and its closing brace is missing.`);
  if (outer.length) throw new Error(`Line ${variation}: a variation begins here, and its closing parenthesis is missing.`);
  if (record.pos && !/ jump$/i.test(record.pos)) record.pos += phase;
  record.board ||= board;
  const size = dimensions(record.board);
  if (!size) {
    throw new Error(record.board ? `Board: "${quote(record.board)}" is not a board: write ranks x files, such as 6x6, with `
      + "up to 64 squares." : "The file has no board: begin it with a line such as Board: 6x6.");
  }
  // Each move removes at least one stone.
  const { ranks, files } = size;
  if (record.moves.length > ranks * files) {
    throw new Error(`The record has ${record.moves.length} moves. A game on ${record.board} has at most ${ranks * files}.`);
  }
  record.also = others(record.moves, record.also.filter((moves) => moves.length <= ranks * files));
  return record;
}

/** Returns the text of a record. */
export function writeRecord({ board, pos, moves, also }) {
  const headers = [`Board: ${board}`, ...(pos ? [`Position: ${pos}`] : [])];
  const words = (all) => all.flatMap((item) => {
    if (!Array.isArray(item)) {
      const { node: { move, line }, after } = item;
      return `${turnNumber(line.length - 1, firstSide(pos), after)} ${move}`.trim();
    }
    const inner = words(item);
    return inner.with(0, `(${inner[0]}`).with(-1, `${inner.length > 1 ? inner.at(-1) : `(${inner[0]}`})`);
  });
  const lines = [""];
  for (const word of words(items(tree([moves, ...also]), false))) {
    const last = lines.at(-1);
    if (last && last.length + word.length >= 78) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return `${[...headers, "", ...lines].join("\n").trimEnd()}\n`;
}

export class Records {
  constructor(view) {
    this.view = view;
    this.said = el("p", { class: "hint", role: "status" });
    this.file = el("input", { type: "file", id: "record-file", class: "unseen", accept: ".txt,.konane,text/plain",
      onchange: () => this.#load() });
    this.node = el("div", { class: "buttons", role: "group", "aria-label": "Keep this game" },
      el("button", { type: "button", onclick: () => this.#copy() }, "Copy link"),
      el("button", { type: "button", onclick: () => this.#save() }, "Save game"),
      this.file, el("label", { for: "record-file", class: "button" }, "Load game"));
  }

  #say(text) {
    this.said.textContent = text;
    announce(text);
  }

  async #copy() {
    const address = location.href.replace(/#.*$/, "") + link({});
    try {
      await navigator.clipboard.writeText(address);
      this.#say("The link is copied. It contains the position and the game so far.");
    } catch {
      this.#say(address);
    }
  }

  #save() {
    const { state } = this.view;
    const url = URL.createObjectURL(new Blob([writeRecord(state)], { type: "text/plain" }));
    el("a", { href: url, download: `konane-${state.board}.txt` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    this.#say("The game is saved as a text file.");
  }

  async #load() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    try {
      if (file.size > MAX_BYTES) throw new Error(`The file has ${bytes(file.size)}. A game record has at most ${bytes(MAX_BYTES)}.`);
      const record = readRecord(await file.text(), this.view.state.board);
      go({ ...record, at: record.moves.length });
      this.#say(`${file.name}: ${record.moves.length} moves on ${record.board}.`);
    } catch (error) {
      this.#say(error.message);
    }
  }
}

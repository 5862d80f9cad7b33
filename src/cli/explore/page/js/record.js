// Records of games as files (docs/GAME_FORMAT.md): headers, an empty line, and the moves.

import { announce, el } from "./dom.js";
import { dimensions } from "./position.js";
import { go, link } from "./state.js";

/** Bytes of a file, as many as the program reads. */
const MOST = 1 << 20;
/** `Name: value`; as in records of chess, `[Name "value"]` too. */
const HEADER = /^\s*\[?\s*([a-z][a-z\d_-]*)\s*(?::\s*|\s+")(.*?)"?\s*\]?\s*$/i;
const MOVE = /^([a-z]{1,2}\d{1,2})(?:-?([a-z]{1,2}\d{1,2}))?$/i;

/**
 * Reads a record: all that the program reads, and what can be understood besides. Throws an error that names the place
 * otherwise.
 */
export function readRecord(text) {
  const record = { board: "", pos: "", moves: [] };
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  let comment = false;
  for (const [at, line] of lines.entries()) {
    const place = `line ${at + 1}`;
    const header = comment ? null : HEADER.exec(line);
    if (header && !record.moves.length) {
      const [, name, value] = header;
      if (/^board$/i.test(name)) record.board = value.trim().toLowerCase().replace("\u00d7", "x");
      else if (/^position$/i.test(name)) record.pos = value.trim();
      continue;
    }
    // Comments in braces may go over several lines; # begins one up to the end of the line. Numbers and comments need
    // no space around them.
    const words = line.replace(/[{}]/g, " $& ").replace(/#/g, " #").split(/[\s,]+/).filter(Boolean);
    for (const word of words) {
      if (!comment && word.startsWith("#")) break;
      if (word === "{") comment = true;
      else if (word === "}") comment = false;
      else if (!comment) {
        const bare = word.replace(/^\d+\.*/, "").replace(/[?!~]+$/, "");
        const match = MOVE.exec(bare);
        if (match) record.moves.push(match[2] ? `${match[1]}-${match[2]}`.toLowerCase() : match[1].toLowerCase());
        else if (bare) throw new Error(`${place}: "${word}" is no move. Moves look like c3 or c3-c5.`);
      }
    }
  }
  if (!dimensions(record.board)) {
    throw new Error("The file has no board: it should begin with a line such as Board: 6x6.");
  }
  return record;
}

/** The text of a record. `toMove` is the side that makes the first move. */
export function writeRecord({ board, pos, moves }, toMove) {
  const headers = [`Board: ${board}`, ...(pos ? [`Position: ${pos}`] : [])];
  const second = toMove === "white" ? 1 : 0;
  const words = moves.map((move, ply) => {
    const turn = Math.floor((ply + second) / 2) + 1;
    const black = (ply + second) % 2 === 0;
    return black ? `${turn}. ${move}` : ply === 0 ? `${turn}... ${move}` : move;
  });
  const lines = [""];
  for (const word of words) {
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
      this.#say("The link is copied. It holds the position and the game so far.");
    } catch {
      this.#say(address);
    }
  }

  #save() {
    const { state } = this.view;
    const first = state.pos.endsWith(" w") ? "white" : "black";
    const url = URL.createObjectURL(new Blob([writeRecord(state, first)], { type: "text/plain" }));
    el("a", { href: url, download: `konane-${state.board}.txt` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    this.#say("The game is saved as a text file.");
  }

  async #load() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    try {
      if (file.size > MOST) throw new Error("This file is too large for a game.");
      const record = readRecord(await file.text());
      go({ ...record, at: record.moves.length });
      this.#say(`${file.name}: ${record.moves.length} moves on ${record.board}.`);
    } catch (error) {
      this.#say(error.message);
    }
  }
}

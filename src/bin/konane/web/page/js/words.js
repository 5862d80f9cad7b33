// Texts for outcomes, colours and amounts.

import { el, unseen } from "./dom.js";

/** Signs of outcomes. They differ by shape, so that they do not depend on colours. */
export const SIGN = { win: "\u2713", loss: "\u2717", unknown: "?" };
export const VERB = { win: "wins", loss: "loses", unknown: "not decided" };

/** Outcome classes: the winner, if either player may begin. */
const CLASS = {
  L: "Black wins, as first and as second player",
  R: "White wins, as first and as second player",
  N: "the player who begins wins",
  P: "the player who begins loses",
};

const SOURCE = {
  database: "looked up in a database",
  proof: "from a proof file, not verified",
  search: "found by search",
  rules: "by the rules: there is no move",
  file: "from the file of Grundy numbers",
};

export function outcomeOf(judged) {
  return judged.outcome in SIGN ? judged.outcome : "unknown";
}

/** Creates a coloured sign of an outcome. Screen readers read the word. */
export function badge(outcome, hidden = false) {
  return el("span", { class: `badge ${outcome}`, "aria-hidden": hidden ? "true" : undefined },
    hidden ? SIGN[outcome]
      : [el("span", { "aria-hidden": "true" }, SIGN[outcome]), unseen(VERB[outcome])]);
}

/** Returns an outcome class in words; empty if it is unknown. */
export function classText(name) {
  return name ? `Class ${name}: ${CLASS[name]}.` : "";
}

export function sourceText(source) {
  return source ? SOURCE[source] ?? source : "";
}

export function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}

export function other(colour) {
  return colour === "black" ? "white" : "black";
}

/** Returns the winner for an outcome of the side to move, or `unknown`. */
export function winner(outcome, toMove) {
  if (outcome === "win") return toMove;
  return outcome === "loss" ? other(toMove) : "unknown";
}

/** Returns the side that moves first from a position; from the start of the game, which is an empty text, Black. */
export function firstSide(pos) {
  return / w( jump)?$/.test(pos) ? "white" : "black";
}

/**
 * Returns the number before a ply in a game record: `1.` before a move of Black, `1...` before a first move of White, or
 * `after` a variation, and an empty text before other moves of White. Plies are counted from 0.
 */
export function turnNumber(ply, first, after = false) {
  const place = first === "white" ? ply + 1 : ply;
  const turn = Math.floor(place / 2) + 1;
  if (place % 2 === 0) return `${turn}.`;
  return ply === 0 || after ? `${turn}...` : "";
}

/** Returns the beginning of a text from the user, for messages. */
export function quote(text) {
  return text.length > 40 ? `${text.slice(0, 40)}\u2026` : text;
}

/** Returns a list of moves as text, with at most four of them by name. */
export function some(moves) {
  return moves.slice(0, 4).join(", ") + (moves.length > 4 ? ` and ${moves.length - 4} more` : "");
}

export function plies(n) {
  return n === 1 ? "1 ply" : `${n} plies`;
}

export function number(n) {
  return Number(n).toLocaleString("en-GB");
}

/** 1234567 as 1.23 M. */
export function amount(n) {
  const [value, unit] = inUnits(n, 1000, ["", " k", " M", " G", " T"]);
  const isWhole = unit === "" && Number.isInteger(value);
  return value.toFixed(isWhole ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0) + unit;
}

/** Returns a size in the largest binary unit that is not larger than the size, like the program. */
export function bytes(n) {
  const [value, unit] = inUnits(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
  return `${value.toFixed(2).replace(/\.00$/, "")} ${unit}`;
}

/** A number divided by `base` until it rounds to less than it, and its unit. */
function inUnits(n, base, units) {
  let [value, index] = [Number(n), 0];
  while (value >= base - 0.5 && index < units.length - 1) {
    value /= base;
    index += 1;
  }
  return [value, units[index]];
}

/** `c4-c2` or `c3`: where it starts and where it ends. A removal ends where it starts. */
export function ends(move) {
  const [from, to] = move.split("-");
  return [from, to ?? from];
}

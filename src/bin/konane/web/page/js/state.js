// The state of the page, which is stored in its address.
//
// #game=konane&board=5x5&pos=xoxox/..._w&moves=c3,c4&at=1&also=c3,d3&tab=moves   or   #game=sprouts&pos=0*5
//
// `also` has the other lines of the game, separated by semicolons.

import { MAX_LINES, others } from "./lines.js";

/** On 5x5 Black wins from the start, and the program knows it at once. */
const DEFAULTS = {
  konane: { game: "konane", board: "5x5", pos: "", moves: [], also: [], at: 0, tab: "moves", play: "",
    level: "", warn: "", values: "", flip: "" },
  sprouts: { game: "sprouts", pos: "0*4", rule: "", tab: "moves", play: "", values: "" },
};

/** Maximum number of moves that are read. More than a game can have, so that the program rejects longer games. */
const MAX_MOVES = 66;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encode(text) {
  return encodeURIComponent(text).replace(/%2F/g, "/").replace(/%2C/g, ",").replace(/%7C/g, "|")
    .replace(/%3B/g, ";").replace(/%40/g, "@").replace(/%20/g, "_");
}

/** Parses an address. Unknown parts are ignored; no address is rejected. */
export function parse(hash) {
  const given = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) given[part.slice(0, at)] = decode(part.slice(at + 1));
  }
  const state = structuredClone(DEFAULTS[given.game === "sprouts" ? "sprouts" : "konane"]);
  for (const name of Object.keys(state)) {
    if (name !== "game" && typeof state[name] === "string" && name in given) state[name] = given[name];
  }
  state.pos = state.pos.replace(/_/g, " ").trim();
  if (state.game === "konane") {
    state.board = state.board.trim().toLowerCase().replace(/[×*]/, "x");
    const line = (text) => text.split(/[,\s_]+/, MAX_MOVES).filter(Boolean);
    state.moves = line(given.moves ?? "");
    state.also = others(state.moves, (given.also ?? "").split(";", MAX_LINES).map(line));
    const at = Number.parseInt(given.at ?? "", 10);
    state.at = Number.isNaN(at) ? state.moves.length
      : Math.min(Math.max(at, 0), state.moves.length);
  }
  return state;
}

/** Returns the fragment of a state, from `#` on. Default values are omitted. */
export function format(state) {
  const defaults = DEFAULTS[state.game];
  const parts = [`game=${state.game}`];
  if (state.game === "konane") parts.push(`board=${encode(state.board)}`);
  if (state.pos) parts.push(`pos=${encode(state.pos)}`);
  if (state.moves?.length) {
    parts.push(`moves=${encode(state.moves.join(","))}`);
    if (state.at !== state.moves.length) parts.push(`at=${state.at}`);
  }
  if (state.also?.length) parts.push(`also=${encode(state.also.join(";"))}`);
  for (const name of ["rule", "tab", "play", "level", "warn", "values", "flip"]) {
    if (state[name] && state[name] !== defaults[name]) parts.push(`${name}=${encode(state[name])}`);
  }
  return `#${parts.join("&")}`;
}

let current = parse(location.hash);
const listeners = [];

export function state() {
  return current;
}

/** Registers a callback for every change of the address by the page or the browser. */
export function listen(listener) {
  listeners.push(listener);
}

/** Returns a state with changes. When the moves change, the current line remains as another one. */
function changed(base, patch) {
  const next = { ...base, ...patch };
  if (!patch.moves || patch.also) return next;
  const isSame = next.board === base.board && next.pos === base.pos;
  return { ...next, also: isSame ? others(next.moves, [base.moves, ...base.also]) : [] };
}

/** Returns the address of the current state with changes, for links. */
export function link(patch) {
  return format(changed(current, patch));
}

/**
 * Changes the state. A new position becomes an entry in the browser's history; another view of the same position
 * (`replace`) does not.
 */
export function go(patch, { replace = false } = {}) {
  const game = patch.game ?? current.game;
  const base = game === current.game ? current : structuredClone(DEFAULTS[game]);
  const hash = format(changed(base, patch));
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
  arrived();
}

function arrived() {
  current = parse(location.hash);
  for (const listener of listeners) listener(current);
}

addEventListener("popstate", arrived);
addEventListener("hashchange", () => {
  // `popstate` has already been handled if the browser went back or a link was followed.
  if (format(current) !== format(parse(location.hash))) arrived();
});

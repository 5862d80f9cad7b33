// Positions and the values of their moves. Complete answers are cached. Incomplete ones are requested again, and the
// program continues its search.

import { Latest, dropped, get } from "./api.js";
import { dimensions, startStones, writePosition } from "./position.js";
import { outcomeOf } from "./words.js";

const KEPT = 2000;
const answers = new Map();
const texts = new Map();

/** Search time of the first request about a position, in milliseconds. */
const FIRST_TIME = 150;

/** The request that was sent before the view was loaded: its key and answer; null if there is none. */
let early = null;

function key(board, pos, moves) {
  return `${board};${pos};${moves.join(",")}`;
}

function keep(map, name, value) {
  map.delete(name);
  map.set(name, value);
  if (map.size > KEPT) map.delete(map.keys().next().value);
}

/** Returns the cached answer, complete or not. */
export function known(board, pos, moves) {
  return answers.get(key(board, pos, moves));
}

/** Returns the text of the position after some moves, if it is the start or an earlier answer contains it. */
export function textAfter(board, pos, moves) {
  const size = dimensions(board);
  if (!pos && !moves.length) return writePosition(startStones(size), "black", size);
  return texts.get(key(board, pos, moves));
}

/**
 * Returns the last of these moves if it gave a won position away: `{ply, side, move, better}`, with the winning moves
 * instead of it. Returns null if it did not, or while the values are unknown.
 */
export function mistake(board, pos, moves) {
  const [ply, move] = [moves.length - 1, moves.at(-1)];
  const before = move && known(board, pos, moves.slice(0, -1));
  if (!before || outcomeOf(before) !== "win") return null;
  const value = before.moves.find((judged) => judged.move === move);
  const after = known(board, pos, moves);
  const isLost = value && outcomeOf(value) === "loss" || after && outcomeOf(after) === "win";
  const better = before.moves.filter((judged) => outcomeOf(judged) === "win").map((judged) => judged.move);
  return isLost ? { ply, side: before.to_move, move, better } : null;
}

/** Sends one request, with a search of at most `time` milliseconds. */
export async function judge(board, pos, moves, time, signal) {
  const before = known(board, pos, moves);
  if (before?.complete) return before;
  if (early?.key === key(board, pos, moves)) {
    const { answer } = early;
    early = null;
    return answer;
  }
  const answer = await get("konane/position",
    { board, position: pos, moves: moves.join(","), time }, signal);
  keep(answers, key(board, pos, moves), answer);
  keep(texts, key(board, pos, moves), answer.position);
  for (const { move, after } of answer.moves) keep(texts, key(board, pos, [...moves, move]), after);
  return answer;
}

/** Forgets all values, since they may be known better. */
export function forget() {
  answers.clear();
}

/** Requests the values of the first position, while the view that shows them is loaded. */
export function begin(board, pos, moves) {
  const answer = judge(board, pos, moves, FIRST_TIME);
  early = { key: key(board, pos, moves), answer };
  // The answer is stored when it arrives. An error is shown by the view.
  answer.then(() => {
    early = null;
  }, () => {});
}

/** Repeats requests about one position until all values are known or the page shows another position. */
export class Judge {
  #latest = new Latest();
  #paused = false;

  /**
   * `show(answer)` is called for every answer, `failed(error)` for an error, and `working(status)` with
   * `working`, `stopped` or `done`.
   */
  constructor({ show, failed, working }) {
    this.show = show;
    this.failed = failed;
    this.working = working;
  }

  async ask(board, pos, moves) {
    const signal = this.#latest.signal();
    const last = known(board, pos, moves);
    if (last) this.show(last);
    if (last?.complete) return this.working("done");
    this.working("working");
    let [time, pause] = [last ? 500 : FIRST_TIME, 20];
    try {
      for (;;) {
        const answer = await judge(board, pos, moves, time, signal);
        signal.throwIfAborted();
        this.show(answer);
        if (answer.complete) return this.working("done");
        if (this.#paused) return this.working("stopped");
        await sleep(pause, signal);
        await visible(signal);
        [time, pause] = [Math.min(2 * time, 2000), Math.min(1.5 * pause, 8000)];
      }
    } catch (error) {
      if (dropped(error)) return undefined;
      this.working("stopped");
      return this.failed(error);
    }
  }

  /** Pauses or resumes requests. */
  pause(paused) {
    this.#paused = paused;
    if (paused) {
      this.#latest.stop();
      this.working("stopped");
    }
  }

  get paused() {
    return this.#paused;
  }

  /** Stops requests without a message. */
  stop() {
    this.#latest.stop();
    this.working("done");
  }
}

function aborted() {
  return new DOMException("", "AbortError");
}

/** Waits for a time. Rejects if the signal aborts first. */
export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(aborted());
    });
  });
}

/** Waits until the page is visible. */
export function visible(signal) {
  if (!document.hidden) return undefined;
  return new Promise((resolve, reject) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
    signal.addEventListener("abort", () => reject(aborted()));
  });
}

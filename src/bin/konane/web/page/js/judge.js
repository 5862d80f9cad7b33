// Positions and what is known of their moves. Answers that are complete are kept; of the others the
// page asks again, as the program goes on where it was.

import { Latest, dropped, get } from "./api.js";

const KEPT = 2000;
const answers = new Map();
const texts = new Map();

function key(board, pos, moves) {
  return `${board};${pos};${moves.join(",")}`;
}

function keep(map, name, value) {
  map.delete(name);
  map.set(name, value);
  if (map.size > KEPT) map.delete(map.keys().next().value);
}

/** What is known already, complete or not. */
export function known(board, pos, moves) {
  return answers.get(key(board, pos, moves));
}

/** The text of the position after some moves, where an earlier answer has told it. */
export function textAfter(board, pos, moves) {
  return texts.get(key(board, pos, moves));
}

/** Asks once, and has the program look at the position for `time` milliseconds at most. */
export async function judge(board, pos, moves, time, signal) {
  const before = known(board, pos, moves);
  if (before?.complete) return before;
  const answer = await get("konane/position",
    { board, position: pos, moves: moves.join(","), time }, signal);
  keep(answers, key(board, pos, moves), answer);
  keep(texts, key(board, pos, moves), answer.position);
  for (const { move, after } of answer.moves) keep(texts, key(board, pos, [...moves, move]), after);
  return answer;
}

/** Asks about one position until everything about it is known, or nobody wants to know. */
export class Judge {
  #latest = new Latest();
  #paused = false;

  /**
   * `show(answer)` hears of every answer, `failed(error)` of an error, `working(status)` of
   * `working`, `stopped` and `done`.
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
    let [time, pause] = [last ? 500 : 150, 50];
    try {
      for (;;) {
        const answer = await judge(board, pos, moves, time, signal);
        signal.throwIfAborted();
        this.show(answer);
        if (answer.complete) return this.working("done");
        if (this.#paused) return this.working("stopped");
        await sleep(pause, signal);
        await visible(signal);
        [time, pause] = [Math.min(2 * time, 2000), Math.min(1.4 * pause, 8000)];
      }
    } catch (error) {
      if (dropped(error)) return undefined;
      this.working("stopped");
      return this.failed(error);
    }
  }

  /** Leaves positions undecided, or goes on with them. */
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

  /** Asks no more, and says nothing of it. */
  stop() {
    this.#latest.stop();
    this.working("done");
  }
}

function aborted() {
  return new DOMException("", "AbortError");
}

/** Waits, unless the signal comes first. */
export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(aborted());
    });
  });
}

/** Waits until somebody can see the page. */
function visible(signal) {
  if (!document.hidden) return undefined;
  return new Promise((resolve, reject) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
    signal.addEventListener("abort", () => reject(aborted()));
  });
}

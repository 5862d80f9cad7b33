// Lines of a game: the current one, and others that leave it. Each is a list of moves from the first position on.

/** Maximum number of other lines that are kept. */
export const MAX_LINES = 24;

function begins(line, moves) {
  return moves.every((move, at) => line[at] === move);
}

/** Returns the lines that are not the beginning of another one or of the current line. */
export function others(current, lines) {
  const isNew = (line, at) => line.length > 0 && !begins(current, line)
    && !lines.some((other, index) => begins(other, line) && (other.length > line.length || index < at));
  return lines.filter(isNew).slice(0, MAX_LINES);
}

/**
 * Returns the lines as a tree: a list of continuations `{move, line, then}`, where `line` has the moves up to this one,
 * and `then` is again a list. The first continuation is that of the current line, wherever it has one.
 */
export function tree(lines) {
  const root = { then: [] };
  for (const moves of lines) {
    let node = root;
    for (const [ply, move] of moves.entries()) {
      let next = node.then.find((child) => child.move === move);
      if (!next) node.then.push(next = { move, line: moves.slice(0, ply + 1), then: [] });
      node = next;
    }
  }
  return root.then;
}

/**
 * Returns the items of a record in its order: moves `{node, after}` and variations, which are lists of items. `after` is
 * true if a number has to be repeated: at the beginning, and after a variation.
 */
export function items([main, ...variations], after = true) {
  if (!main) return [];
  const branches = variations.map((node) => items([node]));
  return [{ node: main, after }, ...branches, ...items(main.then, branches.length > 0)];
}

/** Returns the moves of a node, continued by the first moves behind it. */
export function lineOf({ line, then }) {
  return then.length ? lineOf(then[0]) : line;
}

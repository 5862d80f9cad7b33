// Names of squares and parsing and formatting of positions. Only the program implements the rules.

/** a, b, .. z, aa, ab .. */
export function fileName(file) {
  const last = String.fromCharCode(97 + (file % 26));
  return file < 26 ? last : fileName(Math.floor(file / 26) - 1) + last;
}

/** Returns ranks and files of a text such as `6x6`, or null if it is not a board. */
export function dimensions(board) {
  const match = /^([1-9]\d?)x([1-9]\d?)$/.exec(board);
  if (!match) return null;
  const [ranks, files] = [Number(match[1]), Number(match[2])];
  return ranks * files <= 64 ? { ranks, files } : null;
}

/** Returns the name of a square. Squares are numbered by rows from the top left. */
export function squareName(square, { ranks, files }) {
  return fileName(square % files) + (ranks - Math.floor(square / files));
}

/** Returns the numbers of all squares by name. */
export function squareNumbers(size) {
  const numbers = new Map();
  for (let square = 0; square < size.ranks * size.files; square += 1) {
    numbers.set(squareName(square, size), square);
  }
  return numbers;
}

/** Returns the stone of a square's colour: black at the top left, or white with the other colouring, then alternating. */
export function ownStone(square, { files }, isOther = false) {
  const isEven = (Math.floor(square / files) + (square % files)) % 2 === 0;
  return isEven !== isOther ? "x" : "o";
}

/** Returns true if the stones stand on squares of the other colour. */
export function isOtherColouring(stones, size) {
  return stones.some((stone, square) => stone && stone !== ownStone(square, size));
}

/**
 * Parses a position to its stones, `x`, `o` or null for each square, and the side to move. Returns null if the text
 * does not fit the board; the program returns the error message.
 */
export function readPosition(text, size) {
  const [rows, side] = text.trim().split(/\s+/);
  const ranks = (rows ?? "").split("/");
  if (ranks.length !== size.ranks || (side !== "b" && side !== "w")) return null;
  const stones = [];
  for (const rank of ranks) {
    const from = stones.length;
    for (const [part] of rank.matchAll(/\d+|[\s\S]/g)) {
      if (part === "x" || part === "o") stones.push(part);
      else if (/^\d+$/.test(part) && part <= size.files) {
        stones.push(...Array(Number(part)).fill(null));
      } else return null;
    }
    if (stones.length - from !== size.files) return null;
  }
  return { stones, toMove: side === "b" ? "black" : "white" };
}

export function writePosition(stones, toMove, { ranks, files }) {
  const rows = [];
  for (let rank = 0; rank < ranks; rank += 1) {
    const row = stones.slice(rank * files, (rank + 1) * files);
    rows.push(row.map((stone) => stone ?? "-").join("").replace(/-+/g, (run) => run.length));
  }
  return `${rows.join("/")} ${toMove === "black" ? "b" : "w"}`;
}

/** Returns the stones of the start position. */
export function startStones(size) {
  return Array.from({ length: size.ranks * size.files }, (_, square) => ownStone(square, size));
}

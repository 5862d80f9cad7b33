// The curves that can be played in a drawing, and the positions to which they lead.

import { get, post } from "./api.js";
import { curveEnds, lengthsOf, movesOf, textAfter, trace } from "./drawing.js";
import { relax } from "./relax.js";
import { Mesh } from "./route.js";

/** Maximum number of characters in the texts of a request. The program accepts 16 KiB. */
const MAX_TEXTS = 12_000;

/** Returns the canonical texts of positions. */
export async function canonical(texts, signal) {
  const found = [];
  for (let start = 0; start < texts.length;) {
    let [end, size] = [start, 0];
    while (end < texts.length && (end === start || size + texts[end].length + 3 < MAX_TEXTS)) size += texts[end++].length + 3;
    found.push(...(await post("sprouts/canonical", { positions: texts.slice(start, end) }, signal)).canonical);
    start = end;
  }
  return found;
}

export class Curves {
  /** Finds the moves of a drawing by the canonical texts of the positions after them. */
  static async of(drawing, signal) {
    const found = new Curves();
    found.drawing = drawing;
    found.regions = trace(drawing);
    found.ends = curveEnds(drawing);
    found.moves = movesOf(found.regions, found.ends);
    const byText = new Map(found.moves.map((move) => [textAfter(found.regions, found.ends, move), move]).reverse());
    const texts = [...byText.keys()];
    const names = await canonical(texts, signal);
    found.byName = new Map(names.map((name, at) => [name, byText.get(texts[at])]));
    return found;
  }

  /**
   * Matches the moves that the program lists, which are those of a simplified position. Where a move of the drawing and
   * a listed one differ, they are matched by Grundy number.
   */
  async match(children, signal) {
    const listed = new Set(children.map((child) => child.position));
    const missing = children.filter((child) => !this.byName.has(child.position) && Number.isInteger(child.grundy));
    if (!missing.length) return;
    const others = [];
    for (const name of this.byName.keys()) {
      if (!listed.has(name)) others.push({ name, grundy: (await get("sprouts/position", { position: name }, signal)).grundy });
    }
    for (const child of missing) {
      const equal = others.find(({ grundy }) => grundy === child.grundy);
      if (equal) this.byName.set(child.position, this.byName.get(equal.name));
    }
  }

  /** The curve of a move; null if other curves are too close to each other. */
  #curve(move) {
    try {
      const { spots, curves } = this.drawing;
      const curve = new Mesh(this.drawing).curve(this.regions, move, this.ends);
      relax({ spots, curves: [...curves, curve] }, 24, 3, curve);
      return curve;
    } catch {
      return null;
    }
  }

  /** A curve that leads to the position with this canonical text; null if none is known. */
  curve(name) {
    const move = this.byName.get(name);
    return move ? this.#curve(move) : null;
  }

  /** The shortest curve between two spots, on whatever side of other boundaries; null if there is none. */
  between(from, to) {
    const spot = (move, [boundary, corner]) => this.regions[move.region][boundary][corner].spot;
    const between = this.moves.filter((move) => {
      const [a, b] = [spot(move, move.from), spot(move, move.to)];
      return !move.right.length && (a === from && b === to || a === to && b === from);
    });
    const length = (curve) => lengthsOf(curve).reduce((sum, one) => sum + one, 0);
    const curves = between.map((move) => this.#curve({ ...move, right: from === to ? [] : null })).filter(Boolean);
    return curves.sort((a, b) => length(a) - length(b))[0] ?? null;
  }
}

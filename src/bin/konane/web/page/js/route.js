// Routes for curves of Sprouts: a triangulation of the paper around a drawing, and shortest paths in it. No DOM.
//
// A route crosses edges of triangles, never a curve. Where it crosses an edge, the edge is divided, so that there is a
// route between any two corners of a region, however narrow the region is.

import { PAPER, along, closest, distance, middle, segments, turn } from "./drawing.js";

/** Distance between the points that are added to the triangulation in free areas. */
const GRID = 22;

/** Added to the length of a route for each crossed edge, times its own reciprocal length: narrow passages are avoided. */
const NARROW = 60;

/** Maximum number of steps of a loop that ends unless points are closer than numbers can tell. */
const MAX_TRIES = 20_000;
const TOO_CLOSE = "curves are too close to each other for another one";

/** Number of corners of the paper. They are the first points of a triangulation. */
const FRAME = 4;

/** Key of a directed edge between points below 2^16. */
const key = (u, v) => u * 65536 + v;

/** Returns true if p lies inside the circle through a, b, c, which turn counter-clockwise. */
function inCircle(a, b, c, p) {
  const [ax, ay, bx, by, cx, cy] = [a.x - p.x, a.y - p.y, b.x - p.x, b.y - p.y, c.x - p.x, c.y - p.y];
  const [a2, b2, c2] = [ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy];
  return ax * (by * c2 - b2 * cy) - ay * (bx * c2 - b2 * cx) + a2 * (bx * cy - by * cx) > 1e-9;
}

/** A constrained Delaunay triangulation of the paper. All curves are walls: edges that no route crosses. */
export class Mesh {
  points = [];
  #apex = new Map();
  #walls = new Map();
  /** A point that shares an edge with each point. */
  #neighbour = [];
  #number = new Map();

  constructor(drawing) {
    this.drawing = drawing;
    const { width, height } = PAPER;
    this.points.push({ x: 0, y: 0 }, { x: width, y: 0 }, { x: width, y: height }, { x: 0, y: height });
    this.#add(0, 1, 2);
    this.#add(0, 2, 3);
    for (const point of [...drawing.spots, ...drawing.curves.flatMap((curve) => curve.slice(1, -1))]) {
      this.#number.set(point, this.#insert(point));
    }
    const walls = segments(drawing);
    for (let row = 0; row * GRID < height - GRID; row += 1) {
      for (let column = 0; column * GRID < width - GRID; column += 1) {
        // Shifted by different amounts, so that no four points lie on a circle.
        const [dx, dy] = [0.37 * Math.sin(row * 7 + column * 3), 0.37 * Math.cos(row * 5 + column * 11)];
        const point = { x: GRID * (column + 0.8 + dx), y: GRID * (row + 0.8 + dy) };
        const free = drawing.spots.every((spot) => distance(spot, point) > GRID / 2)
          && walls.every(([a, b]) => closest(point, a, b).distance > GRID / 2);
        if (free) this.#insert(point);
      }
    }
    for (const [a, b] of walls) {
      const [u, v] = [this.#number.get(a), this.#number.get(b)];
      this.#force(u, v);
      this.#wall(u, v, true);
    }
  }

  #add(u, v, w) {
    for (const [a, b, c] of [[u, v, w], [v, w, u], [w, u, v]]) {
      this.#apex.set(key(a, b), c);
      this.#neighbour[a] = b;
    }
  }

  #remove(u, v, w) {
    for (const [a, b] of [[u, v], [v, w], [w, u]]) this.#apex.delete(key(a, b));
  }

  #wall(u, v, real) {
    this.#walls.set(key(u, v), real);
    this.#walls.set(key(v, u), real);
  }

  #turn(u, v, w) {
    return turn(this.points[u], this.points[v], this.points[w]);
  }

  #insert(point) {
    const p = this.points.push(point) - 1;
    let [u, v] = [this.#neighbour[p - 1], p - 1];
    if (this.#apex.get(key(u, v)) === undefined) [u, v] = [v, u];
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const w = this.#apex.get(key(u, v));
      // The triangle u, v, w, unless the point is beyond one of its edges.
      if (this.#turn(u, v, p) < 0) [u, v] = [v, u];
      else if (this.#turn(v, w, p) < 0) [u, v] = [w, v];
      else if (this.#turn(w, u, p) < 0) [u, v] = [u, w];
      else {
        this.#remove(u, v, w);
        for (const [a, b] of [[u, v], [v, w], [w, u]]) this.#add(a, b, p);
        for (const [a, b] of [[u, v], [v, w], [w, u]]) this.#legalise(a, b, p);
        return p;
      }
    }
    throw new Error(TOO_CLOSE);
  }

  /** Restores the Delaunay property of the edge uv of the triangle uvp. */
  #legalise(u, v, p) {
    const w = this.#apex.get(key(v, u));
    if (w === undefined || !inCircle(this.points[u], this.points[v], this.points[p], this.points[w])) return;
    this.#flip(u, v);
    this.#legalise(u, w, p);
    this.#legalise(w, v, p);
  }

  #flip(u, v) {
    const [p, w] = [this.#apex.get(key(u, v)), this.#apex.get(key(v, u))];
    this.#remove(u, v, p);
    this.#remove(v, u, w);
    this.#add(p, u, w);
    this.#add(p, w, v);
  }

  /** Flips edges until a, b is one. */
  #force(a, b) {
    if (this.#apex.has(key(a, b)) || this.#apex.has(key(b, a))) return;
    const crossed = [];
    let [u, v] = this.#fan(a, this.#neighbour[a], () => false).map(([, x, y]) => [x, y])
      .find(([x, y]) => this.#turn(a, b, x) < 0 && this.#turn(a, b, y) > 0 && this.#turn(x, y, b) < 0);
    for (;;) {
      crossed.push([u, v]);
      const w = this.#apex.get(key(v, u));
      if (w === b) break;
      if (this.#turn(a, b, w) < 0) u = w;
      else v = w;
    }
    for (let tries = 0; crossed.length; tries += 1) {
      if (tries > MAX_TRIES) throw new Error(TOO_CLOSE);
      const [x, y] = crossed.shift();
      const [p, q] = [this.#apex.get(key(x, y)), this.#apex.get(key(y, x))];
      if (this.#turn(p, x, q) <= 1e-12 || this.#turn(q, y, p) <= 1e-12) {
        crossed.push([x, y]);
        continue;
      }
      this.#flip(x, y);
      const [sp, sq] = [this.#turn(a, b, p), this.#turn(a, b, q)];
      if (p !== a && p !== b && q !== a && q !== b && sp > 0 !== sq > 0) crossed.push(sp < 0 ? [p, q] : [q, p]);
    }
  }

  /** The triangles [v, x, y] around v, counter-clockwise from the edge to `start` to an edge at which `ends` holds. */
  #fan(v, start, ends) {
    const fan = [];
    for (let x = start; ;) {
      const y = this.#apex.get(key(v, x));
      if (y === undefined) return fan;
      fan.push([v, x, y]);
      if (y === start || ends(this.#walls.get(key(v, y)))) return fan;
      x = y;
    }
  }

  /** The triangles at a corner. Those of an isolated spot are all around it. */
  corner({ spot, half }) {
    const v = this.#number.get(this.drawing.spots[spot]);
    return this.#fan(v, half < 0 ? this.#neighbour[v] : this.#number.get(along(this.drawing, half)[1]), (real) => real);
  }

  /** The triangles along a piece of a boundary: from the curve that leaves its first corner to its last corner. */
  #side(corners, withFirst) {
    return corners.flatMap((corner, at) => {
      const triangles = at > 0 || withFirst ? this.corner(corner) : [];
      if (corner.half < 0) return triangles;
      const points = along(this.drawing, corner.half).map((point) => this.#number.get(point));
      return [...triangles, ...points.slice(1, -1).flatMap((v, k) => this.#fan(v, points[k + 2], (real) => real))];
    });
  }

  #middle(u, v) {
    return middle(this.points[u], this.points[v]);
  }

  /**
   * Finds a short route from a triangle of `sources` to one of `targets`: from the first point of the one to that of
   * the other. With `frame` the corners of the paper are targets as well. Returns the crossed edges between two ends.
   */
  #route(sources, targets, frame = false) {
    const wanted = new Set(targets.map(([, x, y]) => key(x, y)));
    const isTarget = (v, x, y) => wanted.has(key(x, y)) || frame && v < FRAME;
    let best = { cost: Infinity };
    const cost = new Map();
    const heap = [];
    const push = (u, v, total, from) => {
      const at = key(u, v);
      if (this.#walls.has(at) || !this.#apex.has(at)) return;
      const here = this.#middle(u, v);
      const length = total + (from.here ? distance(from.here, here) : 0) + NARROW / distance(this.points[u], this.points[v]);
      if (length >= (cost.get(at) ?? Infinity)) return;
      cost.set(at, length);
      let hole = heap.push(null) - 1;
      for (; hole && heap[hole - 1 >> 1].length > length; hole = hole - 1 >> 1) heap[hole] = heap[hole - 1 >> 1];
      heap[hole] = { u, v, length, from, here };
    };
    for (const [v, x, y] of sources) {
      for (const [end, a, b] of [[x, y, v], [y, v, x]]) {
        const length = distance(this.points[v], this.points[end]);
        const isFree = isTarget(end, a, b) && !this.#walls.has(key(v, end));
        if (isFree && length < best.cost) best = { cost: length, source: v, end, direct: true };
      }
      push(y, x, 0, { source: v, here: this.points[v] });
    }
    while (heap.length) {
      const node = heap[0];
      const last = heap.pop();
      if (heap.length) {
        let hole = 0;
        for (let child; (child = 2 * hole + 1) < heap.length; hole = child) {
          if (child + 1 < heap.length && heap[child + 1].length < heap[child].length) child += 1;
          if (heap[child].length >= last.length) break;
          heap[hole] = heap[child];
        }
        heap[hole] = last;
      }
      if (node.length >= best.cost) break;
      const { u, v } = node;
      if (node.length > cost.get(key(u, v))) continue;
      const w = this.#apex.get(key(u, v));
      if (isTarget(w, u, v)) {
        const total = node.length + distance(node.here, this.points[w]);
        if (total < best.cost) best = { cost: total, node, end: w };
      }
      push(w, v, node.length, node);
      push(u, w, node.length, node);
    }
    if (best.cost === Infinity) throw new Error("no route");
    if (best.direct) return { ends: [best.source, best.end], edges: [[best.source, best.end]] };
    const edges = [];
    let { node } = best;
    for (; node.u !== undefined; node = node.from) edges.unshift([node.u, node.v]);
    return { ends: [node.source, best.end], edges };
  }

  /** Divides the edges that a route crosses. Returns the numbers of its points. */
  #divide({ ends: [from, to], edges }) {
    const points = edges.map(([u, v]) => {
      const m = this.points.push(this.#middle(u, v)) - 1;
      const [w, x] = [this.#apex.get(key(u, v)), this.#apex.get(key(v, u))];
      this.#remove(u, v, w);
      this.#remove(v, u, x);
      this.#add(u, m, w);
      this.#add(m, v, w);
      this.#add(v, m, x);
      this.#add(m, u, x);
      return m;
    });
    return [from, ...points, to];
  }

  /** Adds a temporary wall along a route. It ends at a point whose triangles are targets. */
  #link(sources, targets, frame) {
    const path = this.#divide(this.#route(sources, targets, frame));
    path.slice(1).forEach((v, at) => this.#wall(path[at], v, false));
    return path;
  }

  /**
   * Returns a curve for a move as in `movesOf`, with its two spots as ends. A region that the curve divides becomes a
   * disc by temporary walls between its boundaries and the sides of the curve on which they are wanted; then every
   * route has them there. Boundaries of dead spots may be on any side; all may if `right` is null.
   * `frame` is the side of the edge of the paper, `right` or `left`, in the outermost region; by default any.
   */
  curve(regions, { region: at, from, to, right, frame }, ends) {
    const region = regions[at];
    const [first, last] = [region[from[0]][from[1]], region[to[0]][to[1]]];
    let [sources, targets] = [() => this.corner(first), () => this.corner(last)];
    if (from[0] === to[0] && right) {
      const own = region[from[0]];
      const others = region.filter((boundary, b) => b !== from[0] && (right.includes(b) || boundary.some(({ spot }) => ends[spot] < 3)));
      const [inner, outer] = [true, false].map((side) => others.filter((boundary) => right.includes(region.indexOf(boundary)) === side));
      if (from[1] === to[1]) [sources, targets] = this.#loop(first, own, inner, outer, at > 0 ? region[0] : null);
      else {
        const piece = (i, j) => i < j ? own.slice(i, j) : [...own.slice(i), ...own.slice(0, j)];
        const [onRight, onLeft] = [[[piece(from[1], to[1]), false]], [[piece(to[1], from[1]), false]]];
        this.#attach(onRight, inner);
        this.#attach(onLeft, outer);
        const targets = { right: onRight, left: onLeft }[frame]?.flatMap(([corners, withFirst]) => this.#side(corners, withFirst));
        if (targets) this.#link(this.#fan(0, 1, () => false), targets);
      }
    }
    const path = this.#divide(this.#route(sources(), targets()));
    const { spots } = this.drawing;
    return [spots[first.spot], ...path.slice(1, -1).map((v) => this.points[v]), spots[last.spot]];
  }

  /** Links boundaries to a group of boundaries or pieces of them: [corners, true if the first corner belongs to it]. */
  #attach(group, boundaries, frame = false) {
    for (const boundary of boundaries) {
      this.#link(this.#side(boundary, true), group.flatMap(([corners, withFirst]) => this.#side(corners, withFirst)), frame);
      group.push([boundary, true]);
    }
  }

  /**
   * Prepares a loop in a corner around the boundaries `inner`. Returns the triangles at its two ends. `enclosing` is
   * the outer boundary of the region.
   */
  #loop(corner, own, inner, outer, enclosing) {
    const at = own.findIndex(({ half }) => half === corner.half);
    let start;
    if (corner.half < 0) {
      // Both sides of the loop are alike, and the enclosing boundary is outside.
      if (inner.includes(enclosing)) [inner, outer] = [outer, inner];
      const group = enclosing ? [[enclosing, true]] : [];
      const [, first] = this.#link(this.corner(corner), group.flatMap(([corners]) => this.#side(corners, true)), !enclosing);
      this.#attach(group, outer.filter((boundary) => boundary !== enclosing), !enclosing);
      start = () => first;
    } else {
      start = () => this.#number.get(along(this.drawing, corner.half)[1]);
      this.#attach([[[...own.slice(at), ...own.slice(0, at)], false]], outer);
    }
    let targets;
    if (inner.length) {
      const group = [[inner[0], true]];
      this.#attach(group, inner.slice(1));
      targets = () => group.flatMap(([corners]) => this.#side(corners, true));
    } else {
      // A point in the widest triangle of the corner.
      const side = (u, v) => distance(this.points[u], this.points[v]);
      const height = ([v, x, y]) => Math.abs(this.#turn(v, x, y)) / Math.max(side(v, x), side(v, y));
      const [v, x, y] = this.corner(corner).reduce((best, one) => height(one) > height(best) ? one : best);
      const [a, b, c] = [v, x, y].map((point) => this.points[point]);
      const point = this.points.push({ x: (a.x + b.x + c.x) / 3, y: (a.y + b.y + c.y) / 3 }) - 1;
      this.#remove(v, x, y);
      for (const [p, q] of [[v, x], [x, y], [y, v]]) this.#add(p, q, point);
      targets = () => this.#fan(point, v, () => false);
    }
    const [v, first] = this.#link(this.corner(corner), targets());
    const any = (wall) => wall !== undefined;
    return [() => this.#fan(v, first, any), () => this.#fan(v, start(), any)];
  }

  /** The free triangles of the region at a corner, as lists of three points. */
  area(corner) {
    const seen = new Set();
    const found = [];
    const open = this.corner(corner);
    while (open.length) {
      const [u, v, w] = open.pop();
      if (w === undefined || seen.has(key(u, v))) continue;
      for (const [a, b] of [[u, v], [v, w], [w, u]]) seen.add(key(a, b));
      found.push([u, v, w].map((point) => this.points[point]));
      for (const [a, b] of [[u, v], [v, w], [w, u]]) if (!this.#walls.has(key(a, b))) open.push([b, a, this.#apex.get(key(b, a))]);
    }
    return found;
  }
}

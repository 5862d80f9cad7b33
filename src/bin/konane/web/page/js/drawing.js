// Drawings of Sprouts as curves in the plane: faces, text, moves, crossings. No DOM.
//
// A drawing is { spots, curves }. A spot is a point { x, y }, with `dead: true` if it stands for dead spots that a text
// omits. A curve is an array of points; the first and the last one are spots of the drawing, all others are its own.
//
// A half-edge is a curve in one direction: 2c is curve c from its first to its last point, 2c + 1 the same curve
// backward. A corner { spot, half } is the angle at a spot from the half-edge `half` counter-clockwise to the next
// curve end; `half` is -1 at a spot without curves. A boundary is a cycle of corners with the region to the left of
// their half-edges.

/** Size of the paper. All points of a drawing lie in it. */
export const PAPER = { width: 400, height: 300 };

/** Radius of a spot. */
export const RADIUS = 7;

/** Twice the signed area of a triangle: positive if a, b, c turn counter-clockwise (y to the top). */
export function turn(a, b, c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

export function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

export function middle(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

/** The point of the segment ab that is closest to p, as a fraction of the segment, and its distance. */
export function closest(p, a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const at = length ? Math.min(1, Math.max(0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / length)) : 0;
  return { at, distance: Math.hypot(a.x + at * dx - p.x, a.y + at * dy - p.y) };
}

/** Returns true if two segments without common ends meet. */
export function meet(a, b, c, d) {
  return turn(a, b, c) > 0 !== turn(a, b, d) > 0 && turn(c, d, a) > 0 !== turn(c, d, b) > 0;
}

/** The segments between neighbouring points, as pairs. */
export function segmentsOf(points) {
  return points.slice(1).map((point, at) => [points[at], point]);
}

/** The segments of all curves. */
export function segments({ curves }) {
  return curves.flatMap(segmentsOf);
}

/** The lengths of the segments between neighbouring points. */
export function lengthsOf(points) {
  return segmentsOf(points).map(([a, b]) => distance(a, b));
}

/** Returns true if two curves, or two parts of a curve, cross, or if a curve passes through a spot. */
export function crosses(drawing) {
  const all = segments(drawing);
  return all.some(([a, b], at) => {
    for (let other = 0; other < at; other += 1) {
      const [c, d] = all[other];
      if (a !== c && a !== d && b !== c && b !== d && meet(a, b, c, d)) return true;
    }
    return drawing.spots.some((spot) => spot !== a && spot !== b && closest(spot, a, b).distance < 1e-9);
  });
}

/** Number of curve ends at each spot; 3 for a dead one. */
export function curveEnds({ spots, curves }) {
  const ends = new Map(spots.map((spot) => [spot, 0]));
  for (const curve of curves) {
    for (const spot of [curve[0], curve.at(-1)]) ends.set(spot, ends.get(spot) + 1);
  }
  return spots.map((spot) => spot.dead ? 3 : ends.get(spot));
}

/** The points of a half-edge. */
export function along({ curves }, half) {
  const curve = curves[half >> 1];
  return half & 1 ? curve.toReversed() : curve;
}

/** Returns true if a point lies inside a closed polygon. */
function inside(p, polygon) {
  let odd = false;
  polygon.forEach((a, at) => {
    const b = polygon[(at + 1) % polygon.length];
    if (a.y > p.y !== b.y > p.y && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)) odd = !odd;
  });
  return odd;
}

/** The points along a boundary, as a closed polygon. */
export function outline(drawing, boundary) {
  return boundary.flatMap(({ spot, half }) => half < 0 ? [drawing.spots[spot]] : along(drawing, half).slice(0, -1));
}

/** Twice the signed area of a closed polygon. */
export function area(polygon) {
  return polygon.reduce((sum, p, at) => sum + turn({ x: 0, y: 0 }, p, polygon[(at + 1) % polygon.length]), 0);
}

/**
 * Traces the faces of a drawing. Returns its regions: lists of boundaries. The first boundary of every region but the
 * first one encloses the region; the others, and all of the first region, are enclosed by it.
 */
export function trace(drawing) {
  const { spots, curves } = drawing;
  const number = new Map(spots.map((spot, at) => [spot, at]));
  const origin = curves.flatMap((curve) => [number.get(curve[0]), number.get(curve.at(-1))]);
  const around = spots.map(() => []);
  origin.forEach((spot, half) => {
    const [a, b] = along(drawing, half);
    around[spot].push({ half, angle: Math.atan2(b.y - a.y, b.x - a.x) });
  });
  const next = [];
  for (const ends of around) {
    ends.sort((a, b) => a.angle - b.angle);
    // A walk that arrives by the reverse of an end leaves by the end clockwise of it.
    ends.forEach(({ half }, at) => {
      next[half ^ 1] = ends.at(at - 1).half;
    });
  }
  const part = spots.map((_, at) => at);
  const root = (spot) => part[spot] === spot ? spot : root(part[spot]);
  for (let half = 0; half < origin.length; half += 2) part[root(origin[half])] = root(origin[half + 1]);

  const seen = new Set();
  const walks = spots.flatMap((_, spot) => around[spot].length ? [] : [{ boundary: [{ spot, half: -1 }], part: spot, area: 0 }]);
  for (let start = 0; start < origin.length; start += 1) {
    const boundary = [];
    for (let half = start; !seen.has(half); half = next[half]) {
      seen.add(half);
      boundary.push({ spot: origin[half], half });
    }
    if (!boundary.length) continue;
    const polygon = outline(drawing, boundary);
    walks.push({ boundary, polygon, part: root(origin[start]), area: area(polygon) });
  }
  // The outer boundary of a connected part has the least area: that of all others is positive.
  const outer = new Map();
  for (const walk of walks) {
    if (!(outer.get(walk.part)?.area <= walk.area)) outer.set(walk.part, walk);
  }
  const inner = walks.filter((walk) => outer.get(walk.part) !== walk).sort((a, b) => a.area - b.area);
  const regions = [[], ...inner.map(({ boundary }) => [boundary])];
  for (const { part: own, boundary } of outer.values()) {
    const enclosing = inner.findIndex((walk) => walk.part !== own && inside(spots[boundary[0].spot], walk.polygon));
    regions[enclosing + 1].push(boundary);
  }
  return regions;
}

/** The regions of `trace` with the numbers of spots in place of corners. */
export function spotsOf(regions) {
  return regions.map((region) => region.map((boundary) => boundary.map(({ spot }) => spot)));
}

/** Number of lives in a region, given as lists of spots. */
export function livesIn(region, ends) {
  return [...new Set(region.flat())].reduce((sum, spot) => sum + 3 - ends[spot], 0);
}

/**
 * Writes regions of spots in the notation of positions, without dead spots and without regions with fewer than two
 * lives, in which no move is possible.
 */
export function write(regions, ends) {
  const live = regions.filter((region) => livesIn(region, ends) > 1)
    .map((region) => region.map((boundary) => boundary.filter((spot) => ends[spot] < 3)).filter((boundary) => boundary.length));
  const places = new Map();
  live.forEach((region, at) => region.flat().forEach((spot) => places.set(spot, [...places.get(spot) ?? [], at])));
  const twice = [...places].filter(([, at]) => at.length === 2);
  const upper = new Map(twice.filter(([, [a, b]]) => a !== b).map(([spot], at) => [spot, at]));
  const lower = new Map(twice.filter(([spot]) => !upper.has(spot)).map(([spot], at) => [spot, at]));
  const name = (spot) => upper.has(spot) ? upper.size > 25 ? `n(${upper.get(spot) + 1})` : String.fromCharCode(65 + upper.get(spot))
    : lower.has(spot) ? lower.size > 12 ? `m(${lower.get(spot) + 1})` : String.fromCharCode(97 + lower.get(spot))
      : String(ends[spot]);
  const texts = live.map((region) => {
    const boundaries = region.map((boundary) => boundary.map(name).join(""));
    const loose = boundaries.filter((text) => text === "0").length;
    return [...loose > 1 ? [`0*${loose}`] : loose ? ["0"] : [], ...boundaries.filter((text) => text !== "0")].join(".");
  });
  // Regions that share a spot belong to one land.
  const land = live.map((_, at) => at);
  for (const [, [a, b]] of twice) {
    const [from, to] = [land[a], land[b]];
    land.forEach((of, at) => {
      if (of === from) land[at] = to;
    });
  }
  const lands = [...new Set(land)].map((one) => texts.filter((_, at) => land[at] === one).join("|"));
  return lands.join("+") || "!";
}

/** The text of a drawing. */
export function textOf(drawing) {
  return write(spotsOf(trace(drawing)), curveEnds(drawing));
}

/**
 * Lists the moves of a drawing: a curve in a region between two corners, given as [boundary, index in it]. If both are
 * on one boundary, the curve divides the region, and `right` lists the other boundaries to the right of the curve.
 * Of moves that differ only in equal boundaries, such as isolated spots, one is listed. `max` limits their number.
 */
export function movesOf(regions, ends, max = 4000) {
  const moves = [];
  regions.forEach((region, at) => {
    if (livesIn(spotsOf([region])[0], ends) < 2) return;
    const corners = region.flatMap((boundary, b) => boundary.flatMap(({ spot }, c) => ends[spot] < 3 ? [[b, c]] : []));
    const spot = ([b, c]) => region[b][c].spot;
    corners.forEach((from, first) => corners.slice(first).forEach((to, distance) => {
      if (distance === 0 ? ends[spot(from)] > 1 : spot(from) === spot(to)) return;
      if (from[0] !== to[0]) {
        if (moves.length < max) moves.push({ region: at, from, to, right: [] });
        return;
      }
      for (const right of subsets(region, from[0], ends)) {
        if (moves.length >= max) return;
        moves.push({ region: at, from, to, right });
      }
    }));
  });
  return moves;
}

/** All subsets of the boundaries of a region other than `own`; of boundaries without differences, only their number counts. */
function* subsets(region, own, ends) {
  const groups = new Map();
  region.forEach((boundary, at) => {
    const live = boundary.filter(({ spot }) => ends[spot] < 3);
    if (at === own || !live.length) return;
    const key = live.length === 1 && ends[live[0].spot] !== 2 ? ends[live[0].spot] : `boundary ${at}`;
    groups.set(key, [...groups.get(key) ?? [], at]);
  });
  const choose = function* (left) {
    if (!left.length) {
      yield [];
      return;
    }
    for (const rest of choose(left.slice(1))) {
      for (let count = 0; count <= left[0].length; count += 1) yield [...left[0].slice(0, count), ...rest];
    }
  };
  yield* choose([...groups.values()]);
}

/** The text after a move. */
export function textAfter(regions, ends, { region: at, from, to, right }) {
  const all = spotsOf(regions);
  const region = all[at];
  const spot = ends.length;
  const after = [...ends, 2];
  for (const [b, c] of [from, to]) after[region[b][c]] += 1;
  const rest = (used) => region.filter((_, b) => b !== from[0] && b !== to[0] && used(b));
  const cycle = ([b, c]) => [...region[b].slice(c), ...region[b].slice(0, c)];
  // An isolated spot occurs once on the boundary that it becomes part of, any other one twice.
  const joined = (corner) => ends[region[corner[0]][corner[1]]] ? [...cycle(corner), region[corner[0]][corner[1]]] : cycle(corner);
  let divided;
  if (from[0] !== to[0]) {
    divided = [[[...joined(from), spot, ...joined(to), spot], ...rest(() => true)]];
  } else {
    const [first, second] = [from[1], to[1]];
    const boundary = region[from[0]];
    // A loop encloses the boundaries to its right, and nothing of its own boundary.
    const own = first === second ? [[boundary[first]], joined(from)]
      : [boundary.slice(first, second + 1), [...boundary.slice(second), ...boundary.slice(0, first + 1)]];
    divided = own.map((part, side) => [[...part, spot], ...rest((b) => right.includes(b) === (side === 0))]);
  }
  return write([...all.filter((_, other) => other !== at), ...divided], after);
}

/** Returns a copy of a drawing after a move: a curve between two of its spots, whose point at `at` becomes a spot. */
export function withCurve({ spots, curves }, curve, at) {
  return structuredClone({ spots: [...spots, curve[at]], curves: [...curves, curve.slice(0, at + 1), curve.slice(at)], isMove: true });
}

/** Index of the point in the middle of a curve. Inserts points if it has too few for a spot between two others. */
export function middleOf(curve) {
  while (curve.length < 5) {
    const lengths = lengthsOf(curve);
    const longest = lengths.indexOf(Math.max(...lengths));
    curve.splice(longest + 1, 0, middle(curve[longest], curve[longest + 1]));
  }
  const lengths = lengthsOf(curve);
  const half = lengths.reduce((sum, length) => sum + length, 0) / 2;
  let [at, sum] = [0, 0];
  while (sum < half) sum += lengths[at++];
  return Math.min(Math.max(at, 2), curve.length - 3);
}

/** Returns the curve of a line drawn by hand from a spot to another one, or `refusal`: the reason why it is no move. */
export function curveOfLine(drawing, points, from, to) {
  const { spots } = drawing;
  const ends = curveEnds(drawing);
  if (to < 0) return { refusal: "The line ends in the open. Draw it to a spot." };
  if (ends[from] > 2 || ends[to] > 2) return { refusal: "A line cannot start or end at a dead spot: it has three curve ends already." };
  if (from === to && ends[from] > 1) return { refusal: "A line back to the same spot takes two lives, and this spot has only one." };
  const [a, b] = [spots[from], spots[to]];
  const first = points.findIndex((point) => distance(point, a) > RADIUS);
  const last = points.findLastIndex((point) => distance(point, b) > RADIUS);
  const inner = [];
  for (const point of points.slice(first, last + 1)) if (!inner.length || distance(point, inner.at(-1)) > 3) inner.push(point);
  const curve = [a, ...inner, b];
  const own = segmentsOf(curve);
  const meets = ([p, q], [r, s]) => p !== r && p !== s && q !== r && q !== s && meet(p, q, r, s);
  if (own.some((one, k) => own.slice(0, Math.max(0, k - 1)).some((other) => meets(one, other)))) {
    return { refusal: "The line crosses itself." };
  }
  if (segments(drawing).some((other) => own.some((one) => meets(one, other)))) return { refusal: "The line crosses a curve." };
  const touched = spots.some((spot) => spot !== a && spot !== b && own.some(([p, q]) => closest(spot, p, q).distance < 4));
  return touched ? { refusal: "The line passes through another spot." } : { curve };
}

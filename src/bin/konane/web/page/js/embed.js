// Drawings of positions that are given as text. No DOM.
//
// The boundaries of a text determine a map on the sphere: which curve ends are neighbours at each spot, and which of
// them are joined. The curves of the map are then drawn one after the other, each on a free route. Where a text omits
// dead spots, a dead spot with any number of curve ends stands for all that is omitted.

import { PAPER, crosses, curveEnds, distance, middle, trace } from "./drawing.js";
import { relax } from "./relax.js";
import { Mesh } from "./route.js";

/** Maximum number of spots and curves of a map that is drawn, and of isolated spots. */
const MAX_MAP = 90;
const MAX_ISOLATED = 60;

/** Maximum number of regions of a land whose orientations are tried. */
const MAX_REGIONS = 13;

/** Parses a canonical text into lands of regions of boundaries of vertices, such as `0`, `2`, `a`, `n(13)`. */
export function parse(text) {
  return text === "!" ? [] : text.split("+").map((land) => land.split("|").map((region) => region.split(".").flatMap((boundary) => {
    const loose = /^0\*(\d+)$/.exec(boundary);
    return loose ? Array.from({ length: Number(loose[1]) }, () => ["0"]) : [boundary.match(/[0-9]|[a-zA-Z](\(\d+\))?/g)];
  })));
}

/** The spots of a text: regions of boundaries of spots. `ends` has the number of curve ends of each spot. */
function readSpots(text) {
  const spots = [];
  const add = (ends) => spots.push({ ends, dead: false }) - 1;
  let previous = null;
  const lands = parse(text).map((land) => {
    const upper = new Map();
    const regions = land.map((region) => region.map((boundary) => {
      const lower = new Map();
      return boundary.flatMap((vertex) => {
        if (vertex === "3") return [];
        if (/^\d/.test(vertex)) return [add(Number(vertex))];
        const names = /^([a-z]$|[a-mo-z]\()/.test(vertex) ? lower : upper;
        if (!names.has(vertex)) names.set(vertex, add(2));
        return [names.get(vertex)];
      });
    }).filter((boundary) => boundary.length)).filter((region) => region.length);
    return regions;
  }).filter((regions) => regions.length);
  for (const regions of lands) {
    // A closed curve without live spots separates a land from the one before it.
    if (previous) {
      const wall = add(2);
      spots[wall].dead = true;
      previous[0].push([wall]);
      regions[0].push([wall]);
    }
    previous = regions;
  }
  // A spot with two curve ends that occurs once has a dead region of its own on the other side.
  for (const regions of lands) {
    const all = regions.flat(2);
    regions.dead = all.filter((spot) => spots[spot].ends === 2 && !spots[spot].dead && all.indexOf(spot) === all.lastIndexOf(spot))
      .map((spot) => [[spot]]);
  }
  return { spots, lands };
}

/**
 * Follows the boundaries of regions, some of them reversed. Returns the neighbours of each curve end: `link` maps the
 * end by which a boundary leaves a spot to the one by which it arrives at the next.
 */
function follow(spots, regions) {
  const used = new Map();
  const link = new Map();
  const corners = regions.map((region) => region.map((boundary) => boundary.map((spot) => {
    const { ends } = spots[spot];
    if (ends === 0) return { spot, in: null, out: null };
    if (ends === 1) return { spot, in: 2 * spot, out: 2 * spot };
    const second = used.has(spot);
    used.set(spot, true);
    return { spot, in: 2 * spot + second, out: 2 * spot + !second };
  })));
  for (const boundary of corners.flat()) {
    boundary.forEach(({ out }, at) => {
      if (out !== null) link.set(out, boundary[(at + 1) % boundary.length].in);
    });
  }
  return { corners, link };
}

/** The cycles of `link`: the curve ends that meet. */
function cyclesOf(link) {
  const seen = new Set();
  return [...link.keys()].flatMap((start) => {
    const cycle = [];
    for (let end = start; !seen.has(end); end = link.get(end)) {
      seen.add(end);
      cycle.push(end);
    }
    return cycle.length ? [cycle] : [];
  });
}

/** Orders each region of a land forward or backward so that the boundaries fit together in the plane; null if they never do. */
function orient(spots, regions) {
  if (regions.length > MAX_REGIONS) return null;
  let best = null;
  for (let choice = 0; choice < 2 ** (regions.length - 1) && !best; choice += 1) {
    const turned = regions.map((region, at) => choice >> at & 1 ? region.map((boundary) => boundary.toReversed()) : region);
    const all = [...turned, ...regions.dead];
    const { link } = follow(spots, all);
    const cycles = cyclesOf(link);
    // Euler's formula for all connected parts together.
    const root = new Map(all.flat(2).map((spot) => [spot, spot]));
    const find = (spot) => root.get(spot) === spot ? spot : find(root.get(spot));
    for (const cycle of cycles) cycle.forEach((end) => root.set(find(end >> 1), find(cycle[0] >> 1)));
    const parts = [...root.keys()].filter((spot) => root.get(spot) === spot).length;
    const joints = cycles.filter((cycle) => cycle.length !== 2);
    const edges = joints.reduce((sum, cycle) => sum + cycle.length, 0) + cycles.length - joints.length;
    if (root.size + joints.length - edges + all.flat().length === 2 * parts) best = all;
  }
  return best;
}

/**
 * The map of a text; null if it cannot be drawn. `around` lists the curve ends of each vertex counter-clockwise, and
 * `target` maps each end to the other end of its curve. Temporary curves (`hidden`) connect the boundaries of a region.
 * `isolated` has a corner of the region of each isolated spot that is not a vertex (`bare`), and `outer` one of the region
 * with the most boundaries.
 */
function mapOf(text) {
  const { spots, lands } = readSpots(text);
  const isWall = (boundary) => spots[boundary[0]].dead;
  const regions = [];
  for (const land of lands) {
    // The separating spots belong to two lands, so that each land is oriented without them.
    const own = land.map((region) => region.filter((boundary) => !isWall(boundary)));
    own.dead = land.dead;
    const turned = orient(spots, own);
    if (!turned) return null;
    land.forEach((region, at) => turned[at].push(...region.filter(isWall)));
    regions.push(...turned);
  }
  const { corners, link } = follow(spots, regions);
  const around = spots.map(({ ends }, spot) => ends === 2 ? [2 * spot, 2 * spot + 1] : ends === 1 ? [2 * spot] : []);
  const dead = spots.map((spot) => spot.dead);
  const [target, hidden, isolated] = [new Map(), new Set(), []];
  let outer = null;
  let free = 2 * spots.length;
  const join = (a, b) => target.set(a, b).set(b, a);
  for (const cycle of cyclesOf(link)) {
    if (cycle.length === 2) join(...cycle);
    else {
      dead.push(true);
      around.push(cycle.toReversed().map((end) => {
        join(free, end);
        return free++;
      }));
    }
  }
  for (const region of corners) {
    const bare = region.filter(([{ out }]) => out === null);
    const boundaries = [...region.filter(([{ out }]) => out !== null), ...bare.slice(0, 1)];
    bare.slice(1).forEach(() => isolated.push(boundaries[0][0]));
    if (!(outer?.size >= region.length)) outer = { ...boundaries[0][0], size: region.length };
    boundaries.slice(1).forEach((boundary, at) => {
      for (const { spot, out } of [boundaries[at][0], boundary[0]]) {
        around[spot].splice(out === null ? 0 : around[spot].indexOf(out) + 1, 0, free);
        hidden.add(free++);
      }
      join(free - 2, free - 1);
    });
  }
  const bare = new Set(corners.flatMap((region) => region.filter(([{ out }]) => out === null).slice(1).map(([{ spot }]) => spot)));
  return { around, target, dead, hidden, isolated, bare, outer };
}

/** The largest of some triangles by the radius of its inner circle. */
function roomiest(triangles) {
  const radius = ([a, b, c]) => {
    const [u, v, w] = [distance(a, b), distance(b, c), distance(c, a)];
    return (u + v - w) * (v + w - u) * (w + u - v) / (u + v + w);
  };
  const [a, b, c] = triangles.reduce((best, one) => radius(one) > radius(best) ? one : best);
  return { x: (a.x + b.x + c.x) / 3, y: (a.y + b.y + c.y) / 3 };
}

/**
 * Draws a map: first a tree of its curves, then those that divide a region, then the isolated spots. The region with the
 * corner `outer` is not enclosed.
 */
function draw({ around, target, dead, hidden, isolated, bare, outer }) {
  const drawing = { spots: [], curves: [] };
  const origin = new Map(around.flatMap((ends, vertex) => ends.map((end) => [end, vertex])));
  const spot = new Map();
  const drawn = new Map();
  const put = (vertex, point) => {
    spot.set(vertex, drawing.spots.length);
    drawing.spots.push(dead[vertex] ? { ...point, dead: true } : point);
  };
  const add = (curve, start, end) => {
    drawing.curves.push(curve);
    drawn.set(start, { curve, flip: 0 }).set(end, { curve, flip: 1 });
  };
  const half = (end) => 2 * drawing.curves.indexOf(drawn.get(end).curve) + drawn.get(end).flip;
  /** The corner in which a curve end belongs: after the next drawn end clockwise. */
  const corner = (end) => {
    const ends = around[origin.get(end)];
    const at = ends.indexOf(end);
    const before = [...ends.slice(0, at).reverse(), ...ends.slice(at).reverse()].find((one) => drawn.has(one));
    return { spot: spot.get(origin.get(end)), half: before === undefined ? -1 : half(before), before };
  };
  const vertices = around.map((_, vertex) => vertex).filter((vertex) => !bare.has(vertex));
  const root = vertices.reduce((best, vertex) => around[vertex].length > around[best].length ? vertex : best);
  put(root, { x: PAPER.width / 2 + 1, y: PAPER.height / 2 + 2 });
  const queue = [...around[root]];
  const closing = [];
  while (queue.length) {
    const end = queue.shift();
    const other = target.get(end);
    if (drawn.has(end)) continue;
    if (spot.has(origin.get(other))) {
      closing.push(end);
      continue;
    }
    const mesh = new Mesh(drawing);
    const at = corner(end);
    const triangles = mesh.corner(at).map((triangle) => triangle.map((point) => mesh.points[point]));
    put(origin.get(other), roomiest(triangles));
    const [a, b] = [drawing.spots[at.spot], drawing.spots.at(-1)];
    add([a, middle(a, b), b], end, other);
    relax(drawing, 12);
    queue.push(...around[origin.get(other)]);
  }
  for (const end of closing) {
    const other = target.get(end);
    if (drawn.has(end)) continue;
    const regions = trace(drawing);
    const [first, last] = [corner(end), corner(other)];
    const place = ({ spot: wanted, half: by }) => {
      for (const [region, boundaries] of regions.entries()) {
        for (const [b, boundary] of boundaries.entries()) {
          const at = boundary.findIndex((one) => one.spot === wanted && one.half === by);
          if (at >= 0) return { region, at: [b, at] };
        }
      }
      throw new Error("no corner");
    };
    const { region, at: from } = place(first);
    const { at: to } = place(last);
    // Distance of a curve end counter-clockwise from the drawn one before it.
    const after = (one, before) => {
      const ends = around[origin.get(one)];
      return (ends.indexOf(one) - ends.indexOf(before) + ends.length) % ends.length;
    };
    let frame;
    if (region === 0 && from[1] !== to[1]) {
      // The outer corner lies on the piece of the boundary from the first to the last corner, or at one of these two.
      const out = outer.out ?? around[outer.spot].at(-1);
      const wanted = drawn.has(out) ? { spot: spot.get(outer.spot), half: half(out), before: out } : corner(out);
      const count = regions[0][from[0]].length;
      const [here, there] = [place(wanted).at[1], to[1]].map((index) => (index - from[1] + count) % count);
      const isRight = here === 0 ? after(out, first.before) < after(end, first.before)
        : here === there ? after(out, last.before) >= after(other, last.before) : here < there;
      frame = isRight ? "right" : "left";
    }
    const curve = new Mesh(drawing).curve(regions, { region, from, to, right: [], frame }, curveEnds(drawing));
    // A loop in one corner arrives clockwise of where it starts.
    const isLoop = first.spot === last.spot && first.half === last.half && first.half >= 0;
    const isTurned = isLoop && after(end, first.before) < after(other, first.before);
    add(curve, ...isTurned ? [other, end] : [end, other]);
    relax(drawing, 16);
  }
  const corners = isolated.map(({ spot: vertex, out }) => ({ spot: spot.get(vertex), end: out }));
  drawing.curves = drawing.curves.filter((curve) => ![...hidden].some((end) => drawn.get(end)?.curve === curve));
  for (const { spot: at, end } of corners) {
    relax(drawing, 6);
    drawing.spots.push(roomiest(new Mesh(drawing).area({ spot: at, half: end === null ? -1 : half(end) })));
  }
  return drawing;
}

/** A drawing of a canonical text; null if there is none or if it would be too large. */
export function embed(text) {
  const start = /^0(\*(\d+))?$/.exec(text);
  if (start) return startOf(Number(start[2] ?? 1));
  const map = mapOf(text);
  if (!map || map.around.length + map.target.size / 2 > MAX_MAP || map.isolated.length > MAX_ISOLATED) return null;
  if (!map.around.length) return { spots: [], curves: [] };
  const drawing = draw(map);
  relax(drawing, 150);
  return crosses(drawing) ? null : drawing;
}

/** The drawing of isolated spots: on a circle, or spread over the paper if there are many; null if there are too many. */
function startOf(count) {
  if (count > MAX_ISOLATED) return null;
  const spots = Array.from({ length: count }, (_, at) => {
    // Many spots lie on a spiral that turns by the golden angle, which spreads them evenly.
    const [angle, radius] = count < 9 ? [(at + 0.25) * 2 * Math.PI / count, count === 1 ? 0 : 0.29]
      : [at * 2.39996, 0.42 * Math.sqrt((at + 0.5) / count)];
    return { x: PAPER.width * (0.5 + radius * Math.cos(angle)), y: PAPER.height * (0.5 + radius * Math.sin(angle)) };
  });
  return { spots, curves: [] };
}

// Layout of drawings of Sprouts: curves become smooth and keep apart from each other. No DOM.
//
// Every point is repelled by the curves and spots near it and pulled toward its neighbours on its curve. In one step no
// point moves half of its distance to any segment, so no two curves can cross and no curve can pass a spot.

import { PAPER, area, curveEnds, distance, livesIn, middle, outline, spotsOf, trace, turn } from "./drawing.js";

/** Wanted distance between neighbouring points of a curve. */
const SPACING = 9;

/** Force between neighbouring points of a curve, times their distance. */
const PULL = 0.32;

/** Wanted area of a region for each corner on its boundaries, and the force on a curve beside one without area. */
const ROOM = 650;
const PRESSURE = 0.5;

/** Minimum distance of a point from the edge of the paper. */
const MARGIN = 3;

/** Distance from the edge of the paper at which points are repelled. */
const EDGE = 16;

/**
 * Moves the points of a drawing by `rounds` steps. The longest movement of a point in a step falls from `heat` to zero.
 * With `only` all points keep their places but those of this curve.
 */
export function relax(drawing, rounds, heat = 4, only = null) {
  const ends = curveEnds(drawing);
  const regions = trace(drawing).slice(1).map((region) => ({ region, isDead: livesIn(spotsOf([region])[0], ends) < 2 }));
  for (let round = 0; round < rounds; round += 1) {
    if (round % 4 === 0) resample(drawing, only);
    step(drawing, regions, heat * (1 - round / rounds) + 0.05, only);
  }
}

function step(drawing, regions, heat, only) {
  const { spots, curves } = drawing;
  const reach = Math.min(100, Math.max(24, 0.7 * Math.sqrt(PAPER.width * PAPER.height / (spots.length + 1))));
  const points = [...spots, ...curves.flatMap((curve) => curve.slice(1, -1))];
  const count = points.length;
  const [x, y, fx, fy] = [0, 1, 2, 3].map(() => new Float64Array(count));
  const limit = new Float64Array(count).fill(reach / 2);
  const number = new Map(points.map((point, at) => {
    x[at] = point.x;
    y[at] = point.y;
    return [point, at];
  }));
  // The segments of all curves, and the places of each point: [curve, index].
  const [from, to, curveOf, place] = [[], [], [], []];
  const places = points.map(() => []);
  let longest = 0;
  curves.forEach((curve, c) => curve.forEach((point, at) => {
    const p = number.get(point);
    places[p].push(c, at);
    if (at === 0) {
      from.push(p);
      return;
    }
    to.push(p);
    curveOf.push(c);
    place.push(at);
    if (at < curve.length - 1) from.push(p);
    longest = Math.max(longest, distance(curve[at - 1], point));
  }));
  const add = (p, dx, dy) => {
    fx[p] += dx;
    fy[p] += dy;
  };
  const shrink = (p, away) => {
    if (0.45 * away < limit[p]) limit[p] = 0.45 * away;
  };
  /** Force between two points at a distance, divided by it. */
  const force = (away, strength) => away < reach && away > 0 ? strength * (reach / Math.max(away, 2) - 1) ** 1.5 / (14 * away) : 0;
  const far = reach + longest;
  for (let p = 0; p < count; p += 1) {
    const isSpot = p < spots.length;
    for (let s = 0; s < to.length; s += 1) {
      const a = from[s];
      const b = to[s];
      const ax = x[p] - x[a];
      const ay = y[p] - y[a];
      if (ax > far || ax < -far || ay > far || ay < -far || a === p || b === p) continue;
      const sx = x[b] - x[a];
      const sy = y[b] - y[a];
      const square = sx * sx + sy * sy;
      const at = Math.min(1, Math.max(0, (ax * sx + ay * sy) / square));
      const dx = ax - at * sx;
      const dy = ay - at * sy;
      const away = Math.sqrt(dx * dx + dy * dy);
      if (away >= reach) continue;
      shrink(p, away);
      shrink(a, away);
      shrink(b, away);
      // Points of one curve repel each other only across a gap, not along the curve.
      let near = false;
      for (let k = 0; k < places[p].length; k += 2) {
        near ||= places[p][k] === curveOf[s] && Math.abs(places[p][k + 1] - place[s] + 0.5) < 3.5 + away / SPACING * 1.3;
      }
      if (near) continue;
      const f = force(away, (isSpot ? 2.2 : 1) * Math.min(2, Math.sqrt(square) / SPACING));
      add(p, f * dx, f * dy);
      add(a, f * (at - 1) * dx, f * (at - 1) * dy);
      add(b, -f * at * dx, -f * at * dy);
    }
    for (let q = 0; isSpot && q < p; q += 1) {
      const [dx, dy] = [x[p] - x[q], y[p] - y[q]];
      const away = Math.hypot(dx, dy);
      shrink(p, away);
      shrink(q, away);
      const f = force(away, 7);
      add(p, f * dx, f * dy);
      add(q, -f * dx, -f * dy);
    }
  }
  for (let s = 0; s < to.length; s += 1) {
    const [a, b] = [from[s], to[s]];
    const [dx, dy] = [PULL * (x[b] - x[a]), PULL * (y[b] - y[a])];
    add(a, dx, dy);
    add(b, -dx, -dy);
  }
  // A region that is too small for what is played in it presses on the curves around it, a large dead one pulls them.
  for (const { region, isDead } of regions) {
    const polygons = region.map((boundary) => outline(drawing, boundary));
    const wanted = ROOM * (isDead ? 1 : region.flat().length);
    const missing = Math.max(isDead ? -0.3 : 0, 1 - polygons.reduce((sum, polygon) => sum + area(polygon), 0) / 2 / wanted);
    if (missing === 0) continue;
    const [polygon] = polygons;
    polygon.forEach((a, at) => {
      const b = polygon[(at + 1) % polygon.length];
      const [dx, dy] = [PRESSURE * missing * (b.y - a.y), PRESSURE * missing * (a.x - b.x)];
      add(number.get(a), dx, dy);
      add(number.get(b), dx, dy);
    });
  }
  const { width, height } = PAPER;
  // The whole drawing moves toward the middle of the paper.
  const shift = (values, size) => {
    const wanted = 0.05 * (size - Math.min(...values) - Math.max(...values));
    return only ? 0 : Math.min(heat, Math.max(-heat, wanted));
  };
  const [right, up] = [shift(x, width), shift(y, height)];
  const inside = (value, size) => Math.min(size - MARGIN, Math.max(MARGIN, value));
  const edge = (low, high) => Math.max(0, EDGE - low) - Math.max(0, EDGE - high);
  points.forEach((point, p) => {
    if (only && (p < spots.length || !only.includes(point))) return;
    const weight = p < spots.length ? 0.5 : 1;
    const [dx, dy] = [fx[p] * weight + edge(x[p], width - x[p]), fy[p] * weight + edge(y[p], height - y[p])];
    const length = Math.hypot(dx, dy);
    const scale = length > 0 ? Math.min(0.5, Math.min(heat, limit[p]) / length) : 0;
    point.x = inside(x[p] + dx * scale + right, width);
    point.y = inside(y[p] + dy * scale + up, height);
  });
}

/** Divides long segments, and removes points where a curve has too many or folds back, if no other point is in the way. */
function resample({ spots, curves }, only) {
  const everything = [...spots, ...curves.flatMap((curve) => curve.slice(1, -1))];
  for (const curve of only ? [only] : curves) {
    for (let at = 1; at < curve.length; at += 1) {
      if (distance(curve[at - 1], curve[at]) > 1.6 * SPACING || curve.length < 4) curve.splice(at, 0, middle(curve[at - 1], curve[at]));
    }
    for (let at = 1; at < curve.length - 1 && curve.length > 5; at += 1) {
      const [a, b, c] = [curve[at - 1], curve[at], curve[at + 1]];
      const [before, behind] = [distance(a, b), distance(b, c)];
      const isSharp = (a.x - b.x) * (c.x - b.x) + (a.y - b.y) * (c.y - b.y) > 0.7 * before * behind;
      if (before + behind > 1.2 * SPACING && !isSharp) continue;
      const sign = Math.sign(turn(a, b, c));
      const blocked = sign !== 0 && everything.some((p) => p !== a && p !== b && p !== c
        && Math.sign(turn(a, b, p)) !== -sign && Math.sign(turn(b, c, p)) !== -sign && Math.sign(turn(c, a, p)) !== -sign);
      if (!blocked) curve.splice(at, 1);
    }
  }
}

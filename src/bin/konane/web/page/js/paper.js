// The drawing on the page: an SVG picture of it, and lines drawn with a mouse, a pen or a finger.

import { calm, put, svg } from "./dom.js";
import { PAPER, RADIUS, along, curveEnds, distance, livesIn, meet, middleOf, segments, segmentsOf, spotsOf, trace } from "./drawing.js";
import { relax } from "./relax.js";

/** Minimum distance between the drawing and the edge of the visible part of the paper. */
const ROOM = 35;

/** Distance within which the pointer takes a spot. */
const REACH = 17;

/** Frames of an animation, and steps of the layout in each. */
const FRAMES = 36;
const STEPS = 3;

const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** The pieces of a smooth path along points, after its start. Each piece stays in the triangle of three neighbours. */
function smooth(points) {
  const inner = points.slice(1, -1);
  return inner.length ? inner.map((p, k) => {
    const next = points[k + 2];
    return `Q${at(p)} ${at(k === inner.length - 1 ? next : { x: (p.x + next.x) / 2, y: (p.y + next.y) / 2 })}`;
  }).join("") : `L${at(points.at(-1))}`;
}

const path = (points) => `M${at(points[0])}${smooth(points)}`;

export class Paper {
  /** The drawing that is shown, or null. */
  drawing = null;
  /** True if the user may draw. */
  open = false;
  #selected = -1;
  #line = null;
  #frame = 0;
  #preview = null;
  /** A curve whose new spot is being placed. */
  #pending = null;

  /** `line(points, from, to)` is called with a line drawn from a spot to another one or -1, `tap(from, to)` for two taps. */
  constructor({ line, tap }) {
    this.events = { line, tap };
    this.layers = Object.fromEntries(["shade", "curves", "preview", "ink", "spots"].map((name) => [name, svg("g", { class: name })]));
    this.node = svg("svg", { class: "drawing", viewBox: `0 0 ${PAPER.width} ${PAPER.height}`, role: "img",
      onpointerdown: (event) => this.#down(event), onpointermove: (event) => this.#move(event), onpointerup: (event) => this.#up(event), onpointercancel: () => this.#drop(),
      // A touch that begins at a spot draws; elsewhere it scrolls the page.
      ontouchstart: (event) => this.#line && event.preventDefault() }, Object.values(this.layers));
  }

  /** Shows a drawing. With `settle` its points move to a better layout, in an animation unless motion is to be reduced. */
  show(drawing, settle = false) {
    this.#drop();
    this.#select(-1);
    this.preview(null);
    this.finish();
    this.drawing = drawing;
    if (settle && calm.matches) relax(drawing, FRAMES * STEPS);
    this.#draw();
    if (settle && !calm.matches) this.#animate(0);
  }

  /** Ends an animation at once. */
  finish() {
    if (!this.#frame) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    relax(this.drawing, STEPS * 10);
    this.#draw();
  }

  #animate(count) {
    this.#frame = requestAnimationFrame(() => {
      relax(this.drawing, STEPS, 4 * (1 - count / FRAMES));
      this.#draw();
      this.#frame = 0;
      if (count < FRAMES) this.#animate(count + 1);
      else this.preview(this.#preview);
    });
  }

  /** Shows the curve that `of` returns once no animation runs, or none. */
  preview(of) {
    this.#preview = of;
    if (this.#pending || this.#frame) return;
    const curve = of?.();
    if (curve) this.#sketch(curve, middleOf(curve));
    else put(this.layers.preview);
  }

  /** Lets the user choose a point of a curve, and returns its index; undefined if another position is shown before. */
  place(curve) {
    middleOf(curve);
    return new Promise((done) => {
      this.#pending = { curve, done };
      this.#sketch(curve, middleOf(curve));
    });
  }

  /** Shows a curve that is not played yet, and its new spot. */
  #sketch(curve, index) {
    put(this.layers.preview, svg("path", { d: path(curve) }), svg("circle", { cx: curve[index].x, cy: curve[index].y, r: 4.5 }));
  }

  #drop() {
    this.#line = null;
    put(this.layers.ink);
    this.#pending?.done();
    this.#pending = null;
  }

  #select(spot) {
    this.#selected = spot;
    for (const node of this.layers.spots.children) node.classList.toggle("selected", Number(node.dataset.spot) === spot);
  }

  #point(event) {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.node.getScreenCTM().inverse());
    const inside = (value, size) => Math.min(size - 3, Math.max(3, value));
    return { x: inside(x, PAPER.width), y: inside(y, PAPER.height) };
  }

  /** Shows the part of the paper that has curves and spots, with room around it. */
  #zoom() {
    const { spots, curves } = this.drawing;
    const points = [...spots, ...curves.flat()];
    const range = (values) => [Math.min(...values), Math.max(...values)];
    const [left, right] = range(points.map(({ x }) => x));
    const [top, bottom] = range(points.map(({ y }) => y));
    const part = Math.min(1, Math.max(0.6, (right - left + 2 * ROOM) / PAPER.width, (bottom - top + 2 * ROOM) / PAPER.height));
    const start = (low, high, size) => Math.min(size * (1 - part), Math.max(0, (low + high - size * part) / 2));
    this.node.setAttribute("viewBox", points.length ? [start(left, right, PAPER.width), start(top, bottom, PAPER.height),
      part * PAPER.width, part * PAPER.height].map((value) => value.toFixed(1)).join(" ") : `0 0 ${PAPER.width} ${PAPER.height}`);
  }

  #spotAt(point) {
    const near = this.drawing.spots.map((spot, number) => ({ number, away: distance(spot, point) })).filter(({ away }) => away < REACH);
    return near.sort((a, b) => a.away - b.away)[0]?.number ?? -1;
  }

  /** Index of the point of the pending curve that is closest to the pointer and can be a spot. */
  #nearest(point) {
    const { curve } = this.#pending;
    const indexes = curve.map((_, index) => index).slice(2, -2);
    return indexes.reduce((best, index) => distance(curve[index], point) < distance(curve[best], point) ? index : best);
  }

  #down(event) {
    if (!this.open || !this.drawing || this.#line || event.button !== 0) return;
    const point = this.#point(event);
    if (this.#pending) {
      const { done } = this.#pending;
      const index = this.#nearest(point);
      this.#pending = null;
      done(index);
      return;
    }
    this.finish();
    const from = this.#spotAt(point);
    if (from < 0) return;
    event.preventDefault();
    this.node.setPointerCapture(event.pointerId);
    this.#line = { from, points: [point], id: event.pointerId, crosses: false };
  }

  #move(event) {
    if (this.#pending) this.#sketch(this.#pending.curve, this.#nearest(this.#point(event)));
    if (this.#line?.id !== event.pointerId) return;
    const { points, from } = this.#line;
    const { spots } = this.drawing;
    const isFree = (point) => spots.every((spot) => distance(spot, point) > RADIUS);
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const [last, point] = [points.at(-1), this.#point(one)];
      if (distance(point, last) <= 2) continue;
      const others = [...segments(this.drawing), ...segmentsOf(points.slice(0, -2))];
      this.#line.crosses ||= isFree(last) && isFree(point) && others.some(([a, b]) => meet(last, point, a, b));
      points.push(point);
    }
    put(this.layers.ink, svg("path", { class: this.#line.crosses ? "refused" : null, d: path([spots[from], ...points]) }));
  }

  #up(event) {
    if (this.#line?.id !== event.pointerId) return;
    const { points, from } = this.#line;
    this.#drop();
    const spots = this.drawing.spots;
    if (points.every((point) => distance(point, points[0]) < 6)) {
      const first = this.#selected;
      this.#select(first < 0 ? from : -1);
      if (first >= 0) this.events.tap(first, from);
      return;
    }
    this.#select(-1);
    // A line that has not left its first spot's surroundings ends in the open.
    const to = this.#spotAt(points.at(-1));
    const left = points.some((point) => distance(point, spots[from]) > REACH);
    this.events.line(points, from, to === from && !left ? -1 : to);
  }

  #draw() {
    const { drawing } = this;
    const { shade, curves, spots } = this.layers;
    if (!drawing) return;
    this.#zoom();
    const regions = trace(drawing);
    const ends = curveEnds(drawing);
    const outline = (boundary) => boundary[0].half < 0 ? ""
      : `M${at(drawing.spots[boundary[0].spot])}${boundary.map(({ half }) => smooth(along(drawing, half))).join("")}Z`;
    const frame = `M0 0H${PAPER.width}V${PAPER.height}H0Z`;
    put(shade, regions.map((region, number) => livesIn(spotsOf([region])[0], ends) > 1 || !drawing.curves.length ? null
      : svg("path", { d: (number ? "" : frame) + region.map(outline).join(""), "fill-rule": "evenodd" })));
    const last = drawing.isMove ? drawing.curves.length - 2 : Infinity;
    put(curves, drawing.curves.map((curve, number) => svg("path", { class: number >= last ? "last" : null, d: path(curve) })));
    const kind = (spot, number) => spot.dead ? "omitted" : ends[number] < 3 ? "live" : "dead";
    put(spots, drawing.spots.map((spot, number) => svg("g",
      { class: `spot ${kind(spot, number)}${number === this.#selected ? " selected" : ""}`, "data-spot": number },
      svg("circle", { class: "dot", cx: spot.x, cy: spot.y, r: ends[number] < 3 ? RADIUS : 3.2 }),
      ends[number] < 3 ? svg("text", { x: spot.x, y: spot.y + 3.2 }, String(3 - ends[number])) : null,
      svg("circle", { class: "hit", cx: spot.x, cy: spot.y, r: REACH }))));
  }
}

// Charts with a logarithmic axis: lines over time, columns over whole numbers.

import { svg } from "./dom.js";
import { amount } from "./words.js";

const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 74, 14, 34];

/** Powers of ten from the smallest to the largest value, at most six of them. */
function decades(low, high) {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(Math.ceil(Math.log10(high)), first + 1);
  const step = Math.max(1, Math.ceil((last - first) / 5));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}

/** About five round times from 0 to the end. */
function times(end) {
  const rough = end / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, at) => at * step);
}

function seconds(time) {
  if (time < 120) return `${+time.toFixed(2)} s`;
  return time < 7200 ? `${+(time / 60).toFixed(1)} min` : `${+(time / 3600).toFixed(1)} h`;
}

/**
 * Lines over time. `series` are `{name, kind, points: [[seconds, value]]}`; values that are not
 * finite or not above zero leave a gap. `at` marks a time, `width` is that of the chart in pixels.
 */
export function lines(series, { label, width = 560, at = null }) {
  const finite = (value) => Number.isFinite(value) && value > 0;
  const all = series.flatMap(({ points }) => points);
  const values = all.map(([, value]) => value).filter(finite);
  const end = Math.max(...all.map(([time]) => time), 0.1);
  const ticks = decades(values.length ? Math.min(...values) : 1, Math.max(...values, 10));
  const [low, high] = [Math.log10(ticks[0]), Math.log10(Math.max(ticks.at(-1), ...values))];
  const x = (time) => LEFT + (time / end) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((Math.log10(value) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const path = (points) => {
    let [text, pen] = ["", false];
    for (const [time, value] of points) {
      if (finite(value)) text += `${pen ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = finite(value);
    }
    return text;
  };
  const tags = series.map(({ name, kind, points }) => ({ name, kind, last: points.findLast(([, value]) => finite(value)) }))
    .filter(({ last }) => last).map((tag) => ({ ...tag, top: y(tag.last[1]) }))
    .sort((one, two) => one.top - two.top);
  // Avoids overlaps of the names at the ends of lines.
  for (let index = 1; index < tags.length; index += 1) tags[index].top = Math.max(tags[index].top, tags[index - 1].top + 16);
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label },
    ticks.map((tick) => [svg("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, amount(tick))]),
    times(end).map((time) => svg("text", { class: "tick", x: x(time), y: HEIGHT - 12, "text-anchor": "middle" }, seconds(time))),
    at === null ? null : svg("line", { class: "moment", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }),
    series.map(({ kind, points }) => svg("path", { class: `trend ${kind}`, d: path(points) })),
    tags.map(({ name, kind, last, top }) => [svg("circle", { class: `tip ${kind}`, cx: x(last[0]), cy: y(last[1]), r: 3.5 }),
      svg("text", { class: `tag ${kind}`, x: x(last[0]) + 9, y: top + 4 }, name)]));
}

const LOW = 170;
const [BEFORE, BEHIND] = [44, 10];

/**
 * Columns over 0, 1, 2, ... for `bars`, which are `{value, kind, title}`. There is no column for a value of 0.
 * `most` is the largest value of all charts to be compared, `name` the label of the horizontal axis.
 */
export function columns(bars, { label, name, most, width = 560 }) {
  const ticks = decades(1, Math.max(most, 10));
  // The axis begins below 1, so that a value of 1 has a visible column.
  const [low, high] = [-0.4, Math.log10(Math.max(ticks.at(-1), most))];
  const [floor, extent] = [LOW - BOTTOM, LOW - TOP - BOTTOM];
  const y = (value) => floor - ((Math.log10(value) - low) / (high - low)) * extent;
  const step = (width - BEFORE - BEHIND) / bars.length;
  const thick = Math.min(Math.max(step * 0.72, 1), 28);
  const every = [1, 2, 5, 10, 20].find((count) => count * step >= 22) ?? 50;
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${LOW}`, role: "img", "aria-label": label },
    ticks.map((tick) => [svg("line", { class: "rule", x1: BEFORE, x2: width - BEHIND, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: BEFORE - 8, y: y(tick) + 4, "text-anchor": "end" }, amount(tick))]),
    svg("line", { class: "rule", x1: BEFORE, x2: width - BEHIND, y1: floor, y2: floor }),
    bars.map(({ value, kind, title }, at) => {
      const left = BEFORE + at * step;
      return svg("g", {}, svg("title", {}, title),
        svg("rect", { class: "hover", x: left, y: TOP, width: step, height: extent }),
        value > 0 && svg("rect", { class: `column ${kind}`, x: (left + (step - thick) / 2).toFixed(2), y: y(value).toFixed(2),
          width: thick.toFixed(2), height: (floor - y(value)).toFixed(2) }),
        at % every === 0 && svg("text", { class: "tick", x: left + step / 2, y: floor + 15, "text-anchor": "middle" }, String(at)));
    }),
    svg("text", { class: "tick", x: width - BEHIND, y: LOW - 5, "text-anchor": "end" }, name));
}

/**
 * Returns the length in percent of a bar for one of several numbers. The scale is logarithmic and begins at the least
 * of them, so that differences are visible, and has at least a factor of four.
 */
export function share(value, [least, most]) {
  if (!Number.isFinite(value)) return 100;
  if (value < 1) return 0;
  return 10 + 85 * (Math.log(value / least) / Math.log(Math.max(most / least, 4)));
}

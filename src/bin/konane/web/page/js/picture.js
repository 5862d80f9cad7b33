// Charts of a search, running or from a file: proof numbers over time, numbers of each move, the table. α-β has no
// proof numbers; its decided moves are shown.

import { lines, share } from "./charts.js";
import { el, put } from "./dom.js";
import { amount, badge, number } from "./words.js";

/** Maximum number of samples that are kept, spread evenly over the search. */
const MAX_SAMPLES = 1200;

function proofNumber(value) {
  return typeof value === "number" ? value : Infinity;
}

/** One sample, from an event of a live search or a line of a trace file. */
export function sample(raw) {
  const moves = (raw.moves ?? []).map((move) => ({ ...move, pn: proofNumber(move.pn), dn: proofNumber(move.dn) }));
  return { time: raw.seconds ?? 0, nodes: raw.nodes ?? 0, numbers: "pn" in raw, pn: proofNumber(raw.pn),
    dn: proofNumber(raw.dn), depth: raw.depth ?? 0, used: raw.table?.used ?? 0, capacity: raw.table?.capacity ?? 0, best: raw.best_move ?? null, moves };
}

/** Infinite numbers are equal. */
function compare(one, two) {
  return one === two ? 0 : one - two;
}

function shown(value) {
  return Number.isFinite(value) ? amount(value) : "\u221e";
}

export class Picture {
  #samples = [];
  #at = null;
  #due = false;

  constructor() {
    this.chart = el("div", { class: "plot" });
    this.slider = el("input", { type: "range", min: "0", value: "0", id: `moment-${Picture.count += 1}`,
      oninput: () => {
        const at = Number(this.slider.value);
        this.#at = at >= this.#samples.length - 1 ? null : at;
        this.#draw();
      } });
    this.moment = el("div", { class: "moment-choice", hidden: true },
      el("label", { for: this.slider.id }, "Show an earlier time"), this.slider);
    this.facts = el("dl", { class: "facts" });
    this.moves = el("div", { class: "scroll" });
    this.title = el("h3", {}, "Work left, over time");
    this.help = el("details", { class: "help" }, el("summary", {}, "What do these numbers mean?"),
      el("p", {}, "\u201cTo prove a win\u201d is the proof number: the least number of leaf positions of the search tree that still have "
        + "to be proven, so that the player to move is proven to win. \u201cTo prove a loss\u201d is the disproof number, the same for a "
        + "loss. A number is 0 when the proof is complete, and \u221e when there is none."),
      el("p", {}, "A leaf that has not been examined counts by an estimate of its own numbers, and a position that can be reached in "
        + "several ways may count several times. The numbers therefore rise and fall, and the real work can be more or less. Both "
        + "axes are logarithmic."),
      el("p", {}, "Each move has the same two numbers, for the player who makes it. The search continues where a proof seems nearest: "
        + "at the move with the least number to prove a win, and there at the answer with the least number to prove a loss."));
    this.node = el("div", { class: "picture", hidden: true }, this.facts, this.title, this.chart, this.moment, this.moves,
      this.help);
  }

  get shown() {
    return this.#samples.length > 0;
  }

  clear() {
    this.#samples = [];
    this.#at = null;
    this.node.hidden = true;
  }

  /** Adds a sample of a running search. */
  add(raw) {
    this.#samples.push(sample(raw));
    if (this.#samples.length > MAX_SAMPLES) {
      this.#samples = this.#samples.filter((_, at) => at % 2 === 1);
      if (this.#at !== null) this.#at >>= 1;
    }
    this.#later();
  }

  /** Shows the samples of a file, including the last one. */
  load(raws) {
    const step = Math.ceil(raws.length / MAX_SAMPLES);
    this.#samples = raws.filter((_, at) => (raws.length - 1 - at) % step === 0).map(sample);
    this.#at = null;
    this.#later();
  }

  #later() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#draw();
    });
  }

  #draw() {
    const samples = this.#samples;
    this.node.hidden = samples.length === 0;
    if (!samples.length) return;
    const now = samples[this.#at ?? samples.length - 1];
    const series = [["pn", "a win"], ["dn", "a loss"]].map(([kind, name]) =>
      ({ kind, name, points: samples.map((one) => [one.time, one[kind]]) }));
    const drawable = samples.filter(({ pn, dn }) => Number.isFinite(pn + dn) && pn * dn > 0).length > 1;
    this.title.hidden = !now.numbers;
    this.help.hidden = !now.numbers;
    put(this.chart, drawable ? lines(series, { width: Math.max(this.chart.clientWidth, 300), at: this.#at === null ? null : now.time,
      label: `Work left after ${now.time.toFixed(1)} seconds: ${shown(now.pn)} to prove a win, ${shown(now.dn)} to prove a loss` })
      : el("p", { class: "hint" }, now.numbers ? "Nothing to draw: the search was too short."
        : "\u03b1-\u03b2 has no proof numbers, so there are no lines to draw."));
    this.moment.hidden = samples.length < 3;
    this.slider.max = String(samples.length - 1);
    this.slider.value = String(this.#at ?? samples.length - 1);
    this.slider.setAttribute("aria-valuetext", `${now.time.toFixed(1)} seconds`);
    put(this.facts, this.#fact("Time", `${now.time.toFixed(1)} s`), this.#fact("Positions", number(now.nodes)),
      this.#fact("Per second", now.time > 0 ? amount(Math.round(now.nodes / now.time)) : "\u2013"),
      now.numbers ? [this.#fact("To prove a win", shown(now.pn), "pn"), this.#fact("To prove a loss", shown(now.dn), "dn")]
        : [now.depth ? this.#fact("Depth", number(now.depth)) : null, now.best ? this.#fact("Best move", now.best) : null],
      this.#table(now));
    if (now.numbers) this.#bars(now);
    else this.#decided(now);
  }

  #fact(name, value, kind = "") {
    return el("div", { class: kind }, el("dt", {}, name), el("dd", {}, value));
  }

  #table({ used, capacity }) {
    if (!capacity) return used ? this.#fact("In the table", number(used)) : null;
    const full = Math.min(100, (100 * used) / capacity);
    const meter = el("span", { class: "meter", "aria-hidden": "true" }, el("span", { class: "fill" }));
    meter.firstChild.style.width = `${full}%`;
    return el("div", {}, el("dt", {}, "Table filled"), el("dd", { title: `${number(used)} of ${number(capacity)}` },
      `${full < 10 ? full.toFixed(1) : Math.round(full)} %`, meter));
  }

  /** Lists the moves with a proof or disproof number of 0, which are decided. */
  #decided({ moves }) {
    const decided = moves.filter(({ pn, dn }) => pn === 0 || dn === 0);
    put(this.moves, decided.length ? el("p", {}, "Decided so far: ",
      decided.map(({ move, pn }, at) => [at ? ", " : "", badge(pn === 0 ? "win" : "loss"), ` ${move}`])) : null);
  }

  #bars({ moves, best }) {
    if (!moves.length) return put(this.moves);
    const range = (kind) => {
      const open = moves.map((move) => move[kind]).filter((value) => Number.isFinite(value) && value >= 1);
      return [Math.min(...open), Math.max(...open)];
    };
    const ranges = { pn: range("pn"), dn: range("dn") };
    const bar = (value, kind) => {
      const length = el("span", { class: `bar ${kind}` });
      length.style.width = `${share(value, ranges[kind])}%`;
      return el("td", {}, el("span", { class: "track", "aria-hidden": "true" }, length), el("span", { class: "amount" }, shown(value)));
    };
    const sorted = [...moves].sort((one, two) => compare(one.pn, two.pn) || compare(two.dn, one.dn));
    return put(this.moves, el("table", { class: "bars" }, el("caption", {}, "Each move, most promising first"),
      el("thead", {}, el("tr", {}, ["Move", "To prove a win", "To prove a loss"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, sorted.map(({ move, pn, dn }) => el("tr", { class: move === best ? "best" : "" },
        el("th", { scope: "row" }, move), bar(pn, "pn"), bar(dn, "dn"))))));
  }
}

Picture.count = 0;

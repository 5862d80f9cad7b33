// The panel of the program's databases and proofs.

import { dropped, get, Latest } from "./api.js";
import { columns } from "./charts.js";
import { el, put } from "./dom.js";
import { badge, bytes, capital, number, plies } from "./words.js";

/** Returns a number and its share of a total. */
function of(part, all) {
  return `${number(part)} (${Math.round((100 * part) / all)}\u00a0%)`;
}

export class Databases {
  #latest = new Latest();
  #loaded = false;

  constructor(panel) {
    this.panel = panel;
  }

  async update() {
    if (this.#loaded) return;
    this.#loaded = true;
    const { panel } = this;
    put(panel, el("h2", {}, "Databases"), el("p", { class: "hint pulse" }, "Loading ..."));
    const signal = this.#latest.signal();
    try {
      const [{ databases, errors = [] }, { proofs }] = await Promise.all([get("databases", {}, signal), get("proofs", {}, signal)]);
      put(panel, el("h2", {}, "Databases"), databases.length ? databases.map((one) => this.#database(one))
        : el("p", {}, "No database. A database contains the values of all positions of a board: build one with konane builddb "
          + "5x5, and name its directory with konane explore --db DIR."),
      errors.map((error) => el("p", { class: "error" }, error)), el("h2", {}, "Proofs"), proofs.length ? [el("p", { class: "hint" },
        "Proofs are trusted without verification: konane verify-proof FILE verifies one."), this.#proofs(proofs)]
        : el("p", {}, "No proof. A proof contains a winning reply to every move of the loser: write one with konane solve 6x6 "
          + "--proof FILE, and name it with konane explore --proof FILE."));
    } catch (error) {
      this.#loaded = false;
      if (!dropped(error)) put(panel, el("h2", {}, "Databases"), el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  #database(database) {
    const { layers = [], total } = database;
    const facts = [["Positions", database.scope === "reachable" ? "reachable from the start" : "all"],
      ["Stones", `up to ${database.max_stones}`], ["Number of positions", total && number(total.positions)],
      ["Black to move wins", total && of(total.black_to_move_wins, total.positions)],
      ["White to move wins", total && of(total.white_to_move_wins, total.positions)],
      ["Values", database.metric === "remoteness" ? "winner and plies to the end" : "winner"],
      ["Size", bytes(database.bytes)]].filter(([, value]) => value);
    return el("article", { class: "card" }, el("h3", {}, `${database.board} (${database.name})`),
      el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
      database.histogram ? this.#lengths(database) : null,
      layers.length ? el("details", { class: "help layers" }, el("summary", {}, "Layers, by the number of stones on the board"),
        el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Layers of ${database.board}` }, this.#layers(layers))) : null);
  }

  /** Returns charts of the positions by remoteness: one for each side to move, or one if both are equal. */
  #lengths({ board, histogram: { black, white } }) {
    const alike = black.length === white.length && black.every((count, at) => count === white[at]);
    const sides = alike ? [["either side to move", black]] : [["Black to move", black], ["White to move", white]];
    const longest = Math.max(black.length, white.length);
    const counts = sides.map(([side, found]) => [side, Array.from({ length: longest }, (_, at) => found[at] ?? 0)]);
    const most = Math.max(...black, ...white);
    // Width of the content of a card.
    const width = Math.max(this.panel.clientWidth - 36, 260);
    const figure = ([side, found]) => {
      const bars = found.map((value, at) => ({ value, kind: at % 2 ? "win" : "loss", title: `${plies(at)}: ${number(value)} positions` }));
      const top = found.indexOf(Math.max(...found));
      const label = `${board}, ${side}: positions by plies to their end, 0 to ${found.findLastIndex((value) => value > 0)}; `
        + `the most, ${number(found[top])}, have ${plies(top)}`;
      return el("figure", { class: "lengths" }, el("figcaption", {}, `Plies to the end, ${side}`),
        columns(bars, { label, name: "plies", most, width }));
    };
    return [counts.map(figure), el("p", { class: "hint key" }, el("span", {}, badge("win", true), " odd: the side to move wins"),
      el("span", {}, badge("loss", true), " even: it loses"), el("span", {}, "logarithmic axis")),
    el("details", { class: "help" }, el("summary", {}, "The numbers"), el("p", {},
      "Number of positions by plies to the end with best play."), el("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": `Plies to the end on ${board}` }, el("table", {}, el("caption", { class: "unseen" }, "Positions by the plies to their end"),
      el("thead", {}, el("tr", {}, ["Plies", ...sides.map(([side]) => capital(side))].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, Array.from({ length: longest }, (_, at) => el("tr", {}, el("th", { scope: "row" }, String(at)),
        counts.map(([, found]) => el("td", {}, number(found[at])))))))))];
  }

  #layers(layers) {
    const percent = (wins, positions) => positions ? (100 * wins) / positions : 0;
    const cell = (wins, positions) => {
      if (wins === undefined || wins === null) return el("td", {}, "");
      const fill = el("span", { class: "fill" });
      fill.style.width = `${percent(wins, positions)}%`;
      return el("td", { class: "share" }, number(wins), el("span", { class: "meter", "aria-hidden": "true" }, fill));
    };
    const columns = ["Stones", "Positions", "Black to move wins", "White to move wins", "Size"];
    return el("table", {}, el("caption", { class: "unseen" }, "Layers"),
      el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, layers.map((layer) => el("tr", {}, el("th", { scope: "row" }, String(layer.stones)),
        el("td", {}, number(layer.positions)), cell(layer.black_to_move_wins, layer.positions),
        cell(layer.white_to_move_wins, layer.positions), el("td", {}, layer.bytes === undefined ? "" : bytes(layer.bytes))))));
  }

  #proofs(proofs) {
    return el("div", { class: "scroll" }, el("table", {}, el("caption", { class: "unseen" }, "Proofs"),
      el("thead", {}, el("tr", {}, ["Board", "File", "Winner", "Positions", "Size"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, proofs.map((proof) => el("tr", {}, el("th", { scope: "row" }, proof.board), el("td", {}, proof.name), el("td", {}, capital(proof.winner)),
        el("td", {}, number(proof.positions)), el("td", {}, bytes(proof.bytes)))))));
  }
}

// The databases and proofs that the program has found.

import { dropped, get, Latest } from "./api.js";
import { el, put } from "./dom.js";
import { bytes, capital, number } from "./words.js";

/** A number and its share of all. */
function of(part, all) {
  return `${number(part)} (${Math.round((100 * part) / all)} %)`;
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
    put(panel, el("h2", {}, "Databases"), el("p", { class: "hint pulse" }, "Looking ..."));
    const signal = this.#latest.signal();
    try {
      const [{ databases, errors = [] }, { proofs }] = await Promise.all([get("databases", {}, signal), get("proofs", {}, signal)]);
      put(panel, el("h2", {}, "Databases"), databases.length ? databases.map((one) => this.#database(one))
        : el("p", {}, "There is none. A database holds the values of all positions of a board; konane builddb 5x5 makes "
          + "one, and konane explore --db DIR looks for them in a folder."),
      errors.map((error) => el("p", { class: "error" }, error)), el("h2", {}, "Proofs"), proofs.length ? this.#proofs(proofs)
        : el("p", {}, "There is none. A proof holds a winning reply to every move of the loser; konane solve 6x6 --proof FILE "
          + "writes one, konane verify-proof checks it, and konane explore --proof FILE shows it here."));
    } catch (error) {
      this.#loaded = false;
      if (!dropped(error)) put(panel, el("h2", {}, "Databases"), el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  #database(database) {
    const { layers = [], total } = database;
    const facts = [["Positions", database.scope === "reachable" ? "those that games reach" : "all"],
      ["Stones", `up to ${database.max_stones}`], ["Number of positions", total && number(total.positions)],
      ["Black to move wins", total && of(total.black_to_move_wins, total.positions)],
      ["White to move wins", total && of(total.white_to_move_wins, total.positions)],
      ["Values", database.metric === "remoteness" ? "winner and plies to the end" : "winner"],
      ["Size", bytes(database.bytes)]].filter(([, value]) => value);
    return el("article", { class: "card" }, el("h3", {}, `${database.board} (${database.name})`),
      el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
      layers.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Layers of ${database.board}` }, this.#layers(layers)) : null);
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
    return el("table", {}, el("caption", {}, "Layers, by the number of stones on the board"),
      el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, layers.map((layer) => el("tr", {}, el("th", { scope: "row" }, String(layer.stones)),
        el("td", {}, number(layer.positions)), cell(layer.black_to_move_wins, layer.positions),
        cell(layer.white_to_move_wins, layer.positions), el("td", {}, layer.bytes === undefined ? "" : bytes(layer.bytes))))));
  }

  #proofs(proofs) {
    return el("div", { class: "scroll" }, el("table", {}, el("caption", { class: "unseen" }, "Proofs"),
      el("thead", {}, el("tr", {}, ["Board", "Winner", "Positions", "Size"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, proofs.map((proof) => el("tr", {}, el("th", { scope: "row", title: proof.name }, proof.board), el("td", {}, capital(proof.winner)),
        el("td", {}, number(proof.positions)), el("td", {}, bytes(proof.bytes)))))));
  }
}

// The panel of the program's databases and proofs: first those of the board, then those of other boards.

import { dropped, get, Latest } from "./api.js";
import { columns } from "./charts.js";
import { el, put } from "./dom.js";
import { sleep, visible } from "./judge.js";
import { dimensions, startStones, writePosition } from "./position.js";
import { badge, bytes, capital, number, plies } from "./words.js";

/** Interval in which new databases are looked for, in milliseconds. */
const REFRESH = 5000;

/** Returns the number of positions with one side to move. Unknown in a database of the reachable positions. */
function ofOneSide({ scope }, positions) {
  return scope === "complete" ? positions / 2 : null;
}

/** Returns a number of wins and its share of the positions with the same side to move, or of all positions. */
function wins(database, part) {
  const all = ofOneSide(database, database.total.positions);
  const percent = Math.round((100 * part) / (all ?? database.total.positions));
  return `${number(part)} (${percent}\u00a0%${all ? "" : " of all"})`;
}

/** Returns what a database contains. */
function content({ board, scope, metric, max_stones: stones }) {
  const { ranks, files } = dimensions(board);
  const values = metric === "remoteness" ? "who wins, and in how many plies" : "who wins";
  const most = stones < ranks * files ? ` with up to ${stones} stones` : "";
  const which = scope === "reachable" ? `Positions${most} that games can reach` : most ? `Positions${most}` : "All positions";
  return `${which}: ${values}`;
}

export class Databases {
  #latest = new Latest();
  #board = "";
  /** The databases that are shown, as JSON, and for which board. */
  #files = "";
  #drawn = "";

  constructor(panel, view) {
    this.panel = panel;
    this.view = view;
  }

  async update(answer, { board }) {
    if (!this.view.size || this.#board === board) return;
    this.#board = board;
    const signal = this.#latest.signal();
    const title = el("h2", {}, `Files about ${board}`);
    if (board !== this.#drawn) put(this.panel, title, el("p", { class: "hint pulse" }, "Loading ..."));
    try {
      const { proofs } = await get("proofs", {}, signal);
      // New databases appear while the panel is shown.
      while (this.view.tabs.shown === "databases") {
        const { databases, errors = [] } = await get("databases", {}, signal);
        const files = JSON.stringify([databases, errors]);
        const isNew = files !== this.#files;
        if (isNew || board !== this.#drawn) this.#draw(title, databases, errors, proofs);
        if (isNew && this.#files) this.view.renew();
        [this.#files, this.#drawn] = [files, board];
        await sleep(REFRESH, signal);
        await visible(signal);
      }
      this.#board = "";
    } catch (error) {
      if (dropped(error)) return;
      this.#board = "";
      this.#drawn = "";
      put(this.panel, title, el("p", { class: "error", role: "alert" }, capital(error.message)));
    }
  }

  #draw(title, databases, errors, proofs) {
    const board = this.#board;
    const here = (file) => file.board === board;
    const others = [...databases, ...proofs].filter((file) => !here(file));
    const article = (file) => file.root ? this.#proof(file) : this.#database(file);
    put(this.panel, title, errors.map((error) => el("p", { class: "error" }, error)),
      databases.filter(here).map(article),
      databases.some(here) ? null : el("p", {}, "No database. A database contains the values of all positions of a board: build one with ",
        el("span", { class: "code" }, `konane builddb ${board}`), " if it is small enough, and start the page with ",
        el("span", { class: "code" }, "konane explore --db DIR"), "."),
      proofs.filter(here).map(article),
      proofs.some(here) ? null : el("p", {}, "No proof. A proof contains a winning answer to every move of the loser: write one with ",
        el("span", { class: "code" }, `konane solve ${board} --proof FILE`), ", and start the page with ",
        el("span", { class: "code" }, "konane explore --proof FILE"), "."),
      others.length ? [el("h2", {}, "Files about other boards"), others.map((file) => el("details", { class: "help other" },
        el("summary", {}, `${file.board}: ${file.root ? this.#proven(file) : content(file)}`), article(file)))] : null);
  }

  #proven({ board, root, winner }) {
    const size = dimensions(board);
    const start = writePosition(startStones(size), "black", size);
    return `Proof that ${capital(winner)} wins${root === start ? " from the start" : ""}`;
  }

  #facts(facts) {
    return el("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  #proof(proof) {
    return el("article", { class: "card proof" }, el("h3", {}, this.#proven(proof)),
      el("p", { class: "hint" }, `File ${proof.name}, trusted without verification: konane verify-proof FILE verifies it.`),
      this.#facts([["Positions", number(proof.positions)], ["Size", bytes(proof.bytes)]]));
  }

  #database(database) {
    const { board, name, layers = [], total } = database;
    return el("article", { class: "card" }, el("h3", {}, content(database)), el("p", { class: "hint" }, `Directory ${name}`),
      this.#facts([["Number of positions", total && number(total.positions)],
        ["Black to move wins", total && wins(database, total.black_to_move_wins)],
        ["White to move wins", total && wins(database, total.white_to_move_wins)], ["Size", bytes(database.bytes)]]),
      database.histogram ? this.#lengths(database) : null,
      layers.length ? el("details", { class: "help layers" }, el("summary", {}, "By the number of stones on the board"),
        el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Positions of ${board} by stones` }, this.#layers(database))) : null);
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

  #layers(database) {
    const { layers } = database;
    const percent = (wins, positions) => positions ? (100 * wins) / (ofOneSide(database, positions) ?? positions) : 0;
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
}

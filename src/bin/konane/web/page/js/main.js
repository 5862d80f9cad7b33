// The page: selection of game and board, and their views.

import { get, onReach } from "./api.js";
import { el, put } from "./dom.js";
import { begin } from "./judge.js";
import { dimensions } from "./position.js";
import { go, listen, state } from "./state.js";
import { Tour } from "./tour.js";

const tour = new Tour();
const COMMON = ["3x3", "4x4", "4x5", "4x6", "5x5", "5x6", "6x6", "6x7", "7x7", "8x7", "8x8"];
const main = document.getElementById("view");
const choice = document.getElementById("choice");
const gone = document.getElementById("gone");
/** The views by game, which are loaded when they are needed. */
const views = {};
const LOAD = {
  konane: () => import("./konane.js").then(({ Konane }) => new Konane(tour)),
  sprouts: () => import("./sprouts.js").then(({ Sprouts }) => new Sprouts()),
};
let notes = new Map(COMMON.map((board) => [board, ""]));
let shown = null;

/** Returns the information about a board that needs no search. */
function about({ database_stones: stones, proofs, winner, board }) {
  const { ranks, files } = dimensions(board);
  if (winner) return `${winner === "black" ? "Black" : "White"} wins, proof`;
  if (stones !== undefined) return stones === ranks * files ? "database" : `database up to ${stones} stones`;
  return proofs ? "proof" : "";
}

function boards(current) {
  const select = el("select", { id: "board", onchange: () => {
    if (select.value === "other") return other(current);
    return go({ board: select.value, pos: "", moves: [], at: 0 });
  } }, [...notes].map(([board, note]) => el("option", { value: board, selected: board === current },
    note ? `${board} \u2013 ${note}` : board)),
  notes.has(current) ? null : el("option", { value: current, selected: true }, current),
  el("option", { value: "other" }, "other size ..."));
  put(choice, el("label", { for: "board", class: "wordy" }, "Board"), select);
}

/** Shows a text field for any number of ranks and files. */
function other(current) {
  const text = el("input", { id: "board", type: "text", inputmode: "text", size: "6", placeholder: "6x6", value: current,
    pattern: "\\s*[0-9]+\\s*[xX\u00d7]\\s*[0-9]+\\s*", title: "ranks x files, such as 5x7, up to 64 squares" });
  put(choice, el("label", { for: "board" }, "Ranks x files"), text, el("button", { type: "submit" }, "Go"));
  text.focus();
  text.select();
}

choice.addEventListener("submit", (event) => {
  event.preventDefault();
  const board = document.getElementById("board").value.toLowerCase().replace(/\s/g, "").replace("\u00d7", "x");
  go({ board, pos: "", moves: [], at: 0 });
  boards(board);
  document.getElementById("board").focus();
});

async function show(now) {
  if (!views[now.game]) {
    try {
      const view = await LOAD[now.game]();
      views[now.game] ??= view;
    } catch {
      return unreachable(true);
    }
    // The address may have changed since.
    if (now !== state()) return undefined;
  }
  const other = shown === null || shown !== views[now.game];
  if (other) {
    shown?.leave();
    shown = views[now.game];
    put(main, shown.node);
  }
  for (const button of document.querySelectorAll("#games button")) {
    button.setAttribute("aria-pressed", String(button.dataset.game === now.game));
  }
  choice.hidden = now.game !== "konane";
  if (now.game === "konane" && document.getElementById("board")?.value !== now.board) boards(now.board);
  // The browser's history shows the title.
  const what = now.game === "konane" ? `Konane ${now.board}${now.at ? `, move ${now.at}` : ""}` : `Sprouts ${now.pos}`;
  document.title = `${what} \u2013 explorer`;
  return shown.update(now, other);
}

for (const button of document.querySelectorAll("#games button")) {
  button.addEventListener("click", () => go({ game: button.dataset.game }));
}

function unreachable(isGone) {
  if (gone.hidden === !isGone) return;
  gone.hidden = !isGone;
  put(gone, !isGone ? [] : [el("p", {}, "The program does not respond. If it was stopped, start konane explore again "
    + "and open the address that it prints."), el("button", { type: "button", onclick: () => location.reload() }, "Try again")]);
}

onReach((answers) => unreachable(!answers));

main.before(tour.node);
tour.offer();
listen(show);
const first = state();
if (first.game === "konane" && dimensions(first.board)) begin(first.board, first.pos, first.moves.slice(0, first.at));
show(first);

try {
  const { version } = await get("version");
  document.getElementById("version").textContent = `konane ${version}`;
  const { boards: found } = await get("boards");
  for (const one of found) {
    const text = about(one);
    if (text || notes.has(one.board)) notes.set(one.board, text);
  }
  notes = new Map([...notes].sort(([one], [two]) => {
    const [first, second] = [dimensions(one), dimensions(two)];
    return first.ranks * first.files - second.ranks * second.files || first.ranks - second.ranks;
  }));
  if (state().game === "konane") boards(state().board);
} catch {
  // A connection error is already shown. For an older program, the common boards remain.
}

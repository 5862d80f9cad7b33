// The search panel: starts and stops a search of the program and shows its progress. One search runs at a time.

import { ApiError, post, remove, url } from "./api.js";
import { announce, el, put } from "./dom.js";
import { Picture } from "./picture.js";
import { format } from "./state.js";
import { amount, capital } from "./words.js";

const MEMORIES = [["", "maximum"], ["16MiB", "16 MiB"], ["64MiB", "64 MiB"], ["256MiB", "256 MiB"], ["1GiB", "1 GiB"],
  ["4GiB", "4 GiB"]];
const TIMES = [["10", "10 seconds"], ["60", "1 minute"], ["600", "10 minutes"], ["3600", "1 hour"], ["", "none"]];
/** The methods in plain words. */
const METHODS = {
  dfpn: "df-pn, depth-first proof-number search: it goes where a proof is nearest, and keeps results in a table. The fastest method.",
  pn2: "PN\u00b2: proof-number search with its tree in memory; a second search examines each leaf, which saves memory.",
  pns: "PNS: proof-number search with the whole tree in memory. It examines the fewest positions, and needs the most memory.",
};
/** Key in the local storage for the running search, which a reloaded page and other tabs then follow. */
const NOTE = "konane.search";

function path(id) {
  return `searches/${encodeURIComponent(id)}`;
}

function eventsOf(id) {
  return new EventSource(url(`${path(id)}/events`));
}

/** The panel for both games. Positions and result texts come from the game's options. */
export class SearchPanel {
  #events = null;
  #id = null;
  /** The status text, and the request that it refers to. */
  #status = null;

  /**
   * `question()` returns the position of the request, or null if there is nothing to search. `place(question)`
   * returns the address of that position.
   */
  constructor(panel, { game, algorithms, question, place, ended, result }) {
    this.game = game;
    this.question = question;
    this.place = place;
    this.result = result;
    this.ended = ended;
    const select = (name, options, chosen) => el("select", { id: `${game}-${name}` }, options.map(([value, text]) =>
      el("option", { value, selected: value === chosen }, text)));
    this.algorithm = select("algorithm", algorithms, algorithms[0][0]);
    this.method = el("p", { class: "hint" });
    const explain = () => put(this.method, METHODS[this.algorithm.value]);
    this.algorithm.addEventListener("change", explain);
    explain();
    this.memory = select("memory", MEMORIES, "");
    this.time = select("time", TIMES, "60");
    const field = (control, name) => el("div", { class: "field" }, el("label", { for: control.id }, name), control);
    this.start = el("button", { type: "submit", class: "primary" }, "Start");
    this.stop = el("button", { type: "button", hidden: true, onclick: () => this.#stop() }, "Stop");
    this.said = el("p", { class: "result", role: "status" });
    this.problem = el("p", { class: "error", role: "alert", hidden: true });
    this.picture = new Picture();
    this.file = el("input", { type: "file", id: `${game}-trace`, class: "unseen", accept: ".jsonl,.json,.txt",
      onchange: () => this.#open() });
    this.form = el("form", { class: "options", onsubmit: (event) => {
      event.preventDefault();
      this.#start();
    } }, field(this.algorithm, "Method"), field(this.memory, "Memory"), field(this.time, "Time limit"),
    el("div", { class: "buttons" }, this.start, this.stop, this.file,
      el("label", { for: this.file.id, class: "button", title: "A file written by konane solve --trace" }, "Open a trace file")));
    panel.append(el("h2", {}, "Search"), el("p", { class: "hint" },
      "Search this position and follow its progress. One search runs at a time."),
    this.form, this.method, this.problem, this.said, this.picture.node);
  }

  update() {
    if (this.#id === null) this.#resume();
    this.start.disabled = !this.question() || this.#id !== null;
    this.#showStatus();
  }

  /** Follows a search that was started before the page was loaded, or in another tab. */
  #resume() {
    try {
      const note = JSON.parse(localStorage.getItem(NOTE));
      if (note?.game !== this.game) return;
      this.picture.clear();
      this.#running(note.id);
      this.#follow(note.id, note.question);
    } catch {
      localStorage.removeItem(NOTE);
    }
  }

  /** Sets the status text, and the request that it refers to, if any. */
  #say(text, question = null) {
    this.#status = { text, question, put: null };
    this.#showStatus();
  }

  /** Shows the status text, with a link to the searched position if another one is shown. */
  #showStatus() {
    if (!this.#status) return;
    const { text, question } = this.#status;
    const now = this.question();
    const elsewhere = question && now && (now.board !== question.board || now.position !== question.position);
    // Screen readers would read an unchanged text again.
    if (this.#status.put === Boolean(elsewhere)) return;
    this.#status.put = Boolean(elsewhere);
    put(this.said, text, elsewhere ? [" This is about ", el("a", { href: this.place(question) }, "another position"), "."] : null);
  }

  /** Shows an error, with a button that stops the search that prevents the request, if there is one. */
  #fail(text, search) {
    put(this.problem, text, search ? [" ", el("button", { type: "button", class: "small", onclick: () => this.#end(search) },
      "Stop that search")] : null);
    this.problem.hidden = !text;
  }

  /** Stops a search of another page, and waits for its end. */
  async #end(id) {
    this.#fail("");
    this.start.focus();
    this.#say("Stopping that search ...");
    try {
      await remove(path(id));
      const events = eventsOf(id);
      events.addEventListener("end", () => {
        events.close();
        this.#say("That search has been stopped.");
      });
    } catch (error) {
      this.#say("");
      this.#fail(capital(error.message));
    }
  }

  #running(id) {
    this.#id = id;
    // The keyboard focus moves from the hidden button to the visible one.
    const held = document.activeElement === this.start || document.activeElement === this.stop;
    this.stop.hidden = id === null;
    this.start.hidden = id !== null;
    this.start.disabled = id !== null;
    if (held) (id === null ? this.start : this.stop).focus();
  }

  async #start() {
    const question = this.question();
    if (!question) return;
    this.#fail("");
    this.picture.clear();
    this.#say("Starting the search ...");
    const limits = this.time.value ? { seconds: Number(this.time.value) } : {};
    try {
      const { id } = await post("searches", { game: this.game, ...question, algo: this.algorithm.value,
        memory: this.memory.value || undefined, limits });
      localStorage.setItem(NOTE, JSON.stringify({ id, game: this.game, question }));
      this.#running(id);
      announce("The search is running.");
      this.#follow(id, question);
    } catch (error) {
      this.#say("");
      this.#fail(capital(error.message), error.search);
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #follow(id, question) {
    const events = eventsOf(id);
    this.#events = events;
    events.onopen = () => this.#say("The search is running ...", question);
    events.addEventListener("progress", ({ data }) => this.picture.add(JSON.parse(data)));
    events.addEventListener("end", ({ data }) => {
      events.close();
      localStorage.removeItem(NOTE);
      const end = JSON.parse(data);
      this.#running(null);
      this.#say(`${this.result(end, question)}${end.nodes ? ` ${amount(end.nodes)} positions were evaluated.` : ""}`, question);
      this.ended?.();
    });
    events.onerror = () => {
      // The stream also closes when the page is left or reloaded. The next page then needs the stored note.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.#lost(events), 300);
    };
  }

  /** Handles a stream that was closed before the end of the search. */
  #lost(events) {
    if (this.#events !== events || this.#id === null) return;
    localStorage.removeItem(NOTE);
    this.#running(null);
    this.#say("");
    // Without samples, the search was one of an earlier run of the program.
    if (this.picture.shown) this.#fail("The connection to the search is lost: the program has stopped it or does not respond.");
  }

  async #stop() {
    if (this.#id === null) return;
    this.#say("Stopping the search ...");
    try {
      await remove(path(this.#id));
    } catch (error) {
      this.#fail(capital(error.message));
    }
  }

  async #open() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    this.#fail("");
    try {
      const samples = readTrace(await file.text());
      this.picture.load(samples);
      this.#say(`${file.name}: ${samples.length} samples of a search.`);
    } catch (error) {
      this.picture.clear();
      this.#fail(error.message);
    }
  }

  /** Closes the stream. The search continues, and is followed again when the panel is shown again. */
  leave() {
    this.#events?.close();
    this.#events = null;
    this.#id = null;
  }
}

/** The search of a Konane position. */
export class KonaneSearch extends SearchPanel {
  constructor(panel, view) {
    super(panel, { game: "konane",
      algorithms: [["dfpn", "df-pn"], ["pn2", "PN\u00b2"], ["pns", "PNS"]],
      question: () => view.answer && !view.setup.open ? { board: view.state.board, position: view.answer.position } : null,
      place: ({ board, position }) => format({ game: "konane", board, pos: position, tab: "search" }),
      result: ({ outcome, winner, reason, error, best_move: best }, { board }) => outcome !== "unknown"
        ? `${board}: ${capital(winner)} wins${outcome === "win" && best ? `, for instance with ${best}` : ""}.`
        : `${board}: unknown${reason || error ? ` (${reason ?? error})` : ""}.`,
      ended: () => view.resume() });
  }
}

/**
 * Parses a trace: one JSON object per line, as `konane solve --trace FILE` writes it. Samples of α-β have a depth
 * instead of proof numbers. Throws an error that names the line.
 */
export function readTrace(text) {
  const samples = [];
  const lines = text.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    if (!line.trim()) continue;
    let sample;
    try {
      sample = JSON.parse(line);
    } catch {
      // A killed search leaves an incomplete last line.
      if (samples.length && at >= lines.length - 2) break;
      throw new Error(`Line ${at + 1} is not JSON. Choose a file written by konane solve --trace FILE.`);
    }
    if (typeof sample?.seconds !== "number" || !("pn" in sample || "depth" in sample)) {
      throw new Error(`Line ${at + 1} has no seconds, or neither a proof number (pn) nor a depth. `
        + "Choose a file written by konane solve --trace FILE.");
    }
    samples.push(sample);
  }
  if (!samples.length) throw new Error("The file is empty.");
  return samples;
}

// A search to look at: started and stopped here, run by the program, one at a time.

import { ApiError, post, remove, url } from "./api.js";
import { announce, el, put } from "./dom.js";
import { Picture } from "./picture.js";
import { format } from "./state.js";
import { amount, capital } from "./words.js";

const MEMORIES = [["", "as much as allowed"], ["16MiB", "16 MiB"], ["64MiB", "64 MiB"], ["256MiB", "256 MiB"], ["1GiB", "1 GiB"],
  ["4GiB", "4 GiB"]];
const TIMES = [["10", "10 seconds"], ["60", "1 minute"], ["600", "10 minutes"], ["3600", "1 hour"], ["", "none"]];
/** Where the running search is noted, so that it is found again after a reload and in other tabs. */
const NOTE = "konane.search";

function path(id) {
  return `searches/${encodeURIComponent(id)}`;
}

function eventsOf(id) {
  return new EventSource(url(`${path(id)}/events`));
}

/** What a search is about and how it ends in words are the game's. */
export class SearchPanel {
  #events = null;
  #id = null;
  /** What is said of the search, and what was searched. */
  #told = null;

  /**
   * `question()` gives what to send beside the options, null if there is nothing to search; `place(question)`
   * is the address of what was searched.
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
      el("label", { for: this.file.id, class: "button", title: "A file that konane solve --trace has written" }, "Open a trace file")));
    panel.append(el("h2", {}, "Search"), el("p", { class: "hint" },
      "Search this position and watch how the search gets on. There is one search at a time."),
    this.form, this.problem, this.said, this.picture.node);
  }

  update() {
    if (this.#id === null) this.#resume();
    this.start.disabled = !this.question() || this.#id !== null;
    this.#tell();
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

  /** Says something; with a question, of the search for its answer. */
  #say(text, question = null) {
    this.#told = { text, question, put: null };
    this.#tell();
  }

  /** Where another position is shown than the one that was searched, there is a link to that. */
  #tell() {
    if (!this.#told) return;
    const { text, question } = this.#told;
    const now = this.question();
    const elsewhere = question && now && (now.board !== question.board || now.position !== question.position);
    // Screen readers read it again when it is put again.
    if (this.#told.put === Boolean(elsewhere)) return;
    this.#told.put = Boolean(elsewhere);
    put(this.said, text, elsewhere ? [" This is about ", el("a", { href: this.place(question) }, "another position"), "."] : null);
  }

  /** Says what is wrong; where a search is in the way, with a button that ends it. */
  #fail(text, search) {
    put(this.problem, text, search ? [" ", el("button", { type: "button", class: "small", onclick: () => this.#end(search) },
      "End that search")] : null);
    this.problem.hidden = !text;
  }

  /** Ends a search that another page began, and waits for its end, so that another one can begin. */
  async #end(id) {
    this.#fail("");
    this.start.focus();
    this.#say("That search stops ...");
    try {
      await remove(path(id));
      const events = eventsOf(id);
      events.addEventListener("end", () => {
        events.close();
        this.#say("That search has been ended.");
      });
    } catch (error) {
      this.#say("");
      this.#fail(capital(error.message));
    }
  }

  #running(id) {
    this.#id = id;
    // Who has just pressed one of the two goes on with the other.
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
    this.#say("The search starts ...");
    const limits = this.time.value ? { seconds: Number(this.time.value) } : {};
    try {
      const { id } = await post("searches", { game: this.game, ...question, algo: this.algorithm.value,
        memory: this.memory.value || undefined, limits });
      localStorage.setItem(NOTE, JSON.stringify({ id, game: this.game, question }));
      this.#running(id);
      announce("The search runs.");
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
    events.onopen = () => this.#say("The search runs ...", question);
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
      // A page that is being left or loaded again hears of this as well; the note is for the next one.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.#lost(events), 300);
    };
  }

  /** The stream has ended for good, without an end of the search. */
  #lost(events) {
    if (this.#events !== events || this.#id === null) return;
    localStorage.removeItem(NOTE);
    this.#running(null);
    this.#say("");
    // A search of an earlier run of the program has nothing to tell.
    if (this.picture.shown) this.#fail("The search cannot be followed any more: the program has ended it, or does not answer.");
  }

  async #stop() {
    if (this.#id === null) return;
    this.#say("The search stops ...");
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
      this.#say(`${file.name}: ${samples.length} moments of a search.`);
    } catch (error) {
      this.picture.clear();
      this.#fail(error.message);
    }
  }

  /** Ends the stream. The search goes on, and is followed again when the panel comes back. */
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
      question: () => view.answer ? { board: view.state.board, position: view.answer.position } : null,
      place: ({ board, position }) => format({ game: "konane", board, pos: position, tab: "search" }),
      result: ({ outcome, winner, reason, error, best_move: best }, { board }) => outcome !== "unknown"
        ? `${board}: ${capital(winner)} wins${outcome === "win" && best ? `, for instance with ${best}` : ""}.`
        : `${board}: unknown${reason || error ? ` (${reason ?? error})` : ""}.`,
      ended: () => view.resume() });
  }
}

/**
 * The samples of a trace: one JSON object a line, as `konane solve --trace FILE` writes them. Those of α-β have a
 * depth in place of proof numbers. Throws an error that names the line.
 */
function readTrace(text) {
  const samples = [];
  const lines = text.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    if (!line.trim()) continue;
    let sample;
    try {
      sample = JSON.parse(line);
    } catch {
      // A killed search leaves a part of a line at the end.
      if (samples.length && at >= lines.length - 2) break;
      throw new Error(`Line ${at + 1} is no JSON. A trace is what konane solve --trace FILE writes.`);
    }
    if (typeof sample?.seconds !== "number" || !("pn" in sample || "depth" in sample)) {
      throw new Error(`Line ${at + 1} has no seconds, or neither a proof number (pn) nor a depth. `
        + "A trace is what konane solve --trace FILE writes.");
    }
    samples.push(sample);
  }
  if (!samples.length) throw new Error("The file is empty.");
  return samples;
}

#!/usr/bin/env python3
"""Reproduces the tables and figures of the papers on which the program is based.

    papers/reproduce.py --list               name all rows
    papers/reproduce.py thesis-4.2 mpp-fig4  run the commands of these rows
    papers/reproduce.py --quick              run the commands that take less than a minute, of all rows
    papers/reproduce.py --all                run the commands of all rows
    papers/reproduce.py --positions          choose the positions of the rows of Kaneko's paper again

`cargo xtask reproduce ...` runs this script. A row is a published table or figure. Its commands are run one
after the other, and their JSON is recorded in papers/results.jsonl, one line per run. A run is skipped if there
is a record by a program with the same signature (`konane bench`) on the same kind of processor; `--again`
repeats it. Records that belong to no row are kept. The comparison with the published numbers, which are in
tests/data, uses the records only: `cargo xtask pages reproduction` writes docs/reproduction.md, and a CSV table
and a figure of each row in docs/reproduction. To add a row, add it to `ROWS`.
"""

import argparse
import csv
import json
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "xtask"))

import page_parts  # noqa: E402
from page_parts import ALGORITHMS, DOCS, ROOT, Problem, Record  # noqa: E402

RESULTS = FOLDER / "results.jsonl"
POSITIONS = FOLDER / "positions.csv"
TEMPLATE = FOLDER / "reproduction.md"

# Measured quantities within this factor of the published ones are equal. Exact ones must be the same.
TOLERANCE = 1.1
# Shorter times are not compared: they are those of the start of the program.
MIN_SECONDS = 0.01
EXACT, AS_PUBLISHED, LESS, MORE = "exact", "as published", "less is better", "more is better"
# Quantities that are not listed are exact. Only times can be better than the published ones: a search of the same
# algorithm visits the same nodes, so another count, also a smaller one, is a difference to be explained.
GOALS = {
    "nodes": AS_PUBLISHED,
    "L1 nodes": AS_PUBLISHED,
    "L2 nodes": AS_PUBLISHED,
    "share of the states, %": AS_PUBLISHED,
    "search overhead": AS_PUBLISHED,
    "nodes visited": AS_PUBLISHED,
    "visited overhead": AS_PUBLISHED,
    "nodes stored": AS_PUBLISHED,
    "stored overhead": AS_PUBLISHED,
    "expansions": AS_PUBLISHED,
    "Grundy numbers": AS_PUBLISHED,
    "Grundy numbers, one digit": AS_PUBLISHED,
    "seconds": LESS,
    "deviation of the seconds": LESS,
    "speed-up": MORE,
    "efficiency": MORE,
    "throughput": MORE,
    "utilisation, %": MORE,
}
VERDICTS = ["equal", "better", "different", "not reproducible", "not run"]


class Cell(NamedTuple):
    """One number, or one word such as a winner, of a table or figure. None: not published, or not measured."""

    series: str
    case: str | int | float
    quantity: str
    published: str | int | float | None
    ours: str | int | float | None

    @property
    def goal(self):
        return GOALS.get(self.quantity, EXACT)

    @property
    def verdict(self):
        """A verdict on this number; None without a number on both sides."""
        if self.published is None or self.ours is None:
            return None
        if self.published == self.ours:
            return "equal"
        if self.goal == EXACT:
            return "different"
        if self.quantity == "seconds" and max(self.published, self.ours) < MIN_SECONDS:
            return "equal"
        less, more = self.published / TOLERANCE, self.published * TOLERANCE
        if less <= self.ours <= more:
            return "equal"
        is_better = self.goal == LESS and self.ours < less or self.goal == MORE and self.ours > more
        return "better" if is_better else "different"


@dataclass(frozen=True)
class Row:
    """A published table or figure.

    Commands are written without `--json`. `{a,b}` and `{1..9}` expand to several commands, `{hard}` and the other
    sets of `SETS` to their positions; `10 * ` at the beginning asks for ten runs.
    """

    name: str
    source: str
    title: str
    # Tables in tests/data.
    published: list[str]
    # Returns the cells from the finished runs and the published tables.
    compare: Callable | None = None
    # Commands that take less than a minute.
    commands: list[str] | Callable = ()
    # Commands that take longer, and what they need.
    slow: list[str] = ()
    needs: str = ""
    # A verdict that does not depend on the numbers, and its reason.
    verdict: str = ""
    reason: str = ""
    note: str = ""
    # Meaning of the cases, below the figure.
    axis: str = ""
    draw: Callable | None = None


# --- Commands --------------------------------------------------------------------------------------


def positions(predicate):
    """The board and moves of the positions whose number of nodes satisfies the predicate."""
    rows = csv.DictReader(POSITIONS.read_text().splitlines())
    rows = [row for row in rows if predicate(int(row["nodes"]))]
    return [f'{row["board"]} --moves "{row["moves"]}"' for row in rows]


# Hard positions are those with more than a million nodes, as in Kaneko's paper. The published df-pn searches
# about fifty times as many nodes as the tuned one, so it gets other positions.
SETS = {
    "all": lambda: positions(lambda nodes: True),
    "hard": lambda: positions(lambda nodes: nodes > 1_000_000),
    "easy": lambda: positions(lambda nodes: nodes < 200_000),
}


def expand(line):
    """All commands for which braces stand."""
    match = re.search(r"\{([^}]*)\}", line)
    if not match:
        return [line]
    inside = match[1]
    if inside in SETS:
        values = SETS[inside]()
    elif ".." in inside:
        first, last = map(int, inside.split(".."))
        values = range(first, last + 1)
    else:
        values = inside.split(",")
    head, tail = line[: match.start()], line[match.end() :]
    return [end for value in values for end in expand(f"{head}{value}{tail}")]


def runs(lines):
    """Command and number of each run. Repetitions go in rounds, as in `cargo xtask measure`."""
    for line in lines:
        count, _, command = line.rpartition(" * ")
        commands = expand(command)
        for number in range(1, int(count or 1) + 1):
            yield from ((command, number) for command in commands)


def all_runs(row):
    """Runs of a row with fixed commands."""
    return list(runs([*row.commands, *row.slow]))


def drive(generator, execute):
    """The value that a generator of commands returns. It receives the result of each command it yields."""
    try:
        command = next(generator)
        while True:
            command = generator.send(execute(command, 1).result)
    except StopIteration as end:
        return end.value


class Runner:
    """The program, and the records of its runs."""

    def __init__(self, program, again):
        self.program, self.again = program, again
        self.records = load()
        # Runs of this process, which other rows do not repeat.
        self.done = set()
        bench = json.loads(self.output("bench", "--json"))
        if not bench.get("signature"):
            raise Problem("'konane bench' was interrupted")
        self.machine = {
            "signature": bench["signature"],
            "version": self.output("-V").removeprefix("konane ").strip(),
            "cpu": processor(),
            "cores": len(os.sched_getaffinity(0)),
        }
        # The symmetries of the thesis keep the colours of the squares.
        has_symmetry = "--symmetry" in self.output("solve", "--help")
        self.thesis_options = " --symmetry colours" if has_symmetry else ""

    def output(self, *args):
        done = subprocess.run([self.program, *args], capture_output=True, text=True, check=True)
        return done.stdout

    def lacks(self, command):
        """True if the program does not have the subcommand of a command."""
        words = command.split(" ")
        if words[0] != "konane":
            return False
        names = words[1:3] if words[1] == "sprouts" else words[1:2]
        return subprocess.run([self.program, *names, "--help"], capture_output=True).returncode != 0

    def run(self, row, is_quick):
        """Runs the commands of a row that have no record yet."""
        with tempfile.TemporaryDirectory() as folder:
            if callable(row.commands):
                drive(row.commands(), lambda command, number: self.execute(command, number, folder))
                return
            wanted = list(runs(row.commands)) if is_quick else all_runs(row)
            for command, number in wanted:
                if (command, number) not in self.records and self.lacks(command):
                    text = f"{row.name}: skipped: this program has no subcommand for `{command}`"
                    print(text, file=sys.stderr)
                    return
                self.execute(command, number, folder)

    def execute(self, command, number, folder):
        """The record of a run, which is made if there is none."""
        key = command, number
        options = self.thesis_options if "--profile thesis" in command else ""
        wanted = {"signature": self.machine["signature"], "cpu": self.machine["cpu"], "options": options}
        if found := self.records.get(key):
            is_same = all(found[name] == value for name, value in wanted.items())
            if key in self.done or is_same and not self.again:
                return found
        shown = f"{command}{options} --json"
        print(f"run {number}: {shown}", file=sys.stderr)
        words = shlex.split(shown)
        if words[0] == "konane":
            words[0] = self.program
        elif "XTASK" in os.environ:
            words[:2] = [os.environ["XTASK"]]
        else:
            words[:2] = ["cargo", "run", "--quiet", f"--manifest-path={ROOT}/Cargo.toml", "--package=xtask", "--"]
        load_before = os.getloadavg()[0]
        begin = time.monotonic()
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        # A limit that was reached (3) is a result, other codes are not.
        if done.returncode not in (0, 3):
            raise Problem(f"{done.stderr}{shown}: ended with exit code {done.returncode}")
        record = Record(
            {
                "command": command,
                "run": number,
                "options": options,
                **self.machine,
                "load_before": round(load_before, 2),
                "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "wall_seconds": round(seconds, 3),
                "result": Record(json.loads(done.stdout)),
            }
        )
        self.records[key] = record
        self.done.add(key)
        save(self.records)
        return record


def processor():
    """The model of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    match = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return match[1] if match else os.uname().machine


def load():
    """The records by command and number of the run."""
    records = {}
    if RESULTS.exists():
        for number, line in enumerate(RESULTS.read_text().splitlines(), 1):
            try:
                record = Record(json.loads(line))
                record["result"] = Record(record["result"])
                records[record["command"], record["run"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise Problem(f"{RESULTS}: line {number}: expected a record, found {line[:40]!r} ({error})")
    return records


def save(records):
    """Replaces the file of the records."""
    lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records.values()]
    draft = RESULTS.with_suffix(".tmp")
    draft.write_text("".join(line + "\n" for line in lines))
    draft.replace(RESULTS)


def choose_positions(program):
    """Chooses positions after a few random moves whose search takes 10 thousand to 5 million nodes."""
    rng = random.Random(2010)

    def ask(*args):
        done = subprocess.run([program, *args, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)

    chosen = {}
    while len(chosen) < 99:
        board = rng.choice(["5x8", "6x7", "5x9", "7x7", "6x8", "4x13"])
        moves = []
        for _ in range(rng.randint(3, 8)):
            options = ask("perft", board, "1", "--divide", "--moves", " ".join(moves))["divide"]
            if not options:
                break
            moves.append(rng.choice(options)["move"])
        limits = ["--threads", "1", "--max-nodes", "5e6", "--quiet"]
        answer = ask("solve", board, "--moves", " ".join(moves), *limits)
        if answer["outcome"] != "unknown" and answer["nodes"] >= 10_000:
            chosen[board, " ".join(moves)] = answer["nodes"]
            print(f"{len(chosen)}: {board} {' '.join(moves)}: {answer['nodes']} nodes", file=sys.stderr)
    rows = [[*position, nodes] for position, nodes in chosen.items()]
    POSITIONS.write_text(page_parts.csv_table("board,moves,nodes", rows))


# --- Comparisons -----------------------------------------------------------------------------------


def number(text):
    """A published number such as `16`, `2e0`, `1.35` or `14.3M`; None for an empty cell."""
    if not text:
        return None
    factor = {"k": 1e3, "M": 1e6}.get(text[-1])
    value = float(text[:-1]) * factor if factor else float(text)
    return int(value) if value.is_integer() else value


def option(record, name):
    """The number after an option in the command of a record."""
    match = re.search(rf"--{name} (\d+)", record["command"])
    return int(match[1]) if match else None


def is_as_asked(record):
    """False if the machine has fewer processors than the threads that were asked for."""
    return option(record, "threads") in (None, record.result["threads"])


def board_of(record):
    return record.result["board"]


COUNTS = {"unique": "states", "black_wins": "black wins", "white_wins": "white wins", "terminals": "terminals"}


def state_space(board):
    """Counts of every ply (Appendix A)."""

    def compare(records, states):
        found = {ply["ply"]: ply for record in records for ply in record.result["plies"]}
        found["total"] = records[0].result["total"] if records else {}
        for row in states:
            if row["board"] == board:
                ply = row["ply"] if row["ply"] == "total" else int(row["ply"])
                for key, quantity in COUNTS.items():
                    there = row["unique_states" if key == "unique" else key]
                    yield Cell(board, ply, quantity, int(there), (found.get(ply) or {}).get(key))

    return compare


def strong_boards(records, states, times):
    """Totals of all boards (Table 4.5), and the times of 6x6."""
    spaces = {board_of(r): r.result for r in records if "statespace" in r["command"]}
    builds = {board_of(r): r.result for r in records if "builddb" in r["command"]}
    for row in states:
        if row["ply"] == "total":
            total = (spaces.get(row["board"]) or {}).get("total") or {}
            for key, quantity in COUNTS.items():
                there = row["unique_states" if key == "unique" else key]
                yield Cell("", row["board"], quantity, int(there), total.get(key))
    for row in times:
        found = (spaces if row["step"] == "state space" else builds).get(row["board"])
        yield Cell(row["step"], row["board"], "seconds", number(row["seconds"]), found and found["seconds"])


def unique_states(boards):
    """New positions of each ply, with and without reduction by symmetry."""

    def compare(records, table, states=()):
        found = {}
        for record in records:
            for ply, count in enumerate(record.result["unique"], 1):
                found[board_of(record), ply, record.result["symmetry"]] = count
        there = {}
        for row in states:
            if row["ply"] not in ("0", "total"):
                there[row["board"], int(row["ply"]), True] = int(row["unique_states"])
        for row in table:
            there[row["board"], int(row["ply"]), True] = int(row["with_symmetry"])
            there[row["board"], int(row["ply"]), False] = int(row["without_symmetry"])
        for symmetry, quantity in (True, "states up to symmetry"), (False, "states without symmetry"):
            for board in boards:
                plies = {ply for name, ply, _ in [*there, *found] if name == board}
                for ply in sorted(plies):
                    key = board, ply, symmetry
                    if key in there or key in found:
                        yield Cell(board, ply, quantity, there.get(key), found.get(key))

    return compare


def perft(records, table):
    """Move sequences and time by depth (Table B.1)."""
    found = {record.result["depth"]: record.result for record in records}
    for row in table:
        depth = int(row["depth"])
        result = found.get(depth)
        yield Cell("", depth, "move sequences", int(row["nodes"]), result and result["nodes"][-1])
        seconds = float(row["thesis_elapsed_ms"]) / 1000
        yield Cell("", depth, "seconds", seconds, result and result["seconds"])


def algorithms(records, searches, shares):
    """Nodes and time of each algorithm (Table 4.2), and its share of the states of 6x6 (Section 5.2)."""
    states = 3_739_049_319
    share_of = {row["algorithm"]: float(row["percent_of_state_space"]) for row in shares}
    found = {record.result["algorithm"]: record for record in records}
    for row in searches:
        if not row["source"].endswith("4.2"):
            continue
        name = row["algorithm"].replace("alphabeta", "ab")
        nodes, seconds = (found[name].nodes, found[name].result["seconds"]) if name in found else (None, None)
        series = ALGORITHMS[name]
        yield Cell("", series, "nodes", float(row["nodes_millions"]) * 1e6, nodes)
        yield Cell("", series, "seconds", float(row["seconds"]), seconds)
        share = nodes and nodes / states * 100
        yield Cell("", series, "share of the states, %", share_of[row["algorithm"]], share)


def scaling(quantities):
    """Time, speed-up, efficiency, search overhead and throughput by threads (Table 4.3 and Figure 4.2)."""

    def compare(records, searches):
        found = {}
        for record in filter(is_as_asked, records):
            found.setdefault((record.result["algorithm"], record.result["threads"]), []).append(record)
        for name in "pn2", "dfpn":
            alone = found.get((name, 1))
            for row in searches:
                if row["algorithm"] != name or not row["source"].endswith("4.3"):
                    continue
                threads = int(row["threads"])
                speedup, overhead = float(row["speedup"]), float(row["search_overhead"])
                there = [float(row["seconds"]), speedup, speedup / threads, overhead, overhead * speedup]
                ours = [None] * 5
                group = found.get((name, threads))
                if group and alone:
                    seconds, nodes = median_of(group)
                    first_seconds, first_nodes = median_of(alone)
                    faster, more = first_seconds / seconds, nodes / first_nodes
                    ours = [seconds, faster, faster / threads, more, faster * more]
                names = ["seconds", "speed-up", "efficiency", "search overhead", "throughput"]
                for quantity, one, other in zip(names, there, ours):
                    if quantity in quantities:
                        yield Cell(ALGORITHMS[name], threads, quantity, round(one, 4), other)

    return compare


def median_of(records):
    """Median time and median number of nodes."""
    seconds = statistics.median(record.result["seconds"] for record in records)
    return seconds, statistics.median(record.nodes for record in records)


def winners(records, table):
    """Winners of all boards of up to 8x8 (Figure 4.3)."""
    found = {board_of(record): record.found for record in records}
    for row in table:
        there = None if row["winner"] == "unknown" else row["winner"]
        yield Cell("", row["board"], "winner", there, found.get(row["board"]))


def openings(records, table):
    """Winners after the openings of 8x7 (Figure 4.4)."""
    found = {shlex.split(record["command"])[4]: record.found for record in records}
    for row in table:
        there = None if row["winner"] == "unknown" else row["winner"]
        yield Cell("", row["opening"], "winner", there, found.get(row["opening"]))


def two_levels(records, table):
    """Time and nodes of PN² (Table 4.4)."""
    found = {board_of(record): record.result for record in records if record.found}
    for row in table:
        result = found.get(row["board"]) or {}
        seconds = float(row["milliseconds_64_threads"]) / 1000
        yield Cell("", row["board"], "seconds", seconds, result.get("seconds"))
        yield Cell("", row["board"], "L1 nodes", int(row["l1_nodes"]), result.get("l1_nodes"))
        yield Cell("", row["board"], "L2 nodes", int(row["l2_nodes"]), result.get("l2_nodes"))


# Published set of problems, and the commands whose results are compared with it.
KANEKO_SETS = {
    "muso_dfpn_plus": None,
    "zuko_dfpn_plus": None,
    "hard_dfpn_plus": "konane solve {hard} --algo dfpn --threads T",
    "muso_dfpn": None,
    "zuko_dfpn": None,
    "hard_dfpn": "konane solve {easy} --algo dfpn --profile thesis --threads T",
}


def kaneko_commands(*names):
    """One run on one thread and ten on 2, 4 and 8 threads, as published."""
    lines = []
    for name in names:
        line = KANEKO_SETS[name]
        lines += [line.replace("T", "1"), "10 * " + line.replace("T", "{2,4,8}")]
    return lines


KANEKO_COLUMNS = {
    "nodes visited": "nodes_visited",
    "visited overhead": "visited_overhead",
    "nodes stored": "table_nodes",
    "stored overhead": "table_overhead",
    "seconds": "seconds",
    "deviation of the seconds": "sigma_seconds",
    "speed-up": "speedup",
}


def problem_sets(names, quantities=KANEKO_COLUMNS):
    """Sums over all problems of a set: time with its deviation, nodes visited and stored (Table 1)."""

    def totals(records, line, threads):
        """Seconds, nodes and stored nodes of each complete run."""
        wanted = expand(line.replace("T", str(threads)))
        for run in range(1, 11):
            group = [records.get((command, run)) for command in wanted]
            if group and all(record and is_as_asked(record) for record in group):
                results = [record.result for record in group]
                stored = sum(result["table"]["used"] for result in results)
                nodes = sum(result["nodes"] for result in results)
                yield sum(result["seconds"] for result in results), nodes, stored

    def compare(records, table, *_):
        records = {(record["command"], record["run"]): record for record in records}
        for name in names:
            alone = None
            for row in table:
                if row["problem_set"] != name:
                    continue
                threads = int(row["threads"])
                found = list(totals(records, KANEKO_SETS[name], threads)) if KANEKO_SETS[name] else []
                ours = dict.fromkeys(KANEKO_COLUMNS)
                if found:
                    seconds, nodes, stored = map(statistics.mean, zip(*found))
                    alone = alone or (seconds, nodes, stored)
                    ours |= {"nodes visited": nodes, "nodes stored": stored, "seconds": seconds}
                    ours["visited overhead"] = nodes / alone[1]
                    ours["stored overhead"] = stored / max(alone[2], 1)
                    ours["speed-up"] = alone[0] / seconds
                    if len(found) > 1:
                        ours["deviation of the seconds"] = statistics.stdev(total[0] for total in found)
                for quantity in quantities:
                    yield Cell(name, threads, quantity, number(row[KANEKO_COLUMNS[quantity]]), ours[quantity])

    return compare


def time_against_time(records, figures):
    """Time on eight threads by time on one thread, problem by problem (Figure 5)."""
    alone = {r["command"].partition(" --threads")[0]: r.result["seconds"] for r in records if option(r, "threads") == 1}
    speedups = []
    for record in records:
        problem = record["command"].partition(" --threads")[0]
        if option(record, "threads") == 8 and is_as_asked(record) and record["run"] == 1 and problem in alone:
            seconds = record.result["seconds"]
            speedups.append((alone[problem], alone[problem] / seconds))
            yield Cell("a position", alone[problem], "seconds on 8 threads", None, seconds)
    largest = [speedup for _, speedup in sorted(speedups)[-4:]]
    published = {row["figure"]: number(row["value"]) for row in figures}["5"]
    ours = min(largest) if largest else None
    yield Cell("least of the four largest", 4, "speed-up", published, ours)


IMBALANCE_BOARD = "5x8"


def imbalance_commands():
    """Walks from the start to the primary child, and returns the cells of Figure 7.

    A node that the side to move wins has one primary child, the proven one. Of a lost node it is the child
    with the largest search.
    """
    moves, cells = [], []

    def search(moves):
        return f'konane solve {IMBALANCE_BOARD} --moves "{" ".join(moves)}" --algo dfpn --threads 1'

    for _ in range(16):
        node = yield search(moves)
        if node["outcome"] == "unknown" or node["nodes"] < 100:
            break
        children = [node["best_move"]]
        if node["outcome"] == "loss":
            divide = yield f'konane perft {IMBALANCE_BOARD} 1 --divide --moves "{" ".join(moves)}"'
            children = [option["move"] for option in divide["divide"]]
        sizes = {}
        for child in children:
            sizes[child] = (yield search([*moves, child]))["nodes"]
        child = max(sizes, key=sizes.get)
        series = "won for the side to move" if node["outcome"] == "win" else "lost for the side to move"
        cells.append((series, node["nodes"], min(sizes[child] / node["nodes"], 1)))
        moves.append(child)
    return cells


def imbalance(found):
    """Share of the primary child in the search of its parent (Figure 7)."""
    for series, total, share in found:
        yield Cell(series, total, "share of the primary child", None, share)


def complexity(records):
    """Logarithms of the estimated size of the game tree, with and without Grundy numbers (Figure 1)."""
    trees = {"game_tree": "without Grundy numbers", "grundy_tree": "with Grundy numbers"}
    quantities = {"log10_mean": "mean", "log10_percentile_1": "first percentile", "log10_percentile_99": "99th percentile"}
    for key, quantity in quantities.items():
        for record in records:
            for start in record.result["starts"]:
                spots = int(start["start"].removeprefix("0*"))
                for tree, series in trees.items():
                    yield Cell(series, spots, f"log10, {quantity}", None, start[tree][key])


def one_thread(records, figures):
    """PNS and df-pn with tables of several sizes (Figure 3)."""
    for record in records:
        size = re.search(r"--memory (\S+)", record["command"])[1]
        case = f"{record.result['algorithm']}, {size}"
        if record.found:
            yield Cell("", case, "seconds", None, record.result["seconds"])
            yield Cell("", case, "expansions", None, record.result["expansions"])
    for row in figures:
        if row["figure"] == "3":
            yield Cell(row["variant"], row["variant"], row["quantity"], number(row["value"]), None)


def outcomes(records, table):
    """Outcomes of the starts, and Grundy numbers found (Table 2)."""
    found = {record.result["position"]: record for record in records}
    for row in table:
        record = found.get(f"0*{row['spots']}")
        if row["outcome"] == "unknown" and not record:
            continue
        there = None if row["outcome"] == "unknown" else row["outcome"]
        yield Cell("", int(row["spots"]), "outcome", there, record and record.found)
        numbers = record and record.found and int(float(f"{record.result['grundy_numbers']:.0e}"))
        there = number(row["grundy_numbers_in_proof"])
        yield Cell("", int(row["spots"]), "Grundy numbers, one digit", there, numbers)


# Microseconds of an expansion in the paper: 17.6 ks for 17.2 million.
EXPANSION_US = 1023
PAPER = f"--expansion-us {EXPANSION_US}"


WITHOUT_HEURISTIC = "--heuristic false"
NO_SHARING = "--no-sharing"
NEW_WORKERS = f"{NO_SHARING} --new-workers"
# Nodes of a job that is the whole search: one machine, without a tree of leaves.
ONE_JOB = 10**9


def simulate(spots, machines, threads, job_nodes, variant=""):
    """A simulated search with three seeds. `variant` are further options."""
    options = f"--machines {machines} --threads {threads} --job-nodes {job_nodes} {PAPER} --seed {{1,2,3}}"
    return f"cargo xtask simulate sprouts 0*{spots} {options} {variant}".rstrip()


class Simulated:
    """Simulated searches that differ in their seeds only."""

    def __init__(self, command):
        self.has_heuristic = WITHOUT_HEURISTIC not in command
        self.is_shared = NO_SHARING not in command
        self.is_kept = NEW_WORKERS not in command
        self.runs = []

    def quantities(self):
        """The means, and the standard errors of the speed-ups."""
        means = {name: statistics.mean(one[name] for one in self.runs) for name in self.runs[0]}
        if len(self.runs) > 1:
            deviation = statistics.stdev(one["speed-up"] for one in self.runs)
            means["error of the speed-up"] = deviation / len(self.runs) ** 0.5
        return means


def simulations(records):
    """The simulated searches: (cores, threads of a machine, nodes of a job, searches)."""

    def without_seed(command):
        return re.sub(r" --seed \d+", "", command)

    def position(record):
        return record.result["position"], "--heuristic=off" not in record["command"]

    alone = {position(r): r.result["expansions"] for r in records if r["command"].startswith("konane")}
    found = {}
    for record in records:
        command, result = record["command"], record.result
        if not command.startswith("cargo") or "unknown" in result["outcome"]:
            continue
        one = Simulated(command)
        expansions = alone.get((result["game"], one.has_heuristic))
        if expansions is None:
            continue
        key = result["machines"] * result["threads"], result["threads"], result["job_nodes"], without_seed(command)
        found.setdefault(key, one).runs.append(
            {
                "speed-up": expansions * result["costs"]["node_ns"] / 1e9 / result["seconds"],
                "search overhead": result["expansions"] / expansions,
                "utilisation, %": result["traffic"]["busy"] * 100,
                "Grundy numbers": result["grundy_numbers"],
                "expansions": result["expansions"],
                "seconds": result["seconds"],
            }
        )
    return [(*key[:3], one) for key, one in sorted(found.items(), key=lambda item: item[0])]


def simulated(quantities, series):
    """Simulated quantities by cores."""

    def compare(records, *_):
        for cores, threads, nodes, one in simulations(records):
            ours = one.quantities()
            variant = "" if one.has_heuristic else ", without heuristic"
            if not one.is_kept:
                variant += ", nothing kept"
            elif not one.is_shared:
                variant += ", results not shared"
            for quantity in [*quantities, "error of the speed-up"]:
                if quantity in ours:
                    name = series.format(threads=threads, nodes=nodes) + variant
                    yield Cell(name, cores, quantity, None, ours[quantity])

    return compare


def best_speedups(records, figures):
    """The best speed-up of each variant in the text on Figure 5."""
    ours = {}
    for cores, threads, nodes, one in simulations(records):
        name = f"PNS-PDFPN{' with heuristic' if one.has_heuristic else ''}"
        if cores == threads and nodes >= ONE_JOB:
            name = "PDFPN"
        ours[name] = max(one.quantities()["speed-up"], ours.get(name, 0))
    for row in figures:
        if row["figure"] == "5":
            yield Cell("", row["variant"], row["quantity"], number(row["value"]), ours.get(row["variant"]))


def speedups(records, table):
    """Speed-up by cores (Table 1)."""
    found = {
        (cores, threads, nodes, one.has_heuristic): one.quantities()
        for cores, threads, nodes, one in simulations(records)
    }
    for row in table:
        cores, threads = int(row["cores"]), int(row["threads_per_worker"])
        nodes = number(row["iterations_per_job"])
        best = f"best for {row['best_for'].replace('_', ' ')}"
        for name, prefix, has_heuristic in [("without", "", False), ("with", "heuristic_", True)]:
            ours = found.get((cores, threads, nodes, has_heuristic), {})
            for quantity, column in [("speed-up", "speedup"), ("error of the speed-up", "speedup_error")]:
                there = number(row[prefix + column])
                yield Cell(f"{best}: {name} heuristic", cores, quantity, there, ours.get(quantity))


def scaling_statistics(records, table):
    """Nodes, Grundy numbers, expansions, utilisation, time and speed-up by cores (Table 3)."""
    found = {
        (cores, threads, nodes): one.quantities()
        for cores, threads, nodes, one in simulations(records)
        if one.has_heuristic
    }
    columns = {
        "Grundy numbers": "grundy_numbers",
        "expansions": "total_iterations",
        "utilisation, %": "utilisation_percent",
        "seconds": "seconds",
        "speed-up": "speedup",
    }
    for row in table:
        if row["cores"] == "dfpn":
            # One thread without simulation; its time is that of the same number of expansions on the virtual clock.
            alone = next((r.result for r in records if r["command"].startswith("konane")), None)
            series, cores, ours = "df-pn", 1, {}
            if alone:
                ours = {"Grundy numbers": alone["grundy_numbers"], "expansions": alone["expansions"]}
                ours["seconds"] = alone["expansions"] * EXPANSION_US / 1e6
        else:
            series, cores = "", int(row["cores"])
            ours = found.get((cores, int(row["threads_per_worker"]), number(row["iterations_per_job"])), {})
        for quantity, column in columns.items():
            if row[column]:
                yield Cell(series, cores, quantity, number(row[column]), ours.get(quantity))


def scaling_commands(table, variants=("",)):
    """The searches of 47 spots whose parameters are in a published table."""
    lines = ["konane sprouts solve 0*47 --threads 1 --memory 4GiB"]
    if WITHOUT_HEURISTIC in variants:
        lines.append("konane sprouts solve 0*47 --threads 1 --memory 4GiB --heuristic=off")
    for row in page_parts.published(table):
        if row["cores"] != "dfpn":
            threads = int(row["threads_per_worker"])
            machines = int(row["cores"]) // threads
            nodes = number(row["iterations_per_job"])
            lines += [simulate(47, machines, threads, nodes, variant) for variant in variants]
    return list(dict.fromkeys(lines))


# --- Rows ------------------------------------------------------------------------------------------

THESIS = "B. Siefke, *Solving Konane Using Proof-Number Search and Extensions*, TU Berlin 2025"
KANEKO = "T. Kaneko, *Parallel Depth First Proof Number Search*, AAAI 2010"
PAPER_ON_SPROUTS = (
    "T. Čížek, M. Balko, M. Schmid, *Massively Parallel Proof-Number Search for Impartial Games and Beyond*, AAAI 2026, "
    "full version (arXiv:2511.10339)"
)
SOURCES = {"thesis": THESIS, "kaneko": KANEKO, "mpp": PAPER_ON_SPROUTS}

SHOGI = (
    "Another game: the paper solves shogi problems with an evaluation function of shogi. Here, random positions of "
    "Konane take their place (positions.csv), the tuned df-pn that of df-pn⁺, and the published df-pn that of df-pn"
)
NO_NUMBERS = "The text of the paper has no numbers of this figure"
SIMULATED = (
    "Simulated on a virtual clock with the paper's time of an expansion; means of three seeds or those that have been run, with standard errors. The "
    "costs of messages are those of [benchmarks/cluster.md](benchmarks/cluster.md), and the search is the tuned one. The length "
    "of a job is its number of nodes, some four for each expansion; in the paper it is its number of expansions"
)
CAUSES = (
    "[thesis-profile.md](thesis-profile.md#node-counts-of-the-thesis) has what is known of the causes of other node counts, and "
    "[the differences](thesis-profile.md#what-the-profile-thesis-does-not-do) between the profile and the text of the thesis"
)
EARLIER = "[benchmarks/scaling.md](benchmarks/scaling.md) has runs of an earlier program on 16 cores"
CORES_12 = "a machine with 12 or more idle cores, 10 minutes"
CORES_8 = "a machine with 8 or more idle cores"
STATE_SPACES = ["3x3", "4x3", "4x4", "5x4", "5x5", "6x5", "6x6"]
SIX_BY_SIX = "konane statespace 6x6"
ALONE_29 = "konane sprouts solve 0*29 --threads 1"
SCALED = "3 * konane solve 6x6 --algo {pn2,dfpn} --profile thesis --threads {1,2,4,8,12}"


def draw_winner_grid(row, cells):
    """Black and white squares by ranks and files; a dot if the winner is another one."""
    from matplotlib.patches import Rectangle

    fills = {"black": page_parts.INK, "white": page_parts.WHITE, None: page_parts.GRID}
    fig, axes = page_parts.figure(5, 4.8)
    for cell in cells:
        ranks, files = map(int, cell.case.split("x"))
        style = {"facecolor": fills[cell.ours], "edgecolor": "#808080", "linewidth": 0.7}
        axes.add_patch(Rectangle((files - 0.5, ranks - 0.5), 1, 1, **style))
        if cell.verdict == "different":
            axes.plot([files], [ranks], "o", color=page_parts.ORANGE)
    axes.set(title=row.title, xlabel="files", ylabel="ranks", xlim=(0.4, 8.6), ylim=(8.6, 0.4))
    axes.set_aspect("equal")
    axes.grid(visible=False)
    return page_parts.svg(fig)


def draw_openings(row, cells):
    """The board with the squares that Black may remove: the winner is written on those that are solved."""
    fig, axes = page_parts.figure(4.5, 4.8)
    names = {cell.case: cell.ours for cell in cells}
    for rank in range(1, 9):
        for file in range(1, 8):
            name = "abcdefg"[file - 1] + str(rank)
            is_black = (rank + file) % 2 == 1
            fill = page_parts.INK if is_black else page_parts.WHITE
            edge = page_parts.ORANGE if name in names else "#808080"
            axes.plot([file], [rank], "o", markersize=20, markerfacecolor=fill, markeredgecolor=edge)
            if name in names:
                text = (names[name] or "?")[0].upper()
                axes.annotate(text, (file, rank), color=page_parts.WHITE, ha="center", va="center")
    axes.set(title=row.title, xlim=(0.4, 7.6), ylim=(0.4, 8.6), xlabel="files", ylabel="ranks")
    axes.set_xticks(range(1, 8), "abcdefg")
    axes.set_aspect("equal")
    axes.grid(visible=False)
    return page_parts.svg(fig)


ROWS = [
    Row(
        "thesis-4.1",
        "Table 4.1",
        "New states of 5x5, plies 1 to 10",
        ["unique_states.csv"],
        unique_states(["5x5"]),
        ["konane perft 5x5 10 --unique", "konane perft 5x5 10 --unique --no-symmetry"],
        axis="ply",
    ),
    Row(
        "thesis-4.2",
        "Table 4.2, Section 5.2",
        "Algorithms on 6x6, one thread",
        ["konane_search_6x6.csv", "konane_shares_6x6.csv"],
        algorithms,
        ["konane solve 6x6 --algo {pns,pn2,dfpn} --profile thesis --threads 1 --memory 4GiB"],
        slow=["konane solve 6x6 --algo ab --profile thesis --threads 1 --memory 4GiB"],
        needs="4 GiB, 2 to 10 minutes",
        note="The thesis contradicts itself on PN²: 385.93 million nodes on one thread (Table 4.2) and a search overhead of "
        "2.84 on 12 threads (Table 4.3) would be 1096 million nodes on 12 threads, but on 64 threads it has 254.6 million "
        f"(Table 4.4). The shares are nodes divided by the 3,739,049,319 states of 6x6. {CAUSES}.",
        axis="algorithm",
    ),
    Row(
        "thesis-4.3",
        "Table 4.3",
        "PN² and df-pn on 1 to 12 threads, 6x6",
        ["konane_search_6x6.csv"],
        scaling(["seconds", "speed-up", "efficiency", "search overhead"]),
        slow=[SCALED],
        needs=CORES_12,
        note=f"{EARLIER}.",
        axis="threads",
    ),
    Row(
        "thesis-4.4",
        "Table 4.4",
        "PN² on square boards, 64 threads",
        ["konane_pn2_square_boards.csv"],
        two_levels,
        ["konane solve {1x1,2x2,3x3,4x4,5x5,6x6} --algo pn2 --profile thesis --threads 64"],
        slow=["konane solve 7x7 --algo pn2 --profile thesis --threads 64 --memory 8GiB --time-limit 12h"],
        needs="64 cores for the same number of threads; several hours",
        note=f"`--threads 64` uses all cores of a machine with fewer. {CAUSES}.",
        axis="board",
    ),
    Row(
        "thesis-4.5",
        "Table 4.5, Section 4.5",
        "State spaces, and the time for 6x6",
        ["statespace.csv", "konane_strong_seconds.csv"],
        strong_boards,
        ["konane statespace {3x3,4x3,4x4,5x4,5x5,6x5}"],
        slow=[SIX_BY_SIX, "konane builddb 6x6 --scope reachable"],
        needs="11 GiB of memory, 2 GiB of disk, 5 minutes",
        note="`statespace` finds the states and their winners in one run, which is compared with the search of the states alone.",
        axis="board",
    ),
    Row(
        "thesis-fig4.1",
        "Figure 4.1",
        "New states of 5x5, all plies",
        ["unique_states.csv", "statespace.csv"],
        unique_states(["5x5"]),
        ["konane perft 5x5 22 --unique", "konane perft 5x5 22 --unique --no-symmetry"],
        note="Without symmetry, the thesis has numbers up to ply 10 (Table B.2), and a curve for the rest.",
        axis="ply",
    ),
    Row(
        "thesis-fig4.2",
        "Figure 4.2",
        "Speed-up and throughput of PN² and df-pn, 6x6",
        ["konane_search_6x6.csv"],
        scaling(["speed-up", "throughput"]),
        slow=[SCALED],
        needs=CORES_12,
        note=f"Published throughput is search overhead times speed-up (Table 4.3); one thread is 1. {EARLIER}.",
        axis="threads",
    ),
    Row(
        "thesis-fig4.3",
        "Figure 4.3",
        "Winners of boards up to 8x8",
        ["konane_winners.csv"],
        winners,
        [
            "konane solve {1..5}x{1..8} --algo dfpn --threads 1",
            "konane solve {6,7}x{1..7} --algo dfpn --threads 1",
            "konane solve 8x{1..5} --algo dfpn --threads 1",
        ],
        slow=["konane solve {6x8,8x6} --algo dfpn --threads 1 --memory 2GiB"],
        needs="2 to 5 minutes",
        note="7x8 and 8x7, which the thesis leaves open, are solved: [records.md](records.md).",
        draw=draw_winner_grid,
    ),
    Row(
        "thesis-fig4.4",
        "Figure 4.4",
        "Openings of 8x7",
        ["konane_openings_8x7.csv"],
        openings,
        slow=["konane solve 8x7 --moves {d5,a8} --algo dfpn --memory 8GiB"],
        needs="8 GiB of memory, an hour",
        note="Opening a8 is symmetric to g8. The thesis left both open.",
        draw=draw_openings,
    ),
    *(
        Row(
            f"thesis-a{index}",
            f"Table A.{index}",
            f"State space of {board}",
            ["statespace.csv"],
            state_space(board),
            [f"konane statespace {board}"] if board != "6x6" else [],
            slow=[SIX_BY_SIX] if board == "6x6" else [],
            needs="11 GiB of memory, 1 minute" if board == "6x6" else "",
            axis="ply",
        )
        for index, board in enumerate(STATE_SPACES, 1)
    ),
    Row(
        "thesis-b1",
        "Table B.1",
        "Perft of 8x8",
        ["perft_8x8.csv"],
        perft,
        ["konane perft 8x8 {1..12} --plain --threads 1"],
        note="`--plain` counts every sequence one by one, as the thesis does.",
        axis="depth",
    ),
    Row(
        "thesis-b2",
        "Table B.2",
        "New states of square boards, plies 1 to 10",
        ["unique_states.csv"],
        unique_states([f"{side}x{side}" for side in range(1, 9)]),
        [
            "konane perft {1x1,2x2,3x3,4x4,5x5,6x6,7x7,8x8} 10 --unique",
            "konane perft {1x1,2x2,3x3,4x4,5x5,6x6,7x7,8x8} 10 --unique --no-symmetry",
        ],
        note="At ply 1 of 1x1 the thesis counts one state with symmetry and none without, which cannot both be right.",
        axis="ply",
    ),
    Row(
        "kaneko-fig5",
        "Figure 5",
        "Time on eight threads against time on one, 99 positions",
        ["parallel_dfpn_figures.csv"],
        time_against_time,
        slow=["konane solve {all} --algo dfpn --threads {1,8}"],
        needs=f"{CORES_8}, 5 minutes",
        verdict="different",
        reason=SHOGI,
        note='The published speed-up is a lower bound ("more than 4.0").',
        axis="seconds on one thread",
    ),
    Row(
        "kaneko-fig6",
        "Figure 6",
        "Speed-up and overheads on hard positions",
        ["parallel_dfpn_kaneko.csv", "parallel_dfpn_figures.csv"],
        problem_sets(["hard_dfpn_plus"], ["speed-up", "visited overhead", "stored overhead"]),
        slow=kaneko_commands("hard_dfpn_plus"),
        needs=f"{CORES_8}, 15 minutes",
        verdict="different",
        reason=SHOGI,
        axis="threads",
    ),
    Row(
        "kaneko-fig7",
        "Figure 7",
        f"Share of the primary child, {IMBALANCE_BOARD}",
        [],
        imbalance,
        imbalance_commands,
        verdict="different",
        reason=f"Another game: the paper has problem 100 of Shogi-Muso, here it is the start of {IMBALANCE_BOARD}. The text of "
        "the paper has no number of this figure; it says that the share is often over 90 %",
        note="The size of a node is the number of nodes of a search of it alone, at most that of its parent. Only the path along the primary "
        "children is measured.",
        axis="nodes of the search",
    ),
    Row(
        "kaneko-table1",
        "Table 1",
        "Time, nodes visited and stored, ten runs",
        ["parallel_dfpn_kaneko.csv"],
        problem_sets(list(KANEKO_SETS)),
        slow=kaneko_commands("hard_dfpn_plus", "hard_dfpn"),
        needs=f"{CORES_8}, an hour",
        verdict="different",
        reason=SHOGI,
        note="hard_dfpn_plus is compared with the positions of more than a million nodes, hard_dfpn with those of fewer than "
        "200 000 nodes of the tuned df-pn. The sets Muso and Zuko have no counterpart.",
        axis="threads",
    ),
    Row(
        "mpp-fig1",
        "Figure 1",
        "Estimated leaves of the game tree of Sprouts",
        [],
        complexity,
        ["konane sprouts complexity 0*{2..20} --samples 1000 --seed 1"],
        needs="a program with `konane sprouts complexity`",
        verdict="different",
        reason=f"{NO_NUMBERS}; it says that the complexity exceeds that of chess and go at relatively few spots",
        axis="spots",
    ),
    Row(
        "mpp-fig3",
        "Figure 3",
        "PNS and df-pn with tables of several sizes, 29 spots",
        ["sprouts_figures_spots.csv"],
        one_thread,
        slow=[
            "konane sprouts solve 0*29 --algo pns --profile paper --threads 1 --memory 8GiB --time-limit 2h",
            "konane sprouts solve 0*29 --algo dfpn --profile paper --threads 1 --memory {64MiB,256MiB,1GiB} --time-limit 2h",
        ],
        needs="8 GiB of memory, up to 8 hours",
        verdict="different",
        reason=f"{NO_NUMBERS} but that of GLOP, which is another program and not measured. `--memory` limits positions "
        "and moves too, not only the table",
        axis="algorithm and memory",
    ),
    Row(
        "mpp-fig4",
        "Figure 4",
        "Speed-up by cores, jobs of 100 expansions, 29 spots",
        [],
        simulated(["speed-up"], "PNS-DFPN"),
        [ALONE_29],
        slow=[
            *(simulate(29, "{1,2,4,8,16,32,64}", 1, 100, variant) for variant in ["", NO_SHARING]),
            simulate(29, "{1,4,16,64}", 1, 100, NEW_WORKERS),
        ],
        needs="16 GiB of memory, 1 hour",
        verdict="different",
        reason=f"{NO_NUMBERS}. Workers that keep nothing after a job search by df-pn, where the paper's PNS-PNS searches by PNS; the "
        "variant that keeps Grundy numbers but no table is missing",
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-fig5",
        "Figure 5",
        "Best speed-up of the variants, 47 spots",
        ["sprouts_figures_spots.csv"],
        best_speedups,
        slow=[
            *scaling_commands("sprouts_scaling_spots.csv"),
            *scaling_commands("sprouts_speedups_spots.csv", [WITHOUT_HEURISTIC]),
            simulate(47, 1, "{16,32,64}", ONE_JOB, WITHOUT_HEURISTIC),
        ],
        needs="20 GiB of memory, 6 hours",
        note=f"{SIMULATED}. PDFPN is one machine with one job, without heuristic.",
        axis="variant",
    ),
    Row(
        "mpp-fig7",
        "Figure 7",
        "Speed-up by cores, 47 spots, logarithmic",
        [],
        simulated(["speed-up"], "PNS-PDFPN with heuristic"),
        slow=scaling_commands("sprouts_scaling_spots.csv"),
        needs="20 GiB of memory, 6 hours",
        verdict="different",
        reason=f"{NO_NUMBERS} but those of Figure 5 and Table 3",
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-fig8",
        "Figure 8",
        "Search overhead and utilisation, jobs of 100 expansions, 29 spots",
        [],
        simulated(["speed-up", "search overhead", "utilisation, %"], "PNS-DFPN"),
        [ALONE_29],
        slow=[
            *(simulate(29, "{1,2,4,8,16,32,64}", 1, 100, variant) for variant in ["", NO_SHARING]),
            simulate(29, "{1,4,16,64}", 1, 100, NEW_WORKERS),
        ],
        needs="16 GiB of memory, 1 hour",
        verdict="different",
        reason=f"{NO_NUMBERS}. Workers that keep nothing after a job search by df-pn, where the paper's PNS-PNS searches by PNS; the "
        "variant that keeps Grundy numbers but no table is missing",
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-fig9",
        "Figure 9",
        "Speed-up by the length of jobs, 29 spots",
        [],
        simulated(["speed-up", "search overhead", "utilisation, %"], "jobs of {nodes}"),
        [ALONE_29],
        slow=[
            simulate(29, "{1,4,16,64}", 1, "{100,1000,10000}"),
        ],
        needs="16 GiB of memory, 30 minutes",
        verdict="different",
        reason=f"{NO_NUMBERS}. A worker sends its results at the end of a job; reports in the middle of a job, the paper's updates, were "
        "measured with an earlier version (research/cluster.md) and removed",
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-fig10",
        "Figure 10",
        "Grouping of workers",
        [],
        verdict="not reproducible",
        reason="Workers with one thread each that share a store of Grundy numbers on a machine are not part of the program: the "
        "threads of a machine also share its table. It would need such workers and 1024 cores",
    ),
    Row(
        "mpp-fig11",
        "Figure 11",
        "Speed-up by the threads of a worker, 29 spots",
        [],
        simulated(["speed-up", "search overhead"], "threads of a worker: {threads}"),
        [ALONE_29, f"{ALONE_29} --heuristic=off"],
        slow=[
            simulate(29, machines, threads, 1000, variant)
            for machines, threads in [("{16,32}", 1), ("{4,16,32}", 4), ("{1,4,16}", 16)]
            for variant in ["", WITHOUT_HEURISTIC]
        ],
        needs="16 GiB of memory, 1 hour",
        verdict="different",
        reason=NO_NUMBERS,
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-table1",
        "Table 1",
        "Speed-up with the best parameters, 47 spots",
        ["sprouts_speedups_spots.csv"],
        speedups,
        slow=scaling_commands("sprouts_speedups_spots.csv", ["", WITHOUT_HEURISTIC]),
        needs="64 GiB of memory, 12 hours",
        note=f"{SIMULATED}.",
        axis="cores",
    ),
    Row(
        "mpp-table2",
        "Table 2",
        "Outcomes of the starts of Sprouts",
        ["sprouts_outcomes.csv"],
        outcomes,
        ["konane sprouts solve 0*{1..20} --threads 1"],
        slow=["konane sprouts solve 0*{21,22,23,24,25,26,27,28,29,30,31,32,34,35,37,38,40,41,43,44,46,47} --memory 8GiB"],
        needs="8 GiB of memory, 15 minutes; days and a cluster for the largest starts",
        note="Published numbers of Grundy numbers have one digit; ours are rounded in the same way. They are those of the tuned "
        "search, which is not the published one. More starts: [benchmarks/sprouts.md](benchmarks/sprouts.md).",
        axis="spots",
    ),
    Row(
        "mpp-table3",
        "Table 3",
        "Statistics of the search of 47 spots by cores",
        ["sprouts_scaling_spots.csv"],
        scaling_statistics,
        slow=scaling_commands("sprouts_scaling_spots.csv"),
        needs="20 GiB of memory, 6 hours",
        note=f"{SIMULATED}. Speed-ups refer to df-pn on one thread, which is faster than this search with one worker; its time "
        "is that of its expansions on the virtual clock. "
        "Nodes of master and workers are not counted in the same way, so they are left out.",
        axis="cores",
    ),
]


# --- Verdicts --------------------------------------------------------------------------------------


class Reproduction:
    """A row with its records, cells and verdict."""

    def __init__(self, row, records):
        self.row = row
        self.records, self.missing, found = [], 0, []
        if callable(row.commands):
            is_complete = True

            def lookup(command, number):
                self.records.append(records[command, number])
                return self.records[-1]

            try:
                found = drive(row.commands(), lookup)
            except KeyError:
                is_complete = False
            self.missing = 0 if is_complete else 1
        else:
            wanted = all_runs(row)
            self.records = [records[key] for key in wanted if key in records]
            self.missing = len(wanted) - len(self.records)
            found = self.records
        tables = [page_parts.published(name) for name in row.published]
        self.cells = list(row.compare(found, *tables)) if row.compare else []
        verdicts = [cell.verdict for cell in self.cells]
        self.verdict = row.verdict
        if row.compare and all(cell.ours is None for cell in self.cells):
            self.verdict = "not run"
        elif not self.verdict:
            self.verdict = max((v for v in verdicts if v), key=VERDICTS.index, default="not run")

    @property
    def remarks(self):
        """Sentences on the verdict."""
        row, texts = self.row, []
        published = [cell for cell in self.cells if cell.published is not None]
        compared = [cell for cell in published if cell.verdict]
        worse = [cell for cell in compared if cell.verdict == "different"]
        if row.reason:
            texts.append(f"{row.reason}.")
        elif worse:
            names = "; ".join(label(cell) for cell in worse[:4]) + ("; …" if len(worse) > 4 else "")
            texts.append(f"{len(worse)} of {len(compared)} numbers differ or are worse: {names}.")
        if 0 < len(compared) < len(published):
            texts.append(f"{len(compared)} of {len(published)} published values have been compared.")
        if row.note:
            texts.append(row.note)
        if self.missing and row.needs:
            total = self.missing + len(self.records)
            part = "A run" if self.verdict == "not run" else f"The rest ({self.missing} of {total} runs)"
            texts.append(f"{part} needs {row.needs}.")
        return texts

    def summary(self, side):
        """The published or our numbers in a few words."""
        parts = []
        for quantity in dict.fromkeys(cell.quantity for cell in self.cells):
            cells = [cell for cell in self.cells if cell.quantity == quantity]
            known = sum(cell.published is not None for cell in cells)
            compared = [cell for cell in cells if cell.verdict]
            cells = [cell for cell in compared or cells if getattr(cell, side) is not None]
            if not cells:
                continue
            values = [shown(getattr(cell, side)) for cell in cells]
            if len(cells) <= 5:
                cases = [f"{cell.case} " if isinstance(cell.case, str) else "" for cell in cells]
                text = ", ".join(case + value for case, value in zip(cases, values))
            elif isinstance(cells[0].published or cells[0].ours, str):
                text = f"{known} values" if side == "published" else f"{len(cells)} of {known} values"
            else:
                # The last one is that of the largest board, the most threads or the most cores.
                text = f"… {values[-1]} ({cells[-1].case})"
            parts.append(f"{quantity}: {text}")
        exact = [cell.verdict for cell in self.cells if cell.verdict and cell.goal == EXACT]
        if exact and side == "ours":
            parts.append(f"{exact.count('equal')} of {len(exact)} exact values equal")
        return "; ".join(parts) or page_parts.NONE

    def files(self):
        """CSV table and figure by path below docs; none before the first run."""
        if self.verdict == "not run" or not self.cells:
            return {}
        head = ",".join(Cell._fields) + ",verdict"
        texts = [(cell.series, str(cell.case), cell.quantity) for cell in self.cells]
        rows = [
            [*(text.replace(",", ";") for text in names), cell.published, cell.ours, cell.verdict]
            for names, cell in zip(texts, self.cells)
        ]
        draw = self.row.draw or draw_cells
        stem = f"reproduction/{self.row.name}"
        return {f"{stem}.csv": page_parts.csv_table(head, rows), f"{stem}.svg": lambda: draw(self.row, self.cells)}


def label(cell):
    case = f"{cell.series}, {cell.case}" if cell.series else cell.case
    return f"{cell.quantity}, {case}: {shown(cell.ours)} for {shown(cell.published)}"


def shown(value):
    if value is None or isinstance(value, str):
        return value or page_parts.NONE
    if isinstance(value, int):
        return page_parts.grouped(value)
    return page_parts.short(value) if value >= 1000 else page_parts.figures(value)


def draw_cells(row, cells):
    """A panel for each quantity: published numbers hollow with broken lines, ours filled."""
    cells = [cell for cell in cells if isinstance(cell.published or cell.ours, int | float) and cell.case != "total"]
    quantities = list(dict.fromkeys(cell.quantity for cell in cells))[:4]
    columns = len(quantities) if len(quantities) < 4 else 2
    rows = -(-len(quantities) // columns)
    fig, grid = page_parts.figure(10, 0.8 + 4 * rows, nrows=rows, ncols=columns, squeeze=False)
    names = list(dict.fromkeys(cell.series for cell in cells))
    for axes, quantity in zip(grid.flat, quantities):
        of = [cell for cell in cells if cell.quantity == quantity]
        cases = list(dict.fromkeys(cell.case for cell in of))
        is_numeric = all(isinstance(case, int | float) for case in cases)
        values = [v for cell in of for v in (cell.published, cell.ours) if v]
        if values and not quantity.startswith("log10") and min(values) > 0 and max(values) / min(values) > 30:
            axes.set_yscale("log")
        if is_numeric and min(cases) > 0 and max(cases) / min(cases) > 30:
            axes.set_xscale("log")
        # Lines connect cases that have an order.
        is_cloud = len(cases) > 30 or not (is_numeric or row.axis == "board")
        for index, name in enumerate(names):
            shape, colour = page_parts.series_style(index)
            for side in "published", "ours":
                points = [
                    (cell.case if is_numeric else cases.index(cell.case), getattr(cell, side) or float("nan"))
                    for cell in of
                    if cell.series == name and getattr(cell, side) is not None
                ]
                if points:
                    style = {"linestyle": "none" if is_cloud else "--" if side == "published" else "-"}
                    # Published numbers remain visible around equal ones.
                    style |= {"markersize": 10, "zorder": 3} if side == "published" else {"markersize": 6}
                    page_parts.mark(axes, *zip(*points), shape, colour, side == "ours", linewidth=1, **style)
        if not is_numeric:
            axes.set_xticks(range(len(cases)), cases, rotation=0 if len(cases) < 6 else 60)
        axes.set(title=quantity, xlabel=row.axis if len(cases) > 1 else "")
    for axes in list(grid.flat)[len(quantities) :]:
        axes.set_visible(False)
    entries = [
        page_parts.entry(name, *page_parts.series_style(index))
        for index, name in enumerate(names)
        if name
    ]
    entries.append(page_parts.entry("published", "o", is_filled=False, line="--"))
    entries.append(page_parts.entry("here", "o", line="-"))
    fig.legend(handles=entries, loc="outside upper left", ncols=4)
    return page_parts.svg(fig)


# --- Page ------------------------------------------------------------------------------------------


def page_files():
    """docs/reproduction.md, and the table and figure of each row, by path below docs."""
    records = load()
    reproductions = [Reproduction(row, records) for row in ROWS]
    machines = list(dict.fromkeys(machine(record) for one in reproductions for record in one.records))
    files, parts = {}, {}
    for prefix, source in SOURCES.items():
        lines, sections = [], ""
        for one in reproductions:
            if not one.row.name.startswith(prefix + "-"):
                continue
            lines.append(table_line(one, machines))
            sections += section(one)
            files |= one.files()
        head = "row|source|command|published|ours|verdict|>time|machine"
        parts[prefix] = f"## {source}\n\n{page_parts.table(head, lines)}\n{sections}"
    counts = [f"{sum(one.verdict == verdict for one in reproductions)} {verdict}" for verdict in VERDICTS]
    names = "".join(f"* {letter(index)}: {name}\n" for index, name in enumerate(machines))
    text = page_parts.page(TEMPLATE, rows=len(ROWS), counts=", ".join(counts), machines=names, **parts)
    return {"reproduction.md": text, **files}


def machine(record):
    return f"{record['cpu']} ({record['cores']} cores), konane {record['version']}, signature {record['signature']}"


def letter(index):
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index]


def commands(row):
    """The commands of a row, with braces. Of commands that depend on results, the first."""
    return [next(row.commands())] if callable(row.commands) else [*row.commands, *row.slow]


def table_line(one, machines):
    row = one.row
    seconds = sum(record["wall_seconds"] for record in one.records)
    used = sorted({letter(machines.index(machine(record))) for record in one.records})
    verdict = f"**{one.verdict}**"
    if one.verdict == "not run":
        verdict += f"; needs {row.needs}"
    lines = commands(row)
    command = f"`{lines[0]}`" + (" …" if len(lines) > 1 or callable(row.commands) else "") if lines else page_parts.NONE
    # A row without a result can have runs that it shares with other rows.
    has_runs = one.records and one.verdict != "not run"
    time = page_parts.time(seconds) if has_runs else page_parts.NONE
    name = f"[{row.name}](#{row.name.replace('.', '')})"
    ours = one.summary("ours")
    where = ", ".join(used) if has_runs else page_parts.NONE
    return [name, row.source, command, one.summary("published"), ours, verdict, time, where]


def section(one):
    row = one.row
    text = f"### {row.name}\n\n{row.source}: {row.title}. {' '.join([f'Verdict: {one.verdict}.', *one.remarks])}\n\n"
    lines = commands(row)
    if lines:
        text += "```sh\n" + "".join(line + "\n" for line in lines) + "```\n\n"
    if one.files():
        path = f"reproduction/{row.name}"
        text += f"[All numbers]({path}.csv)\n\n![{row.title}]({path}.svg)\n\n"
    return text


# --- Command line ----------------------------------------------------------------------------------


def report(one):
    """Prints our numbers, the published ones, and the verdict."""
    print(f"\n{one.row.name}: {one.row.source}, {one.row.title}")
    lines = [["", "", "", "published", "ours", ""]]
    for cell in one.cells[:60]:
        numbers = [shown(cell.published), shown(cell.ours), cell.verdict or ""]
        lines.append([cell.series, str(cell.case), cell.quantity, *numbers])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
    if len(one.cells) > 60:
        print(f"  … and {len(one.cells) - 60} more: docs/reproduction/{one.row.name}.csv")
    print("\n".join([f"verdict: {one.verdict}", *one.remarks]))


def build():
    """Builds the program and returns its path."""
    if subprocess.run(["cargo", "build", "--profile", "dist"], cwd=ROOT).returncode:
        raise Problem("the program does not build")
    return str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "dist/konane")


def main():
    parser = argparse.ArgumentParser(
        prog="cargo xtask reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names of rows, such as thesis-4.2")
    parser.add_argument("--list", action="store_true", help="name all rows, and stop")
    parser.add_argument("--all", action="store_true", help="all rows")
    parser.add_argument("--quick", action="store_true", help="only commands that take less than a minute")
    parser.add_argument("--again", action="store_true", help="repeat runs that have a record")
    parser.add_argument("--positions", action="store_true", help="choose the positions of Kaneko's rows again")
    parser.add_argument("--program", metavar="FILE", help="the program [default: a release build of the sources]")
    args = parser.parse_args()
    named = {row.name: row for row in ROWS}
    if unknown := [name for name in args.rows if name not in named]:
        parser.error(f"no row '{unknown[0]}': expected one of {', '.join(named)}")
    if args.list:
        for row in ROWS:
            print(f"{row.name:14} {row.source}: {row.title}")
        return
    if not (args.rows or args.all or args.quick or args.positions):
        parser.error("no rows: expected names, --quick or --all; --list names the rows")
    if not args.positions:
        # The figures need it. Its lack is reported before hours of runs, not after them.
        import matplotlib  # noqa: F401
    program = str(Path(args.program).resolve()) if args.program else build()
    if args.positions:
        choose_positions(program)
        return
    rows = [named[name] for name in args.rows] or ROWS
    runner = Runner(program, args.again)
    for row in rows:
        runner.run(row, args.quick)
        report(Reproduction(row, runner.records))
    names = [row.name for row in rows]
    for path, content in page_files().items():
        if Path(path).stem in ["reproduction", *names]:
            (DOCS / path).write_text(content() if callable(content) else content)


if __name__ == "__main__":
    try:
        main()
    except (Problem, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    except ImportError as error:
        sys.exit(f"error: {error}: install matplotlib {page_parts.MATPLOTLIB} (`pip install matplotlib`)")

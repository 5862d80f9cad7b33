#!/usr/bin/env python3
"""Generates the pages of results, their tables and their figures, and the pages of JSON types.

    xtask/pages.py                        write all pages
    xtask/pages.py winners openings       write the pages of these results
    xtask/pages.py --check                fail if a committed file differs from the generated one
    xtask/pages.py --trace FILE FIGURE    draw the trace that `konane solve --trace FILE` wrote

`cargo xtask pages ...` runs this script. The input is docs/benchmarks/*.jsonl, written by
`cargo xtask measure` (cluster.jsonl by `cargo xtask simulate --json`), the published tables in tests/data, and the
JSON Schema printed by the program. The texts of the pages are the templates in xtask/pages; `{{name}}` is replaced by
a generated part. papers/reproduce.py generates docs/reproduction.md from its own records and template.

Needs Python 3.10. Figures need matplotlib; their bytes depend on its version, so `--check` compares
figures only with the version MATPLOTLIB.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from page_parts import (
    ALGORITHMS,
    BLUE,
    COLOURS,
    DOCS,
    GREEN,
    GRID,
    INK,
    MATPLOTLIB,
    NONE,
    ORANGE,
    PURPLE,
    ROOT,
    SHAPES,
    WHITE,
    Problem,
    Record,
    cpu_time,
    csv_table,
    entry,
    figure,
    figures,
    grouped,
    mark,
    optional,
    page,
    published,
    ranges,
    ratio,
    rounded,
    series_style,
    short,
    size,
    svg,
    table,
    time,
    times,
)

TEMPLATES = ROOT / "xtask/pages"
MAX_SQUARES = 64

# --- Published results -----------------------------------------------------------------------------

WINNERS = {row["board"]: row["winner"] for row in published("konane_winners.csv")}
SEARCHES = published("konane_search_6x6.csv")


def published_winner(board):
    """`black` or `white` as in Figure 4.3 of the thesis, or None."""
    winner = WINNERS.get(board, "unknown")
    return None if winner == "unknown" else winner


def published_search(algorithm):
    """Nodes and seconds of a search of 6x6 on one thread (Table 4.2)."""
    name = "alphabeta" if algorithm == "ab" else algorithm
    for row in SEARCHES:
        if row["algorithm"] == name and row["source"].endswith("4.2"):
            return float(row["nodes_millions"]) * 1e6, float(row["seconds"])


# --- Raw results -----------------------------------------------------------------------------------

# Fields that older programs printed under another name.
RENAMED = {"settle_positions": "leaf_positions", "iterations": "expansions"}


def load(name):
    """Records of docs/benchmarks/NAME.jsonl."""
    path = DOCS / f"benchmarks/{name}.jsonl"
    records = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            record = Record(json.loads(line))
            result = record["result"].items()
        except (ValueError, KeyError, AttributeError) as error:
            raise Problem(
                f"{path}: line {number}: expected a record, found {line[:40]!r} ({error})"
            )
        record["result"] = Record({RENAMED.get(key, key): value for key, value in result})
        records.append(record)
    return records


def distinct(values):
    """The different texts, sorted."""
    return ", ".join(sorted(set(map(str, values))))


class Group(list):
    """All runs of one command line by one version of the program on one machine. Unfinished runs are
    members only if no run is finished."""

    @property
    def answer(self):
        return self[-1].result

    @property
    def is_unfinished(self):
        return self.answer["reason"] is not None

    def median(self, field):
        values = [value for value in map(field, self) if value is not None]
        return median(values) if values else None

    @property
    def seconds(self):
        return float(self.median(lambda record: record.result["seconds"]))

    @property
    def nodes(self):
        return int(self.median(lambda record: record.nodes))

    @property
    def speed(self):
        """Nodes per second."""
        return self.nodes / max(self.seconds, 1e-9)

    @property
    def peak_bytes(self):
        return self.median(lambda record: record["peak_rss_bytes"])

    @property
    def cpu_seconds(self):
        return self.median(lambda record: record["cpu_seconds"])

    @property
    def load(self):
        """Greatest load average before a run."""
        return max((r["load_before"] for r in self if r["load_before"] is not None), default=None)

    @property
    def range(self):
        seconds = [record.result["seconds"] for record in self]
        return min(seconds), max(seconds)


class Results:
    """Groups of the records in docs/benchmarks/NAME.jsonl by command line, in the order of their first
    records. Records of another program or another machine replace the earlier records of a command line."""

    def __init__(self, name):
        self.name, self.groups = name, {}
        for record in load(name):
            group = self.groups.get(record["args"])
            is_done = record.result["reason"] is None
            is_other = group and any(group[-1][key] != record[key] for key in ("signature", "cpu"))
            if group is None or is_other or (group.is_unfinished and is_done):
                self.groups[record["args"]] = Group([record])
            elif group.is_unfinished or is_done:
                # A repeated run replaces the earlier one.
                group[:] = [earlier for earlier in group if earlier["run"] != record["run"]]
                group.append(record)
        self.records = [record for group in self.groups.values() for record in group]
        in_order = sorted(self.records, key=lambda record: record["date"])
        # Signature of the newest record of each subcommand.
        self.newest = {self.subcommand(record): record["signature"] for record in in_order}

    @staticmethod
    def subcommand(record):
        return record["args"].split(" ")[0]

    def solve(self, board, algorithm, profile="tuned", threads=1, is_required=True):
        """The group of a search of a whole board. If several differ only in memory, the first of them."""
        wanted = board, algorithm, profile, threads
        for group in self.groups.values():
            answer = group.answer
            found = answer["board"], answer["algorithm"], answer["profile"], answer["threads"] or 1
            if found == wanted:
                return group
        if is_required:
            raise self.missing(f"solve {board} --algo {algorithm} --profile {profile}")

    def with_args(self, args):
        if args not in self.groups:
            raise self.missing(args)
        return self.groups[args]

    def missing(self, args):
        return Problem(
            f"docs/benchmarks/{self.name}.jsonl has no record of `konane {args}`: "
            f"run `cargo xtask measure {self.name}`"
        )

    def is_earlier(self, group):
        """True if the newest record of the same subcommand is of a program with another signature.

        Subcommands are compared separately, because a change of the search does not affect perft."""
        return self.newest[self.subcommand(group[-1])] != group[-1]["signature"]


# --- The algorithms on one thread -----------------------------------------------------------------

COMPARED = ["4x4", "5x5", "5x6", "6x6", "7x7"]
LARGER = ["5x8", "6x7", "7x6", "5x9", "7x7"]


def machine(results):
    """Machine, program, and the comparison of the winners with the published ones."""
    records = results.records
    dates = sorted(record["date"][:10] for record in records)
    loads = [record["load_before"] for record in records if record["load_before"] is not None]
    rows = [
        ["processor", distinct(f"{r['cpu']} ({r['cores']} cores)" for r in records)],
        ["date", dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"],
        ["version", distinct(record["version"] or "not recorded" for record in records)],
        ["signature (`konane bench`)", distinct(record["signature"] for record in records)],
        ["load average before a run", f"{min(loads):.2f} to {max(loads):.2f}"],
    ]
    boards = set()
    for group in results.groups.values():
        board, found = group.answer["board"], group[-1].found
        if found and published_winner(board):
            boards.add(board)
            if found != published_winner(board):
                raise Problem(f"`konane {group[-1]['args']}`: {found} wins, unlike in the thesis")
    earlier = "Rows with † are of an earlier version of the program, with another signature.\n"
    return (
        f"## Machine and program\n\n{table('|', rows)}\n"
        "These runs themselves are part of the load average: if it equals the number of threads, the "
        "machine had no other work.\n"
        f"{earlier if any(map(results.is_earlier, results.groups.values())) else ''}\n"
        f"All winners found are those of Figure 4.3 of the thesis ({len(boards)} boards).\n"
    )


def benchmarks():
    results = Results("results")
    solve = results.solve

    def time_cell(group):
        text = time(group.seconds)
        if group.is_unfinished:
            text = f"unfinished after {text} ({group.answer['reason']})"
        return text + (" †" if results.is_earlier(group) else "")

    def memory(group):
        return optional(group.peak_bytes, size)

    def cells(group):
        """Nodes, time, nodes per second and memory."""
        return [grouped(group.nodes), time_cell(group), short(group.speed), memory(group)]

    def better(group, factor):
        """The factor by which a group is better than a published run; NONE if the group is unfinished."""
        return NONE if group.is_unfinished else times(factor)

    def perft(depth, options=""):
        return results.with_args(f"perft 8x8 {depth}{options} --threads 1")

    targets = [
        ("perft 8x8 10", perft(10), 0.10),
        ("perft 8x8 12", perft(12), 1.2),
        ("perft 8x8 12, --plain", perft(12, " --plain"), 6.0),
        ("solve 6x6, df-pn", solve("6x6", "dfpn"), 0.4),
        ("solve 7x7, df-pn, 512 MiB", solve("7x7", "dfpn"), 20.0),
        ("solve 6x6, PN²", solve("6x6", "pn2"), 5.0),
        ("solve 6x6, PNS", solve("6x6", "pns"), 5.0),
        ("solve 6x6, α-β", solve("6x6", "ab"), 120.0),
    ]
    for algorithm, name in ALGORITHMS.items():
        seconds = published_search(algorithm)[1]
        targets.append(
            (f"solve 6x6, {name}, thesis profile", solve("6x6", algorithm, "thesis"), seconds)
        )
    for index, (what, group, limit) in enumerate(targets):
        met = "yes" if group.seconds <= limit else "**no**"
        met = "unfinished" if group.is_unfinished else met
        targets[index] = [what, time(limit), time_cell(group), met]

    algorithms = [
        [board, name, group[-1].outcome, *cells(group)]
        for board in COMPARED
        for algorithm, name in ALGORITHMS.items()
        if (group := solve(board, algorithm, is_required=False))
    ]

    def outcome(group):
        """Peak memory, runs and outcome."""
        return [group.peak_bytes, len(group), group.answer["reason"] or group[-1].outcome]

    table_4_2, csv_4_2 = [], []
    for algorithm, name in ALGORITHMS.items():
        nodes, seconds = published_search(algorithm)
        there = [f"{nodes / 1e6:.2f} M", NONE, time(seconds), NONE, short(nodes / seconds), NONE]
        table_4_2.append([name, "the thesis", *there])
        there = [nodes, seconds, rounded(nodes / seconds), None, None, WINNERS["6x6"]]
        csv_4_2.append([algorithm, "published", *there])
        for profile in ["thesis", "tuned"]:
            group = solve("6x6", algorithm, profile)
            factors = better(group, nodes / group.nodes), better(group, seconds / group.seconds)
            here = cells(group)
            here[1:2] = [factors[0], here[1], factors[1]]
            table_4_2.append(["", f"here, {profile}", *here])
            here = [group.nodes, group.seconds, rounded(group.speed), *outcome(group)]
            csv_4_2.append([algorithm, profile, *here])

    table_4_4, csv_4_4 = [], []
    for thesis in published("konane_pn2_square_boards.csv"):
        board, seconds = thesis["board"], float(thesis["milliseconds_64_threads"]) / 1e3
        group = solve(board, "pn2")
        there = [int(thesis["l1_nodes"]), int(thesis["l2_nodes"])]
        here = [group.answer["l1_nodes"], group.answer["l2_nodes"]]
        row = [board, time(seconds), time_cell(group), better(group, seconds / group.seconds)]
        for level in (0, 1):
            row += [grouped(there[level]), grouped(here[level])]
        table_4_4.append([*row, memory(group)])
        winner = published_winner(board)
        csv_4_4.append([board, "published", 64, seconds, *there, None, None, winner])
        csv_4_4.append([board, "tuned", 1, group.seconds, *here, *outcome(group)])

    table_b1 = []
    for thesis in published("perft_8x8.csv"):
        depth, count = int(thesis["depth"]), int(thesis["nodes"])
        if depth not in (10, 11, 12):
            continue
        seconds = float(thesis["thesis_elapsed_ms"]) / 1e3
        group, plain = perft(depth), perft(depth, " --plain")
        is_equal = all(of.answer["nodes"][-1] == count for of in (group, plain))
        row = [depth, grouped(count), "yes" if is_equal else "**no**", time(seconds)]
        row += [time_cell(group), times(seconds / group.seconds), memory(group)]
        row += [time_cell(plain), times(seconds / plain.seconds), short(plain.speed), memory(plain)]
        table_b1.append(row)

    table_4_1 = []
    thesis = [row for row in published("unique_states.csv") if row["board"] == "5x5"]
    for name, option in [("with", ""), ("without", " --no-symmetry")]:
        group = results.with_args(f"perft 5x5 10 --unique{option} --threads 1")
        there = [int(row[f"{name}_symmetry"]) for row in thesis]
        table_4_1.append([name, "the thesis", *map(grouped, there[:10]), NONE])
        table_4_1.append([name, "here", *map(grouped, group.answer["unique"]), time_cell(group)])

    larger = [(board, solve(board, "dfpn")) for board in LARGER]
    all_runs = []
    for group in results.groups.values():
        row = [f"`{group[-1]['command']}`", len(group), *cells(group), optional(group.load, ratio)]
        span = f"{time(group.range[0])} to {time(group.range[1])}" if len(group) > 1 else NONE
        row[4:4] = [span, time(group.median(lambda record: record["wall_seconds"]))]
        all_runs.append(row)

    nodes_and_time = "|>nodes|>time|>nodes/s|>peak memory"
    plies = "".join(f"|>ply {ply}" for ply in range(1, 11))
    csv_head = "peak_memory_bytes,runs,outcome"
    text = page(
        TEMPLATES / "benchmarks.md",
        machine=machine(results),
        targets=table("what|>at most|>median|met", targets),
        algorithms=table("board|algorithm|winner" + nodes_and_time, algorithms),
        table_4_2=table(
            "algorithm|program, profile|>nodes|>fewer nodes|>time|>faster|>nodes/s|>peak memory",
            table_4_2,
        ),
        table_4_4=table(
            "board|>thesis, 64 threads|>here, 1 thread|>faster|>L1 nodes, thesis|>here"
            "|>L2 nodes, thesis|>here|>peak memory",
            table_4_4,
        ),
        table_B1=table(
            ">depth|>nodes, thesis|equal here|>time, thesis|>time here|>faster|>peak memory"
            "|>--plain|>faster|>nodes/s|>peak memory",
            table_b1,
        ),
        table_4_1=table(f"symmetry|where{plies}|>time", table_4_1),
        larger=table(
            "board|winner" + nodes_and_time, [[b, g[-1].outcome, *cells(g)] for b, g in larger]
        ),
        all_runs=table(
            "command line|>runs|>nodes|>time|>least to greatest|>wall time|>nodes/s"
            "|>peak memory|>greatest load",
            all_runs,
        ),
    )
    return {
        "benchmarks.md": text,
        "benchmarks/table-4.2.csv": csv_table(
            "algorithm,profile,nodes,seconds,nodes_per_second," + csv_head, csv_4_2
        ),
        "benchmarks/table-4.4.csv": csv_table(
            "board,profile,threads,seconds,l1_nodes,l2_nodes," + csv_head, csv_4_4
        ),
        "benchmarks/algorithms.svg": lambda: draw_algorithms(results),
    }


# --- Several threads -------------------------------------------------------------------------------

PARALLEL = {"dfpn": "df-pn", "pn2": "PN²"}
SEARCHED = [("6x6", "thesis"), ("6x6", "tuned"), ("7x7", "tuned"), ("6x8", "tuned")]
THREADS = [1, 2, 4, 8, 12, 16]


@dataclass
class Point:
    """A search on some number of threads, compared with that on one thread. Published searches have no
    group."""

    threads: int
    seconds: float
    speedup: float
    efficiency: float
    overhead: float
    group: Group | None = None
    cpu_overhead: float | None = None

    @property
    def throughput(self):
        """Nodes per second divided by those on one thread."""
        return self.speedup * self.overhead


def series(results):
    """(algorithm, board, profile, points) of the thesis and of our searches; the profile of the thesis
    is `published`. Unfinished searches are left out."""
    for algorithm in PARALLEL:
        points = []
        for row in SEARCHES:
            if row["algorithm"] == algorithm and row["source"].endswith("4.3"):
                threads, seconds = int(row["threads"]), float(row["seconds"])
                # As in the thesis, efficiency is computed from the times, because the speed-ups are rounded.
                efficiency = (points[0].seconds if points else seconds) / seconds / threads
                speedup, overhead = float(row["speedup"]), float(row["search_overhead"])
                points.append(Point(threads, seconds, speedup, efficiency, overhead))
        yield algorithm, "6x6", "published", points
        for board, profile in SEARCHED:
            groups = {n: results.solve(board, algorithm, profile, n) for n in THREADS}
            points, one = [], groups[1]
            for threads, group in groups.items():
                if len({record.outcome for record in group}) > 1:
                    raise Problem(f"runs of `konane {group[-1]['args']}` differ in the winner")
                if not group.is_unfinished:
                    speedup = one.seconds / max(group.seconds, 1e-9)
                    overhead, cpu = group.nodes / one.nodes, None
                    if group.cpu_seconds is not None:
                        cpu = group.cpu_seconds / max(one.cpu_seconds, 0.01)
                    point = threads, group.seconds, speedup, speedup / threads, overhead
                    points.append(Point(*point, group, cpu))
            yield algorithm, board, profile, points


def earlier_program(results, current):
    """Searches whose nodes on one thread differ from those in `current`, the records of the present program, as
    (algorithm, board, profile); and a text about them, empty if there are none."""
    rows, changed = [], set()
    for algorithm, name in PARALLEL.items():
        for board, profile in SEARCHED:
            then = results.solve(board, algorithm, profile)
            now = current.solve(board, algorithm, profile, is_required=False)
            if now and now.nodes != then.nodes:
                changed.add((algorithm, board, profile))
                rows.append([name, board, profile, grouped(then.nodes), grouped(now.nodes)])
    if not rows:
        return changed, ""
    then, now = (distinct(record["signature"] for record in of.records) for of in (results, current))
    text = (
        f"All our runs on this page are of an earlier program (signature {then}, now "
        f"[{now}](../benchmarks.md#machine-and-program)). † marks searches that visit other nodes now. On one thread:\n\n"
    )
    return changed, text + table("algorithm|board|profile|>nodes †|>nodes now", rows)


def scaling():
    results = Results("scaling")
    changed, earlier = earlier_program(results, Results("results"))
    rows, csv_rows = {algorithm: [] for algorithm in PARALLEL}, []
    for algorithm, board, profile, points in series(results):
        is_changed = (algorithm, board, profile) in changed
        for point in points:
            group = point.group
            name = f"{profile} †" if is_changed else profile if group else "the thesis"
            head = [board, name] if point.threads == 1 else ["", ""]
            ratios = [point.speedup, point.efficiency, point.overhead]
            cells, csv_cells, span = [NONE] * 7, [None] * 8, [None, None]
            if group:
                span, runs = group.range, len(group)
                cells = [grouped(group.nodes), short(group.speed)]
                cells += [
                    optional(group.cpu_seconds, cpu_time),
                    optional(point.cpu_overhead, ratio),
                ]
                cells += [runs, f"{time(span[0])} to {time(span[1])}", optional(group.load, ratio)]
                csv_cells = [group.nodes, rounded(group.speed), group.cpu_seconds]
                csv_cells += [point.cpu_overhead, runs, group.load, group[-1].outcome]
                csv_cells.append(group[-1]["signature"])
            rows[algorithm].append(
                [*head, point.threads, time(point.seconds), *map(ratio, ratios), *cells]
            )
            head = [algorithm, board, profile, point.threads, point.seconds]
            csv_rows.append([*head, *span, *ratios, *csv_cells])
    head = (
        "board|profile|>threads|>time|>speed-up|>efficiency|>search overhead|>nodes|>nodes/s"
        "|>CPU time|>CPU overhead|>runs|>least to greatest time|>greatest load"
    )
    csv_head = (
        "algorithm,board,profile,threads,seconds,least_seconds,greatest_seconds,speedup,efficiency,"
        "search_overhead,nodes,nodes_per_second,cpu_seconds,cpu_overhead,runs,greatest_load,winner,signature"
    )
    tables = {algorithm: table(head, of) for algorithm, of in rows.items()}
    return {
        "benchmarks/scaling.md": page(TEMPLATES / "scaling.md", machine=machine(results), earlier=earlier, **tables),
        "benchmarks/scaling.csv": csv_table(csv_head, csv_rows),
        "benchmarks/scaling.svg": lambda: draw_scaling(results, {key[1:] for key in changed}),
    }


# --- Winners ---------------------------------------------------------------------------------------


def boards():
    """All boards of up to 64 squares with no more ranks than files, ordered by squares and ranks."""
    for squares in range(1, MAX_SQUARES + 1):
        for ranks in range(1, math.isqrt(squares) + 1):
            if squares % ranks == 0:
                yield ranks, squares // ranks


def sides(board):
    """The sides of a board such as `7x6`, the shorter one first."""
    return tuple(sorted(map(int, board.split("x"))))


def disagreement(one, other):
    return Problem(f"different winners by `{one['command']}` and `{other['command']}`")


class Board:
    """A board with no more ranks than files, and its search in the table: the latest one with a winner, or
    if there is none, the one with the most nodes."""

    def __init__(self, ranks, files, search):
        self.ranks, self.files, self.search, self.winner = ranks, files, search, search.found
        self.name = f"{ranks}x{files}"
        self.published = published_winner(self.name)
        self.is_new = bool(self.winner) and not self.published
        if self.published and self.winner not in (None, self.published):
            raise Problem(f"{self.name}: {self.winner} wins, but {self.published} in the thesis")

    @property
    def word(self):
        if not self.winner:
            return "?"
        name = self.winner.capitalize()
        return f"**{name}**" if self.is_new else name


def measured_on(records):
    """Machine, date and program of some searches."""
    loads = [record["load_before"] for record in records if record["load_before"] is not None]
    cpus = distinct(f"{record['cpu']} ({record['cores']} cores)" for record in records)
    dates = distinct(record["date"][:10] for record in records)
    signatures = distinct(record["signature"] for record in records)
    text = f"Measured on {cpus} ({dates}), signature of `konane bench` {signatures}."
    if loads:
        text += (
            f" The load average before a run was {min(loads):.2f} to {max(loads):.2f}; where it is "
            "above the number of cores the machine was busy with other work, and the times are longer "
            "than the search needs. Node counts of searches on one thread do not depend on that, and "
            "CPU time depends on it much less."
        )
    return text


def winners():
    searches = {}
    for record in load("winners"):
        board = sides(record.result["board"])
        earlier = searches.get(board, record)
        if earlier.found and record.found and earlier.found != record.found:
            raise disagreement(earlier, record)
        is_less = not earlier.found and earlier.nodes > record.nodes
        if record.found or not (earlier.found or is_less):
            searches[board] = record
    rows = [Board(*board, searches[board]) for board in boards()]
    compared = sum(bool(row.winner and row.published) for row in rows)
    missing = [row.name for row in rows if row.published and not row.winner]
    rest = "Every board that the thesis solves is solved here."
    if missing:
        rest = f"In the thesis and not solved here: {', '.join(missing)}."

    word = {(row.ranks, row.files): row.word for row in rows}
    small_boards, long_boards = [], []
    for ranks in range(1, 9):
        words = [word[min(ranks, files), max(ranks, files)] for files in range(1, 9)]
        small_boards.append([f"**{ranks}**", *words])
        of = [row for row in rows if row.ranks == ranks]
        won = [ranges(r.files for r in of if r.winner == w) for w in ("black", "white", None)]
        long_boards.append([ranks, ranges(row.files for row in of), *won])

    solved_boards, unsolved_boards, csv_rows = [], [], []
    for row in rows:
        search, answer = row.search, row.search.result
        cells = [row.name, row.ranks * row.files, row.winner or "unknown"]
        cells += [row.published or "unknown", "yes" if row.is_new else "no"]
        cells += [answer["algorithm"], answer["threads"], search.nodes, answer["leaf_positions"]]
        cells += [answer["seconds"], search["cpu_seconds"], search["peak_rss_bytes"]]
        csv_rows.append([*cells, answer["reason"], answer["pn"], answer["dn"]])
        if row.winner:
            cells = [row.name, row.word, "the same" if row.published else "new"]
            cells += [grouped(search.nodes), optional(answer["leaf_positions"], grouped)]
            cells += [time(answer["seconds"]), optional(search["cpu_seconds"], cpu_time)]
            cells += [answer["algorithm"], optional(answer["threads"])]
            solved_boards.append([*cells, optional(search["load_before"], ratio)])
        else:
            limits = [search["time_limit"]] if search["time_limit"] else []
            if search["max_nodes"]:
                limits.append(f"{short(search['max_nodes'])} nodes")
            cells = [row.name, ", ".join(limits) or NONE, answer["reason"], grouped(search.nodes)]
            cells += [time(answer["seconds"]), optional(answer["pn"], grouped)]
            unsolved_boards.append([*cells, optional(answer["dn"], grouped), f"`{search['args']}`"])

    csv_head = (
        "board,squares,winner,published,new,algorithm,threads,nodes,leaf_positions,seconds,cpu_seconds,"
        "peak_memory_bytes,reason,root_pn,root_dn"
    )
    text = page(
        TEMPLATES / "winners.md",
        boards=len(rows),
        solved=len(solved_boards),
        new=sum(row.is_new for row in rows),
        agreement=f"All {compared} winners that the thesis has as well agree with it. {rest}",
        machine=measured_on([row.search for row in rows]),
        small_boards=table("ranks \\ files|1|2|3|4|5|6|7|8", small_boards),
        long_boards=table(
            ">shorter side|longer side|Black wins|White wins|not solved", long_boards
        ),
        solved_boards=table(
            "board|winner|the thesis|>nodes|>by leaf solver|>time|>CPU time|algorithm|>threads"
            "|>load before",
            solved_boards,
        ),
        unsolved_boards=table(
            "board|limits|stopped by|>nodes|>time|>root pn|>root dn|search", unsolved_boards
        ),
    )
    return {
        "winners.md": text,
        "benchmarks/winners.csv": csv_table(csv_head, csv_rows),
        "benchmarks/winners.svg": lambda: draw_winners(rows),
    }


# --- Positions: openings and narrow boards ---------------------------------------------------------


class Answers:
    """The search of each position: the latest one with a winner, or if there is none, the latest."""

    CELLS = "nodes,leaf_positions,seconds,reason"

    def __init__(self, name):
        self.name, self.searches = name, {}
        for record in load(name):
            key = record.result["board"], record.result["position"]
            earlier = self.searches.get(key)
            if earlier and earlier.found and record.found and earlier.found != record.found:
                raise disagreement(earlier, record)
            if record.found or not (earlier and earlier.found):
                self.searches[key] = record

    def __getitem__(self, position):
        """The search of (ranks, files, text)."""
        ranks, files, text = position
        if (f"{ranks}x{files}", text) not in self.searches:
            raise Problem(
                f"docs/benchmarks/{self.name}.jsonl has no record of {ranks}x{files} '{text}': "
                f"run `cargo xtask measure {self.name}`"
            )
        return self.searches[f"{ranks}x{files}", text]

    def limit(self, position):
        """The limit that was reached without a winner."""
        search = self[position]
        limits = {"time limit": search["time_limit"], "node limit": search["max_nodes"]}
        reason = search.result["reason"]
        limit = limits.get(reason)
        return (
            f"{reason} of {grouped(limit) if isinstance(limit, int) else limit}"
            if limit
            else reason
        )

    def cells(self, position):
        search = self[position]
        answer = search.result
        return [search.nodes, answer["leaf_positions"], answer["seconds"], answer["reason"]]


def position_text(ranks, files, empty, to_move):
    """A position in the notation of the README; squares are (rank from the top, file)."""
    lines = []
    for rank in range(ranks):
        line, gap = "", 0
        for file in range(files):
            if (rank, file) in empty:
                gap += 1
            else:
                line += (str(gap) if gap else "") + "xo"[(rank + file) % 2]
                gap = 0
        lines.append(line + (str(gap) if gap else ""))
    return "/".join(lines) + " " + to_move


def file_name(file):
    """`a` to `z`, then `aa`, `ab` and so on."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[file] if file < 26 else letters[file // 26 - 1] + letters[file % 26]


def symmetries(ranks, files):
    """Maps of squares: the symmetries of a board that keep the colours."""
    maps = []
    for turn in [False, True] if ranks == files else [False]:
        for down in [False, True]:
            for across in [False, True]:

                def image(square, turn=turn, down=down, across=across):
                    rank, file = reversed(square) if turn else square
                    return ranks - 1 - rank if down else rank, files - 1 - file if across else file

                if sum(image((0, 0))) % 2 == 0:
                    maps.append(image)
    return maps


def openings_of(ranks, files):
    """Pairs of Black's opening removal and White's answers. A removal is a list of squares that lead to the
    same position up to symmetry. An answer is a pair of such a list and the position."""
    maps = symmetries(ranks, files)
    squares = [(rank, file) for rank in range(ranks) for file in range(files)]
    corners = {(rank, file) for rank in (0, ranks - 1) for file in (0, files - 1)}
    centre = {
        (r, f) for r in ((ranks - 1) // 2, ranks // 2) for f in ((files - 1) // 2, files // 2)
    }

    def classes(removals, gone):
        found = defaultdict(list)
        for square in removals:
            # Squares lead to the same position if the least images of the removed squares are equal.
            found[min(tuple(sorted(map(image, [*gone, square]))) for image in maps)].append(square)
        return list(found.values())

    def name(square):
        return file_name(square[1]) + str(ranks - square[0])

    everything = []
    first = [s for s in squares if s in corners | centre and sum(s) % 2 == 0]
    for removal in classes(first, []):
        rank, file = removal[0]
        beside = [s for s in squares if abs(s[0] - rank) + abs(s[1] - file) == 1]
        answers = [
            (
                [name(square) for square in answer],
                position_text(ranks, files, {removal[0], answer[0]}, "b"),
            )
            for answer in classes(beside, [removal[0]])
        ]
        everything.append(([name(square) for square in removal], answers))
    return everything


def choice(player, winners):
    """Winner of a position with `player` to move, whose moves lead to positions with these winners.

    None is an unknown winner."""
    if player in winners:
        return player
    return None if None in winners else {"black": "white", "white": "black"}[player]


def joined(removals):
    """Text of removals: commas between different ones, spaces between squares of the same one."""
    return ", ".join(map(" ".join, removals)) or NONE


def openings():
    answers = Answers("openings")
    rows, csv_rows, winners, complete = [], [], {}, 0
    one_rank, black_wins = [], []
    # For each limit, the boards with unsolved pairs of removals, and the number of these pairs.
    left_out = defaultdict(list)
    words = {"black": "**Black**", "white": "White", None: "?"}
    for ranks, files in boards():
        board, unsolved = f"{ranks}x{files}", defaultdict(int)
        # Names and winner of each opening, and its answers with position and winner.
        opened = []
        for names, pairs in openings_of(ranks, files):
            replies = []
            for same, text in pairs:
                position = ranks, files, text
                replies.append((same, position, answers[position].found))
                if not replies[-1][2]:
                    unsolved[answers.limit(position)] += 1
            opened.append((names, choice("white", [winner for _, _, winner in replies]), replies))
        winners[board] = choice("black", [winner for _, winner, _ in opened])
        complete += not unsolved
        for limit, count in sorted(unsolved.items()):
            left_out[limit].append(f"{board} ({count})")
        for (first, *same), winner, replies in opened:
            of = [joined(r[0] for r in replies if r[2] == w) for w in ("white", "black", None)]
            rows.append([board, " ".join([first, *same]), words[winner], *of])
            head = [board, winners[board] or "unknown", first, " ".join(same), winner or "unknown"]
            for (second, *same), position, winner in replies:
                cells = [second, " ".join(same), winner or "unknown", position[2]]
                csv_rows.append([*head, *cells, *answers.cells(position)])
            if not replies:
                csv_rows.append(head + [None] * 8)
        if winners[board] == "black" and ranks == 1:
            one_rank.append(files)
        elif winners[board] == "black":
            of = [joined(o[0] for o in opened if o[1] == w) for w in ("black", "white")]
            black_wins.append([board, *of])
    compare_winners(winners, "openings")
    csv_head = "board,start_winner,first,first_same,first_winner,second,second_same,second_winner,position,"
    text = page(
        TEMPLATES / "openings.md",
        boards=len(winners),
        complete=complete,
        known=sum(winner is not None for winner in winners.values()),
        left_out="\n".join(f"- {limit}: {', '.join(of)}" for limit, of in sorted(left_out.items())),
        machine=measured_on(answers.searches.values()),
        one_rank=ranges(one_rank),
        black_wins=table("board|removals that win|removals that lose", black_wins),
        openings=table(
            "board|first removal|winner|answers that win|answers that lose|not solved", rows
        ),
    )
    return {"openings.md": text, "openings.csv": csv_table(csv_head + Answers.CELLS, csv_rows)}


def compare_winners(found, source):
    """Compares winners of boards with those of docs/benchmarks/winners.csv and of the thesis.

    Raises `Problem` if two differ."""
    lines = (DOCS / "benchmarks/winners.csv").read_text().splitlines()[1:]
    searched = {line.split(",")[0]: line.split(",")[2] for line in lines}
    for board, winner in found.items():
        for other in searched.get(board), WINNERS.get(board):
            if winner and other not in (None, "unknown", winner):
                raise Problem(f"{board}: {winner} wins by {source}.jsonl, but {other} was expected")


# Setups of narrow boards: the first empty square is the corner or the middle, the second one is the next
# square in the same rank (horizontal) or in the same file (vertical).
SETUPS = ["start", "corner-horizontal", "corner-vertical", "middle-horizontal", "middle-vertical"]


def narrow_positions(ranks, files, setup):
    """The positions of a setup by the side to move. Empty if the two squares are not on the board."""
    if setup == "start":
        return {"black": position_text(ranks, files, set(), "b")}
    place, direction = setup.split("-")
    rank, file = (0, 0) if place == "corner" else ((ranks - 1) // 2, (files - 1) // 2)
    second = (rank, file + 1) if direction == "horizontal" else (rank + 1, file)
    if second[0] >= ranks or second[1] >= files:
        return {}
    gap = {(rank, file), second}
    return {player: position_text(ranks, files, gap, player[0]) for player in ("black", "white")}


def period(classes):
    """The period of a sequence, as (index at which the periodic part begins, length of the period).

    Only the known classes from the first one to the next unknown one are used. The periodic part has to be
    at least half of them, and at least three periods. Of several periods, the one whose first repetition
    begins earliest is returned. None if there is no period."""
    absent = next((i for i, known in enumerate(classes) if known), len(classes))
    known = []
    for letter in classes[absent:]:
        if letter is None:
            break
        known.append(letter)
    half = len(known) // 2
    fitting = [
        (skipped + length, length, skipped)
        for skipped in range(half + 1)
        for length in range(1, max(half, 1) + 1)
        if len(known) - skipped >= 3 * length
        and known[skipped + length :] == known[skipped:-length]
    ]
    if not fitting:
        return None
    _, length, skipped = min(fitting)
    return absent + skipped, length


# Classes by the winners with Black and with White to move; the start has Black to move only.
CLASSES = {
    ("black",): "B",
    ("white",): "W",
    ("black", "black"): "B",
    ("white", "white"): "W",
    ("black", "white"): "N",
    ("white", "black"): "P",
}


def narrow():
    answers = Answers("narrow")
    rows, unsolved, sections = [], [], ""
    for ranks in (1, 2, 3):
        sizes = range(ranks, MAX_SQUARES // ranks + 1)
        columns = {setup: [] for setup in SETUPS}
        for files in sizes:
            for setup in SETUPS:
                winners = []
                for player, text in narrow_positions(ranks, files, setup).items():
                    position = ranks, files, text
                    winner = answers[position].found
                    winners.append(winner)
                    role = winner and ("first" if winner == player else "second")
                    cells = [setup, player, text, winner or "unknown", role or "unknown"]
                    rows.append([f"{ranks}x{files}", *cells, *answers.cells(position)])
                    if not winner:
                        limit = answers.limit(position)
                        unsolved.append(f"{ranks}x{files} {setup} for {player} ({limit})")
                columns[setup].append(CLASSES.get(tuple(winners)))
        # Setups that do not fit on any board are left out.
        columns = {setup: column for setup, column in columns.items() if any(column)}
        patterns = [[setup, pattern(ranks, column)] for setup, column in columns.items()]
        lines = [
            [files, *(column[files - ranks] or NONE for column in columns.values())]
            for files in sizes
        ]
        sections += (
            f"## {ranks}xn\n\n{table('setup|pattern in n', patterns)}\n"
            f"{table('|'.join(['>n', *columns]), lines)}\n"
        )
    compare_winners({row[0]: row[4] for row in rows if row[1] == "start"}, "narrow")
    text = page(
        TEMPLATES / "narrow.md",
        known=len(rows) - len(unsolved),
        cases=len(rows),
        left_out=f", without {', '.join(unsolved)}" if unsolved else "",
        machine=measured_on(answers.searches.values()),
        sections=sections,
    )
    head = "board,setup,to_move,position,winner,player," + Answers.CELLS
    return {"narrow.md": text, "narrow.csv": csv_table(head, rows)}


def pattern(first, classes):
    """The period of a column in words. The first class of the column is that of `first` files."""
    found = period(classes)
    if found is None:
        numbers = defaultdict(list)
        for files, letter in enumerate(classes, first):
            if letter:
                numbers[letter].append(files)
        return "no period; " + "; ".join(f"{c}: {ranges(of)}" for c, of in sorted(numbers.items()))
    skipped, length = found
    last = next((i for i in range(skipped, len(classes)) if classes[i] is None), len(classes))
    word = "".join(classes[skipped : skipped + length])
    repeated = " repeated" if length > 1 else ""
    return f"{word}{repeated} from {first + skipped} to {first + last - 1}"


# --- Sprouts ---------------------------------------------------------------------------------------


def sprouts():
    expected = {row["spots"]: row["outcome"] for row in published("sprouts_outcomes.csv")}
    # For each number of spots and threads, the newest record with an outcome, or if none has one, the newest.
    searches = {}
    for record in load("sprouts"):
        spots = record.result["position"].removeprefix("0*")
        if not spots.isdigit():
            raise Problem(f"`{record['command']}`: expected a start `0*n`")
        key = int(spots), record.result["threads"] or 1
        if record.found or not (key in searches and searches[key].found):
            searches[key] = record
    rows = []
    for (spots, threads), record in sorted(searches.items()):
        answer = record.result
        there = expected.get(str(spots), "")
        if record.found and there and record.found != there:
            raise Problem(f"{answer['position']}: {record.found}, but {there} was published")
        reason = f" ({answer['reason']})" if answer["reason"] else ""
        counts = [answer["expansions"] or 0, record.nodes, answer["grundy_numbers"] or 0]
        peak, load_before = record["peak_rss_bytes"], record["load_before"]
        memory = record["args"].partition("--memory ")[2]
        cells = [f"{answer['seconds']:.2f}", "" if peak is None else f"{peak / 2**20:.0f}", memory]
        cells += [threads, "" if load_before is None else f"{load_before:.2f}"]
        rows.append([spots, f"{record.outcome or 'unknown'}{reason}", there, *counts, *cells])
    head = (
        "spots|outcome|published|expansions|nodes|Grundy numbers|seconds|peak MiB|`--memory`"
        "|threads|load"
    )
    return {"benchmarks/sprouts.md": page(TEMPLATES / "sprouts.md", starts=table(head, rows))}


# --- Simulations of many machines ------------------------------------------------------------------


class Simulation:
    """One record of `cargo xtask simulate --json`."""

    def __init__(self, record):
        self.record, self.costs, self.traffic = record, record["costs"], record["traffic"]
        self.game, self.machines, self.threads = (
            record["game"],
            record["machines"],
            record["threads"],
        )
        self.is_sprouts = "expansions" in record
        self.searched = record["expansions"] if self.is_sprouts else record["nodes"]
        self.alone = record["alone"]
        self.cores = self.machines * self.threads
        # Seconds are those of the virtual clock.
        self.speedup = self.alone * self.costs["node_ns"] / 1e9 / record["seconds"]
        self.overhead = self.searched / self.alone


def plain(number):
    """A number without `.0` at the end."""
    return f"{number:g}"


def simulations(everything):
    """A table of simulated searches of a game."""
    rows = []
    for one in everything:
        record, traffic, seconds = one.record, one.traffic, one.record["seconds"]
        cells = [one.game, one.machines, one.threads, short(record["job_nodes"]), record["shared_work"]]
        cells += [short(one.searched), figures(one.overhead), time(seconds), figures(one.speedup)]
        cells += [f"{traffic['busy'] * 100:.0f} %", f"{traffic['driver'] * 100:.0f} %"]
        cells += [f"{traffic['charged_seconds'] / seconds * 100:.0f} %"]
        for name in ["charged_seconds", "coordinator_seconds"]:
            cells += [f"{traffic[name] * 1e6 / traffic['messages']:.0f} µs"]
        sent = (traffic["entry_bytes"] + traffic["received_bytes"] + traffic["sent_bytes"]) / 1e6
        rows.append([*cells, short(traffic["jobs"]), figures(sent)])
    unit = "expansions" if everything[0].is_sprouts else "nodes"
    head = (
        f"problem|>machines|>threads of each|>job, nodes|>shared from|>{unit}|>overhead|>time|>speed-up"
        "|>searching|>driver|>coordinator|>a message|>processor time|>jobs|>MB"
    )
    return table(head, rows)


def cluster():
    path = DOCS / "benchmarks/cluster.jsonl"
    everything = [Simulation(json.loads(line)) for line in path.read_text().splitlines()]
    everything.sort(key=lambda one: (one.alone, one.cores, one.machines, one.record["job_nodes"]))
    games = [[one for one in everything if one.is_sprouts == sprouts] for sprouts in [False, True]]
    costs = {}
    for name, ones in zip(["konane", "sprouts"], games):
        first = ones[0].costs
        if any(one.costs != first for one in ones):
            raise Problem(f"{path}: simulations of one game with different costs")
        costs |= {f"{name} {key}": cost for key, cost in first.items()}
    first = games[0][0].costs
    costs |= {"latency_ms": first["latency_us"] / 1e3, "call_ms": first["call_us"] / 1e3}
    costs |= {"expansion_us": costs["sprouts node_ns"] / 1e3}
    template = (TEMPLATES / "cluster.md").read_text()
    costs = {name.replace(" ", "_"): plain(cost) for name, cost in costs.items()}
    costs = {name: cost for name, cost in costs.items() if "{{" + name.replace("_", " ") + "}}" in template}
    text = page(TEMPLATES / "cluster.md", konane=simulations(games[0]), sprouts=simulations(games[1]), **costs)
    return {
        "benchmarks/cluster.md": text,
        "benchmarks/cluster.svg": lambda: draw_cluster(everything),
    }


# --- Reproduction of published results --------------------------------------------------------------


def reproduction():
    sys.path.append(str(ROOT / "papers"))
    import reproduce

    return reproduce.page_files()


# --- JSON ------------------------------------------------------------------------------------------


# Pages with the types of the command line, and of the HTTP API. A type links to its table on the pages of the same list.
TYPE_PAGES = [
    ["json.md", "json-konane.md", "json-databases.md", "json-sprouts.md"],
    ["api.md", "api-searches.md", "api-sprouts.md"],
]


def json_pages():
    # A test of the program compares this file with its types.
    schema = json.loads((DOCS / "json.schema.json").read_text())
    commands, types = schema["properties"], schema["$defs"]
    used, files = set(), {}
    for names in TYPE_PAGES:
        templates = {name: (TEMPLATES / name).read_text().splitlines() for name in names}
        places = type_places(templates)
        if unknown := sorted(places.keys() - types.keys()):
            raise Problem(f"xtask/pages/{places[unknown[0]][0]}: no type `{unknown[0]}` in the schemas")
        used |= places.keys()
        for name, template in templates.items():

            def link(match):
                page, anchor = places[match[1]]
                return f"[{match[1]}]({'' if page == name else page}#{anchor})"

            lines = []
            for line in template:
                if line.startswith("{{"):
                    part = line.strip("{}")
                    text = command_table(commands, types) if part == "commands" else type_table(types[part])
                    line = re.sub(r"\[(\w+)\]\(#\w+\)", link, text)
                lines.append(line + "\n")
            files[name] = "".join(lines)
    if missing := sorted(types.keys() - used):
        raise Problem(f"no page has the types {', '.join(missing)}: add `{{{{NAME}}}}` to a page of xtask/pages")
    return files


def type_places(templates):
    """The page of each type, and the anchor of the heading above its table."""
    places, anchor = {}, ""
    for name, lines in templates.items():
        for line in lines:
            if line.startswith("#"):
                kept = (char.lower() for char in line.lstrip("# ") if char.isalnum() or char in " -_")
                anchor = "".join(kept).replace(" ", "-")
            elif line.startswith("{{") and line != "{{commands}}":
                places[line.strip("{}")] = name, anchor
    return places


def command_table(commands, types):
    """The keys of all objects of the command line."""
    lines = ["| subcommand | type | keys |\n|---|---|---|"]
    for command, reference in commands.items():
        name = last(reference["$ref"])
        variants = types[name].get("anyOf", [types[name]])
        keys = [f"`{key}`" for variant in variants for key in variant.get("properties", {})]
        lines.append(f"| `{command}` | [{name}](#{name.lower()}) | {' '.join(keys)} |")
    return "\n".join(lines)


def type_table(schema):
    """The keys of an object, or of each of several objects."""
    if "anyOf" in schema:
        texts = []
        for variant in schema["anyOf"]:
            about = variant.get("description", "")
            if "$ref" in variant:
                texts.append(f"{about} `{last(variant['$ref'])}`, as above.")
            else:
                texts.append(f"{about}\n\n{type_table(variant)}")
        return "\n\n".join(texts)
    lines = ["| key | value | meaning |\n|---|---|---|"]
    for key, value in schema.get("properties", {}).items():
        words = kind(value)
        if key not in schema.get("required", []):
            # A key that may be absent is never null.
            words = words.removesuffix(" or null") + ", or absent"
        about = value.get("description", "").replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{key}` | {words} | {about} |")
    return "\n".join(lines)


def last(reference):
    return reference.rpartition("/")[2]


KINDS = {"string": "text", "integer": "number", "boolean": "true or false"}


def kind(schema):
    """The kind of a value in words."""
    if "$ref" in schema:
        name = last(schema["$ref"])
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return alternatives([None if value is None else f"`{value}`" for value in schema["enum"]])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            kinds = []
            for one in schema[key]:
                word = f"`{one['const']}`" if "const" in one else kind(one)
                word = None if one.get("type") == "null" else word
                if kinds[-1:] != [word]:
                    kinds.append(word)
            return alternatives(kinds)
    names = schema.get("type", [])
    kinds = []
    for name in names if isinstance(names, list) else [names]:
        if name == "array":
            kinds.append(f"list: {kind(schema.get('items', {}))}")
        else:
            kinds.append(None if name == "null" else KINDS.get(name, name))
    return alternatives(kinds)


def alternatives(kinds):
    """Kinds in words. None is written as `null` and comes last."""
    words = [word for word in kinds if word is not None] + ["null"] * (None in kinds)
    if not words:
        return "value"
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


# --- Figures ---------------------------------------------------------------------------------------

def power_axis(axis, numbers):
    """Makes these numbers the only tick labels of a logarithmic axis."""
    axis.set_ticks(numbers, [plain(number) for number in numbers], minor=False)
    axis.set_ticks([], minor=True)


def draw_algorithms(results):
    fig, panels = figure(10, 4.8, ncols=2)
    published_searches = [published_search(algorithm) for algorithm in ALGORITHMS]
    for index, (axes, title) in enumerate(zip(panels, ["Nodes", "Time (seconds)"])):
        for column, algorithm in enumerate(ALGORITHMS):
            groups = [results.solve(board, algorithm, is_required=False) for board in COMPARED]
            # The markers of the algorithms on one board are side by side.
            points = [
                (place + (column - 1.5) * 0.14, (group.nodes, group.seconds)[index])
                for place, group in enumerate(groups)
                if group and not group.is_unfinished
            ]
            mark(axes, *zip(*points), SHAPES[column], COLOURS[column], linewidth=1)
            place = COMPARED.index("6x6") + (column - 1.5) * 0.14
            there = published_searches[column][index]
            mark(axes, [place], [there], SHAPES[column], COLOURS[column], is_filled=False)
        axes.set_yscale("log")
        axes.set(title=title, xlabel="board (ranks x files)")
        axes.set_xticks(range(len(COMPARED)), COMPARED)
        axes.grid(axis="x", visible=False)
    entries = [
        entry(name, shape, colour, line="-")
        for name, shape, colour in zip(ALGORITHMS.values(), SHAPES, COLOURS)
    ]
    entries.append(entry("here, one thread", "o"))
    entries.append(entry("the thesis, 6x6, one thread", "o", is_filled=False))
    fig.legend(handles=entries, loc="outside upper left", ncols=len(entries))
    return svg(fig)


def draw_scaling(results, changed):
    """Speed-up and throughput by threads. `changed` are the boards and profiles of an earlier program."""
    fig, panels = figure(10, 8.4, nrows=2, ncols=2)
    cores = max((record["cores"] for record in results.records), default=1)
    searches = [("6x6", "published"), *SEARCHED]
    styles = dict(zip(searches, zip(["o", "D", "o", "s", "^"], [INK, PURPLE, BLUE, GREEN, ORANGE])))
    titles = ["Speed-up", "Nodes per second (one thread = 1)"]
    for row, algorithm in zip(panels, PARALLEL):
        for axes, title, field in zip(row, titles, ["speedup", "throughput"]):
            axes.plot([1, THREADS[-1]], [1, THREADS[-1]], color=INK, alpha=0.5, linewidth=1)
            if cores < THREADS[-1]:
                # Nothing can be gained by more threads than cores.
                axes.axvline(cores, color=INK, linewidth=1)
            for name, board, profile, points in series(results):
                if name == algorithm:
                    shape, colour = styles[board, profile]
                    threads = [point.threads for point in points]
                    values = [getattr(point, field) for point in points]
                    mark(axes, threads, values, shape, colour, profile != "published", linewidth=1)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_ylim(bottom=0.9)
            axes.set(title=f"{PARALLEL[algorithm]}: {title}", xlabel="threads", ylabel="factor")
            power_axis(axes.xaxis, THREADS)
            power_axis(axes.yaxis, [2**n for n in range(7) if 2**n <= axes.get_ylim()[1]])
    entries = [
        entry("the thesis, 6x6", *style, is_filled=False, line="-")
        if search[1] == "published"
        else entry(f"here, {', '.join(search)}{' †' * (search in changed)}", *style, line="-")
        for search, style in styles.items()
    ]
    entries.append(entry("in proportion to the threads", colour="#949494", line="-"))
    fig.legend(handles=entries, loc="outside upper left", ncols=3)
    return svg(fig)


def draw_cluster(everything):
    fig, panels = figure(10, 4.8, ncols=2)
    games = {}
    for one in everything:
        games.setdefault(one.alone, []).append(one)
    max_cores = 2 ** math.ceil(math.log2(max(one.cores for one in everything)))
    panels[0].plot([1, max_cores], [1, max_cores], color=INK, alpha=0.5, linewidth=1)
    for axes, title, field in zip(panels, ["Speed-up", "Search overhead"], ["speedup", "overhead"]):
        for index, ones in enumerate(games.values()):
            for one in ones:
                value = getattr(one, field)
                mark(axes, [one.cores], [value], *series_style(index))
                if one.threads > 1:
                    # Labels of two games at the same point are mostly on different sides.
                    side, place = (-1, "right") if index % 2 else (1, "left")
                    style = {"ha": place, "va": "center", "fontsize": 9, "xytext": (7 * side, 0)}
                    text = f"{one.machines}×{one.threads}"
                    axes.annotate(text, (one.cores, value), textcoords="offset points", **style)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set(title=title, xlabel="cores (machines × threads)", ylabel="factor")
        axes.set_xlim(1, 3 * max_cores)
        axes.set_ylim(1, 1.2 * axes.get_ylim()[1])
        power_axis(axes.xaxis, [2**n for n in range(int(math.log2(max_cores)) + 1)])
        power_axis(axes.yaxis, [2**n for n in range(12) if 2**n <= axes.get_ylim()[1]])
    entries = [
        entry(f"{ones[0].game}, {time(alone * ones[0].costs['node_ns'] / 1e9)} on one thread", *series_style(index))
        for index, (alone, ones) in enumerate(games.items())
    ]
    entries.append(entry("in proportion to the cores", colour="#949494", line="-"))
    fig.legend(handles=entries, loc="outside upper left", ncols=3)
    return svg(fig)


def draw_winners(rows):
    from matplotlib.patches import Patch, Rectangle

    fig, (small, all_boards) = figure(10, 4.8, nrows=2, height_ratios=[2, 1])
    fills = {"black": INK, "white": WHITE, None: GRID}

    def squares(axes, boards, dot):
        for row, ranks, files in boards:
            fill, hatch = fills[row.winner], None if row.winner else "////"
            style = {"facecolor": fill, "edgecolor": "#808080", "hatch": hatch, "linewidth": 0.7}
            axes.add_patch(Rectangle((files - 0.5, ranks - 0.5), 1, 1, **style))
        new = [(files, ranks) for row, ranks, files in boards if row.is_new]
        axes.plot(*zip(*new), "o", color=ORANGE, markersize=dot, markeredgewidth=0)
        axes.set_aspect("equal", anchor="W")
        axes.set_ylim(8.5, 0.5)
        axes.set_yticks(range(1, 9))
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)

    both = [(row, row.ranks, row.files) for row in rows]
    both += [(row, row.files, row.ranks) for row in rows if row.ranks != row.files]
    squares(small, [board for board in both if max(board[1:]) <= 8], 6)
    small.set(title="Boards of up to 8x8", xlabel="files", ylabel="ranks", xlim=(0.5, 8.5))
    small.set_xticks(range(1, 9))
    squares(all_boards, [(row, row.ranks, row.files) for row in rows], 3.5)
    all_boards.set(title="All boards of up to 64 squares", xlabel="longer side")
    all_boards.set(ylabel="shorter side", xlim=(0.5, 64.5))
    all_boards.set_xticks([1, *range(4, 65, 4)])
    entries = [
        Patch(label="Black wins", facecolor=INK, edgecolor="#808080"),
        Patch(label="White wins", facecolor=WHITE, edgecolor="#808080"),
        Patch(label="not solved", facecolor=GRID, edgecolor="#808080", hatch="////"),
        entry("not in the thesis", "o", ORANGE),
    ]
    small.legend(handles=entries, loc="center left", bbox_to_anchor=(1.1, 0.5), fontsize=11)
    return svg(fig)


def draw_trace(path):
    """Proof numbers of the root and use of the table over time, from the file of `konane solve --trace`."""
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            line = json.loads(line)
            lines.append(
                (line["seconds"], line.get("pn"), line.get("dn"), line["nodes"], line["table"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise Problem(f"{path}: line {number}: expected an object of --trace ({error!r})")
    if not lines:
        raise Problem(f"{path}: expected at least one line")
    seconds, pn, dn, nodes, tables = zip(*lines)
    # Infinite numbers (null) and 0, the number of a proven root, cannot be drawn on a logarithmic scale.
    pn, dn = ([number or math.nan for number in numbers] for numbers in (pn, dn))
    outcome = "not proven"
    for numbers, word in [(1, "wins"), (2, "loses")]:
        if lines[-1][numbers] == 0:
            outcome = f"proven: the side to move {word}"
    fig, (numbers, used) = figure(10, 5.8, nrows=2, height_ratios=[2, 1], sharex=True)
    numbers.plot(seconds, pn, color=BLUE, label="proof number")
    numbers.plot(seconds, dn, color=ORANGE, label="disproof number")
    numbers.set_yscale("log")
    max_number = max((number for number in pn + dn if number > 0), default=1)
    numbers.set_ylim(0.8, 10 ** math.ceil(math.log10(max_number + 1)))
    numbers.yaxis.set_major_formatter(lambda number, _: grouped(rounded(number)))
    numbers.set_title(f"Numbers of the root ({short(nodes[-1])} nodes, {outcome})")
    numbers.set_ylabel("number")
    numbers.legend(loc="upper left", bbox_to_anchor=(1, 1))
    capacity = max(max(table["capacity"] for table in tables), 1)
    used.plot(seconds, [table["used"] / capacity * 100 for table in tables], color=GREEN)
    used.set_title(f"Table entries in use, of {short(capacity)}")
    used.set(xlabel="time (seconds)", ylabel="percent", ylim=(0, None), xlim=(0, None))
    return svg(fig)


# --- Command line ----------------------------------------------------------------------------------

# `cargo xtask measure` uses the same names. Winners come before openings and narrow boards, because those
# are compared with the winners.
PAGES = {
    "results": benchmarks,
    "scaling": scaling,
    "winners": winners,
    "openings": openings,
    "narrow": narrow,
    "sprouts": sprouts,
    "cluster": cluster,
    "reproduction": reproduction,
    "json": json_pages,
}


def write(names):
    for name in names:
        for path, content in PAGES[name]().items():
            (DOCS / path).write_text(content() if callable(content) else content)
            print(f"docs/{path}")


def check(names):
    """Compares the committed files with the generated ones."""
    try:
        import matplotlib

        draws = matplotlib.__version__ == MATPLOTLIB
    except ImportError:
        draws = False
    if not draws:
        print(f"figures are not compared: install matplotlib {MATPLOTLIB}", file=sys.stderr)
    for name in names:
        for path, content in PAGES[name]().items():
            if callable(content):
                content = content() if draws else None
            if content not in (None, (DOCS / path).read_text()):
                raise Problem(f"docs/{path} is not up to date: run `cargo xtask pages {name}`")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGES", help=f"{', '.join(PAGES)} (default: all)"
    )
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument(
        "--trace", nargs=2, type=Path, metavar=("FILE", "FIGURE"), help="draw a trace"
    )
    args = parser.parse_args()
    if unknown := [name for name in args.pages if name not in PAGES]:
        parser.error(f"no pages '{unknown[0]}': expected {', '.join(PAGES)}")
    try:
        if args.trace:
            args.trace[1].write_text(draw_trace(args.trace[0]))
        else:
            (check if args.check else write)(args.pages or PAGES)
    except (Problem, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    except ImportError as error:
        sys.exit(f"error: {error}: install matplotlib {MATPLOTLIB} (`pip install matplotlib`)")


if __name__ == "__main__":
    main()

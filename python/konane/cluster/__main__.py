"""``python -m konane.cluster``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .. import Error, FileError, InternalError, Position
from .._konane import count, seconds
from . import builddb, text
from .driver import Rules
from .game import Game, Konane, Sprouts
from .progress import Terminal
from .run import Checkpoints, Result, search
from .session import ClusterError

#: Exit codes of the program.
ANSWERED, MISMATCH, BAD_INPUT, LIMIT, FILE, INTERRUPTED = 0, 1, 2, 3, 4, 130

#: Signals that follow the first one faster than this are the same request.
SAME_REQUEST = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Runs a verb; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m konane.cluster",
        description="Searches and builds on many machines, by Ray.",
        epilog="Exit codes: 0 answered, 2 bad usage or bad input, 3 a limit was reached without an "
        "answer, 4 a file is missing, damaged or cannot be written, 130 interrupted.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    solve = verbs.add_parser("solve", help="who wins a position of Konane")
    solve.add_argument("board", metavar="RxF", help="ranks x files, such as 7x7")
    solve.add_argument("--position", metavar="TEXT", help="begin here, such as 'xox/o1o/xox w'")
    solve.add_argument("--moves", metavar="MOVES", help="play these moves first: 'a4 a3'")
    solve.add_argument("--profile", choices=["tuned", "thesis"], default="tuned")
    add_search_arguments(solve)
    solve.set_defaults(run=run_solve)
    sprouts = verbs.add_parser("sprouts", help="who wins a position of Sprouts")
    sprouts.add_argument("position", metavar="TEXT", help="such as 0*12")
    sprouts.add_argument(
        "--nimber", metavar="N", type=checked(heap), default=0, help="beside this nim heap"
    )
    add_search_arguments(sprouts)
    sprouts.set_defaults(run=run_sprouts)
    build = verbs.add_parser("builddb", help="a database of all positions of a board")
    builddb.add_arguments(build)
    build.set_defaults(run=builddb.run)
    args = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = args.run
    try:
        return run(args)
    except ClusterError as error:
        return complain(error, LIMIT)
    except FileError as error:
        return complain(error, FILE)
    except InternalError as error:
        return complain(error, MISMATCH)
    except Error as error:
        return complain(error, BAD_INPUT)


def complain(error: Exception, code: int) -> int:
    """Says what is wrong."""
    print(f"error: {error}", file=sys.stderr)
    return code


def heap(value: str) -> int:
    """The size of a nim heap."""
    return text.amount(value, least=0)


def checked(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A type of an argument, whose error is shown with its text."""

    def parse(value: str) -> Any:
        try:
            return read(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """What all searches have."""
    amount, nodes, duration = checked(text.amount), checked(count), checked(seconds)
    add = parser.add_argument
    add("--address", help="the Ray to join, auto or host:port [default: a new one on this machine]")
    add("--workers", metavar="N", type=amount, help="workers in all [default: one a machine]")
    add(
        "--threads-per-worker",
        metavar="N",
        type=amount,
        help="threads of each [default: the machine's cores, divided among its workers]",
    )
    add(
        "--memory-per-worker",
        metavar="SIZE",
        default="1GiB",
        help="memory of each worker's table [default: 1GiB]",
    )
    add(
        "--memory",
        metavar="SIZE",
        default="1GiB",
        help="memory of the leader, which runs here [default: 1GiB]",
    )
    add(
        "--job-nodes",
        metavar="N",
        type=nodes,
        help="nodes of a job [default: by the speed and number of workers]",
    )
    add(
        "--checkpoint",
        metavar="FILE",
        help="save what the leader knows to this file, all the time, on Ctrl-C and at the end",
    )
    add(
        "--checkpoint-interval",
        metavar="TIME",
        type=duration,
        help="time from one checkpoint to the next [default: 5s]",
    )
    add("--resume", action="store_true", help="go on from the checkpoint, which must be there")
    add("--time-limit", metavar="TIME", type=duration, help="give up after this time, such as 2h")
    add("--max-nodes", metavar="N", type=nodes, help="give up after so many nodes")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("-q", "--quiet", action="store_true", help="show no progress on stderr")


def run_solve(args: argparse.Namespace) -> int:
    """The verb ``solve``."""
    position = Position(args.board, args.position, moves=args.moves)
    return run_search(Konane(position, args.profile), args)


def run_sprouts(args: argparse.Namespace) -> int:
    """The verb ``sprouts``."""
    return run_search(Sprouts(args.position, args.nimber), args)


def run_search(game: Game, args: argparse.Namespace) -> int:
    """Searches and prints."""
    given = args.resume or args.checkpoint_interval is not None
    if given and args.checkpoint is None:
        print("error: --resume and --checkpoint-interval need --checkpoint", file=sys.stderr)
        return BAD_INPUT
    stop = threading.Event()
    catch_signals(stop)
    threads, workers = args.threads_per_worker, args.workers
    # Ray tells what has become of workers on stdout, where only the answer belongs.
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        result = search(
            game,
            address=args.address,
            rules=Rules(workers, threads, args.memory_per_worker, args.job_nodes, args.time_limit),
            memory=args.memory,
            max_nodes=args.max_nodes,
            checkpoints=Checkpoints(args.checkpoint, args.checkpoint_interval or 5.0, args.resume),
            progress=Terminal(args.quiet),
            stop=stop,
        )
    try:
        print(json.dumps(result.fields) if args.json else shown(game, result), flush=True)
    except BrokenPipeError:
        # A reader that has gone away has what it wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    checkpoint = result.fields.get("checkpoint", {})
    if "error" in checkpoint:
        print(f"error: no checkpoint was written: {checkpoint['error']}", file=sys.stderr)
        return FILE
    if result.outcome != "unknown":
        return ANSWERED
    return INTERRUPTED if result.reason == "interrupted" else LIMIT


def shown(game: Game, result: Result) -> str:
    """The answer for people."""
    head, rows = game.rows(result.fields)
    fields = result.fields
    rows.append(("time", text.seconds(result.seconds)))
    if result.workers:
        rows.append(("speed", f"{text.short(fields['nodes_per_second'])} nodes/s"))
        rows.append(("memory", text.size(fields["memory_bytes"])))
        lost = sum(worker.lost for worker in result.workers)
        jobs = sum(worker.jobs for worker in result.workers)
        counts = {"worker": len(result.workers) - lost, "thread": fields["threads"], "job": jobs}
        line = ", ".join(text.counted(count, noun) for noun, count in counts.items())
        rows.append(("cluster", line + (f", {lost} lost" if lost else "")))
    if "total" in fields:
        total = fields["total"]
        nodes, runs = text.counted(total["nodes"], "node"), text.counted(total["runs"], "run")
        rows.append(("all runs", f"{nodes}, {text.seconds(total['seconds'])}, {runs}"))
    if "checkpoint" in fields:
        saved = fields["checkpoint"]
        if "error" in saved:
            line = f"not written ({saved['error']})"
        elif "loaded" in saved:
            loaded, added = text.grouped(saved["loaded"]), text.grouped(saved["added"])
            line = f"{saved['file']}, {loaded} Grundy numbers read, {added} added"
        elif saved["bytes"] is not None:
            size, entries = text.size(saved["bytes"]), text.grouped(saved["entries"])
            line = f"{saved['file']}, {size}, {entries} entries"
        else:
            line = f"{saved['file']}, as it was"
        rows.append(("checkpoint", line))
    return "\n".join([head, *(f"  {name:<12}{value}" for name, value in rows)])


def catch_signals(stop: threading.Event) -> None:
    """The first signal asks for a clean end, a second one ends the program at once."""
    first: list[float] = []

    def handle(_number: int, _frame: object) -> None:
        now = time.monotonic()
        stop.set()
        if first and now - first[0] >= SAME_REQUEST:
            os._exit(INTERRUPTED)
        first.append(now)

    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)):
        if number is not None:
            signal.signal(number, handle)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m konane.cluster``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from .. import Error, FileError, InternalError, Position, ResourceError
from .._konane import BuildPlan, count, memory_bytes, seconds
from . import builddb, text
from .driver import ClusterOptions
from .front import (
    ANSWERED,
    BAD_INPUT,
    FILE,
    INTERRUPTED,
    LIMIT,
    MISMATCH,
    answer,
    answers_only,
    catch_signals,
    checked,
    complain,
)
from .game import Game, Konane, Sprouts
from .progress import Tasks, Terminal
from .run import Checkpoints, Result, search
from .session import ClusterError


def main(arguments: list[str] | None = None) -> int:
    """Runs a subcommand and returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m konane.cluster",
        description="Searches and builds on many machines, by Ray.",
        epilog="Exit codes: 0 answered, 2 bad usage or bad input, 3 a limit was reached without an "
        "answer, 4 a file is missing, damaged or cannot be written, 130 interrupted.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="SUBCOMMAND")
    solve = verbs.add_parser("solve", help="find the winner of a position of Konane")
    solve.add_argument("board", metavar="RxF", help="ranks x files, such as 7x7")
    solve.add_argument("--position", metavar="TEXT", help="begin here, such as 'xox/o1o/xox w'")
    solve.add_argument(
        "--phase",
        choices=["auto", "jump"],
        default="auto",
        help="phase of --position: auto determines it by the number of empty squares, jump is the jumping phase",
    )
    solve.add_argument("--moves", metavar="MOVES", help="play these moves first: 'a4 a3'")
    solve.add_argument("--profile", choices=["tuned", "thesis"], default="tuned")
    add_search_arguments(solve)
    solve.add_argument(
        "--checkpoint-interval",
        metavar="TIME",
        type=checked(seconds),
        help="time from one checkpoint to the next [default: 5s, or 50 times the time that the last one took]",
    )
    solve.set_defaults(run=run_solve)
    sprouts = verbs.add_parser("sprouts", help="find the outcome of a position of Sprouts")
    sprouts.add_argument("position", metavar="TEXT", help="such as 0*12")
    sprouts.add_argument(
        "--nimber", metavar="N", type=checked(heap), default=0, help="add a nim heap of this size"
    )
    add_search_arguments(sprouts)
    # Grundy numbers are written as they are found, so there is no interval.
    sprouts.set_defaults(run=run_sprouts, checkpoint_interval=None)
    build = verbs.add_parser("builddb", help="build a database of all positions of a board")
    add_build_arguments(build)
    build.set_defaults(run=run_build)
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
    except ResourceError as error:
        # The exit codes are those of the program: a build that exceeds memory or disk space has reached a limit; a
        # table that cannot be allocated is bad input.
        return complain(error, LIMIT if args.verb == "builddb" else BAD_INPUT)
    except Error as error:
        return complain(error, BAD_INPUT)


def heap(value: str) -> int:
    """Reads the size of a nim heap."""
    return text.amount(value, least=0)


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of all searches."""
    amount, nodes, duration = checked(text.amount), checked(count), checked(seconds)
    add = parser.add_argument
    add("--address", help="the Ray to join, auto or host:port [default: a new one on this machine]")
    add("--workers", metavar="N", type=amount, help="total number of workers [default: one on each machine]")
    add(
        "--threads-per-worker",
        metavar="N",
        type=amount,
        help="threads of each worker [default: the machine's cores, divided among its workers]",
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
        help="memory of the coordinator, which runs here [default: 1GiB]",
    )
    add(
        "--job-nodes",
        metavar="N",
        type=nodes,
        help="nodes of a job [default: depends on the speed and number of workers]",
    )
    add(
        "--checkpoint",
        metavar="FILE",
        help="save the coordinator's state to this file regularly, on Ctrl-C and at the end",
    )
    add("--resume", action="store_true", help="continue from the checkpoint, which must exist")
    add("--time-limit", metavar="TIME", type=duration, help="stop after this time, such as 2h")
    add("--max-nodes", metavar="N", type=nodes, help="stop after this number of nodes")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("-q", "--quiet", action="store_true", help="show no progress on stderr")


def run_solve(args: argparse.Namespace) -> int:
    """Runs the subcommand ``solve``."""
    position = Position(args.board, args.position, args.phase, moves=args.moves)
    return run_search(Konane(position, args.profile), args)


def run_sprouts(args: argparse.Namespace) -> int:
    """Runs the subcommand ``sprouts``."""
    return run_search(Sprouts(args.position, args.nimber), args)


def run_search(game: Game, args: argparse.Namespace) -> int:
    """Searches, prints the result, and returns the exit code."""
    given = args.resume or args.checkpoint_interval is not None
    if given and args.checkpoint is None:
        return complain("--resume and --checkpoint-interval need --checkpoint", BAD_INPUT)
    stop = catch_signals()
    threads, workers = args.threads_per_worker, args.workers
    with answers_only():
        result = search(
            game,
            address=args.address,
            options=ClusterOptions(workers, threads, args.memory_per_worker, args.job_nodes, args.time_limit),
            memory=args.memory,
            max_nodes=args.max_nodes,
            checkpoints=Checkpoints(args.checkpoint, args.checkpoint_interval, args.resume),
            progress=Terminal(args.quiet),
            stop=stop,
        )
    answer(args, result.fields, lambda: shown(game, result))
    is_open, checkpoint = result.outcome == "unknown", result.fields.get("checkpoint", {})
    # If a search of Konane has an answer, its checkpoint is not needed any more, so a failed write is no error. A
    # file of Grundy numbers is also for other searches, so a failed write is an error.
    if "error" in checkpoint and (is_open or isinstance(game, Sprouts)):
        return complain(f"no checkpoint was written: {checkpoint['error']}", FILE)
    codes = {"interrupted": INTERRUPTED, "file error": FILE, "contradiction": FILE}
    return codes.get(result.reason, LIMIT) if is_open else ANSWERED


def shown(game: Game, result: Result) -> str:
    """Returns the result as text."""
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
            line = f"{saved['file']}, not changed"
        rows.append(("checkpoint", line))
    return text.rows(head, rows)


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``builddb``."""
    amount, add = checked(text.amount), parser.add_argument
    add("board", metavar="RxF", help="ranks x files, such as 6x6")
    add(
        "--dir",
        default="db",
        help="the directory for databases, which all machines must share [default: db]",
    )
    add("--address", help="the Ray to join, auto or host:port [default: a new one on this machine]")
    add("--workers", metavar="N", type=amount, help="number of tasks at a time [default: all cores are used]")
    add(
        "--threads-per-task",
        metavar="N",
        type=amount,
        default=1,
        help="threads of each task [default: 1]",
    )
    add(
        "--memory-per-task",
        metavar="SIZE",
        type=checked(memory_bytes),
        default="1GiB",
        help="memory of each task [default: 1GiB]",
    )
    add("--max-tasks-in-flight", metavar="N", type=amount, help="tasks submitted to Ray at a time")
    add("--plan", action="store_true", help="print the cost of the build, and exit")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("-q", "--quiet", action="store_true", help="show no progress on stderr")


def run_build(args: argparse.Namespace) -> int:
    """Runs the subcommand ``builddb``."""
    options = builddb.TaskOptions(
        args.memory_per_task, args.threads_per_task, args.workers, args.max_tasks_in_flight
    )
    if args.plan:
        figures = planned(args, options)
        answer(args, figures, lambda: planned_text(figures, options))
        return ANSWERED
    stop, progress = catch_signals(), Terminal(args.quiet)
    try:
        with answers_only():
            built = builddb.build(args.board, args.dir, options, args.address, Tasks(progress), stop)
    finally:
        progress.clear()
    answer(args, built, lambda: built_text(built))
    return INTERRUPTED if "reason" in built else ANSWERED


def planned(args: argparse.Namespace, options: builddb.TaskOptions) -> dict[str, Any]:
    """Returns the cost of a build."""
    threads = options.threads
    workers = options.workers or max(1, (os.cpu_count() or 1) // threads)
    plan = BuildPlan(args.board, args.dir, options.memory, threads, builddb.parts(workers))
    figures = dict(plan.describe())
    at_a_time = min(workers, figures["widest_wave"])
    return figures | {
        "board": args.board,
        "directory": str(plan.directory),
        "workers": workers,
        "memory_bytes": at_a_time * figures["task_memory_bytes"],
        "seconds": figures["thread_seconds"] / (at_a_time * threads),
    }


def planned_text(figures: dict[str, Any], options: builddb.TaskOptions) -> str:
    """Returns the cost of a build as text."""
    size = {name: text.size(value) for name, value in figures.items() if name.endswith("_bytes")}
    tasks = f"{text.counted(figures['workers'], 'task')} at a time"
    memory = f"{size['task_memory_bytes']} a task, {size['memory_bytes']} with {tasks}"
    widest = f"at most {text.grouped(figures['widest_wave'])} at a time"
    threads = f"{tasks} of {text.counted(options.threads, 'thread')}"
    return text.rows(
        f"{figures['board']}, complete, by tasks",
        [
            ("directory", figures["directory"]),
            ("tasks", f"{text.grouped(figures['tasks'])}, {widest}"),
            ("memory", memory),
            ("disk", f"about {size['disk_bytes']}, at most {size['disk_peak_bytes']} at a time"),
            ("traffic", f"about {size['read_bytes']} read and {size['written_bytes']} written"),
            ("time", f"about {text.seconds(figures['seconds'])}, an estimate for {threads}"),
        ],
    )


def built_text(built: dict[str, Any]) -> str:
    """Returns the result of a build as text."""
    if "reason" in built:
        return "interrupted: the same command continues the build"
    black, white = (built[f"{side}_to_move_wins"] for side in ("black", "white"))
    tasks, workers = text.grouped(built["tasks"]), text.counted(len(built["workers"]), "worker")
    return text.rows(
        "built" if built["tasks"] else "found",
        [
            ("positions", text.grouped(built["positions"])),
            ("Black wins", f"{text.grouped(black)} with Black to move"),
            ("White wins", f"{text.grouped(white)} with White to move"),
            ("files", text.size(built["bytes"])),
            ("tasks", f"{tasks} on {workers}"),
            ("time", text.seconds(built["seconds"])),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())

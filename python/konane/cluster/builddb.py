"""Complete databases by tasks on Ray: ``python -m konane.cluster builddb 6x6 --dir SHARED``.

The plan cuts the build into tasks; what passes between them are files in a directory that all
machines see, and which files are there is all that the build knows. So any worker, machine or
driver may die at any time: what was lost is submitted again, and a later run goes on from the files.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from .. import __version__
from .._konane import BuildPlan, memory_bytes, run_task
from . import text
from .session import connected

__all__ = ["add_arguments", "build_database", "run"]

#: How often a task may end with an error of its own, such as a full disk.
MOST_ERRORS = 3

#: How often the worker of one task may die before its memory is taken for the reason.
MOST_DEATHS = 20

#: How often a file may turn out to be damaged before this is taken for the disk's fault.
MOST_LOST = 20

#: Slices of the largest layers for each task that can run at a time.
SLICES_PER_WORKER = 2


class TaskFailed(OSError):
    """A task ended with the same kind of error again and again."""


def _task(task: str, out: str, memory: int, threads: int, version: str) -> dict[str, Any]:
    """What runs in a worker."""
    if version != __version__:
        raise RuntimeError(
            f"this machine has konane {__version__} and the driver {version}: install the same"
        )
    report = run_task(task, out, memory, threads)
    node = ray.get_runtime_context().get_node_id()
    return report | {"pid": os.getpid(), "node": node}


def _check_counts(threads: int, workers: int | None, in_flight: int | None) -> None:
    """Raises ``InputError`` for numbers that are none."""
    text.check("threads_per_task", threads)
    text.check("workers", workers)
    text.check("max_tasks_in_flight", in_flight)


def _check_room(memory: int, threads: int) -> None:
    """A task that no machine has room for would wait forever."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    most = max((machine.get("CPU", 0) for machine in machines), default=0)
    if most < threads:
        raise ValueError(f"no machine has {threads} processors for a task: use fewer threads")
    most = max((machine.get("memory", 0) for machine in machines), default=0)
    if most < memory:
        raise MemoryError(
            f"no machine gives Ray {_text(memory)} of memory for a task, the largest has "
            f"{_text(most)}: choose less memory per task"
        )


_TOTALS = {"tasks": 0, "read_bytes": 0, "written_bytes": 0, "rows_bytes": 0}


class _Driver:
    """Hands out the tasks of a build that has its directory."""

    def __init__(
        self,
        build: Any,
        out: str,
        memory: int,
        threads: int,
        in_flight: int,
        progress: Callable[[dict[str, Any]], None],
    ) -> None:
        self.build = build
        options = {"num_cpus": threads, "memory": memory, "max_retries": 0}
        self.remote = ray.remote(**options)(_task)
        self.arguments = (out, memory, threads, __version__)
        self.in_flight = in_flight
        self.progress = progress
        self.errors: collections.Counter[str] = collections.Counter()
        self.deaths: collections.Counter[str] = collections.Counter()
        self.lost = 0
        self.workers: dict[tuple[str, int], dict[str, Any]] = {}
        self.totals = dict(_TOTALS)

    def run(self) -> None:
        waves = self.build.pending()
        left = sum(map(len, waves))
        self.progress({"event": "begin", "left": left})
        while waves:
            self.wave(waves[0])
            waves = self.build.pending()

    def wave(self, tasks: list[str]) -> None:
        """Runs tasks that are independent. Ends early if a file was lost: then others come first."""
        todo = collections.deque(tasks)
        flying: dict[ray.ObjectRef, str] = {}
        whole = True
        # Tasks that are still running when this ends with an error are left to end by themselves: Ray
        # may end the whole process if one is cancelled just as it ends.
        while flying or (todo and whole):
            while todo and whole and len(flying) < self.in_flight:
                task = todo.popleft()
                flying[self.remote.remote(task, *self.arguments)] = task
            done, _ = ray.wait(list(flying), num_returns=1, timeout=1.0)
            for ref in done:
                task = flying.pop(ref)
                report = self.result(ref, task)
                if report is None:
                    todo.append(task)
                elif "lost" in report:
                    whole = False
                    self.file_lost(report["lost"])
                else:
                    self.finished(task, report)

    def result(self, ref: ray.ObjectRef, task: str) -> dict[str, Any] | None:
        """What a task reports; nothing if it has to run again."""
        try:
            return ray.get(ref)
        except RayTaskError as error:
            self.errors[task] += 1
            cause = error.cause or error
            self.progress({"event": "error", "task": task, "error": str(cause)})
            if isinstance(cause, (ValueError, MemoryError)) or self.errors[task] >= MOST_ERRORS:
                raise cause from None
        except RayError as error:
            self.deaths[task] += 1
            self.progress({"event": "death", "task": task, "error": type(error).__name__})
            if self.deaths[task] >= MOST_DEATHS:
                raise TaskFailed(
                    f"the worker of {task!r} died {MOST_DEATHS} times ({error}): give the machines "
                    "fewer tasks at a time, or the tasks less memory"
                ) from error
        return None

    def file_lost(self, path: Any) -> None:
        self.lost += 1
        self.progress({"event": "lost", "path": str(path)})
        if self.lost >= MOST_LOST:
            raise TaskFailed(f"{path} and others were damaged or gone {MOST_LOST} times: check the disk")

    def finished(self, task: str, report: dict[str, Any]) -> None:
        key = (report["node"], report["pid"])
        if key not in self.workers:
            node, pid = key
            worker = {"id": len(self.workers) + 1, "node": node, "pid": pid, "tasks": 0}
            self.workers[key] = worker
            self.progress({"event": "worker", **worker})
        self.workers[key]["tasks"] += 1
        self.totals["tasks"] += 1
        self.totals["rows_bytes"] = max(self.totals["rows_bytes"], report["rows_bytes"])
        for name in ("read_bytes", "written_bytes"):
            self.totals[name] += report[name]
        self.progress({"event": "task", "task": task, **report})


def build_database(
    board: str,
    dir: str | os.PathLike[str] = "db",
    *,
    memory_per_task: str | int = "1GiB",
    threads_per_task: int = 1,
    workers: int | None = None,
    address: str | None = None,
    max_tasks_in_flight: int | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Builds ``dir``/RxF-complete, or what is missing of it, by tasks on Ray.

    ``dir`` is a directory that all machines see under this name. A task takes at most
    ``memory_per_task``, on ``threads_per_task`` processors. ``workers`` is how many tasks run at a
    time: all processors of the cluster, unless it is given. Without an ``address`` a Ray of its own is
    started on this machine, unless one was initialised. ``progress`` is called with an object for each
    event.

    Returns the object that ``konane builddb --json`` prints, with ``workers`` and ``tasks``.

    Raises ``ValueError`` for what is no board or no amount of memory, ``MemoryError`` if the memory of a
    task is too small, ``OSError`` for what is wrong with the directory or a task that fails again
    and again.
    """
    begun = time.monotonic()
    _check_counts(threads_per_task, workers, max_tasks_in_flight)
    memory, out = memory_bytes(memory_per_task), str(Path(dir).absolute())
    tell = progress or (lambda _: None)
    local = workers or max(1, (os.cpu_count() or 1) // threads_per_task)
    # Refused, or found, before a Ray is started for it.
    first = BuildPlan(board, out, memory, threads_per_task, 1)
    if first.finished:
        return _result(first.open().finish(), begun, None)
    with connected(address, local * threads_per_task):
        _check_room(memory, threads_per_task)
        processors = int(ray.cluster_resources().get("CPU", 1))
        at_a_time = workers or max(1, processors // threads_per_task)
        parts = SLICES_PER_WORKER * at_a_time
        plan = BuildPlan(board, out, memory, threads_per_task, parts)
        build = plan.open()
        try:
            # One more than run, so that none waits for the driver, unless the number was asked for.
            limit = max_tasks_in_flight or workers or at_a_time + 1
            driver = _Driver(build, out, memory, threads_per_task, limit, tell)
            driver.run()
            summary = build.finish()
        finally:
            build.close()
    return _result(summary, begun, driver)


def _result(summary: dict[str, Any], begun: float, driver: _Driver | None) -> dict[str, Any]:
    return summary | {
        "seconds": time.monotonic() - begun,
        "workers": list(driver.workers.values()) if driver else [],
        "lost_workers": driver.deaths.total() if driver else 0,
        **(driver.totals if driver else dict(_TOTALS)),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``builddb``."""
    parser.add_argument("board", metavar="RxF", help="ranks x files, such as 6x6")
    parser.add_argument(
        "--dir", default="db", help="the directory for databases, which all machines see [db]"
    )
    parser.add_argument("--address", help="of a Ray cluster; without it, one starts on this machine")
    parser.add_argument(
        "--workers", type=_positive, metavar="N", help="tasks at a time [all processors]"
    )
    parser.add_argument(
        "--threads-per-task", type=_positive, default=1, metavar="N", help="processors of a task [1]"
    )
    parser.add_argument(
        "--memory-per-task", type=_memory, default="1GiB", metavar="SIZE", help="[1GiB]"
    )
    parser.add_argument(
        "--max-tasks-in-flight", type=_positive, metavar="N", help="tasks that are handed to Ray"
    )
    parser.add_argument("--plan", action="store_true", help="print what it would take, and stop")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress on stderr")


def _positive(value: str) -> int:
    try:
        return text.amount(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _memory(value: str) -> int:
    try:
        return memory_bytes(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(args: argparse.Namespace) -> int:
    """Runs ``builddb`` with its arguments; returns the exit code."""
    if args.plan:
        return _guarded(lambda: _print_plan(args))
    progress = None if args.quiet else _Progress(sys.stderr)
    return _guarded(lambda: _build(args, progress))


def _guarded(what: Callable[[], None]) -> int:
    """The exit code of a call: as those of the program."""
    try:
        what()
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, RuntimeError, RayError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 4
    return 0


def _build(args: argparse.Namespace, progress: Callable[[dict[str, Any]], None] | None) -> None:
    summary = build_database(
        args.board,
        args.dir,
        memory_per_task=args.memory_per_task,
        threads_per_task=args.threads_per_task,
        workers=args.workers,
        address=args.address,
        max_tasks_in_flight=args.max_tasks_in_flight,
        progress=progress,
    )
    if args.json:
        print(json.dumps(summary))
        return
    print("built" if summary["tasks"] else "found")
    _rows(
        [
            ("positions", f"{summary['positions']:,}"),
            ("Black wins", f"{summary['black_to_move_wins']:,} with Black to move"),
            ("White wins", f"{summary['white_to_move_wins']:,} with White to move"),
            ("files", _text(summary["bytes"])),
            ("tasks", f"{summary['tasks']:,} on {len(summary['workers'])} workers"),
            ("time", f"{summary['seconds']:.1f} s"),
        ]
    )


def _print_plan(args: argparse.Namespace) -> None:
    _check_counts(args.threads_per_task, args.workers, args.max_tasks_in_flight)
    workers = args.workers or max(1, (os.cpu_count() or 1) // args.threads_per_task)
    parts = SLICES_PER_WORKER * workers
    plan = BuildPlan(args.board, args.dir, args.memory_per_task, args.threads_per_task, parts)
    figures = dict(plan.describe())
    at_a_time = min(workers, figures["widest_wave"])
    figures |= {
        "board": args.board,
        "directory": str(plan.directory),
        "workers": workers,
        "memory_bytes": at_a_time * figures["task_memory_bytes"],
        "seconds": figures["thread_seconds"] / (at_a_time * args.threads_per_task),
    }
    if args.json:
        print(json.dumps(figures))
        return
    print(f"{args.board}, complete, by tasks")
    _rows(
        [
            ("directory", figures["directory"]),
            ("tasks", f"{figures['tasks']:,}, at most {figures['widest_wave']:,} at a time"),
            ("memory", f"{_text(figures['task_memory_bytes'])} a task, "
             f"{_text(figures['memory_bytes'])} with {workers} tasks at a time"),
            ("disk", f"about {_text(figures['disk_bytes'])}, "
             f"at most {_text(figures['disk_peak_bytes'])} at a time"),
            ("traffic", f"about {_text(figures['read_bytes'])} read "
             f"and {_text(figures['written_bytes'])} written"),
            ("time", f"about {_time(figures['seconds'])}, an estimate for {workers} tasks of "
             f"{args.threads_per_task} threads at a time"),
        ]
    )


def _rows(rows: list[tuple[str, str]]) -> None:
    for name, value in rows:
        print(f"  {name:<11} {value}")


def _text(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            digits = 0 if unit == "bytes" or count >= 100 else 1 if count >= 10 else 2
            return f"{count:,.{digits}f} {unit}"
        count /= 1024
    raise AssertionError("a unit")


def _time(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} seconds"


class _Progress:
    """Progress as lines of text, at most about one a second for what goes well."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.left = self.done = 0
        self.last = 0.0

    def __call__(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "begin":
                self.left = event["left"]
                self.say(f"{self.left} tasks are left")
            case "worker":
                self.say(f"worker {event['id']}: pid {event['pid']} on node {event['node'][:8]}")
            case "death":
                self.say(f"a worker is lost ({event['error']}): {event['task']!r} runs again")
            case "error":
                self.say(f"{event['task']!r} failed: {event['error']}")
            case "lost":
                self.say(f"{event['path']} is damaged or gone: it is made again")
            case "task":
                self.done += 1
                if time.monotonic() - self.last >= 1:
                    self.last = time.monotonic()
                    what = " ".join(event["task"].split()[4:])
                    self.say(f"{self.done} of {max(self.left, self.done)} tasks, {what}")

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

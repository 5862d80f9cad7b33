"""Complete databases by tasks on Ray: ``python -m konane.cluster builddb 6x6 --dir SHARED``.

The plan divides the build into tasks. Tasks exchange files in a directory that all machines share, and these files
are the only state of the build. So any worker, machine or driver may fail at any time: lost tasks are submitted
again, and a later run continues from the files.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from .. import __version__
from .._errors import Error, FileError, InputError, ResourceError
from .._konane import BuildPlan, Position, memory_bytes, run_task
from . import text
from .session import ClusterError, connected

__all__ = ["TaskOptions", "build", "build_database", "parts"]

#: Maximum number of errors of a task, such as a full disk.
MAX_ERRORS = 3

#: Maximum number of times that a worker dies while it runs the same task.
MAX_DEATHS = 20

#: Maximum number of files that are found damaged or missing in a build.
MAX_LOST = 20

#: Number of slices of the largest layers, for each task that can run at a time.
SLICES_PER_WORKER = 2


class TaskFailed(FileError):
    """A task has failed repeatedly."""


@dataclass(frozen=True)
class TaskOptions:
    """Use of the cluster by a build."""

    #: Memory of each task in bytes.
    memory: int
    threads: int = 1
    #: Number of tasks that run at a time; ``None`` to use all cores of the cluster.
    workers: int | None = None
    #: Number of tasks submitted to Ray at a time; ``None`` for `workers`, or if that is ``None`` as well, for one
    #: more than can run.
    in_flight: int | None = None

    def __post_init__(self) -> None:
        text.check("threads_per_task", self.threads)
        text.check("workers", self.workers)
        text.check("max_tasks_in_flight", self.in_flight)


def parts(workers: int) -> int:
    """Returns the number of slices of the largest layers for `workers` tasks at a time."""
    return SLICES_PER_WORKER * workers


def _task(task: str, out: str, memory: int, threads: int, version: str) -> dict[str, Any]:
    """Runs a task in a worker."""
    if version != __version__:
        raise ClusterError(
            f"this machine has konane {__version__}, and the driver has {version}: install the same version"
        )
    report = run_task(task, out, memory, threads)
    node = ray.get_runtime_context().get_node_id()
    return report | {"pid": os.getpid(), "node": node}


def _check_capacity(memory: int, threads: int) -> None:
    """Rejects tasks that no machine can run, for which Ray would wait forever."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    usable = [machine for machine in machines if machine.get("CPU", 0) >= threads]
    cores = text.counted(threads, "core")
    if not usable:
        raise InputError(f"no machine has {cores} for a task: use fewer threads")
    most = max(machine.get("memory", 0) for machine in usable)
    if most < memory:
        raise ResourceError(
            f"no machine with {cores} gives Ray {text.size(memory)} of memory for a task, the largest "
            f"has {text.size(most)}: choose less memory per task"
        )


_TOTALS = {"tasks": 0, "read_bytes": 0, "written_bytes": 0, "rows_bytes": 0}


class _BuildDriver:
    """Submits the tasks of a build to Ray."""

    def __init__(
        self,
        build: Any,
        out: str,
        options: TaskOptions,
        in_flight: int,
        progress: Callable[[dict[str, Any]], None],
        stop: threading.Event,
    ) -> None:
        self.build = build
        memory, threads = options.memory, options.threads
        options = {"num_cpus": threads, "memory": memory, "max_retries": 0}
        self.remote = ray.remote(**options)(_task)
        self.arguments = (out, memory, threads, __version__)
        self.in_flight = in_flight
        self.progress = progress
        self.stop = stop
        self.errors: collections.Counter[str] = collections.Counter()
        self.deaths: collections.Counter[str] = collections.Counter()
        self.lost = 0
        self.workers: dict[tuple[str, int], dict[str, Any]] = {}
        self.totals = dict(_TOTALS)

    def run(self) -> bool:
        """Runs all tasks; returns false if `stop` is set before they are done."""
        waves = self.build.pending()
        left = sum(map(len, waves))
        self.progress({"event": "begin", "left": left})
        while waves:
            if self.stop.is_set():
                return False
            self.wave(waves[0])
            waves = self.build.pending()
        return True

    def wave(self, tasks: list[str]) -> None:
        """Runs independent tasks. Returns early if a file was lost: the task that wrote it has to run again first."""
        todo = collections.deque(tasks)
        flying: dict[ray.ObjectRef, str] = {}
        whole = True
        # Tasks that are still running when this function returns early are not cancelled: if a task is cancelled
        # at the moment in which it ends, Ray may end the whole process.
        while (flying or (todo and whole)) and not self.stop.is_set():
            while todo and whole and len(flying) < self.in_flight:
                task = todo.popleft()
                flying[self.remote.remote(task, *self.arguments)] = task
            done, _ = ray.wait(list(flying), num_returns=1, timeout=0.2)
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
        """Returns the report of a task; ``None`` if it has to run again."""
        try:
            return ray.get(ref)
        except RayTaskError as error:
            self.errors[task] += 1
            cause = error.cause or error
            self.progress({"event": "error", "task": task, "error": str(cause)})
            if isinstance(cause, (InputError, ResourceError)):
                raise cause from None
            if self.errors[task] >= MAX_ERRORS:
                if isinstance(cause, Error):
                    raise cause from None
                raise TaskFailed(f"{task!r} failed {MAX_ERRORS} times: {cause}") from cause
        except RayError as error:
            self.deaths[task] += 1
            self.progress({"event": "death", "task": task, "error": type(error).__name__})
            if self.deaths[task] >= MAX_DEATHS:
                raise TaskFailed(
                    f"the worker of {task!r} died {MAX_DEATHS} times ({error}): give the machines "
                    "fewer tasks at a time, or the tasks less memory"
                ) from error
        return None

    def file_lost(self, path: Any) -> None:
        self.lost += 1
        self.progress({"event": "lost", "path": str(path)})
        if self.lost >= MAX_LOST:
            raise TaskFailed(f"files were damaged or missing {MAX_LOST} times, the last one is {path}: check the disk")

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
    """Builds the database ``dir``/RxF-complete, or its missing files, by tasks on Ray.

    ``dir`` is a directory that all machines can access by this name. A task takes at most
    ``memory_per_task``, on ``threads_per_task`` processors. ``workers`` is the number of tasks at a time; by
    default, as many run as there are processors for in the cluster. Without an ``address`` a local Ray is started,
    unless this process is already connected to one. ``progress`` is called with a dictionary for each event.

    Returns the object that ``konane builddb --json`` prints. It lacks the memory of the process, and has
    ``workers`` and the counts of the tasks in addition.

    Raises ``konane.InputError`` for an invalid board or amount of memory, ``ResourceError`` if the memory of a task
    is too small or larger than that of each machine, ``FileError`` for errors of the directory or a task that
    fails repeatedly, and ``ClusterError`` if Ray cannot be used.
    """
    options = TaskOptions(
        memory_bytes(memory_per_task), threads_per_task, workers, max_tasks_in_flight
    )
    tell = progress or (lambda _: None)
    return build(board, dir, options, address, tell, threading.Event())


def build(
    board: str,
    dir: str | os.PathLike[str],
    options: TaskOptions,
    address: str | None,
    tell: Callable[[dict[str, Any]], None],
    stop: threading.Event,
) -> dict[str, Any]:
    """Builds a database. If `stop` is set, returns early: the result has a ``reason`` and no counts of positions."""
    begun = time.monotonic()
    memory, threads, workers = options.memory, options.threads, options.workers
    out = str(Path(dir).absolute())
    local = workers or max(1, (os.cpu_count() or 1) // threads)
    # Invalid arguments and complete databases are detected before Ray is started.
    first = BuildPlan(board, out, memory, threads, 1)
    if first.finished:
        return _result(first.open().finish(), begun, None)
    with connected(address, local * threads):
        _check_capacity(memory, threads)
        at_a_time = workers or max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
        plan = BuildPlan(board, out, memory, threads, parts(at_a_time))
        director = plan.open()
        try:
            # By default, one task more than can run is submitted, so that no core waits for the driver. `workers`
            # is an exact number.
            limit = options.in_flight or workers or at_a_time + 1
            driver = _BuildDriver(director, out, options, limit, tell, stop)
            summary = director.finish() if driver.run() else _unfinished(board, plan)
        finally:
            director.close()
    return _result(summary, begun, driver)


def _unfinished(board: str, plan: BuildPlan) -> dict[str, Any]:
    """Returns the summary of an interrupted build."""
    board = Position(board).board
    ranks, files = map(int, board.split("x"))
    unknown = ("positions", "black_to_move_wins", "white_to_move_wins", "bytes")
    return {
        "board": board,
        "scope": "complete",
        "metric": "outcome",
        "max_stones": ranks * files,
        "directory": str(plan.directory),
        **dict.fromkeys(unknown),
        "reason": "interrupted",
    }


def _result(summary: dict[str, Any], begun: float, driver: _BuildDriver | None) -> dict[str, Any]:
    return summary | {
        "seconds": time.monotonic() - begun,
        "workers": list(driver.workers.values()) if driver else [],
        "lost_workers": driver.deaths.total() if driver else 0,
        **(driver.totals if driver else dict(_TOTALS)),
    }

"""Runs a search: Ray, coordinator, driver, checkpoints, result."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from .._konane import memory_bytes
from . import text
from .driver import Driver, ClusterOptions
from .game import Game
from .progress import Metrics, Progress
from .session import connected

__all__ = ["Checkpoints", "Result", "WorkerUse", "search"]


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of the coordinator."""


    file: str | PathLike[str] | None = None
    #: Seconds between two checkpoints; ``None`` to derive them from the time that writing one takes.
    interval: float | None = None
    resume: bool = False


@dataclass(frozen=True)
class WorkerUse:
    """Work done by a worker."""

    #: Number of the worker; never reused.
    id: int
    #: Beginning of the identifier of its machine in Ray.
    node: str
    #: Process id; ``None`` if the worker was never ready.
    pid: int | None
    threads: int
    #: Jobs whose results have arrived.
    jobs: int
    #: Nodes evaluated.
    nodes: int
    #: True if the worker was lost before the search ended.
    lost: bool


@dataclass(frozen=True)
class Result:
    """Result of a search on a cluster."""

    #: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``.
    outcome: str
    #: ``"black"``, ``"white"`` or ``"unknown"``; ``None`` in Sprouts.
    winner: str | None
    #: Reason for an unknown outcome.
    reason: str | None
    #: A winning move, or the best move so far; ``None`` if every move loses, and in Sprouts.
    best_move: str | None
    #: Positions evaluated.
    nodes: int
    #: Wall-clock time since the first worker was ready.
    seconds: float
    #: All workers of the search, lost ones included.
    workers: list[WorkerUse]
    #: Number of calls to workers.
    calls: int
    #: The JSON object of ``--json``.
    fields: dict[str, Any] = field(repr=False)


class _Saves:
    """Reports checkpoints, and collects data about them for the result."""

    def __init__(self, coordinator: Any, checkpoints: Checkpoints, progress: Progress) -> None:
        self._coordinator, self._checkpoints, self._progress = coordinator, checkpoints, progress
        self._written = 0
        self._last: tuple[int, int, int] | None = None
        self._error: str | None = None
        if checkpoints.file is not None:
            file = fspath(checkpoints.file)
            if coordinator.checkpoint_bound is not None:
                bound = text.size(coordinator.checkpoint_bound)
                interval = checkpoints.interval
                every = "" if interval is None else f", every {text.seconds(interval)}"
                progress.note(f"checkpoints: {file}{every}, at most {bound}")
            else:
                progress.note(f"checkpoint: {file}, written as Grundy numbers are found")
            runs, nodes, seconds = coordinator.before
            if runs:
                so_far = [text.counted(nodes, "node"), text.seconds(seconds), text.counted(runs, "run")]
                before = ", ".join(so_far)
                progress.note(f"checkpoints: continuing after {before}")

    def poll(self) -> None:
        """Collects the attempts to write a checkpoint since the last call."""
        for error, size, entries in self._coordinator.saves():
            if error is None:
                # No message: there may be a checkpoint every few seconds.
                self._written += 1
                self._last, self._error = (size, entries), None
            elif error != self._error:
                self._progress.warn(f"no checkpoint was written: {error}")
                self._error = error

    def fields(self) -> dict[str, Any] | None:
        """Returns the field ``checkpoint`` of the JSON object."""
        if self._checkpoints.file is None:
            return None
        size, entries = self._last or (None, None)
        found: dict[str, Any] = {
            "file": fspath(self._checkpoints.file),
            "resumed": self._coordinator.before[0] > 0,
            "written": self._written,
            "bytes": size,
            "entries": entries,
        }
        if self._error is not None:
            found["error"] = self._error
        return found


def search(
    game: Game,
    *,
    address: str | None,
    options: ClusterOptions,
    memory: int | str,
    max_nodes: int | None,
    checkpoints: Checkpoints,
    progress: Progress,
    stop: threading.Event,
) -> Result:
    """Runs a search. However the search ends, its results are written to the checkpoint."""
    worker_bytes = memory_bytes(options.memory)
    memory_bytes(memory)
    with connected(address, (options.workers or 1) * (options.threads or 1)):
        coordinator = game.coordinator(
            job_nodes=options.job_nodes or game.job_nodes,
            memory=memory,
            max_nodes=max_nodes,
            checkpoint=checkpoints.file,
            resume=checkpoints.resume,
            checkpoint_interval=checkpoints.interval,
        )
        saves = _Saves(coordinator, checkpoints, progress)

        metrics = Metrics()

        def watch(driver: Driver) -> None:
            saves.poll()
            metrics.show(driver)
            progress.watch(driver)

        driver = Driver(game, coordinator, options, progress.note, watch)
        try:
            driver.run(stop)
        finally:
            progress.clear()
            answer = coordinator.finish()
            saves.poll()
    workers = [
        WorkerUse(w.number, w.machine.name, w.pid, w.threads, w.jobs, w.nodes, w.lost)
        for w in driver.workers
    ]
    live = driver.live
    answer["threads"] = sum(worker.threads for worker in live)
    answer["seconds"] = driver.seconds
    speed = round(answer["nodes"] / driver.seconds) if driver.seconds else 0
    answer["nodes_per_second"] = float(speed)
    answer["memory_bytes"] += worker_bytes * len(live)
    if "table" in answer:
        # The capacity includes the tables of lost workers, because their entries are counted, too.
        answer["table"]["capacity"] += sum(worker.capacity for worker in driver.workers)
    # A coordinator of Sprouts reports its file of Grundy numbers itself.
    answer["checkpoint"] = answer.get("checkpoint") or saves.fields()
    # As in the program, fields that do not apply are omitted. `best_move` is null if every move loses.
    fields = {k: v for k, v in answer.items() if v is not None or k == "best_move"}
    if "checkpoint" in fields and fields["checkpoint"].get("error", "") is None:
        del fields["checkpoint"]["error"]
    fields["workers"] = [
        {"id": w.id, "node": w.node, "jobs": w.jobs, "nodes": w.nodes, "lost": w.lost}
        for w in workers
    ]
    return Result(
        outcome=answer["outcome"],
        winner=answer.get("winner"),
        reason=answer.get("reason"),
        best_move=answer.get("best_move"),
        nodes=answer["nodes"],
        seconds=driver.seconds,
        workers=workers,
        calls=driver.calls,
        fields=fields,
    )

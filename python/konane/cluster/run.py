"""A search from its beginning to its answer: Ray, leader, driver, checkpoints."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from .._konane import memory_bytes
from . import text
from .driver import Driver, Rules
from .game import Game
from .metrics import Metrics
from .progress import Progress
from .session import connected

__all__ = ["Checkpoints", "Result", "WorkerUse", "search"]


@dataclass(frozen=True)
class Checkpoints:
    """Where the leader's tree and what it knows are kept."""

    file: str | PathLike[str] | None = None
    #: Seconds from one to the next; none to derive them from the time that writing one takes.
    interval: float | None = None
    resume: bool = False


@dataclass(frozen=True)
class WorkerUse:
    """What a worker has done."""

    #: Its number; one that replaces another has a new one.
    id: int
    #: The beginning of Ray's number of its machine.
    node: str
    #: Its process; none if it never began.
    pid: int | None
    threads: int
    #: Jobs whose results have come.
    jobs: int
    #: Nodes that it has evaluated.
    nodes: int
    #: Whether it was lost before the search ended.
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
    #: Calls of workers.
    calls: int
    #: The JSON object of ``--json``.
    fields: dict[str, Any] = field(repr=False)


class _Saves:
    """What becomes of the checkpoints."""

    def __init__(self, leader: Any, checkpoints: Checkpoints, progress: Progress) -> None:
        self._leader, self._checkpoints, self._progress = leader, checkpoints, progress
        self._written = 0
        self._last: tuple[int, int, int] | None = None
        self._error: str | None = None
        if checkpoints.file is not None:
            file = fspath(checkpoints.file)
            if leader.checkpoint_bound is not None:
                bound = text.size(leader.checkpoint_bound)
                interval = checkpoints.interval
                every = "" if interval is None else f", every {text.seconds(interval)}"
                progress.note(f"checkpoints: {file}{every}, at most {bound}")
            else:
                progress.note(f"checkpoint: {file}, as numbers are found")
            runs, nodes, seconds = leader.before
            if runs:
                so_far = [text.counted(nodes, "node"), text.seconds(seconds), text.counted(runs, "run")]
                before = ", ".join(so_far)
                progress.note(f"checkpoints: going on after {before}")

    def look(self) -> None:
        """Takes in what has become of them since the last look."""
        for error, size, entries, tree_nodes in self._leader.saves():
            if error is None:
                # There may be one every few seconds: a line for each would be too many.
                self._written += 1
                self._last, self._error = (size, entries, tree_nodes), None
            elif error != self._error:
                self._progress.warn(f"no checkpoint was written: {error}")
                self._error = error

    def fields(self) -> dict[str, Any] | None:
        """For the answer."""
        if self._checkpoints.file is None:
            return None
        size, entries, tree_nodes = self._last or (None, None, None)
        found: dict[str, Any] = {
            "file": fspath(self._checkpoints.file),
            "resumed": self._leader.before[0] > 0,
            "written": self._written,
            "bytes": size,
            "entries": entries,
            "tree_nodes": tree_nodes,
        }
        if self._error is not None:
            found["error"] = self._error
        return found


def search(
    game: Game,
    *,
    address: str | None,
    rules: Rules,
    memory: int | str,
    max_nodes: int | None,
    checkpoints: Checkpoints,
    progress: Progress,
    stop: threading.Event,
) -> Result:
    """Searches. What has been found out is in the last checkpoint, however this ends."""
    worker_bytes = memory_bytes(rules.memory)
    memory_bytes(memory)
    with connected(address, (rules.workers or 1) * (rules.threads or 1)):
        leader = game.lead(
            job_nodes=rules.job_nodes or game.job_nodes,
            memory=memory,
            max_nodes=max_nodes,
            checkpoint=checkpoints.file,
            resume=checkpoints.resume,
            checkpoint_interval=checkpoints.interval,
        )
        saves = _Saves(leader, checkpoints, progress)

        metrics = Metrics()

        def watch(driver: Driver) -> None:
            saves.look()
            metrics.show(driver)
            progress.watch(driver)

        driver = Driver(game, leader, rules, progress.note, watch)
        try:
            driver.run(stop)
        finally:
            progress.clear()
            answer = leader.finish()
            saves.look()
    members = driver.members
    workers = [
        WorkerUse(m.number, m.place.name, m.pid, m.threads, m.jobs, m.nodes, m.lost)
        for m in members
    ]
    live = driver.live
    answer["threads"] = sum(member.threads for member in live)
    answer["seconds"] = driver.seconds
    speed = round(answer["nodes"] / driver.seconds) if driver.seconds else 0
    answer["nodes_per_second"] = float(speed)
    answer["memory_bytes"] += worker_bytes * len(live)
    if "table" in answer:
        # The entries of lost workers are counted, so is the capacity of their tables.
        answer["table"]["capacity"] += sum(member.capacity for member in members)
    # A leader that writes down what comes in says what it has written.
    answer["checkpoint"] = answer.get("checkpoint") or saves.fields()
    # As in the program, what does not apply is left out; that there is no best move is an answer.
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

"""Actor of a worker. It searches jobs, and sends table entries to other workers.

An actor has three concurrency groups: *search* for jobs, *entries* for requests of other workers, and *control* for
calls that must not wait for either. Only a search waits for other workers, so two workers that request entries from
each other cannot deadlock.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ray

if TYPE_CHECKING:
    from .game import Game

__all__ = ["GROUPS", "Job", "WorkerReady", "JobReport", "Worker", "actor_class"]

#: Threads of an actor by concurrency group.
GROUPS = {"search": 1, "entries": 4, "control": 1}

#: Seconds to wait for the entries of another worker.
ENTRIES_WAIT = 0.5

#: Seconds in which no entries are requested from a worker that has not answered in time.
ENTRIES_PAUSE = 10.0


class Job(NamedTuple):
    """Job for a worker."""

    #: Number of the worker.
    worker: int
    #: Reply of the coordinator.
    reply: bytes
    #: Node of the job, and the number of the worker that has entries below this node.
    node: bytes | None
    last: int | None


@dataclass(slots=True)
class JobReport:
    """Result of a job."""

    #: Request for the coordinator, or the error message if the worker rejected the job.
    message: bytes | str
    #: Seconds of the search.
    seconds: float
    #: Nodes that the worker has evaluated in all its jobs.
    nodes: int


class WorkerReady(NamedTuple):
    """Answer of a worker that is ready."""

    pid: int
    #: Capacity of its table in entries.
    capacity: int


class Worker:
    """Worker that runs in an actor."""

    def __init__(self, game: Game, memory: int | str, threads: int, shared_work: int) -> None:
        self._game, self._memory = game, memory
        self._threads, self._shared_work = threads, shared_work
        self._worker: Any = None
        self._peers: dict[int, Any] = {}
        self._paused: dict[int, float] = {}

    def begin(self) -> WorkerReady:
        """Allocates the table."""
        self._worker = self._game.worker(
            memory=self._memory, threads=self._threads, shared_work=self._shared_work
        )
        return WorkerReady(os.getpid(), self._worker.capacity())

    def search(self, job: Job, peers: dict[int, Any]) -> JobReport:
        """Searches a job. `peers` are actors of other workers that this worker has not received before."""
        self._peers.update(peers)
        entries = self._request_entries(job)
        begun = time.perf_counter()
        message = self._search(job, entries)
        seconds = time.perf_counter() - begun
        self._worker.go_on()
        return JobReport(message, seconds, self._worker.nodes())

    def _search(self, job: Job, entries: bytes | None) -> bytes | str:
        try:
            return self._worker.search(job.worker, job.reply, entries)
        except ValueError as error:
            if entries is None:
                return str(error)
        # The entries of the other worker may be invalid: searches without them.
        return self._search(job, None)

    def _request_entries(self, job: Job) -> bytes | None:
        """Returns entries of another worker below the job's node, if it answers in time."""
        last, now = job.last, time.monotonic()
        if last is None or last not in self._peers or self._paused.get(last, 0) > now:
            return None
        try:
            return ray.get(self._peers[last].entries.remote(job.node), timeout=ENTRIES_WAIT)
        except Exception:
            # The other worker is lost, unreachable or slow. Without its entries, the search only takes longer.
            self._paused[last] = time.monotonic() + ENTRIES_PAUSE
            return None

    def entries(self, node: bytes) -> bytes:
        """Returns table entries below a node."""
        return self._worker.entries(node)

    def cancel(self, job: int) -> None:
        """Cancels a job."""
        self._worker.cancel(job)

    def ping(self) -> None:
        """Answers at once, however long the job takes."""
        self._worker.nodes()


def actor_class() -> Any:
    """Returns the actor class of :class:`Worker`."""

    class Actor(Worker):
        pass

    groups = {
        "search": ("begin", "search"),
        "entries": ("entries",),
        "control": ("cancel", "ping"),
    }
    for group, names in groups.items():
        for name in names:
            setattr(Actor, name, ray.method(concurrency_group=group)(getattr(Worker, name)))
    return ray.remote(concurrency_groups=GROUPS, max_restarts=0, max_task_retries=0)(Actor)

"""A worker's side: the actor, which searches jobs and tells others what it knows.

An actor has three groups of threads: one searches, others tell what the worker knows, and *side* answers
what may not wait for either. Nothing but a search waits for other workers, so that two which ask each other
cannot block each other.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ray

if TYPE_CHECKING:
    from .game import Game

__all__ = ["GROUPS", "Order", "Ready", "Report", "Worker", "actor_class"]

#: Threads of an actor by groups.
GROUPS = {"search": 1, "entries": 4, "side": 1}

#: Seconds to wait for what another worker knows.
ENTRIES_WAIT = 0.5

#: Seconds in which one that has not answered in time is not asked again.
ENTRIES_PAUSE = 10.0


class Order(NamedTuple):
    """A job on its way."""

    #: The worker that is to do it.
    worker: int
    answer: bytes
    #: Its node, and the other worker to be asked what it knows below.
    node: bytes | None
    last: int | None


@dataclass(slots=True)
class Report:
    """What came of a job."""

    #: For the leader; a text if the job was refused.
    message: bytes | str
    #: Seconds of the search itself.
    seconds: float
    #: Nodes that the worker has evaluated in all its jobs.
    nodes: int


class Ready(NamedTuple):
    """A worker can begin."""

    pid: int
    #: Entries that fit into its table.
    capacity: int


class Worker:
    """What runs in an actor."""

    def __init__(self, game: Game, memory: int | str, threads: int, fact_work: int) -> None:
        self._game, self._memory = game, memory
        self._threads, self._fact_work = threads, fact_work
        self._station: Any = None
        self._peers: dict[int, Any] = {}
        self._silent: dict[int, float] = {}

    def begin(self) -> Ready:
        """Makes the table."""
        self._station = self._game.work(
            memory=self._memory, threads=self._threads, fact_work=self._fact_work
        )
        return Ready(os.getpid(), self._station.capacity())

    def search(self, order: Order, peers: dict[int, Any]) -> Report:
        """Searches a job; `peers` are actors by numbers that have not been named before."""
        self._peers.update(peers)
        known = self._ask(order)
        begun = time.perf_counter()
        message = self._search(order, known)
        seconds = time.perf_counter() - begun
        self._station.go_on()
        return Report(message, seconds, self._station.nodes())

    def _search(self, order: Order, known: bytes | None) -> bytes | str:
        try:
            return self._station.search(order.worker, order.answer, known)
        except ValueError as error:
            if known is None:
                return str(error)
        # Without what the other one has said of it.
        return self._search(order, None)

    def _ask(self, order: Order) -> bytes | None:
        """What the other worker knows below the job's node, if it says so in time."""
        last, now = order.last, time.monotonic()
        if last is None or last not in self._peers or self._silent.get(last, 0) > now:
            return None
        try:
            return ray.get(self._peers[last].entries.remote(order.node), timeout=ENTRIES_WAIT)
        except Exception:
            # Gone, unreachable or slow: the search only takes longer.
            self._silent[last] = time.monotonic() + ENTRIES_PAUSE
            return None

    def entries(self, node: bytes) -> bytes:
        """What this worker knows below a node."""
        return self._station.entries(node)

    def cancel(self, job: int) -> None:
        """Gives a job up."""
        self._station.cancel(job)

    def sign(self) -> None:
        """Answers, as a worker does that is alive, however long its job takes."""
        self._station.nodes()


def actor_class() -> Any:
    """The actor of :class:`Worker`."""

    class Actor(Worker):
        pass

    groups = {
        "search": ("begin", "search"),
        "entries": ("entries",),
        "side": ("cancel", "sign"),
    }
    for group, names in groups.items():
        for name in names:
            setattr(Actor, name, ray.method(concurrency_group=group)(getattr(Worker, name)))
    return ray.remote(concurrency_groups=GROUPS, max_restarts=0, max_task_retries=0)(Actor)

"""A worker's side: the actor, which searches batches of jobs and tells others what it knows.

An actor has two groups of threads. *search* has two, so that a batch that has come while another one is
searched asks for its entries at once; the batches themselves are searched one after another. *side*
answers what may not wait for a search. Nothing there waits for other workers, so that two which ask
each other cannot block each other.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ray

if TYPE_CHECKING:
    from .game import Game

__all__ = ["GROUPS", "Order", "Report", "Worker", "actor_class"]

#: Threads of an actor by groups.
GROUPS = {"search": 2, "side": 4}

#: Seconds to wait for what another worker knows.
ENTRIES_WAIT = 0.5

#: Seconds in which one that has not answered in time is not asked again.
ENTRIES_PAUSE = 10.0


class Order(NamedTuple):
    """A job on its way."""

    name: int
    answer: bytes
    #: Its node, and the worker to be asked what it knows below.
    node: bytes | None
    last: int | None


@dataclass(slots=True)
class Report:
    """What came of a batch."""

    #: A message for the leader by name; a text where the job was refused.
    messages: list[tuple[int, bytes | str]]
    #: Seconds of the search itself.
    seconds: float
    #: Nodes that the worker has evaluated in all its jobs.
    nodes: int


class Worker:
    """What runs in an actor."""

    def __init__(self, game: Game, memory: int | str, threads: int, fact_work: int) -> None:
        self._game, self._memory = game, memory
        self._threads, self._fact_work = threads, fact_work
        self._station: Any = None
        self._turn = threading.Lock()
        self._peers: dict[int, Any] = {}
        self._silent: dict[int, float] = {}

    def begin(self) -> int:
        """Makes the table; the process id."""
        self._station = self._game.work(
            memory=self._memory, threads=self._threads, fact_work=self._fact_work
        )
        return os.getpid()

    def search(self, orders: list[Order], peers: dict[int, Any]) -> Report:
        """Searches jobs; `peers` are actors by numbers that have not been named before."""
        self._peers.update(peers)
        asked = self._ask(orders)
        with self._turn:
            entries = self._receive(asked)
            messages: list[tuple[int, bytes | str]] = []
            begun = time.perf_counter()
            for order in orders:
                known = entries.get(order.node) if order.node else None
                messages.append((order.name, self._one(order, known)))
            self._station.go_on()
            return Report(messages, time.perf_counter() - begun, self._station.nodes())

    def _one(self, order: Order, known: bytes | None) -> bytes | str:
        try:
            return self._station.search(order.name, order.answer, known)
        except ValueError as error:
            if known is None:
                return str(error)
        # Without what the other one has said of it.
        return self._one(order, None)

    def _ask(self, orders: list[Order]) -> list[tuple[int, list[bytes], Any]]:
        """Asks the others what they know; with one call each."""
        nodes: dict[int, list[bytes]] = {}
        now = time.monotonic()
        for order in orders:
            if order.node and order.last in self._peers and self._silent.get(order.last, 0) < now:
                nodes.setdefault(order.last, []).append(order.node)
        return [
            (last, some, self._peers[last].entries.remote(some)) for last, some in nodes.items()
        ]

    def _receive(self, asked: list[tuple[int, list[bytes], Any]]) -> dict[bytes, bytes]:
        """What has come in time."""
        found: dict[bytes, bytes] = {}
        until = time.monotonic() + ENTRIES_WAIT
        for last, nodes, reference in asked:
            try:
                answers = ray.get(reference, timeout=max(0.0, until - time.monotonic()))
                found.update(zip(nodes, answers, strict=True))
            except Exception:
                # Gone, unreachable or slow: the search only takes longer.
                self._silent[last] = time.monotonic() + ENTRIES_PAUSE
        return found

    def entries(self, nodes: list[bytes]) -> list[bytes]:
        """What this worker knows below nodes."""
        return [self._station.entries(node) for node in nodes]

    def call_off(self, jobs: list[int]) -> None:
        """Gives jobs up."""
        for job in jobs:
            self._station.call_off(job)


def actor_class() -> Any:
    """The actor of :class:`Worker`."""

    class Actor(Worker):
        pass

    for name in ("begin", "search"):
        method = getattr(Worker, name)
        setattr(Actor, name, ray.method(concurrency_group="search")(method))
    for name in ("entries", "call_off"):
        method = getattr(Worker, name)
        setattr(Actor, name, ray.method(concurrency_group="side")(method))
    return ray.remote(concurrency_groups=GROUPS, max_restarts=0, max_task_retries=0)(Actor)

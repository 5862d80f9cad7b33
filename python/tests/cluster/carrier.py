"""Transport of messages between a coordinator and workers in one process, without Ray."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from konane import Position
from konane._konane import ClusterCoordinator, ClusterWorker

SHARED_WORK = 100


def coordinator(start: str | Position, **options: Any) -> ClusterCoordinator:
    options = {
        "job_nodes": 1000,
        "shared_work": SHARED_WORK,
        "memory": "16MiB",
    } | options
    return ClusterCoordinator.konane(start, **options)


def worker(start: str | Position, threads: int = 1) -> ClusterWorker:
    return ClusterWorker.konane(start, shared_work=SHARED_WORK, memory="16MiB", threads=threads)


def altered(message: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(message))
    return message[:at] + bytes([message[at] ^ 1 << chance.randrange(8)]) + message[at + 1 :]


def carry(
    coordinator: ClusterCoordinator,
    workers: list[ClusterWorker],
    *,
    chance: random.Random | None = None,
    late: Any = None,
) -> dict[str, Any]:
    """Delivers messages until the search is over. With `chance`, some are truncated, altered, repeated or
    delayed, and workers are lost. `late` creates a worker that joins after some jobs."""
    idle = list(range(len(workers)))
    jobs: deque[Any] = deque()
    done: deque[bytes] = deque()
    handled = 0

    def take(reply: Any) -> bool:
        if reply.job is None:
            idle.append(reply.worker)
        else:
            jobs.append(reply)
        return reply.over

    while True:
        while idle:
            reply = coordinator.handle_idle(idle.pop())
            if reply is None or take(reply):
                return coordinator.finish()
            if reply.job is None:
                break
        # Up to three results are queued, so that some are delayed.
        while jobs and len(done) < 3:
            reply = jobs.popleft()
            worker, last = workers[reply.worker], reply.last
            if worker is None:
                continue
            other = workers[last] if last is not None else None
            entries = other.entries(reply.node) if other is not None else None
            done.append(worker.search(reply.worker, reply.reply, entries))
        if not done:
            continue
        message = done.popleft()
        handled += 1
        if chance is not None:
            draw = chance.random()
            if draw < 0.1:
                bad = altered(message, chance) if draw < 0.05 else message[: chance.randrange(40)]
                before = coordinator.status()
                assert isinstance(coordinator.handle(bad), str)
                assert before.nodes == coordinator.status().nodes
            elif draw < 0.2:
                # A repeated message.
                coordinator.handle(message)
            elif draw < 0.22 and sum(w is not None for w in workers) > 1:
                at = chance.choice([n for n, w in enumerate(workers) if w is not None])
                workers[at] = None
                coordinator.remove_worker(at)
                workers.append(late())
                # Workers that still have a job receive it again.
                idle = [n for n, w in enumerate(workers) if w is not None]
                jobs.clear()
                done.clear()
                continue
        reply = coordinator.handle(message)
        if isinstance(reply, str):
            raise AssertionError(reply)
        if workers[reply.worker] is not None and take(reply):
            return coordinator.finish()
        if late is not None and chance is None and handled == 20:
            workers.append(late())
            idle.append(len(workers) - 1)

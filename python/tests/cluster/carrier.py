"""A leader and workers in one process, without Ray: what carries messages in these tests."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from konane import Position
from konane._konane import ClusterCoordinator, ClusterWorker

FACT_WORK = 100


def leader(start: str | Position, **options: Any) -> ClusterCoordinator:
    options = {
        "job_nodes": 1000,
        "fact_work": FACT_WORK,
        "memory": "16MiB",
    } | options
    return ClusterCoordinator.konane(start, **options)


def worker(start: str | Position, threads: int = 1) -> ClusterWorker:
    return ClusterWorker.konane(start, fact_work=FACT_WORK, memory="16MiB", threads=threads)


def altered(message: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(message))
    return message[:at] + bytes([message[at] ^ 1 << chance.randrange(8)]) + message[at + 1 :]


def carry(
    lead: ClusterCoordinator,
    workers: list[ClusterWorker],
    *,
    chance: random.Random | None = None,
    late: Any = None,
) -> dict[str, Any]:
    """Carries messages until the search is over. With `chance`, some are cut, altered, doubled or late,
    and workers are lost; `late` makes a worker that joins after some jobs."""
    idle = list(range(len(workers)))
    jobs: deque[Any] = deque()
    done: deque[bytes] = deque()
    heard = 0

    def take(told: Any) -> bool:
        if told.job is None:
            idle.append(told.worker)
        else:
            jobs.append(told)
        return told.over

    while True:
        while idle:
            told = lead.handle_idle(idle.pop())
            if told is None or take(told):
                return lead.finish()
            if told.job is None:
                break
        # Results wait for each other, so that some are late.
        while jobs and len(done) < 3:
            told = jobs.popleft()
            worker, last = workers[told.worker], told.last
            if worker is None:
                continue
            other = workers[last] if last is not None else None
            entries = other.entries(told.node) if other is not None else None
            done.append(worker.search(told.worker, told.reply, entries))
        if not done:
            continue
        message = done.popleft()
        heard += 1
        if chance is not None:
            draw = chance.random()
            if draw < 0.1:
                bad = altered(message, chance) if draw < 0.05 else message[: chance.randrange(40)]
                before = lead.status()
                assert isinstance(lead.handle(bad), str)
                assert before.nodes == lead.status().nodes
            elif draw < 0.2:
                # The same once more: what comes of it is told to the same worker again.
                lead.handle(message)
            elif draw < 0.22 and sum(w is not None for w in workers) > 1:
                at = chance.choice([n for n, w in enumerate(workers) if w is not None])
                workers[at] = None
                lead.remove_worker(at)
                workers.append(late())
                # Nothing else was lost: whoever has a job is told again.
                idle = [n for n, w in enumerate(workers) if w is not None]
                jobs.clear()
                done.clear()
                continue
        told = lead.handle(message)
        if isinstance(told, str):
            raise AssertionError(told)
        if workers[told.worker] is not None and take(told):
            return lead.finish()
        if late is not None and chance is None and heard == 20:
            workers.append(late())
            idle.append(len(workers) - 1)

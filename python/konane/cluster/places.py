"""Which machine gets how many workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import text

__all__ = ["Place", "shortage", "spread"]


@dataclass(frozen=True)
class Place:
    """A machine of the cluster."""

    #: Ray's number of it.
    node: str
    cores: int

    @property
    def name(self) -> str:
        """The beginning of the number, which is enough to tell machines apart."""
        return self.node[:8]


def spread(
    places: Iterable[Place], workers: int | None, threads: int | None
) -> dict[Place, tuple[int, int]]:
    """Workers of each machine, and threads of each worker there.

    Without `workers` one for each machine; else so many in all, spread so that each has as many cores
    as possible. Without `threads` a machine's workers share its cores. Where `threads` are given, no
    machine gets more workers than it has cores for.
    """
    usable = sorted((p for p in places if p.cores >= (threads or 1)), key=lambda p: p.node)
    counts = dict.fromkeys(usable, 0)
    most = {place: place.cores // (threads or 1) for place in usable}
    total = len(usable) if workers is None else min(workers, sum(most.values()))
    for _ in range(total):
        free = (
            place for place in usable if counts[place] < (1 if workers is None else most[place])
        )
        place = max(free, key=lambda p: (p.cores / (counts[p] + 1), p.node))
        counts[place] += 1
    return {
        place: (count, threads or max(1, place.cores // count))
        for place, count in counts.items()
        if count
    }


def shortage(
    places: Iterable[Place], workers: int | None, threads: int | None
) -> str | None:
    """Why fewer workers can be started than are wanted, if that is so."""
    places, least = list(places), threads or 1
    if all(place.cores < least for place in places):
        return f"no machine has {text.counted(least, 'core')}"
    room = sum(count for count, _ in spread(places, workers, threads).values())
    if workers is not None and room < workers:
        return f"room for {room} of {text.counted(workers, 'worker')}"
    return None

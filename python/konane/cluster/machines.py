"""Machines of a cluster, and the distribution of workers among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import text

__all__ = ["Machine", "shortage", "spread"]


@dataclass(frozen=True)
class Machine:
    """A machine of the cluster."""

    #: Identifier of the node in Ray.
    node: str
    cores: int

    @property
    def name(self) -> str:
        """Beginning of the identifier, for messages."""
        return self.node[:8]


def spread(
    machines: Iterable[Machine], workers: int | None, threads: int | None
) -> dict[Machine, tuple[int, int]]:
    """Returns the number of workers of each machine, and the threads of each worker there.

    Without `workers`, each machine has one worker. Otherwise `workers` is the total number of workers, which are
    distributed so that each worker has as many cores as possible. Without `threads`, the cores of a machine are
    divided among its workers. With `threads`, no machine has more workers than its cores allow.
    """
    usable = sorted((p for p in machines if p.cores >= (threads or 1)), key=lambda p: p.node)
    counts = dict.fromkeys(usable, 0)
    capacity = {machine: machine.cores // (threads or 1) for machine in usable}
    total = len(usable) if workers is None else min(workers, sum(capacity.values()))
    for _ in range(total):
        free = (
            machine for machine in usable if counts[machine] < (1 if workers is None else capacity[machine])
        )
        machine = max(free, key=lambda p: (p.cores / (counts[p] + 1), p.node))
        counts[machine] += 1
    return {
        machine: (count, threads or max(1, machine.cores // count))
        for machine, count in counts.items()
        if count
    }


def shortage(
    machines: Iterable[Machine], workers: int | None, threads: int | None
) -> str | None:
    """Returns a message if fewer workers can be started than requested."""
    machines, cores = list(machines), threads or 1
    if all(machine.cores < cores for machine in machines):
        return f"no machine has {text.counted(cores, 'core')}"
    count = sum(count for count, _ in spread(machines, workers, threads).values())
    if workers is not None and count < workers:
        return f"the cluster has CPUs for {count} of {text.counted(workers, 'worker')}"
    return None

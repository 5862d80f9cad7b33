"""What Ray's dashboard shows of a search: nodes and jobs of each worker, and what the leader knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ray.util.metrics import Gauge

if TYPE_CHECKING:
    from .driver import Driver

__all__ = ["Metrics"]


class Metrics:
    """Gauges of one search."""

    def __init__(self) -> None:
        worker = ("worker",)
        self._nodes = Gauge("konane_nodes", "Nodes that a worker has evaluated", worker)
        self._jobs = Gauge("konane_jobs", "Jobs that a worker has done", worker)
        self._tree = Gauge("konane_tree_nodes", "Nodes of the leader's tree")
        self._facts = Gauge("konane_facts", "Facts that every worker gets")

    def show(self, driver: Driver) -> None:
        """Sets them to what is known now."""
        for member in driver.live:
            tags = {"worker": str(member.number)}
            self._nodes.set(member.nodes, tags)
            self._jobs.set(member.jobs, tags)
        standing = driver.leader.status()
        if standing is not None:
            self._tree.set(standing.tree_nodes)
            self._facts.set(standing.results)

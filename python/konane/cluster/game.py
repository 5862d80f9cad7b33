"""Games that can be searched. A game creates coordinators and workers, and formats results. The other modules are
independent of the game: they carry bytes between coordinator and workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Protocol

from .. import Position
from .._konane import ClusterCoordinator, ClusterWorker
from . import text

__all__ = ["Game", "Konane", "Sprouts"]


class Game(Protocol):
    """Position to be searched. It is pickled for the workers."""

    @property
    def job_nodes(self) -> int:
        """Nodes of the first jobs, for each thread of a worker."""
        ...

    @property
    def job_seconds(self) -> float:
        """Minimum duration of later jobs in seconds. Jobs take longer if there are many workers."""
        ...

    @property
    def shared_work(self) -> int:
        """Minimum search effort of a shared result."""
        ...

    def coordinator(
        self,
        *,
        job_nodes: int,
        memory: int | str,
        max_nodes: int | None,
        checkpoint: str | PathLike[str] | None,
        resume: bool,
        checkpoint_interval: float | None,
    ) -> ClusterCoordinator:
        """Creates the coordinator."""
        ...

    def worker(self, *, memory: int | str, threads: int, shared_work: int) -> ClusterWorker:
        """Creates a worker."""
        ...

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        """Returns a heading, and the result in rows."""
        ...


@dataclass(frozen=True)
class Konane:
    """Position of Konane."""

    position: Position
    profile: Literal["tuned", "thesis"] = "tuned"
    job_nodes: int = 50_000
    job_seconds: float = 0.016
    shared_work: int = 100

    def coordinator(self, **options: Any) -> ClusterCoordinator:
        return ClusterCoordinator.konane(
            self.position, profile=self.profile, shared_work=self.shared_work, **options
        )

    def worker(self, **options: Any) -> ClusterWorker:
        return ClusterWorker.konane(self.position, profile=self.profile, **options)

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        to_move, best = answer["to_move"].capitalize(), answer["best_move"]
        rows = []
        if answer["winner"] != "unknown":
            rows.append(("winner", answer["winner"].capitalize()))
            over = f"none: {to_move} cannot move"
            none = over if self.position.is_over else f"none: every move of {to_move} loses"
            rows.append(("best move", best or none))
        else:
            rows.append(("winner", f"unknown ({answer['reason']})"))
            if best:
                rows.append(("best so far", f"{best} (not proven)"))
            pn, dn = text.number(answer["pn"]), text.number(answer["dn"])
            rows.append(("root", f"proof number {pn}, disproof number {dn}"))
        first, second = text.grouped(answer["l1_nodes"]), text.grouped(answer["l2_nodes"])
        nodes = f"{text.grouped(answer['nodes'])} ({first} first level, {second} second level)"
        rows.append(("algorithm", f"{answer['algorithm']}, {answer['profile']}"))
        rows.append(("nodes", nodes))
        return f"{answer['board']}, {to_move} to move", rows


@dataclass(frozen=True)
class Sprouts:
    """Sum of a position of Sprouts and a nim heap."""

    position: str
    nimber: int = 0
    job_nodes: int = 12_000
    #: Longer than the jobs of Konane, because a worker of Sprouts is idle while it waits for the next job.
    job_seconds: float = 0.06
    #: Minimum number of expansions for a Grundy number that a worker sends to the others; 0 shares all.
    shared_work: int = 8

    def coordinator(self, *, checkpoint_interval: float | None, **options: Any) -> ClusterCoordinator:
        # Grundy numbers are written as they are found, so there is no interval.
        return ClusterCoordinator.sprouts(self.position, nimber=self.nimber, **options)

    def worker(self, **options: Any) -> ClusterWorker:
        return ClusterWorker.sprouts(self.position, nimber=self.nimber, **options)

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        rows = []
        if answer["outcome"] != "unknown":
            verb = {"win": "wins", "loss": "loses"}[answer["outcome"]]
            rows.append(("outcome", f"{answer['outcome']}: the player to move {verb}"))
        else:
            rows.append(("outcome", f"unknown ({answer['reason']})"))
            if "contradiction" in answer:
                rows.append(("because", answer["contradiction"]))
            pn, dn = text.number(answer["pn"]), text.number(answer["dn"])
            rows.append(("root", f"proof number {pn}, disproof number {dn}"))
        rows.append(("canonical", answer["canonical"]))
        rows.append(("algorithm", f"{answer['algorithm']}, {answer['profile']}"))
        rows.append(("nodes", text.grouped(answer["nodes"])))
        rows.append(("expansions", text.grouped(answer["expansions"])))
        rows.append(("Grundy", f"{text.grouped(answer['grundy_numbers'])} numbers found"))
        heap = f" plus a nim heap of {self.nimber}" if self.nimber else ""
        return f"{self.position}{heap}", rows

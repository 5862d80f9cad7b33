"""What is searched. The rest of this package knows no game: it asks a leader and workers for bytes and
carries them. A game makes both, and says how its answer reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Protocol

from .. import Position
from .._konane import ClusterLeader, ClusterWorker
from . import text

__all__ = ["Game", "Konane", "Sprouts"]


class Game(Protocol):
    """Something that can be searched by many; it is pickled."""

    @property
    def job_nodes(self) -> int:
        """Nodes of a job for each thread of a worker."""
        ...

    @property
    def fact_work(self) -> int:
        """The least work of a fact."""
        ...

    @property
    def batches(self) -> int:
        """Batches of jobs that a worker has at a time: one where it searches on meanwhile."""
        ...

    def lead(
        self,
        *,
        names: int,
        job_nodes: int,
        memory: int | str,
        max_nodes: int | None,
        checkpoint: str | PathLike[str] | None,
        resume: bool,
        checkpoint_interval: float,
    ) -> ClusterLeader:
        """Makes the leader."""
        ...

    def work(self, *, memory: int | str, threads: int, fact_work: int) -> ClusterWorker:
        """Makes a worker."""
        ...

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        """A heading, and the answer in rows."""
        ...


@dataclass(frozen=True)
class Konane:
    """The winner of a position of Konane."""

    position: Position
    profile: Literal["tuned", "thesis"] = "tuned"
    #: A call takes the driver about a millisecond, so jobs are not small. For 7x7 by two workers on two
    #: cores anything from 40 000 to 160 000 takes about as long, some 4 s.
    job_nodes: int = 80_000
    fact_work: int = 100
    batches: int = 1

    def lead(self, **options: Any) -> ClusterLeader:
        return ClusterLeader.konane(
            self.position, profile=self.profile, fact_work=self.fact_work, **options
        )

    def work(self, **options: Any) -> ClusterWorker:
        return ClusterWorker.konane(self.position, profile=self.profile, **options)

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        to_move, best = answer["to_move"], answer["best_move"]
        rows = []
        if answer["outcome"] != "unknown":
            rows.append(("winner", answer["outcome"]))
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
    """The outcome of a position of Sprouts beside a nim heap."""

    position: str
    nimber: int = 0
    #: Some tenths of a second for a thread.
    job_nodes: int = 20_000
    #: All Grundy numbers are facts.
    fact_work: int = 0
    batches: int = 2

    def lead(self, *, checkpoint_interval: float, **options: Any) -> ClusterLeader:
        # Numbers are kept as they are found.
        return ClusterLeader.sprouts(self.position, nimber=self.nimber, **options)

    def work(self, *, fact_work: int, **options: Any) -> ClusterWorker:
        return ClusterWorker.sprouts(self.position, nimber=self.nimber, **options)

    def rows(self, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
        rows = []
        if answer["outcome"] != "unknown":
            verb = {"win": "wins", "loss": "loses"}[answer["outcome"]]
            rows.append(("outcome", f"{answer['outcome']}: the player to move {verb}"))
        else:
            rows.append(("outcome", f"unknown ({answer['reason']})"))
            pn, dn = text.number(answer["pn"]), text.number(answer["dn"])
            rows.append(("root", f"proof number {pn}, disproof number {dn}"))
        rows.append(("canonical", answer["canonical"]))
        rows.append(("algorithm", f"{answer['algorithm']}, {answer['profile']}"))
        rows.append(("nodes", text.grouped(answer["nodes"])))
        rows.append(("expansions", text.grouped(answer["expansions"])))
        rows.append(("Grundy", f"{text.grouped(answer['grundy_numbers'])} numbers found"))
        heap = f" beside a heap of {self.nimber}" if self.nimber else ""
        return f"{self.position}{heap}", rows

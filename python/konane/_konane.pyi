from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._results import (
    BuildProgress,
    Built,
    Probe,
    Progress,
    Proof,
    Solution,
    SproutsSolution,
    Verification,
)

__all__ = [
    "BuildDirector",
    "BuildPlan",
    "ClusterCoordinator",
    "ClusterStatus",
    "ClusterDelivery",
    "ClusterWorker",
    "Database",
    "Position",
    "__version__",
    "build_database",
    "bytes_text",
    "count",
    "counted",
    "divide",
    "memory_bytes",
    "perft",
    "prove",
    "run_task",
    "seconds",
    "short",
    "solve",
    "sprouts_canonical",
    "sprouts_children",
    "sprouts_draw",
    "sprouts_grundy",
    "sprouts_solve",
    "time_limit",
    "time_text",
    "verify_proof",
]

__version__: str

_Algorithm = Literal["dfpn", "pns", "pn2", "pns-pdfpn", "ab"]
_Path = str | PathLike[str]

@final
class Position:
    def __new__(
        cls,
        board: str,
        text: str | None = None,
        phase: Literal["auto", "jump"] = "auto",
        *,
        moves: str | Iterable[str] | None = None,
    ) -> Position: ...
    @classmethod
    def from_code(cls, board: str, code: int) -> Position: ...
    @property
    def board(self) -> str: ...
    @property
    def to_move(self) -> Literal["black", "white"]: ...
    @property
    def code(self) -> int: ...
    @property
    def occupied(self) -> int: ...
    @property
    def is_over(self) -> bool: ...
    def moves(self) -> list[str]: ...
    def play(self, move: str) -> Position: ...
    def svg(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Database:
    @staticmethod
    def find(directory: _Path, board: str, *, cache: int | str | None = "64MiB") -> Database: ...
    @staticmethod
    def open(directory: _Path, *, cache: int | str | None = "64MiB") -> Database: ...
    @property
    def directory(self) -> str: ...
    @property
    def board(self) -> str: ...
    @property
    def scope(self) -> Literal["complete", "reachable"]: ...
    @property
    def metric(self) -> Literal["outcome", "remoteness"]: ...
    @property
    def max_stones(self) -> int: ...
    def probe(self, position: Position | str) -> Probe: ...
    def probe_many(
        self, codes: ArrayLike, *, threads: int | None = None
    ) -> NDArray[np.int8]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def solve(
    board: Position | str,
    *,
    algo: _Algorithm = "dfpn",
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | None = 0.1,
    profile: Literal["tuned", "thesis"] = "tuned",
) -> Solution: ...
def prove(
    board: Position | str,
    path: _Path,
    *,
    algo: _Algorithm = "dfpn",
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | None = 0.1,
    profile: Literal["tuned", "thesis"] = "tuned",
) -> Proof: ...
def verify_proof(
    path: _Path, *, threads: int | None = None, memory: int | str | None = None
) -> Verification: ...
def perft(
    board: Position | str,
    depth: int,
    *,
    threads: int | None = None,
    unique: bool = False,
    symmetry: bool = True,
    memory: int | str | None = None,
) -> list[int]: ...
def divide(
    board: Position | str, depth: int, *, threads: int | None = None
) -> dict[str, int]: ...
def build_database(
    board: str,
    directory: _Path = "db",
    *,
    scope: Literal["complete", "reachable"] = "complete",
    metric: Literal["outcome", "remoteness"] = "outcome",
    max_stones: int | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Callable[[BuildProgress], object] | None = None,
    interval: float | None = 0.1,
) -> Built: ...
def sprouts_solve(
    text: str,
    *,
    algo: Literal["dfpn", "pns", "pns-pdfpn"] = "dfpn",
    nimber: int = 0,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | None = None,
    max_nodes: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | None = 0.1,
) -> SproutsSolution: ...
def sprouts_grundy(
    text: str,
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | None = None,
    max_nodes: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | None = 0.1,
) -> int: ...
def sprouts_children(text: str) -> list[str]: ...
def sprouts_canonical(text: str) -> str: ...
def sprouts_draw(text: str) -> str: ...

# Parts of konane.cluster: a coordinator and workers that exchange bytes.

@final
class ClusterDelivery:
    @property
    def worker(self) -> int: ...
    @property
    def reply(self) -> bytes: ...
    @property
    def job(self) -> int | None: ...
    @property
    def node(self) -> bytes | None: ...
    @property
    def last(self) -> int | None: ...
    @property
    def over(self) -> bool: ...

@final
class ClusterStatus:
    @property
    def pn(self) -> float: ...
    @property
    def dn(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def tree_nodes(self) -> int: ...
    @property
    def jobs(self) -> int: ...
    @property
    def results(self) -> int: ...
    @property
    def over(self) -> bool: ...

@final
class ClusterCoordinator:
    @staticmethod
    def konane(
        start: str | Position,
        *,
        job_nodes: int,
        fact_work: int,
        memory: int | str,
        profile: Literal["tuned", "thesis"] = "tuned",
        max_nodes: int | None = None,
        checkpoint: _Path | None = None,
        resume: bool = False,
        checkpoint_interval: float | None = None,
    ) -> ClusterCoordinator: ...
    @staticmethod
    def sprouts(
        text: str,
        *,
        nimber: int = 0,
        job_nodes: int,
        memory: int | str,
        max_nodes: int | None = None,
        checkpoint: _Path | None = None,
        resume: bool = False,
    ) -> ClusterCoordinator: ...
    def handle_idle(self, worker: int) -> ClusterDelivery | None: ...
    def handle(self, request: bytes) -> ClusterDelivery | str | None: ...
    def remove_worker(self, worker: int) -> None: ...
    def cancelled(self) -> list[tuple[int, int]]: ...
    def set_job_nodes(self, nodes: int) -> None: ...
    def status(self) -> ClusterStatus | None: ...
    def end(self, reason: str) -> None: ...
    def finish(self) -> dict[str, Any]: ...
    def saves(self) -> list[tuple[str | None, int, int, int]]: ...
    @property
    def checkpoint_bound(self) -> int | None: ...
    @property
    def before(self) -> tuple[int, int, float]: ...

@final
class ClusterWorker:
    @staticmethod
    def konane(
        start: str | Position,
        *,
        fact_work: int,
        memory: int | str,
        threads: int,
        profile: Literal["tuned", "thesis"] = "tuned",
    ) -> ClusterWorker: ...
    @staticmethod
    def sprouts(
        text: str, *, nimber: int = 0, memory: int | str, threads: int
    ) -> ClusterWorker: ...
    def search(self, worker: int, reply: bytes, entries: bytes | None = None) -> bytes: ...
    def entries(self, node: bytes) -> bytes: ...
    def go_on(self) -> None: ...
    def cancel(self, job: int) -> None: ...
    def nodes(self) -> int: ...
    def capacity(self) -> int: ...
    def close(self) -> None: ...

def memory_bytes(memory: int | str) -> int: ...
def seconds(text: str) -> float: ...
def count(text: str) -> int: ...
def bytes_text(bytes: int) -> str: ...
def time_text(seconds: float) -> str: ...
def short(number: float) -> str: ...
def counted(count: int, noun: str) -> str: ...
def time_limit(time_limit: float) -> float: ...

@final
class BuildPlan:
    def __new__(
        cls, board: str, out: _Path, memory: int, threads: int = 1, parts: int = 1
    ) -> BuildPlan: ...
    @property
    def directory(self) -> Path: ...
    @property
    def finished(self) -> bool: ...
    def tasks(self) -> list[list[str]]: ...
    def describe(self) -> dict[str, Any]: ...
    def open(self) -> BuildDirector: ...

@final
class BuildDirector:
    def pending(self) -> list[list[str]]: ...
    def finish(self) -> dict[str, Any]: ...
    def close(self) -> None: ...

def run_task(
    task: str, out: _Path, memory: int | str | None = None, threads: int = 1
) -> dict[str, Any]: ...

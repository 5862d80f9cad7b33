from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

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
    "Database",
    "Position",
    "__version__",
    "build_database",
    "divide",
    "perft",
    "prove",
    "solve",
    "sprouts_canonical",
    "sprouts_children",
    "sprouts_draw",
    "sprouts_grundy",
    "sprouts_solve",
    "verify_proof",
]

__version__: str

_Algorithm = Literal["dfpn", "pns", "pn2", "pns-pdfpn", "ab"]
_Path = str | PathLike[str]

@final
class Position:
    def __new__(
        cls, board: str, text: str | None = None, *, moves: str | Sequence[str] | None = None
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
    def max_stones(self) -> int: ...
    def probe(self, position: Position | str) -> Probe: ...
    def probe_many(
        self, codes: NDArray[np.uint64], *, threads: int | None = None
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
) -> int | None: ...
def sprouts_children(text: str) -> list[str]: ...
def sprouts_canonical(text: str) -> str: ...
def sprouts_draw(text: str) -> str: ...

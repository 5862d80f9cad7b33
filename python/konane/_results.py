"""What the functions answer: plain values, which can be compared, pickled and made dictionaries of.

``dataclasses.asdict(result)`` has the fields by their names.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "BuildProgress",
    "Built",
    "Probe",
    "Progress",
    "Proof",
    "Solution",
    "SproutsSolution",
    "Verification",
]


@dataclass(frozen=True, slots=True)
class Progress:
    """A look at a running search, as ``progress=`` functions get it."""

    #: Wall-clock time since the search began.
    seconds: float
    #: Positions evaluated; of Sprouts, couples of a land and a nim heap.
    nodes: int
    #: Positions expanded, again and again ones included.
    expansions: int
    #: The root's proof number for the side to move; infinite (a float) once it is lost.
    pn: float
    #: Its disproof number; infinite once it is won.
    dn: float
    #: The move that the search holds for the best; none in Sprouts.
    best_move: str | None
    #: Entries of the transposition table that are in use.
    table_used: int
    #: Bytes in use, where the search counts them; else 0.
    memory_bytes: int
    #: Grundy numbers found (Sprouts); else 0.
    grundy_numbers: int


@dataclass(frozen=True, slots=True)
class Solution:
    """Who wins a position of Konane, as far as a search has found out."""

    #: Ranks x files.
    board: str
    #: The position, as text.
    position: str
    #: Who is to move there: ``"black"`` or ``"white"``.
    to_move: str
    #: The winner, ``"black"`` or ``"white"``, if it is proven; else ``"unknown"``.
    outcome: str
    #: Why the outcome is unknown: ``"node limit"``, ``"time limit"`` or ``"memory limit"``.
    reason: str | None
    #: A winning move; none if every move loses. While the outcome is unknown: the best so far.
    best_move: str | None
    #: The root's proof number while the outcome is unknown; never of ``algo="ab"``.
    pn: float | None
    #: Its disproof number.
    dn: float | None
    #: The search, such as ``"dfpn"``.
    algorithm: str
    #: Its parameters, ``"tuned"`` or ``"thesis"``.
    profile: str
    #: Threads that searched.
    threads: int
    #: Positions evaluated.
    nodes: int
    #: Positions expanded, again and again ones included.
    expansions: int
    #: Answers of the database, if one was given.
    database_hits: int | None
    #: Wall-clock time.
    seconds: float
    #: Bytes of table and tree.
    memory_bytes: int
    #: Entries that fit into the transposition table.
    table_capacity: int
    #: Entries in use.
    table_used: int
    #: Entries dropped for others.
    table_replaced: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of :func:`konane.prove`."""

    #: The search.
    solution: Solution
    #: The winner, or ``"unknown"``.
    outcome: str
    #: The file, if there is one now.
    path: str | None
    #: Positions in it.
    positions: int | None
    #: Its length.
    bytes: int | None
    #: Positions that had to be searched again.
    searched_again: int | None
    #: Why there is no file, such as ``"time limit"``.
    reason: str | None
    #: Wall-clock time of search, collecting and writing.
    seconds: float


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a proof file."""

    #: Whether the file proves what it says.
    valid: bool
    #: What is wrong if it does not.
    problem: str | None
    #: Ranks x files.
    board: str
    #: The position that the proof is about.
    root: str
    #: Who is said to win it: ``"black"`` or ``"white"``.
    winner: str
    #: Positions in the file.
    positions: int
    #: Moves of the loser that were seen to have an answer.
    answered: int
    #: Length of the file.
    bytes: int
    #: Wall-clock time.
    seconds: float


@dataclass(frozen=True, slots=True)
class Probe:
    """What a database says about a position."""

    #: ``"win"`` or ``"loss"`` for the side to move.
    outcome: str
    #: The outcome of every move for the player who makes it, winning moves first. With the remoteness,
    #: the quickest wins and the longest losses before others.
    moves: dict[str, str]
    #: Plies to the end of the game if the winner hurries and the loser delays; none if the database
    #: knows only who wins.
    remoteness: int | None
    #: The same of the position after every move.
    remoteness_after: dict[str, int] | None

    @property
    def best_move(self) -> str | None:
        """A move that keeps the outcome; none if there is no move."""
        return next(iter(self.moves), None)


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """How far a build has come, as ``progress=`` functions get it."""

    #: Wall-clock time since it began.
    seconds: float
    #: What is being done, in words.
    stage: str
    #: Positions done.
    done: int
    #: All of them; 0 while that is not known.
    total: int


@dataclass(frozen=True, slots=True)
class Built:
    """The database that :func:`konane.build_database` has made, or found complete."""

    #: Ranks x files.
    board: str
    #: ``"complete"`` or ``"reachable"``.
    scope: str
    #: ``"outcome"`` or ``"remoteness"``.
    metric: str
    #: The most stones of its positions.
    max_stones: int
    #: Where its files are, for :meth:`konane.Database.open`.
    directory: str
    #: Positions whose value is known: sets of stones with either side to move.
    positions: int
    #: Those with Black to move that Black wins.
    black_to_move_wins: int
    #: Those with White to move that White wins.
    white_to_move_wins: int
    #: With the remoteness: how many positions end after 0, 1, .. plies, by ``"black"`` and ``"white"`` to move.
    histogram: dict[str, list[int]] | None
    #: Bytes of the files.
    bytes: int
    #: Wall-clock time of this call.
    seconds: float
    #: Layers that an earlier build had finished; all of them if the database was there.
    layers_found: int


@dataclass(frozen=True, slots=True)
class SproutsSolution:
    """Who wins a position of Sprouts, as far as a search has found out."""

    #: The position as it was given.
    position: str
    #: Its canonical form.
    canonical: str
    #: The nim heap beside it.
    nimber: int
    #: ``"win"`` or ``"loss"`` for the player to move if it is proven; else ``"unknown"``.
    outcome: str
    #: Why the outcome is unknown.
    reason: str | None
    #: The root's proof number while the outcome is unknown.
    pn: float | None
    #: Its disproof number.
    dn: float | None
    #: The search, such as ``"dfpn"``.
    algorithm: str
    #: Threads that searched.
    threads: int
    #: Couples evaluated.
    nodes: int
    #: Couples expanded, again and again ones included: the papers' iterations.
    expansions: int
    #: Lands in memory at the end.
    lands: int
    #: Grundy numbers found.
    grundy_numbers: int
    #: Wall-clock time.
    seconds: float
    #: Bytes of everything.
    memory_bytes: int


# They are documented and pickled as parts of the package.
for _name in __all__:
    globals()[_name].__module__ = "konane"
del _name

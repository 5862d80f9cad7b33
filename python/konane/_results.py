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
    """A look at a running search, as ``progress=`` functions get it.

    * ``seconds``: Wall-clock time since the search began.
    * ``nodes``: Positions evaluated; of Sprouts, couples of a land and a nim heap.
    * ``expansions``: Positions expanded, again and again ones included.
    * ``pn``: The root's proof number for the side to move; infinite (a float) once it is lost.
    * ``dn``: Its disproof number; infinite once it is won.
    * ``best_move``: The move that the search holds for the best; none in Sprouts.
    * ``table_used``: Entries of the transposition table that are in use.
    * ``memory_bytes``: Bytes in use, where the search counts them; else 0.
    * ``grundy_numbers``: Grundy numbers found (Sprouts); else 0.
    """

    seconds: float
    nodes: int
    expansions: int
    pn: float
    dn: float
    best_move: str | None
    table_used: int
    memory_bytes: int
    grundy_numbers: int


@dataclass(frozen=True, slots=True)
class Solution:
    """Who wins a position of Konane, as far as a search has found out.

    * ``board``: Ranks x files.
    * ``position``: The position, as text.
    * ``to_move``: Who is to move there: ``"black"`` or ``"white"``.
    * ``outcome``: The winner, ``"black"`` or ``"white"``, if it is proven; else ``"unknown"``.
    * ``reason``: Why the outcome is unknown: ``"node limit"``, ``"time limit"`` or
      ``"memory"``.
    * ``best_move``: A winning move; none if every move loses. While the outcome is unknown: the
      best so far.
    * ``pn``: The root's proof number while the outcome is unknown; never of ``algo="ab"``.
    * ``dn``: Its disproof number.
    * ``algorithm``: The search, such as ``"dfpn"``.
    * ``profile``: Its parameters, ``"tuned"`` or ``"thesis"``.
    * ``threads``: Threads that searched.
    * ``nodes``: Positions evaluated.
    * ``expansions``: Positions expanded, again and again ones included.
    * ``database_hits``: Answers of the database, if one was given.
    * ``seconds``: Wall-clock time.
    * ``memory_bytes``: Bytes of table and tree.
    * ``table_capacity``: Entries that fit into the transposition table.
    * ``table_used``: Entries in use.
    * ``table_replaced``: Entries dropped for others.
    """

    board: str
    position: str
    to_move: str
    outcome: str
    reason: str | None
    best_move: str | None
    pn: float | None
    dn: float | None
    algorithm: str
    profile: str
    threads: int
    nodes: int
    expansions: int
    database_hits: int | None
    seconds: float
    memory_bytes: int
    table_capacity: int
    table_used: int
    table_replaced: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of :func:`konane.prove`.

    * ``solution``: The search.
    * ``outcome``: The winner, or ``"unknown"``; the winner also where no file could be written.
    * ``path``: The file, if there is one now.
    * ``positions``: Positions in it.
    * ``bytes``: Its length.
    * ``searched_again``: Positions that had to be searched again.
    * ``reason``: Why there is no file: a limit, such as ``"time limit"``, or what is wrong with the
      file, such as a full disk.
    * ``seconds``: Wall-clock time of search, collecting and writing.
    """

    solution: Solution
    outcome: str
    path: str | None
    positions: int | None
    bytes: int | None
    searched_again: int | None
    reason: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a proof file.

    * ``valid``: Whether the file proves what it says.
    * ``problem``: What is wrong if it does not.
    * ``board``: Ranks x files.
    * ``root``: The position that the proof is about.
    * ``winner``: Who is said to win it: ``"black"`` or ``"white"``.
    * ``positions``: Positions in the file.
    * ``answered``: Moves of the loser that were seen to have an answer.
    * ``bytes``: Length of the file.
    * ``seconds``: Wall-clock time.
    """

    valid: bool
    problem: str | None
    board: str
    root: str
    winner: str
    positions: int
    answered: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Probe:
    """What a database says about a position.

    * ``outcome``: ``"win"`` or ``"loss"`` for the side to move.
    * ``moves``: The outcome of every move for the player who makes it, winning moves first. With
      the remoteness, the quickest wins and the longest losses before others.
    * ``remoteness``: Plies to the end of the game if the winner hurries and the loser delays;
      none if the database knows only who wins.
    * ``remoteness_after``: The same of the position after every move.
    """

    outcome: str
    moves: dict[str, str]
    remoteness: int | None
    remoteness_after: dict[str, int] | None

    @property
    def best_move(self) -> str | None:
        """A move that keeps the outcome; none if there is no move."""
        return next(iter(self.moves), None)


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """How far a build has come, as ``progress=`` functions get it.

    * ``seconds``: Wall-clock time since it began.
    * ``stage``: What is being done, in words.
    * ``done``: Positions done.
    * ``total``: All of them; 0 while that is not known.
    """

    seconds: float
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Built:
    """The database that :func:`konane.build_database` has made, or found complete.

    * ``board``: Ranks x files.
    * ``scope``: ``"complete"`` or ``"reachable"``.
    * ``metric``: ``"outcome"`` or ``"remoteness"``.
    * ``max_stones``: The most stones of its positions.
    * ``directory``: Where its files are, for :meth:`konane.Database.open`.
    * ``positions``: Positions whose value is known: sets of stones with either side to move.
    * ``black_to_move_wins``: Those with Black to move that Black wins.
    * ``white_to_move_wins``: Those with White to move that White wins.
    * ``histogram``: With the remoteness: how many positions end after 0, 1, .. plies, by
      ``"black"`` and ``"white"`` to move.
    * ``bytes``: Bytes of the files.
    * ``seconds``: Wall-clock time of this call.
    * ``layers_found``: Layers that an earlier build had finished; all of them if the database was
      there.
    """

    board: str
    scope: str
    metric: str
    max_stones: int
    directory: str
    positions: int
    black_to_move_wins: int
    white_to_move_wins: int
    histogram: dict[str, list[int]] | None
    bytes: int
    seconds: float
    layers_found: int


@dataclass(frozen=True, slots=True)
class SproutsSolution:
    """Who wins a position of Sprouts, as far as a search has found out.

    * ``position``: The position as it was given.
    * ``canonical``: Its canonical form.
    * ``nimber``: The nim heap beside it.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move if it is proven; else
      ``"unknown"``.
    * ``reason``: Why the outcome is unknown.
    * ``best_move``: A winning move: the position after it; ``None`` if there is none, or none is known.
    * ``pn``: The root's proof number while the outcome is unknown.
    * ``dn``: Its disproof number.
    * ``algorithm``: The search, such as ``"dfpn"``.
    * ``threads``: Threads that searched.
    * ``nodes``: Couples evaluated.
    * ``expansions``: Couples expanded, again and again ones included: the papers' iterations.
    * ``lands``: Lands in memory at the end.
    * ``grundy_numbers``: Grundy numbers found.
    * ``seconds``: Wall-clock time.
    * ``memory_bytes``: Bytes of everything.
    """

    position: str
    canonical: str
    nimber: int
    outcome: str
    reason: str | None
    best_move: str | None
    pn: float | None
    dn: float | None
    algorithm: str
    threads: int
    nodes: int
    expansions: int
    lands: int
    grundy_numbers: int
    seconds: float
    memory_bytes: int


# They are documented and pickled as parts of the package.
for _name in __all__:
    globals()[_name].__module__ = "konane"
del _name

"""Results: immutable objects that can be compared, pickled and turned into dictionaries.

Names and values of the fields are those of the program's JSON. ``to_dict`` returns the dictionary. Notebooks display a
result as a table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from . import _konane
from ._errors import InputError

if TYPE_CHECKING:
    from ._konane import Record

__all__ = [
    "Analysis",
    "AnnotatedMove",
    "Annotation",
    "BatchProgress",
    "BuildProgress",
    "Built",
    "JudgedMove",
    "Probe",
    "Progress",
    "Proof",
    "RatedMove",
    "RecordedMove",
    "Solution",
    "SproutsSolution",
    "SumValue",
    "Table",
    "Thermograph",
    "Verification",
]

_Colour = Literal["black", "white"]
_Outcome = Literal["win", "loss", "unknown"]
_Source = Literal["rules", "database", "search"]
_Winner = Literal["black", "white", "unknown"]
_Reason = Literal[
    "node limit", "time limit", "memory", "interrupted", "file error", "contradiction"
]


class _Result:
    """Base class of all results."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary. Results in it are dictionaries, too."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Returns the fields as a table, for notebooks."""
        return _cell(self.to_dict())


def _cell(value: Any) -> str:
    """Returns a value as HTML: a dictionary as a table of its items, dictionaries with equal keys as rows of a table."""
    if isinstance(value, dict):
        rows = [(key, each) for key, each in value.items() if each is not None]
        cells = "".join(f"<tr><th>{escape(key)}</th><td>{_cell(each)}</td></tr>" for key, each in rows)
        return f"<table>{cells}</table>"
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        head = "".join(f"<th>{escape(key)}</th>" for key in value[0])
        rows = ["".join(f"<td>{_cell(cell)}</td>" for cell in each.values()) for each in value]
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
    if isinstance(value, list):
        return " ".join(_cell(each) for each in value)
    return "" if value is None else escape(str(value))


@dataclass(frozen=True, kw_only=True)
class Table(_Result):
    """Use of a transposition table.

    * ``capacity``: Entries that fit.
    * ``used``: Entries in use.
    * ``replaced``: Entries replaced by entries of other positions.
    """

    capacity: int
    used: int
    replaced: int


@dataclass(frozen=True, kw_only=True)
class Progress(_Result):
    """Progress of a search, as ``progress=`` functions receive it.

    * ``seconds``: Wall-clock time since the search began.
    * ``nodes``: Positions evaluated; for Sprouts, couples (a land plus a nim heap).
    * ``expansions``: Positions expanded, repeated expansions included.
    * ``pn``: Proof number of the root for the player to move: 0 if it has won, infinite (a float) if it
      has lost; ``None`` for ``algo="ab"``.
    * ``dn``: Its disproof number: 0 if the player to move has lost, infinite if it has won.
    * ``depth``: Depth of the current iteration of ``algo="ab"``; else ``None``.
    * ``best_move``: The best move so far; ``None`` before there is one, and in Sprouts.
    * ``table``: The transposition table, a ``Table``.
    * ``memory_bytes``: Bytes in use, where the search counts them; else 0.
    * ``grundy_numbers``: Grundy numbers found (Sprouts); else 0.
    """

    seconds: float
    nodes: int
    expansions: int
    pn: float | None
    dn: float | None
    depth: int | None
    best_move: str | None
    table: Table
    memory_bytes: int
    grundy_numbers: int


@dataclass(frozen=True, kw_only=True)
class Solution(_Result):
    """Result of a search of a Konane position.

    * ``board``: Ranks x files.
    * ``position``: The position in which the search began, as text.
    * ``to_move``: The player to move: ``"black"`` or ``"white"``.
    * ``phase``: Kind of the next move: ``"removal"`` or ``"jump"``.
    * ``algorithm``: The search algorithm, such as ``"dfpn"``.
    * ``profile``: Its parameters, ``"tuned"`` or ``"thesis"``.
    * ``threads``: Threads that searched.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``.
    * ``winner``: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``reason``: Reason for an unknown outcome: ``"node limit"``, ``"time limit"`` or ``"memory"``.
    * ``pn``: Proof number of the position for the player to move, while the outcome is unknown;
      ``None`` for ``algo="ab"``.
    * ``dn``: Its disproof number.
    * ``best_move``: A winning move; ``None`` if every move loses. While the outcome is unknown, the best
      move so far, or ``None`` before there is one.
    * ``nodes``: Positions evaluated.
    * ``expansions``: Positions expanded, repeated expansions included.
    * ``leaf_positions``: Positions visited by the leaf solver near the end of games.
    * ``database_hits``: Values taken from the database; ``None`` without one.
    * ``l1_nodes``: Nodes of the first-level tree of ``algo="pn2"`` and ``"pns-pdfpn"``; else ``None``.
    * ``l2_nodes``: Nodes of all second-level searches of these algorithms; else ``None``.
    * ``seconds``: Wall-clock time of the search.
    * ``nodes_per_second``: ``nodes`` divided by ``seconds``.
    * ``memory_bytes``: Bytes of table and tree.
    * ``table``: The transposition table at the end, a ``Table``.
    """

    board: str
    position: str
    to_move: _Colour
    phase: Literal["removal", "jump"]
    algorithm: str
    profile: str
    threads: int
    outcome: _Outcome
    winner: _Winner
    reason: _Reason | None = None
    pn: float | None = None
    dn: float | None = None
    best_move: str | None
    nodes: int
    expansions: int
    leaf_positions: int
    database_hits: int | None = None
    l1_nodes: int | None = None
    l2_nodes: int | None = None
    seconds: float
    nodes_per_second: float
    memory_bytes: int
    table: Table


@dataclass(frozen=True, kw_only=True)
class Proof(_Result):
    """Result of :func:`konane.prove`.

    * ``solution``: The search, a ``Solution``.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``; known also if the file
      could not be written.
    * ``winner``: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``path``: The file; ``None`` if it was not written.
    * ``positions``: Positions in the file.
    * ``bytes``: Length of the file.
    * ``searched_again``: Positions that had to be searched again.
    * ``reason``: Reason why there is no file: a limit, such as ``"time limit"``, or an error of the file,
      such as a full disk.
    * ``seconds``: Wall-clock time of search, collecting and writing.
    """

    solution: Solution
    outcome: _Outcome
    winner: _Winner
    path: str | None
    positions: int | None
    bytes: int | None
    searched_again: int | None
    reason: str | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Verification(_Result):
    """Result of :func:`konane.verify_proof`.

    * ``valid``: True if the file proves its claim.
    * ``problem``: The first error of the proof; ``None`` if it is valid.
    * ``board``: Ranks x files.
    * ``root``: The position that the proof is about.
    * ``winner``: The claimed winner: ``"black"`` or ``"white"``.
    * ``positions``: Positions in the file.
    * ``answered``: Moves of the loser to which the proof has a reply.
    * ``bytes``: Length of the file.
    * ``seconds``: Wall-clock time.
    """

    valid: bool
    problem: str | None
    board: str
    root: str
    winner: _Colour
    positions: int
    answered: int
    bytes: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class RatedMove(_Result):
    """Value of a move, in ``Probe.moves``.

    * ``move``: The move.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player who makes it.
    * ``remoteness``: Plies to the end with best play, this move included; ``None`` if the database stores
      outcomes only.
    """

    move: str
    outcome: Literal["win", "loss"]
    remoteness: int | None = None


@dataclass(frozen=True, kw_only=True)
class Probe(_Result):
    """Values of a position and its moves from a database.

    * ``board``: Ranks x files.
    * ``position``: The position, as text.
    * ``to_move``: The player to move: ``"black"`` or ``"white"``.
    * ``phase``: Kind of the next move: ``"removal"`` or ``"jump"``.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move.
    * ``winner``: ``"black"`` or ``"white"``.
    * ``remoteness``: Plies to the end with best play; ``None`` if the database stores outcomes only.
    * ``class_``: Outcome class: ``"L"`` (Black wins), ``"R"`` (White wins), ``"N"`` (the next player wins) or ``"P"``
      (the previous player wins); ``None`` in the removal phase, and if the database does not contain the position with
      both sides to move.
    * ``moves``: All moves, each a ``RatedMove``, winning moves first. With the remoteness, winning moves are
      sorted from the quickest to the longest, and losing ones from the longest to the quickest.
    """

    board: str
    position: str
    to_move: _Colour
    phase: Literal["removal", "jump"]
    outcome: Literal["win", "loss"]
    winner: _Colour
    remoteness: int | None = None
    class_: Literal["L", "R", "N", "P"] | None = None
    moves: list[RatedMove]

    @property
    def best_move(self) -> str | None:
        """A move that keeps the outcome; ``None`` if there is no move."""
        return self.moves[0].move if self.moves else None


@dataclass(frozen=True, kw_only=True)
class JudgedMove(_Result):
    """Value of a move, in ``Analysis.moves``.

    * ``move``: The move.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player who makes it, or ``"unknown"``.
    * ``source``: Origin of the value: ``"rules"``, ``"database"`` or ``"search"``; ``None`` if it is unknown.
    * ``remoteness``: Plies to the end with best play, this move included; ``None`` if unknown.
    * ``replies``: Number of moves of the opponent after the move.
    * ``after``: The position after the move, as text.
    """

    move: str
    outcome: _Outcome
    source: _Source | None = None
    remoteness: int | None = None
    replies: int
    after: str


@dataclass(frozen=True, kw_only=True)
class Analysis(_Result):
    """Values of a position and of each of its moves, with a line of best play.

    * ``board``: Ranks x files.
    * ``position``: The position, as text.
    * ``to_move``: The player to move: ``"black"`` or ``"white"``.
    * ``phase``: Kind of the moves: ``"removal"`` or ``"jump"``.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``.
    * ``winner``: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``source``: Origin of the value: ``"rules"``, ``"database"`` or ``"search"``; ``None`` if it is unknown.
    * ``remoteness``: Plies to the end with best play; ``None`` if unknown.
    * ``class_``: Outcome class: ``"L"``, ``"R"``, ``"N"`` or ``"P"`` (``SumValue.class_``); ``None`` unless a database
      has the values of the position with both sides to move.
    * ``verdict``: The result in a sentence.
    * ``complete``: True if the values of the position and of every move are known.
    * ``reason``: Reason for an unknown value, such as ``"time limit"``; ``None`` if all values are known.
    * ``code``: The position's code (``Position.code``).
    * ``moves``: All moves, each a ``JudgedMove``: winning ones first, the quickest at the head; then losing ones,
      the longest resistance at the head; then those with unknown outcome.
    * ``line``: Moves of best play, as far as they are decided.
    """

    board: str
    position: str
    to_move: _Colour
    phase: Literal["removal", "jump"]
    outcome: _Outcome
    winner: _Winner
    source: _Source | None = None
    remoteness: int | None = None
    class_: Literal["L", "R", "N", "P"] | None = None
    verdict: str
    complete: bool
    reason: _Reason | None = None
    code: int
    moves: list[JudgedMove]
    line: list[str]


@dataclass(frozen=True, kw_only=True)
class RecordedMove(_Result):
    """Move of a game, in ``Record.moves``.

    * ``move``: The move.
    * ``mark``: ``"?"`` if it gives a won game away, ``"!"`` if it is the only legal or the only winning one, ``"~"`` if
      its outcome is unknown; else ``None``.
    * ``comments``: Comments after the move.
    """

    move: str
    mark: Literal["?", "!", "~"] | None
    comments: list[str]


@dataclass(frozen=True, kw_only=True)
class AnnotatedMove(_Result):
    """Judged move, in ``Annotation.moves``.

    * ``ply``: Number of the ply, from 1.
    * ``side``: The player who makes the move: ``"black"`` or ``"white"``.
    * ``move``: The move.
    * ``mark``: The mark, as in a ``RecordedMove``.
    * ``before``: Winner of the position before the move: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``after``: Winner of the position after the move.
    * ``better``: For a mistake: moves that would have won; else ``None``.
    """

    ply: int
    side: _Colour
    move: str
    mark: Literal["?", "!", "~"] | None
    before: _Winner
    after: _Winner
    better: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Annotation(_Result):
    """Judged moves of a game: result of ``Record.annotate``.

    * ``board``: Ranks x files.
    * ``position``: The first position, as text.
    * ``phase``: Kind of the first move: ``"removal"`` or ``"jump"``.
    * ``black``: Name of the player of Black; ``None`` if it is unknown.
    * ``white``: Name of the player of White.
    * ``result``: The winner of the game: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``moves``: The moves, each an ``AnnotatedMove``.
    * ``summary``: For ``"black"`` and ``"white"``, the numbers of ``moves``, ``mistakes``, ``only`` moves and
      ``unknown`` moves.
    * ``reason``: The limit that left moves undecided, such as ``"time limit"``.
    * ``text``: The record with marks and comments, as text.
    """

    board: str
    position: str
    phase: Literal["removal", "jump"]
    black: str | None
    white: str | None
    result: _Winner
    moves: list[AnnotatedMove]
    summary: dict[str, dict[str, int]]
    reason: _Reason | None = None
    text: str

    @property
    def record(self) -> Record:
        """The record with marks and comments."""
        return _konane.Record.parse(self.text)


@dataclass(frozen=True, kw_only=True)
class BatchProgress(_Result):
    """Progress of a call for a list, as ``progress=`` functions receive it.

    * ``seconds``: Wall-clock time since it began.
    * ``done``: Positions done.
    * ``total``: All positions.
    """

    seconds: float
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class BuildProgress(_Result):
    """Progress of a build, as ``progress=`` functions receive it.

    * ``seconds``: Wall-clock time since it began.
    * ``stage``: The current work, in words.
    * ``done``: Positions done.
    * ``total``: All positions; 0 while their number is unknown.
    """

    seconds: float
    stage: str
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Built(_Result):
    """Result of :func:`konane.build_database`.

    * ``board``: Ranks x files.
    * ``scope``: ``"complete"`` or ``"reachable"``.
    * ``metric``: ``"outcome"`` or ``"remoteness"``.
    * ``max_stones``: Maximum number of stones of the positions.
    * ``directory``: The directory of the files, for :meth:`konane.Database.open`.
    * ``positions``: Positions whose value is known: sets of stones with either side to move.
    * ``black_to_move_wins``: Positions with Black to move that Black wins.
    * ``white_to_move_wins``: Positions with White to move that White wins.
    * ``histogram``: With the remoteness: for ``"black"`` and ``"white"`` to move, the numbers of positions
      of remoteness 0, 1, ... that ``Database.probe`` answers. ``positions`` counts every set of stones.
    * ``bytes``: Bytes of the files.
    * ``seconds``: Wall-clock time of this call.
    * ``layers_found``: Layers that an earlier build had finished; all layers if the database was
      complete.
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


@dataclass(frozen=True, kw_only=True)
class SproutsSolution(_Result):
    """Result of a search of a Sprouts position.

    * ``position``: The position as it was given.
    * ``canonical``: Its canonical form.
    * ``nimber``: Size of the nim heap that is added to it.
    * ``misere``: True if the player who makes the last move loses.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``.
    * ``reason``: Reason for an unknown outcome.
    * ``pn``: Proof number of the position for the player to move, while the outcome is unknown.
    * ``dn``: Its disproof number.
    * ``best_move``: The position after a winning move; ``None`` if there is none or it is unknown.
    * ``algorithm``: The search algorithm, such as ``"dfpn"``.
    * ``profile``: Its parameters, ``"tuned"``.
    * ``heuristic``: True if ties between moves are broken by the order of the paper.
    * ``threads``: Threads that searched.
    * ``jobs``: Jobs of ``algo="pns-pdfpn"``; else ``None``.
    * ``nodes``: Couples (a land plus a nim heap) evaluated.
    * ``expansions``: Couples expanded, repeated expansions included: the iterations of the papers.
    * ``generated``: Lands whose moves were generated.
    * ``lands``: Lands in memory at the end.
    * ``grundy_numbers``: Grundy numbers found.
    * ``seconds``: Wall-clock time.
    * ``expansions_per_second``: ``expansions`` divided by ``seconds``.
    * ``memory_bytes``: Memory of the table, positions, moves and Grundy numbers, in bytes.
    * ``collections``: Number of garbage collections, one each time that the memory was full.
    * ``table``: The table of open couples, a ``Table``.
    """

    position: str
    canonical: str
    nimber: int
    misere: bool = False
    outcome: _Outcome
    reason: _Reason | None = None
    pn: float | None = None
    dn: float | None = None
    best_move: str | None
    algorithm: str
    profile: str
    heuristic: bool
    threads: int
    jobs: int | None = None
    nodes: int
    expansions: int
    generated: int
    lands: int
    grundy_numbers: int
    seconds: float
    expansions_per_second: float
    memory_bytes: int
    collections: int
    table: Table


@dataclass(frozen=True, kw_only=True)
class SumValue(_Result):
    """Value of a position, or of a sum of positions and other games. Numbers are texts such as ``"-5/4"``.

    * ``board``: Ranks x files; ``None`` for a sum of several terms.
    * ``position``: The position, as text; ``None`` for a sum of several terms.
    * ``terms``: The terms of a sum, as texts; ``None`` for a single position.
    * ``to_move``: The player to move: ``"black"`` or ``"white"``.
    * ``phase``: Kind of the next move, ``"jump"``; ``None`` for a sum of several terms.
    * ``value``: The canonical form in the notation of CGSuite, or ``"unknown"``. Black is Left.
    * ``class_``: Outcome class: ``"L"`` (Black wins), ``"R"`` (White wins), ``"N"`` (the next player wins) or ``"P"``
      (the previous player wins); ``None`` if it is unknown.
    * ``outcome``: ``"win"`` or ``"loss"`` for the player to move, or ``"unknown"``.
    * ``winner``: ``"black"``, ``"white"`` or ``"unknown"``.
    * ``reason``: Reason for an unknown value: ``"node limit"``, ``"time limit"`` or ``"memory"``.
    * ``mean``: Mean value; ``None`` if it is unknown.
    * ``temperature``: Temperature; ``None`` if it is unknown.
    * ``left_stop``: Number at which play ends if Black begins; ``None`` if it is unknown.
    * ``right_stop``: Number at which play ends if White begins; ``None`` if it is unknown.
    * ``components``: Independent regions of the positions, and games: dictionaries with ``term`` (in a sum),
      ``squares``, ``value``, ``mean`` and ``temperature``.
    * ``moves``: The moves of the player to move, winning moves first: dictionaries with ``term`` (in a sum),
      ``move``, ``outcome``, and the ``value`` of the component after the move.
    * ``nodes``: Positions evaluated.
    * ``games``: Different canonical forms among their values and the positions of these.
    * ``memory_bytes``: Bytes of memory.
    * ``seconds``: Wall-clock time.
    """

    board: str | None = None
    position: str | None = None
    terms: list[str] | None = None
    to_move: _Colour
    phase: Literal["jump"] | None = None
    value: str
    class_: Literal["L", "R", "N", "P"] | None
    outcome: _Outcome
    winner: _Winner
    reason: _Reason | None = None
    mean: str | None
    temperature: str | None
    left_stop: str | None
    right_stop: str | None
    components: list[dict[str, Any]]
    moves: list[dict[str, Any]]
    nodes: int
    games: int
    memory_bytes: int
    seconds: float

    def thermograph(self) -> Thermograph:
        """Returns the thermograph, which notebooks display as a picture.

        Raises ``InputError`` if there is none: the value is unknown, or its text is cut off because it is too long.
        """
        if self.reason is not None:
            raise InputError(f"the value is unknown, so it has no thermograph: {self.reason}; raise the limit")
        if "…" in self.value:
            raise InputError("the text of the value is cut off, so it has no thermograph: it has more than a million bytes")
        return _konane.thermograph(self.value)


@dataclass(frozen=True, kw_only=True)
class Thermograph(_Result):
    """Thermograph of a value. Numbers are texts such as ``"-5/4"``.

    * ``left``: Left wall: points of a temperature and the left stop of the value cooled by it. The wall is straight
      between two points, and vertical above the last one: there is the mast.
    * ``right``: Right wall, with the right stops.
    * ``mean``: Mean value, the place of the mast.
    * ``temperature``: Temperature, at which the walls meet. That of a number is negative.
    * ``svg``: Picture as SVG, with numbers that are good for Left (Black) on the left.
    """

    left: list[tuple[str, str]]
    right: list[tuple[str, str]]
    mean: str
    temperature: str
    svg: str

    def _repr_html_(self) -> str:
        """Returns the picture, for notebooks."""
        return self.svg


# The classes are documented and pickled as parts of the package.
for _name in __all__:
    globals()[_name].__module__ = "konane"
del _name

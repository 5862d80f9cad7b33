from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._results import (
    Analysis,
    Annotation,
    BatchProgress,
    BuildProgress,
    Built,
    Probe,
    Progress,
    Proof,
    RecordedMove,
    Solution,
    SproutsSolution,
    SumValue,
    Thermograph,
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
    "Record",
    "__version__",
    "analyse",
    "analyse_many",
    "build_database",
    "bytes_text",
    "count",
    "counted",
    "divide",
    "line",
    "memory_bytes",
    "perft",
    "prove",
    "run_task",
    "seconds",
    "short",
    "solve",
    "solve_many",
    "sprouts_canonical",
    "sprouts_children",
    "sprouts_draw",
    "sprouts_grundy",
    "sprouts_solve",
    "thermograph",
    "time_limit",
    "time_text",
    "value",
    "value_many",
    "verify_proof",
]

__version__: str

_Algorithm = Literal["dfpn", "pns", "pn2", "pns-pdfpn", "ab"]
_Path = str | PathLike[str]

@final
class Position:
    """Position of Konane. It is immutable: a move returns a new position.

    `board` is ranks x files, such as ``"6x6"``, of up to 64 squares. `text` is the position in the
    notation of the program: ranks from the top with ``/`` between them, ``x`` for Black, ``o`` for
    White, a number for that many empty squares, then ``b`` or ``w`` for the side to move; it defaults
    to the start. `moves` are played from there: ``"a6 a5"``, or a list of such texts.

    `phase` is ``"auto"`` if the number of empty squares determines the phase. With ``"jump"``, or with the word
    ``jump`` at its end, `text` is a position in the jumping phase: ``Position("1x3", "1ox b jump")``. In this phase
    all stones may stand on squares of the other colour, as in ``"1xoxo1 b"``. Diagrams are read, one rank per line.

    Positions are equal if their boards, stones, sides to move and phases are. They can be pickled and
    used as keys of dictionaries. Raises ``InputError`` for a text that is not a position, with the
    place and the reason.
    """

    def __new__(
        cls,
        board: str,
        text: str | None = None,
        phase: Literal["auto", "jump"] = "auto",
        *,
        moves: str | Iterable[str] | None = None,
    ) -> Position:
        """Creates an object; see the class."""
    @classmethod
    def from_code(cls, board: str, code: int) -> Position:
        """Returns the position of a code. Codes of positions that are not canonical are accepted, too.
        Raises ``InputError`` for a number that is not the code of a position.
        """
    @property
    def board(self) -> str:
        """Board: ranks x files, such as ``"6x6"``."""
    @property
    def to_move(self) -> Literal["black", "white"]:
        """Side to move: ``"black"`` or ``"white"``."""
    @property
    def code(self) -> int:
        """Exact canonical code, an integer below 2**64.

        Two positions of a board have the same code if and only if a symmetry maps one to the other; then they have
        the same value. On boards with an even side, after both removals, this includes the symmetries that
        exchange the colours and the side to move. ``probe_many`` takes these codes. Do not look up codes of
        positions with fewer than two empty squares in the jumping phase, or with stones on squares of the other
        colour: in a database, these codes belong to other positions.
        """
    @property
    def occupied(self) -> int:
        """Occupied squares as an integer: bit 0 is the top left square, the next bits follow along the ranks."""
    @property
    def is_over(self) -> bool:
        """True if the side to move has no legal move, and has lost."""
    def moves(self) -> list[str]:
        """Returns the legal moves as a list of texts in a fixed order: ``"e4"`` removes a stone, ``"c3-g3"`` jumps."""
    def play(self, move: str) -> Position:
        """Returns the position after a move. Raises ``InputError`` for an illegal move, and names the rule."""
    def squares(self) -> list[tuple[str, Literal["black", "white"] | None]]:
        """Returns the squares as a list of pairs of a name and a stone, ``"black"``, ``"white"`` or ``None``: from the top
        left square along the ranks, as the bits of ``occupied``.
        """
    def planes(self) -> NDArray[np.int8]:
        """Returns an array of ``int8`` of the shape 3 x ranks x files, as input of a neural network: ones for the stones
        of the player to move, then for those of the other player, then for empty squares. The first rank is the top
        one.
        """
    def svg(self) -> str:
        """Returns a picture as SVG: the board, its stones, and the last move if this position was made by `play` or
        with `moves`.
        """
    def _repr_svg_(self) -> str:
        """Returns a picture as SVG, for notebooks."""
    def __eq__(self, other: object, /) -> bool:
        """Compares board, stones, side to move and phase."""
    def __ne__(self, other: object, /) -> bool:
        """Negates ``==``."""
    def __hash__(self) -> int:
        """Returns a hash that agrees with ``==``."""
    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling."""

@final
class Record:
    """Record of a game: the players, the first position, the moves with marks and comments, and the result. It is
    immutable.

    ``Record("6x6", moves="a6 a5")`` is a new record. `board` is a board (``"6x6"``) or the first ``Position``, `moves`
    a text or a list of texts, `black` and `white` are the names of the players. The result is known if the game is
    over. ``Record.read`` and ``Record.parse`` read a file and a text, ``str(record)`` is the text of the file. Raises
    ``InputError`` for an illegal move.
    """

    def __new__(
        cls,
        board: Position | str,
        *,
        moves: str | Iterable[str] | None = None,
        black: str | None = None,
        white: str | None = None,
    ) -> Record:
        """Creates an object; see the class."""
    @classmethod
    def read(cls, path: _Path, *, board: str | None = None, flip_ranks: bool = False) -> Record:
        """Reads the file of a record, also one of another program.

        `board` is the board of a record that does not name it. With `flip_ranks`, rank 1 of the record is the top rank;
        by default, the record determines this. Raises ``FileError`` if the file cannot be read, and ``InputError`` with
        line and character if it is not the record of a legal game.
        """
    @classmethod
    def parse(cls, text: str, *, board: str | None = None, flip_ranks: bool = False) -> Record:
        """Reads the text of a record. Arguments and errors are those of ``read``."""
    def write(self, path: _Path) -> None:
        """Writes the record to a file. An existing file is replaced when the new one is complete. Raises ``FileError`` if
        the file cannot be written.
        """
    @property
    def board(self) -> str:
        """Board: ranks x files."""
    @property
    def black(self) -> str | None:
        """Name of the player of Black; ``None`` if it is unknown."""
    @property
    def white(self) -> str | None:
        """Name of the player of White; ``None`` if it is unknown."""
    @property
    def result(self) -> Literal["black", "white", "unknown"]:
        """Winner by the rules or by resignation: ``"black"``, ``"white"`` or ``"unknown"``."""
    @property
    def headers(self) -> dict[str, str]:
        """All other headers, such as ``{"Site": "Honolulu"}``."""
    @property
    def comments(self) -> list[str]:
        """Comments before the first move."""
    @property
    def moves(self) -> list[RecordedMove]:
        """Moves, each a ``RecordedMove``."""
    def positions(self) -> list[Position]:
        """Returns the positions of the game as a list, from the first one to the one after the last move."""
    def annotate(
        self,
        *,
        time_limit: float | str | None = 1.0,
        max_nodes: int | None = None,
        threads: int | None = None,
        memory: int | str | None = "1GiB",
        db: Database | _Path | None = None,
        comment_all: bool = False,
        progress: Callable[[BatchProgress], object] | None = None,
        interval: float | str | None = 0.1,
    ) -> Annotation:
        """Judges every move of the game: returns an ``Annotation``, with the record with marks and comments.

        `time_limit` and `max_nodes` are limits for each position. Moves that are not decided within them have the mark
        ``~``. Mistakes and only moves get a comment, or all moves with `comment_all`. `progress` is called with a
        ``BatchProgress``, which counts positions, at most every `interval` seconds, and once at the end. The other
        arguments and the errors are those of ``analyse``.
        """
    def __eq__(self, other: object, /) -> bool:
        """Compares all parts of the records."""
    def __ne__(self, other: object, /) -> bool:
        """Negates ``==``."""
    def __hash__(self) -> int:
        """Returns a hash that agrees with ``==``."""
    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling."""

@final
class Database:
    """Database of positions and their outcomes, made by ``build_database``. Any number of threads can use it.
    ``Database.find`` and ``Database.open`` return one.

    Chunks of the files are read when they are needed, and their checksums are verified. A forked process opens
    the files again.
    """

    @staticmethod
    def find(directory: _Path | list[_Path] | tuple[_Path, ...], board: str, *, cache: int | str | None = "64MiB") -> Database:
        """Opens the database of a board (``"5x6"``) in a directory: the directory itself, or a subdirectory
        with a name that ``build_database`` gives. A complete database is preferred, then one of reachable positions,
        then the one with the largest ``max_stones``. Of several such databases, one with the remoteness is preferred.
        Of several directories, the first with a database of the board is used.

        `cache` limits the memory for chunks that have been read: bytes, or a text such as ``"1GiB"``.
        Raises ``FileError`` if there is no database of the board or if it is damaged, and ``InputError`` if the
        directory is a database of another board.
        """
    @staticmethod
    def open(directory: _Path, *, cache: int | str | None = "64MiB") -> Database:
        """Opens the database whose files are in a directory. Arguments and errors are those of ``find``."""
    def __enter__(self) -> Database:
        """Returns the database, for use in a ``with`` statement."""
    def __exit__(self, *_error: object) -> None:
        """Does nothing: the files are closed with the last reference to the database."""
    @property
    def directory(self) -> str:
        """Directory of its files, as an absolute path."""
    @property
    def board(self) -> str:
        """Board: ranks x files."""
    @property
    def scope(self) -> Literal["complete", "reachable"]:
        """Positions in the database: ``"complete"`` for every set of stones with either side to move, ``"reachable"``
        for those that games from the start can reach.
        """
    @property
    def metric(self) -> Literal["outcome", "remoteness"]:
        """Value of each position: ``"outcome"`` for the winner only, ``"remoteness"`` for the winner and the number
        of plies to the end.
        """
    @property
    def max_stones(self) -> int:
        """Maximum number of stones of its positions."""
    def probe(self, position: Position | str) -> Probe:
        """Returns the outcome of a ``Position`` (or of a board's start) and of every move, as a ``Probe``.

        Takes a look-up of some microseconds for the position and for every move. Raises ``InputError``
        if the database does not cover the position, ``FileError`` if a file is damaged.
        """
    def probe_many(
        self,
        codes: ArrayLike | Sequence[Position],
        *,
        metric: Literal["outcome", "remoteness"] = "outcome",
        threads: int | None = None,
    ) -> NDArray[np.int8]:
        """Looks up many positions and returns an array of ``int8`` of the same shape as `codes`: 1 if the side to
        move wins, 0 if it loses, and -1 if the database has no value.

        `codes` is an array or a list of codes (``Position.code``) or of ``Position`` objects. Arrays have any
        integer type, shape, strides and byte order; floats are accepted if they are exactly codes. With
        ``metric="remoteness"``, the values are remotenesses, which are odd if the side to move wins.

        There is no value for too many stones, for a number that is not a code of the board, and in a database of
        reachable positions for others. `threads` defaults to all cores. A thread looks up some 150 000 to 500 000
        positions a second, in any order. One large array is faster than many small ones. It is copied first, so
        other threads may change it during the call.

        Raises ``TypeError`` for masked arrays and other types, ``InputError`` for numbers that are not codes,
        positions of other boards, and remotenesses that the database does not have, and ``FileError`` if a file is
        damaged.
        """
    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling."""

def solve(
    board: Position | str,
    *,
    algo: _Algorithm = "dfpn",
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | str | None = 0.1,
    profile: Literal["tuned", "thesis"] = "tuned",
) -> Solution:
    """Solves a board (``"6x6"``) or a ``Position``: returns a ``Solution`` with the outcome, the winner
    and a winning move.

    `algo` is ``"dfpn"``, ``"pns"``, ``"pn2"``, ``"pns-pdfpn"`` or ``"ab"``. `threads` defaults to all
    cores; ``"pns"`` and ``"ab"`` use one. `memory` is a number of bytes or a text such as
    ``"512MiB"``, at least 1 MiB. `time_limit` is a number of seconds or a text such as ``"1m30s"``, `max_nodes` a
    number of positions. `db` is a ``Database`` of the board, or a directory that contains one; positions
    in it are not searched. `profile="thesis"` selects the published parameters.

    `progress` is called with a ``Progress`` on the calling thread, at most every `interval` seconds
    (at least 0.01), and once at the end. An exception that it raises ends the search.

    Time grows by orders of magnitude with the board: 6x6 takes less than a tenth of a second on one
    core, 7x7 about a second, and 8x7 about 9 minutes on two cores with 6 GiB. When a limit is reached,
    ``outcome`` is ``"unknown"`` and ``reason`` names the limit. Ctrl-C ends the search within
    milliseconds with ``KeyboardInterrupt``.

    Raises ``TypeError`` and ``InputError`` for wrong arguments, ``FileError`` if the database is
    missing or damaged, and ``ResourceError`` if the memory is not available.
    """
def solve_many(
    positions: Iterable[Position | str],
    *,
    algo: _Algorithm = "dfpn",
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[BatchProgress], object] | None = None,
    interval: float | str | None = 0.1,
    profile: Literal["tuned", "thesis"] = "tuned",
) -> list[Solution]:
    """Solves each of many boards and positions: returns a list of ``Solution`` in the same order.

    `positions` is an iterable of ``Position`` objects and boards, such as a list or a column of a table. Each is
    searched on one thread, and `threads` of them at a time. `memory` is that of all threads together. A thread keeps
    its table for the next position of the same board, so the counters of a ``Solution`` depend on the positions before
    it. `time_limit` and `max_nodes` are limits for each position. `db` is a directory with databases of the boards, or
    a ``Database``.

    `progress` is called with a ``BatchProgress`` at most every `interval` seconds, and once at the end. The other
    arguments are those of ``solve``, and so are the errors, which begin with the index of the position, such as
    ``positions[3]``. Ctrl-C ends all searches.
    """
def analyse(
    board: Position | str,
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
) -> Analysis:
    """Evaluates a board (``"6x6"``) or a ``Position`` and each of its moves: returns an ``Analysis``, with a line
    of best play.

    Values come from the rules, from `db` (a ``Database`` of the board, or a directory that contains one), and
    from a search. When a limit is reached, the remaining values are ``"unknown"``, ``reason`` names the limit, and
    the line ends where play is no longer decided. `time_limit` is a number of seconds or a text such as
    ``"1m30s"``. `max_nodes` applies to all searches together. Without limits, every value is found, which takes longer
    than ``solve``. The remoteness comes from `db`, or from a search of less than a second, which finds it in positions
    with few stones.

    The other arguments and the errors are those of ``solve``.
    """
def analyse_many(
    positions: Iterable[Position | str],
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[BatchProgress], object] | None = None,
    interval: float | str | None = 0.1,
) -> list[Analysis]:
    """Evaluates each of many boards and positions, and their moves: returns a list of ``Analysis`` in the same order.

    Positions, threads, memory, limits, progress and errors are those of ``solve_many``, results and `db` those of
    ``analyse``. `max_nodes` and `time_limit` apply to each position with its moves and its line. The remoteness is not
    searched, because that may take longer than the rest.
    """
def line(
    board: Position | str,
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
) -> list[str]:
    """Returns a line of best play from a board (``"6x6"``) or a ``Position`` as a list of moves: the winner wins as
    fast as known, the loser resists as long as known.

    The line ends where no move is left, or at the first position that is not decided within the limits.
    `max_nodes` and `time_limit` apply to the whole line. The other arguments and the errors are those of ``solve``.
    The length of the line is exact if the remoteness is known, from `db` or by the search of ``analyse``.
    """
def prove(
    board: Position | str,
    path: _Path,
    *,
    algo: _Algorithm = "dfpn",
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    db: Database | _Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | str | None = 0.1,
    profile: Literal["tuned", "thesis"] = "tuned",
) -> Proof:
    """Solves a board (``"6x6"``) or a ``Position`` and writes a proof file, by which the winner can be
    checked independently: returns a ``Proof``. An existing file is replaced when the new one is complete.

    The other arguments, the errors and the cost are those of ``solve``; collecting the positions takes
    about as long again. If a limit is reached, or the disk is full, no file is written, and ``reason``
    names the cause. Raises ``FileError`` before the search if the file cannot be created.
    """
def verify_proof(
    path: _Path, *, threads: int | None = None, memory: int | str | None = None
) -> Verification:
    """Checks a proof file by the rules of the game alone, without the solver: returns a ``Verification``.
    If a readable file does not prove its claim, ``valid`` is false, and ``problem`` describes the first error.

    Takes about 10 microseconds and up to 24 bytes for each position. `threads` defaults to all cores,
    `memory` to what the system has available. Raises ``FileError`` if the file is missing, damaged or
    not a proof, and ``ResourceError`` if it does not fit into the memory.
    """
def value(
    *terms: Position | str,
    memory: int | str | None = None,
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
) -> SumValue:
    """Computes the value of a sum of games: canonical form, outcome class, mean, temperature, stops, components, and the
    moves of the player to move. Black is Left. Returns a ``SumValue``.

    Each term is a ``Position`` in the jumping phase, or a text in the notation of CGSuite, such as ``"{2|-1}"`` or
    ``"*2"``. The player to move is that of the first position, or Black.

    If `memory` (default 1 GiB), `time_limit` (seconds, or a text such as ``"1m30s"``) or `max_nodes` (positions) is
    reached, the value is ``"unknown"``, with a reason. Ctrl-C ends the call.
    """
def value_many(
    positions: Iterable[Position | str | Sequence[Position | str]],
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    progress: Callable[[BatchProgress], object] | None = None,
    interval: float | str | None = 0.1,
) -> list[SumValue]:
    """Computes the value of each of many sums: returns a list of ``SumValue`` in the same order.

    Each item of `positions` is a term, or a tuple or list of the terms of a sum, as for ``value``. Threads, memory,
    limits, progress and errors are those of ``solve_many``.
    """
def thermograph(text: str) -> Thermograph:
    """Computes the thermograph of a game in the notation of CGSuite: returns a ``Thermograph``.

    Raises ``InputError`` for a text that is not a game, or if a number in the thermograph does not fit into 64 bits.
    """
def perft(
    board: Position | str,
    depth: int,
    *,
    threads: int | None = None,
    unique: bool = False,
    symmetry: bool = True,
    memory: int | str | None = None,
) -> list[int]:
    """Counts the move sequences of 1, 2, ... `depth` plies (at most 64) from a board (``"8x8"``) or a
    ``Position``: returns a list of `depth` integers.

    With `unique`, counts the positions that are first reached at each ply instead. Symmetric positions count as
    one, unless `symmetry=False`. They are stored in memory, some 30 bytes each. `memory` (bytes, or a
    text such as ``"4GiB"``) limits it and defaults to what the system has available; ``ResourceError``
    is raised if it does not suffice. `threads` defaults to all cores.

    Equal positions of a ply are expanded once and counted with their multiplicity, so about a thousand million
    sequences are counted per second and thread. Without memory for a list of the positions, it takes longer.
    Raises ``ResourceError`` if a count exceeds 64 bits. Ctrl-C ends the call.
    """
def divide(
    board: Position | str, depth: int, *, threads: int | None = None
) -> dict[str, int]:
    """Counts the move sequences of `depth` plies (from 1 to 64) by their first move: returns a dictionary
    from moves to counts, in the order of ``Position.moves``.
    """
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
    interval: float | str | None = 0.1,
) -> Built:
    """Computes the values of all positions of a board (``"5x5"``) and writes them into a directory within
    `directory`: returns a ``Built``, which names it. Finished files of an earlier build are reused.

    `scope="reachable"` limits the database to positions that games reach; `max_stones` limits a complete
    one to positions with at most this number of stones. `metric="remoteness"` also stores the number of plies to
    the end with best play: the winner wins as fast as possible, the loser delays. `memory` limits the memory:
    bytes, or a text such as ``"4GiB"``; it defaults to what the system has available. `threads` defaults to all
    cores. `progress` is called with a ``BuildProgress`` at most every `interval` seconds; an exception in it ends
    the build.

    5x5 takes a second, 6x6 half a minute and 10.5 GiB. Ctrl-C ends the build; the same call continues
    it. Raises ``ResourceError`` before anything is written if memory or disk space do not suffice, and
    ``InputError`` for arguments with which no database can be built.
    """
def sprouts_solve(
    text: str,
    *,
    algo: Literal["dfpn", "pns", "pns-pdfpn"] = "dfpn",
    nimber: int = 0,
    misere: bool = False,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | str | None = 0.1,
) -> SproutsSolution:
    """Solves a position of Sprouts, such as ``"0*12"`` for twelve spots, or its sum with the nim heap
    `nimber` (at most 1000): returns a ``SproutsSolution`` for the player to move.

    `algo` is ``"dfpn"``, ``"pns"`` (one thread) or ``"pns-pdfpn"``. `threads` defaults to all cores.
    `memory` is a number of bytes or a text such as ``"4GiB"``, `time_limit` a number of seconds or a
    text such as ``"1m30s"``. `progress` is called with a ``Progress`` at most every `interval` seconds, and once at the
    end; an exception that it raises ends the search.

    With `misere`, the player who makes the last move loses. Then `algo` is ``"dfpn"`` and `nimber` is 0.

    Twenty-nine spots take some seconds, 47 a minute. When a limit is reached, ``outcome`` is
    ``"unknown"`` and ``reason`` names the limit. Raises ``InputError`` with the place of the error for a text that
    is not a position.
    """
def sprouts_grundy(
    text: str,
    *,
    threads: int | None = None,
    memory: int | str | None = "1GiB",
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    interval: float | str | None = 0.1,
) -> int:
    """Returns the Grundy number of a position: the size of the nim heap that is equal to it.

    Arguments and errors are those of ``solve``, except that reaching a limit raises ``LimitError`` with a
    ``reason``. Takes longer than the outcome: seconds for twelve spots.
    """
def sprouts_children(text: str) -> list[str]:
    """Returns the positions after each move as a sorted list of texts in canonical form, without duplicates.

    Takes microseconds to milliseconds for usual positions. Raises ``ResourceError`` if there are more
    than four million moves, and ``InputError`` for a text that is not a position.
    """
def sprouts_canonical(text: str) -> str:
    """Returns the canonical form of a position, which is the same for all notations of the position.

    Raises ``InputError`` with the place of the error for a text that is not a position.
    """
def sprouts_draw(text: str) -> str:
    """Returns a picture of a position as SVG: a panel for each region, a circle for each boundary.

    Raises ``InputError`` with the place of the error for a text that is not a position.
    """

# Parts of konane.cluster: a coordinator and workers that exchange bytes.

@final
class ClusterDelivery:
    """Reply to a worker.

    ``job`` is ``None`` if there is nothing to search; then ``over`` is true if the search has ended. ``last`` is the
    worker that has entries below ``node``.
    """

    @property
    def worker(self) -> int:
        """Number of the worker."""
    @property
    def reply(self) -> bytes:
        """Reply for the worker."""
    @property
    def job(self) -> int | None:
        """Job of the reply; ``None`` if there is nothing to search."""
    @property
    def node(self) -> bytes | None:
        """Node of the job, if another worker has entries below it."""
    @property
    def last(self) -> int | None:
        """Worker that has entries below ``node``."""
    @property
    def over(self) -> bool:
        """True if the search has ended."""

@final
class ClusterStatus:
    """State of a search: numbers of the root, nodes of all workers, nodes of the coordinator's tree, assigned jobs, and
    results shared with all workers.
    """

    @property
    def pn(self) -> float:
        """Proof number of the root."""
    @property
    def dn(self) -> float:
        """Disproof number of the root."""
    @property
    def nodes(self) -> int:
        """Nodes evaluated by all workers."""
    @property
    def tree_nodes(self) -> int:
        """Nodes of the coordinator's tree."""
    @property
    def jobs(self) -> int:
        """Assigned jobs."""
    @property
    def results(self) -> int:
        """Results shared with all workers."""
    @property
    def over(self) -> bool:
        """True if the search has ended."""

@final
class ClusterCoordinator:
    """Coordinator of a search whose workers are in other processes. ``konane.cluster`` carries the messages."""

    @staticmethod
    def konane(
        start: str | Position,
        *,
        job_nodes: int,
        shared_work: int,
        memory: int | str,
        profile: Literal["tuned", "thesis"] = "tuned",
        max_nodes: int | None = None,
        checkpoint: _Path | None = None,
        resume: bool = False,
        checkpoint_interval: float | None = None,
    ) -> ClusterCoordinator:
        """Starts the coordinator of a search of Konane. Its workers must have the same `shared_work`.

        Raises ``InputError``, ``FileError`` and ``ResourceError`` as ``konane.solve`` does.
        """
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
    ) -> ClusterCoordinator:
        """Starts the coordinator of a search of Sprouts.

        `checkpoint` is a file of Grundy numbers, to which new ones are appended. It must exist if `resume` is true,
        and must not exist otherwise. Raises ``InputError``, ``FileError`` and ``ResourceError`` as
        ``konane.sprouts.solve`` does.
        """
    def handle_idle(self, worker: int) -> ClusterDelivery | None:
        """Handles an idle request of a worker and returns the reply.

        Returns ``None`` if the position was solved without a search.
        """
    def handle(self, request: bytes) -> ClusterDelivery | str | None:
        """Handles a request of a worker and returns the reply, or a text if the request was rejected.

        Returns ``None`` if the position was solved without a search.
        """
    def remove_worker(self, worker: int) -> None:
        """Removes a lost worker. Its job can be assigned again."""
    def cancelled(self) -> list[tuple[int, int]]:
        """Returns the jobs that have been cancelled since the last call, each as worker and job."""
    def set_job_nodes(self, nodes: int) -> None:
        """Sets the maximum number of nodes of later jobs."""
    def status(self) -> ClusterStatus | None:
        """Returns the state of the search; ``None`` if the position was solved without a search."""
    def end(self, reason: str) -> None:
        """Ends the search without a result, unless it has ended.

        `reason` is ``"interrupted"``, ``"time limit"`` or ``"memory"``.
        """
    def finish(self) -> dict[str, Any]:
        """Ends the search, writes the last checkpoint, and returns the fields of the result as in the program's JSON.

        Raises ``InputError`` at the second call.
        """
    def saves(self) -> list[tuple[str | None, int, int]]:
        """Returns the attempts to write a checkpoint since the last call: error or ``None``, bytes, and entries."""
    @property
    def checkpoint_bound(self) -> int | None:
        """Maximum bytes of a checkpoint; ``None`` if no checkpoints are written during the search."""
    @property
    def before(self) -> tuple[int, int, float]:
        """Runs, nodes and seconds before this run."""

@final
class ClusterWorker:
    """Worker of a search whose coordinator is in another process. It has its own table."""

    @staticmethod
    def konane(
        start: str | Position,
        *,
        shared_work: int,
        memory: int | str,
        threads: int,
        profile: Literal["tuned", "thesis"] = "tuned",
    ) -> ClusterWorker:
        """Starts a worker of a search of Konane. Its coordinator must have the same `shared_work`.

        Raises ``InputError`` and ``ResourceError`` as ``konane.solve`` does.
        """
    @staticmethod
    def sprouts(
        text: str, *, nimber: int = 0, shared_work: int = 8, memory: int | str, threads: int
    ) -> ClusterWorker:
        """Starts a worker of a search of Sprouts.

        Raises ``InputError`` and ``ResourceError`` as ``konane.sprouts.solve`` does.
        """
    def search(self, worker: int, reply: bytes, entries: bytes | None = None) -> bytes:
        """Searches the job of a reply and returns the request for the coordinator.

        `worker` is the number of this worker, `entries` are table entries of another worker for the job's node.
        Raises ``InputError`` if `reply` is not a job of this search, or `entries` are invalid.
        """
    def entries(self, node: bytes) -> bytes:
        """Returns table entries of this worker below a node, for ``search`` of another worker.

        Raises ``InputError`` if `node` is not a node of this search.
        """
    def go_on(self) -> None:
        """Continues the search below the last job until the next one arrives, for at most some tenths of a second.

        Returns at once.
        """
    def cancel(self, job: int) -> None:
        """Cancels a job that is searched or will arrive later."""
    def nodes(self) -> int:
        """Returns the nodes that the worker has evaluated in all its jobs."""
    def capacity(self) -> int:
        """Returns the capacity of the worker's table in entries."""
    def close(self) -> None:
        """Ends the worker after its job has ended."""

def memory_bytes(memory: int | str) -> int:
    """Returns the bytes of an amount of memory, such as ``"1GiB"``."""
def seconds(text: str) -> float:
    """Returns the seconds of a duration, such as ``"1h30m"``."""
def count(text: str) -> int:
    """Reads a whole number of at least 1, such as ``"2.5M"``."""
def bytes_text(bytes: int) -> str:
    """Returns a size as text: ``1.50 GiB``."""
def time_text(seconds: float) -> str:
    """Returns a number of seconds as text: ``2 min 5 s``."""
def short(number: float) -> str:
    """Returns a number with three figures and a letter: ``12.3 M``."""
def counted(count: int, noun: str) -> str:
    """Returns a count with a noun: ``1 job``, ``2 jobs``."""
def time_limit(time_limit: float | str) -> float:
    """Reads a time limit, as all functions of the package do, and returns its seconds."""

@final
class BuildPlan:
    """Plan of a build of a complete database by tasks.

    `memory` is the memory of each task in bytes, `parts` the minimum number of tasks into which the largest layers
    are divided.
    """

    def __new__(
        cls, board: str, out: _Path, memory: int, threads: int = 1, parts: int = 1
    ) -> BuildPlan:
        """Creates an object; see the class."""
    @property
    def directory(self) -> Path:
        """Directory of the database."""
    @property
    def finished(self) -> bool:
        """True if the database is complete."""
    def tasks(self) -> list[list[str]]:
        """Returns all tasks in waves. Tasks of a wave are independent of each other, and need the waves before."""
    def describe(self) -> dict[str, Any]:
        """Returns the cost of the build: tasks, bytes of memory, disk and traffic, seconds of one thread.

        Disk, traffic and time are estimates.
        """
    def open(self) -> BuildDirector:
        """Locks the directory for this build."""

@final
class BuildDirector:
    """Build that has locked its directory. It lists the remaining tasks, and completes the database."""

    def pending(self) -> list[list[str]]:
        """Returns the remaining tasks in waves, according to the files in the directory.

        The list is empty when all tasks are done.
        """
    def finish(self) -> dict[str, Any]:
        """Writes the manifest, unlocks the directory, and returns a summary."""
    def close(self) -> None:
        """Unlocks the directory."""

def run_task(
    task: str, out: _Path, memory: int | str | None = None, threads: int = 1
) -> dict[str, Any]:
    """Runs a task without the GIL and returns its counters.

    Returns ``{"lost": path}`` if a file of an earlier task is damaged or missing; then that task has to run again.
    """

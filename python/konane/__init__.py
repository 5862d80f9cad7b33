"""Konane (Hawaiian checkers) and Sprouts, solved.

>>> import konane
>>> konane.solve("5x5").winner
'black'
>>> konane.analyse("5x5").verdict
'Black wins in 15 plies: all 5 moves win.'

Functions and classes; ``help(konane.solve)`` describes one, and ``help(konane.Solution)`` the fields of a result:

* ``Position(board, text=None)``: a position, its moves and its picture
* ``solve(board)``: outcome, winner and best move; returns a ``Solution``
* ``analyse(board)``: the value of every move and a line of best play; returns an ``Analysis``
* ``solve_many(positions)``, ``analyse_many``, ``value_many``: lists of positions on all cores; return lists
* ``line(board)``: best play as a list of moves
* ``Record``: a game as a file, its moves and positions; ``annotate`` judges them and returns an ``Annotation``
* ``perft(board, depth)``, ``divide(board, depth)``: numbers of move sequences and positions
* ``value(position)``: the value as a combinatorial game; returns a ``SumValue``
* ``prove(board, path)``, ``verify_proof(path)``: proof files; return a ``Proof``, a ``Verification``
* ``build_database(board)``, ``Database``: values of all positions; ``probe`` returns a ``Probe``
* ``konane.sprouts``: the game of Sprouts
* ``konane.env``: a PettingZoo environment (``pip install "./python[env]"``)
* ``konane.cluster``: searches on several machines (``pip install "./python[cluster]"``)

A ``board`` is a text, ranks x files, or a ``Position``. Results are immutable objects with the fields of the
program's JSON. Long calls release the GIL, end on Ctrl-C, and have limits. When a limit is reached, the
outcome is ``"unknown"``, and ``reason`` names the limit.

All exceptions are ``konane.Error`` and also a standard exception: ``InputError`` is a ``ValueError``,
``FileError`` an ``OSError``, ``ResourceError`` a ``MemoryError``, ``InternalError`` a ``RuntimeError``.
``LimitError`` reports a limit in a function that returns a number.
"""

# Results and exceptions are public, but not in `__all__`: `help(konane)` would print the inherited members of each.
from . import sprouts
from ._errors import Error as Error
from ._errors import FileError as FileError
from ._errors import InputError as InputError
from ._errors import InternalError as InternalError
from ._errors import LimitError as LimitError
from ._errors import ResourceError as ResourceError
from ._konane import (
    Database,
    Position,
    Record,
    __version__,
    analyse,
    analyse_many,
    build_database,
    divide,
    line,
    perft,
    prove,
    solve,
    solve_many,
    value,
    value_many,
    verify_proof,
)
from ._results import Analysis as Analysis
from ._results import AnnotatedMove as AnnotatedMove
from ._results import Annotation as Annotation
from ._results import BatchProgress as BatchProgress
from ._results import BuildProgress as BuildProgress
from ._results import Built as Built
from ._results import JudgedMove as JudgedMove
from ._results import Probe as Probe
from ._results import Progress as Progress
from ._results import Proof as Proof
from ._results import RatedMove as RatedMove
from ._results import RecordedMove as RecordedMove
from ._results import Solution as Solution
from ._results import SproutsSolution as SproutsSolution
from ._results import SumValue as SumValue
from ._results import Table as Table
from ._results import Thermograph as Thermograph
from ._results import Verification as Verification

__all__ = [
    "Database",
    "Position",
    "Record",
    "__version__",
    "analyse",
    "analyse_many",
    "build_database",
    "divide",
    "line",
    "perft",
    "prove",
    "solve",
    "solve_many",
    "sprouts",
    "value",
    "value_many",
    "verify_proof",
]

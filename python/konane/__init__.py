"""Konane (Hawaiian checkers) and Sprouts, solved.

>>> import konane
>>> konane.solve("5x5").outcome
'black'

Positions, searches, counts and databases of Konane are here, Sprouts is in :mod:`konane.sprouts`.
What takes long runs without Python's global lock, ends on Ctrl-C, and takes limits; what is not
proven is ``"unknown"``. Everything that the package raises by itself is a :class:`konane.Error`, and
also the Python exception that fits: ``ValueError``, ``OSError`` or ``MemoryError``.
"""

from . import sprouts
from ._errors import Error, FileError, InputError, InternalError, LimitError, ResourceError
from ._konane import (
    Database,
    Position,
    __version__,
    build_database,
    divide,
    perft,
    prove,
    solve,
    verify_proof,
)
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
    "BuildProgress",
    "Built",
    "Database",
    "Error",
    "FileError",
    "InputError",
    "InternalError",
    "LimitError",
    "Position",
    "Probe",
    "Progress",
    "Proof",
    "ResourceError",
    "Solution",
    "SproutsSolution",
    "Verification",
    "__version__",
    "build_database",
    "divide",
    "perft",
    "prove",
    "solve",
    "sprouts",
    "verify_proof",
]

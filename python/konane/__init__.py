"""Konane (Hawaiian checkers) and Sprouts, solved.

>>> import konane
>>> konane.solve("5x5").winner
'black'

The package has positions, searches, counts and databases of Konane; :mod:`konane.sprouts` has Sprouts.
Long calls release the GIL, end on Ctrl-C, and have limits; when a limit is reached, the outcome is
``"unknown"``. All exceptions of the package are :class:`konane.Error`, and also the corresponding Python
exception: ``ValueError``, ``OSError``, ``MemoryError`` or ``RuntimeError``.
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
    Table,
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
    "Table",
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

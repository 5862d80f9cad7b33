"""Searches and databases on many machines, by `Ray <https://ray.io>`_: ``pip install "./python[cluster]"``.

>>> import konane.cluster
>>> konane.cluster.solve("6x6", workers=2, threads_per_worker=1).winner  # doctest: +SKIP
'white'

``python -m konane.cluster`` offers the same on the command line. docs/cluster.md says how to run it on one
machine or on many, and what happens when some machines fail.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from os import PathLike
from typing import Literal

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    _text = 'konane.cluster needs Ray: pip install "./python[cluster]", in a clone of konane'
    # `python -m` imports the package with this argv before it runs the module: bad usage.
    if sys.argv[:1] == ["-m"]:
        print(f"error: {_text}", file=sys.stderr)
        raise SystemExit(2) from error
    raise ImportError(_text, name="ray") from error

from .. import Position
from .builddb import build_database
from .driver import ClusterOptions
from .game import Konane, Sprouts
from .progress import Lines
from .run import Checkpoints, Result, WorkerUse, search
from .session import ClusterError

__all__ = ["ClusterError", "Result", "WorkerUse", "build_database", "solve", "sprouts"]


def solve(
    board: str | Position,
    *,
    address: str | None = None,
    workers: int | None = None,
    threads_per_worker: int | None = None,
    memory_per_worker: int | str = "1GiB",
    memory: int | str = "1GiB",
    job_nodes: int | None = None,
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_interval: float | None = None,
    resume: bool = False,
    profile: Literal["tuned", "thesis"] = "tuned",
    log: Callable[[str], None] | None = None,
) -> Result:
    """Solves a board (``"6x6"``) or a ``Position`` in many processes: returns a ``Result``.

    `address` is the address of a running Ray, ``"auto"`` or ``"host:port"``. Without it, a local Ray is
    started, which ends with the search. Without `workers`, each machine has one worker. Without
    `threads_per_worker`, the cores of a machine are divided among its workers. `memory_per_worker` is for each
    worker's table, `memory` for the coordinator, which is in this process: bytes, or texts such as
    ``"16GiB"``. `job_nodes` is the number of nodes of a job; the default depends on the speed and number of workers.

    The coordinator's `checkpoint` is written every `checkpoint_interval` seconds, at the end, and when a
    limit is reached or Ctrl-C is pressed. With `resume`, the search continues from this file. The default
    interval is 5 seconds, or 50 times the time that the last checkpoint took if that is longer. `time_limit` is a
    number of seconds or a text such as ``"1h"``. `log` is called with lines about progress and workers.

    Raises ``konane.InputError`` and ``konane.FileError`` as ``konane.solve`` does, and
    ``ClusterError`` if Ray cannot be used, or if no worker can be started for two minutes. Ctrl-C
    raises ``KeyboardInterrupt``.
    """
    position = Position(board) if isinstance(board, str) else board
    return search(
        Konane(position, profile),
        address=address,
        options=ClusterOptions(workers, threads_per_worker, memory_per_worker, job_nodes, time_limit),
        memory=memory,
        max_nodes=max_nodes,
        checkpoints=Checkpoints(checkpoint, checkpoint_interval, resume),
        progress=Lines(log),
        stop=threading.Event(),
    )


def sprouts(
    position: str,
    *,
    nimber: int = 0,
    address: str | None = None,
    workers: int | None = None,
    threads_per_worker: int | None = None,
    memory_per_worker: int | str = "1GiB",
    memory: int | str = "1GiB",
    job_nodes: int | None = None,
    time_limit: float | str | None = None,
    max_nodes: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    log: Callable[[str], None] | None = None,
) -> Result:
    """Solves a position of Sprouts (``"0*29"``) plus a nim heap in many processes: returns a ``Result``.

    The arguments are those of :func:`solve`, except that the `checkpoint` is a file of Grundy numbers, to
    which new ones are added during the search; ``konane sprouts solve --db`` reads it, too.
    """
    return search(
        Sprouts(position, nimber),
        address=address,
        options=ClusterOptions(workers, threads_per_worker, memory_per_worker, job_nodes, time_limit),
        memory=memory,
        max_nodes=max_nodes,
        checkpoints=Checkpoints(checkpoint, resume=resume),
        progress=Lines(log),
        stop=threading.Event(),
    )

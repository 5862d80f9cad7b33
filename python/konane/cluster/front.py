"""Exit codes, arguments, signals and output of ``python -m konane.cluster``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "ANSWERED",
    "BAD_INPUT",
    "FILE",
    "INTERRUPTED",
    "LIMIT",
    "MISMATCH",
    "answer",
    "answers_only",
    "catch_signals",
    "checked",
    "complain",
]

#: Exit codes of the program.
ANSWERED, MISMATCH, BAD_INPUT, LIMIT, FILE, INTERRUPTED = 0, 1, 2, 3, 4, 130

#: Seconds after the first signal in which further signals are ignored, because they belong to the same request.
SAME_REQUEST = 0.5


def complain(error: Exception | str, code: int) -> int:
    """Prints an error and returns its exit code."""
    print(f"error: {error}", file=sys.stderr)
    return code


def checked(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Returns `read` as an argument type for ``argparse``. The text of a ``ValueError`` becomes the error message."""

    def parse(value: str) -> Any:
        try:
            return read(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


@contextlib.contextmanager
def answers_only() -> Iterator[None]:
    """Discards output on stdout: Ray prints messages there, where only the result belongs."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def answer(args: argparse.Namespace, fields: dict[str, Any], shown: Callable[[], str]) -> None:
    """Prints a result as JSON or as text."""
    try:
        print(json.dumps(fields) if args.json else shown(), flush=True)
    except BrokenPipeError:
        # The reader has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def catch_signals() -> threading.Event:
    """Returns an event that the first signal sets, for a clean end. A second signal ends the program at once."""
    stop = threading.Event()
    first: list[float] = []

    def handle(_number: int, _frame: object) -> None:
        now = time.monotonic()
        stop.set()
        if first and now - first[0] >= SAME_REQUEST:
            os._exit(INTERRUPTED)
        first.append(now)

    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)):
        if number is not None:
            signal.signal(number, handle)
    return stop

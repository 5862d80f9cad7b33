"""What is said while a search runs."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import text

if TYPE_CHECKING:
    from .driver import Driver

__all__ = ["Lines", "Progress", "Tasks", "Terminal"]


class Progress:
    """Says nothing."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last: tuple[float, int] = (0.0, 0)

    def note(self, line: str) -> None:
        """A line that stays."""

    def warn(self, line: str) -> None:
        """A line that stays, and that something is wrong."""
        self.note(f"warning: {line}")

    def show(self, line: str) -> None:
        """How the search is getting on."""
        self.note(line)

    def clear(self) -> None:
        """The search has ended."""

    def pause(self, seconds: float) -> float:
        """Seconds between two lines, so many seconds after the beginning."""
        return min(max(1.0, seconds / 10), 30.0)

    def watch(self, driver: Driver) -> None:
        """Shows a line if one is due."""
        now = time.monotonic()
        if now < self._next or driver.begun is None:
            return
        seconds = driver.seconds
        self._next = now + self.pause(seconds)
        standing = driver.leader.status()
        if standing is None:
            return
        before, nodes = self._last
        rate = (standing.nodes - nodes) / max(seconds - before, 1e-3)
        self._last = (seconds, standing.nodes)
        ready = sum(member.pid is not None for member in driver.live)
        parts = [
            text.seconds(seconds),
            f"{text.short(standing.nodes)} nodes",
            f"{text.short(rate)}/s",
            f"pn {text.short(standing.pn)} dn {text.short(standing.dn)}",
            text.counted(ready, "worker"),
            text.counted(standing.jobs, "job"),
            f"tree {text.short(standing.tree_nodes)}",
            f"facts {text.short(standing.results)}",
        ]
        self.show(", ".join(parts))


class Lines(Progress):
    """Calls a function with lines, if there is one."""

    def __init__(self, log: Callable[[str], None] | None) -> None:
        super().__init__()
        self._log = log

    def note(self, line: str) -> None:
        if self._log is not None:
            self._log(line)


class Terminal(Progress):
    """Writes to stderr: on a terminal a live line, elsewhere lines that become more seldom."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__()
        self._quiet = quiet
        terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._live = terminal and not quiet

    def note(self, line: str) -> None:
        if not self._quiet:
            self._write(f"{self._clear}{line}\n")

    def warn(self, line: str) -> None:
        self._write(f"{self._clear}warning: {line}\n")

    def show(self, line: str) -> None:
        if self._live:
            columns = shutil.get_terminal_size().columns
            self._write(f"{self._clear}{line[: columns - 1]}\r")
        else:
            self.note(line)

    def clear(self) -> None:
        self._write(self._clear)

    def pause(self, seconds: float) -> float:
        return 0.5 if self._live else super().pause(seconds)

    @property
    def _clear(self) -> str:
        return "\r\x1b[2K" if self._live else ""

    def _write(self, piece: str) -> None:
        try:
            sys.stderr.write(piece)
            sys.stderr.flush()
        except OSError:
            # A closed stderr is no reason to stop.
            pass


class Tasks:
    """Hears the events of a build by tasks, and says what becomes of it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._left = self._done = 0
        self._begun = time.monotonic()
        self._next = 0.0

    def __call__(self, event: dict[str, Any]) -> None:
        note = self._progress.note
        match event["event"]:
            case "begin":
                self._left = event["left"]
                note(f"{text.counted(self._left, 'task')} to do")
            case "worker":
                note(f"worker {event['id']}: pid {event['pid']} on node {event['node'][:8]}")
            case "death":
                note(f"a worker is lost ({event['error']}): {event['task']!r} runs again")
            case "error":
                note(f"{event['task']!r} failed: {event['error']}")
            case "lost":
                note(f"{event['path']} is damaged or gone: it is made again")
            case "task":
                self._done += 1
                now = time.monotonic()
                if now >= self._next:
                    self._next = now + self._progress.pause(now - self._begun)
                    what = " ".join(event["task"].split()[4:])
                    every = max(self._left, self._done)
                    self._progress.show(f"{self._done} of {text.counted(every, 'task')}, {what}")

"""Progress of searches and builds as lines of text, and metrics of searches for Ray's dashboard."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ray.util.metrics import Gauge

from . import text

if TYPE_CHECKING:
    from .driver import Driver

__all__ = ["Lines", "Metrics", "Progress", "Tasks", "Terminal"]


class Progress:
    """Progress without output. Base of the classes that write it."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last: tuple[float, int] = (0.0, 0)

    def note(self, line: str) -> None:
        """Writes a message."""

    def warn(self, line: str) -> None:
        """Writes a warning."""
        self.note(f"warning: {line}")

    def show(self, line: str) -> None:
        """Writes a line of progress, which the next one may replace."""
        self.note(line)

    def clear(self) -> None:
        """Erases the line of progress."""

    def pause(self, seconds: float) -> float:
        """Returns the seconds between two lines of progress, `seconds` after the start."""
        return min(max(1.0, seconds / 10), 30.0)

    def watch(self, driver: Driver) -> None:
        """Writes a line of progress if its interval has passed."""
        now = time.monotonic()
        if now < self._next or driver.begun is None:
            return
        seconds = driver.seconds
        self._next = now + self.pause(seconds)
        status = driver.coordinator.status()
        if status is None:
            return
        before, nodes = self._last
        rate = (status.nodes - nodes) / max(seconds - before, 1e-3)
        self._last = (seconds, status.nodes)
        ready = sum(worker.pid is not None for worker in driver.live)
        parts = [
            text.seconds(seconds),
            f"{text.short(status.nodes)} nodes",
            f"{text.short(rate)}/s",
            f"pn {text.short(status.pn)} dn {text.short(status.dn)}",
            text.counted(ready, "worker"),
            text.counted(status.jobs, "job"),
            f"tree {text.short(status.tree_nodes)}",
            f"shared results {text.short(status.results)}",
        ]
        self.show(", ".join(parts))


class Lines(Progress):
    """Passes the lines of progress to a function. Without a function, discards them."""

    def __init__(self, log: Callable[[str], None] | None) -> None:
        super().__init__()
        self._log = log

    def note(self, line: str) -> None:
        if self._log is not None:
            self._log(line)


class Terminal(Progress):
    """Progress on stderr: a live line on a terminal, otherwise lines at growing intervals."""

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
            # Ignored: a search continues if stderr is closed.
            pass


class Tasks:
    """Receives the events of a build by tasks, and writes them as lines."""

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
                note(f"{event['path']} is damaged or missing: building it again")
            case "task":
                self._done += 1
                now = time.monotonic()
                if now >= self._next:
                    self._next = now + self._progress.pause(now - self._begun)
                    what = " ".join(event["task"].split()[4:])
                    every = max(self._left, self._done)
                    self._progress.show(f"{self._done} of {text.counted(every, 'task')}, {what}")


class Metrics:
    """Metrics of a search, which Ray's dashboard shows."""

    def __init__(self) -> None:
        worker = ("worker",)
        self._nodes = Gauge("konane_nodes", "Nodes that a worker has evaluated", worker)
        self._jobs = Gauge("konane_jobs", "Jobs that a worker has done", worker)
        self._tree = Gauge("konane_tree_nodes", "Nodes of the coordinator's tree")
        self._shared_results = Gauge("konane_facts", "Results shared with all workers")

    def show(self, driver: Driver) -> None:
        """Updates the gauges."""
        for worker in driver.live:
            tags = {"worker": str(worker.number)}
            self._nodes.set(worker.nodes, tags)
            self._jobs.set(worker.jobs, tags)
        status = driver.coordinator.status()
        if status is not None:
            self._tree.set(status.tree_nodes)
            self._shared_results.set(status.results)

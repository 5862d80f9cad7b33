"""Repeated random kills: python kill_trials.py KIND [TRIALS] [BOARD WINNER] [SEED]

Each trial is a search with two workers of one thread.

* `workers`: kill -9 ends one worker at a random time, and then possibly its replacement.
* `nodes`: each worker is on a separate Ray node. The second node is killed with all its processes.
* `drivers`: the driver is killed twice, and a new one resumes from the checkpoint.

Prints one line per trial with the winner and the cost of each kill. For a worker or node, the cost is the
time until the loss is detected, in seconds. For a driver, it is the search time that is missing from the
checkpoint. The exit code is 1 if a winner is wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from konane import _konane
from nodes import ENVIRONMENT, OTHER, end_node, head_node, start_node

SMALL = ["--threads-per-worker", "1", "--memory-per-worker", "256MiB", "--memory", "64MiB"]

#: The winner, the cost of each kill, and the seconds of the last search.
Trial = tuple[str, list[float], float]


def start(board: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "konane.cluster", "solve", board, *SMALL, "--json"]
    return subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )


def answer(process: subprocess.Popen[str]) -> dict:
    found = json.loads(process.stdout.read())
    process.wait()
    return found


def with_workers(board: str, chance: random.Random) -> Trial:
    process = start(board, "--workers", "2")
    killed: dict[int, float] = {}
    missed = []

    def kill(worker: int, pid: int, after: float) -> None:
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed[worker] = time.monotonic()

    for line in process.stderr:
        now = time.monotonic()
        if joined := re.match(r"worker (\d+): pid (\d+)", line):
            if len(killed) < 3 and (joined[1] == "0" or "in place of" in line):
                arguments = (int(joined[1]), int(joined[2]), chance.random() * 1.5)
                threading.Thread(target=kill, args=arguments, daemon=True).start()
        elif (lost := re.match(r"worker (\d+) is lost", line)) and int(lost[1]) in killed:
            missed.append(now - killed[int(lost[1])])
    found = answer(process)
    return found["winner"], missed, found["seconds"]


def with_nodes(board: str, chance: random.Random, head: str, directory: Path) -> Trial:
    node = start_node(directory, OTHER, "--address", head)
    ended: list[float] = []

    def kill(after: float) -> None:
        time.sleep(after)
        end_node(node)
        ended.append(time.monotonic())

    process = start(board, "--address", head)
    missed = []
    killer = None
    try:
        for line in process.stderr:
            now = time.monotonic()
            joined = re.match(r"worker (\d+): pid", line)
            if joined and killer is None and int(joined[1]) > 0:
                killer = threading.Thread(target=kill, args=(chance.random() * 3,))
                killer.start()
            elif re.match(r"worker \d+ is lost", line) and ended and not missed:
                missed.append(now - ended[0])
    finally:
        if killer is None:
            end_node(node)
        else:
            killer.join()
    found = answer(process)
    return found["winner"], missed, found["seconds"]


def with_drivers(board: str, chance: random.Random) -> Trial:
    killed = 0
    begun = before = run = 0.0
    lost = []
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "a.chk")
        saving = ["--checkpoint", str(file), "--checkpoint-interval", "200ms", "--workers", "2"]
        while True:
            process = start(board, *saving, *(["--resume"] if file.exists() else []))
            saved = 0.0
            for line in process.stderr:
                if line.startswith(f"checkpoints: {file}"):
                    begun = time.monotonic()
                elif found := re.search(r"continuing after .* nodes, (.*), \d+ run", line):
                    saved = _konane.seconds(found[1].replace("min", "m"))
                elif killed < 2 and line.startswith("worker 1: pid"):
                    if killed:
                        lost.append(run - (saved - before))
                    before = saved
                    time.sleep(chance.random() * 2)
                    if process.poll() is None:
                        process.kill()
                        run = time.monotonic() - begun
                        killed += 1
            out, _ = process.communicate()
            if process.returncode == 0:
                if killed == len(lost) + 1:
                    lost.append(run - (saved - before))
                found = json.loads(out)
                return found["winner"], lost, found["seconds"]


@contextlib.contextmanager
def trials(kind: str, board: str, chance: random.Random) -> Iterator:
    """Sets up the trials and yields a function that runs one."""
    if kind == "nodes":
        with tempfile.TemporaryDirectory() as directory, head_node(Path(directory)) as head:
            yield lambda: with_nodes(board, chance, head, Path(directory))
    else:
        yield lambda: {"workers": with_workers, "drivers": with_drivers}[kind](board, chance)


def main() -> int:
    given = sys.argv[1:]
    kind, count, board, winner, seed = (*given, *["workers", "20", "6x7", "white", "1"][len(given) :])
    wrong = 0
    costs: list[float] = []
    with trials(kind, board, random.Random(int(seed))) as trial:
        for number in range(int(count)):
            found, cost, seconds = trial()
            wrong += found != winner
            costs += cost
            each = " ".join(f"{c:.2f}" for c in cost)
            print(f"{number}: {found}, kills cost {each or '-'} s, {seconds:.1f} s", flush=True)
    most, mean = max(costs, default=0.0), sum(costs) / max(len(costs), 1)
    print(f"{count} trials, {len(costs)} kills of {kind}, {mean:.2f} s on average, {most:.2f} s at most")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

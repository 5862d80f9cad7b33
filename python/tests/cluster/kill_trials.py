"""Kills at random, again and again: python kill_trials.py workers|drivers [TRIALS] [BOARD WINNER] [SEED]

Each trial is a search with two workers. With `workers`, one of them is killed by -9 at a random moment,
and then perhaps its replacement; with `drivers`, the driver, and a new one goes on from the checkpoint,
twice. It says what came out, and ends with 1 if a winner was wrong.
"""

from __future__ import annotations

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
from pathlib import Path

SMALL = ["--threads-per-worker", "1", "--memory-per-worker", "256MiB", "--memory", "64MiB"]


def start(board: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "konane.cluster", "solve", board, "--workers", "2", *SMALL]
    return subprocess.Popen(
        [*command, "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def with_workers(board: str, chance: random.Random) -> tuple[str, int, float]:
    """The outcome, workers killed, seconds."""
    process = start(board)
    killed = 0

    def kill(pid: int, after: float) -> None:
        nonlocal killed
        time.sleep(after)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        killed += 1

    first = True
    for line in process.stderr:
        joined = re.match(r"worker \d+: pid (\d+)", line)
        if joined and (first or "in place of" in line) and killed < 3:
            arguments = (int(joined[1]), chance.random() * 1.5)
            threading.Thread(target=kill, args=arguments, daemon=True).start()
            first = False
    answer = json.loads(process.stdout.read())
    process.wait()
    return answer["outcome"], killed, answer["seconds"]


def with_drivers(board: str, chance: random.Random) -> tuple[str, int, float]:
    """The outcome, drivers killed, seconds of the last one."""
    killed = 0
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "a.chk")
        saving = ["--checkpoint", str(file), "--checkpoint-interval", "200ms"]
        while True:
            process = start(board, *saving, *(["--resume"] if file.exists() else []))
            for line in process.stderr:
                if killed < 2 and line.startswith("worker 1: pid"):
                    time.sleep(chance.random() * 2)
                    if process.poll() is None:
                        process.kill()
                        killed += 1
            out, _ = process.communicate()
            if process.returncode == 0:
                answer = json.loads(out)
                return answer["outcome"], killed, answer["seconds"]


def main() -> int:
    given = sys.argv[1:]
    kind, trials, board, winner, seed = (*given, *["workers", "20", "6x7", "white", "1"][len(given) :])
    trial = {"workers": with_workers, "drivers": with_drivers}[kind]
    chance = random.Random(int(seed))
    wrong = total = 0
    for number in range(int(trials)):
        outcome, killed, seconds = trial(board, chance)
        wrong += outcome != winner
        total += killed
        print(f"{number}: {outcome}, {killed} killed, {seconds:.1f} s", flush=True)
    print(f"{trials} trials, {total} {kind} killed, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

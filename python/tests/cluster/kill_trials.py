"""Kills workers at random, again and again: python kill_trials.py [TRIALS] [BOARD WINNER] [SEED]

Each trial is a search with two workers, one of which is killed by -9 at a random moment, and then
perhaps its replacement. It says what came out, and ends with 1 if a winner was wrong.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

SMALL = ["--threads-per-worker", "1", "--memory-per-worker", "256MiB", "--memory", "64MiB"]


def trial(board: str, chance: random.Random) -> tuple[str, int, float]:
    """The outcome, workers killed, seconds."""
    command = [sys.executable, "-m", "konane.cluster", "solve", board, "--workers", "2", *SMALL]
    process = subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
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


def main() -> int:
    trials, board, winner, seed = (*sys.argv[1:], *["20", "6x7", "white", "1"][len(sys.argv) - 1 :])
    chance = random.Random(int(seed))
    wrong = total = 0
    for number in range(int(trials)):
        outcome, killed, seconds = trial(board, chance)
        wrong += outcome != winner
        total += killed
        print(f"{number}: {outcome}, {killed} killed, {seconds:.1f} s", flush=True)
    print(f"{trials} trials, {total} workers killed, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

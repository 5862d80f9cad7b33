"""A client of `konane engine` (docs/engine.md), with the standard library only.

    python engine_client.py 5x5 6x6 "4x4 c2 d2"

sends one request for each argument, a board and moves, and prints the answers as they arrive.
"""

import itertools
import json
import subprocess
import sys
import threading
from concurrent.futures import Future, as_completed


class EngineError(Exception):
    """An answer with an error."""


class Engine:
    """An engine process. Any thread may call its methods."""

    def __init__(self, command=("konane", "engine")):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        self.lock = threading.Lock()
        self.ids = itertools.count(1)
        self.in_flight = {}
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def send(self, **line):
        with self.lock:
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()

    def ask(self, board, report=None, **keys):
        """Sends a request and returns a future of its answer. `report` is called with each line of progress."""
        request, answer = next(self.ids), Future()
        self.in_flight[request] = answer, report
        self.send(id=request, board=board, **keys)
        answer.stop = lambda: self.send(action="stop", id=request)
        return answer

    def read(self):
        """Completes the futures with the answers. Runs on a thread of its own, so the pipes never fill up."""
        for line in self.process.stdout:
            line = json.loads(line)
            answer, report = self.in_flight.get(line["id"], (None, None))
            if line.get("progress"):
                if report:
                    report(line)
            elif answer and not answer.done():
                del self.in_flight[line["id"]]
                if "error" in line:
                    answer.set_exception(EngineError(line["error"]))
                else:
                    answer.set_result(line)
        for answer, _ in list(self.in_flight.values()):
            answer.set_exception(EngineError("the engine has ended"))

    def close(self):
        """Waits for all answers and ends the engine."""
        with self.lock:
            self.process.stdin.close()
        self.reader.join()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main(texts):
    with Engine() as engine:
        answers = {}
        for text in texts:
            board, _, moves = text.partition(" ")
            answers[engine.ask(board, moves=moves, time_limit="60s")] = text
        for answer in as_completed(answers):
            try:
                found = answer.result()
                print(f"{answers[answer]}: {found['winner']}, best move {found['best_move']}, {found['nodes']} nodes")
            except EngineError as error:
                print(f"{answers[answer]}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:] or ["5x5", "6x6"])

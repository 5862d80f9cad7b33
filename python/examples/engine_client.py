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
    """An answer with an error, or the end of the engine."""


class Engine:
    """An engine process. Any thread may call its methods."""

    def __init__(self, command=("konane", "engine")):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        self.lock = threading.Lock()
        self.ids = itertools.count(1)
        self.in_flight = {}
        self.ended = None
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def send(self, **line):
        """Sends a line. Raises EngineError if the engine has ended."""
        with self.lock:
            try:
                self.process.stdin.write(json.dumps(line) + "\n")
                self.process.stdin.flush()
            except (OSError, ValueError):
                raise EngineError(self.ended or "the engine has closed its input") from None

    def ask(self, board, report=None, **keys):
        """Sends a request and returns a future of its answer. `report` is called with each line of progress."""
        request, answer = next(self.ids), Future()
        with self.lock:
            if self.ended:
                raise EngineError(self.ended)
            self.in_flight[request] = answer, report
        try:
            self.send(id=request, board=board, **keys)
        except EngineError:
            self.in_flight.pop(request, None)
            raise
        answer.stop = lambda: self.send(action="stop", id=request)
        return answer

    def read(self):
        """Completes the futures with the answers. Runs on a thread of its own, so the pipes never fill up."""
        for line in self.process.stdout:
            line = json.loads(line)
            answer, report = self.in_flight.get(line["id"], (None, None))
            if line.get("progress"):
                try:
                    if report:
                        report(line)
                except Exception as error:
                    # Raised by `answer.result()`. The search goes on until it is stopped.
                    del self.in_flight[line["id"]]
                    answer.set_exception(error)
            elif answer and not answer.done():
                self.in_flight.pop(line["id"], None)
                if "error" in line:
                    answer.set_exception(EngineError(line["error"]))
                else:
                    answer.set_result(line)
        ended = f"the engine has ended with exit code {self.process.wait()}"
        with self.lock:
            self.ended = ended
        while self.in_flight:
            answer, _ = self.in_flight.popitem()[1]
            if not answer.done():
                answer.set_exception(EngineError(ended))

    def close(self):
        """Stops all searches, ends the engine and returns its exit code."""
        # Stopped searches are answered at once. An engine that does not end, or does not read, is killed.
        timer = threading.Timer(10, self.process.kill)
        timer.start()
        try:
            self.send(action="quit")
        except EngineError:
            pass
        try:
            return self.process.wait()
        finally:
            timer.cancel()
            self.process.kill()
            self.process.wait()
            self.reader.join()
            try:
                self.process.stdin.close()
            except OSError:
                pass

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

"""End-to-end tests on a local Ray, including killed processes."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes import ENVIRONMENT, OTHER, end_node, head_node, start_node

ray = pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")

import konane.cluster  # noqa: E402
from konane import Position  # noqa: E402
from konane.cluster.__main__ import main  # noqa: E402
from konane.cluster.driver import Driver, ClusterOptions  # noqa: E402
from konane.cluster.game import Konane  # noqa: E402
from konane.cluster.progress import Progress  # noqa: E402
from konane.cluster.run import Checkpoints, search  # noqa: E402

pytestmark = pytest.mark.ray

SMALL = ["--memory-per-worker", "256MiB", "--memory", "64MiB", "--threads-per-worker", "1"]


class Run:
    """A running `konane.cluster` process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "konane.cluster", *arguments, *SMALL]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        self.lines: list[str] = []
        self.pids: dict[int, int] = {}

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Reads stderr until a line matches."""
        for line in self.process.stderr:
            self.lines.append(line)
            if joined := re.match(r"worker (\d+): pid (\d+) on node", line):
                self.pids[int(joined[1])] = int(joined[2])
            if found := re.search(pattern, line):
                return found
        raise AssertionError("".join(self.lines))

    def end(self, code: int = 0) -> dict:
        """Waits for the end, checks the exit code, and returns the JSON object."""
        out, rest = self.process.communicate(timeout=600)
        self.lines.append(rest)
        assert self.process.returncode == code, "".join(self.lines)
        return json.loads(out)


@pytest.fixture
def runs() -> Iterator[list[Run]]:
    """Processes that are killed at the end of the test."""
    started: list[Run] = []
    yield started
    for run in started:
        run.process.kill()
        run.process.wait()


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("workers", 0),
        ("threads_per_worker", -1),
        ("job_nodes", 0),
        ("job_nodes", 1 << 64),
        ("time_limit", -1),
        ("time_limit", math.nan),
    ],
)
def test_invalid_options_are_rejected_before_ray_starts(name: str, number: float) -> None:
    with pytest.raises(konane.InputError, match=name):
        konane.cluster.solve("3x3", **{name: number})
    with pytest.raises(konane.InputError, match=name):
        konane.cluster.sprouts("0*3", **{name: number})
    assert not ray.is_initialized()


def test_an_address_without_a_server_is_rejected_immediately() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    begun = time.monotonic()
    with pytest.raises(konane.InputError, match=f"no Ray at {address}.*ray start"):
        konane.cluster.solve("3x3", address=address)
    assert time.monotonic() - begun < 5


def test_numbers_and_times_have_the_syntax_of_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def read(*arguments: str, subcommand: str = "solve 3x3") -> dict:
        seen: dict = {}
        with monkeypatch.context() as patch:
            run = lambda _, args: seen.update(vars(args))  # noqa: E731
            patch.setattr("konane.cluster.__main__.run_search", run)
            main([*subcommand.split(), *arguments])
        return seen

    assert read("--time-limit", "1h30m")["time_limit"] == 5400
    assert read("--checkpoint-interval", "1.5 s")["checkpoint_interval"] == 1.5
    assert read("--max-nodes", "2.5M")["max_nodes"] == 2_500_000
    assert read("--job-nodes", "1e6")["job_nodes"] == 1_000_000
    assert read("--nimber", "0", subcommand="sprouts 0*3")["nimber"] == 0
    for wrong in (["--max-nodes", "0"], ["--job-nodes", "9" * 20], ["--time-limit", "0s"]):
        with pytest.raises(SystemExit):
            read(*wrong)
    # Grundy numbers are saved continuously, so there is no interval.
    with pytest.raises(SystemExit):
        read("--checkpoint", "a", "--checkpoint-interval", "1s", subcommand="sprouts 0*3")
    assert main(["sprouts", "0*3", "--workers", "9" * 20]) == 2
    assert "workers: expected a whole number" in capsys.readouterr().err


def test_one_worker(runs: list[Run]) -> None:
    run = Run("solve", "5x5", "--workers", "1", "--json")
    runs.append(run)
    answer = run.end()
    assert (answer["outcome"], answer["winner"]) == ("win", "black")
    assert answer["algorithm"] == "pns-pdfpn"
    assert [w["lost"] for w in answer["workers"]] == [False]
    # The worker's 256 MiB and a quarter of the coordinator's 64 MiB, in 16-byte cells with up to two entries.
    assert answer["memory_bytes"] > 272 << 20
    assert answer["table"]["capacity"] == (272 << 20) // 8
    assert 0 < answer["table"]["used"] <= answer["table"]["capacity"]


def test_sprouts(runs: list[Run]) -> None:
    run = Run("sprouts", "0*12", "--workers", "2", "--json")
    runs.append(run)
    answer = run.end()
    assert (answer["outcome"], answer["position"]) == ("loss", "0*12")
    assert len(answer["workers"]) == 2


def test_killed_workers_are_replaced(runs: list[Run]) -> None:
    run = Run("solve", "7x7", "--workers", "2", "--json")
    runs.append(run)
    run.wait_for("worker .: pid")
    run.wait_for("worker .: pid")
    for victim in (0, 1):
        os.kill(run.pids[victim], signal.SIGKILL)
        run.wait_for(rf"in place of worker {victim}")
    answer = run.end()
    assert answer["winner"] == "black"
    lost = {worker["id"] for worker in answer["workers"] if worker["lost"]}
    assert lost >= {0, 1}


class HangProgress(Progress):
    """Suspends the first worker, and continues it after it has been replaced."""

    stopped = continued = False
    #: Jobs and nodes of the worker when it was lost.
    counted = (0, 0)

    def watch(self, driver: Driver) -> None:
        first = next(iter(driver.workers), None)
        if first is None or first.pid is None or self.continued:
            return
        if not self.stopped and first.jobs > 0:
            os.kill(first.pid, signal.SIGSTOP)
            self.stopped = True
        elif any(worker.replaces == first.number and worker.pid for worker in driver.live):
            self.counted = (first.jobs, first.nodes)
            with contextlib.suppress(ProcessLookupError):
                os.kill(first.pid, signal.SIGCONT)
            self.continued = True


def test_a_lost_worker_that_returns_is_ignored() -> None:
    hang = HangProgress()
    # 14 million nodes on one thread, so that the search lasts longer than detecting the loss and starting
    # another worker.
    options = ClusterOptions(workers=2, threads=1, memory="256MiB", job_nodes=1000, lease=1.0)
    found = search(
        Konane(Position("6x8").play("e4").play("e5"), "tuned"),
        address=None,
        options=options,
        memory="64MiB",
        max_nodes=None,
        checkpoints=Checkpoints(),
        progress=hang,
        stop=threading.Event(),
    )
    assert hang.continued
    assert found.winner == "black"
    first = found.workers[0]
    assert (first.lost, first.jobs, first.nodes) == (True, *hang.counted)


def test_ctrl_c_and_a_killed_driver_leave_a_checkpoint(
    runs: list[Run], tmp_path: Path
) -> None:
    file = str(tmp_path / "a.chk")
    saving = ["--workers", "2", "--json", "--checkpoint", file, "--checkpoint-interval", "500ms"]
    run = Run("solve", "7x7", *saving)
    runs.append(run)
    run.wait_for(r"nodes, .* pn ")
    run.process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    answer = run.end(130)
    assert time.monotonic() - begun < 5
    assert (answer["winner"], answer["reason"]) == ("unknown", "interrupted")
    assert answer["checkpoint"]["bytes"] > 0

    run = Run("solve", "7x7", *saving, "--resume")
    runs.append(run)
    assert "continuing after" in run.wait_for("continuing.*").group()
    run.wait_for(r"nodes, .* pn ")
    time.sleep(1.5)
    run.process.kill()
    run.process.wait()

    run = Run("solve", "7x7", *saving, "--resume")
    runs.append(run)
    # The killed run could not record its end, but its last checkpoint is used.
    answer = run.end()
    assert answer["winner"] == "black"
    assert answer["total"]["nodes"] > answer["nodes"]
    assert answer["checkpoint"]["resumed"]


@pytest.fixture
def head(tmp_path: Path) -> Iterator[str]:
    """Address of a Ray cluster of one node with one core."""
    with head_node(tmp_path) as address:
        yield address


def test_a_node_joins_and_dies(runs: list[Run], head: str, tmp_path: Path) -> None:
    # A search that cannot end before the second node joins.
    run = Run("solve", "8x8", "--address", head, "--json")
    runs.append(run)
    run.wait_for("worker 0: pid")
    node = start_node(tmp_path, OTHER, "--address", head)
    try:
        run.wait_for("worker 1: pid")
    finally:
        end_node(node)
    run.wait_for("worker 1 is lost")
    run.process.send_signal(signal.SIGINT)
    answer = run.end(130)
    assert answer["reason"] == "interrupted"
    # Until Ray detects the loss of the node, the driver may have tried another worker on it.
    lost = [worker["lost"] for worker in answer["workers"]]
    assert lost[:2] == [False, True]

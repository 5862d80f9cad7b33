"""The whole, on a local Ray: programs as users start them, killed in the middle."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")
pytestmark = pytest.mark.ray

#: Loopback addresses, for local nodes; Ray replaces 127.0.0.1 by the machine's own.
HEAD, OTHER = "127.0.0.2", "127.0.0.3"

SMALL = ["--memory-per-worker", "256MiB", "--memory", "64MiB", "--threads-per-worker", "1"]


ENVIRONMENT = os.environ | {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Alike everywhere, or nobody understands anybody.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    # How soon a node that has died is noticed.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}


class Run:
    """A program that runs."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "konane.cluster", *arguments, *SMALL]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
        self.lines: list[str] = []
        self.pids: dict[int, int] = {}

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Reads what it says until a line matches."""
        for line in self.process.stderr:
            self.lines.append(line)
            if joined := re.match(r"worker (\d+): pid (\d+) on node", line):
                self.pids[int(joined[1])] = int(joined[2])
            if found := re.search(pattern, line):
                return found
        raise AssertionError("".join(self.lines))

    def end(self, code: int = 0) -> dict:
        """The answer."""
        out, rest = self.process.communicate(timeout=120)
        self.lines.append(rest)
        assert self.process.returncode == code, "".join(self.lines)
        return json.loads(out)


@pytest.fixture
def runs() -> Iterator[list[Run]]:
    """Programs that are ended with the test."""
    started: list[Run] = []
    yield started
    for run in started:
        run.process.kill()
        run.process.wait()


def test_one_worker(runs: list[Run]) -> None:
    run = Run("solve", "5x5", "--workers", "1", "--json")
    runs.append(run)
    answer = run.end()
    assert (answer["outcome"], answer["algorithm"]) == ("black", "pns-pdfpn")
    assert [w["lost"] for w in answer["workers"]] == [False]


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
    assert answer["outcome"] == "black"
    lost = {worker["id"] for worker in answer["workers"] if worker["lost"]}
    assert lost >= {0, 1}


def test_ctrl_c_leaves_a_checkpoint_and_a_killed_driver_one_too(
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
    assert (answer["outcome"], answer["reason"]) == ("unknown", "interrupted")
    assert answer["checkpoint"]["bytes"] > 0

    run = Run("solve", "7x7", *saving, "--resume")
    runs.append(run)
    assert "going on after" in run.wait_for("going on.*").group()
    run.wait_for(r"nodes, .* pn ")
    time.sleep(1.5)
    run.process.kill()
    run.process.wait()

    run = Run("solve", "7x7", *saving, "--resume")
    runs.append(run)
    # Nothing is written down of how the killed run ended, but what it had found is there.
    answer = run.end()
    assert answer["outcome"] == "black"
    assert answer["total"]["nodes"] > answer["nodes"]
    assert answer["checkpoint"]["resumed"]


def free_port() -> int:
    with socket.socket() as some:
        some.bind((HEAD, 0))
        return some.getsockname()[1]


def start_node(directory: Path, address: str, *arguments: str) -> subprocess.Popen:
    ray = str(Path(sys.executable).with_name("ray"))
    command = [ray, "start", "--block", "--node-ip-address", address, "--num-cpus", "1"]
    command += ["--object-store-memory", "100000000", "--disable-usage-stats", *arguments]
    with open(directory / f"{address}.log", "w") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True
        )


def end_node(node: subprocess.Popen) -> None:
    """Kills it with all that it has started."""
    os.killpg(node.pid, signal.SIGKILL)
    node.wait()


@pytest.fixture
def head(tmp_path: Path) -> Iterator[str]:
    """The address of a Ray of one node with one core."""
    port = free_port()
    arguments = ["--head", "--port", str(port), "--include-dashboard", "false"]
    node = start_node(tmp_path, HEAD, *arguments)
    address = f"{HEAD}:{port}"
    deadline = time.monotonic() + 30
    while "Ray runtime started" not in (tmp_path / f"{HEAD}.log").read_text():
        assert time.monotonic() < deadline, (tmp_path / f"{HEAD}.log").read_text()
        time.sleep(0.2)
    yield address
    end_node(node)


def test_a_node_joins_and_dies(runs: list[Run], head: str, tmp_path: Path) -> None:
    run = Run("solve", "7x7", "--address", head, "--json")
    runs.append(run)
    run.wait_for("worker 0: pid")
    node = start_node(tmp_path, OTHER, "--address", head)
    try:
        run.wait_for("worker 1: pid")
    finally:
        end_node(node)
    run.wait_for("worker 1 is lost")
    answer = run.end()
    assert answer["outcome"] == "black"
    # Until Ray notices that the node is gone, another one may have been tried there.
    lost = [worker["lost"] for worker in answer["workers"]]
    assert lost == [False] + [True] * (len(lost) - 1)

"""Nodes of a local Ray cluster. They use other loopback addresses, since Ray replaces 127.0.0.1."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

#: Loopback addresses, for local nodes.
HEAD, OTHER = "127.0.0.2", "127.0.0.3"

ENVIRONMENT = os.environ | {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Must be the same on all nodes.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    # Time until the loss of a node is detected.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}


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
    """Kills the node and all processes that it has started."""
    os.killpg(node.pid, signal.SIGKILL)
    node.wait()


@contextlib.contextmanager
def head_node(directory: Path) -> Iterator[str]:
    """Starts a Ray cluster of one node with one core, and yields its address."""
    port = free_port()
    arguments = ["--head", "--port", str(port), "--include-dashboard", "false"]
    node = start_node(directory, HEAD, *arguments)
    log = directory / f"{HEAD}.log"
    try:
        deadline = time.monotonic() + 30
        while "Ray runtime started" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"{HEAD}:{port}"
    finally:
        end_node(node)

"""Connection to Ray: joins a cluster, or starts a local Ray."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayError

from .._errors import Error, InputError

__all__ = ["ClusterError", "connected"]

#: Bytes of the object store of a local Ray.
STORE = 256 << 20

#: Seconds to wait for a connection to ``host:port``.
PATIENCE = 10


class ClusterError(Error, RuntimeError):
    """Ray cannot be used, or the work cannot continue: there are no workers, and no worker can be started."""


def _refuse_dead(address: str) -> None:
    """Rejects a ``host:port`` that accepts no connection. Ray itself would wait more than a minute."""
    host, _, port = address.rpartition(":")
    if not host or "://" in address or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"there is no Ray at {address}: {error}; "
            "`ray start --head` prints the address to give here"
        ) from error


def _refusal(address: str | None, error: Exception) -> Error:
    """Returns the error for a Ray that cannot be joined or started, in one line."""
    said = " ".join(str(error).split())
    if address is None:
        return ClusterError(f"Ray cannot be started on this machine: {said}")
    if "Version mismatch" in said:
        return InputError(
            f"the Ray at {address} has another version: {said}; "
            "install the same versions of Ray and Python on each machine"
        )
    return InputError(f"there is no Ray at {address}: {said}")


@contextmanager
def connected(address: str | None, cores: int) -> Iterator[None]:
    """Joins the Ray at an address, ``auto`` or ``host:port``. Without an address, starts a local Ray.

    A local Ray offers `cores` cores, or all cores of the machine if there are more, and ends with this process. If
    this process is already connected to a Ray, that connection is used, and stays open. Errors of Ray become
    ``ClusterError``.
    """
    try:
        if ray.is_initialized():
            if address is not None:
                raise InputError("Ray has been joined already: leave the address out")
            yield
            return
        _join(address, cores)
        try:
            yield
        finally:
            ray.shutdown()
    except RayError as error:
        raise ClusterError(f"Ray: {' '.join(str(error).split())}") from error


def _join(address: str | None, cores: int) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is not None:
        _refuse_dead(address)
        options["address"] = address
    else:
        # No usage statistics, and no connections from other machines.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options |= {
            "address": "local",
            "num_cpus": max(cores, os.cpu_count() or 1),
            "include_dashboard": False,
            "object_store_memory": STORE,
            "_node_ip_address": "127.0.0.1",
        }
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    main = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals} if main else {}
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise _refusal(address, error) from error
    finally:
        # Ray replaces signal handlers. A handler that was not set by Python cannot be restored.
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)

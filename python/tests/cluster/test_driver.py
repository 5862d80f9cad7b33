"""Decisions of the driver, with a stub coordinator and without Ray."""

from __future__ import annotations

import threading
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")

from konane.cluster import driver as module  # noqa: E402
from konane.cluster.driver import ClusterOptions, Driver, WorkerSlot  # noqa: E402
from konane.cluster.game import Sprouts  # noqa: E402
from konane.cluster.machines import Machine, shortage  # noqa: E402
from konane.cluster.session import ClusterError  # noqa: E402
from konane.cluster.worker import JobReport  # noqa: E402

pytestmark = pytest.mark.ray


def worker(number: int) -> WorkerSlot:
    """An idle worker with four threads."""
    return WorkerSlot(number, Machine("a", 8), 4, None, 0.0, None, None, 0.0, pid=1)


class StubCoordinator:
    """A coordinator without jobs that ends at the fifth idle request."""

    def __init__(self) -> None:
        self.job_nodes: list[int] = []
        self.requests = 0
        self.reason: str | None = None

    def status(self) -> Any:
        return SimpleNamespace(over=False)

    def set_job_nodes(self, nodes: int) -> None:
        self.job_nodes.append(nodes)

    def handle_idle(self, _worker: int) -> Any:
        self.requests += 1
        return SimpleNamespace(job=None, over=self.requests == 5)

    def cancelled(self) -> list[tuple[int, int]]:
        return []

    def end(self, reason: str) -> None:
        self.reason = reason


def test_job_length_adapts_to_the_driver_and_workers() -> None:
    coordinator, game = StubCoordinator(), Sprouts("0*3", job_nodes=1000, job_seconds=0.02)
    driver = Driver(game, coordinator, ClusterOptions(), print, print)
    driver.workers = [worker(number) for number in range(100)]
    # Speeds are not known yet.
    driver._adapt()
    driver._adapt()
    assert coordinator.job_nodes == [4000]
    # A call takes the driver 0.1 ms, so serving all workers takes less time than a job should last.
    # The median speed is used.
    driver.busy, driver.calls = 0.01, 100
    for each in driver.workers[1:]:
        each.nodes, each.seconds = 1_000_000, 1.0
    driver.workers[1].nodes = 9_000_000
    driver._adapt()
    assert coordinator.job_nodes.pop() == 20_000
    # Now a call takes 1 ms.
    driver.busy = 0.1
    driver._adapt()
    assert coordinator.job_nodes.pop() == 125_000


class MachineMonitor:
    """A machine monitor without Ray."""

    found: dict[str, Machine] | None = None

    def start(self) -> None: ...
    def end(self) -> None: ...
    def take(self) -> dict[str, Machine] | None:
        return self.found


@pytest.fixture(autouse=True)
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MachineMonitor", MachineMonitor)
    monkeypatch.setattr(module.ray, "kill", lambda *_, **__: None)


def test_idle_workers_are_served_again_without_pending_jobs() -> None:
    coordinator, stop = StubCoordinator(), threading.Event()
    driver = Driver(Sprouts("0*3"), coordinator, ClusterOptions(), print, lambda _: None)
    driver.workers = [worker(0)]
    late = threading.Timer(20, stop.set)
    late.start()
    driver.run(stop)
    late.cancel()
    assert (coordinator.requests, coordinator.reason) == (5, None)


class SimulatedTime:
    """A simulated clock with Ray calls. A call is the time of its response, which may be infinite."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module.ray, "wait", self.wait)
        monkeypatch.setattr(module.ray, "get", lambda _: JobReport(b"done", 1.0, 1))

    def wait(self, calls: list[float], num_returns: int = 1, timeout: float = 0.0) -> Any:
        if min(calls) > self.now:
            self.now = min(self.now + timeout, *calls)
        ready = [call for call in calls if call <= self.now][:num_returns]
        return ready, [call for call in calls if call not in ready]


class StubActor:
    """An actor with a fixed response time for jobs and for pings."""

    def __init__(self, time: SimulatedTime, job: float, ping: float = 0.01) -> None:
        self.requests = 0
        self.search = SimpleNamespace(remote=lambda *_: time.now + job)
        self.ping = SimpleNamespace(remote=lambda: self._sign(time.now + ping))

    def _sign(self, when: float) -> float:
        self.requests += 1
        return when


class BusyCoordinator(StubCoordinator):
    """A coordinator with jobs until `max_jobs` are done. Only the worker `mortal` may be lost."""

    def __init__(self, max_jobs: int, mortal: int | None = None) -> None:
        super().__init__()
        self.max_jobs, self.mortal, self.done = max_jobs, mortal, 0

    def handle_idle(self, worker: int) -> Any:
        over = self.done >= self.max_jobs
        job = None if over else self.done
        return SimpleNamespace(worker=worker, reply=b"", job=job, node=b"", last=None, over=over)

    def handle(self, _message: bytes) -> Any:
        self.done += 1
        return self.handle_idle(0)

    def remove_worker(self, worker: int) -> None:
        assert worker == self.mortal


def busy_driver(actors: list[StubActor], coordinator: StubCoordinator, **options: float) -> Driver:
    driver = Driver(Sprouts("0*3"), coordinator, ClusterOptions(**options), print, lambda _: None)
    for number, actor in enumerate(actors):
        driver.workers.append(worker(number))
        driver.workers[number].actor = actor
    return driver


def test_a_job_may_take_longer_than_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    time, coordinator = SimulatedTime(monkeypatch), BusyCoordinator(3)
    actor = StubActor(time, job=200.0)
    busy_driver([actor], coordinator, lease=30.0).run(threading.Event())
    assert coordinator.done == 3
    assert actor.requests > 30


def test_a_worker_that_does_not_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    time, coordinator = SimulatedTime(monkeypatch), BusyCoordinator(1, mortal=0)
    driver = busy_driver([StubActor(time, inf, inf), StubActor(time, 100.0)], coordinator, lease=30.0)
    driver.run(threading.Event())
    assert coordinator.done == 1
    assert [worker.lost for worker in driver.workers] == [True, False]


def test_a_suspended_driver_loses_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    time, coordinator = SimulatedTime(monkeypatch), BusyCoordinator(8)
    # All workers have answered when the driver continues, and it handles the answers one by one.
    driver = busy_driver([StubActor(time, 0.4) for _ in range(4)], coordinator, lease=30.0)
    handle = coordinator.handle

    def stopped(message: bytes) -> Any:
        time.now += 3600.0
        return handle(message)

    coordinator.handle = stopped
    driver.run(threading.Event())
    assert coordinator.done == 8


def test_missing_cores_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    time, notes = SimulatedTime(monkeypatch), list[str]()
    monkeypatch.setattr(MachineMonitor, "found", {"a": Machine("a", 4), "b": Machine("b", 2)})
    options, stop = ClusterOptions(threads=8), threading.Event()
    driver = Driver(Sprouts("0*3"), StubCoordinator(), options, notes.append, lambda _: None)
    # No call is pending that would advance the clock.
    monkeypatch.setattr(stop, "wait", lambda seconds: time.wait([inf], timeout=seconds))
    with pytest.raises(ClusterError, match="for 120 s: no machine has 8 cores"):
        driver.run(stop)
    assert notes == ["no machine has 8 cores"]


def test_shortage_of_cores() -> None:
    machines = [Machine("a", 4), Machine("b", 2)]
    assert shortage(machines, None, None) is None
    assert shortage(machines, None, 4) is None
    assert shortage(machines, 3, 2) is None
    assert shortage(machines, 10, 2) == "the cluster has CPUs for 3 of 10 workers"
    assert shortage(machines, 10, None) == "the cluster has CPUs for 6 of 10 workers"
    assert shortage(machines, 1, 5) == "no machine has 5 cores"
    assert shortage([], None, None) == "no machine has 1 core"

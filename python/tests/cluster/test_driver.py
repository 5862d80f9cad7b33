"""What the driver decides, with a leader that is made up and no Ray that runs."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")

from konane.cluster import driver as module  # noqa: E402
from konane.cluster.driver import Driver, Member, Rules  # noqa: E402
from konane.cluster.game import Sprouts  # noqa: E402
from konane.cluster.places import Place  # noqa: E402

pytestmark = pytest.mark.ray


def member(number: int) -> Member:
    """A worker of four threads that has nothing to do."""
    return Member(number, Place("a", 8), 4, None, 0.0, None, None, 0.0, pid=1)


class Leader:
    """Has nothing to do for anybody, and is over when it has been asked five times."""

    def __init__(self) -> None:
        self.job_nodes: list[int] = []
        self.asked = 0
        self.reason: str | None = None

    def standing(self) -> Any:
        return SimpleNamespace(over=False)

    def set_job_nodes(self, nodes: int) -> None:
        self.job_nodes.append(nodes)

    def hello(self, _worker: int) -> Any:
        self.asked += 1
        return SimpleNamespace(job=None, over=self.asked == 5)

    def stops(self) -> list[tuple[int, int]]:
        return []

    def end(self, reason: str) -> None:
        self.reason = reason


def test_a_job_lasts_until_all_have_been_served() -> None:
    leader, game = Leader(), Sprouts("0*3", job_nodes=1000, job_seconds=0.02)
    driver = Driver(game, leader, Rules(), print, print)
    driver.members = [member(number) for number in range(100)]
    # Nobody knows how fast they are.
    driver._adapt()
    driver._adapt()
    assert leader.job_nodes == [4000]
    # A call takes the driver 0.1 ms, so a round is shorter than a job is to be. The middle of all
    # speeds counts.
    driver.busy, driver.calls = 0.01, 100
    for each in driver.members[1:]:
        each.nodes, each.seconds = 1_000_000, 1.0
    driver.members[1].nodes = 9_000_000
    driver._adapt()
    assert leader.job_nodes.pop() == 20_000
    # Now it takes 1 ms.
    driver.busy = 0.1
    driver._adapt()
    assert leader.job_nodes.pop() == 125_000


def test_whoever_waits_is_asked_again_although_nobody_has_a_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Machines:
        def start(self) -> None: ...
        def end(self) -> None: ...
        def take(self) -> None: ...

    monkeypatch.setattr(module, "Machines", Machines)
    monkeypatch.setattr(module.ray, "kill", lambda *_, **__: None)
    leader, stop = Leader(), threading.Event()
    driver = Driver(Sprouts("0*3"), leader, Rules(), print, lambda _: None)
    driver.members = [member(0)]
    late = threading.Timer(20, stop.set)
    late.start()
    driver.run(stop)
    late.cancel()
    assert (leader.asked, leader.reason) == (5, None)

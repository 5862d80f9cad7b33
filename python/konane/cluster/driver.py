"""The driver: carries messages between a leader, which is here, and workers, which are Ray's actors.

It knows no game: orders and messages are bytes, made and read by the leader and the workers. It does
three things:

* *Jobs.* A worker has one at a time, which is a call. That takes the driver about a millisecond, whatever
  is in it, so jobs are to take long enough for the driver to serve all workers meanwhile, and no longer:
  what many search at once without hearing of each other is partly in vain.
* *Seats.* Every worker has a number that is never used twice. One that is lost, by whatever error, is
  killed for good, its jobs are released, and a new one takes its place under a new number. What
  comes from it afterwards is not heard. One whose job takes long is asked for a sign, and is lost if
  it gives none. That is timed by a clock which stands still while the driver does: a driver that was
  stopped hears what has come before it blames anybody.
* *Limits.* Time, and somebody who wants to stop.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .._errors import InputError
from .._konane import time_limit
from . import text
from .game import Game
from .places import Place, shortage, spread
from .session import ClusterError
from .worker import Order, Ready, actor_class

__all__ = ["Driver", "Member", "Rules"]

#: A job takes at least so many times what it takes the driver to serve all workers once.
ROUNDS = 1.25

#: Seconds of searching after which a worker's speed is known.
KNOWN = 0.1

#: Between two looks at machines, limits and silent workers.
TEND = 0.5

#: Jobs that a worker may refuse in a row.
REFUSALS = 5


@dataclass(frozen=True)
class Rules:
    """How to use the cluster."""

    #: Workers in all; none for one on each machine.
    workers: int | None = None
    #: Threads of each; none for all cores of a machine, divided among its workers.
    threads: int | None = None
    #: Memory of each worker's table.
    memory: int | str = "1GiB"
    #: Nodes of a job; none for what a worker evaluates while all others are served.
    job_nodes: int | None = None
    time_limit: float | None = None
    #: Seconds in which a worker has to give a sign when its job takes longer.
    lease: float = 30.0
    #: Seconds without any worker after which the search is given up.
    patience: float = 120.0

    def __post_init__(self) -> None:
        # Before a Ray is started for it, or no worker is found for it.
        text.check("workers", self.workers)
        text.check("threads_per_worker", self.threads)
        text.check("job_nodes", self.job_nodes, (1 << 64) - 1)
        if self.time_limit is not None:
            time_limit(self.time_limit)


@dataclass(eq=False)
class Member:
    """A worker."""

    number: int
    place: Place
    threads: int
    actor: Any
    started: float
    #: Whom it replaces.
    before: int | None
    #: The call that has not been answered.
    call: Any
    #: When it last gave a sign or was called, on the driver's clock.
    heard: float
    #: The question for a sign that has not been answered.
    asked: Any = None
    pid: int | None = None
    #: Entries that fit into its table.
    capacity: int = 0
    #: Workers that it can ask.
    peers: set[int] = field(default_factory=set)
    refusals: int = 0
    jobs: int = 0
    nodes: int = 0
    #: Seconds in which it has searched jobs.
    seconds: float = 0.0
    lost: bool = False

    @property
    def speed(self) -> float | None:
        """Nodes a second, once that is known. Those between two jobs count, too: jobs come out longer."""
        return self.nodes / self.seconds if self.seconds > KNOWN else None


@dataclass
class Trouble:
    """Workers of a machine that were lost one after another."""

    count: int = 0
    until: float = 0.0


class Driver:
    """Runs one search."""

    def __init__(
        self,
        game: Game,
        leader: Any,
        rules: Rules,
        note: Callable[[str], None],
        watch: Callable[[Driver], None],
    ) -> None:
        self.game, self.leader, self.rules = game, leader, rules
        self._note, self._watch = note, watch
        self._actor_class = actor_class()
        self._places: dict[str, Place] = {}
        self._trouble: dict[str, Trouble] = {}
        #: Why the last worker was lost, and why some cannot be started.
        self._error: str | None = None
        self._short: str | None = None
        self._vacant: deque[int] = deque()
        #: All workers that there have been.
        self.members: list[Member] = []
        self.calls = 0
        #: Seconds in which calls were taken and made.
        self.busy = 0.0
        self.job_nodes = 0
        self.begun: float | None = None
        self.ended = 0.0
        #: Seconds in which the driver has been at work, for silences.
        self.awake = 0.0

    # -- what others may look at

    @property
    def live(self) -> list[Member]:
        """The workers that are not lost."""
        return [member for member in self.members if not member.lost]

    @property
    def seconds(self) -> float:
        """Since the first worker was ready."""
        if self.begun is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.begun

    # -- the run

    def run(self, stop: threading.Event) -> None:
        """Searches until there is an answer, a limit is reached or somebody wants to stop."""
        standing = self.leader.status()
        if standing is None or standing.over:
            return
        machines = Machines()
        machines.start()
        started = before = time.monotonic()
        alive = next_look = 0.0
        try:
            while True:
                now = time.monotonic()
                self.awake += min(now - before, TEND)
                before = now
                if stop.is_set():
                    self.leader.end("interrupted")
                    break
                if now >= next_look:
                    next_look = now + TEND
                    limit = self.rules.time_limit
                    if limit is not None and now - started >= limit:
                        self.leader.end("time limit")
                        break
                    if any(member.pid is not None for member in self.live):
                        alive = self.awake
                    elif self.awake - alive > self.rules.patience:
                        why = self._error or self._short
                        raise ClusterError(
                            f"no worker could be started for {self.rules.patience:.0f} s"
                            + (f": {why}" if why else "")
                        )
                    self._tend(machines.take(), now)
                    self._watch(self)
                owners = {member.call: member for member in self.live if member.call is not None}
                ready: list[Any] = []
                if owners:
                    ready, _ = ray.wait(list(owners), num_returns=1, timeout=0.1)
                else:
                    stop.wait(0.05)
                if len(owners) > 8 and ready:
                    ready, _ = ray.wait(list(owners), num_returns=len(owners), timeout=0)
                begun = time.monotonic()
                for call in ready:
                    if not owners[call].lost:
                        self._take(owners[call])
                self._serve()
                self.busy += time.monotonic() - begun
                if self._over:
                    break
        finally:
            self.ended = time.monotonic()
            machines.end()
            for member in self.live:
                self._kill(member)

    _over = False

    # -- messages

    def _take(self, member: Member) -> None:
        """A call has been answered."""
        call, member.call = member.call, None
        now = time.monotonic()
        try:
            report = ray.get(call)
        except Exception as error:
            cause = getattr(error, "cause", None)
            if member.pid is None and isinstance(cause, InputError):
                raise cause from error
            self._lose(member, _why(error))
            return
        if isinstance(report, Ready):
            self._welcome(member, report, now)
            return
        member.jobs += 1
        member.nodes = report.nodes
        member.seconds += report.seconds
        message = report.message
        told = message if isinstance(message, str) else self.leader.handle(message)
        if not isinstance(told, str):
            member.refusals = 0
            self._obey(member, told)
            return
        # Who has heard or said nothing sound says hello, and gets the same job again.
        member.refusals += 1
        if member.refusals > REFUSALS:
            self._lose(member, told)

    def _obey(self, member: Member, told: Any) -> None:
        """Sends a job to its worker, if there is one."""
        if told is None or told.job is None:
            self._over = self._over or told is None or told.over
            return
        last, peers = told.last, {}
        if last is not None and self.members[last].lost:
            last = None
        if last is not None and last not in member.peers:
            member.peers.add(last)
            peers[last] = self.members[last].actor
        order = Order(told.worker, told.reply, told.node if last is not None else None, last)
        member.call = member.actor.search.remote(order, peers)
        member.heard = self.awake
        self.calls += 1

    def _serve(self) -> None:
        """Gives jobs to those that have none."""
        for member in self.live:
            if member.pid is not None and member.call is None and not self._over:
                self._obey(member, self.leader.handle_idle(member.number))
                if member.call is None:
                    # Nobody else will get one either.
                    break
        for worker, job in self.leader.cancelled():
            member = self.members[worker]
            if not member.lost:
                member.actor.cancel.remote(job)

    # -- workers

    def _tend(self, places: dict[str, Place] | None, now: float) -> None:
        """Looks after machines and workers."""
        if places is not None:
            self._places = places
            before = self._short
            self._short = shortage(places.values(), self.rules.workers, self.rules.threads)
            if self._short not in (None, before):
                self._note(self._short)
        for member in self.live:
            if member.call is not None:
                self._listen(member)
        self._fill(now)
        self._adapt()

    def _listen(self, member: Member) -> None:
        """Asks a worker for a sign if its call takes long, and loses it if none comes."""
        if member.asked is not None and ray.wait([member.asked], timeout=0)[0]:
            member.asked, member.heard = None, self.awake
        quiet = self.awake - member.heard
        if member.pid is None:
            # It makes its table, and can say nothing yet.
            lease = max(self.rules.lease, self.rules.patience)
        else:
            lease = self.rules.lease
            if member.asked is None and quiet > lease / 4:
                member.asked = member.actor.sign.remote()
        if quiet > lease:
            self._lose(member, f"nothing has been heard of it for {quiet:.0f} s")

    def _fill(self, now: float) -> None:
        """Starts workers where some are missing."""
        plan = spread(self._places.values(), self.rules.workers, self.rules.threads)
        live = self.live
        left = sum(count for count, _ in plan.values()) - len(live)
        for place, (count, threads) in plan.items():
            here = [member for member in live if member.place.node == place.node]
            free = place.cores - sum(member.threads for member in here)
            for _ in range(count - len(here)):
                threads = min(threads, free) if self.rules.threads is None else threads
                if left <= 0 or not 1 <= threads <= free:
                    break
                if now < self._trouble.setdefault(place.node, Trouble()).until:
                    break
                self._start(place, threads, now)
                left -= 1
                free -= threads

    def _start(self, place: Place, threads: int, now: float) -> None:
        strategy = NodeAffinitySchedulingStrategy(place.node, soft=False)
        number = len(self.members)
        options = {"num_cpus": threads, "scheduling_strategy": strategy}
        actor = self._actor_class.options(**options).remote(
            self.game, self.rules.memory, threads, self.game.fact_work
        )
        before = self._vacant.popleft() if self._vacant else None
        begun = actor.begin.remote()
        member = Member(number, place, threads, actor, now, before, begun, self.awake)
        self.members.append(member)

    def _welcome(self, member: Member, ready: Ready, now: float) -> None:
        """A worker is ready."""
        member.pid, member.capacity = ready
        self.begun = self.begun or now
        before = "" if member.before is None else f", in place of worker {member.before}"
        self._note(f"worker {member.number}: pid {ready.pid} on node {member.place.name}{before}")
        self._adapt()

    def _lose(self, member: Member, why: str) -> None:
        """A worker will not be heard of again."""
        now = time.monotonic()
        member.lost = True
        self._kill(member)
        self.leader.remove_worker(member.number)
        self._vacant.append(member.number)
        self._error = why
        self._note(f"worker {member.number} is lost: {why}")
        # The first is replaced at once; where they go on dying, there is a pause.
        trouble = self._trouble.setdefault(member.place.node, Trouble())
        lasted = member.pid is not None and now - member.started > 5
        trouble.count = 1 if lasted else trouble.count + 1
        trouble.until = now + (min(30.0, 2.0 ** (trouble.count - 2)) if trouble.count > 1 else 0.0)
        self._fill(now)

    def _kill(self, member: Member) -> None:
        member.call = member.asked = None
        # One that is gone or out of reach is not heard any more in any case.
        with contextlib.suppress(Exception):
            ray.kill(member.actor, no_restart=True)

    def _adapt(self) -> None:
        """How many nodes the next jobs get: as many as a worker searches while all others are served."""
        ready = [member for member in self.live if member.pid is not None]
        if not ready:
            return
        nodes = self.rules.job_nodes
        if nodes is None:
            speeds = sorted(member.speed for member in ready if member.speed is not None)
            if speeds:
                service = len(ready) * self.busy / max(self.calls, 1)
                seconds = max(self.game.job_seconds, ROUNDS * service)
                nodes = int(speeds[len(speeds) // 2] * seconds)
            else:
                nodes = self.game.job_nodes * min(member.threads for member in ready)
        if nodes != self.job_nodes:
            self.job_nodes = nodes
            self.leader.set_job_nodes(nodes)


class Machines(threading.Thread):
    """Asks Ray which machines there are, now and then: a question that may take long."""

    def __init__(self) -> None:
        super().__init__(name="machines", daemon=True)
        self._done = threading.Event()
        self._places: dict[str, Place] | None = places()

    def run(self) -> None:
        while not self._done.wait(1.0):
            # Where Ray does not answer, what is known stays.
            with contextlib.suppress(Exception):
                self._places = places()

    def take(self) -> dict[str, Place] | None:
        """The news, if there are any."""
        found, self._places = self._places, None
        return found

    def end(self) -> None:
        self._done.set()


def places() -> dict[str, Place]:
    """The machines that are there."""
    found = {}
    for node in ray.nodes():
        cores = int(node["Resources"].get("CPU", 0))
        if node["Alive"] and cores > 0:
            found[node["NodeID"]] = Place(node["NodeID"], cores)
    return found


def _why(error: Exception) -> str:
    """An error of Ray in one line."""
    cause = getattr(error, "cause", None)
    said = str(cause if isinstance(cause, Exception) else error).strip()
    lines = said.splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")

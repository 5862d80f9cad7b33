"""Driver: carries messages between a coordinator in this process and workers, which are Ray actors.

The driver does not depend on the game: requests and replies are bytes, written and read by the coordinator and the
workers. It has three responsibilities:

* *Jobs.* A worker has one job at a time, which is one actor call. A call takes the driver about a millisecond. So a
  job has to take at least the time in which the driver serves all workers, and not much more: workers that search
  for a long time without shared results repeat work of each other.
* *Worker slots.* Every worker has a number that is never reused. A worker that is lost, by whatever error, is killed,
  its jobs are released, and a new worker with a new number replaces it. Later messages of the lost worker are
  ignored. A worker whose job takes long is pinged, and is lost if it does not answer. This time is measured by a
  clock that stands still while the driver is stopped, so that a driver that continues first processes the messages
  that have arrived.
* *Limits.* The driver ends the search at the time limit, or when it is requested to stop.

:class:`ClusterOptions` has the parameters, :class:`WorkerSlot` the state of a worker, :class:`MachineFailures` the
failures of a machine; :class:`MachineMonitor` polls Ray for machines.
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
from .machines import Machine, shortage, spread
from .session import ClusterError
from .worker import Job, WorkerReady, actor_class

__all__ = ["Driver", "WorkerSlot", "ClusterOptions"]

#: Minimum duration of a job, as a multiple of the time in which the driver serves all workers once.
MIN_ROUNDS = 1.25

#: Seconds that a worker must have searched before its measured speed is used.
MIN_SPEED_SECONDS = 0.1

#: Seconds between two checks of machines, limits and leases.
CHECK_INTERVAL = 0.5

#: Maximum number of consecutive rejections of a worker.
MAX_REJECTIONS = 5


@dataclass(frozen=True)
class ClusterOptions:
    """Use of the cluster by a search."""

    #: Total number of workers; ``None`` for one on each machine.
    workers: int | None = None
    #: Threads of each worker; ``None`` for all cores of a machine, divided among its workers.
    threads: int | None = None
    #: Memory of each worker's table.
    memory: int | str = "1GiB"
    #: Nodes of a job; ``None`` for at least the number that a worker evaluates while the driver serves all workers.
    job_nodes: int | None = None
    #: Number of seconds, or a text such as ``"1h"``.
    time_limit: float | str | None = None
    #: Seconds without a message after which a worker is lost. During a long job, it must answer a ping in this time.
    lease: float = 30.0
    #: Seconds without any worker after which the search fails.
    patience: float = 120.0

    def __post_init__(self) -> None:
        # Checked before Ray is started.
        text.check("workers", self.workers)
        text.check("threads_per_worker", self.threads)
        text.check("job_nodes", self.job_nodes, (1 << 64) - 1)
        if self.time_limit is not None:
            time_limit(self.time_limit)


@dataclass(eq=False)
class WorkerSlot:
    """State of a worker."""

    number: int
    machine: Machine
    threads: int
    actor: Any
    started: float
    #: Number of the lost worker that this worker replaces.
    replaces: int | None
    #: Pending call.
    call: Any
    #: Time of the worker's last answer or last call, on the driver's clock.
    last_sign: float
    #: Ping that has not been answered.
    pending_ping: Any = None
    pid: int | None = None
    #: Capacity of its table in entries.
    capacity: int = 0
    #: Numbers of the workers whose actors this worker has received.
    peers: set[int] = field(default_factory=set)
    rejections: int = 0
    jobs: int = 0
    nodes: int = 0
    #: Seconds of searching jobs.
    seconds: float = 0.0
    lost: bool = False

    @property
    def speed(self) -> float | None:
        """Nodes per second; ``None`` until it is known.

        Nodes between two jobs count, but not the time, so the speed is too high and jobs become longer.
        """
        return self.nodes / self.seconds if self.seconds > MIN_SPEED_SECONDS else None


@dataclass
class MachineFailures:
    """Consecutive losses of workers on a machine."""


    count: int = 0
    #: Time before which no worker is started on the machine.
    pause_end: float = 0.0


class Driver:
    """Runs one search."""

    def __init__(
        self,
        game: Game,
        coordinator: Any,
        options: ClusterOptions,
        note: Callable[[str], None],
        watch: Callable[[Driver], None],
    ) -> None:
        self.game, self.coordinator, self.options = game, coordinator, options
        self._note, self._watch = note, watch
        self._actor_class = actor_class()
        self._machines: dict[str, Machine] = {}
        self._failures: dict[str, MachineFailures] = {}
        #: Reason of the last loss of a worker, and reason why workers cannot be started.
        self._error: str | None = None
        self._shortage: str | None = None
        self._lost_numbers: deque[int] = deque()
        #: All workers, including lost ones. The index is the number.
        self.workers: list[WorkerSlot] = []
        self.calls = 0
        #: Seconds of processing and making calls.
        self.busy = 0.0
        self.job_nodes = 0
        self.begun: float | None = None
        self.ended = 0.0
        #: Driver's clock for leases, in seconds. It stands still while the process is stopped.
        self.awake = 0.0

    # -- for progress and metrics

    @property
    def live(self) -> list[WorkerSlot]:
        """Workers that are not lost."""
        return [worker for worker in self.workers if not worker.lost]

    @property
    def seconds(self) -> float:
        """Seconds since the first worker was ready."""
        if self.begun is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.begun

    # -- main loop

    def run(self, stop: threading.Event) -> None:
        """Searches until the result is known, a limit is reached, or `stop` is set."""
        status = self.coordinator.status()
        if status is None or status.over:
            return
        machines = MachineMonitor()
        machines.start()
        limit = self.options.time_limit
        seconds = None if limit is None else time_limit(limit)
        started = before = time.monotonic()
        alive = next_check = 0.0
        try:
            while True:
                now = time.monotonic()
                self.awake += min(now - before, CHECK_INTERVAL)
                before = now
                if stop.is_set():
                    self.coordinator.end("interrupted")
                    break
                if now >= next_check:
                    next_check = now + CHECK_INTERVAL
                    if seconds is not None and now - started >= seconds:
                        self.coordinator.end("time limit")
                        break
                    if any(worker.pid is not None for worker in self.live):
                        alive = self.awake
                    elif self.awake - alive > self.options.patience:
                        why = self._error or self._shortage
                        raise ClusterError(
                            f"no worker could be started for {self.options.patience:.0f} s"
                            + (f": {why}" if why else "")
                        )
                    self._check(machines.take(), now)
                    self._watch(self)
                owners = {worker.call: worker for worker in self.live if worker.call is not None}
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
            for worker in self.live:
                self._kill(worker)

    _over = False

    # -- messages

    def _take(self, worker: WorkerSlot) -> None:
        """Handles the result of a call."""
        call, worker.call = worker.call, None
        now = time.monotonic()
        try:
            report = ray.get(call)
        except Exception as error:
            cause = getattr(error, "cause", None)
            if worker.pid is None and isinstance(cause, InputError):
                raise cause from error
            self._lose(worker, _error_line(error))
            return
        if isinstance(report, WorkerReady):
            self._add_ready(worker, report, now)
            return
        worker.jobs += 1
        worker.nodes = report.nodes
        worker.seconds += report.seconds
        message = report.message
        reply = message if isinstance(message, str) else self.coordinator.handle(message)
        if not isinstance(reply, str):
            worker.rejections = 0
            self._assign(worker, reply)
            return
        # After a rejected message the worker is idle, and receives the same job again.
        worker.rejections += 1
        if worker.rejections > MAX_REJECTIONS:
            self._lose(worker, reply)

    def _assign(self, worker: WorkerSlot, reply: Any) -> None:
        """Sends the job of a reply to its worker, if the reply has one."""
        if reply is None or reply.job is None:
            self._over = self._over or reply is None or reply.over
            return
        last, peers = reply.last, {}
        if last is not None and self.workers[last].lost:
            last = None
        if last is not None and last not in worker.peers:
            worker.peers.add(last)
            peers[last] = self.workers[last].actor
        order = Job(reply.worker, reply.reply, reply.node if last is not None else None, last)
        worker.call = worker.actor.search.remote(order, peers)
        worker.last_sign = self.awake
        self.calls += 1

    def _serve(self) -> None:
        """Sends jobs to idle workers, and cancellations to workers whose jobs are not needed any more."""
        for worker in self.live:
            if worker.pid is not None and worker.call is None and not self._over:
                self._assign(worker, self.coordinator.handle_idle(worker.number))
                if worker.call is None:
                    # No job is available for other workers either.
                    break
        for number, job in self.coordinator.cancelled():
            worker = self.workers[number]
            if not worker.lost:
                worker.actor.cancel.remote(job)

    # -- workers

    def _check(self, machines: dict[str, Machine] | None, now: float) -> None:
        """Updates the machines, checks leases, and starts missing workers."""
        if machines is not None:
            self._machines = machines
            before = self._shortage
            self._shortage = shortage(machines.values(), self.options.workers, self.options.threads)
            if self._shortage not in (None, before):
                self._note(self._shortage)
        for worker in self.live:
            if worker.call is not None:
                self._check_lease(worker)
        self._fill(now)
        self._adapt()

    def _check_lease(self, worker: WorkerSlot) -> None:
        """Pings a worker whose call takes long. Removes it if it does not answer."""
        if worker.pending_ping is not None and ray.wait([worker.pending_ping], timeout=0)[0]:
            worker.pending_ping, worker.last_sign = None, self.awake
        quiet = self.awake - worker.last_sign
        if worker.pid is None:
            # The worker allocates its table, and cannot answer yet.
            lease = max(self.options.lease, self.options.patience)
        else:
            lease = self.options.lease
            if worker.pending_ping is None and quiet > lease / 4:
                worker.pending_ping = worker.actor.ping.remote()
        if quiet > lease:
            self._lose(worker, f"no answer for {quiet:.0f} s")

    def _fill(self, now: float) -> None:
        """Starts missing workers."""
        plan = spread(self._machines.values(), self.options.workers, self.options.threads)
        live = self.live
        left = sum(count for count, _ in plan.values()) - len(live)
        for machine, (count, threads) in plan.items():
            on_machine = [worker for worker in live if worker.machine.node == machine.node]
            free = machine.cores - sum(worker.threads for worker in on_machine)
            for _ in range(count - len(on_machine)):
                threads = min(threads, free) if self.options.threads is None else threads
                if left <= 0 or not 1 <= threads <= free:
                    break
                if now < self._failures.setdefault(machine.node, MachineFailures()).pause_end:
                    break
                self._start(machine, threads, now)
                left -= 1
                free -= threads

    def _start(self, machine: Machine, threads: int, now: float) -> None:
        strategy = NodeAffinitySchedulingStrategy(machine.node, soft=False)
        number = len(self.workers)
        options = {"num_cpus": threads, "scheduling_strategy": strategy}
        actor = self._actor_class.options(**options).remote(
            self.game, self.options.memory, threads, self.game.shared_work
        )
        before = self._lost_numbers.popleft() if self._lost_numbers else None
        begun = actor.begin.remote()
        worker = WorkerSlot(number, machine, threads, actor, now, before, begun, self.awake)
        self.workers.append(worker)

    def _add_ready(self, worker: WorkerSlot, ready: WorkerReady, now: float) -> None:
        """Records that a worker is ready."""
        worker.pid, worker.capacity = ready
        self.begun = self.begun or now
        before = "" if worker.replaces is None else f", in place of worker {worker.replaces}"
        self._note(f"worker {worker.number}: pid {ready.pid} on node {worker.machine.name}{before}")
        self._adapt()

    def _lose(self, worker: WorkerSlot, why: str) -> None:
        """Removes a lost worker."""
        now = time.monotonic()
        worker.lost = True
        self._kill(worker)
        self.coordinator.remove_worker(worker.number)
        self._lost_numbers.append(worker.number)
        self._error = why
        self._note(f"worker {worker.number} is lost: {why}")
        # After the first of several consecutive losses on a machine, a new worker is started at once. After the
        # next ones there is a pause, which doubles each time.
        failures = self._failures.setdefault(worker.machine.node, MachineFailures())
        lasted = worker.pid is not None and now - worker.started > 5
        failures.count = 1 if lasted else failures.count + 1
        failures.pause_end = now + (min(30.0, 2.0 ** (failures.count - 2)) if failures.count > 1 else 0.0)
        self._fill(now)

    def _kill(self, worker: WorkerSlot) -> None:
        worker.call = worker.pending_ping = None
        # An actor that is dead or unreachable cannot be killed. Its messages are ignored anyway.
        with contextlib.suppress(Exception):
            ray.kill(worker.actor, no_restart=True)

    def _adapt(self) -> None:
        """Sets the nodes of later jobs. By default, a worker evaluates them while the driver serves all workers."""
        ready = [worker for worker in self.live if worker.pid is not None]
        if not ready:
            return
        nodes = self.options.job_nodes
        if nodes is None:
            speeds = sorted(worker.speed for worker in ready if worker.speed is not None)
            if speeds:
                service = len(ready) * self.busy / max(self.calls, 1)
                seconds = max(self.game.job_seconds, MIN_ROUNDS * service)
                nodes = int(speeds[len(speeds) // 2] * seconds)
            else:
                nodes = self.game.job_nodes * min(worker.threads for worker in ready)
        if nodes != self.job_nodes:
            self.job_nodes = nodes
            self.coordinator.set_job_nodes(nodes)


class MachineMonitor(threading.Thread):
    """Thread that polls Ray for the machines of the cluster. A poll may take long."""

    def __init__(self) -> None:
        super().__init__(name="machines", daemon=True)
        self._done = threading.Event()
        self._machines: dict[str, Machine] | None = find_machines()

    def run(self) -> None:
        """Polls every second until :meth:`end`."""
        while not self._done.wait(1.0):
            # If Ray does not answer, the known machines remain.
            with contextlib.suppress(Exception):
                self._machines = find_machines()

    def take(self) -> dict[str, Machine] | None:
        """Returns the machines if they have been polled since the last call."""
        found, self._machines = self._machines, None
        return found

    def end(self) -> None:
        """Ends the thread."""
        self._done.set()


def find_machines() -> dict[str, Machine]:
    """Returns the live machines with cores."""
    found = {}
    for node in ray.nodes():
        cores = int(node["Resources"].get("CPU", 0))
        if node["Alive"] and cores > 0:
            found[node["NodeID"]] = Machine(node["NodeID"], cores)
    return found


def _error_line(error: Exception) -> str:
    """Returns an error of Ray in one line."""
    cause = getattr(error, "cause", None)
    said = str(cause if isinstance(cause, Exception) else error).strip()
    lines = said.splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")

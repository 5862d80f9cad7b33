"""The coordinator and workers as plain objects: every winner agrees with `konane.solve`."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time

import carrier
import konane
import pytest
from konane._konane import ClusterCoordinator, ClusterWorker

BOARDS = [f"{ranks}x{files}" for ranks in range(1, 5) for files in range(1, 6)]


def random_position(board: str, plies: int, chance: random.Random) -> konane.Position:
    position = konane.Position(board)
    for _ in range(plies):
        moves = position.moves()
        if not moves:
            break
        position = position.play(chance.choice(moves))
    return position


def assert_agrees(answer: dict, position: konane.Position) -> None:
    expected = konane.solve(position, memory="64MiB")
    assert (answer["outcome"], answer["winner"]) == (expected.outcome, expected.winner)
    assert {*answer} >= {"leaf_positions", "l1_nodes", "expansions", "table"}
    if answer["outcome"] == "win":
        after = position.play(answer["best_move"])
        assert konane.solve(after, memory="64MiB").winner == expected.winner
    else:
        assert answer["best_move"] is None


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("board", BOARDS)
def test_small_boards(board: str, count: int) -> None:
    answer = carrier.carry(carrier.coordinator(board), [carrier.worker(board) for _ in range(count)])
    assert_agrees(answer, konane.Position(board))


@pytest.mark.parametrize(("board", "count"), [("5x6", 1), ("5x6", 5), ("6x6", 2)])
def test_larger_boards(board: str, count: int) -> None:
    answer = carrier.carry(carrier.coordinator(board), [carrier.worker(board) for _ in range(count)])
    assert_agrees(answer, konane.Position(board))


@pytest.mark.parametrize("seed", range(20))
def test_random_positions(seed: int) -> None:
    chance = random.Random(seed)
    board = chance.choice(["4x6", "5x5", "5x6", "6x6"])
    position = random_position(board, chance.randrange(1, 12), chance)
    count = chance.choice([1, 2, 5])
    coordinator = carrier.coordinator(position, job_nodes=chance.choice([2, 50, 1000]))
    assert_agrees(carrier.carry(coordinator, [carrier.worker(position) for _ in range(count)]), position)


@pytest.mark.parametrize("seed", range(8))
def test_messages_and_workers_are_lost(seed: int) -> None:
    chance = random.Random(seed)
    position = random_position("6x6", chance.randrange(2, 8), chance)
    coordinator = carrier.coordinator(position, job_nodes=200)
    workers = [carrier.worker(position) for _ in range(3)]
    answer = carrier.carry(coordinator, workers, chance=chance, late=lambda: carrier.worker(position))
    assert_agrees(answer, position)


def test_a_late_worker_gets_all_shared_results() -> None:
    coordinator = carrier.coordinator("6x7")
    workers = [carrier.worker("6x7")]
    for _ in range(300):
        reply = coordinator.handle_idle(0)
        if reply.job is None:
            break
        coordinator.handle(workers[0].search(0, reply.reply))
    shared = coordinator.status().results
    assert shared > 10
    # The first reply to a new worker contains the shared results, 16 bytes each. The worker that found
    # them gets none.
    assert len(coordinator.handle_idle(0).reply) < 8 * shared
    reply = coordinator.handle_idle(1)
    assert len(reply.reply) > 16 * shared
    newcomer = carrier.worker("6x7")
    newcomer.search(1, reply.reply)
    coordinator.end("interrupted")
    answer = coordinator.finish()
    assert (answer["outcome"], answer["winner"]) == ("unknown", "unknown")
    assert answer["reason"] == "interrupted"


def test_a_worker_continues_without_a_job() -> None:
    coordinator = carrier.coordinator("8x8", job_nodes=1000)
    worker = carrier.worker("8x8")
    worker.go_on()
    reply = coordinator.handle_idle(0)
    message = worker.search(0, reply.reply)
    spent = worker.nodes()
    assert 1000 <= spent < 3000
    worker.go_on()
    # The work is counted with the next job, which is not delayed.
    time.sleep(0.3)
    reply = coordinator.handle(message)
    begun = time.perf_counter()
    message = worker.search(0, reply.reply)
    assert time.perf_counter() - begun < 5
    assert worker.nodes() > spent + 10_000
    worker.go_on()
    worker.close()
    with pytest.raises(konane.InputError, match="closed"):
        worker.go_on()
    coordinator.end("interrupted")
    coordinator.finish()


def known_node(start: str) -> bytes:
    """A node below which another worker has table entries."""
    coordinator, worker = carrier.coordinator(start, job_nodes=1000), carrier.worker(start)
    coordinator.handle(worker.search(0, coordinator.handle_idle(0).reply))
    reply = coordinator.handle_idle(1)
    assert reply.last == 0
    worker.close()
    return reply.node


def test_a_job_is_cancelled_within_100_ms() -> None:
    node = known_node("8x8")
    coordinator = carrier.coordinator("8x8", job_nodes=1 << 40)
    worker = carrier.worker("8x8")
    reply = coordinator.handle_idle(0)
    assert reply.job is not None
    ended = threading.Event()

    def search() -> None:
        worker.search(0, reply.reply)
        ended.set()

    thread = threading.Thread(target=search)
    thread.start()
    time.sleep(0.5)
    assert not ended.is_set()
    # Requests from other workers are served during the job.
    worker.entries(node)
    assert not ended.is_set()
    begun = time.perf_counter()
    worker.cancel(reply.job)
    assert ended.wait(5)
    assert time.perf_counter() - begun < 0.1
    thread.join()
    worker.close()
    with pytest.raises(konane.InputError, match="closed"):
        worker.cancel(1)


def test_messages_of_another_search_are_rejected() -> None:
    coordinator, other = carrier.coordinator("6x6"), carrier.worker("6x7")
    reply = coordinator.handle_idle(0)
    with pytest.raises(konane.InputError, match="another search"):
        other.search(0, reply.reply)
    with pytest.raises(konane.InputError, match="another search"):
        other.entries(known_node("6x6"))
    with pytest.raises(konane.InputError, match="version"):
        other.search(0, b"GET / HTTP/1.1")
    assert "version" in coordinator.handle(b"\0" * 100)


def test_errors_are_raised_immediately() -> None:
    with pytest.raises(konane.InputError, match="memory of 1000 B"):
        carrier.coordinator("6x6", memory=1000)
    with pytest.raises(konane.FileError, match="no checkpoint"):
        carrier.coordinator("6x6", checkpoint="/nowhere/a", resume=True)
    coordinator = carrier.coordinator("6x6")
    with pytest.raises(konane.InputError, match="reason: expected"):
        coordinator.end("because")


def test_a_coordinator_resumes_from_its_checkpoint(tmp_path) -> None:
    file = tmp_path / "a.chk"
    coordinator = carrier.coordinator("6x7", checkpoint=file)
    worker = carrier.worker("6x7")
    for _ in range(100):
        reply = coordinator.handle_idle(0)
        coordinator.handle(worker.search(0, reply.reply))
    before = coordinator.status()
    assert before.results > 10
    assert coordinator.finish()["reason"] == "interrupted"
    with pytest.raises(konane.InputError, match="already exists"):
        carrier.coordinator("6x7", checkpoint=file)
    # Only one search may write the checkpoint at a time.
    with pytest.raises(konane.FileError, match="another search writes"):
        carrier.coordinator("6x7", checkpoint=file, resume=True)
    del coordinator
    coordinator = carrier.coordinator("6x7", checkpoint=file, resume=True)
    assert isinstance(coordinator, ClusterCoordinator)
    assert coordinator.before[0] == 1
    # The tree begins at the root. Results with enough work are shared again if the table still contains them.
    after = coordinator.status()
    assert (after.tree_nodes, before.tree_nodes > 1) == (1, True)
    assert after.results > before.results / 2
    answer = carrier.carry(coordinator, [carrier.worker("6x7")])
    assert answer["winner"] == "white"
    assert answer["total"]["runs"] == 2 and answer["total"]["leaf_positions"] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted as on Linux")
def test_a_checkpoint_leaves_no_threads_behind(tmp_path) -> None:
    # Threads of a process-wide pool would be missing after a fork.
    script = """
import os, sys, time
from konane._konane import ClusterCoordinator
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
for resume in (False, True):
    options = {"job_nodes": 100, "shared_work": 100, "memory": "16MiB"}
    coordinator = ClusterCoordinator.konane("6x6", checkpoint=sys.argv[1], resume=resume, **options)
    coordinator.finish()
    del coordinator
    # The system may still list a thread shortly after its end.
    deadline = time.monotonic() + 20
    while count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    print(count() - before)
"""
    command = [sys.executable, "-c", script, tmp_path / "a.chk"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "0"], done.stderr


def sprouts_coordinator(text: str, **options: object) -> ClusterCoordinator:
    options = {"job_nodes": 500, "memory": "16MiB"} | options
    return ClusterCoordinator.sprouts(text, **options)


@pytest.mark.parametrize(
    ("text", "nimber", "count"),
    [("0*5", 0, 1), ("0*8", 0, 2), ("0*8", 1, 2), ("0*11", 0, 5), ("0*4+0*3", 0, 2)],
)
def test_sprouts(text: str, nimber: int, count: int) -> None:
    workers = [
        ClusterWorker.sprouts(text, nimber=nimber, memory="16MiB", threads=1) for _ in range(count)
    ]
    answer = carrier.carry(sprouts_coordinator(text, nimber=nimber), workers)
    assert answer["outcome"] == konane.sprouts.solve(text, nimber=nimber, threads=1).outcome


def test_grundy_numbers_of_sprouts_are_its_checkpoint(tmp_path) -> None:
    file = tmp_path / "a.numbers"
    worker = ClusterWorker.sprouts("0*9", memory="16MiB", threads=1)
    first = carrier.carry(sprouts_coordinator("0*9", checkpoint=file), [worker])
    assert first["checkpoint"]["added"] > 10
    with pytest.raises(konane.InputError, match="exists"):
        sprouts_coordinator("0*9", checkpoint=file)
    worker = ClusterWorker.sprouts("0*9", memory="16MiB", threads=1)
    again = carrier.carry(sprouts_coordinator("0*9", checkpoint=file, resume=True), [worker])
    assert again["checkpoint"]["loaded"] == first["checkpoint"]["added"]
    assert again["outcome"] == first["outcome"]
    assert again["nodes"] < first["nodes"]
    with pytest.raises(konane.FileError, match="does not exist"):
        sprouts_coordinator("0*9", checkpoint=tmp_path / "b", resume=True)


def test_invalid_sprouts_texts() -> None:
    with pytest.raises(konane.InputError, match="character 3"):
        sprouts_coordinator("0*x")
    with pytest.raises(konane.InputError, match="nimber: expected"):
        sprouts_coordinator("0*2", nimber=100_000)

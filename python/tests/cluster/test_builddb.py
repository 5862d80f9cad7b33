"""Builds by tasks on Ray write the same bytes as a build in one process, also if workers die."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install './python[cluster]'")

import konane  # noqa: E402
from konane import cluster  # noqa: E402
from konane._konane import BuildPlan, memory_bytes, run_task  # noqa: E402
from konane.cluster import builddb  # noqa: E402
from konane.cluster.__main__ import main  # noqa: E402

pytestmark = pytest.mark.ray

BOARD = "4x5"
MEMORY = 200 << 20


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Files of a build without Ray, with sequential tasks in another order."""
    out = tmp_path_factory.mktemp("whole")
    plan = BuildPlan(BOARD, out, MEMORY)
    build = plan.open()
    for wave in plan.tasks():
        for task in reversed(wave):
            assert "lost" not in run_task(task, out, MEMORY)
    assert build.pending() == []
    assert build.finish()["positions"] == 2 << 20
    found = files(plan.directory)
    assert len(found) == 22
    program = os.environ.get("KONANE")
    if program:
        other = tmp_path_factory.mktemp("program")
        subprocess.run([program, "builddb", BOARD, "--out", other, "--quiet"], check=True)
        assert files(other / f"{BOARD}-complete") == found
    return found


@pytest.fixture(scope="module")
def local_ray():
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        logging_level="error",
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    yield
    ray.shutdown()


def test_memory_sizes():
    assert memory_bytes("1GiB") == 1 << 30
    assert memory_bytes("1.5 MiB") == 3 << 19
    assert memory_bytes("2GB") == 2 * 10**9
    assert memory_bytes(17) == 17
    for wrong in ("", "much", "1XiB", "-1GiB", "٣GiB", "9" * 400 + "TiB", -1, 1 << 64):
        with pytest.raises(konane.InputError):
            memory_bytes(wrong)


def test_invalid_arguments(tmp_path):
    with pytest.raises(konane.InputError):
        cluster.build_database("9x9", tmp_path)
    with pytest.raises(konane.ResourceError, match="needs"):
        cluster.build_database("4x5", tmp_path, memory_per_task="1MiB")
    with pytest.raises(konane.InputError, match="no task"):
        run_task("konane-task 7", tmp_path)
    for name, number in (
        ("workers", 0),
        ("workers", 1 << 40),
        ("threads_per_task", 0),
        ("threads_per_task", -1),
        ("max_tasks_in_flight", -1),
        ("memory_per_task", -1),
    ):
        with pytest.raises(konane.InputError, match=name.removesuffix("_per_task")):
            cluster.build_database("4x5", tmp_path, **{name: number})
    assert not ray.is_initialized()


def test_one_machine_must_have_the_cores_and_the_memory(monkeypatch):
    def machines(*resources):
        nodes = [{"Alive": True, "Resources": {"CPU": c, "memory": m}} for c, m in resources]
        nodes.append({"Alive": False, "Resources": {"CPU": 99, "memory": 1 << 50}})
        monkeypatch.setattr(ray, "nodes", lambda: nodes)

    machines((8, 1 << 30), (2, 16 << 30))
    builddb._check_capacity(4 << 30, 2)
    builddb._check_capacity(1 << 30, 8)
    with pytest.raises(konane.ResourceError, match="with 4 cores gives Ray 4 GiB .* has 1 GiB"):
        builddb._check_capacity(4 << 30, 4)
    with pytest.raises(konane.InputError, match="no machine has 9 cores"):
        builddb._check_capacity(1 << 30, 9)


def test_plans_of_large_boards(capsys):
    arguments = ["builddb", "7x7", "--memory-per-task", "32GiB", "--workers", "8", "--plan"]
    assert main([*arguments, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["task_memory_bytes"] <= 32 << 30
    assert plan["disk_peak_bytes"] > plan["disk_bytes"] > 1 << 40
    assert plan["read_bytes"] > plan["written_bytes"] > 0
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("memory", "disk", "traffic", "estimate"))


def test_workers_die_and_files_are_damaged(tmp_path, whole, local_ray, monkeypatch):
    task = builddb._task
    marks, out = tmp_path / "marks", tmp_path / "out"
    marks.mkdir()

    def deadly(text, *arguments):
        """Runs a task. Some tasks are killed in their first run, and some damage files of others."""
        import threading
        import zlib

        kind, mark = zlib.crc32(text.encode()) % 8, marks / text.replace(" ", "-")
        if kind < 2 and not mark.exists():
            mark.touch()
            if kind == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            threading.Timer(0.002, os.kill, (os.getpid(), signal.SIGKILL)).start()
            time.sleep(0)
        if kind == 2 and not mark.exists():
            mark.touch()
            there = sorted((Path(arguments[0]) / f"{BOARD}-complete/tasks").glob("*-b*.kdb"))
            if there:
                victim = there[zlib.crc32(text.encode()) // 8 % len(there)]
                victim.write_bytes(victim.read_bytes()[:-7])
        return task(text, *arguments)

    monkeypatch.setattr(builddb, "_task", deadly)
    events = []
    summary = cluster.build_database(
        BOARD, out, memory_per_task=MEMORY, workers=2, progress=events.append
    )
    assert files(out / f"{BOARD}-complete") == whole
    assert summary["positions"] == 2 << 20
    kinds = [event["event"] for event in events]
    assert kinds.count("death") >= 3 and summary["lost_workers"] == kinds.count("death")
    assert kinds.count("worker") == len(summary["workers"]) >= 2
    # The database is complete, so no task runs again.
    again = cluster.build_database(BOARD, out, memory_per_task=MEMORY, workers=2)
    assert again["tasks"] == 0 and files(out / f"{BOARD}-complete") == whole


def test_repeated_errors_end_the_build(tmp_path, local_ray, monkeypatch):
    def full(*_):
        raise OSError(28, "no space is left on the disk")

    monkeypatch.setattr(builddb, "_task", full)
    events = []
    with pytest.raises(konane.FileError, match="no space is left"):
        cluster.build_database(
            BOARD, tmp_path, memory_per_task=MEMORY, workers=2, progress=events.append
        )
    assert [event["event"] for event in events].count("error") >= builddb.MAX_ERRORS
    # Another build can continue immediately.
    BuildPlan(BOARD, tmp_path, MEMORY).open().close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_is_reported_and_can_resume(tmp_path, whole, number):
    command = [sys.executable, "-m", "konane.cluster", "builddb", BOARD, "--dir", str(tmp_path)]
    command += ["--workers", "2", "--memory-per-task", "200MiB", "--json"]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in first.stderr:
        if "tasks, " in line:
            break
    first.send_signal(number)
    out, messages = first.communicate(timeout=60)
    summary = json.loads(out)
    # The build may have finished before the signal.
    assert (first.returncode, summary.get("reason")) in ((130, "interrupted"), (0, None)), messages
    assert summary["board"] == BOARD and summary["tasks"] > 0
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert files(tmp_path / f"{BOARD}-complete") == whole
    assert {*summary} - {"reason"} == {*json.loads(second.stdout)}
    assert json.loads(second.stdout)["black_to_move_wins"] == 557278
    assert "pid" in second.stderr or json.loads(second.stdout)["tasks"] == 0

"""`examples/engine_client.py` and `examples/konane_match.py`, with the program that the other tests have built."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "examples"))

import konane_match
from engine_client import Engine, EngineError


def program():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [os.environ.get("KONANE"), *(target / profile / "konane" for profile in ("debug", "release"))]
    found = next((str(path) for path in built if path and Path(path).exists()), shutil.which("konane"))
    return found or pytest.skip("no program konane: cargo build")


@pytest.fixture
def command():
    return [program(), "engine", "--threads", "2", "--memory", "8MiB"]


def test_requests_are_answered_in_any_order(command):
    with Engine(command) as engine:
        answers = {board: engine.ask(board) for board in ["3x3", "4x4", "5x5", "4x5"] * 3}
        winners = {board: answer.result(60)["winner"] for board, answer in answers.items()}
    assert winners == {"3x3": "white", "4x4": "white", "5x5": "black", "4x5": "white"}


def test_errors_progress_and_stop(command):
    reports = []
    with Engine(command) as engine:
        with pytest.raises(EngineError, match="c9"):
            engine.ask("5x5", moves="c3 c9").result(60)
        answer = engine.ask("8x8", report=reports.append, progress="10ms")
        while not reports:
            assert not answer.done()
        answer.stop()
        assert answer.result(60)["reason"] == "interrupted"
    assert reports[0]["progress"] and reports[0]["pn"] > 0


def test_requests_fail_when_the_engine_ends(command):
    engine = Engine(command)
    answer = engine.ask("8x8")
    engine.process.kill()
    with pytest.raises(EngineError, match="exit code -9"):
        answer.result(60)
    with pytest.raises(EngineError, match="exit code -9"):
        engine.ask("5x5")
    assert not engine.in_flight
    assert engine.close() == -9


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_the_engine_ends_with_an_error_in_its_block(command, error):
    with pytest.raises(error), Engine(command) as engine:
        answer = engine.ask("8x8")
        raise error
    assert engine.process.returncode == 0
    assert answer.result(0)["reason"] == "interrupted"


def test_an_engine_that_does_not_end_is_killed():
    with pytest.raises(KeyError), Engine([sys.executable, "-c", "import time; time.sleep(1000)"]) as engine:
        answer = engine.ask("8x8")
        raise KeyError
    assert engine.process.returncode != 0
    with pytest.raises(EngineError, match="exit code"):
        answer.result(0)


def test_an_error_of_a_report_is_raised_by_its_answer(command):
    def report(line):
        raise KeyError(line["id"])

    with Engine(command) as engine:
        with pytest.raises(KeyError):
            engine.ask("8x8", report=report, progress="10ms").result(60)
        assert engine.ask("3x3").result(60)["winner"] == "white"
    assert engine.process.returncode == 0


def test_a_match_is_played_and_its_records_are_read(command, tmp_path, capsys):
    words = ["5x5", "--games", "4", "--opening", "3", "--nodes", "1", "5000", "--save", str(tmp_path)]
    konane_match.main([*words, "--engine", " ".join(command), " ".join(command)])
    text = capsys.readouterr().out
    first, second = "first, 1 max nodes", "second, 5000 max nodes"
    score = re.fullmatch(rf"Score: {first}: (\d), {second}: (\d)", text.splitlines()[-1])
    assert score and int(score[1]) + int(score[2]) == 4
    records = [tmp_path / f"{game}.txt" for game in (1, 2, 3, 4)]
    openings = []
    for game, path in enumerate(records):
        record = path.read_text()
        assert record in text
        black = first if game % 2 == 0 else second
        assert f"Black: {black}\n" in record
        openings.append(record.split("\n\n")[1].split()[:3])
        judged = subprocess.run([program(), "annotate", path, "--quiet"], capture_output=True, text=True, check=True)
        assert f"Black: {black}\n" in judged.stdout
    # The players change sides after each game, and the opening after every second one.
    assert openings[0] == openings[1] and openings[2] == openings[3] and openings[0] != openings[2]


def test_the_client_as_a_program(command):
    program_directory = str(Path(command[0]).parent)
    environment = {**os.environ, "PATH": program_directory + os.pathsep + os.environ["PATH"]}
    client = [sys.executable, str(ROOT / "python/examples/engine_client.py"), "3x3", "4x4 b3 b4", "9x9"]
    done = subprocess.run(client, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines())[0].startswith("3x3: white, best move ")
    assert "4x4 b3 b4: black, best move b1-b3, " in done.stdout
    assert done.stderr.startswith("9x9: ")

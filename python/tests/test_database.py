import os
import pickle
from pathlib import Path

import konane
import numpy as np
import pytest
from conftest import SMALL, reachable, squares, wins
from konane import Database, Position


@pytest.mark.parametrize("board", SMALL)
def test_values_agree_with_plain_recursion(databases, board):
    db = Database.find(databases, board)
    positions = reachable(board)
    for position in positions:
        answer = db.probe(position)
        assert answer.outcome == ("win" if wins(position) else "loss")
        assert (answer.board, answer.position) == (position.board, str(position))
        assert answer.to_move == position.to_move
        assert (answer.winner == answer.to_move) == (answer.outcome == "win")
        assert answer.remoteness is None
        is_jump = answer.phase == "jump"
        assert answer.class_ == (konane.value(position).class_ if is_jump else None)
        assert sorted(rated.move for rated in answer.moves) == sorted(position.moves())
        for rated in answer.moves:
            expected = "loss" if wins(position.play(rated.move)) else "win"
            assert (rated.outcome, rated.remoteness) == (expected, None)
        outcomes = [rated.outcome for rated in answer.moves]
        assert outcomes == sorted(outcomes, reverse=True), "winning moves first"
        assert answer.best_move == (answer.moves[0].move if answer.moves else None)
    for position in positions[::50]:
        assert konane.analyse(position, db=db).class_ == db.probe(position).class_
    codes = np.array([position.code for position in positions], dtype=np.uint64)
    expected = np.array([wins(position) for position in positions], dtype=np.int8)
    np.testing.assert_array_equal(db.probe_many(codes), expected)


def remoteness(position: Position) -> int:
    """Remoteness of a position by plain recursion."""
    after = [remoteness(position.play(move)) for move in position.moves()]
    lost = [number for number in after if number % 2 == 0]
    return 1 + (min(lost) if lost else max(after)) if after else 0


def test_remoteness_agrees_with_plain_recursion(tmp_path):
    built = konane.build_database("3x4", tmp_path, metric="remoteness")
    assert built.metric == "remoteness"
    assert list(built.histogram) == ["black", "white"]
    # Of the 13 sets of stones with fewer than two empty squares, only the positions of games count: the start, and
    # those after Black's three removals.
    assert sum(built.histogram["black"]) == built.positions // 2 - 13 + 1
    assert sum(built.histogram["white"]) == built.positions // 2 - 13 + 3
    db = Database.find(tmp_path, "3x4")
    assert db.metric == "remoteness"
    for position in reachable("3x4")[::7]:
        answer = db.probe(position)
        assert answer.remoteness == remoteness(position)
        for rated in answer.moves:
            assert rated.remoteness == remoteness(position.play(rated.move)) + 1
    positions = reachable("3x4")
    found = db.probe_many(positions, metric="remoteness")
    assert found.dtype == np.int8 and found.tolist() == [remoteness(position) for position in positions]
    assert db.probe_many([1 << 40], metric="remoteness").tolist() == [-1]
    many = np.array([position.code for position in positions] * (3000 // len(positions) + 1), dtype=np.uint64)
    expected = np.resize(found, many.shape)
    np.testing.assert_array_equal(db.probe_many(many, metric="remoteness", threads=2), expected)
    np.testing.assert_array_equal(db.probe_many(many), expected % 2)
    for call in (lambda: db.probe_many(many, metric="depth"),
                 lambda: konane.build_database("3x4", tmp_path, metric="depth")):
        with pytest.raises(konane.InputError, match="metric: expected 'outcome' or 'remoteness', got"):
            call()


def test_arrays_of_positions(databases):
    db = Database.find(databases, "3x4")
    positions = reachable("3x4")
    expected = [int(wins(position)) for position in positions]
    assert db.probe_many(positions).tolist() == expected
    assert db.probe_many(np.array(positions)).tolist() == expected
    assert db.probe_many([positions[:2], positions[2:4]]).shape == (2, 2)
    assert db.probe_many(positions[0]).shape == ()
    assert db.probe_many([positions[1], positions[1].code]).tolist() == [expected[1]] * 2
    with pytest.raises(konane.InputError, match="one of the 4x4 board"):
        db.probe_many([positions[0], Position("4x4")])
    for text in ["1oxo/oxox/xoxo b jump", "1x2/1o2/4 b"]:
        with pytest.raises(konane.InputError, match="databases do not contain"):
            db.probe_many([Position("3x4", text)])
    with pytest.raises(konane.InputError, match="metric: this database stores outcomes only"):
        db.probe_many(positions, metric="remoteness")


def test_probe_many_agrees_with_probe(databases):
    db = Database.find(databases, "4x4")
    codes = np.arange(1 << 16, dtype=np.uint64)
    answers = db.probe_many(codes, threads=2)
    assert answers.dtype == np.int8 and answers.shape == codes.shape
    np.testing.assert_array_equal(answers, db.probe_many(codes, threads=1))
    # The published number of positions in the jumping phase; it includes the full board.
    assert (answers == 1).sum() + (answers == -1).sum() >= 33547 - 17
    for code in codes[::97]:
        outcome = {1: "win", 0: "loss"}.get(answers[code])
        if outcome:
            assert db.probe(Position.from_code("4x4", int(code))).outcome == outcome
        else:
            with pytest.raises(konane.InputError):
                Position.from_code("4x4", int(code))
    np.testing.assert_array_equal(db.probe_many(codes[::3]), answers[::3])
    np.testing.assert_array_equal(db.probe_many(codes[::-1]), answers[::-1])
    assert db.probe_many(codes[:0]).shape == (0,)


def test_arrays_of_any_layout(databases):
    db = Database.find(databases, "4x4")
    # Above and below the batch size that is looked up on one thread.
    for count in (5000, 100):
        codes = np.random.default_rng(1).integers(0, 1 << 16, count, dtype=np.uint64)
        expected = db.probe_many(codes)
        records = np.zeros(count, dtype=[("mark", "u1"), ("code", "u8")])
        records["code"] = codes
        shifted = np.ndarray(count, np.uint64, np.zeros(8 * count + 1, dtype=np.uint8), offset=1)
        shifted[:] = codes
        for column in (records["code"], shifted):
            np.testing.assert_array_equal(db.probe_many(column), expected)
            np.testing.assert_array_equal(db.probe_many(column[::-2]), expected[::-2])
        repeated = np.broadcast_to(codes[:1], count)
        np.testing.assert_array_equal(db.probe_many(repeated), np.repeat(expected[:1], count))


def test_uncovered_positions(databases):
    db = Database.find(databases, "5x5")
    assert (db.scope, db.metric, db.max_stones) == ("complete", "outcome", 8)
    few = Position("5x5", "x4/1x3/5/o4/5 b")
    full = Position("5x5")
    off_board = 1 << 40
    codes = np.array([few.code, full.code, off_board, (1 << 25) - 2], dtype=np.uint64)
    with pytest.raises(konane.InputError, match="does not cover"):
        db.probe(full)
    with pytest.raises(konane.InputError):
        Position("5x5", "x4/1x3/5/5/5 q")
    answers = db.probe_many(codes)
    assert answers[0] in (0, 1)
    assert list(answers[1:]) == [-1, -1, -1]


def test_reachable_positions(databases):
    db = Database.find(databases, "3x5")
    assert (db.board, db.scope, db.max_stones) == ("3x5", "reachable", 15)
    positions = reachable("3x5")[::5]
    codes = np.array([position.code for position in positions], dtype=np.uint64)
    assert list(db.probe_many(codes)) == [int(wins(position)) for position in positions]
    every = np.arange(1 << 15, dtype=np.uint64)
    assert (db.probe_many(every) == -1).any(), "some sets of stones are unreachable"


def test_read_only_arrays(databases):
    db = Database.find(databases, "3x3")
    read_only = np.zeros(3, dtype=np.uint64)
    read_only.flags.writeable = False
    assert list(db.probe_many(read_only)) == [0, 0, 0]


def test_opening(databases, tmp_path):
    db = Database.find(databases, "4x4", cache="1MiB")
    again = pickle.loads(pickle.dumps(db))
    assert again.directory == db.directory == str(databases / "4x4-complete")
    assert Database.open(databases / "4x4-complete").board == "4x4"
    assert "every position of the 4x4 board" in repr(db)
    start = Position("4x4")
    assert db.probe("4x4") == db.probe(start)
    assert pickle.loads(pickle.dumps(db.probe(start))) == db.probe(start)
    with pytest.raises(konane.InputError, match="5x5 board"):
        db.probe("5x5")
    with pytest.raises(konane.FileError, match="no such directory") as caught:
        Database.find(tmp_path / "nothing", "4x4")
    assert isinstance(caught.value, OSError)
    with pytest.raises(konane.FileError, match="is no database"):
        Database.open(tmp_path)
    with Database.find([tmp_path, databases], "4x4") as found:
        assert found.directory == db.directory
        assert found.probe("4x4") == db.probe("4x4")
    with pytest.raises(TypeError, match="at least one"):
        Database.find([], "4x4")
    with pytest.raises(konane.InputError):
        Database.find(databases, "0x4")


def test_directory_names(tmp_path, monkeypatch):
    # The second is not UTF-8.
    for name in ("plain", os.fsdecode(b"d\xff")):
        monkeypatch.chdir(tmp_path)
        built = konane.build_database("3x3", name, threads=1)
        db = Database.open(built.directory)
        proof = konane.prove("3x3", Path(name, "3x3.proof"))
        assert konane.verify_proof(proof.path).valid
        pickled = pickle.dumps(db)
        # The reader may have another working directory.
        monkeypatch.chdir("/")
        assert pickle.loads(pickled).probe("3x3") == db.probe("3x3")


def test_damage_is_an_error(tmp_path):
    directory = konane.build_database("4x4", tmp_path, threads=1).directory
    codes = np.arange(1 << 16, dtype=np.uint64)
    [layer] = tmp_path.glob("*/*08*")
    content = bytearray(layer.read_bytes())
    content[len(content) // 2] ^= 0xFF
    layer.write_bytes(content)
    db = Database.open(directory)
    with pytest.raises(konane.FileError, match="is damaged"):
        db.probe_many(codes)


def test_building(tmp_path):
    seen = []
    built = konane.build_database("5x5", tmp_path, threads=2, progress=seen.append, interval=0.01)
    assert (built.black_to_move_wins, built.white_to_move_wins) == (26673313, 9159240)
    assert built.positions == 1 << 26
    assert (built.board, built.scope, built.max_stones) == ("5x5", "complete", 25)
    assert seen and all(state.stage and state.done <= state.total for state in seen[1:])
    again = konane.build_database("5x5", tmp_path)
    assert again.layers_found == 26 and again.positions == built.positions
    assert Database.open(built.directory).max_stones == squares("5x5")


def test_invalid_builds(tmp_path):
    with pytest.raises(konane.ResourceError, match="stones it would fit"):
        konane.build_database("8x8", tmp_path, memory="1GiB")
    with pytest.raises(konane.InputError, match="reachable"):
        konane.build_database("4x4", tmp_path, scope="reachable", max_stones=3)
    with pytest.raises(konane.InputError, match="scope"):
        konane.build_database("4x4", tmp_path, scope="all")
    for stones in (-1, 1 << 64):
        with pytest.raises(konane.InputError, match="max_stones"):
            konane.build_database("4x4", tmp_path, max_stones=stones)
    (tmp_path / "file").write_text("")
    with pytest.raises(konane.FileError):
        konane.build_database("4x4", tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_exception_in_progress_stops_a_build_that_can_resume(tmp_path):
    def progress(state):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        konane.build_database("5x6", tmp_path, progress=progress, interval=0.01, threads=1)
    assert not list(tmp_path.glob("*/lock"))

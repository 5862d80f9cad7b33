"""Records of games: reading, writing, positions, and the judgement of moves."""

import copy
import json
import pickle

import konane
import pytest
from conftest import wins
from konane import Position, Record

GAME = """\
Board: 4x4
Black: Kaiulani
White: konane
Site: Honolulu

{A short game.} 1. a4 b4 2. a2-a4 {really} 2... d4-b4
"""


def test_a_record_is_read_and_written(tmp_path):
    record = Record.parse(GAME)
    assert (record.board, record.black, record.white, record.result) == ("4x4", "Kaiulani", "konane", "unknown")
    assert record.headers == {"Site": "Honolulu"} and record.comments == ["A short game."]
    assert [each.move for each in record.moves] == ["a4", "b4", "a2-a4", "d4-b4"]
    assert record.moves[2] == konane.RecordedMove(move="a2-a4", mark=None, comments=["really"])
    assert str(record) == GAME
    record.write(tmp_path / "game.txt")
    assert (tmp_path / "game.txt").read_text() == GAME
    assert Record.read(tmp_path / "game.txt") == record
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    assert repr(record) == "<konane.Record of 4x4: 4 moves, result unknown>"
    assert len({record, Record.parse(GAME), Record("4x4")}) == 2


def test_positions_and_new_records():
    record = Record.parse(GAME)
    positions = record.positions()
    assert positions[0] == Position("4x4") and positions[-1] == Position("4x4", moves="a4 b4 a2-a4 d4-b4")
    for before, move, after in zip(positions, record.moves, positions[1:]):
        assert before.play(move.move) == after and before.play(move.move).svg() == after.svg()
    made = Record("4x4", moves=[each.move for each in record.moves], black="Kaiulani", white="konane")
    assert made.positions() == positions and made.black == "Kaiulani" and made.headers == {}
    later = Record(positions[2], moves="a2-a4")
    assert later.positions() == positions[2:4] and Record.parse(str(later)) == later
    position, line = Position("3x3"), konane.line("3x3")
    assert Record(position, moves=line).result == konane.solve("3x3").winner
    assert Record("3x3").moves == []


def test_records_of_other_programs():
    assert Record.parse("1. a4 b4", board="4x4").board == "4x4"
    flipped = Record.parse("Board: 5x5\n\n1. a1 a2", flip_ranks=True)
    assert [each.move for each in flipped.moves] == ["a5", "a4"]


def test_annotation(databases):
    # White has a won game, and gives it away.
    start = Position("4x4", moves="a4 b4 a2-a4")
    mistake = konane.analyse(start).moves[-1]
    assert mistake.outcome == "loss"
    record = Record("4x4", moves=["a4", "b4", "a2-a4", mistake.move])
    for options in ({}, {"db": databases}):
        seen = []
        judged = record.annotate(time_limit="1m", progress=seen.append, **options)
        assert (judged.board, judged.reason, judged.black) == ("4x4", None, None)
        positions = record.positions()
        winners = [("black" if wins(each) == (each.to_move == "black") else "white") for each in positions]
        for ply, move in enumerate(judged.moves):
            assert (move.ply, move.before, move.after) == (ply + 1, winners[ply], winners[ply + 1])
            is_mistake = move.before == move.side and move.after != move.side
            assert (move.mark == "?") == is_mistake == (move.better is not None)
            for better in move.better or []:
                assert wins(positions[ply]) and not wins(positions[ply].play(better))
        assert seen[-1].done == seen[-1].total == 5
        marked = judged.record
        assert [each.mark for each in marked.moves] == [each.mark for each in judged.moves]
        assert marked.positions() == positions and str(marked) == judged.text
        for side in ("black", "white"):
            mistakes = sum(move.mark == "?" for move in judged.moves if move.side == side)
            assert judged.summary[side]["mistakes"] == mistakes
        assert json.loads(json.dumps(judged.to_dict()))["moves"][0]["move"] == "a4"
    assert any(move.mark == "?" for move in judged.moves)
    every = record.annotate(comment_all=True).record
    assert all(each.comments[0].startswith("before: ") for each in every.moves)
    # Comments of an earlier annotation are replaced.
    assert every.annotate(comment_all=True).record == every
    limited = Record("8x8", moves="d5 d4").annotate(max_nodes=10, time_limit=None)
    assert limited.reason == "node limit" and {each.mark for each in limited.moves} == {"~"}


def test_errors(tmp_path):
    with pytest.raises(konane.InputError, match='^text: line 3, character 7: "c3": c3 is not legal here'):
        Record.parse("Board: 5x5\n\n1. c3 c3")
    with pytest.raises(konane.InputError, match="text: the record is one of the 5x5 board, not of 4x4"):
        Record.parse("Board: 5x5\n\n1. c3", board="4x4")
    with pytest.raises(konane.InputError, match="c3 is not legal"):
        Record("5x5", moves="c3 c3")
    with pytest.raises(konane.FileError, match="missing.txt"):
        Record.read(tmp_path / "missing.txt")
    with pytest.raises(konane.FileError):
        Record("5x5").write(tmp_path / "missing" / "game.txt")
    (tmp_path / "bytes.txt").write_bytes(b"Board: 5x5\n\n\xff")
    with pytest.raises(konane.InputError, match=r"bytes.txt: line 3, character 1: .*UTF-8"):
        Record.read(tmp_path / "bytes.txt")
    (tmp_path / "long.txt").write_text("#" * (1 << 20) + "\n")
    with pytest.raises(konane.FileError, match="long.txt is no game record: it has more than 1048576 bytes"):
        Record.read(tmp_path / "long.txt")
    with pytest.raises(TypeError, match="flip_ranks: expected True or False"):
        Record.parse("Board: 5x5\n", flip_ranks="yes")

    class Ended(Exception):
        pass

    def end(progress):
        raise Ended

    with pytest.raises(Ended):
        Record("5x5", moves="c3 c4").annotate(progress=end, interval=0)

import itertools

import konane
import pytest
from conftest import reachable, wins
from konane import Position
from test_database import remoteness


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """A database with the remoteness of 3x4."""
    directory = tmp_path_factory.mktemp("ranked")
    konane.build_database("3x4", directory, metric="remoteness", threads=1)
    return konane.Database.find(directory, "3x4")


@pytest.mark.parametrize("board", ["1x1", "1x7", "3x3", "2x5"])
def test_values_agree_with_plain_recursion(board):
    for position in reachable(board)[::7]:
        found = konane.analyse(position, threads=1, memory="1MiB")
        assert (found.board, found.position, found.code) == (board, str(position), position.code)
        assert found.outcome == ("win" if wins(position) else "loss")
        assert (found.winner == found.to_move) == (found.outcome == "win")
        assert (found.complete, found.reason) == (True, None)
        assert sorted(judged.move for judged in found.moves) == sorted(position.moves())
        for judged in found.moves:
            after = position.play(judged.move)
            assert (judged.after, judged.replies) == (str(after), len(after.moves()))
            assert judged.outcome == ("loss" if wins(after) else "win")
        outcomes = [judged.outcome for judged in found.moves]
        assert outcomes == sorted(outcomes, reverse=True), "winning moves first"
        # Each move of the line preserves the value, and the line ends with the game.
        for move in found.line:
            assert wins(position) != wins(position.play(move))
            position = position.play(move)
        assert position.is_over


def test_remoteness_comes_from_a_database(ranked):
    for position in reachable("3x4")[::11]:
        found = konane.analyse(position, db=ranked)
        assert found.remoteness == remoteness(position) == len(found.line)
        assert found.source == ("rules" if position.is_over else "database")
        for judged in found.moves:
            assert judged.remoteness == remoteness(position.play(judged.move)) + 1
        assert konane.line(position, db=ranked) == found.line
    assert konane.line("3x4", db=ranked.directory) == konane.analyse("3x4", db=ranked).line


def test_remoteness_is_found_by_a_search():
    for position in reachable("3x4")[::11]:
        found = konane.analyse(position, threads=1, memory="1MiB")
        assert found.remoteness == remoteness(position) == len(found.line)
        for judged in found.moves:
            assert judged.remoteness == remoteness(position.play(judged.move)) + 1
        assert len(konane.line(position, threads=1, memory="1MiB")) == found.remoteness
    # Not for lists, and not for positions with many stones.
    [found] = konane.analyse_many(["3x4"])
    assert (found.outcome, found.remoteness, found.moves[0].remoteness) == ("loss", None, None)
    found = konane.analyse("6x6", threads=1)
    assert (found.outcome, found.remoteness) == ("loss", None)


def test_limits_leave_values_unknown():
    for limit, reason in (({"max_nodes": 1000}, "node limit"), ({"time_limit": "1ms"}, "time limit")):
        found = konane.analyse("8x8", memory="16MiB", **limit)
        assert (found.outcome, found.winner, found.reason) == ("unknown", "unknown", reason)
        assert (found.complete, found.line) == (False, [])
        assert {judged.outcome for judged in found.moves} == {"unknown"}
        assert konane.line("8x8", memory="16MiB", **limit) == []


def test_a_game_that_is_over():
    found = konane.analyse(Position("1x4", "4 w"))
    assert (found.outcome, found.winner, found.source) == ("loss", "black", "rules")
    assert (found.remoteness, found.moves, found.line) == (0, [], [])


def test_errors(databases):
    for call, text in itertools.product(
        (konane.analyse, konane.line),
        [({"board": "6 x 6"}, "without spaces"), ({"board": "3x3", "memory": 1}, "memory")],
    ):
        with pytest.raises(konane.InputError, match=text[1]):
            call(**text[0])
    with pytest.raises(konane.InputError, match="4x4"):
        konane.analyse("3x3", db=konane.Database.find(databases, "4x4"))
    with pytest.raises(konane.FileError, match="no such directory"):
        konane.line("3x3", db=databases / "nothing")

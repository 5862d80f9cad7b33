import csv

import konane
import pytest
from conftest import DATA, SMALL, reachable


def table(name):
    path = DATA / name
    if not path.exists():
        pytest.skip("the published tables are not here")
    with path.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_published_counts():
    rows = table("perft_8x8.csv")[:9]
    assert konane.perft("8x8", 9) == [int(row["nodes"]) for row in rows]
    assert konane.perft("8x8", 7, threads=1) == [int(row["nodes"]) for row in rows[:7]]


def count(position, depth):
    if depth == 0:
        return 1
    return sum(count(position.play(move), depth - 1) for move in position.moves())


@pytest.mark.parametrize("board", SMALL)
def test_counts_agree_with_recursion(board):
    start = konane.Position(board)
    assert konane.perft(board, 5) == [count(start, ply) for ply in range(1, 6)]
    for move, number in konane.divide(board, 4).items():
        assert number == count(start.play(move), 3)
    assert list(konane.divide(board, 4)) == start.moves()


def test_from_a_position():
    start = konane.Position("6x6", moves="c4 d4")
    assert konane.perft(start, 5) == [3, 20, 91, 614, 3437]
    assert konane.divide(start, 5) == {"a4-c4": 1248, "c6-c4": 1000, "c2-c4": 1189}
    assert konane.perft(start, 0) == []


def test_distinct_positions():
    new = konane.perft("4x4", 16, unique=True, symmetry=False)
    assert new[-1] == 0, "all games have ended"
    assert sum(new) + 1 == len(reachable("4x4"))
    assert konane.perft("6x6", 8, unique=True)[-1] == 19061


def test_errors():
    for depth in (-1, 65, 1 << 70):
        with pytest.raises(konane.InputError, match="depth"):
            konane.perft("3x3", depth)
    with pytest.raises(konane.InputError, match="depth"):
        konane.divide("3x3", 0)
    with pytest.raises(konane.ResourceError, match="memory="):
        konane.perft("8x8", 12, unique=True, memory="1MiB")

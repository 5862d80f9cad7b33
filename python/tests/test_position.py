import pickle
import xml.etree.ElementTree as ElementTree

import konane
import numpy as np
import pytest
from conftest import SMALL, reachable, successors
from konane import Position


def test_a_game_from_the_start():
    start = Position("6x6")
    assert str(start) == "xoxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox b"
    assert (start.board, start.to_move, start.is_over) == ("6x6", "black", False)
    assert start.moves() == ["a6", "c4", "d3", "f1"]
    after = start.play("a6")
    assert after.to_move == "white"
    assert sorted(after.moves()) == ["a5", "b6"]
    assert str(start).startswith("xoxoxo"), "positions do not change"


def test_text_and_moves():
    by_moves = Position("6x6", moves="c4 d4")
    assert by_moves == Position("6x6", moves=["c4", "d4"]) == Position("6x6", str(by_moves))
    assert Position("3x3", "xox/o1o/xox w").to_move == "white"
    assert repr(Position("1x4", "xo2 b")) == "Position('1x4', 'xo2 b')"
    assert eval(repr(by_moves), {"Position": Position}) == by_moves
    assert Position("1x64").board == "1x64"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Position("9x9"), "a board of 9x9 has 81 squares"),
        (lambda: Position("six"), "is not a board size"),
        (lambda: konane.solve("six"), "is not a board size"),
        (lambda: konane.solve("xox/oxo/xox b"), "write konane.Position"),
        (lambda: konane.perft("xo2 b", 1), "a position without its board"),
        (lambda: Position("3x3", "xox/oxo b"), "this position has 2 ranks"),
        (lambda: Position("3x3", "xox/oxo/xox w"), "Black is to move"),
        (lambda: Position("3x3", moves="b2 a1"), "move 2"),
        (lambda: Position("3x3", "3/3/3 b", moves="b2"), "move 1"),
        (lambda: Position("3x3").play("a2"), "not legal here"),
        (lambda: Position("3x3").play("z9"), "no square z9"),
        (lambda: Position.from_code("3x3", 1 << 9), "is not the code"),
        (lambda: Position.from_code("3x3", 0b111111101), "is not the code"),
        (lambda: Position.from_code("3x3", -1), "code: expected a whole number"),
        (lambda: Position.from_code("3x3", 1 << 64), "code: expected a whole number"),
    ],
)
def test_invalid_positions(make, text):
    with pytest.raises(konane.InputError, match=text) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, konane.Error)


def test_other_types_are_type_errors():
    for make in (lambda: Position(6), lambda: Position("3x3", 5), lambda: Position("3x3").play(1)):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(TypeError):
        Position.from_code("3x3", 1.0)


def test_equality_hashes_and_pickles():
    one, other = Position("3x4", moves="a3 b3"), Position("3x4").play("a3").play("b3")
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != Position("3x4") and one != "3x4"
    assert Position("2x2", "2/2 b") != Position("1x4", "4 b")
    with pytest.raises(TypeError):
        one < other
    with pytest.raises(AttributeError):
        one.board = "3x3"
    for position in reachable("3x3"):
        assert pickle.loads(pickle.dumps(position)) == position


@pytest.mark.parametrize("board", SMALL)
def test_moves_agree_with_the_rules(board):
    for position in reachable(board):
        if position.occupied.bit_count() < Position(board).occupied.bit_count() - 1:
            expected = successors(str(position))
            assert sorted(position.moves()) == sorted(expected)
            for move, text in expected.items():
                assert str(position.play(move)) == text
        assert position.is_over == (position.moves() == [])


@pytest.mark.parametrize("board", SMALL)
def test_codes_round_trip(board):
    for position in reachable(board):
        again = Position.from_code(board, position.code)
        assert again.code == position.code
        assert 0 <= position.code < 1 << 64


def test_symmetric_positions_have_one_code():
    codes = {Position("6x6").play(corner).code for corner in ("a6", "f1")}
    assert len(codes) == 1
    assert Position("6x6").play("c4").code not in codes


def test_a_picture():
    position = Position("5x5")
    namespace = "{http://www.w3.org/2000/svg}"
    for move in [None, "c3", "c4", "c1-c3"]:
        position = position.play(move) if move else position
        tree = ElementTree.fromstring(position._repr_svg_())
        circles = tree.iter(namespace + "circle")
        stones = [circle for circle in circles if circle.get("stroke") == "#555555"]
        assert len(stones) == position.occupied.bit_count()
    assert position.svg() == position._repr_svg_()
    assert "#c0392b" in position.svg(), "the last move is marked"
    assert "#c0392b" not in Position("5x5", str(position)).svg(), "the last move is unknown"
    by_moves = Position("5x5", str(Position("5x5")), moves="c3 c4 c1-c3")
    assert (by_moves, by_moves.svg()) == (position, position.svg())


def test_one_empty_square_can_be_a_position_of_the_jumping_phase() -> None:
    with pytest.raises(konane.InputError, match="only a1 is empty"):
        konane.Position("1x3", "1ox b")
    position = konane.Position("1x3", "1ox b", phase="jump")
    assert position.moves() == ["c1-a1"]
    assert konane.solve(position).best_move == "c1-a1"
    assert repr(position) == "Position('1x3', '1ox b jump')"
    assert konane.Position("1x3", str(position)) == position
    assert pickle.loads(pickle.dumps(position)) == position
    assert repr(position.play("c1-a1")) == "Position('1x3', 'x2 w')"
    assert position.play("c1-a1") == konane.Position("1x3", "x2 w")
    removal, jump = (konane.Position("1x3", "1ox w", phase) for phase in ("auto", "jump"))
    assert removal != jump
    assert (removal.moves(), jump.moves()) == (["b1"], [])
    # With two empty squares the phase is always jumping.
    gaps = [konane.Position("1x4", "1ox1 b", phase) for phase in ("auto", "jump")]
    assert gaps[0] == gaps[1] and hash(gaps[0]) == hash(gaps[1])
    for arguments in [("1x3", "1ox b", "end"), ("1x3", None, "jump")]:
        with pytest.raises(konane.InputError, match="phase"):
            konane.Position(*arguments)


def test_positions_are_read_as_other_programs_write_them() -> None:
    # All stones stand on squares of the other colour.
    drawn = konane.Position("1x6", "1xoxo1 b")
    assert drawn.moves() == ["d1-f1"]
    assert konane.solve(drawn).winner == "white"
    assert konane.analyse(drawn).winner == "white"
    assert konane.value(drawn).value == "0"
    assert konane.Position("1x6", str(drawn)) == drawn == pickle.loads(pickle.dumps(drawn))
    assert drawn != konane.Position("1x6", "1oxox1 b")
    with pytest.raises(konane.InputError, match="and other stones do not"):
        konane.Position("1x6", "1x1o2 b")
    diagram = "X O X O\nO|X|O|X\nB W _ W\n. X O . b"
    assert str(konane.Position("4x4", diagram)) == "xoxo/oxox/xo1o/1xo1 b"


@pytest.mark.parametrize("position", [Position("4x5"), Position("3x5", moves="a3 b3"), Position("1x5", "1xoxo b jump")])
def test_squares_and_planes(position):
    text = str(position).split()[0]
    for number in range(64, 0, -1):
        text = text.replace(str(number), "." * number)
    rows = text.split("/")
    names = [f"{'abcdef'[file]}{len(rows) - row}" for row in range(len(rows)) for file in range(len(rows[0]))]
    stones = [{"x": "black", "o": "white", ".": None}[character] for row in rows for character in row]
    assert position.squares() == list(zip(names, stones))
    planes = position.planes()
    assert planes.dtype == np.int8 and planes.shape == (3, len(rows), len(rows[0]))
    own, other = ("x", "o") if position.to_move == "black" else ("o", "x")
    for plane, character in zip(planes, (own, other, ".")):
        np.testing.assert_array_equal(plane, np.array([list(row) for row in rows]) == character)

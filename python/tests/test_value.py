"""Values of positions, compared with those of pycgt, an independent program."""

import random

import konane
import pytest


def occupied_squares(text):
    """Squares with stones, as (rank from the top, file)."""
    rows = enumerate(text.split("/"))
    return frozenset((rank, file) for rank, row in rows for file, stone in enumerate(row) if stone in "xo")


def jumps(ranks, files, stones, colour):
    """Stones after each jump of a colour (0 is Black), by the rules."""
    for rank, file in stones:
        if (rank + file) % 2 != colour:
            continue
        for step_rank, step_file in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            after, place = set(stones), (rank, file)
            after.remove(place)
            while True:
                over = (place[0] + step_rank, place[1] + step_file)
                place = (over[0] + step_rank, over[1] + step_file)
                inside = 0 <= place[0] < ranks and 0 <= place[1] < files
                if not inside or over not in after or place in after:
                    break
                after.remove(over)
                yield frozenset(after | {place})


def random_text(generator, ranks, files, gaps):
    """A position with a number of empty squares, Black to move."""
    empty = set(generator.sample(range(ranks * files), gaps))
    rows = []
    for rank in range(ranks):
        row = ""
        for file in range(files):
            is_empty = rank * files + file in empty
            row += "." if is_empty else "xo"[(rank + file) % 2]
        rows.append(row)
    return "/".join(rows) + " b"


@pytest.mark.parametrize(
    ("ranks", "files", "gaps", "count"),
    [(3, 4, 4, 500), (3, 5, 6, 500), (4, 4, 7, 400), (4, 5, 10, 300), (5, 5, 13, 200), (5, 6, 17, 100)],
)
def test_canonical_forms_agree_with_pycgt(ranks, files, gaps, count):
    pycgt = pytest.importorskip("pycgt")
    generator = random.Random(ranks * 100 + files)
    known, texts = {}, {}

    def game(stones):
        if stones not in known:
            sides = [[game(after) for after in jumps(ranks, files, stones, colour)] for colour in (0, 1)]
            known[stones] = pycgt.canonical(pycgt.game(*sides))
        return known[stones]

    def text(form):
        """The canonical form with nothing but braces."""
        if form not in texts:
            left, right = (",".join(text(option) for option in side) for side in (form.left, form.right))
            texts[form] = "{" + left + "|" + right + "}"
        return texts[form]

    for _ in range(count):
        position = random_text(generator, ranks, files, gaps)
        value = konane.value(konane.Position(f"{ranks}x{files}", position, phase="jump"))
        expected = game(occupied_squares(position[:-2]))
        assert value.value == konane.value(text(expected)).value, position
        assert (value.mean, value.temperature) == (str(pycgt.mean(expected)), str(pycgt.temperature(expected)))
        winner = {"LEFT": "L", "RIGHT": "R", "FIRST": "N", "SECOND": "P"}
        assert value.class_ == winner[pycgt.outcome(expected).name], position


def test_fields():
    position = konane.Position("1x5", "2xo1 b")
    value = konane.value(position)
    assert isinstance(value, konane.SumValue)
    assert (value.value, value.class_, value.winner, value.mean, value.temperature) == ("*", "N", "black", "0", "0")
    assert (value.left_stop, value.right_stop, value.board, value.terms) == ("0", "0", "1x5", None)
    component = {"squares": ["c1", "d1"], "value": "*", "mean": "0", "temperature": "0"}
    assert value.components == [component]
    assert value.moves == [{"move": "c1-e1", "outcome": "win", "value": "0"}]


def test_sums():
    position = konane.Position("1x5", "2xo1 w")
    value = konane.value(position, "{0|-1}", position)
    assert (value.value, value.to_move, value.winner) == ("{0|-1}", "white", "white")
    assert [component["term"] for component in value.components] == [1, 2, 3]


def test_limits_and_errors():
    start = konane.Position("6x6", moves="a6 a5")
    assert (konane.value(start, max_nodes=10).value, konane.value(start, max_nodes=10).reason) == ("unknown", "node limit")
    assert konane.value(start, memory="1MiB").reason == "memory"
    assert konane.value(start, time_limit=0).reason == "time limit"
    with pytest.raises(konane.InputError, match="4x4 is a board"):
        konane.value("4x4")
    with pytest.raises(konane.InputError, match="jumping phase"):
        konane.value(konane.Position("6x6"))
    with pytest.raises(konane.InputError, match="character 2"):
        konane.value("{x}")
    with pytest.raises(TypeError, match="terms"):
        konane.value(3)

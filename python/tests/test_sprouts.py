import csv
import functools
import math
import pickle
import xml.etree.ElementTree as ElementTree

import konane
import pytest
from conftest import DATA
from konane import sprouts


@functools.cache
def grundy(text):
    """Grundy number by definition: the least number that no child has."""
    numbers = {grundy(child) for child in sprouts.children(text)}
    return next(number for number in range(len(numbers) + 1) if number not in numbers)


@pytest.mark.parametrize("text", ["!", "0", "0*2", "0*3", "0.AB|AB+1a1a", "12.2|2"])
def test_grundy_numbers_agree_with_the_definition(text):
    assert sprouts.grundy(text) == grundy(sprouts.canonical(text))
    for nimber in range(3):
        outcome = "loss" if grundy(sprouts.canonical(text)) == nimber else "win"
        for algo in ("dfpn", "pns", "pns-pdfpn"):
            found = sprouts.solve(text, nimber=nimber, algo=algo, memory="4MiB")
            assert (found.outcome, found.algorithm, found.nimber) == (outcome, algo, nimber)


def test_starts():
    # Conjectured by Applegate, Jacobson and Sleator, and proven for these numbers of spots.
    for spots in range(1, 11):
        expected = "loss" if spots % 6 in (0, 1, 2) else "win"
        assert sprouts.solve(f"0*{spots}", memory="16MiB").outcome == expected
    assert [sprouts.grundy(f"0*{spots}") for spots in range(8)] == [0, 0, 0, 1, 1, 1, 0, 0]


def test_a_table_of_numbers():
    path = DATA / "sprouts_grundy.csv"
    if not path.exists():
        pytest.skip("the table is not here")
    with path.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) > 100
    for row in rows:
        assert sprouts.grundy(row["position"], threads=1, memory="4MiB") == int(row["grundy"])
        children = sprouts.children(row["position"])
        assert len(children) == int(row["distinct_children_up_to_isomorphism"])


def test_moves_and_canonical_forms():
    assert sprouts.children("0*3") == ["0*2.AB|AB", "0.1a1a", "0.AB|0.AB"]
    assert sprouts.children("!") == []
    assert sprouts.canonical("AB|0.AB") == sprouts.canonical("0.AB|AB") == "0.AB|AB"
    for child in sprouts.children("0*4"):
        assert sprouts.canonical(child) == child


def test_a_solution():
    found = sprouts.solve("0*8", threads=2, memory="64MiB")
    assert (found.position, found.canonical, found.outcome) == ("0*8", "0*8", "loss")
    assert found.nodes > 0 and found.expansions > 0 and found.lands > 0
    assert (found.reason, found.pn, found.dn, found.threads) == (None, None, None, 2)
    assert (found.profile, found.jobs, found.collections) == ("tuned", None, 0)
    assert found.generated > 0 and found.expansions_per_second > 0
    assert 0 < found.table.used <= found.table.capacity and found.table.replaced >= 0
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("algo", ["dfpn", "pns", "pns-pdfpn"])
def test_a_winning_move(algo):
    assert sprouts.solve("0*8", algo=algo).best_move is None
    for spots in [3, 4, 5, 9]:
        text = f"0*{spots}"
        best = sprouts.solve(text, algo=algo, memory="16MiB").best_move
        assert best in sprouts.children(text)
        assert sprouts.solve(best, memory="16MiB").outcome == "loss"
    # In a sum with a heap, the move may be in the heap.
    assert sprouts.solve("0", nimber=2, algo=algo).best_move == "0"


def test_unproven_results_are_unknown():
    found = sprouts.solve("0*40", max_nodes=1000)
    assert (found.outcome, found.reason) == ("unknown", "node limit")
    assert found.pn > 0 and found.dn > 0
    assert sprouts.solve("0*40", time_limit=0.1).reason == "time limit"


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"max_nodes": 1000}, "node limit"), ({"time_limit": 0.1}, "time limit"),
     ({"memory": "1MiB"}, "memory")],
)
def test_an_unknown_grundy_number_is_an_error(limit, reason):
    with pytest.raises(konane.LimitError, match=f"0\\*20 is not known: {reason}$") as raised:
        sprouts.grundy("0*20", threads=1, **limit)
    assert raised.value.reason == reason
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.reason) == (str(raised.value), reason)


def test_progress():
    seen = []
    found = sprouts.solve("0*12", progress=seen.append, interval=0.02)
    assert found.outcome == "loss"
    assert (seen[-1].nodes, seen[-1].dn) == (found.nodes, 0)
    assert seen[-1].pn == math.inf and seen[-1].best_move is None
    assert seen[-1].table == found.table
    assert all(state.table.capacity == found.table.capacity for state in seen)

    def progress(state):
        raise LookupError

    for search in (sprouts.solve, sprouts.grundy):
        with pytest.raises(LookupError):
            search("0*40", progress=progress)


def test_errors():
    for search in (sprouts.solve, sprouts.grundy, sprouts.children, sprouts.canonical, sprouts.draw):
        with pytest.raises(konane.InputError, match="character 3"):
            search("0*x")
        with pytest.raises(TypeError):
            search(8)
    for options in (
        {"algo": "ab"},
        {"algo": "pns", "threads": 2},
        {"nimber": 1001},
        {"nimber": -1},
        {"nimber": 1 << 70},
        {"memory": 1},
    ):
        with pytest.raises(konane.InputError):
            sprouts.solve("0*3", **options)


def test_a_picture():
    tree = ElementTree.fromstring(sprouts.draw("0.AB|AB"))
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"


def test_misere() -> None:
    outcomes = [konane.sprouts.solve(f"0*{spots}", misere=True).outcome for spots in range(1, 9)]
    assert outcomes == ["win", "loss", "loss", "loss", "win", "win", "loss", "loss"]
    found = konane.sprouts.solve("0*6", misere=True)
    assert found.misere and not konane.sprouts.solve("0*6").misere
    assert konane.sprouts.solve(found.best_move, misere=True).outcome == "loss"
    for arguments in ({"nimber": 1}, {"algo": "pns"}):
        with pytest.raises(konane.InputError, match="misere=True"):
            konane.sprouts.solve("0*6", misere=True, **arguments)

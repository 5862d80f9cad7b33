import dataclasses
import math
import pickle
import threading
import time

import konane
import numpy as np
import pytest
from conftest import SMALL, reachable, wins

ALGORITHMS = ["dfpn", "pns", "pn2", "pns-pdfpn", "ab"]


@pytest.mark.parametrize("board", SMALL)
def test_winners_and_moves_agree_with_plain_recursion(board):
    for position in reachable(board)[::7]:
        found = konane.solve(position, threads=1, memory="1MiB")
        mover, other = ("black", "white") if position.to_move == "black" else ("white", "black")
        if wins(position):
            assert (found.outcome, found.winner) == ("win", mover)
            assert not wins(position.play(found.best_move))
        else:
            assert (found.outcome, found.winner, found.best_move) == ("loss", other, None)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_every_algorithm(algo):
    found = konane.solve("4x5", algo=algo, memory="64MiB", profile="thesis")
    assert (found.outcome, found.winner) == ("loss", "white")
    assert (found.best_move, found.reason, found.pn, found.dn) == (None, None, None, None)
    assert (found.board, found.to_move, found.algorithm) == ("4x5", "black", algo)
    assert found.profile == "thesis"
    assert found.nodes > 0 and found.expansions > 0 and found.leaf_positions >= 0
    assert found.nodes_per_second == pytest.approx(found.nodes / found.seconds, rel=0.01)
    table = found.table
    assert 0 < table.used <= table.capacity and table.replaced >= 0
    two_levels = algo in ("pn2", "pns-pdfpn")
    assert (found.l1_nodes is not None, found.l2_nodes is not None) == (two_levels, two_levels)


def test_results_are_plain_values():
    found = konane.solve("5x5", threads=2, memory=64 << 20)
    assert (found.outcome, found.winner, found.best_move) == ("win", "black", "a5")
    assert (found.threads, found.memory_bytes) == (2, 64 << 20)
    assert pickle.loads(pickle.dumps(found)) == found
    fields = dataclasses.asdict(found)
    assert fields["position"] == str(konane.Position("5x5"))
    assert fields["table"] == {key: getattr(found.table, key) for key in ("capacity", "used", "replaced")}
    for result, name in ((found, "outcome"), (found.table, "used")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, name, 3)


def test_a_finished_game_is_lost():
    found = konane.solve(konane.Position("1x4", "4 w"))
    assert (found.outcome, found.winner, found.best_move) == ("loss", "black", None)
    assert found.table == konane.Table(capacity=0, used=0, replaced=0)


def test_unproven_results_are_unknown():
    found = konane.solve("8x8", max_nodes=1000)
    assert (found.outcome, found.winner, found.reason) == ("unknown", "unknown", "node limit")
    assert found.pn > 0 and found.dn > 0
    assert found.best_move in [None, *konane.Position("8x8").moves()]
    begun = time.monotonic()
    found = konane.solve("8x8", time_limit=0.1, memory="64MiB")
    assert (found.outcome, found.reason) == ("unknown", "time limit")
    assert time.monotonic() - begun < 2
    assert konane.solve("8x8", algo="pns", memory="1MiB").reason == "memory"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"algo": "minimax"}, "is not an algorithm"),
        ({"algo": "pns", "threads": 2}, "one thread"),
        ({"profile": "fast"}, "profile"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 1024"),
        ({"threads": -1}, "threads"),
        ({"threads": 1 << 70}, "threads"),
        ({"memory": "lots"}, "write a number and a unit"),
        ({"memory": "4XB"}, "is not a unit"),
        ({"memory": 1000}, "too small"),
        ({"memory": "4"}, "with a unit, such as memory='1GiB'"),
        ({"memory": -1}, "memory"),
        ({"time_limit": -1}, "time_limit: expected a number of seconds"),
        ({"time_limit": math.nan}, "time_limit"),
        ({"time_limit": math.inf}, "time_limit"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"interval": -1.0}, "interval: expected a number of seconds"),
    ],
)
def test_invalid_options(options, text):
    with pytest.raises(konane.InputError, match=text):
        konane.solve("3x3", **options)


def test_options_of_other_types():
    for options in (
        {"memory": 1.5},
        {"threads": "2"},
        {"max_nodes": 1e6},
        {"progress": 5},
        {"db": 5},
        {"algorithm": "dfpn"},
    ):
        with pytest.raises(TypeError):
            konane.solve("3x3", **options)
    with pytest.raises(TypeError, match="board: expected a board"):
        konane.solve(36)


def test_numpy_numbers():
    found = konane.solve(
        "4x5",
        threads=np.int64(2),
        memory=np.uint32(1 << 24),
        max_nodes=np.uint64(1 << 40),
        time_limit=np.float32(60),
    )
    assert (found.winner, found.threads, found.memory_bytes) == ("white", 2, 1 << 24)


def test_unavailable_memory():
    with pytest.raises(konane.ResourceError) as caught:
        konane.solve("5x5", memory="100000TiB")
    assert isinstance(caught.value, MemoryError)


def test_solving_with_a_database(databases):
    start = konane.Position("4x4", moves="a4 b4")
    plain = konane.solve(start)
    assert plain.database_hits is None
    for db in (databases, str(databases), konane.Database.find(databases, "4x4")):
        found = konane.solve(start, db=db)
        assert found.database_hits > 0
        assert (found.outcome, found.nodes < plain.nodes) == (plain.outcome, True)
    with pytest.raises(konane.InputError, match="is a database of the 3x4 board"):
        konane.solve("4x4", db=konane.Database.find(databases, "3x4"))
    with pytest.raises(konane.FileError, match="no database of 6x6"):
        konane.solve("6x6", db=databases)


def test_progress():
    seen = []
    thread = threading.get_ident()

    def progress(state):
        assert threading.get_ident() == thread
        seen.append(state)

    found = konane.solve("6x7", memory="64MiB", threads=2, progress=progress, interval=0.02)
    assert len(seen) > 3
    last = seen[-1]
    assert (last.nodes, last.pn, last.dn) == (found.nodes, math.inf, 0)
    assert all(earlier.nodes <= later.nodes for earlier, later in zip(seen, seen[1:]))
    assert all(earlier.seconds < later.seconds for earlier, later in zip(seen, seen[1:]))
    gaps = [later.seconds - earlier.seconds for earlier, later in zip(seen[:-1], seen[1:-1])]
    assert min(gaps) > 0.015
    moves = [None, *konane.Position("6x7").moves()]
    assert all(state.best_move in moves for state in seen)
    assert last.table == found.table and last.depth is None
    assert all(0 < state.table.used <= state.table.capacity for state in seen)
    assert pickle.loads(pickle.dumps(last)) == last


def test_progress_of_alpha_beta_has_a_depth():
    seen = []
    konane.solve("4x5", algo="ab", memory="16MiB", progress=seen.append)
    assert (seen[-1].pn, seen[-1].dn) == (None, None) and seen[-1].depth >= 0


def test_an_exception_in_progress_ends_the_search():
    class Enough(Exception):
        pass

    def progress(state):
        raise Enough(state.nodes)

    begun = time.monotonic()
    with pytest.raises(Enough):
        konane.solve("8x8", memory="64MiB", progress=progress)
    assert time.monotonic() - begun < 2


def test_other_threads_run_during_a_search():
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    konane.solve("8x8", time_limit=0.3, memory="64MiB", threads=1)
    done.set()
    counter.join()
    assert counted > 30


def test_searches_on_several_python_threads():
    found = {}

    def search(board):
        found[board] = konane.solve(board, memory="16MiB", threads=1).winner

    threads = [threading.Thread(target=search, args=(board,)) for board in ("4x5", "5x5", "5x6")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"4x5": "white", "5x5": "black", "5x6": "white"}

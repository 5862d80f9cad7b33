"""Calls for lists: results as from the calls for single positions, limits, progress and errors."""

import random

import konane
import numpy as np
import pytest
from konane import Position


def random_positions(board, count, plies, seed=1):
    """Positions after random moves."""
    chance, found = random.Random(seed), []
    for _ in range(count):
        position = Position(board)
        for _ in range(chance.randint(*plies)):
            moves = position.moves()
            position = position.play(chance.choice(moves)) if moves else position
        found.append(position)
    return found


def mixed():
    """Positions of several boards in mixed order, a finished game among them, and starts as texts."""
    found = random_positions("4x5", 20, (0, 8)) + random_positions("5x5", 20, (2, 12)) + ["3x4", "4x4"]
    found += [Position("1x4", "4 w"), Position("1x5", "1xoxo b jump")]
    random.Random(2).shuffle(found)
    return found


@pytest.mark.parametrize("threads", [1, 3, None])
@pytest.mark.parametrize("algo", ["dfpn", "pns", "ab"])
def test_solutions_are_those_of_single_calls(algo, threads):
    positions = mixed()
    found = konane.solve_many(iter(positions), algo=algo, threads=threads, memory="64MiB")
    assert len(found) == len(positions)
    for position, solution in zip(positions, found):
        single = konane.solve(position, algo=algo, memory="16MiB")
        assert (solution.position, solution.outcome, solution.winner) == (single.position, single.outcome, single.winner)
        assert solution.algorithm == algo and solution.threads == 1
        if solution.best_move is not None:
            start = Position(position) if isinstance(position, str) else position
            assert konane.solve(start.play(solution.best_move)).outcome == "loss"


def test_analyses_are_those_of_single_calls():
    positions = random_positions("4x5", 30, (0, 10))
    for position, analysis in zip(positions, konane.analyse_many(positions, threads=2)):
        single = konane.analyse(position)
        outcomes = [{move.move: move.outcome for move in each.moves} for each in (analysis, single)]
        assert outcomes[0] == outcomes[1]
        assert (analysis.position, analysis.outcome, analysis.complete) == (single.position, single.outcome, True)
        for move in analysis.line:
            position = position.play(move)
        assert position.is_over


def test_values_are_those_of_single_calls():
    positions = random_positions("5x5", 40, (8, 16))
    found = konane.value_many(positions, threads=2)
    assert [each.value for each in found] == [konane.value(position).value for position in positions]
    sums = [(positions[0], "{2|-1}"), ["*", "*"], "^*"]
    found = konane.value_many(sums)
    assert found[0].value == konane.value(*sums[0]).value
    assert [each.value for each in found[1:]] == ["0", "^*"]


def test_databases(databases):
    positions = random_positions("4x4", 10, (0, 4)) + random_positions("3x4", 10, (0, 4))
    for solution in konane.solve_many(positions, db=databases):
        assert solution.database_hits is not None
    sources = {move.source for each in konane.analyse_many(positions, db=databases) for move in each.moves}
    assert sources == {"database"} or sources == {"database", "rules"}
    db = konane.Database.find(databases, "4x4")
    with pytest.raises(konane.InputError, match=r"^positions\[10\]: .*3x4"):
        konane.solve_many(positions, db=db)


def test_limits_are_those_of_each_position():
    found = konane.solve_many(["8x8", "4x4", "8x8"], max_nodes=2000)
    assert [each.reason for each in found] == ["node limit", None, "node limit"]
    found = konane.solve_many(["8x8", "8x8"], time_limit=0.05, threads=1)
    assert all(each.reason == "time limit" and 0.04 < each.seconds < 5 for each in found)
    assert [each.reason for each in konane.analyse_many(["8x8"] * 2, max_nodes=100, threads=1)] == ["node limit"] * 2
    hot = Position("6x6", moves="a6 a5")
    assert [each.reason for each in konane.value_many([hot, "*"], max_nodes=10)] == ["node limit", None]


def test_progress():
    seen = []
    positions = random_positions("5x5", 50, (2, 8))
    konane.solve_many(positions, progress=seen.append, interval=0)
    assert all(isinstance(each, konane.BatchProgress) for each in seen)
    done = [each.done for each in seen]
    assert done == sorted(done) and done[-1] == 50 and {each.total for each in seen} == {50}

    class Ended(Exception):
        pass

    def end(progress):
        raise Ended

    with pytest.raises(Ended):
        konane.solve_many(["4x4"] * 3 + ["8x8"], progress=end)


def test_an_error_names_the_index_of_the_position():
    for items, kind, text in [
        (["4x4", "nonsense"], konane.InputError, r"^positions\[1\]: .*nonsense"),
        ([Position("4x4"), "4x4", 5], TypeError, r"^positions\[2\]: .*got 5 \(int\)"),
        ("4x4", TypeError, "^positions: expected a list of positions, got '4x4'"),
        (Position("4x4"), TypeError, "^positions: expected a list of positions"),
        (7, TypeError, "^positions: expected a list of positions"),
    ]:
        for call in (konane.solve_many, konane.analyse_many):
            with pytest.raises(kind, match=text):
                call(items)
    with pytest.raises(konane.InputError, match=r"^positions\[1\]: .*character 2"):
        konane.value_many(["*", "{x}"])
    with pytest.raises(konane.InputError, match=r"^positions\[0\]: .*jumping phase"):
        konane.value_many([Position("6x6")])
    with pytest.raises(konane.InputError, match=r"^positions\[0\]: .*memory"):
        konane.solve_many(["4x4"], memory=1000)

    def broken():
        yield "4x4"
        raise RuntimeError("from the iterator")

    with pytest.raises(RuntimeError, match="^from the iterator$"):
        konane.solve_many(broken())


def test_empty_lists_and_columns():
    assert konane.solve_many([]) == konane.analyse_many([]) == konane.value_many(iter([])) == []
    column = np.array(random_positions("4x4", 5, (0, 4)), dtype=object)
    assert [each.winner for each in konane.solve_many(column)] == [konane.solve(each).winner for each in column]

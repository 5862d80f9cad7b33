"""Oracles: the rules once more, square by square, and plain recursion."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import konane
import pytest

#: Published tables, where the tests run in a clone.
DATA = Path(__file__).resolve().parents[2] / "tests" / "data"


def pytest_collection_modifyitems(items):
    """Tests that are marked ``ray`` need it."""
    if importlib.util.find_spec("ray") is None:
        skip = pytest.mark.skip(reason="Ray is not installed: pip install './python[cluster]'")
        for item in items:
            if item.get_closest_marker("ray"):
                item.add_marker(skip)


def successors(text: str) -> dict[str, str]:
    """The moves of a position in the jumping phase, and the positions after them, all as texts.

    Knows nothing of the library: squares in a dictionary, one step at a time.
    """
    ranks, side = text.split()
    grid = {}
    height = ranks.count("/") + 1
    for row, rank in enumerate(ranks.split("/")):
        column, digits = 0, ""
        for character in rank + "/":
            if character.isdigit():
                digits += character
                continue
            for _ in range(int(digits or 0)):
                grid[column, height - row] = "."
                column += 1
            digits = ""
            if character != "/":
                grid[column, height - row] = character
                column += 1
    mine, other = ("x", "o") if side == "b" else ("o", "x")

    def name(square):
        return "abcdefghijklmnopqrstuvwxyz"[square[0]] + str(square[1])

    def write(grid):
        width = max(column for column, _ in grid) + 1
        lines = []
        for rank in range(height, 0, -1):
            line = "".join(grid[column, rank] for column in range(width))
            for run in range(width, 0, -1):
                line = line.replace("." * run, str(run))
            lines.append(line)
        return "/".join(lines) + (" w" if side == "b" else " b")

    found = {}
    for start, stone in grid.items():
        if stone != mine:
            continue
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            after, here = dict(grid), start
            while True:
                over = (here[0] + dx, here[1] + dy)
                to = (over[0] + dx, over[1] + dy)
                if after.get(over) != other or after.get(to) != ".":
                    break
                after[here], after[over], after[to] = ".", ".", mine
                here = to
                found[f"{name(start)}-{name(to)}"] = write(after)
    return found


@functools.cache
def wins_jumping(text: str) -> bool:
    """Whether the side to move wins, by plain recursion over the rules above."""
    return any(not wins_jumping(after) for after in successors(text).values())


def wins(position: konane.Position) -> bool:
    """The same from any position: the removals are the package's."""
    if position.occupied.bit_count() >= squares(position.board) - 1:
        return any(not wins(position.play(move)) for move in position.moves())
    return wins_jumping(str(position))


def squares(board: str) -> int:
    """How many a board has."""
    ranks, files = board.split("x")
    return int(ranks) * int(files)


def reachable(board: str) -> list[konane.Position]:
    """All positions that games from the start lead to, each once."""
    found, stack = {}, [konane.Position(board)]
    while stack:
        position = stack.pop()
        if position not in found:
            found[position] = None
            stack.extend(position.play(move) for move in position.moves())
    return list(found)


SMALL = ["1x1", "1x2", "1x7", "7x1", "3x3", "3x4", "2x5"]


@pytest.fixture(scope="session")
def databases(tmp_path_factory) -> Path:
    """A directory with complete databases of the small boards, and some others."""
    directory = tmp_path_factory.mktemp("databases")
    for board in [*SMALL, "4x4"]:
        konane.build_database(board, directory, threads=1)
    konane.build_database("5x5", directory, max_stones=8, threads=1)
    konane.build_database("3x5", directory, scope="reachable", threads=1)
    return directory

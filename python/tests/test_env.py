"""The environment for PettingZoo."""

import pickle
import random

import konane
import numpy as np
import pytest
from conftest import squares, successors, wins
from konane import Position

pettingzoo = pytest.importorskip("pettingzoo")
from konane import env  # noqa: E402
from pettingzoo.test import api_test, seed_test  # noqa: E402


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
@pytest.mark.parametrize("board", ["1x1", "1x64", "6x6", Position("4x5", moves="a4 a3")])
def test_the_tests_of_pettingzoo(board):
    api_test(env.env(board), num_cycles=200)
    seed_test(lambda: env.env(board), num_cycles=50)


@pytest.mark.parametrize("board", ["1x26", "4x5", "6x6"])
def test_games_follow_the_rules(board):
    chance = random.Random(board)
    for _ in range(5):
        game = env.env(board)
        game.reset()
        position = Position(board)
        for agent in game.agent_iter():
            observation, reward, termination, _, _ = game.last()
            mask = observation["action_mask"]
            if termination:
                assert mask.sum() == 0 and reward == (-1 if agent == position.to_move else 1)
                game.step(None)
                continue
            assert agent == position.to_move and reward == 0
            assert sorted(game.moves[action] for action in mask.nonzero()[0]) == sorted(position.moves())
            if position.occupied.bit_count() < squares(board) - 1:
                assert sorted(successors(str(position))) == sorted(position.moves())
            check_planes(observation["observation"], position)
            action = chance.choice(mask.nonzero()[0])
            game.step(action)
            position = position.play(game.moves[action])
            assert game.position == position


def check_planes(planes, position):
    """Compares the planes of the player to move with the text of the position."""
    text = str(position).split()[0]
    for number in range(64, 0, -1):
        text = text.replace(str(number), "." * number)
    stones = np.array([list(rank) for rank in text.split("/")])
    own, other = ("x", "o") if position.to_move == "black" else ("o", "x")
    np.testing.assert_array_equal(planes[..., 0], stones == own)
    np.testing.assert_array_equal(planes[..., 1], stones == other)
    assert (planes[..., 2] == (own == "x")).all()


def test_values_of_actions(databases):
    game = env.env("3x4")
    db = konane.Database.find(databases, "3x4")
    game.reset()
    while not game.position.is_over:
        values = game.action_values()
        np.testing.assert_array_equal(values, game.action_values(db=db))
        legal = [game.moves.index(move) for move in game.position.moves()]
        assert set(np.flatnonzero(values >= 0)) == set(legal)
        for action in legal:
            assert values[action] == (not wins(game.position.play(game.moves[action])))
        game.step(legal[-1])
    large = env.env("8x8")
    large.reset()
    assert (large.action_values(max_nodes=1000) == -1).all()


def test_wrong_actions():
    game = env.env("3x3")
    game.reset()
    game.step(game.moves.index("a1-c1"))
    assert game.rewards == {"black": -1, "white": 0} and all(game.terminations.values())
    raw = env.raw_env("3x3")
    raw.reset()
    with pytest.raises(konane.InputError, match="a1-c1"):
        raw.step(raw.moves.index("a1-c1"))
    for board, text in [("3 x 3", "board size"), (Position("1x4", "4 w"), "a legal move, got '4 w'")]:
        with pytest.raises(konane.InputError, match=text):
            env.env(board)
    with pytest.raises(TypeError, match="board: expected a text"):
        env.env(5)
    with pytest.raises(konane.InputError, match="render_mode: expected None, 'ansi' or 'rgb_array', got 'human'"):
        env.env("3x3", render_mode="human")


def test_text_and_copies():
    game = env.env(Position("3x3", moves="a3"), render_mode="ansi")
    game.reset()
    assert game.render() == ".ox\noxo\nxox\nwhite to move"
    game.step(game.moves.index("b3"))
    copy = pickle.loads(pickle.dumps(game))
    assert copy.position == game.position and copy.render() == game.render()
    game.reset()
    assert game.position == Position("3x3", moves="a3")


def test_pictures():
    game = env.env(Position("3x4", moves="a3 b3"), render_mode="rgb_array")
    game.reset()
    picture = game.render()
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8
    centres = picture[20::40, 20::40]
    stones = {(0, 0, 0): "x", (255, 255, 255): "o", (175, 95, 0): "."}
    rows = ["".join(stones[tuple(int(part) for part in pixel)] for pixel in row) for row in centres]
    assert rows == ["..xo", "oxox", "xoxo"]


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
def test_the_registry_makes_the_environment():
    if not hasattr(pettingzoo, "make"):
        pytest.skip("the registry is new in PettingZoo 1.27")
    game = pettingzoo.make("aec", "konane-v0", board="4x4", render_mode="ansi")
    game.reset()
    assert game.render().endswith("black to move")
    api_test(pettingzoo.make("aec", "konane_v0", board="3x4"), num_cycles=50)

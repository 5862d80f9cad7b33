"""Konane as an environment of `PettingZoo <https://pettingzoo.farama.org>`_: ``pip install "./python[env]"``.

>>> from konane import env
>>> game = env.env("6x6")
>>> game.reset()
>>> observation, reward, termination, truncation, info = game.last()
>>> [game.moves[action] for action in observation["action_mask"].nonzero()[0]]
['a6', 'c4', 'd3', 'f1']
>>> game.step(game.moves.index("c4"))
>>> game.agent_selection, game.position
('white', Position('6x6', 'xoxoxo/oxoxox/xo1oxo/oxoxox/xoxoxo/oxoxox w'))

The agents are ``"black"`` and ``"white"``. The winner's reward is 1, the loser's is -1. An action is an index
into ``moves``, the texts of all moves that the board could have. ``action_mask`` marks the legal ones.
``action_values`` returns their exact outcomes.

The import registers the environment (PettingZoo 1.27 or later): ``pettingzoo.make("aec", "konane-v0", board="6x6")``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import InputError, Position, analyse

try:
    import pettingzoo
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError(
        'konane.env needs PettingZoo: pip install "./python[env]", in a clone of konane', name=error.name
    ) from error

__all__ = ["env", "raw_env"]


class raw_env(AECEnv):
    """Environment of a board (``"6x6"``) or of the game from a ``Position``, without the wrappers of ``env``.

    An observation is a dictionary:

    * ``observation``: an array of ranks from the top x files x 3 planes: the agent's stones, the opponent's
      stones, and ones if the agent is Black.
    * ``action_mask``: 1 for legal actions; all 0 for an agent that is not to move.

    Attributes: ``position`` is the current position, ``moves`` the text of each action: removals, then jumps.
    With ``render_mode="ansi"``, ``render`` returns the board as text, with ``"rgb_array"`` as a picture: an array of
    ``uint8`` of the shape height x width x 3, with 40 pixels for a square.
    """

    metadata = {"name": "konane_v0", "render_modes": ["ansi", "rgb_array"], "is_parallelizable": False}

    def __init__(self, board: str | Position, render_mode: str | None = None) -> None:
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode: expected None, 'ansi' or 'rgb_array', got {render_mode!r}")
        self.start = board if isinstance(board, Position) else Position(board)
        if self.start.is_over:
            raise InputError(f"board: expected a position with a legal move, got {str(self.start)!r}")
        self.position = self.start
        self.render_mode = render_mode
        self.possible_agents = ["black", "white"]
        self._shape = ranks, files = tuple(int(number) for number in self.start.board.split("x"))
        squares = [(file, rank) for rank in range(ranks, 0, -1) for file in range(files)]
        letters = "abcdefghijklmnopqrstuvwxyz"
        # As in spreadsheets: z is followed by aa.
        names = [*letters, *(first + second for first in letters for second in letters)]
        text = {(file, rank): f"{names[file]}{rank}" for file, rank in squares}
        self.moves = list(text.values())
        for start in squares:
            for end in squares:
                across, up = abs(start[0] - end[0]), abs(start[1] - end[1])
                if (across == 0) != (up == 0) and (across + up) % 2 == 0:
                    self.moves.append(f"{text[start]}-{text[end]}")
        self._actions = {move: action for action, move in enumerate(self.moves)}
        mask = spaces.Box(0, 1, (len(self.moves),), np.int8)
        planes = spaces.Box(0, 1, (ranks, files, 3), np.int8)
        observation = spaces.Dict({"observation": planes, "action_mask": mask})
        self.observation_spaces = {agent: observation for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(len(self.moves)) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Returns to the start. `seed` and `options` have no effect: the game has no chance."""
        self.position = self.start
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.position.to_move

    def step(self, action: int | None) -> None:
        """Makes a move. Raises ``InputError`` if it is illegal, and names the rule."""
        if self.terminations[self.agent_selection]:
            return self._was_dead_step(action)
        self.position = self.position.play(self.moves[action])
        self._cumulative_rewards[self.agent_selection] = 0
        loser = self.agent_selection = self.position.to_move
        if self.position.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.rewards = {agent: -1 if agent == loser else 1 for agent in self.agents}
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        own, other, _ = self.position.planes()
        if agent != self.position.to_move:
            own, other = other, own
        planes = [own, other, np.full(self._shape, agent == "black")]
        mask = np.zeros(len(self.moves), dtype=np.int8)
        if agent == self.position.to_move:
            mask[[self._actions[move] for move in self.position.moves()]] = 1
        return {"observation": np.stack(planes, axis=-1).astype(np.int8), "action_mask": mask}

    def action_values(self, **options: Any) -> NDArray[np.int8]:
        """Returns the outcome of each action for the agent that makes it: 1 for a win, 0 for a loss, and -1 for
        an illegal action or an unknown outcome.

        `options` are those of ``konane.analyse``: with ``db``, values come from a database, and limits such as
        ``time_limit`` bound the search.
        """
        values = np.full(len(self.moves), -1, dtype=np.int8)
        for judged in analyse(self.position, **{"memory": "64MiB", **options}).moves:
            values[self._actions[judged.move]] = {"win": 1, "loss": 0, "unknown": -1}[judged.outcome]
        return values

    def render(self) -> str | NDArray[np.uint8] | None:
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return _picture(self.position)
        board, to_move = str(self.position).split()
        for number in range(64, 0, -1):
            board = board.replace(str(number), "." * number)
        return f"{board.replace('/', chr(10))}\n{self.position.to_move} to move"

    def close(self) -> None:
        pass


def _picture(position: Position) -> NDArray[np.uint8]:
    """Returns the board and its stones, seen from above, with 40 x 40 pixels for each square."""
    own, other, _ = position.planes()
    black, white = (own, other) if position.to_move == "black" else (other, own)
    distance = np.arange(40) - 19.5
    disc = (distance[:, None] ** 2 + distance**2 <= 16**2).astype(np.int8)
    picture = np.full((*(40 * side for side in black.shape), 3), (175, 95, 0), dtype=np.uint8)
    picture[::40] = picture[:, ::40] = (120, 65, 0)
    picture[np.kron(black, disc) == 1] = (0, 0, 0)
    picture[np.kron(white, disc) == 1] = (255, 255, 255)
    return picture


def env(board: str | Position, render_mode: str | None = None) -> AECEnv:
    """Returns the environment of a board (``"6x6"``) or of the game from a ``Position``, as described in
    ``raw_env``. An agent that chooses an illegal action loses with a reward of -1.
    """
    checked = wrappers.TerminateIllegalWrapper(raw_env(board, render_mode), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))


# Older versions have no registry.
if hasattr(pettingzoo, "register"):
    pettingzoo.register("aec", "konane-v0", env)

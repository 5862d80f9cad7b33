"""Plays a match between two players through `konane engine`, and prints the games and the score.

    python konane_match.py 6x6 --games 4 --nodes 2000 200
    python konane_match.py 6x6 --time 100ms 1s --save games
    konane annotate games/1.txt

The two numbers are limits per move of the first and the second player. Every two games have the same opening,
removals and jumps chosen at random, and the players change sides. `--engine` gives the command of each player's
engine, which may be another program with the same protocol (docs/engine.md). Standard library only.
"""

import argparse
import random
import shlex
from pathlib import Path

from engine_client import Engine, EngineError


class Player:
    def __init__(self, name, command, limits):
        self.name, self.limits, self.engine = name, limits, Engine(command)

    def move(self, board, moves):
        """The move to play after these moves, or None at the end of the game."""
        return self.engine.ask(board, moves=" ".join(moves), **self.limits).result()["best_move"]

    def legal_moves(self, board, moves):
        answer = self.engine.ask(board, moves=" ".join(moves), values=True, max_nodes=1).result()
        return [judged["move"] for judged in answer["moves"]]


def opening(player, board, plies, seed):
    """Random moves, fewer than `plies` if the game would be over."""
    choose, moves = random.Random(seed), []
    for _ in range(plies):
        after = moves + [choose.choice(player.legal_moves(board, moves))]
        if not player.legal_moves(board, after):
            break
        moves = after
    return moves


def play(board, moves, black, white):
    """Plays to the end of the game. Returns all moves and the winner's colour."""
    while True:
        player = (black, white)[len(moves) % 2]
        move = player.move(board, moves)
        if move is None:
            return moves, ("white", "black")[len(moves) % 2]
        moves = moves + [move]


def record(board, black, white, winner, moves, opened):
    """A game record (docs/GAME_FORMAT.md)."""
    turns = [f"{1 + at // 2}. {' '.join(moves[at : at + 2])}" for at in range(0, len(moves), 2)]
    lines = [f"Board: {board}", f"Black: {black.name}", f"White: {white.name}", f"Result: {winner}"]
    return "\n".join([*lines, f"Opening: {opened} plies", "", *turns]) + "\n"


def arguments(words):
    parser = argparse.ArgumentParser(description="Plays a match between two players through `konane engine`.")
    parser.add_argument("board", help="ranks x files, such as 6x6")
    parser.add_argument("--games", type=int, default=2, help="number of games [default: 2]")
    parser.add_argument("--nodes", type=int, nargs=2, metavar="N", help="maximum nodes of each player per move")
    parser.add_argument("--time", nargs=2, metavar="TIME", help="time of each player per move, such as 500ms")
    parser.add_argument("--opening", type=int, default=4, metavar="PLIES", help="random plies [default: 4]")
    parser.add_argument("--seed", type=int, default=1, help="seed of the openings [default: 1]")
    parser.add_argument(
        "--engine", nargs=2, metavar="COMMAND", default=["konane engine --threads 1"] * 2, help="command of each player"
    )
    parser.add_argument("--save", type=Path, metavar="DIR", help="write the record of each game to DIR/NUMBER.txt")
    return parser.parse_args(words)


def main(words=None):
    args = arguments(words)
    players = []
    for index, name in enumerate(["first", "second"]):
        limits = {}
        if args.nodes:
            limits["max_nodes"] = args.nodes[index]
        if args.time:
            limits["time_limit"] = args.time[index]
        name += "".join(f", {value} {key.replace('_', ' ')}" for key, value in limits.items())
        players.append(Player(name, shlex.split(args.engine[index]), limits or {"time_limit": "1s"}))
    if args.save:
        args.save.mkdir(parents=True, exist_ok=True)
    wins = {player.name: 0 for player in players}
    for game in range(args.games):
        moves = opening(players[0], args.board, args.opening, args.seed + game // 2)
        black, white = players if game % 2 == 0 else players[::-1]
        played, winner = play(args.board, moves, black, white)
        wins[(black if winner == "black" else white).name] += 1
        text = record(args.board, black, white, winner, played, len(moves))
        print(text)
        if args.save:
            (args.save / f"{game + 1}.txt").write_text(text, encoding="utf-8")
    print("Score: " + ", ".join(f"{name}: {count}" for name, count in wins.items()))
    for player in players:
        player.engine.close()


if __name__ == "__main__":
    try:
        main()
    except (EngineError, OSError) as error:
        raise SystemExit(f"error: {error}")

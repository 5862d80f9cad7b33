"""Checks a proof of the winner of a Konane position: python3 verify_proof.py FILE.proof

Written from docs/PROOF_FORMAT.md alone, with rules, codes and a reader of its own. Needs Python
3.14, or Python 3.11 and `pip install backports.zstd`.
"""

import struct
import sys
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from xxh3 import xxh3_64

try:
    from compression import zstd
except ImportError:
    try:
        from backports import zstd
    except ImportError:
        sys.exit("zstd is missing: use Python 3.14, or run 'pip install backports.zstd'")

BLACK, WHITE = 0, 1
NAMES = ["Black", "White"]
BIT_63 = 1 << 63


class Rejected(Exception):
    """The file is damaged, or its positions are not a proof."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Rejected(message)


class Board:
    """The rules of the game, and the codes of positions. A set of squares is a number of bits."""

    def __init__(self, ranks: int, files: int):
        self.ranks, self.files = ranks, files
        self.full = (1 << ranks * files) - 1
        self.is_odd = ranks % 2 == files % 2 == 1
        squares = list(product(range(ranks), range(files)))
        self.stones = [
            [self.bit(*square) for square in squares if sum(square) % 2 == colour]
            for colour in (BLACK, WHITE)
        ]
        corners = product({0, ranks - 1}, {0, files - 1})
        centre = product({ranks // 2, (ranks - 1) // 2}, {files // 2, (files - 1) // 2})
        black = set(self.stones[BLACK])
        self.first_removals = black & {self.bit(*square) for square in (*corners, *centre)}
        # The squares in each of the four directions from a square, the nearest first.
        self.lines = {
            self.bit(row, file): [
                [self.bit(row, f) for f in range(file + 1, files)],
                [self.bit(row, f) for f in reversed(range(file))],
                [self.bit(r, file) for r in range(row + 1, ranks)],
                [self.bit(r, file) for r in reversed(range(row))],
            ]
            for row, file in squares
        }
        # The symmetries that keep the colours, and those that change them.
        self.symmetries: tuple[list, list] = ([], [])
        for swap, top, left in product({False, ranks == files}, {0, ranks - 1}, {0, files - 1}):
            images = [(abs(row - top), abs(file - left)) for row, file in squares]
            bits = [self.bit(*image[::-1] if swap else image) for image in images]
            self.symmetries[(top + left) % 2].append(by_octets(bits))

    def bit(self, row: int, file: int) -> int:
        return 1 << row * self.files + file

    def is_position(self, occupied: int, side: int) -> bool:
        empty = self.full & ~occupied
        if empty == 0:
            return occupied == self.full and side == BLACK
        if empty.bit_count() == 1:
            return occupied < self.full and side == WHITE and empty in self.first_removals
        return occupied < self.full

    def moves(self, occupied: int, side: int) -> Iterator[int]:
        """Yields the occupied squares after each move."""
        empty = self.full & ~occupied
        if empty == 0:
            yield from (occupied ^ stone for stone in self.first_removals)
        elif empty.bit_count() == 1:
            yield from (occupied ^ line[0] for line in self.lines[empty] if line)
        else:
            for stone in [stone for stone in self.stones[side] if stone & occupied]:
                for line in self.lines[stone]:
                    after = occupied ^ stone
                    for enemy, landing in zip(line[0::2], line[1::2]):
                        if enemy & empty or landing & occupied:
                            break
                        after ^= enemy
                        yield after | landing

    def code(self, occupied: int, side: int) -> int:
        is_jumping = (self.full & ~occupied).bit_count() >= 2
        changes_colours = not self.is_odd and is_jumping and side == WHITE
        octets = occupied.to_bytes(8, "little")
        least = min(
            sum(images[octet] for images, octet in zip(symmetry, octets))
            for symmetry in self.symmetries[changes_colours]
        )
        return least | BIT_63 if self.is_odd and side == WHITE else least

    def decode(self, code: int) -> tuple[int, int]:
        """The occupied squares and the side to move."""
        if self.is_odd:
            occupied, side = code & ~BIT_63, code >> 63
        else:
            occupied, side = code, int((self.full & ~code).bit_count() == 1)
        is_code = self.is_position(occupied, side) and self.code(occupied, side) == code
        require(is_code, f"{code:#x} is not the code of a position")
        return occupied, side

    def text(self, occupied: int, side: int) -> str:
        squares = product(range(self.ranks), range(self.files))
        stones = ["xo"[sum(s) % 2] if occupied & self.bit(*s) else "." for s in squares]
        rows = ["".join(stones[at : at + self.files]) for at in range(0, len(stones), self.files)]
        return f"{'/'.join(rows)} {'bw'[side]}"


def by_octets(images: list[int]) -> list[list[int]]:
    """Tables of a symmetry: for each eight squares, the image of every set of them."""
    eights = [images[at : at + 8] for at in range(0, len(images), 8)]
    return [
        [sum(image for i, image in enumerate(eight) if octet >> i & 1) for octet in range(256)]
        for eight in eights
    ]


class Proof(NamedTuple):
    board: Board
    root: int
    side: int
    winner: int
    codes: list[int]


def read(file: bytes) -> Proof:
    """Reads a file. Its numbers are not yet known to be codes."""
    require(file[:8] == b"KONPROOF" and len(file) >= 128, "this is not a Konane proof")
    version, ranks, files, side, winner, root, count, size, zero, rules, checksum = (
        struct.unpack_from("<I 4B 2Q 2I 32s Q", file, 8)
    )
    require(version == 1, f"version {version} of the format, expected 1")
    require(checksum == xxh3_64(file[:72]), "the header is damaged")
    require(rules == b"konane-corner-or-centre".ljust(32, b"\0"), "proof by other rules")
    require(0 < ranks * files <= 64, f"{ranks}x{files} is not a board")
    require(side < 2 and winner < 2 and 0 < size <= 2**20 and zero == 0, "the header is wrong")

    index_at, index_bytes, *checksums, end = struct.unpack("<5Q 8s", file[-48:])
    index = file[index_at:-48]
    parts = {"index": index, "header": file[:80], "footer": file[-48:-16]}
    for (name, part), checksum in zip(parts.items(), checksums):
        require(checksum == xxh3_64(part), f"the {name} is damaged")
    require(end == b"KONPREND", "the footer is damaged")
    require(index_at + index_bytes + 48 == len(file), "the index does not end at the footer")
    require(index_bytes == 24 * -(-count // size), "the index is not one entry for each chunk")

    codes, at = [], 80
    for first, length, checksum in struct.iter_unpack("<3Q", index):
        chunk = file[at : at + length]
        at += length
        require(at <= index_at and checksum == xxh3_64(chunk), "a chunk is damaged")
        require(not codes or first > codes[-1], "the codes are not sorted")
        expected = min(count, len(codes) + size)
        codes += read_chunk(first, zstd.decompress(chunk))
        require(len(codes) == expected, "a chunk has another number of codes")
    require(at == index_at, "the chunks do not end at the index")
    board = Board(ranks, files)
    require(board.is_position(root, side), "the root is not a position")
    return Proof(board, root, side, winner, codes)


def read_chunk(code: int, differences: bytes) -> Iterator[int]:
    """Yields the codes of a chunk."""
    yield code
    difference = shift = 0
    for octet in differences:
        difference |= (octet & 127) << shift
        shift += 7
        if octet < 128:
            require(octet > 0 or shift == 7, "a difference is not in its shortest form")
            code += difference + 1
            yield code
            difference = shift = 0
    require(shift == 0, "a chunk ends within a difference")


def verify(file: bytes) -> str:
    """Returns the statement that the file proves, or raises `Rejected`."""
    board, root, root_side, winner, codes = read(file)
    lost = set(codes)

    def is_lost(occupied: int, side: int) -> bool:
        """True if the position is in the set, or the side to move has no move."""
        return board.code(occupied, side) in lost or next(board.moves(occupied, side), None) is None

    def is_won(occupied: int, side: int) -> bool:
        return any(is_lost(after, 1 - side) for after in board.moves(occupied, side))

    answered = 0
    for code in codes:
        occupied, side = board.decode(code)
        for after in board.moves(occupied, side):
            if not is_won(after, 1 - side):
                raise Rejected(f"no reply leads to a lost position: {board.text(after, 1 - side)}")
            answered += 1
    has_root = is_won(root, root_side) if winner == root_side else is_lost(root, root_side)
    require(has_root, f"the root does not follow: {board.text(root, root_side)}")
    return (
        f"{board.ranks}x{board.files}, {board.text(root, root_side)}: {NAMES[winner]} wins\n"
        f"{len(codes)} positions, {answered} moves of the loser answered"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], "rb") as file:
            print(verify(file.read()))
    except (OSError, Rejected, zstd.ZstdError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    print("proof is correct")

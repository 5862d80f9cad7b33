"""`examples/verify_proof.py` and its checksum, on the proofs in `db` and on changed ones."""

import hashlib
import struct
import subprocess
import sys
from pathlib import Path

import konane
import pytest

from conftest import reachable

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
sys.path.insert(0, str(EXAMPLES))

from verify_proof import Board, Rejected, read, verify, xxh3_64, zstd


def shipped(board: str) -> bytes:
    return (ROOT / "db" / f"{board}.proof").read_bytes()


def proof_of(file: bytes, codes: list[int], chunk_codes: int = 4) -> bytes:
    """A proof with the header of `file`, with other codes, and correct checksums."""
    header = bytearray(file[:72])
    header[24:36] = struct.pack("<QI", len(codes), chunk_codes)
    chunks, index = b"", b""
    for at in range(0, len(codes), chunk_codes):
        first, *others = codes[at : at + chunk_codes]
        content = bytearray()
        for before, code in zip(codes[at:], others):
            difference = code - before - 1
            while difference >= 128:
                content.append(difference & 127 | 128)
                difference >>= 7
            content.append(difference)
        chunk = zstd.compress(bytes(content))
        chunks += chunk
        index += struct.pack("<3Q", first, len(chunk), xxh3_64(chunk))
    header += struct.pack("<Q", xxh3_64(bytes(header)))
    footer = struct.pack("<2Q", 80 + len(chunks), len(index))
    footer += struct.pack("<2Q", xxh3_64(index), xxh3_64(bytes(header)))
    footer += struct.pack("<Q", xxh3_64(footer)) + b"KONPREND"
    return bytes(header) + chunks + index + footer


def assert_rejected(file: bytes, path: Path, reason: str):
    """Both checkers reject the positions of an undamaged file."""
    with pytest.raises(Rejected, match=reason):
        verify(file)
    path.write_bytes(file)
    assert not konane.verify_proof(path).valid


@pytest.mark.parametrize("board", ["3x3", "4x4", "5x5", "5x7", "6x6"])
def test_the_shipped_proofs(board):
    path = ROOT / "db" / f"{board}.proof"
    command = [sys.executable, EXAMPLES / "verify_proof.py", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    checked = konane.verify_proof(path)
    assert checked.valid
    assert done.stdout.splitlines() == [
        f"{board}, {checked.root}: {checked.winner.capitalize()} wins",
        f"{checked.positions} positions, {checked.answered} moves of the loser answered",
        "proof is correct",
    ]


def test_the_checksums_in_the_list_of_certificates():
    listed = (ROOT / "db" / "README.md").read_text().split("```text\n")[1].split("```")[0]
    lines = [line.split() for line in listed.splitlines()]
    assert len(lines) == 6
    for expected, name in lines:
        assert hashlib.sha256((ROOT / "db" / name).read_bytes()).hexdigest() == expected, name


@pytest.mark.parametrize("board", ["3x3", "4x4", "5x5"])
def test_damaged_files(board):
    file = shipped(board)
    for at in range(len(file)):
        with pytest.raises(Rejected):
            verify(file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :])
        with pytest.raises(Rejected):
            verify(file[:at])


def test_the_exit_code_of_a_damaged_file(tmp_path):
    path = tmp_path / "5x5.proof"
    path.write_bytes(shipped("5x5").replace(b"KONPREND", b"KONPRENT"))
    command = [sys.executable, EXAMPLES / "verify_proof.py", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{path}: the footer is damaged\n"


@pytest.mark.parametrize("text", ["3x3", "4x4", "5x5"])
def test_changed_proofs(text, tmp_path):
    file = shipped(text)
    board, _, _, winner, codes = read(file)
    other_winner = file[:15] + bytes([1 - winner]) + file[16:]
    path = tmp_path / "changed.proof"
    for chunk_codes in (1, 3, len(codes)):
        assert verify(proof_of(file, codes, chunk_codes)) == verify(file)
    assert_rejected(proof_of(other_winner, codes), path, "the root does not follow")
    # Shipped proofs have no unnecessary positions.
    for at in range(len(codes)):
        others = codes[:at] + codes[at + 1 :]
        assert_rejected(proof_of(file, others), path, "no reply|the root does not follow")
    # A position that is not the least of its images, and a stone outside the board.
    for number in (board.full ^ 3, 1 << 60):
        assert_rejected(proof_of(file, sorted([*codes, number])), path, "is not the code")


@pytest.mark.parametrize("text", ["1x1", "1x6", "2x5", "3x4", "3x5", "4x4"])
def test_moves_and_codes_are_those_of_the_package(text):
    board = Board(*map(int, text.split("x")))
    for position in reachable(text):
        occupied, side = position.occupied, int(position.to_move == "white")
        after = [position.play(move).occupied for move in position.moves()]
        assert sorted(board.moves(occupied, side)) == sorted(after)
        assert board.code(occupied, side) == position.code
        assert board.code(*board.decode(position.code)) == position.code


def test_the_checksum():
    """Figures of the package xxhash 4.1.0, for each range of lengths."""
    expected = {
        0: 0x2D06800538D394C2,
        3: 0xF3EA324084D6587C,
        8: 0xF9C04D813DA5EAE2,
        16: 0x34E9BEADA9992231,
        128: 0x23D85CE687B3EB7F,
        240: 0xE77E31C41B3AAB1E,
        3000: 0x3CF42D16FE6CE922,
    }
    data = bytes(i * 167 & 255 for i in range(3000))
    assert {length: xxh3_64(data[:length]) for length in expected} == expected

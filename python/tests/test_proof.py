import subprocess
import sys

import konane
import pytest


def test_a_proof_and_its_check(tmp_path):
    path = tmp_path / "5x6.proof"
    seen = []
    proof = konane.prove("5x6", path, memory="64MiB", progress=seen.append, interval=0.01)
    assert (proof.outcome, proof.winner, proof.reason) == ("loss", "white", None)
    assert (proof.solution.outcome, proof.solution.winner) == ("loss", "white")
    assert (proof.path, proof.bytes) == (str(path), path.stat().st_size)
    assert proof.solution.seconds <= proof.seconds
    assert seen[-1].nodes == proof.solution.nodes
    checked = konane.verify_proof(path)
    assert (checked.valid, checked.problem, checked.winner) == (True, None, "white")
    assert (checked.board, checked.root) == ("5x6", str(konane.Position("5x6")))
    assert (checked.positions, checked.bytes) == (proof.positions, proof.bytes)
    assert checked.answered > 0


@pytest.mark.parametrize("algo", ["dfpn", "pns", "pn2", "pns-pdfpn", "ab"])
def test_proofs_by_every_algorithm_with_a_database(tmp_path, databases, algo):
    position = konane.Position("4x4", moves="a4 b4")
    path = tmp_path / "proof"
    proof = konane.prove(position, str(path), algo=algo, memory="8MiB", db=databases)
    checked = konane.verify_proof(str(path), threads=1, memory="64MiB")
    assert checked.valid and checked.winner == proof.winner


def test_no_file_without_a_result(tmp_path):
    path = tmp_path / "8x8.proof"
    proof = konane.prove("8x8", path, max_nodes=1000)
    assert (proof.outcome, proof.winner) == ("unknown", "unknown")
    assert (proof.reason, proof.path) == ("node limit", None)
    assert proof.positions is None and proof.bytes is None
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_winner(tmp_path):
    script = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
import konane
proof = konane.prove("5x6", sys.argv[1], memory="8MiB")
print(proof.outcome, proof.winner, proof.solution.winner, proof.path, proof.positions)
print(proof.reason)
"""
    path = tmp_path / "5x6.proof"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    found, reason = done.stdout.splitlines()
    assert found == "loss white white None None"
    assert str(path) in reason and "write" in reason
    assert list(tmp_path.iterdir()) == []


def test_invalid_proof_files(tmp_path):
    path = tmp_path / "4x5.proof"
    konane.prove("4x5", path, memory="8MiB")
    content = path.read_bytes()
    for text, cut in [("is damaged", content[:-1]), ("is not a Konane proof", b"Hello")]:
        path.write_bytes(cut)
        with pytest.raises(konane.FileError, match=text):
            konane.verify_proof(path)
    with pytest.raises(konane.FileError, match="cannot"):
        konane.verify_proof(tmp_path / "nothing")
    with pytest.raises(konane.FileError):
        konane.prove("4x5", tmp_path / "no" / "directory")

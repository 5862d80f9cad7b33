"""Output and exit codes of the subcommands, with stubs for searches and Ray."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")

import konane  # noqa: E402
from konane import cluster  # noqa: E402
from konane.cluster import __main__ as front  # noqa: E402
from konane.cluster.run import Result  # noqa: E402

pytestmark = pytest.mark.ray

SOLVED = {"solve 3x3": "loss", "sprouts 0*3": "win"}


@pytest.fixture(autouse=True)
def no_signal_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "catch_signals", threading.Event)


def search_result(outcome: str, reason: str | None, checkpoint: dict[str, Any]) -> Result:
    fields = {"outcome": outcome, "checkpoint": checkpoint}
    return Result(outcome, None, reason, None, 0, 0.0, [], 0, fields)


@pytest.mark.parametrize(
    ("subcommand", "reason", "fails", "code"),
    [
        ("solve 3x3", None, False, 0),
        ("solve 3x3", "node limit", False, 3),
        ("solve 3x3", "memory", False, 3),
        ("solve 3x3", "interrupted", False, 130),
        ("sprouts 0*3", "file error", False, 4),
        ("sprouts 0*3", "contradiction", False, 4),
        # A solved search needs no checkpoint, but Grundy numbers are useful to other searches.
        ("solve 3x3", None, True, 0),
        ("solve 3x3", "node limit", True, 4),
        ("sprouts 0*3", None, True, 4),
        ("sprouts 0*3", "node limit", True, 4),
    ],
)
def test_results_have_the_exit_codes_of_the_program(
    monkeypatch: pytest.MonkeyPatch, subcommand: str, reason: str | None, fails: bool, code: int
) -> None:
    checkpoint = {"file": "a"} | ({"error": "a: the disk is full"} if fails else {})
    result = search_result("unknown" if reason else SOLVED[subcommand], reason, checkpoint)
    monkeypatch.setattr(front, "search", lambda *_, **__: result)
    assert front.main([*subcommand.split(), "--json"]) == code


@pytest.mark.parametrize(
    ("subcommand", "error", "code"),
    [
        ("solve 3x3", konane.InputError("no"), 2),
        ("solve 3x3", konane.ResourceError("no"), 2),
        ("solve 3x3", konane.FileError("no"), 4),
        ("solve 3x3", konane.InternalError("no"), 1),
        ("solve 3x3", cluster.ClusterError("no"), 3),
        ("builddb 3x3", konane.InputError("no"), 2),
        ("builddb 3x3", konane.ResourceError("no"), 3),
        ("builddb 3x3", konane.FileError("no"), 4),
        ("builddb 3x3", konane.InternalError("no"), 1),
        ("builddb 3x3", cluster.ClusterError("no"), 3),
    ],
)
def test_errors_have_the_exit_codes_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
    subcommand: str,
    error: konane.Error,
    code: int,
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(front, "search", fail)
    monkeypatch.setattr(front.builddb, "build", fail)
    assert front.main(subcommand.split()) == code
    assert capsys.readouterr().err == "error: no\n"


def test_output_of_ray_is_not_in_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def build(*_: Any) -> dict[str, Any]:
        print("(raylet) a worker died")
        return {"reason": "interrupted"}

    monkeypatch.setattr(front.builddb, "build", build)
    assert front.main(["builddb", "3x3", "--json"]) == 130
    assert capsys.readouterr().out == '{"reason": "interrupted"}\n'


def test_an_infinite_proof_number_is_a_word_in_the_text() -> None:
    # After a contradiction the outcome is unknown, even if the root has the proof numbers of a solved node.
    fields = {"outcome": "unknown", "reason": "contradiction", "contradiction": "0*2 is 0 and 1"}
    counts = {"canonical": "0*3", "algorithm": "pns-pdfpn", "profile": "tuned", "nodes": 1}
    numbers = {"pn": 1 << 27, "dn": 0, "expansions": 1, "grundy_numbers": 1}
    _, rows = cluster.Sprouts("0*3").rows(fields | counts | numbers)
    assert ("root", "proof number infinite, disproof number 0") in rows

"""Connections to Ray, with a stub for Ray."""

from __future__ import annotations

from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray cannot be imported: the cluster is not tested")

import konane  # noqa: E402
from konane import cluster  # noqa: E402
from konane.cluster import session  # noqa: E402

pytestmark = pytest.mark.ray

MISMATCH = "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.12.1"


@pytest.mark.parametrize(
    ("address", "error", "kind", "text"),
    [
        ("auto", RuntimeError(MISMATCH), konane.InputError, "3.12.1; install the same versions"),
        ("auto", ConnectionError("nobody"), konane.InputError, "no Ray at auto: nobody"),
        (None, ValueError("no room"), cluster.ClusterError, "Ray cannot be started .*: no room"),
    ],
)
def test_connection_errors(
    monkeypatch: pytest.MonkeyPatch,
    address: str | None,
    error: Exception,
    kind: type[konane.Error],
    text: str,
) -> None:
    def init(**_: Any) -> None:
        raise error

    monkeypatch.setattr(session.ray, "init", init)
    with pytest.raises(kind, match=text):
        cluster.solve("3x3", address=address)
    with pytest.raises(kind, match=text):
        cluster.build_database("3x3", "nowhere", address=address)


def test_ray_errors_become_errors_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.ray, "is_initialized", lambda: True)
    with pytest.raises(cluster.ClusterError, match="the head is gone"):
        with session.connected(None, 1):
            raise ray.exceptions.RaySystemError("the head is gone")
    assert issubclass(cluster.ClusterError, konane.Error)

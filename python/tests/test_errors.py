"""Exceptions for the error kinds of the library (``ErrorKind`` in src/error.rs)."""

import konane
import pytest


@pytest.mark.parametrize(
    ("kind", "call", "error", "base"),
    [
        ("usage", lambda path: konane.solve("9x9"), konane.InputError, ValueError),
        ("usage", lambda path: konane.prove("3x3", path), konane.InputError, ValueError),
        (
            "resource",
            lambda path: konane.solve("5x5", memory="100000TiB"),
            konane.ResourceError,
            MemoryError,
        ),
        (
            "limit",
            lambda path: konane.build_database("8x8", path, memory="1GiB"),
            konane.ResourceError,
            MemoryError,
        ),
        ("file", lambda path: konane.verify_proof(path / "none"), konane.FileError, OSError),
    ],
)
def test_each_kind_of_error_has_its_exception(kind, call, error, base, tmp_path):
    with pytest.raises(error) as caught:
        call(tmp_path)
    assert type(caught.value) is error, kind
    assert isinstance(caught.value, base), kind
    assert list(tmp_path.iterdir()) == [], kind

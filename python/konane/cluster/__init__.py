"""Konane on many machines, by Ray.

``pip install "konane[cluster]"`` brings Ray along. Without an address everything here starts a Ray
of its own on this machine, and ends it.
"""

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError(
        'konane.cluster needs Ray: pip install "konane[cluster]"', name="ray"
    ) from error

from .builddb import build_database

__all__ = ["build_database"]

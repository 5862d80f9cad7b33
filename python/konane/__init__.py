"""Konane (Hawaiian checkers) and Sprouts, solved."""

from ._konane import __version__

__all__ = ["__version__"]

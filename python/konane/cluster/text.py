"""Numbers in messages, as the program writes them, and numbers in arguments."""

from __future__ import annotations

import operator
import reprlib

from .._errors import InputError
from .._konane import bytes_text, counted, short
from .._konane import time_text as seconds

__all__ = ["amount", "check", "counted", "grouped", "number", "rows", "seconds", "short", "size"]

#: Infinite proof number, ``INFINITY`` of the library.
INFINITY = 1 << 27


def grouped(count: int) -> str:
    """A number in groups of three digits."""
    return f"{count:,}"


def number(count: int) -> str:
    """A proof number as text."""
    return "infinite" if count >= INFINITY else grouped(count)


def size(count: float) -> str:
    """Bytes in binary units: ``1.50 GiB``."""
    return bytes_text(int(count))


def rows(head: str, values: list[tuple[str, str]]) -> str:
    """A heading, and named values below it."""
    return "\n".join([head, *(f"  {name:<12}{value}" for name, value in values)])


def amount(text: str, least: int = 1) -> int:
    """Reads a whole number of at least `least`; raises ``ValueError`` for another text."""
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"write a whole number of at least {least}")
    return int(text)


def check(name: str, number: int | None, most: int = 1 << 20) -> None:
    """Raises ``InputError`` if the argument is neither ``None`` nor a number from 1 to `most`."""
    if number is None:
        return
    expected = f"{name}: expected a whole number from 1 to {most}, got {reprlib.repr(number)}"
    try:
        index = operator.index(number)
    except TypeError:
        raise TypeError(f"{expected} ({type(number).__name__})") from None
    if not 1 <= index <= most:
        raise InputError(expected)

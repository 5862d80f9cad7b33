"""Numbers as people read them, and as they write them; as the program does."""

from __future__ import annotations

import math
import operator
import reprlib

from .._errors import InputError

__all__ = ["amount", "check", "counted", "grouped", "number", "rows", "seconds", "short", "size"]

#: The proof number of something impossible, ``INFINITY`` of the library.
INFINITY = 1 << 27


def grouped(count: int) -> str:
    """A number in groups of three digits."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """A number of things: ``1 job``, ``2 jobs``."""
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def number(count: int) -> str:
    """A proof number of the JSON object."""
    return "infinite" if count >= INFINITY else grouped(count)


def short(count: float) -> str:
    """A number with three figures and a letter: ``12.3 M``."""
    if math.isinf(count):
        return "infinite"
    for letter in ("", " k", " M", " G"):
        if count < 999.5:
            decimals = 0 if not letter else 2 if count < 9.995 else 1 if count < 99.95 else 0
            return f"{count:.{decimals}f}{letter}"
        count /= 1000
    return f"{count:.3f} T"


def size(count: float) -> str:
    """Bytes in binary units: ``1.50 GiB``, as the program writes them (``bytes_text``)."""
    units = iter(("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = "B"
    while count >= 1023.5 and (following := next(units, None)):
        count, unit = count / 1024, following
    return f"{count:.2f}".removesuffix(".00") + f" {unit}"


def seconds(time: float) -> str:
    """A time: ``8.12 ms``, ``0.812 s``, ``2 min 5 s``, ``3 h 12 min``."""
    if time < 0.1:
        return f"{time * 1000:.2f} ms"
    if time < 10:
        return f"{time:.3f} s"
    if time < 120:
        return f"{time:.1f} s"
    whole = int(time)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def rows(head: str, values: list[tuple[str, str]]) -> str:
    """A heading, and named values below it."""
    return "\n".join([head, *(f"  {name:<12}{value}" for name, value in values)])


def amount(text: str, least: int = 1) -> int:
    """A whole number of at least so much; raises ``ValueError``."""
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"write a whole number of at least {least}")
    return int(text)


def check(name: str, number: int | None, most: int = 1 << 20) -> None:
    """Raises ``InputError`` for an argument that is given and not from 1 to `most`."""
    if number is None:
        return
    expected = f"{name}: expected a whole number from 1 to {most}, got {reprlib.repr(number)}"
    try:
        index = operator.index(number)
    except TypeError:
        raise TypeError(f"{expected} ({type(number).__name__})") from None
    if not 1 <= index <= most:
        raise InputError(expected)

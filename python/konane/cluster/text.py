"""Numbers as people read them, and as they write them; as the program does."""

from __future__ import annotations

import math
import re

__all__ = ["amount", "duration", "grouped", "number", "seconds", "short", "size"]


def grouped(count: int) -> str:
    """A number in groups of three digits."""
    return f"{count:,}"


def number(count: float) -> str:
    """A proof number."""
    return "infinite" if math.isinf(count) else grouped(int(count))


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
    """Bytes in binary units: ``1.50 GiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1023.5:
            return f"{count:.2f}".removesuffix(".00") + f" {unit}"
        count /= 1024
    return f"{count:.2f} TiB"


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


_TIMES = {"ms": 1e-3, "s": 1, "": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def duration(text: str) -> float:
    """Seconds of ``60s``, ``5m`` or ``2h``; raises ``ValueError``."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", text.strip())
    unit = _TIMES.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError("write a number and a unit, such as 60s or 5m: ms, s, m, h or d")
    time = float(match[1]) * unit
    if time <= 0:
        raise ValueError("it must be more than 0")
    return time


def amount(text: str) -> int:
    """A whole number of at least 1; raises ``ValueError``."""
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ValueError("write a whole number of at least 1")
    return int(text)

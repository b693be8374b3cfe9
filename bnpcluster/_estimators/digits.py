"""Numbers as short text, which people still recognise: -999 is not -1e+03."""

from __future__ import annotations

LARGE = 1e7  # from here, numbers have powers of ten


def short(x: float, digits: int = 3) -> str:
    """A number with some digits, but all of those before the point, unless there are many."""
    text = f"{x:.{digits}g}"
    if "e+" not in text or not abs(x) < LARGE:
        return text
    rounded_up = abs(x) < 10**digits  # such as 999.7 to 1000
    return f"{x:.{digits + 1}g}" if rounded_up else f"{x:.0f}"


def count(n: int, one: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{n} {one}" if n == 1 else f"{n} {one}s"

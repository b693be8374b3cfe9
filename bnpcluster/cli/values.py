"""Values of options: numbers, words and pairs, read from text."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bnpcluster._core.suggestions import unknown

MOST = 10**9  # of anything that is counted
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": " "}
"""Names of separators."""
MARKS = {"comma": ",", "point": ".", "dot": ".", "blank": " ", "space": " ", "apostrophe": "'"}
"""Names of marks in numbers."""


def parse_value(text: str) -> Any:
    """A number, a word, or a tuple of them: `0.5`, `auto`, `1,0.1`."""
    parts = tuple(_number_or_word(part.strip()) for part in text.split(","))
    return parts[0] if len(parts) == 1 else parts


def _number_or_word(text: str) -> Any:
    for kind in (int, float):
        if "_" in text:
            break  # Python reads 1_000 as a number
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _float_or_word(text: str) -> float | str:
    """A float, infinite if a whole number is beyond all floats, or a word."""
    value = _number_or_word(text)
    try:
        return value if isinstance(value, str) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def anything(name: str, text: str) -> Any:
    """A number, a word, or a tuple of them."""
    return parse_value(text)


def path(name: str, text: str) -> Path:
    """A file or folder."""
    if not text:
        raise ValueError(f"{name} is empty.")
    return Path(text).expanduser()


def count(low: int, also: str = "") -> Callable[[str, str], int | str]:
    """A whole number of at least `low`, or the word `also`."""

    def read(name: str, text: str) -> int | str:
        if also and text == also:
            return also
        number = _number_or_word(text)
        if not isinstance(number, int):
            what = f"neither a whole number nor {also}" if also else "not a whole number"
            whole = isinstance(number, float) and number.is_integer() and abs(number) <= MOST
            remedy = f": write {number:.0f}" if whole else ""
            raise ValueError(f"{name}: {text!r} is {what}{remedy}.")
        if number < low:
            raise ValueError(f"{name} must be at least {low}, got {text}.")
        if number > MOST:
            raise ValueError(f"{name} must be at most {MOST:,}, got {text}.")
        return number

    return read


def jobs(name: str, text: str) -> int | str:
    """A number of processes; -1 means all processors."""
    if _number_or_word(text) == -1:
        return -1
    try:
        return count(1)(name, text)
    except ValueError as error:
        if _number_or_word(text) == 0:
            raise ValueError(f"{name} must be at least 1, or -1 for all processors.") from error
        raise


def seed(name: str, text: str) -> int:
    """A whole number of any size."""
    number = _number_or_word(text)
    if not isinstance(number, int):
        raise ValueError(f"{name}: {text!r} is not a whole number.")
    if number < 0:
        raise ValueError(f"{name} must be at least 0, got {text}.")
    return number


def number(name: str, text: str) -> float:
    """Any number."""
    value = _float_or_word(text)
    if isinstance(value, str) or not math.isfinite(value):
        raise ValueError(f"{name} must be a number, got {text}.")
    return value


def positive(name: str, text: str) -> float:
    """A positive number."""
    value = _float_or_word(text)
    if isinstance(value, str) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number, got {text}.")
    return value


def overlap(name: str, text: str) -> float | str:
    """A number between 0 and 1, or auto."""
    value = _float_or_word(text)
    if value == "auto":
        return "auto"
    if isinstance(value, str) or not 0 < value < 1:
        raise ValueError(f"{name} must be auto, or a number above 0 and below 1, got {text}.")
    return value


def one_of(what: str, names: Sequence[str]) -> Callable[[str, str], str]:
    """One of some names."""

    def read(name: str, text: str) -> str:
        if text not in names:
            raise ValueError(unknown(what, text, names))
        return text

    return read


def several(name: str, text: str) -> list[str]:
    """Some words, separated by commas."""
    return text.split(",")


def separator(name: str, text: str) -> str:
    """What separates columns."""
    found = SEPARATORS.get(text.lower(), "\t" if text == "\\t" else text)
    if len(found) != 1 or found in '"\r\n':
        raise ValueError(
            f"{name} must be one character, or comma, semicolon, tab, pipe or blanks, got {text!r}."
        )
    return found


def mark(name: str, text: str) -> str:
    """A mark in numbers."""
    found = MARKS.get(text.lower(), text)
    if len(found) != 1 or found.isalnum() or found in '+-"':
        raise ValueError(f"{name} must be one character, such as a comma, got {text!r}.")
    return found


def listed(name: str, text: str) -> list[str]:
    """Names, separated by commas; a name with a comma is in quotes."""
    names = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [""])]
    if "" in names:
        raise ValueError(f"{name} has an empty name: separate names by single commas.")
    for part in names:
        if names.count(part) > 1:
            raise ValueError(f"{name} names {part!r} twice.")
    return names

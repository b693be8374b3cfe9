"""Cells of a table as numbers, categories or missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "nan", "n/a", "null", "none"})
BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
FORMS_BESIDE_COMMAS = [
    (r"\d{1,3}(\.\d{3})+(,\d*)?", "points in its numbers", "--thousands . to read them"),
]
FORMS = [
    (r"\d{1,3}(\.\d{3}){2,}", "points in its numbers", "--thousands . --decimal , to read them"),
    (r"\d{1,3}(\.\d{3})+,\d+", "points and commas", "--thousands . --decimal , to read them"),
    (r"\d{1,3}(,\d{3})+\.\d+", "commas and points", "--thousands , to read them"),
    (
        r"(\d*,\d+([eE][+-]?\d+)?|\d{1,3}(,\d{3})+)",
        "numbers with commas",
        "--decimal , if the comma marks decimals, or --thousands , if it groups digits",
    ),
    (r"\d{1,3}( \d{3})+(\.\d*)?", "blanks in its numbers", "--thousands blank to read them"),
    (r"\d{1,3}('\d{3})+(\.\d*)?", "apostrophes", "--thousands apostrophe to read them"),
]
"""Numbers with marks: their form, what they have, and the options that read them."""
MOSTLY = 0.5  # share of numbers in a column whose only words are one repeated word


class Marks(NamedTuple):
    """How the cells of a table are written.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        The mark between groups of three digits; empty for none.
    missing : frozenset of str
        Words in lower case, and numbers as text, that mark missing values.
    """

    decimal: str = "."
    thousands: str = ""
    missing: frozenset[str] = MISSING

    @classmethod
    def of(cls, decimal: str, thousands: str, missing: Sequence[Sequence[str]]) -> Marks:
        """The marks that options describe."""
        if decimal == thousands:
            raise ValueError(f"--decimal and --thousands are both {decimal!r}.")
        more = {word.strip().lower() for words in missing for word in words}
        return cls(decimal, thousands, MISSING | more)

    @property
    def missing_numbers(self) -> list[float]:
        """The numbers that mark missing values."""
        return [float(word) for word in self.missing - MISSING if is_number(word)]

    def is_missing(self, cell: Any) -> bool:
        """Whether a cell has no value."""
        if isinstance(cell, str):
            return cell.strip().lower() in self.missing
        return cell is None or cell != cell

    def number(self, cell: Any) -> float:
        """A cell as a number. Raise ValueError or TypeError if it is none."""
        if not isinstance(cell, str):
            return float(cell)
        text = cell.strip().translate(BLANKS)
        if self.thousands and self.thousands in text:
            text = self._without_groups(text)
        if self.decimal != ".":
            if "." in text:
                raise ValueError(text)
            text = text.replace(self.decimal, ".", 1)
        if "_" in text:  # which Python takes for a mark of thousands
            raise ValueError(text)
        return float(text)

    def _without_groups(self, text: str) -> str:
        """A number without the marks between its groups of three digits."""
        mark = re.escape(self.thousands)
        end = rf"({re.escape(self.decimal)}\d*)?([eE][+-]?\d+)?"
        if not re.fullmatch(rf"[+-]?\d{{1,3}}({mark}\d{{3}})+{end}", text):
            raise ValueError(text)
        return text.replace(self.thousands, "")


class NotNumbers(ValueError):
    """A column contains cells that are not numbers.

    Parameters
    ----------
    column : str
        Its name.
    cells : sequence
        Its cells.
    marks : Marks
        How they were read.
    """

    def __init__(self, column: str, cells: Sequence[Any], marks: Marks):
        self.column, self.marks = column, marks
        bad = [i for i, cell in enumerate(cells) if not _is_readable(cell, marks)]
        self.row, self.cell = bad[0] + 1, str(cells[bad[0]])
        self.words = Counter(str(cells[i]).strip() for i in bad)
        known = [cell for cell in cells if not marks.is_missing(cell)]
        self.share = 1 - len(bad) / len(known)  # of numbers
        self.looks_numeric = bool(self.remedy()) or self.share >= 0.9
        super().__init__(self.sentence())

    def remedy(self) -> str:
        """What to do if the cells are numbers that were not recognised; empty if they are text."""
        text = self.cell.strip().translate(BLANKS)
        if self.marks.thousands and self.marks.thousands in text and is_like_number(text):
            return (
                f"has marks of thousands {self.example} that are not groups of three digits: use "
                f"--thousands {self.marks.thousands} and --decimal only for what they are"
            )
        forms = FORMS if self.marks.decimal == "." else FORMS_BESIDE_COMMAS
        for form, what, options in forms:
            if re.fullmatch(r"[+-]?" + form, text):
                return f"has {what} {self.example}: add {options}"
        if len(self.words) == 1 and self.share >= MOSTLY and not is_like_number(text):
            n = self.words.total()
            return (
                f"contains {text!r} in {n} {'row' if n == 1 else 'rows'} and numbers in all "
                f"others: if this marks missing values, add --missing {text!r}"
            )
        return ""

    def sentence(self) -> str:
        """What is wrong, without advice for text."""
        return f"Column {self.column!r} {self.remedy() or f'contains text {self.example}'}."

    @property
    def example(self) -> str:
        """The first cell that is not a number."""
        return f"({self.cell!r} in row {self.row})"


def _is_readable(cell: Any, marks: Marks) -> bool:
    try:
        marks.number(cell)
    except (TypeError, ValueError):
        return marks.is_missing(cell)
    return True


def is_number(cell: Any) -> bool:
    """Whether a cell is a number with a decimal point."""
    try:
        Marks().number(cell)
    except (TypeError, ValueError):
        return False
    return True


def may_be_grouped(cells: Sequence[Any], marks: Marks) -> bool:
    """Whether points may group digits: 900 and 1.200, but no other digits after a point."""
    known = [cell for cell in cells if not marks.is_missing(cell)]
    if marks != marks._replace(decimal=".", thousands="") or not all(
        isinstance(cell, str) and re.fullmatch(r"\s*[+-]?\d{1,3}(\.\d{3})?\s*", cell)
        for cell in known
    ):
        return False
    pointed = sum("." in cell for cell in known)
    return 2 <= pointed < len(known)


def is_like_number(text: str) -> bool:
    """Whether text consists of digits, marks and signs."""
    return bool(re.fullmatch(r"[+-]?[\d.,' ]*\d[\d.,' ]*([eE][+-]?\d+)?", text.strip()))


def as_numbers(name: str, cells: Sequence[Any], marks: Marks) -> NDArray[np.float64]:
    """A column as numbers, with NaN for missing cells."""
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            values[i] = np.nan if marks.is_missing(cell) else marks.number(cell)
        except (TypeError, ValueError):
            raise NotNumbers(name, cells, marks) from None
    for number in marks.missing_numbers:
        values[values == number] = np.nan
    return values


def as_codes(cells: Sequence[Any], marks: Marks) -> tuple[NDArray[np.float64], list[str]]:
    """A column of words as codes, and the words in alphabetical order."""
    known = [None if marks.is_missing(cell) else str(cell).strip() for cell in cells]
    words = sorted({word for word in known if word is not None})
    code: dict[str | None, float] = {word: float(c) for c, word in enumerate(words)}
    return np.array([code.get(word, np.nan) for word in known]), words

"""Find columns that look like identifiers, dates or numbers written as text.

They do not tell clusters apart, but a likelihood that goes by the types of columns would take them
for categories or measurements. Estimators refuse them. A likelihood of measurements gets a warning.
`suspicious_columns` serves other readers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.odd_cells import is_missing
from bnpcluster._estimators.encoding import columns_and_names, is_frame
from bnpcluster._fitting.constant_columns import warn_at_caller

LEAST = 10  # values that a column needs to be judged
MOSTLY = 0.9  # share of values that have the form of a date or number
NAMES = re.compile(r"(^|[^a-z])(id|ids|key|uuid|guid|nr|no|index|identifier|barcode)$")
CAPITAL_ID = re.compile(r"[a-z](ID|Id)$")  # customerId
MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([ap]\.?m\.?)?\s*(z|utc|[+-]\d{2}:?\d{2})?"
DATES = [
    r"\d{4}-\d{1,2}(-\d{1,2})?",
    r"\d{4}/\d{1,2}/\d{1,2}",
    r"\d{4}\.\d{1,2}\.\d{1,2}",
    r"\d{1,2}/\d{1,2}/(\d{4}|\d{2})",
    r"\d{1,2}-\d{1,2}-\d{4}",
    r"\d{1,2}\.\s?\d{1,2}\.\s?(\d{4}|\d{2})",
    rf"\d{{1,2}}\.?[ -]?{MONTH}[ ,-]*(\d{{4}}|\d{{2}})",
    rf"{MONTH}\s*\d{{1,2}}(st|nd|rd|th)?,?\s*\d{{4}}",
]
DATE = re.compile(rf"(({'|'.join(DATES)})([t ,]+{TIME})?|{TIME})", re.IGNORECASE)


class Suspicion(NamedTuple):
    """A column that does not look like data to cluster by.

    Attributes
    ----------
    column : int
        Its number.
    kind : {"identifier", "dates", "numbers"}
        What it looks like; "numbers" are numbers that are written as text.
    reason : str
        Why, to follow the name of the column in a sentence: "looks like an identifier (...)".
    """

    column: int
    kind: str
    reason: str


REMEDIES = {
    "identifier": (
        "drop it. If it is a category or a measurement, name the likelihood of every column in a "
        "dict"
    ),
    "dates": "drop it, or convert it to numbers first, such as days since the earliest date",
    "numbers": "convert it to numbers, with NaN where it is missing",
}
"""What to do, by kind."""


def refuse_suspicious(columns: Sequence[Any], names: Sequence[str] | None) -> None:
    """Raise an error if a column looks like an identifier, dates or numbers written as text."""
    found = suspicious_columns(columns, names)
    if not found:
        return
    first, *others = found
    called = [repr(each.column if names is None else names[each.column]) for each in found]
    more = f" Columns {', '.join(called[1:6])} do not look like data, either." if others else ""
    if len(others) == 1:
        more = f" Column {called[1]} {others[0].reason}, too."
    raise ValueError(f"Column {called[0]} {first.reason}: {REMEDIES[first.kind]}.{more}")


def warn_of_identifiers(table: Any) -> None:
    """Warn if a data frame of measurements has whole numbers that are called identifiers."""
    if not is_frame(table):
        return
    columns, names = columns_and_names(table)
    for column, name in zip(columns, names or [], strict=True):
        # Whole numbers in a row may be a time or a position, so the name has to say it.
        if not _is_called_identifier(name):
            continue
        judged = judge(column, name)
        if judged is not None and judged[0] == "identifier":
            warn_at_caller(
                UserWarning(
                    f"Column {name!r} {judged[1]}, but takes part in the clusters: drop it. If it "
                    "is a measurement, convert it to floats."
                )
            )


def suspicious_columns(columns: Sequence[Any], names: Sequence[Any] | None = None) -> list:
    """The columns that look like identifiers, dates or numbers written as text.

    Parameters
    ----------
    columns : sequence of array-like
        The columns. Missing values are None or NaN. Columns of floats and booleans are never
        suspicious, so pass whole numbers as integers.
    names : sequence of str, optional
        The names of the columns. Integers are judged by them, too.

    Returns
    -------
    found : list of Suspicion
        One for each suspicious column, in their order.
    """
    found = []
    for j, column in enumerate(columns):
        judged = judge(column, "" if names is None else str(names[j]))
        if judged is not None:
            found.append(Suspicion(j, *judged))
    return found


def judge(column: Any, name: str) -> tuple[str, str] | None:
    """What a column looks like and why; None for a column to cluster by."""
    values = _present(column)
    if len(values) < LEAST:
        return None
    if all(isinstance(value, str) for value in values):
        return _judge_text(values)
    whole = all(
        isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
        for value in values
    )
    return _judge_integers([int(value) for value in values], name) if whole else None


def _present(column: Any) -> list:
    """The values that are not missing, as Python objects."""
    values = np.asarray(column)
    if values.dtype.kind in "fb":
        return []
    if values.dtype.kind == "O":
        return [value for value in values if not is_missing(value)]
    return values.tolist()


def _judge_text(values: list[str]) -> tuple[str, str] | None:
    words = [value.strip() for value in values]
    different = len(set(words))
    if sum(map(_is_date, words)) >= MOSTLY * len(words):
        return "dates", f"contains dates or times as text ({words[0]!r})"
    often = different <= len(words) / 2
    numbers = [word for word in words if _is_number(word)]
    if len(numbers) >= MOSTLY * len(words):
        if often and all(number.lstrip("+-").isdigit() for number in numbers):
            return None  # codes of categories
        rest = next((word for word in words if not _is_number(word)), None)
        also = "" if rest is None else f" and {rest!r}"
        return "numbers", f"contains numbers as text ({numbers[0]!r}{also})"
    if often:
        return None
    return "identifier", _identifier(different, len(words))


def _judge_integers(values: list[int], name: str) -> tuple[str, str] | None:
    if all(map(_is_compact_date, values)) and len(set(values)) > 1:
        return "dates", f"contains dates as numbers ({values[0]})"
    different = len(set(values))
    if different < len(values):
        return None
    if _is_called_identifier(name) or max(values) - min(values) == len(values) - 1:
        return "identifier", _identifier(different, len(values))
    return None


def _is_called_identifier(name: str) -> bool:
    return bool(NAMES.search(name.lower()) or CAPITAL_ID.search(name))


def _identifier(different: int, n: int) -> str:
    return f"looks like an identifier ({different} different values in {n} rows)"


def _is_date(word: str) -> bool:
    return DATE.fullmatch(word) is not None


def _is_number(word: str) -> bool:
    """Whether text is a number, also with a decimal comma or separators of thousands."""
    try:
        float(word.replace(",", "").replace(" ", ""))
    except ValueError:
        return False
    return True


def _is_compact_date(value: int) -> bool:
    """Whether an integer reads as a year, a month and a day, like 20260131."""
    return (
        19000101 <= value <= 21001231 and 1 <= value // 100 % 100 <= 12 and 1 <= value % 100 <= 31
    )

"""Check the cells of a table, and say which is the first that is neither a number nor text."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from bnpcluster._core.messages import shown

PARTS = (list, tuple, dict, set, frozenset, bytearray, memoryview, range, np.void)
COMPLEX = (complex, np.complexfloating)
MOST = 10**308  # the largest integer that floats reach


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN and the like of other packages."""
    try:
        return value is None or (np.ndim(value) == 0 and bool(value != value))
    except ArithmeticError:
        return False  # a signalling NaN of `decimal`, which nothing can be compared with
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # of pandas, which nothing can be compared with


def is_collection(cell: Any) -> bool:
    """Whether a cell has parts, such as a list."""
    return isinstance(cell, PARTS) or (isinstance(cell, np.ndarray) and cell.ndim > 0)


def about_complex(name: str, row: int | None = None, column: Any = None) -> str:
    """What to say of complex numbers."""
    # scikit-learn's checks of estimators look for the start of this sentence.
    place = "" if row is None else f" in row {row}, column {column!r}"
    return (
        f"Complex data not supported: {name} contains complex numbers{place}; pass their real and "
        "imaginary parts as columns."
    )


def about_cell(name: str, row: int, column: Any, cell: Any) -> str:
    """What to say of a cell that has parts."""
    return (  # scikit-learn's checks of estimators look for the middle of this sentence
        f"Every cell of the argument must be a string or a number, but row {row}, column "
        f"{column!r} of {name} contains a {type(cell).__name__}: give each of its values a column."
    )


def odd_cell(columns: Sequence[Any], names: Sequence[Any] | None, name: str = "X") -> str:
    """Why a cell of some columns cannot be read; empty if all are single values of usual size."""
    return _first_reason(columns, names, name, _about_odd)


def no_number(columns: Sequence[Any], names: Sequence[Any] | None, name: str = "X") -> str:
    """Why a cell of some columns is not a number; empty if all are."""
    return _first_reason(columns, names, name, _about_no_number)


def _first_reason(
    columns: Sequence[Any],
    names: Sequence[Any] | None,
    name: str,
    reason: Callable[[str, int, Any, Any], str],
) -> str:
    for j, column in enumerate(columns):
        own = j if names is None else names[j]
        for i, cell in _objects(column):
            found = reason(name, i, own, cell)
            if found:
                return found
    return ""


def _objects(column: Any) -> Iterator[tuple[int, Any]]:
    """The cells of a column of objects; the first one of other columns that are not numbers."""
    values = np.asarray(column)
    if values.ndim > 1:
        yield 0, list(values[0])
    elif values.dtype.kind == "O":
        yield from enumerate(values)
    elif values.dtype.kind == "c":
        yield 0, values[0]


def _about_odd(name: str, row: int, column: Any, cell: Any) -> str:
    if is_collection(cell):
        return about_cell(name, row, column, cell)
    if isinstance(cell, COMPLEX):
        return about_complex(name, row, column)
    if isinstance(cell, int) and abs(cell) > MOST:
        return (
            f"{name} contains an integer that is too large ({shown(cell)}) in row {row}, column "
            f"{column!r}: rescale the column, or replace it by a missing value."
        )
    if isinstance(cell, Decimal) and cell.is_snan():
        return (
            f"{name} contains a signalling NaN in row {row}, column {column!r}: replace it by a "
            "missing value."
        )
    return ""


def _about_no_number(name: str, row: int, column: Any, cell: Any) -> str:
    try:
        float(cell)
    except (TypeError, ValueError):
        pass
    else:
        return ""
    if type(cell).__name__ == "NAType":  # of pandas, in a column of objects
        return (
            f"{name} contains pandas.NA in row {row}, column {column!r}, among objects: pass "
            f"pandas.DataFrame({name}).astype('Float64')."
        )
    return (
        f"{name} contains a value of the type {type(cell).__name__}, which is not a number, in row "
        f"{row}, column {column!r}: replace it by a number, or by NaN if it is missing."
    )


def are_dates(rows: Sequence[Any] | np.ndarray) -> bool:
    """Whether a row, or a cell of it, is a date or a time."""
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    listed = (row if _is_listed(row) else [row] for row in rows)
    return any(isinstance(cell, times) for row in listed for cell in row)


def _is_listed(row: Any) -> bool:
    return isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim > 0)

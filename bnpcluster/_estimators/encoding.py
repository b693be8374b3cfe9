"""Encode tables of mixed columns as numbers: kinds of columns and codes of categories."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}  # by kind of dtype


class Encoding:
    """The kinds and categories of the columns in the fit, to encode new tables in the same way.

    Parameters
    ----------
    table : data frame or array-like of shape (n_samples, n_features)
        The table of the fit.

    Attributes
    ----------
    names : list of str or None
        Names of the columns, if they have names.
    kinds : list of str
        "float", "int", "bool" or "text", by column.
    categories : dict
        The sorted values of each column of text or categories.
    """

    def __init__(self, table: Any):
        columns, self.names = _columns(table)
        columns = _without_empty_rows(columns)
        self.categories: dict[int, list] = {}
        self.kinds = []
        for j, column in enumerate(columns):
            kind = _kind(column)
            if kind == "text":
                values = set(np.asarray(column, object)[~_missing(column)].tolist())
                self.categories[j] = sorted(values, key=lambda v: (type(v).__name__, v))
            elif kind == "int" and set(np.unique(_floats(column, ""))) <= {0.0, 1.0}:
                kind = "bool"
            self.kinds.append(kind)

    def encode(self, table: Any) -> np.ndarray:
        """The table as floats: codes for categories, NaN for missing entries."""
        columns, names = _columns(table)
        if len(columns) != len(self.kinds):
            raise ValueError(f"X has {len(columns)} columns, but the fit had {len(self.kinds)}.")
        named = names or [str(j) for j in range(len(columns))]
        encoded = [
            self._codes(j, column, named[j])
            if j in self.categories
            else _floats(column, f" {named[j]!r}")
            for j, column in enumerate(columns)
        ]
        return np.column_stack(encoded)

    def _codes(self, j: int, column: Any, name: str) -> np.ndarray:
        numbers = {value: code for code, value in enumerate(self.categories[j])}
        codes = np.full(len(column), np.nan)
        values = np.asarray(column, object)
        for i in np.flatnonzero(~_missing(column)):
            if values[i] not in numbers:
                raise ValueError(
                    f"Column {name!r} holds {values[i]!r}, a category that did not occur in the "
                    "fit: replace it by a missing value, or fit again."
                )
            codes[i] = numbers[values[i]]
        return codes

    def decode(self, j: int, codes: np.ndarray) -> list:
        """The values of column `j` for some codes."""
        return [self.categories[j][int(code)] for code in codes]


def is_frame(table: Any) -> bool:
    """Whether a table is a data frame."""
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def without_mask(table: Any) -> Any:
    """A masked array as a plain one, with NaN where it is masked."""
    if not np.ma.isMaskedArray(table):
        return table
    whole = table.dtype.kind in "biuf"
    return np.ma.filled(table.astype(float if whole else object), np.nan)


def check_dates(table: Any) -> None:
    """Raise an error if a table contains dates or times."""
    if not is_frame(table):
        if _has_dates(table):
            raise ValueError(
                "X contains dates or times: convert them to numbers first, such as days since the "
                "earliest date."
            )
        return
    for name in table.columns:
        kind = str(table[name].dtype).lower()
        dated = kind.startswith(("datetime", "timedelta", "date", "time", "duration", "period"))
        if dated or (kind == "object" and _has_dates(table[name].to_numpy())):
            raise ValueError(
                f"Column {str(name)!r} contains dates or times: drop it, or convert it to numbers "
                "first, such as days since the earliest date."
            )


def first_word(table: Any) -> str | None:
    """The first cell of a table that is text but not a number, or None."""
    columns, _ = _columns(table) if np.ndim(table) == 2 or is_frame(table) else ([], None)
    for column in columns:
        for value in np.asarray(column, object)[~_missing(column)]:
            if isinstance(value, str) and not _is_number(value):
                return value
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def with_values(table: Any, X: np.ndarray, filled: np.ndarray, encoding: Encoding | None) -> Any:
    """A copy of a data frame with the values `filled` in those columns that have NaN in `X`."""
    table = table.clone() if hasattr(table, "clone") else table.copy()
    for j in np.flatnonzero(np.isnan(X).any(axis=0)):
        name = list(table.columns)[j]
        values: Any = filled[:, j]
        if encoding is not None and j in encoding.categories:
            values = encoding.decode(int(j), values)
        if hasattr(table, "with_columns"):  # of polars
            table = table.with_columns(type(table[name])(name, values))
        else:
            table[name] = values
    return table


def _columns(table: Any) -> tuple[list[Any], list[str] | None]:
    """The columns, and their names if they have any."""
    if is_frame(table):
        names = [str(name) for name in table.columns]
        return [table[name] for name in table.columns], names
    array = np.asarray(table)
    return [_narrowed(column) for column in array.T], None


def _without_empty_rows(columns: list[Any]) -> list[Any]:
    """The columns without the rows that have no value at all, which a fit leaves out."""
    if not columns:
        return columns
    kept = np.flatnonzero(~np.all([_missing(column) for column in columns], axis=0))
    if len(kept) in (0, len(columns[0])):
        return columns
    taken = [c.iloc[kept] if hasattr(c, "iloc") else c[kept] for c in columns]
    return [_narrowed(c) if isinstance(c, np.ndarray) else c for c in taken]


def _narrowed(column: np.ndarray) -> np.ndarray:
    """A column of objects as numbers or booleans, if it contains only these."""
    if column.dtype.kind != "O" or _missing(column).any():
        return column
    narrow = np.array(column.tolist())
    return narrow if narrow.dtype.kind in "biuf" else column


def _missing(column: Any) -> np.ndarray:
    """Where a column has no value: NaN, None and the like."""
    for name in ("isna", "is_null"):  # of pandas, of polars
        if hasattr(column, name):
            return np.asarray(getattr(column, name)(), bool)
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    return np.array([v is None or (isinstance(v, float) and v != v) for v in values], bool)


def _has_dates(table: Any) -> bool:
    """Whether an array or a list, or a row of it, contains dates or times."""
    kind = getattr(getattr(table, "dtype", None), "kind", "O")
    if kind != "O" or not isinstance(table, (list, tuple, np.ndarray)):
        return kind in "mM"
    rows = (row if isinstance(row, (list, tuple, np.ndarray)) else [row] for row in table)
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return any(isinstance(cell, times) for row in rows for cell in row)


def _kind(column: Any) -> str:
    declared = str(column.dtype).lower()
    values = np.asarray(column)
    if declared.startswith(("categ", "enum")):
        return "text"
    if values.dtype.kind in KINDS:
        return KINDS[values.dtype.kind]
    if values.dtype.kind in "mM":
        raise ValueError("X contains dates or times: convert them to numbers first.")
    present = np.asarray(column, object)[~_missing(column)]
    kind = np.array(present.tolist()).dtype.kind
    return KINDS.get(kind, "text")


def _floats(column: Any, name: str) -> np.ndarray:
    """A column of numbers or booleans as floats."""
    array = np.asarray(column)
    if array.dtype.kind in KINDS:
        return array.astype(float)
    missing = _missing(column)
    values = np.full(len(missing), np.nan)
    present = np.asarray(column, object)[~missing]
    try:
        values[~missing] = present.astype(float)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column{name} holds {present[0]!r}, but held numbers in the fit."
        ) from None
    return values

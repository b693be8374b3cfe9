"""Encode tables of mixed columns as numbers: kinds of columns and codes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from bnpcluster._core.odd_cells import are_dates, is_missing, no_number, odd_cell

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
        columns, names = columns_and_names(table)
        self.names: list[str] | None = names
        _check_cells(columns, self.names)
        columns = _without_empty_rows(columns)
        self.categories: dict[int, list] = {}
        self.kinds = []
        for j, column in enumerate(columns):
            kind = _kind(column)
            if kind == "text":
                values = set(np.asarray(column, object)[~_missing(column)].tolist())
                self.categories[j] = _sorted(values, self.names[j] if self.names else j)
            elif kind == "int" and set(np.unique(_floats(column, ""))) <= {0.0, 1.0}:
                kind = "bool"
            self.kinds.append(kind)

    @classmethod
    def of_categories(cls, names: Sequence[str], categories: dict[int, list]) -> Encoding:
        """The encoding of columns with these names, some of which contain codes of categories."""
        result = cls(np.zeros((0, len(names))))
        result.names, result.categories = list(names), dict(categories)
        result.kinds = ["text" if j in categories else "float" for j in range(len(names))]
        return result

    def encode(self, table: Any, unknown: bool = False) -> np.ndarray:
        """The table as floats: codes for categories, NaN for missing entries.

        `unknown`: whether categories that did not occur in the fit are missing.
        """
        columns, names = columns_and_names(table)
        if len(columns) != len(self.kinds):
            raise ValueError(f"X has {len(columns)} columns, but the fit had {len(self.kinds)}.")
        _check_cells(columns, names)
        named: list[Any] = list(range(len(columns))) if names is None else list(names)
        encoded = [
            self._codes(j, column, named[j], unknown)
            if j in self.categories
            else _floats(column, f" {named[j]!r}")
            for j, column in enumerate(columns)
        ]
        return np.column_stack(encoded)

    def _codes(self, j: int, column: Any, name: str | int, unknown: bool) -> np.ndarray:
        numbers = {value: code for code, value in enumerate(self.categories[j])}
        codes = np.full(len(column), np.nan)
        values = np.asarray(column, object)
        for i in np.flatnonzero(~_missing(column)):
            if values[i] in numbers:
                codes[i] = numbers[values[i]]
            elif not unknown:
                raise ValueError(
                    f"Column {name!r} contains {values[i]!r}, a category that did not occur in "
                    "the fit: set handle_unknown='missing', replace it by a missing value, or fit "
                    "again."
                )
        return codes

    def decode(self, j: int, codes: np.ndarray) -> list:
        """The values of column `j` for some codes."""
        return [self.categories[j][int(code)] for code in codes]


def is_frame(table: Any) -> bool:
    """Whether a table is a data frame."""
    return hasattr(table, "columns") and hasattr(table, "dtypes")


class FrameLike(NamedTuple):
    """How to make a data frame of pandas with the columns of another.

    Attributes
    ----------
    columns : list
        Names of the columns.
    dtypes : list
        Their types.
    """

    columns: list
    dtypes: list

    @classmethod
    def of(cls, table: Any) -> FrameLike | None:
        """The columns of a data frame; None for other tables."""
        if not is_frame(table) or not hasattr(table, "iloc"):
            return None
        return cls(list(table.columns), list(table.dtypes))

    def stacked(self, sets: np.ndarray, encoding: Encoding | None, levels: list[str]) -> Any:
        """A data frame of sets of rows, with categories instead of codes.

        The index has a level for each dimension but the last, all counted from 0.
        """
        import pandas

        result = self.filled(sets.reshape(-1, sets.shape[-1]), encoding)
        numbers = [range(size) for size in sets.shape[:-1]]
        result.index = pandas.MultiIndex.from_product(numbers, names=levels)
        return result

    def filled(self, rows: np.ndarray, encoding: Encoding | None) -> Any:
        """A data frame of some rows, with categories instead of codes."""
        import pandas

        categories = {} if encoding is None else encoding.categories
        columns = {}
        for j, (name, kind) in enumerate(zip(self.columns, self.dtypes, strict=True)):
            values: Any = rows[:, j]
            if encoding is not None and j in categories:
                values = encoding.decode(j, values)
            column = pandas.Series(values)
            if j in categories or _holds(kind, rows[:, j]):
                column = column.astype(kind)
            columns[name] = column
        return pandas.DataFrame(columns, columns=self.columns)


def _holds(kind: Any, values: np.ndarray) -> bool:
    """Whether a type of whole numbers or booleans has room for values."""
    code = getattr(kind, "kind", "O")
    if code not in "iub" or (values % 1 != 0).any():
        return False
    if code == "b":
        return True
    room = np.iinfo(getattr(kind, "numpy_dtype", kind))
    return bool(((values >= room.min) & (values <= room.max)).all())


def names_of_rows(table: Any) -> list | None:
    """The names of the rows of a data frame, unless they are their numbers."""
    index = getattr(table, "index", None) if is_frame(table) else None
    if index is None:
        return None
    names = list(index)
    return None if names == list(range(len(names))) else names


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


ENCODED = (
    "encode text as numbers first, for instance with sklearn's OrdinalEncoder and "
    "likelihood='categorical', or use likelihood='columns', which takes text for categories"
)
NUMBERS = "the fit had numbers there, so replace it by numbers, or by NaN if it is missing"
"""What to do about text in a fit, and in new rows."""
SHOWN = 5  # columns in a message


def unreadable(table: Any, name: str = "X", remedy: str = ENCODED) -> str:
    """Why a table cannot be read as numbers; empty if there is nothing better to say.

    `remedy` says what to do about text.
    """
    if issparse(table):
        return ""
    columns, names = (
        columns_and_names(table) if np.ndim(table) == 2 or is_frame(table) else ([], None)
    )
    odd = odd_cell(columns, names, name)
    words = {} if odd else _first_words(columns)
    if not words:
        return odd or no_number(columns, names, name)
    first = next(iter(words.values()))
    if "," in first and _is_number(first.replace(",", "")):
        numbers = {j: w for j, w in words.items() if "," in w and _is_number(w.replace(",", ""))}
        return (
            f"{_contain(name, names, numbers, 'numbers with a comma')}: read the file with its "
            "decimal separator or that of thousands, for instance pandas.read_csv(file, "
            "decimal=',')."
        )
    return f"{_contain(name, names, words, 'text')}: {remedy}."


def _contain(name: str, names: list[str] | None, words: dict[int, str], what: str) -> str:
    """Which columns contain something, with an example of each; the table if they have no names."""
    if names is None:
        j, word = next(iter(words.items()))
        return f"{name} contains {what} ({word!r}) in column {j}"
    shown = [f"{names[j]!r} ({word!r})" for j, word in list(words.items())[:SHOWN]]
    if len(words) == 1:
        j, word = next(iter(words.items()))
        return f"Column {names[j]!r} of {name} contains {what} ({word!r})"
    more = f", ... ({len(words)} in all)" if len(words) > SHOWN else ""
    return f"Columns {', '.join(shown)}{more} of {name} contain {what}"


def _first_words(columns: list[Any]) -> dict[int, str]:
    """The first cell of each column that is text but not a number, for columns that have one."""
    found = {}
    for j, column in enumerate(columns):
        for value in np.asarray(column, object)[~_missing(column)]:
            if isinstance(value, (str, bytes)) and not _is_number(value):
                found[j] = value.decode(errors="replace") if isinstance(value, bytes) else value
                break
    return found


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _sorted(values: set[Any], column: Any) -> list[Any]:
    """Categories in a fixed order."""
    try:
        return sorted(values, key=lambda v: (type(v).__name__, v))
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in values})
        raise TypeError(
            f"Categories must be text or numbers, but column {column!r} of X contains values of "
            f"the type {kinds[0]}, which have no order: replace them by their names."
        ) from error


def _check_cells(columns: list[Any], names: list[str] | None) -> None:
    """Raise an error if a cell is a list, for instance."""
    odd = odd_cell(columns, names)
    if odd:
        raise ValueError(odd)


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


def columns_and_names(table: Any) -> tuple[list[Any], list[str] | None]:
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
    try:
        narrow = np.array(column.tolist())
    except ValueError:  # cells that are lists
        return column
    return narrow if narrow.dtype.kind in "biuf" else column


def _missing(column: Any) -> np.ndarray:
    """Where a column has no value: NaN, None and the like."""
    for name in ("isna", "is_null"):  # of pandas, of polars
        if hasattr(column, name):
            return np.asarray(getattr(column, name)(), bool)
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    return np.array([is_missing(v) for v in values], bool)


def _has_dates(table: Any) -> bool:
    """Whether an array or a list, or a row of it, contains dates or times."""
    kind = getattr(getattr(table, "dtype", None), "kind", "O")
    if kind != "O" or not isinstance(table, (list, tuple, np.ndarray)):
        return kind in "mM"
    return are_dates(table)


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
        odd = next((v for v in present if not _is_number(v)), present[0])
        raise ValueError(
            f"Column{name} contains {odd!r}, but it contained numbers in the fit."
        ) from None
    return values

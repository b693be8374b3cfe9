"""Tables from files: CSV, TSV and Parquet, as named columns of cells."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

Table = dict[str, list[Any]]
"""Cells by column: text, or whatever a Parquet file holds."""

TEXT = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
MISSING = {"", "na", "nan", "n/a", "null", "none"}


class Rows(NamedTuple):
    """What is clustered: rows with names, and columns of numbers with theirs.

    Attributes
    ----------
    name : str: what the names of the rows are called
    ids : sequence: the names of the rows
    columns : dict of str to ndarray
    words : dict of str to list of str
        Of columns whose numbers are codes, the words they stand for.
    """

    name: str
    ids: Sequence[Any]
    columns: dict[str, NDArray[np.float64]]
    words: dict[str, list[str]]


class Frame:
    """As much of a data frame as tidy tables of mutations need."""

    def __init__(self, columns: dict[str, Any]):
        self._columns = {name: np.asarray(cells) for name, cells in columns.items()}

    @classmethod
    def of(cls, table: Table, numbers: Sequence[str]) -> Frame:
        """A frame of a table, of whose columns these hold numbers."""
        remedy = "it must hold numbers"
        columns = {n: as_numbers(n, c, remedy) if n in numbers else c for n, c in table.items()}
        return cls(columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> NDArray:
        return self._columns[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.column_stack(list(self._columns.values())).astype(dtype or float)

    def rows(self) -> Iterator[tuple]:
        """The rows, cell by cell, whole numbers without a point."""
        columns = [column.tolist() for column in self._columns.values()]
        texts = [[f"{x:.10g}" if isinstance(x, float) else x for x in cells] for cells in columns]
        return zip(*texts, strict=True)


def chosen_rows(
    table: Table, file: str, id_column: str | None, chosen: list[str], coded: str
) -> Rows:
    """The rows of a table, by the `chosen` columns, or all.

    Of `coded` columns (all, none, or those that hold text) cells may be any words.
    """
    # A first column without a name holds the names of the rows.
    id_column = id_column or ("" if "" in table else None)
    chosen = chosen or [name for name in table if name != id_column]
    for name in [*chosen, *([id_column] if id_column else [])]:
        if name not in table:
            raise ValueError(f"{file} has no column {name!r}; it has {', '.join(table)}.")
    if not chosen:
        raise ValueError(f"{file} has no column to cluster by.")
    columns, words = {}, {}
    for name in chosen:
        if coded == "all" or (coded == "text" and _holds_text(name, table[name])):
            columns[name], words[name] = as_codes(table[name])
        else:
            columns[name] = as_numbers(name, table[name])
    ids = range(1, len(columns[chosen[0]]) + 1) if id_column is None else table[id_column]
    return Rows(id_column or "row", ids, columns, words)


def likelihoods(rows: Rows) -> dict[int, str]:
    """A likelihood for every column of a mixed table: words, 0 and 1, or other numbers."""
    named = {}
    for j, (name, values) in enumerate(rows.columns.items()):
        coins = np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()
        named[j] = "categorical" if name in rows.words else "bernoulli" if coins else "nig"
    return named


def _holds_text(name: str, cells: list[Any]) -> bool:
    """Whether a column holds words; numbers with a comma are none."""
    try:
        as_numbers(name, cells)
    except ValueError as error:
        if "comma" in str(error):
            raise
        return True
    return False


def read_table(path: Path) -> Table:
    """The columns of a file, by the ending of its name."""
    ending = path.suffix.lower()
    if ending in TEXT:
        return _read_text(path, "\t" if ending in (".tsv", ".tab") else None)
    if ending in PARQUET:
        return _read_parquet(path)
    raise ValueError(
        f"Cannot tell what {path} is: its name must end in {', '.join(TEXT + PARQUET)}."
    )


def _read_text(path: Path, separator: str | None) -> Table:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            names, rows = _lines(file, path.name, separator)
            columns: list[list[str]] = [[] for _ in names]
            for row in rows:
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not text in UTF-8: save it in that encoding.") from None
    except csv.Error as error:
        raise ValueError(f"{path.name} is not a table of text: {error}.") from None
    return dict(zip(names, columns, strict=True))


def _lines(file: TextIO, name: str, separator: str | None) -> tuple[list[str], Iterator[list[str]]]:
    """The names of the columns, and the other lines as lists of as many cells."""
    head = file.readline()
    file.seek(0)
    lines = csv.reader(file, delimiter=separator or max(",;\t", key=head.count), strict=True)
    names = [cell.strip() for cell in next(lines, [])]
    _check_names(name, names)

    def rows() -> Iterator[list[str]]:
        for row in lines:
            if row and len(row) != len(names):
                raise ValueError(
                    f"Line {lines.line_num} of {name} has {len(row)} cells, but the first line "
                    f"names {len(names)} columns."
                )
            if row:
                yield row

    return names, rows()


def _check_names(name: str, names: list[str]) -> None:
    """Raise one sentence unless the first line can be names of columns."""
    if not names:
        raise ValueError(f"{name} is empty: its first line must name the columns.")
    if all(_is_number(cell) for cell in names):
        raise ValueError(f"The first line of {name} must name the columns, but holds numbers.")
    # R and pandas leave the name of the first column empty where it holds the names of the rows.
    if "" in names[1:]:
        raise ValueError(f"Column {names.index('', 1) + 1} of {name} has no name.")
    twice = [cell for cell in names if names.count(cell) > 1]
    if twice:
        raise ValueError(f"{name} has several columns named {twice[0]!r}.")


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'Parquet files need the package pyarrow: pip install "bnpcluster[tables]".'
        ) from error
    try:
        with path.open("rb") as file:
            table = ParquetFile(file).read()
    except ArrowException:
        raise ValueError(f"{path.name} is not a Parquet file.") from None
    _check_names(path.name, table.column_names)
    return dict(zip(table.column_names, (c.to_pylist() for c in table.columns), strict=True))


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def is_missing(cell: Any) -> bool:
    """Whether nothing is known of a cell."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def as_numbers(name: str, cells: list[Any], remedy: str = "") -> NDArray[np.float64]:
    """A column of numbers, NaN where they are missing."""
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            values[i] = float(cell)
        except (TypeError, ValueError):
            if not is_missing(cell):
                raise ValueError(_no_number(name, str(cell), i + 1, remedy)) from None
            values[i] = np.nan
    return values


def _no_number(name: str, cell: str, row: int, remedy: str = "") -> str:
    """A sentence about a cell that is no number."""
    if _is_number(cell.replace(",", ".", 1)):
        return (
            f"Column {name!r} has a comma in its numbers ({cell!r} in row {row}): write them with "
            "a point."
        )
    if remedy:
        return f"Column {name!r} holds text ({cell!r} in row {row}): {remedy}."
    remedy = "choose columns of numbers with --columns, use it as --id-column, or code it"
    if cell.strip().lower() in ("true", "false", "yes", "no"):
        remedy = "write 1 and 0, or code it"
    return (
        f"Column {name!r} holds text ({cell!r} in row {row}): {remedy} by --likelihood categorical."
    )


def as_codes(cells: list[Any]) -> tuple[NDArray[np.float64], list[str]]:
    """A column of words as the places of the words in alphabetical order, and these words."""
    known = [None if is_missing(cell) else str(cell).strip() for cell in cells]
    words = sorted({word for word in known if word is not None})
    code: dict[str | None, float] = {word: float(c) for c, word in enumerate(words)}
    return np.array([code.get(word, np.nan) for word in known]), words

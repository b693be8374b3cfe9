"""Read tables from CSV, TSV and Parquet files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

Table = dict[str, list[Any]]
"""Cells by column: text, or the values of a Parquet file."""

TEXT = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
MISSING = {"", "na", "nan", "n/a", "null", "none"}


class DecimalCommaError(ValueError):
    """A column has numbers with a decimal comma."""


class Rows(NamedTuple):
    """The rows to cluster: named rows and named columns of numbers.

    Attributes
    ----------
    name : str
        The name of the column of row names.
    ids : sequence
        The names of the rows.
    columns : dict of str to ndarray
        The columns of numbers.
    words : dict of str to list of str
        For each column of codes, the words that the codes stand for.
    """

    name: str
    ids: Sequence[Any]
    columns: dict[str, NDArray[np.float64]]
    words: dict[str, list[str]]


class Frame:
    """A minimal data frame for tidy tables of mutations."""

    def __init__(self, columns: dict[str, Any]):
        self._columns = {name: np.asarray(cells) for name, cells in columns.items()}

    @classmethod
    def of(cls, table: Table, numbers: Sequence[str]) -> Frame:
        """A frame from a table. The columns named in `numbers` must contain only numbers."""
        remedy = "it must contain only numbers"
        columns = {n: as_numbers(n, c, remedy) if n in numbers else c for n, c in table.items()}
        return cls(columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> NDArray:
        return self._columns[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        return np.column_stack(list(self._columns.values())).astype(dtype or float)

    def rows(self) -> Iterator[tuple]:
        """The rows, with whole numbers written without a decimal point."""
        columns = [column.tolist() for column in self._columns.values()]
        texts = [[f"{x:.10g}" if isinstance(x, float) else x for x in cells] for cells in columns]
        return zip(*texts, strict=True)


def select_rows(
    table: Table, file: str, id_column: str | None, chosen: list[str], coded: str
) -> Rows:
    """The rows of a table, with the `chosen` columns or all.

    `coded` says which columns are read as categories: "all", "none", or "text" for those that
    contain text.
    """
    # A first column without a name contains the names of the rows.
    id_column = id_column or ("" if "" in table else None)
    chosen = chosen or [name for name in table if name != id_column]
    for name in [*chosen, *([id_column] if id_column else [])]:
        if name not in table:
            raise ValueError(f"{file} has no column {name!r}; it has {', '.join(table)}.")
    if not chosen:
        raise ValueError(f"{file} has no column to cluster by.")
    columns, words = {}, {}
    for name in chosen:
        if coded == "all" or (coded == "text" and _contains_text(name, table[name])):
            columns[name], words[name] = as_codes(table[name])
        else:
            columns[name] = as_numbers(name, table[name])
    ids = range(1, len(columns[chosen[0]]) + 1) if id_column is None else table[id_column]
    return Rows(id_column or "row", ids, columns, words)


def column_likelihoods(rows: Rows) -> dict[int, str]:
    """The likelihood of each column of a mixed table, depending on its values."""
    chosen = {}
    for j, (name, values) in enumerate(rows.columns.items()):
        is_binary = np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()
        is_coded = name in rows.words
        chosen[j] = "categorical" if is_coded else "bernoulli" if is_binary else "nig"
    return chosen


def _contains_text(name: str, cells: list[Any]) -> bool:
    """Whether a column contains words. Numbers with a decimal comma are an error."""
    try:
        as_numbers(name, cells)
    except DecimalCommaError:
        raise
    except ValueError:
        return True
    return False


def read_table(path: Path) -> Table:
    """The columns of a file. The ending of its name tells the format."""
    ending = path.suffix.lower()
    if ending in TEXT:
        return _read_text(path, "\t" if ending in (".tsv", ".tab") else None)
    if ending in PARQUET:
        return _read_parquet(path)
    raise ValueError(
        f"The format of {path} is unknown: its name must end in {', '.join(TEXT + PARQUET)}."
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
        raise ValueError(f"{path.name} is not text in UTF-8: save it as UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{path.name} is not a table of text: {error}.") from None
    return dict(zip(names, columns, strict=True))


def _lines(file: TextIO, name: str, separator: str | None) -> tuple[list[str], Iterator[list[str]]]:
    """The names of the columns, and the other lines as lists of cells."""
    head = file.readline()
    file.seek(0)
    lines = csv.reader(file, delimiter=separator or max(",;\t", key=head.count), strict=True)
    names = [cell.strip() for cell in next(lines, [])]
    _check_names(name, names)

    def rows() -> Iterator[list[str]]:
        for row in lines:
            if row and len(row) != len(names):
                raise ValueError(
                    f"Line {lines.line_num} of {name} has {len(row)} cells, but there are "
                    f"{len(names)} columns."
                )
            if row:
                yield row

    return names, rows()


def _check_names(name: str, names: list[str]) -> None:
    """Raise an error if the first line does not contain the names of the columns."""
    if not names:
        raise ValueError(f"{name} is empty: its first line must name the columns.")
    if all(_is_number(cell) for cell in names):
        raise ValueError(
            f"The first line of {name} must name the columns, but contains only numbers."
        )
    # R and pandas leave the name of the first column empty if it contains the names of the rows.
    if "" in names[1:]:
        raise ValueError(f"Column {names.index('', 1) + 1} of {name} has no name.")
    repeated = [cell for cell in names if names.count(cell) > 1]
    if repeated:
        raise ValueError(f"{name} has several columns named {repeated[0]!r}.")


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow: run pip install "bnpcluster[tables]".'
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
    """Whether a cell has no value."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def as_numbers(name: str, cells: list[Any], remedy: str = "") -> NDArray[np.float64]:
    """A column as numbers, with NaN for missing cells."""
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            values[i] = float(cell)
        except (TypeError, ValueError):
            if not is_missing(cell):
                raise _number_error(name, str(cell), i + 1, remedy) from None
            values[i] = np.nan
    return values


def _number_error(name: str, cell: str, row: int, remedy: str = "") -> ValueError:
    """The error for a cell that is not a number."""
    if _is_number(cell.replace(",", ".", 1)):
        return DecimalCommaError(
            f"Column {name!r} has numbers with a decimal comma ({cell!r} in row {row}): use a "
            "decimal point."
        )
    if not remedy:
        remedy = (
            "choose numeric columns with --columns, make it the --id-column, or use "
            "--likelihood categorical"
        )
        if cell.strip().lower() in ("true", "false", "yes", "no"):
            remedy = "write 1 and 0, or use --likelihood categorical"
    return ValueError(f"Column {name!r} contains text ({cell!r} in row {row}): {remedy}.")


def as_codes(cells: list[Any]) -> tuple[NDArray[np.float64], list[str]]:
    """A column of words as codes, and the words in alphabetical order."""
    known = [None if is_missing(cell) else str(cell).strip() for cell in cells]
    words = sorted({word for word in known if word is not None})
    code: dict[str | None, float] = {word: float(c) for c, word in enumerate(words)}
    return np.array([code.get(word, np.nan) for word in known]), words

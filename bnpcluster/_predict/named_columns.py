"""The columns that marginal and conditional densities are asked for, by number or name."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

from bnpcluster._core import arguments
from bnpcluster._fitting.fitted import Fitted


def column_numbers(fitted: Fitted, columns: Any, names: Sequence[str] | None) -> list[int]:
    """Numbers of columns of a Gaussian likelihood among those of the model, by number or name."""
    all_names, kept = _column_names(fitted, names), fitted.columns.tolist()
    chosen = _column_numbers(columns, all_names)
    for j in chosen:
        if j not in kept:
            raise ValueError(
                f"Column {all_names[j]!r} was constant in the fit and left out: it has no density."
            )
    return [kept.index(j) for j in chosen]


def _column_names(fitted: Fitted, names: Sequence[str] | None) -> Sequence[str | int]:
    """Names or numbers of all columns of the tables, if the likelihood is Gaussian."""
    if not fitted.likelihood.is_gaussian:
        raise TypeError(
            "Marginal and conditional densities are not available for "
            f"{type(fitted.likelihood).__name__}: use likelihood='niw' or 'nig'."
        )
    return range(fitted.n_columns) if names is None else list(names)


def names_of_model(fitted: Fitted, names: Sequence[str] | None) -> list[str | int]:
    """Names or numbers of the columns that are modelled."""
    return [int(j) if names is None else names[j] for j in fitted.columns]


def _column_numbers(columns: Any, names: Sequence[str | int]) -> list[int]:
    """Numbers of one or more columns, given by name or number."""
    if isinstance(columns, slice):
        columns = range(len(names))[columns]
    is_word = isinstance(columns, (str, bytes))
    is_one = is_word or not isinstance(columns, Iterable) or getattr(columns, "shape", None) == ()
    some = [columns] if is_one else list(columns)
    found = [_column_number(column, names) for column in some]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"columns must name at least one column, and none twice, got {columns!r}.")
    return found


def _column_number(column: Any, names: Sequence[str | int]) -> int:
    if isinstance(column, str):
        if isinstance(names, range):
            raise ValueError(
                f"No column {column!r}: the model was fitted without column names, so use numbers."
            )
        if column not in names:
            raise ValueError(arguments.unknown("column", column, [str(name) for name in names]))
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, numbers.Integral):
        raise TypeError(f"A column must be a name or a number, got {column!r}.")
    number = int(column)
    if not 0 <= number < len(names):
        raise ValueError(f"A column must be a number from 0 to {len(names) - 1}, got {column}.")
    return number


def name_columns(names: Sequence[str | int]) -> str:
    """The names of the columns in a string."""
    words = [name if isinstance(name, str) else f"column {name}" for name in names]
    return ", ".join(words[:8]) + (", ..." if len(words) > 8 else "")

"""Where the rows of a table are drawn: one column, two columns, or principal components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import messages
from bnpcluster.likelihoods import Categorical, Columns

BY_CLUSTER = "cluster"  # name of the second axis if the data have one column
SPREAD = 0.6  # width over which points of equal coordinate are spread


class Coordinates(NamedTuple):
    """Two coordinates of every row.

    Attributes
    ----------
    points : ndarray of shape (n_rows, 2)
        The coordinates.
    names : pair of str
        Their names.
    categories : pair of list of str or None
        The categories of a coordinate that is a column of categories, at 0, 1, 2, ...
    """

    points: NDArray[np.float64]
    names: tuple[str, str]
    categories: tuple[list[str] | None, list[str] | None] = (None, None)


def categories_of(fitted: Any) -> dict[int, list[str]]:
    """The names of the categories of each column that has some, by number of the column.

    Codes that the user gave have their numbers as names.
    """
    likelihood = fitted.likelihood
    d = fitted.X.shape[1]
    parts = [(likelihood, range(d))]
    if isinstance(likelihood, Columns):
        parts = likelihood.parts
    coded = [j for part, own in parts if isinstance(part, Categorical) for j in own]
    named = {} if fitted.encoding is None else fitted.encoding.categories
    found = {}
    for j in coded:
        number = int(fitted.columns[j])
        largest = int(np.nanmax(fitted.X[:, j], initial=0))
        found[number] = [str(name) for name in named.get(number, range(largest + 1))]
    return found


def coordinates(
    X: NDArray[np.float64],
    labels: NDArray[np.intp],
    names: Sequence[str],
    columns: Sequence[int | str] | None,
    categories: Mapping[int, list[str]],
) -> Coordinates:
    """Two coordinates of every row.

    `categories` has the names of the categories of each column of `X` that has some.
    """
    chosen = list(range(X.shape[1]))
    if columns is not None:
        if isinstance(columns, str) or not np.iterable(columns):
            raise TypeError(
                f"columns must be a list of one or two columns, got {messages.shown(columns)}."
            )
        chosen = [_column(name, list(names)) for name in columns]
        if len(chosen) not in (1, 2):
            raise ValueError(f"columns must name one or two columns, got {len(chosen)}.")
    if len(chosen) > 2:
        return _principal_components(X, categories)
    # Categories would hide one another: their points are spread, too.
    shown = [
        X[:, j] + (_spread(len(X), k + 1) if j in categories else 0.0) for k, j in enumerate(chosen)
    ]
    labelled = [categories.get(j) for j in chosen]
    if len(chosen) == 1:
        points = np.column_stack([shown[0], labels + _spread(len(X), 0)])
        return Coordinates(points, (names[chosen[0]], BY_CLUSTER), (labelled[0], None))
    first, second = chosen
    return Coordinates(
        np.column_stack(shown), (names[first], names[second]), (labelled[0], labelled[1])
    )


def _column(name: int | str, names: list[str]) -> int:
    """The number of a column, given by number or name."""
    if isinstance(name, str):
        if name in names:
            return names.index(name)
    elif isinstance(name, (int, np.integer)) and 0 <= name < len(names):
        return int(name)
    raise ValueError(
        f"There is no column {name!r}: use a number from 0 to {len(names) - 1}, or {names}."
    )


def _spread(n: int, which: int) -> NDArray[np.float64]:
    """Small shifts around 0, by sequences that fill an interval evenly and do not repeat it."""
    step = ((np.sqrt(5) - 1) / 2, np.sqrt(2), np.sqrt(3))[which]
    return SPREAD * ((np.arange(n) * step) % 1 - 0.5)


def _principal_components(
    X: NDArray[np.float64], categories: Mapping[int, list[str]]
) -> Coordinates:
    """The first two principal components of the scaled columns, and their names."""
    Z = np.column_stack([_scaled(X[:, j], j in categories) for j in range(X.shape[1])])
    # Use the covariance of the columns: there are usually fewer columns than rows.
    variances, directions = np.linalg.eigh(Z.T @ Z)
    shares = 100 * variances[::-1][:2] / max(variances.sum(), 1e-300)
    points = Z @ directions[:, ::-1][:, :2]
    first, second = (
        # Two lines, so that a small picture has room for the name.
        f"{nth} principal component\n({share:.0f} % of the variance)"
        for nth, share in zip(("first", "second"), shares, strict=True)
    )
    return Coordinates(points, (first, second))


def _scaled(column: NDArray[np.float64], is_category: bool) -> NDArray[np.float64]:
    """A column with mean 0 and variance 1; one 0/1 column for each category.

    The codes of categories have no order. As in the factor analysis of mixed data, the column of a
    category is divided by the root of its share, so that rare categories count as much as others.
    """
    if not is_category:
        Z = column - column.mean()
        scale = Z.std()
        return (Z / (scale if scale > 0 else 1.0))[:, None]
    one = (column[:, None] == np.unique(column)).astype(float)
    share = one.mean(axis=0)
    return (one - share) / np.sqrt(share)

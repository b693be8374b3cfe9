"""Rows without any value, which say nothing about clusters: a fit leaves them out.

This is exact: the posterior of the other rows is the same with them and without them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.messages import Action, Message
from bnpcluster._fitting.constant_columns import warn_at_caller
from bnpcluster._fitting.searches import is_in_search

SHOWN = 10  # numbers of rows in a message
IN_SEARCH = (
    "Some rows have no value: the fits of this search leave them out, and their label is -1. This "
    "is said once per search."
)
ABOUT_OTHERS = Action(
    "posterior_ and coclustering_ are about the other rows, which observed_rows_ lists",
    "draws.npz is about the other rows",
)


class ObservedRows(NamedTuple):
    """The rows of the tables of a fit that have values; the others are left out.

    Attributes
    ----------
    numbers : ndarray of int
        Numbers of the rows with values.
    n_rows : int
        The number of all rows.
    """

    numbers: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, X: np.ndarray) -> ObservedRows:
        """The rows of `X` with at least one value."""
        return cls(np.flatnonzero(~without_values(X)), len(X))

    @property
    def empty(self) -> np.ndarray:
        """Numbers of the rows without any value."""
        return np.setdiff1d(np.arange(self.n_rows), self.numbers, assume_unique=True)

    def cut(self, values: np.ndarray) -> np.ndarray:
        """The values of the observed rows."""
        return values if len(self.numbers) == self.n_rows else values[self.numbers]

    def cut_labels(self, init: Any) -> Any:
        """Initial labels of the observed rows; anything that is not labels of all rows as it is."""
        if isinstance(init, str) or len(self.numbers) == self.n_rows:
            return init
        labels = np.asarray(init)
        has_all = labels.ndim in (1, 2) and labels.shape[-1] == self.n_rows
        return labels[..., self.numbers] if has_all else init

    def restored(self, values: np.ndarray, fill: float) -> np.ndarray:
        """Values of the observed rows, with `fill` for the others between them."""
        if len(self.numbers) == self.n_rows:
            return values
        result = np.full((self.n_rows, *values.shape[1:]), fill, values.dtype)
        result[self.numbers] = values
        return result

    def followed_by(self, later: ObservedRows) -> ObservedRows:
        """The rows of this table and of a later one."""
        numbers = np.concatenate([self.numbers, self.n_rows + later.numbers])
        return ObservedRows(numbers, self.n_rows + later.n_rows)

    def warn(self) -> None:
        """Say which rows are left out, if there are any."""
        if not len(self.empty):
            return
        if is_in_search():  # which passes other rows to each fit
            warn_at_caller(UserWarning(IN_SEARCH))
            return
        one = len(self.empty) == 1
        is_left = " has no value: it is" if one else " have no value: they are"
        label = "its label is" if one else "their label is"
        warn_at_caller(
            UserWarning(
                Message(
                    "Row " if one else "Rows ",
                    self.described(),
                    f"{is_left} left out of the fit, and {label} -1. ",
                    ABOUT_OTHERS,
                    ".",
                )
            )
        )

    def described(self) -> Action:
        """The numbers of the rows without values: from 0 in Python, from 1 on the command line."""
        more = f", ... ({len(self.empty)} in all)" if len(self.empty) > SHOWN else ""
        python, shell = (
            ", ".join(map(str, self.empty[:SHOWN] + start)) + f"{more} (counted from {start})"
            for start in (0, 1)
        )
        return Action(python, shell)

    def check(self) -> None:
        """Raise an error if too few rows have values."""
        if len(self.numbers) < 2:
            raise ValueError(
                f"Only {len(self.numbers)} of {self.n_rows} rows has a value, and rows without any "
                "are left out: at least 2 rows with values are needed."
            )


def without_values(X: np.ndarray) -> np.ndarray:
    """Which rows of numbers are entirely missing."""
    return np.isnan(X).all(axis=1)

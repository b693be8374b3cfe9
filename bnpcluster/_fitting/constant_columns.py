"""Constant columns, which cannot tell clusters apart: a fit leaves them out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnpcluster._core.messages import ColumnsWarning
from bnpcluster._fitting.searches import is_new
from bnpcluster.likelihoods import Likelihood
from bnpcluster.likelihoods.gaussian.units import are_equal

SHOWN = 5  # names of columns in a message


class Constants(NamedTuple):
    """The columns of the tables of a fit: those that it models, and those that it leaves out.

    Attributes
    ----------
    kept : ndarray of int
        Numbers of the modelled columns.
    columns : ndarray of int
        Numbers of the constant columns that are left out.
    values : ndarray, shape (len(columns),)
        The constants.
    """

    kept: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, likelihood: Likelihood) -> Constants:
        """Leave out the constant columns that a likelihood cannot model, unless they are all."""
        columns = likelihood.constant_columns(X)
        if len(columns) == X.shape[1]:
            columns = columns[:0]  # the likelihood refuses them
        kept = np.setdiff1d(np.arange(X.shape[1]), columns)
        values = np.nanmin(X[:, columns], axis=0) if len(columns) else np.zeros(0)
        return cls(kept, columns, values)

    def cut(self, X: np.ndarray) -> np.ndarray:
        """The modelled columns of a table."""
        return np.ascontiguousarray(X[:, self.kept]) if len(self.columns) else X

    def restored(self, rows: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
        """The modelled columns with the constants between them; observed entries are those of X."""
        if not len(self.columns):
            return rows
        result = np.empty((len(rows), len(self.kept) + len(self.columns)))
        result[:, self.kept], result[:, self.columns] = rows, self.values
        if X is not None:
            own = X[:, self.columns]
            result[:, self.columns] = np.where(np.isnan(own), self.values, own)
        return result

    def names(self, names: Sequence[str] | None) -> Sequence[str | int] | None:
        """Names or numbers of the modelled columns, given the names of all."""
        if not len(self.columns):
            return names
        return [int(j) if names is None else names[j] for j in self.kept]

    def warn(self, names: Sequence[str] | None) -> None:
        """Say which columns are left out, if there are any."""
        one = len(self.columns) == 1
        after = "was left out: it says" if one else "were left out: they say"
        warn_of_columns("Constant column", self.columns, f" {after} nothing about clusters.", names)

    def warn_of_changes(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        """Say which columns of new rows differ from the constants of the fit, if there are any."""
        own = X[:, self.columns]
        low, high = np.fmin(own, self.values), np.fmax(own, self.values)
        changed = self.columns[~are_equal(low, high).all(axis=0)]
        after = "was constant in the fit" if len(changed) == 1 else "were constant in the fit"
        warn_of_columns(
            "Column", changed, f" {after}, and left out: new values are ignored.", names
        )


def listed(columns: np.ndarray, names: Sequence[str] | None) -> str:
    """Names or numbers of some columns, for a report."""
    shown = [str(j) if names is None else repr(names[j]) for j in columns[:SHOWN]]
    what = "columns" if len(columns) > 1 else "column"
    return f"{what} {', '.join(shown)}{', ...' if len(columns) > SHOWN else ''}"


def warn_of_columns(
    what: str, columns: np.ndarray, after: str, names: Sequence[str | int] | None
) -> None:
    """Warn of some columns at the line that called the package."""
    if not len(columns):
        return
    before = f"{what}s " if len(columns) > 1 else f"{what} "
    more = ", ..." if len(columns) > SHOWN else ""
    warning = ColumnsWarning(before, columns[:SHOWN].tolist(), more + after)
    warn_at_caller(warning if names is None else warning.renamed(names))


def warn_at_caller(warning: Warning) -> None:
    """Warn at the line that called the package."""
    if not is_new(str(warning)):
        return
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals["__name__"].startswith(("bnpcluster.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)

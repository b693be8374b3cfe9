"""What every likelihood is outside the kernels: a description that binds itself to data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone


class Likelihood(BaseEstimator):
    """Base class of likelihoods: hyper-parameters, and `bind`, which readies data for the kernels.

    A subclass stores its hyper-parameters untouched in `__init__`, offers the methods below, and
    registers the operations of `bnpcluster._core.operations` for the NamedTuple class that `bind`
    returns. That class names in an attribute `slot_axis` the arrays each chain must own, with the
    axis along which its slots lie (a tuple if there are several, `()` for scratch space).
    """

    is_of_rows = True
    """Whether items are rows of `X`, so that there can be new ones; mixtures take no other kind."""

    is_gaussian = False
    """Whether `blocks` can tell what the blocks say of some of the columns, given others."""

    has_density = True
    """Whether rows have a density; if not, they are whole numbers and have probabilities."""

    takes_text = False
    """Whether `Columns` may give it codes of text."""

    takes_nan = False
    """Whether rows may lack entries, marked by NaN: `bind_observed` is defined, too."""

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Instances, each with five to seven rows of data, on which the checks are made."""
        return [(cls(), rng.normal(size=(6, 2)))]

    def table(self, X: Any, known: Any = None) -> Any:
        """Rows made of what a user gave, if that is a table of another shape; before any check.

        `known` are the names of the columns of the fit, if there was one.
        """
        return X

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Validate the rows `X` and return data and empty slots for the kernels."""
        raise NotImplementedError(f"{type(self).__name__} must define bind(X, capacity).")

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """What `bind` returns where entries are NaN; for any `X`, since new rows may have them."""
        raise NotImplementedError(f"{type(self).__name__} must define bind_observed(X, capacity).")

    def frozen(self, X: np.ndarray) -> Likelihood:
        """The same likelihood with every "auto" replaced by what it stands for at `X`."""
        return clone(self)

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        raise NotImplementedError(f"{type(self).__name__} must define rows(bound, X).")

    def serves(self, bound: Any, X: np.ndarray | None = None) -> bool:
        """Whether `rows` takes rows with entries missing where they are in `X`; None: anywhere.

        If not, predictions use `imputing`.
        """
        return True

    def imputing(self) -> Likelihood:
        """The same likelihood, but it serves all rows: what it integrates out is in its `latent`.

        The operation `draw_latent` of the data bound by this one draws that.
        """
        return self

    def features(self, X: np.ndarray) -> np.ndarray:
        """Columns in which Euclidean distance makes sense, for the k-means starts of chains."""
        X = mean_imputed(X)
        # By the largest entry first, so that squares neither overflow nor underflow.
        largest = np.abs(X).max(axis=0)
        Z = X / np.where(largest > 0, largest, 1.0)
        Z = Z - Z.mean(axis=0)
        scale = Z.std(axis=0)
        return Z / np.where(scale > 0, scale, 1.0)

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """What to expect of every column in the first slots, of bound data that take NaN.

        Of shape (n_slots, n_expected); probabilities of all categories where means make no sense.
        """
        raise NotImplementedError(f"{type(self).__name__} must define means(bound, n_slots).")

    def expected(
        self, bound: Any, new: Any, share: np.ndarray, items: np.ndarray | None = None
    ) -> np.ndarray:
        """The sum over slots of share[i, k] times what to expect of row i of `new` in slot k.

        `items` are the numbers that the rows have in `bound`, if they are among its rows. Here all
        rows expect alike; a likelihood with dependent columns looks at the observed entries.
        """
        return share @ self.means(bound, share.shape[1])

    def n_expected(self, bound: Any, n_columns: int) -> int:
        """How many numbers `means` gives for each slot."""
        return n_columns

    def filled(self, bound: Any, X: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """The rows of `X` with what is expected in place of NaN."""
        return np.where(np.isnan(X), expected, X)

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        raise NotImplementedError(f"{type(self).__name__} must define sample(bound, k, rng).")

    def blocks(self, bound: Any, slots: np.ndarray) -> Any:
        """What some slots say of a new row, in internal units; see `block_distributions`."""
        raise NotImplementedError(f"{type(self).__name__} must define blocks(bound, slots).")


def check_observed(X: np.ndarray) -> None:
    """Raise one sentence if a column of `X` has no entry at all."""
    columns = np.flatnonzero(np.isnan(X).all(axis=0))
    if len(columns):
        raise ValueError(
            f"Column {columns[0]} has no observed entry, and so no say in the clusters: leave it "
            "out."
        )


def mean_imputed(X: np.ndarray) -> np.ndarray:
    """The rows, with the mean of its column in place of every NaN."""
    missing = np.isnan(X)
    return np.where(missing, observed_mean(X), X) if missing.any() else X


def observed_mean(X: np.ndarray) -> np.ndarray:
    """The mean of every column over the entries that are not NaN."""
    missing = np.isnan(X)
    if not missing.any():
        return X.mean(axis=0)
    return np.where(missing, 0.0, X).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)


def is_auto(value: Any) -> bool:
    """Whether a hyper-parameter is left to follow the data."""
    return isinstance(value, str) and value == "auto"


def number_above(name: str, value: Any, low: float = 0.0) -> float:
    """`value` as a finite float greater than `low`, or one sentence that says what was wrong."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be 'auto' or a number, got {value!r}.")
    if not low < value < np.inf:
        raise ValueError(f"{name} must be greater than {low:g} and finite, got {value!r}.")
    return float(value)


def column_values(name: str, value: Any, n_columns: int, positive: bool = False) -> np.ndarray:
    """A number, or one number per column, as an array with one entry per column."""
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be 'auto', a number or one number per column, got {value!r}."
        ) from None
    if values.shape not in ((), (n_columns,)):
        raise ValueError(f"{name} has shape {values.shape}, but X has {n_columns} columns.")
    if not np.isfinite(values).all() or (positive and (values <= 0).any()):
        raise ValueError(
            f"{name} must be {'positive and ' if positive else ''}finite, got {value!r}."
        )
    return np.broadcast_to(values, (n_columns,)).copy()

"""The base class of likelihoods, and checks of data and hyper-parameters that they share."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core.arguments import as_float, is_auto, numbers_of
from bnpcluster._core.components import Component
from bnpcluster._core.messages import ColumnsError, shown


class Likelihood(Component):
    """Base class of likelihoods: hyper-parameters, and `bind`, which prepares data for the kernels.

    A subclass stores its hyper-parameters unchanged in `__init__`, defines the methods below, and
    registers the operations of `bnpcluster._core.operations` for the NamedTuple class that `bind`
    returns. The attribute `slot_axis` of that class names the arrays that each chain must own, and
    the axis of their slots (a tuple if there are several, `()` for scratch space).
    """

    is_of_rows = True
    """Whether items are rows of `X`. Mixtures accept only such likelihoods."""

    is_gaussian = False
    """Whether `blocks` is defined, which gives the distribution of some columns given others."""

    has_density = True
    """Whether rows have a density; if not, they have probabilities."""

    takes_text = False
    """Whether `Columns` may pass it text encoded as integers."""

    takes_nan = False
    """Whether rows may have missing entries (NaN). If so, `bind_observed` is defined."""

    per_column: tuple[str, ...] = ()
    """Hyper-parameters that may have an entry for every column, or for every pair of columns."""

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Instances for the checks, each with five to seven rows of data."""
        return [(cls(), rng.normal(size=(6, 2)))]

    def table(self, X: Any, known: Any = None) -> Any:
        """Convert a table of another shape to rows, before any check.

        `known` are the names of the columns of the fit, if there was one.
        """
        return X

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Validate the rows `X` and return data and empty slots for the kernels."""
        raise NotImplementedError(f"{type(self).__name__} must define bind(X, capacity).")

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Bind rows that may contain NaN; complete rows, too, since new rows may contain NaN."""
        raise NotImplementedError(f"{type(self).__name__} must define bind_observed(X, capacity).")

    learnable: tuple[str, ...] = ()
    """The hyper-parameters that "auto" learns, or guesses where they cannot be learned."""

    def guessed(self) -> Likelihood:
        """The same likelihood with "data" instead of "auto": fixed at the guess from the data."""
        auto = [name for name in self.learnable if is_auto(getattr(self, name))]
        return clone(self).set_params(**dict.fromkeys(auto, "data"))

    @property
    def is_guessed(self) -> bool:
        """Whether a hyper-parameter, or its hyper-prior, is a guess from the data."""
        values = [getattr(self, name) for name in self.data_dependent]
        return any(is_guess(v) or getattr(v, "is_guessed", False) for v in values)

    data_dependent: tuple[str, ...] = ()
    """The hyper-parameters whose guess depends on the data."""

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name, in the units of the data.

        `learned` are the learned values, one draw per row; without them, the values of `bound`.
        What is learned has one draw per row of `learned`; what is fixed has its value alone.
        """
        return {}

    def frozen(self, X: np.ndarray) -> Likelihood:
        """The same likelihood with every "auto" replaced by its value for `X`."""
        return clone(self)

    def measured_columns(self, n_columns: int) -> np.ndarray:
        """Numbers of the columns of measurements, where a value may be far from all others."""
        return np.zeros(0, np.intp)

    def constant_columns(self, X: np.ndarray) -> np.ndarray:
        """Numbers of the columns of `X` that are constant, if the likelihood cannot model them.

        The estimators leave them out. An entry that is NaN is missing.
        """
        return np.zeros(0, np.intp)

    def of_columns(self, columns: Sequence[int], n_columns: int) -> Likelihood:
        """The same likelihood for some of `n_columns` columns: hyper-parameters are cut to them."""
        return _of_columns(self, columns, n_columns)

    def known(self, bound: Any, X: np.ndarray) -> np.ndarray:
        """The rows with NaN for categories that `bound` does not have."""
        return X

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        raise NotImplementedError(f"{type(self).__name__} must define rows(bound, X).")

    def passed(self, bound: Any, X: np.ndarray) -> Any:
        """As `rows`, for operations given parameters. What only others need may be absent."""
        return self.rows(bound, X)

    def serves(self, bound: Any, X: np.ndarray | None = None) -> bool:
        """Whether `rows` accepts the missing entries of `X`; None stands for any pattern.

        If not, predictions use `imputing`.
        """
        return True

    def imputing(self) -> Likelihood:
        """The same likelihood with missing entries in its `latent` variables: it serves all rows.

        The operation `draw_latent` of data bound by this likelihood draws these entries.
        """
        return self

    def features(self, X: np.ndarray) -> np.ndarray:
        """Columns with meaningful Euclidean distances, for k-means initialisation."""
        X = mean_imputed(X)
        # Divide by the largest entry first, so that squares neither overflow nor underflow.
        largest = np.abs(X).max(axis=0)
        Z = X / np.where(largest > 0, largest, 1.0)
        Z = Z - Z.mean(axis=0)
        scale = Z.std(axis=0)
        return Z / np.where(scale > 0, scale, 1.0)

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """Posterior mean of every column in the first slots, for data bound by `bind_observed`.

        The shape is (n_slots, n_expected). Categories have their probabilities instead of means.
        """
        raise NotImplementedError(f"{type(self).__name__} must define means(bound, n_slots).")

    def expected(
        self, bound: Any, new: Any, share: np.ndarray, items: np.ndarray | None = None
    ) -> np.ndarray:
        """The sum over slots of share[i, k] times the expected values of row i of `new` in slot k.

        `items` are the numbers of the rows in `bound`, if they are among its rows. Here the values
        are the same for all rows; with dependent columns they depend on the observed entries.
        """
        return share @ self.means(bound, share.shape[1])

    def n_expected(self, bound: Any, n_columns: int) -> int:
        """The number of values that `means` returns for each slot."""
        return n_columns

    def filled(self, bound: Any, X: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """The rows of `X` with NaN replaced by the expected values."""
        return np.where(np.isnan(X), expected, X)

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        raise NotImplementedError(f"{type(self).__name__} must define sample(bound, k, rng).")

    def parameters(self, bound: Any, slots: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        """Parameters of some slots, one draw each from the posterior given the items of the slot.

        They are in the units of the data, by name: arrays whose first axis is the slot and whose
        second is the column. A parameter may also be a dict of arrays by number of the column.
        """
        raise NotImplementedError(f"{type(self).__name__} must define parameters(bound, slots).")

    def blocks(self, bound: Any, slots: np.ndarray) -> Any:
        """Predictive distributions of some slots, in internal units; see `block_distributions`."""
        raise NotImplementedError(f"{type(self).__name__} must define blocks(bound, slots).")


def _of_columns(component: Any, columns: Sequence[int], n_columns: int) -> Any:
    """A likelihood or a hyper-prior with the parameters of some columns."""
    cut = {}
    for name in component.per_column:
        value = getattr(component, name)
        if hasattr(value, "per_column"):
            cut[name] = _of_columns(value, columns, n_columns)
            continue
        given = np.asarray(value, object)
        if given.shape not in ((), (n_columns,), (n_columns, n_columns)):
            raise ValueError(f"{name} has shape {given.shape}, but X has {n_columns} columns.")
        if given.ndim:
            cut[name] = given[np.ix_(*[columns] * given.ndim)].tolist()
    return clone(component).set_params(**cut)


def check_observed(X: np.ndarray) -> None:
    """Raise an error if a column of `X` is entirely missing."""
    columns = np.flatnonzero(np.isnan(X).all(axis=0))
    if len(columns):
        raise ColumnsError("Column ", columns[:1].tolist(), " is entirely missing: drop it.")


def mean_imputed(X: np.ndarray) -> np.ndarray:
    """The rows, with every NaN replaced by the mean of its column."""
    missing = np.isnan(X)
    return np.where(missing, observed_mean(X), X) if missing.any() else X


def observed_mean(X: np.ndarray) -> np.ndarray:
    """The mean of every column over the entries that are not NaN."""
    missing = np.isnan(X)
    if not missing.any():
        return X.mean(axis=0)
    return np.where(missing, 0.0, X).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)


def is_guess(value: Any) -> bool:
    """Whether a hyper-parameter is or starts at a value chosen from the data."""
    return isinstance(value, str) and value in ("auto", "data")


# Hyper-parameters that are worth a number of rows keep their digits in this range.
LEAST, MOST = 1e-10, 1e10

# What a hyper-parameter may be, for errors
AUTO = "'auto' or a number"
GUESSED = "'auto', 'data' or a number"
A_PAIR_TOO = "'auto', 'data', a number or a pair (shape, rate)"


def gamma_prior(name: str, value: Any) -> np.ndarray | None:
    """The shape and rate of a gamma hyper-prior; None for a value that is not a pair."""
    if not isinstance(value, (tuple, list)):
        return None
    if len(value) != 2:
        raise ValueError(f"{name} as a hyper-prior must be a pair (shape, rate), got {value!r}.")
    return np.array(
        [
            number_above(f"The {part} of {name}", v, allowed="a number")
            for part, v in zip(("shape", "rate"), value, strict=True)
        ]
    )


def number_above(name: str, value: Any, low: float = 0.0, allowed: str = GUESSED) -> float:
    """`value` as a finite float; raise an error if it is not greater than `low`.

    `allowed` is what the caller accepts, for the error about anything else.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be {allowed}, got {shown(value)}.")
    number = as_float(value)
    if not max(low, LEAST) <= number <= MOST or number == low:
        raise ValueError(
            f"{name} must be greater than {low:g}, from {max(low, LEAST):g} to {MOST:g}, got "
            f"{shown(value)}."
        )
    return number


def column_values(
    name: str, value: Any, n_columns: int, positive: bool = False, words: str = "'auto', 'data'"
) -> np.ndarray:
    """An array with one entry per column, from one number or from one number per column.

    `words` are the words that the caller accepts, for the error about any other.
    """
    values = numbers_of(name, value, f"{words}, a number or one number per column")
    if values.shape not in ((), (n_columns,)):
        raise ValueError(f"{name} has shape {values.shape}, but X has {n_columns} columns.")
    if not np.isfinite(values).all() or (positive and (values <= 0).any()):
        raise ValueError(
            f"{name} must be {'positive and ' if positive else ''}finite, got {shown(value)}."
        )
    return np.broadcast_to(values, (n_columns,)).copy()


def prior_counts(
    name: str, value: Any, n_columns: int, words: str = "'auto', 'data'"
) -> np.ndarray:
    """As `column_values`, for positive numbers that are worth a number of rows."""
    values = column_values(name, value, n_columns, positive=True, words=words)
    if not ((values >= LEAST) & (values <= MOST)).all():
        raise ValueError(f"{name} must be from {LEAST:g} to {MOST:g}, got {shown(value)}.")
    return values

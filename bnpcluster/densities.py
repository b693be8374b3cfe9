"""Marginal and conditional densities of the posterior predictive, for Gaussian likelihoods.

Given a draw of the partition, a new row has a mixture of Student t distributions: one for each
block and one for a new block. The marginal of some columns is such a mixture, too. So is the
conditional given other columns: the weight of each block is then multiplied by its density at the
given values. Densities are averaged over the draws r of weight w_r, so

    p(b | a) = sum_r w_r p_r(a, b) / sum_r w_r p_r(a).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from bnpcluster._core import arguments
from bnpcluster._core.containers import check_container
from bnpcluster._core.messages import shown
from bnpcluster._fitting.fitted import Fitted, prior_of
from bnpcluster._predict.named_columns import column_numbers, name_columns, names_of_model
from bnpcluster._predict.predictive import load, new_workspace
from bnpcluster.likelihoods.gaussian.block_distributions import ColumnBlocks, WishartBlocks
from bnpcluster.likelihoods.gaussian.units import Units
from bnpcluster.priors import Prior

__all__ = ["Density"]

Blocks = WishartBlocks | ColumnBlocks
CELLS = 1 << 22  # numbers in one array, of rows, blocks and columns or of draws and rows


class Density:
    """The predictive distribution of some columns of a new row, also given values of others.

    The methods `marginal` and `conditional` of a mixture with a Gaussian likelihood return it.

    Parameters
    ----------
    fitted : Fitted
        The fit of the mixture.
    columns : sequence of int
        Numbers of the columns among those that are modelled.
    given : mapping of int to float or array of shape (n_given,)
        Values of the given columns, by number.
    names : sequence of str or int
        Names of all columns that are modelled.

    Attributes
    ----------
    columns : list of str or int
        Names of the columns.
    given : list of str or int
        Names of the given columns.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat([-3.0, 3.0], 50) + rng.normal(size=100)
    >>> X = np.column_stack([x, np.abs(x) + 0.1 * rng.normal(size=100)])
    >>> model = DPMixture(random_state=0).fit(X)
    >>> model.marginal(1)
    <density of column 1>
    >>> regression = model.conditional({0: [-4.0, 2.0, 3.0]})
    >>> regression.mean().round().ravel().tolist()
    [4.0, 2.0, 3.0]
    >>> regression.sample(1000, random_state=0).shape
    (3, 1000, 1)
    """

    def __init__(
        self,
        fitted: Fitted,
        columns: Sequence[int],
        given: Mapping[int, ArrayLike],
        names: Sequence[str | int],
    ):
        self.columns = [names[j] for j in columns]
        self.given = [names[j] for j in given]
        self._fitted = fitted
        self._order = [*given, *columns]
        bound = fitted.bound
        self._inner = Units(bound.centre[list(columns)], bound.unit[list(columns)])
        self._outer = Units(bound.centre[list(given)], bound.unit[list(given)])
        values = _given_array(dict(zip(self.given, given.values(), strict=True)))
        self._single = values.ndim == 1
        self._values = self._outer.to_internal(np.atleast_2d(values))
        self._weights = fitted.posterior.weights.ravel()
        self._draws = np.flatnonzero(self._weights > 0)

    def __repr__(self) -> str:
        given = f" given {name_columns(self.given)}" if self.given else ""
        rows = "" if self._single else f" in {len(self._values)} rows"
        return f"<density of {name_columns(self.columns)}{given}{rows}>"

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log density of each row, averaged over draws as a density.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or (n_rows,) for one column
            Rows, with columns in the order of `columns`. If arrays of values were given, row i is
            conditioned on their entries i.

        Returns
        -------
        log_density : ndarray of shape (n_rows,)
            Log density of each row.
        """
        Y = self._inner.to_internal(self._checked_rows(X))
        V = np.broadcast_to(self._values, (len(Y), self._values.shape[1]))
        joint = self._log_density(np.concatenate([V, Y], axis=1))
        return joint - self._log_density(self._values) - np.log(self._inner.scale).sum()

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or (n_rows,) for one column
            Rows, as in `score_samples`.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        score : float
            Mean log density.
        """
        return float(np.mean(self.score_samples(X)))

    def mean(self) -> NDArray[np.float64]:
        """Mean of the distribution; for a conditional one, the regression function.

        Returns
        -------
        mean : ndarray of shape (n_columns,), or (n_given, n_columns) given arrays of values
            NaN where the mean does not exist: a Student t with one degree of freedom or less has
            none. A new block is such a case if the prior has few degrees of freedom.
        """
        parts = [self._mean(self._values[part]) for part in self._batches(len(self._order))]
        mean = self._inner.centre + self._inner.scale * np.concatenate(parts)
        return mean[0] if self._single else mean

    def sample(self, n: int = 1, random_state: Any = None) -> NDArray[np.float64]:
        """Draw rows of the columns.

        Parameters
        ----------
        n : int, default=1
            Number of rows, for each of the given values.
        random_state : None, int, RandomState or Generator
            The same integer gives the same rows.

        Returns
        -------
        X : ndarray of shape (n, n_columns), or (n_given, n, n_columns) given arrays of values
            The rows.
        """
        n = arguments.count("n", n, 1)
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        parts = self._batches(len(self._draws))
        rows = np.concatenate([self._sample(self._values[part], n, rng) for part in parts])
        rows = self._inner.centre + self._inner.scale * rows
        return rows[0] if self._single else rows

    def _checked_rows(self, X: Any) -> NDArray[np.float64]:
        """Check `X`, and return it as an array."""
        is_ragged = isinstance(X, (list, tuple)) and any(hasattr(row, "__len__") for row in X)
        if not is_ragged and np.ndim(X) == 1 and len(self.columns) == 1:
            X = np.asarray(X)[:, None]
        check_container(X)
        try:
            rows = check_array(X, dtype=np.float64, input_name="X")
        except OverflowError:
            raise ValueError("X contains an integer that is too large for a float.") from None
        if rows.shape[1] != len(self.columns):
            raise ValueError(
                f"X must have the columns {self.columns}, got {rows.shape[1]} columns."
            )
        names = [str(name) for name in getattr(X, "columns", self.columns)]
        if names != list(map(str, self.columns)):
            raise ValueError(f"X must have the columns {self.columns}, got {names[:20]}.")
        if not self._single and len(rows) != len(self._values):
            raise ValueError(
                f"X has {len(rows)} rows, but values were given for {len(self._values)}."
            )
        return rows

    def _batches(self, width: int) -> list[slice]:
        """Batches of rows of the given values, so that no array grows with their number."""
        size = max(1, CELLS // width)
        return [slice(start, start + size) for start in range(0, len(self._values), size)]

    def _weighted_blocks(
        self, V: NDArray[np.float64], draws: NDArray
    ) -> Iterator[tuple[NDArray[np.float64], Blocks]]:
        """For each draw, the log weights of its blocks at the rows of `V`, and the blocks.

        The weights of row i sum to the density of row i, over draws and blocks.
        """
        for r, blocks in _predictive_blocks(self._fitted, draws):
            log_urn = self._fitted.log_urn[r]
            log_prior = np.log(self._weights[r]) + log_urn[log_urn > -np.inf]
            ordered = blocks.marginal(self._order)
            yield log_prior + ordered.log_density(V), ordered

    def _log_density(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of the leading columns, in internal units."""
        total = np.full(len(V), -np.inf)
        size = max(1, CELLS // (self._fitted.log_urn.shape[1] * len(self._order)))
        for start in range(0, len(V), size):
            part = slice(start, start + size)
            for level, _ in self._weighted_blocks(V[part], self._draws):
                total[part] = np.logaddexp(total[part], np.logaddexp.reduce(level, axis=1))
        return total

    def _mean(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        total, mean = np.full(len(V), -np.inf), np.zeros((len(V), len(self.columns)))
        for level, blocks in self._weighted_blocks(V, self._draws):
            own = np.logaddexp.reduce(level, axis=1)
            share = np.exp(level - own[:, None])
            total = np.logaddexp(total, own)
            step = np.einsum("ik,ikd->id", share, blocks.mean_given(V)) - mean
            mean += np.exp(own - total)[:, None] * step
        return mean

    def _sample(
        self, V: NDArray[np.float64], n: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Choose draws, then their blocks, then rows; shape (rows of V, n, columns)."""
        by_draw = self._weighted_blocks(V, self._draws)
        own = np.array([np.logaddexp.reduce(w, axis=1) for w, _ in by_draw])
        chance = np.exp(own - own.max(axis=0))
        counts = rng.multinomial(n, (chance / chance.sum(axis=0)).T)
        used = np.flatnonzero(counts.any(axis=0))
        which, found = [], []
        for (level, blocks), times in zip(
            self._weighted_blocks(V, self._draws[used]), counts.T[used], strict=True
        ):
            rows = np.repeat(np.arange(len(V)), times)
            reached = np.exp(level - level.max(axis=1, keepdims=True)).cumsum(axis=1)[rows]
            chosen = (reached < rng.random((len(rows), 1)) * reached[:, -1:]).sum(axis=1)
            which.append(rows)
            found.append(blocks.sample_given(V[rows], chosen, rng))
        mixed = rng.permutation(n * len(V))
        order = mixed[np.argsort(np.concatenate(which)[mixed], kind="stable")]
        return np.concatenate(found)[order].reshape(len(V), n, -1)


def _predictive_blocks(fitted: Fitted, draws: NDArray) -> Iterator[tuple[int, Blocks]]:
    """Some draws, and the predictive distributions of their blocks.

    The last one is that of a new block. It is missing where the prior allows no further block.
    """
    bound, partition = new_workspace(fitted)
    for r in draws:
        load(fitted, bound, partition, r)
        slots = np.flatnonzero(fitted.log_urn[r] > -np.inf)
        yield r, fitted.likelihood.blocks(bound, slots)


def random_log_densities(
    fitted: Fitted,
    prior: Prior,
    X: NDArray[np.float64],
    draws: NDArray,
    rng: np.random.Generator,
    columns: list[int] | None = None,
) -> NDArray[np.float64]:
    """Log density of some or all columns under one random density per draw, draws as rows.

    The weight, mean and covariance of every block are drawn from their posterior given the draw of
    the partition. The remaining weight has the prior predictive density.
    """
    columns = list(range(len(fitted.bound.centre))) if columns is None else columns
    unit = Units(fitted.bound.centre[columns], fitted.bound.unit[columns])
    V = unit.to_internal(X)
    result = np.empty((len(draws), len(X)))
    for row, (r, blocks) in zip(result, _predictive_blocks(fitted, draws), strict=True):
        at, blocks = prior_of(prior, fitted.posterior, r), blocks.marginal(columns)
        weights = at.draw_weights(fitted.sizes(r), rng)[: len(blocks.r)]
        logs = blocks.log_density_drawn(V, rng)
        if len(blocks.r) > len(fitted.sizes(r)):
            logs[:, -1] = blocks.select(np.array([-1])).log_density(V)[:, 0]
        with np.errstate(divide="ignore"):  # a weight that underflows
            row[:] = np.logaddexp.reduce(np.log(weights) + logs, axis=1)
    return result - np.log(unit.scale).sum()


def draw_log_densities(
    fitted: Fitted, X: NDArray[np.float64], draws: NDArray, columns: list[int]
) -> NDArray[np.float64]:
    """Log predictive density of some columns under each of some draws, draws as rows."""
    unit = Units(fitted.bound.centre[columns], fitted.bound.unit[columns])
    V, result = unit.to_internal(X), np.empty((len(draws), len(X)))
    for row, (r, blocks) in zip(result, _predictive_blocks(fitted, draws), strict=True):
        log_urn = fitted.log_urn[r][fitted.log_urn[r] > -np.inf]
        row[:] = np.logaddexp.reduce(log_urn + blocks.marginal(columns).log_density(V), axis=1)
    return result - np.log(unit.scale).sum()


def marginal(fitted: Fitted, columns: Any, names: Sequence[str] | None) -> Density:
    """The density of some columns, by number or name."""
    chosen = column_numbers(fitted, columns, names)
    return Density(fitted, chosen, {}, names_of_model(fitted, names))


def conditional(
    fitted: Fitted, given: Mapping[str | int, ArrayLike], columns: Any, names: Sequence[str] | None
) -> Density:
    """The density of some columns, or of all the others, given values of some."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"given must be a dict from columns to their values, got {given!r}.")
    fixed, own_names = column_numbers(fitted, list(given), names), names_of_model(fitted, names)
    free = [j for j in range(len(own_names)) if j not in fixed]
    if not free:
        raise ValueError("All columns have given values: leave out at least one.")
    wanted = free if columns is None else column_numbers(fitted, columns, names)
    if not set(wanted) <= set(free):
        raise ValueError("`columns` and the given columns overlap: name each column once.")
    return Density(fitted, wanted, dict(zip(fixed, given.values(), strict=True)), own_names)


def _given_array(given: dict[str | int, ArrayLike]) -> NDArray[np.float64]:
    """The given values, (columns,) or (rows, columns)."""
    try:
        arrays = [np.asarray(values, float) for values in given.values()]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Given values must be numbers or arrays of them, got {shown(list(given.values()))}."
        ) from None
    lengths = {array.shape for array in arrays if array.ndim}
    if len(lengths) > 1 or any(len(shape) > 1 or shape == (0,) for shape in lengths):
        raise ValueError(
            "Given values must be numbers or arrays of one length, got shapes "
            f"{[array.shape for array in arrays]}."
        )
    values = np.stack(np.broadcast_arrays(*arrays), axis=-1) if arrays else np.zeros(0)
    if not np.isfinite(values).all():
        raise ValueError("Given values must be finite.")
    return values

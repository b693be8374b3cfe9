"""Learned hyper-parameters of categories and 0/1 values: how strongly clusters resemble the whole.

In column j of a cluster, the frequencies of the categories are ``Dirichlet(s_j pi_j)``, where pi_j
are the smoothed frequencies in all rows, and the strength s_j is on a grid. A column that does not
tell clusters apart gets a large strength, and then it hardly counts. An update draws every strength
with the frequencies of the clusters integrated out, so it is also right at an inverse temperature
other than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._core import operations as ops

GRID = 2.0 ** np.arange(-1, 8)
"""The strengths."""

FAVOUR = 2.0
"""A strength s has a prior probability in proportion to s^-FAVOUR.

If the strengths of all columns are large, all partitions explain the data equally well, and a
single cloud dissolves. One cluster costs about log(n) / 2 in each column, so a large strength must
cost more.
"""


class FrequencyPrior(NamedTuple):
    """The strengths, and what they are learned from. An empty grid: not learned."""

    strength: np.ndarray  # by column
    frequency: np.ndarray  # pi, by term
    column: np.ndarray  # of every term
    grid: np.ndarray

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The array that a chain owns."""
        return {"strength": ()}

    @property
    def is_learned(self) -> bool:
        """Whether the strengths are learned."""
        return bool(self.grid.size)

    def prior_counts(self) -> NDArray[np.float64]:
        """The prior counts of all terms."""
        return self.strength[self.column] * self.frequency


def frequency_prior(
    counts: NDArray[np.float64], n_categories: NDArray, learned: bool
) -> FrequencyPrior:
    """The hyper-prior, from the counts of all categories in all rows."""
    column = np.repeat(np.arange(len(n_categories)), n_categories)
    size = np.bincount(column, weights=counts)
    frequency = (counts + 1.0) / (size + n_categories)[column]
    grid = GRID if learned else GRID[:0]
    return FrequencyPrior(n_categories.astype(float), frequency, column, grid)


def draw_strengths(
    hyper: FrequencyPrior, counts: NDArray, size: NDArray, beta: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw all strengths, given the counts of terms and the sizes by block and column."""
    d, log_p = len(hyper.strength), np.zeros((len(hyper.grid), len(hyper.strength)))
    log_prior = -FAVOUR * np.log(hyper.grid)[:, None]
    for row, s in zip(log_p, hyper.grid, strict=True):
        prior = s * hyper.frequency
        of_terms = (gammaln(prior + counts) - gammaln(prior)).sum(axis=0)
        row += np.bincount(hyper.column, weights=of_terms, minlength=d)
        row += (gammaln(s) - gammaln(s + size)).sum(axis=0)
    log_p = beta * log_p + log_prior
    p = np.exp(log_p - log_p.max(axis=0)).cumsum(axis=0)
    return hyper.grid[(p < rng.random(d) * p[-1]).sum(axis=0)]


def register_learned(
    cls: type,
    put: Callable[[Any], None],
    counts: Callable[[Any, slice], tuple[NDArray, NDArray]],
) -> None:
    """Register the operations on learned hyper-parameters for a class of bound data.

    `put` updates bound data after a change of `hyper.strength`. `counts` gives the counts of terms
    in some slots, and the sizes by slot and column.
    """

    @ops.learned.register(cls)
    def learned(lik: Any) -> NDArray | None:
        return lik.hyper.strength.copy() if lik.hyper.is_learned else None

    @ops.set_learned.register(cls)
    def set_learned(lik: Any, values: NDArray) -> None:
        lik.hyper.strength[:] = values
        put(lik)

    @ops.move_learned.register(cls)
    def move_learned(lik: Any, labels: NDArray, beta: float, rng: np.random.Generator) -> None:
        found = counts(lik, slice(labels.max() + 1))
        set_learned(lik, draw_strengths(lik.hyper, *found, beta, rng))

    @ops.log_learned.register(cls)
    def log_learned(lik: Any) -> float:
        if not lik.hyper.is_learned:
            return 0.0
        log_total = math.log((lik.hyper.grid**-FAVOUR).sum())
        return float((-FAVOUR * np.log(lik.hyper.strength) - log_total).sum())

    @ops.traces_learned.register(cls)
    def traces_learned(lik: Any) -> dict[str, float]:
        if not lik.hyper.is_learned:
            return {}
        return {"log_strength": float(np.log(lik.hyper.strength).mean())}

"""Learned hyper-parameters of categories and 0/1 values: the concentration of every column.

In column j of a cluster, the frequencies of the categories are ``Dirichlet(c_j, ..., c_j)``, and
c_j is on a grid. An update draws every c_j with the frequencies of the clusters integrated out, so
it is also right at an inverse temperature other than one.

The prior mean of the frequencies is even. With the frequencies of all rows instead, partitions into
singletons would explain the data as well as one cluster does, and a single cloud would dissolve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._core import operations as ops

GRID = 2.0 ** np.arange(-2, 7)
"""The concentrations."""

FAVOUR = 2.0
"""A concentration c has a prior probability in proportion to c^-FAVOUR.

If the concentrations of all columns are large, all partitions explain the data equally well. One
cluster costs about log(n) / 2 in each column, so a large concentration must cost more.
"""


class ConcentrationPrior(NamedTuple):
    """The current concentrations. An empty grid: not learned."""

    concentration: np.ndarray  # by column
    n_categories: np.ndarray  # by column
    grid: np.ndarray

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The array that a chain owns."""
        return {"concentration": ()}

    @property
    def is_learned(self) -> bool:
        """Whether the concentrations are learned."""
        return bool(self.grid.size)

    def prior_counts(self) -> NDArray[np.float64]:
        """The prior counts of all categories."""
        return np.repeat(self.concentration, self.n_categories)


def concentration_prior(n_categories: NDArray, learned: bool) -> ConcentrationPrior:
    """The hyper-prior of columns with so many categories; the concentrations start at one."""
    grid = GRID if learned else GRID[:0]
    return ConcentrationPrior(np.ones(len(n_categories)), n_categories, grid)


def draw_concentrations(
    hyper: ConcentrationPrior, counts: NDArray, size: NDArray, beta: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw all concentrations, given the counts of categories and the sizes by block and column."""
    d, n_blocks = len(hyper.n_categories), len(size)
    column = np.repeat(np.arange(d), hyper.n_categories)
    log_p = np.zeros((len(hyper.grid), d))
    for row, c in zip(log_p, hyper.grid, strict=True):
        of_terms = gammaln(c + counts).sum(axis=0) - n_blocks * gammaln(c)
        total = c * hyper.n_categories
        row += np.bincount(column, weights=of_terms, minlength=d)
        row += n_blocks * gammaln(total) - gammaln(total + size).sum(axis=0)
    log_p = beta * log_p - FAVOUR * np.log(hyper.grid)[:, None]
    p = np.exp(log_p - log_p.max(axis=0)).cumsum(axis=0)
    return hyper.grid[(p < rng.random(d) * p[-1]).sum(axis=0)]


def register_learned(
    cls: type,
    put: Callable[[Any], None],
    counts: Callable[[Any, slice], tuple[NDArray, NDArray]],
) -> None:
    """Register the operations on learned hyper-parameters for a class of bound data.

    `put` updates bound data after a change of `hyper.concentration`. `counts` gives the counts of
    categories in some slots, and the sizes by slot and column.
    """

    @ops.learned.register(cls)
    def learned(lik: Any) -> NDArray | None:
        return lik.hyper.concentration.copy() if lik.hyper.is_learned else None

    @ops.set_learned.register(cls)
    def set_learned(lik: Any, values: NDArray) -> None:
        lik.hyper.concentration[:] = values
        put(lik)

    @ops.move_learned.register(cls)
    def move_learned(lik: Any, labels: NDArray, beta: float, rng: np.random.Generator) -> None:
        found = counts(lik, slice(labels.max() + 1))
        set_learned(lik, draw_concentrations(lik.hyper, *found, beta, rng))

    @ops.draw_learned.register(cls)
    def draw_learned(lik: Any, rng: np.random.Generator) -> NDArray | None:
        if not lik.hyper.is_learned:
            return None
        weights = lik.hyper.grid**-FAVOUR
        return rng.choice(lik.hyper.grid, len(lik.hyper.concentration), p=weights / weights.sum())

    @ops.log_learned.register(cls)
    def log_learned(lik: Any) -> float:
        if not lik.hyper.is_learned:
            return 0.0
        log_total = math.log((lik.hyper.grid**-FAVOUR).sum())
        return float((-FAVOUR * np.log(lik.hyper.concentration) - log_total).sum())

    @ops.traces_learned.register(cls)
    def traces_learned(lik: Any) -> dict[str, float]:
        if not lik.hyper.is_learned:
            return {}
        return {"log_concentration": float(np.log(lik.hyper.concentration).mean())}

"""Learned hyper-parameters of counts: the shape and the rate of their gamma distributions.

In column j of a cluster, ``mean ~ Gamma(a_j, rate a_j rho_j)``, so the prior mean 1 / rho_j does
not depend on the shape. The shape is on a grid, and rho_j has a gamma distribution. An update draws
the shape with the means of the clusters integrated out, then these means, then rho_j given the
means, and forgets the means.
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
"""The shapes."""

FAVOUR = 2.0
"""A shape a has a prior probability in proportion to a^-FAVOUR.

If the shapes of all columns are large, all partitions explain the data equally well, and a single
cloud dissolves. One cluster costs about log(n) / 2 in each column, so a large shape must cost more.
"""

WEIGHT = 1.0  # shape of the gamma distribution of rho
STEP = 0.5  # standard deviation of the moves of log rho at an inverse temperature other than one


class RatePrior(NamedTuple):
    """The current shapes and rho, and the guess of rho. Empty: not learned."""

    shape: np.ndarray  # by column
    rho: np.ndarray  # by column
    guess: np.ndarray  # mean of rho, by column
    grid: np.ndarray  # of the shape

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The arrays that a chain owns."""
        return {"shape": (), "rho": ()}

    @property
    def is_learned(self) -> bool:
        """Whether anything is learned."""
        return bool(self.guess.size or self.grid.size)


def log_marginal(
    shape: NDArray, rho: NDArray, size: NDArray, total: NDArray
) -> NDArray[np.float64]:
    """By column: log probability of the counts of all blocks, up to terms without a and rho."""
    rate = shape * rho
    value = gammaln(shape + total) - gammaln(shape) + shape * np.log(rate)
    return (value - (shape + total) * np.log(rate + size)).sum(axis=0)


def update(
    hyper: RatePrior, size: NDArray, total: NDArray, beta: float, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Draw the shapes and rho, given sizes and sums by block and column."""
    shape, rho, d = hyper.shape, hyper.rho, len(hyper.shape)
    if hyper.grid.size:
        log_p = np.array([log_marginal(np.full(d, a), rho, size, total) for a in hyper.grid])
        log_p = beta * log_p - FAVOUR * np.log(hyper.grid)[:, None]
        p = np.exp(log_p - log_p.max(axis=0)).cumsum(axis=0)
        shape = hyper.grid[(p < rng.random(d) * p[-1]).sum(axis=0)]
    if hyper.guess.size and beta == 1.0:
        filled = size > 0
        mean = rng.standard_gamma(shape + total) / (shape * rho + size)
        rate = WEIGHT / hyper.guess + shape * (mean * filled).sum(axis=0)
        rho = rng.standard_gamma(WEIGHT + shape * filled.sum(axis=0)) / rate
    elif hyper.guess.size:
        proposed = rho * np.exp(STEP * rng.standard_normal(d))
        log_ratio = WEIGHT * (np.log(proposed / rho) - (proposed - rho) / hyper.guess)
        after, before = (log_marginal(shape, r, size, total) for r in (proposed, rho))
        accepted = np.log(1.0 - rng.random(d)) < log_ratio + beta * (after - before)
        rho = np.where(accepted, proposed, rho)
    return shape, np.maximum(rho, np.finfo(float).tiny)


def draw(hyper: RatePrior, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Shapes and rho from the hyper-prior; those that are not learned are the current ones."""
    shape, rho = hyper.shape, hyper.rho
    if hyper.grid.size:
        weights = hyper.grid**-FAVOUR
        shape = rng.choice(hyper.grid, len(shape), p=weights / weights.sum())
    if hyper.guess.size:
        rho = rng.gamma(WEIGHT, hyper.guess / WEIGHT)
    return shape, np.maximum(rho, np.finfo(float).tiny)


def register_learned(cls: type, put: Callable[[Any], None]) -> None:
    """Register the operations on learned hyper-parameters for a class of bound data.

    `put` updates bound data after a change of `hyper`.
    """

    @ops.learned.register(cls)
    def learned(lik: Any) -> NDArray | None:
        if not lik.hyper.is_learned:
            return None
        return np.concatenate([lik.hyper.shape, lik.hyper.rho])

    @ops.set_learned.register(cls)
    def set_learned(lik: Any, values: NDArray) -> None:
        lik.hyper.shape[:], lik.hyper.rho[:] = values.reshape(2, -1)
        put(lik)

    @ops.move_learned.register(cls)
    def move_learned(lik: Any, labels: NDArray, beta: float, rng: np.random.Generator) -> None:
        k = slice(labels.max() + 1)
        total = lik.total[k]
        size = (
            lik.size[k] if lik.size.ndim == 2 else np.broadcast_to(lik.size[k, None], total.shape)
        )
        set_learned(lik, np.concatenate(update(lik.hyper, size, total, beta, rng)))

    @ops.draw_learned.register(cls)
    def draw_learned(lik: Any, rng: np.random.Generator) -> NDArray | None:
        return np.concatenate(draw(lik.hyper, rng)) if lik.hyper.is_learned else None

    @ops.log_learned.register(cls)
    def log_learned(lik: Any) -> float:
        hyper, total = lik.hyper, 0.0
        if hyper.grid.size:
            log_total = math.log((hyper.grid**-FAVOUR).sum())
            total += float((-FAVOUR * np.log(hyper.shape) - log_total).sum())
        if hyper.guess.size:  # the density of log rho
            ratio = WEIGHT * hyper.rho / hyper.guess
            total += float((WEIGHT * np.log(ratio) - ratio).sum())
            total -= len(ratio) * math.lgamma(WEIGHT)
        return total

    @ops.traces_learned.register(cls)
    def traces_learned(lik: Any) -> dict[str, float]:
        result = {}
        if lik.hyper.grid.size:
            result["log_shape"] = float(np.log(lik.hyper.shape).mean())
        if lik.hyper.guess.size:
            result["log_mean"] = float(-np.log(lik.hyper.rho).mean())
        return result


def owned(lik: Any, *names: str) -> dict[str, Any]:
    """The arrays that a chain must own if hyper-parameters are learned, for `slot_axis`."""
    if not lik.hyper.is_learned:
        return {}
    nested: dict[str, Any] = dict.fromkeys(("hyper", "shape"))
    return {**nested, **dict.fromkeys(("rate", "log_rate", "log_step", *names), ())}

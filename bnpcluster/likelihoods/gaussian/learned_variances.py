"""Learned hyper-parameters of independent Gaussian columns: expected variances, shape and kappa.

In column j of a cluster, ``variance ~ InverseGamma(shape, c (v_j + f_j))`` with
c = max(shape - 1, 1/2), so v_j + f_j is the expected variance if there is one. Every v_j has a
gamma distribution, all columns share the shape, which is on a grid, and kappa may have a gamma
distribution. f_j is the variance that rounding alone gives to the column. In one column all this
is the same as `learned_covariance`, with nu twice the shape.

In a single column, kappa may follow v: it is a fixed multiple of v + f, so that the prior of the
means stays as wide as it is while v shrinks. With a fixed kappa, a small v makes the prior
predictive density as narrow as the data, and singletons explain these as well as clusters do. In
more columns that is too unlikely a priori.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods.gaussian.learned_grid import draw_from_prior
from bnpcluster.likelihoods.gaussian.variance_kernels import update_variances


class VariancePrior(NamedTuple):
    """The hyper-priors in internal units, and the current v. An empty array: not learned."""

    expected: np.ndarray  # v, by column
    floor: np.ndarray  # f, by column
    weight: np.ndarray  # shape of the gamma distribution of v
    guess: np.ndarray  # its mean, by column
    grid: np.ndarray  # values of 2 (shape - 1), by increasing size
    kappa: np.ndarray  # shape and rate of its gamma distribution
    per_variance: np.ndarray  # one entry if kappa is this multiple of v + f, in a single column
    ties: np.ndarray  # one entry if values are rounded
    log_p: np.ndarray  # scratch of the kernels

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The arrays that a chain owns: v and the scratch space."""
        return {"expected": (), "log_p": ()}

    @property
    def is_learned(self) -> bool:
        """Whether anything is learned."""
        return bool(self.weight.size or self.grid.size or self.kappa.size)


class Blocks(NamedTuple):
    """By block and column: the number of rows, the posterior mean, and the rate of the rows."""

    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    rate: NDArray[np.float64]


class Values(NamedTuple):
    """Current values of the hyper-parameters."""

    expected: NDArray[np.float64]
    shape: float
    kappa: float

    def packed(self) -> NDArray[np.float64]:
        """The values as one array."""
        return np.concatenate([self.expected, [self.shape, self.kappa]])


def unpacked(values: NDArray[np.float64]) -> Values:
    """The values from one array."""
    return Values(values[:-2].copy(), float(values[-2]), float(values[-1]))


def multiplier(shape: float) -> float:
    """The c of the rate c (v + f)."""
    return max(shape - 1.0, 0.5)


def with_kappa(hyper: VariancePrior, values: Values) -> Values:
    """The same values, with kappa as it follows from v if it does."""
    if not hyper.per_variance.size:
        return values
    kappa = hyper.per_variance[0] * (values.expected + hyper.floor)[0]
    return values._replace(kappa=float(kappa))


def prior_rate(hyper: VariancePrior, values: Values) -> NDArray[np.float64]:
    """The rate of the inverse gamma distribution of every column."""
    return multiplier(values.shape) * (values.expected + hyper.floor)


def log_density(hyper: VariancePrior, values: Values) -> float:
    """Log prior density of the learned values: of every log v, the shape, and log kappa."""
    total = 0.0
    if hyper.weight.size:
        weight, v = hyper.weight[0], values.expected
        total += (weight * np.log(weight * v / hyper.guess) - weight * v / hyper.guess).sum()
        total -= len(v) * math.lgamma(weight)
    if hyper.grid.size:
        total -= math.log(2.0 * (values.shape - 1.0) * (1.0 / hyper.grid).sum())
    if hyper.kappa.size:
        shape, rate = hyper.kappa
        total += shape * math.log(rate * values.kappa) - rate * values.kappa - math.lgamma(shape)
    return float(total)


def draw(hyper: VariancePrior, values: Values, rng: np.random.Generator) -> Values:
    """Values from the hyper-prior; those that are not learned are as in `values`."""
    expected, shape, kappa = values
    tiny = np.finfo(float).tiny
    if hyper.weight.size:
        weight = hyper.weight[0]
        expected = np.maximum(rng.gamma(weight, hyper.guess / weight), tiny)
    if hyper.grid.size:
        shape = 1.0 + draw_from_prior(hyper.grid, rng) / 2.0
    if hyper.kappa.size:
        kappa = max(rng.gamma(hyper.kappa[0]) / hyper.kappa[1], tiny)
    return with_kappa(hyper, Values(expected, shape, kappa))


def traces(hyper: VariancePrior, values: Values, unit: NDArray) -> dict[str, float]:
    """The learned values as numbers: the mean log expected variance, and more."""
    result = {}
    if hyper.weight.size:
        expected = np.log(values.expected + hyper.floor) + 2.0 * np.log(unit)
        result["log_scale"] = float(expected.mean())
    if hyper.grid.size:
        result["shape"] = values.shape
    if hyper.kappa.size:
        result["kappa"] = values.kappa
    return result


def register_learned(cls: type, put) -> None:
    """Register the operations on learned hyper-parameters for bound data of columns.

    `put` writes values into bound data.
    """

    def values_of(lik):
        return Values(lik.hyper.expected.copy(), float(lik.prior[1]), float(lik.prior[0]))

    @ops.set_learned.register(cls)
    def set_learned(lik, values):
        put(lik, unpacked(values))

    @ops.learned.register(cls)
    def learned(lik):
        return values_of(lik).packed() if lik.hyper.is_learned else None

    @ops.move_learned.register(cls)
    def move_learned(lik, labels, beta, rng):
        k = slice(labels.max() + 1)
        mean, rate = lik.mean[:, k].T, lik.rate[:, k].T - lik.prior_scale
        size = np.broadcast_to(lik.size[..., k], mean.T.shape).T.astype(float)
        parts = size, mean, np.maximum(rate, 0.0)
        blocks = Blocks(*(np.array(part, order="C") for part in parts))
        update_variances(lik.hyper, lik.prior, lik.prior_mean, blocks, beta, rng)
        put(lik, values_of(lik))

    @ops.draw_learned.register(cls)
    def draw_learned(lik, rng):
        return draw(lik.hyper, values_of(lik), rng).packed() if lik.hyper.is_learned else None

    @ops.log_learned.register(cls)
    def log_learned(lik):
        return log_density(lik.hyper, values_of(lik)) if lik.hyper.is_learned else 0.0

    @ops.traces_learned.register(cls)
    def traces_learned(lik):
        return traces(lik.hyper, values_of(lik), lik.unit)


def owned(lik, *names: str) -> dict[str, tuple | None]:
    """The arrays that a chain must own if hyper-parameters are learned, for `slot_axis`."""
    if not lik.hyper.is_learned:
        return {}
    shared = ("prior_scale", "prior", "norm_predictive", "norm_marginal")
    return {"hyper": None, **dict.fromkeys((*shared, *names), ())}

"""Learned hyper-parameters of independent Gaussian columns: expected variances, shape and kappa.

In column j of a cluster, ``variance ~ InverseGamma(shape, c (v_j + f_j))`` with
c = max(shape - 1, 1/2), so v_j + f_j is the expected variance if there is one. Every v_j has a
gamma distribution, all columns share the shape, which is on a grid, and kappa may have a gamma
distribution. f_j is the variance that rounding alone gives to the column. In one column all this
is the same as `learned_covariance`, with nu twice the shape.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster._core import operations as ops

STEP = 0.5  # standard deviation of the moves of log v
WIDE = 1.0  # and of log kappa


class VariancePrior(NamedTuple):
    """The hyper-priors in internal units, and the current v. An empty array: not learned."""

    expected: np.ndarray  # v, by column
    floor: np.ndarray  # f, by column
    weight: np.ndarray  # shape of the gamma distribution of v
    guess: np.ndarray  # its mean, by column
    grid: np.ndarray  # values of 2 (shape - 1), by increasing size
    kappa: np.ndarray  # shape and rate of its gamma distribution
    ties: np.ndarray  # one entry if values are rounded

    @property
    def slot_axis(self) -> dict[str, tuple]:
        """The array that a chain owns."""
        return {"expected": ()}

    @property
    def is_learned(self) -> bool:
        """Whether anything is learned."""
        return bool(self.weight.size or self.grid.size or self.kappa.size)


class Columns(NamedTuple):
    """By block and column: the number of rows, the posterior mean, and the posterior rate."""

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


def prior_rate(hyper: VariancePrior, values: Values) -> NDArray[np.float64]:
    """The rate of the inverse gamma distribution of every column."""
    return multiplier(values.shape) * (values.expected + hyper.floor)


def update(
    hyper: VariancePrior,
    values: Values,
    blocks: Columns,
    prior_mean: NDArray[np.float64],
    beta: float,
    rng: np.random.Generator,
) -> Values:
    """One update of the hyper-parameters, given blocks whose rates contain that of the prior."""
    blocks = blocks._replace(rate=blocks.rate - prior_rate(hyper, values))
    if hyper.grid.size:
        values = draw_shape(hyper, values, blocks, beta, rng)
    if hyper.weight.size:
        if beta == 1.0:
            values = draw_expected(hyper, values, blocks, rng)
        if beta != 1.0 or hyper.ties.size:
            values = move_expected(hyper, values, blocks, beta, rng)
    if hyper.kappa.size:
        values = move_kappa(hyper, values, blocks, prior_mean, beta, rng)
    return values


def log_marginal(hyper: VariancePrior, values: Values, blocks: Columns) -> NDArray[np.float64]:
    """By block and column: log density of the rows, up to terms that depend on kappa alone."""
    rate, a, half = prior_rate(hyper, values), values.shape, 0.5 * blocks.size
    result = gammaln(a + half) - gammaln(a) + a * np.log(rate)
    return result - (a + half) * np.log(rate + np.maximum(blocks.rate, 0.0))


def draw_shape(
    hyper: VariancePrior, values: Values, blocks: Columns, beta: float, rng: np.random.Generator
) -> Values:
    """Draw the shape from the grid given v, with the variances integrated out."""
    shapes, half = 1.0 + hyper.grid / 2, 0.5 * blocks.size
    a = shapes[:, None, None]
    rate = np.maximum(a - 1.0, 0.5) * (values.expected + hyper.floor)
    log_p = gammaln(a + half) - (a + half) * np.log(rate + np.maximum(blocks.rate, 0.0))
    log_p = log_p.sum(axis=(1, 2)) + len(half) * (shapes * np.log(rate[:, 0]).sum(axis=1))
    log_p -= half.size * gammaln(shapes)
    p = np.exp(beta * (log_p - log_p.max())) / hyper.grid
    chosen = int(np.searchsorted(p.cumsum(), rng.random() * p.sum()))
    return values._replace(shape=float(shapes[chosen]))


def draw_expected(
    hyper: VariancePrior, values: Values, blocks: Columns, rng: np.random.Generator
) -> Values:
    """Draw the precisions of the blocks, then every v given these."""
    a, old, floor = values.shape, values.expected, hyper.floor
    filled = blocks.size > 0
    rate = prior_rate(hyper, values) + np.maximum(blocks.rate, 0.0)
    precision = np.where(filled, rng.standard_gamma(a + 0.5 * blocks.size) / rate, 0.0)
    weight, count = hyper.weight[0], filled.sum(axis=0)
    rate = weight / hyper.guess + multiplier(a) * precision.sum(axis=0)
    proposed = rng.standard_gamma(weight + count * a) / rate
    proposed = np.maximum(proposed, np.finfo(float).tiny)
    log_ratio = np.log((proposed + floor) / proposed) - np.log((old + floor) / old)
    accepted = np.log(1.0 - rng.random(len(old))) < count * a * log_ratio
    return values._replace(expected=np.where(accepted | (log_ratio == 0.0), proposed, old))


def move_expected(
    hyper: VariancePrior, values: Values, blocks: Columns, beta: float, rng: np.random.Generator
) -> Values:
    """A Metropolis move of every log v, with the variances integrated out."""
    old = values.expected
    proposed = values._replace(expected=old * np.exp(STEP * rng.standard_normal(len(old))))
    log_ratio = np.zeros(len(old))
    for sign, at in ((1.0, proposed), (-1.0, values)):
        weight, v = hyper.weight[0], at.expected
        log_ratio += sign * beta * log_marginal(hyper, at, blocks).sum(axis=0)
        log_ratio += sign * (weight * np.log(v) - weight * v / hyper.guess)
    accepted = np.log(1.0 - rng.random(len(old))) < log_ratio
    return values._replace(expected=np.where(accepted, proposed.expected, old))


def move_kappa(
    hyper: VariancePrior,
    values: Values,
    blocks: Columns,
    prior_mean: NDArray[np.float64],
    beta: float,
    rng: np.random.Generator,
) -> Values:
    """A Metropolis move of log kappa, with means and variances integrated out."""
    (shape, rate), old, n = hyper.kappa, values.kappa, blocks.size
    new = old * math.exp(WIDE * rng.standard_normal())
    gap = (blocks.mean - prior_mean) * (old + n) / np.maximum(n, 1.0)  # of the mean of the rows
    change = 0.5 * (new * n / (new + n) - old * n / (old + n)) * gap**2
    before = prior_rate(hyper, values) + np.maximum(blocks.rate, 0.0)
    log_ratio = 0.5 * np.log(new * (old + n) / (old * (new + n)))
    log_ratio -= (values.shape + 0.5 * n) * np.log1p(change / before)
    log_prior = shape * math.log(new / old) - rate * (new - old)  # of log kappa
    accepted = math.log(1.0 - rng.random()) < log_prior + beta * log_ratio.sum()
    return values._replace(kappa=new) if accepted else values


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
        size = np.broadcast_to(lik.size[..., k], lik.mean[:, k].shape).T.astype(float)
        blocks = Columns(size, lik.mean[:, k].T, lik.rate[:, k].T)
        put(lik, update(lik.hyper, values_of(lik), blocks, lik.prior_mean, beta, rng))

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

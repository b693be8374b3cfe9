"""Hyper-priors on the parameters of a prior, and how these parameters are sampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import (
    betainc,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)

from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import Action, Message, given, parameter, shown

TINY = 1e-300  # the smallest weight of a Beta distribution that does not underflow

# What the tables of all priors can hold, with eight digits or more.
RANGE = {"gamma": (1e-10, 1e10), "beta": (1e-8, 0.99999)}
PAIR_RANGE = (1e-10, 1e10)  # of the two numbers of a hyper-prior


class Hyper(NamedTuple):
    """How a parameter may be given, and its initial value if it is sampled.

    Attributes
    ----------
    start : float
    distribution : "gamma" or "beta", the hyper-prior that a pair specifies
    auto : pair or None, the pair for "auto"
    """

    start: float
    distribution: str
    auto: tuple[float, float] | None = None

    def pair(self, name: str, value: Any) -> tuple[float, float] | None:
        """The pair of a hyper-prior, or None for a fixed number; anything else raises an error."""
        if self.auto is not None and isinstance(value, str) and value == "auto":
            return self.auto
        if is_number(value):
            return None
        if isinstance(value, (tuple, list)) and len(value) == 2 and all(map(is_number, value)):
            if all(PAIR_RANGE[0] <= as_float(v) <= PAIR_RANGE[1] for v in value):
                return as_float(value[0]), as_float(value[1])
        raise ValueError(self._allowed(name, value))

    def _allowed(self, name: str, value: Any) -> Message:
        """What a parameter may be, instead of a value."""
        pair = {"gamma": "(shape, rate)", "beta": "(a, b)"}[self.distribution]
        low, high = PAIR_RANGE
        return Message(
            parameter(name),
            " must be a number (fixed) or ",
            Action(f"a pair {pair} of positive numbers", f"two positive numbers {pair[1:-1]}"),
            f", from {low:g} to {high:g}, for a {self.distribution.capitalize()} hyper-prior",
            Action(f", or 'auto' = {self.auto}", ", or auto") if self.auto else "",
            "; got ",
            given(value),
            ".",
        )

    def check(self, name: str, value: Any) -> None:
        """Raise an error for a fixed number outside the range of the tables."""
        low, high = RANGE[self.distribution]
        if not is_number(value) or low <= as_float(value) <= high:
            return
        kind = {"gamma": "positive", "beta": "between 0 and 1"}[self.distribution]
        text = f" must be {kind}, from {low:g} to {high:.8g}; got {shown(value)}."
        raise ValueError(Message(parameter(name), text))

    def draw(self, pair: tuple[float, float], rng: np.random.Generator) -> float:
        """A value from the distribution of a pair, restricted to the range of the tables."""
        low, high = RANGE[self.distribution]
        is_gamma = self.distribution == "gamma"
        value = float(rng.gamma(pair[0]) / pair[1] if is_gamma else rng.beta(*pair))
        if not low <= value <= high:
            value = (_gamma_between if is_gamma else _beta_between)(*pair, low, high, rng.random())
        return min(max(value, low), high)

    def log_density(self, pair: tuple[float, float], value: float) -> float:
        """Log density of a value under the hyper-prior."""
        a, b = pair
        if self.distribution == "gamma":
            return (a - 1) * math.log(value) - b * value + a * math.log(b) - math.lgamma(a)
        norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return (a - 1) * math.log(value) + (b - 1) * math.log1p(-value) + norm

    @property
    def limits(self) -> tuple[float, float]:
        """The range of the unconstrained coordinate."""
        low, high = RANGE[self.distribution]
        return self.to_unconstrained(low), self.to_unconstrained(high)

    def to_unconstrained(self, value: float) -> float:
        """The unconstrained coordinate: log of a positive value, logit of one below 1."""
        return (
            math.log(value)
            if self.distribution == "gamma"
            else math.log(value) - math.log1p(-value)
        )

    def from_unconstrained(self, x: float) -> float:
        """The value at an unconstrained coordinate."""
        return math.exp(x) if self.distribution == "gamma" else 1.0 / (1.0 + math.exp(-x))

    def log_density_unconstrained(self, pair: tuple[float, float], x: float) -> float:
        """Log hyper-prior density of the coordinate, up to a constant, Jacobian included."""
        if self.distribution == "gamma":
            return pair[0] * x - pair[1] * math.exp(x)
        return -pair[0] * np.logaddexp(0.0, -x) - pair[1] * np.logaddexp(0.0, x)


def _gamma_between(shape: float, rate: float, low: float, high: float, u: float) -> float:
    """The quantile `u` of a gamma distribution restricted to an interval."""
    below, above = gammainc(shape, low * rate), gammaincc(shape, high * rate)
    if below < 0.5:
        return float(gammaincinv(shape, below + u * (1.0 - above - below)) / rate)
    # Far above the median, only the upper tail has digits.
    upper = gammaincc(shape, low * rate)
    return float(gammainccinv(shape, above + u * (upper - above)) / rate)


def _beta_between(a: float, b: float, low: float, high: float, u: float) -> float:
    """The quantile `u` of a beta distribution restricted to an interval."""
    below, above = betainc(a, b, low), betainc(b, a, 1.0 - high)
    if below < 0.5:
        return float(betaincinv(a, b, below + u * (1.0 - above - below)))
    upper = betainc(b, a, 1.0 - low)
    return float(1.0 - betaincinv(b, a, above + u * (upper - above)))


def is_number(value: Any) -> bool:
    """Whether a parameter is a number."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def slice_step(
    log_density: Callable[[float], float],
    x: float,
    limits: tuple[float, float],
    rng: np.random.Generator,
    width: float = 1.5,
) -> float:
    """One univariate slice sampling step (Neal 2003): stepping out, then shrinkage.

    The target is the density restricted to `limits`. Stepping out ends there, and shrinkage ends
    at `x`, whose density is above the level.
    """
    level = log_density(x) + math.log(1.0 - rng.random())
    left = x - width * rng.random()
    right = left + width
    while left > limits[0] and log_density(left) > level:
        left -= width
    while right < limits[1] and log_density(right) > level:
        right += width
    left, right = max(left, limits[0]), min(right, limits[1])
    while True:
        proposal = left + (right - left) * rng.random()
        if proposal == x or log_density(proposal) > level:
            return proposal
        if proposal < x:
            left = proposal
        else:
            right = proposal


def solve_expected(expected: Callable[[float], float], k: float, n: int) -> float:
    """The alpha for which k clusters are expected a priori among n items."""
    from scipy.optimize import brentq  # slow to import, and only needed here

    low, high = 1e-8, 1e8 * n
    least = max(1.0, expected(low))
    if not (1 < k < n and least < k < expected(high)):
        raise ValueError(f"k must be between {least:.3g} and {n} for n={n} items, got {k!r}.")
    root = brentq(lambda x: expected(math.exp(x)) - k, math.log(low), math.log(high), xtol=1e-12)
    return math.exp(root)

"""The density of the positive stable distribution, from a table by quadrature.

With x = xi^(-(1-s)/s), f_s(x) = s / ((1-s) pi) x^(-1/(1-s)) int_0^pi A(u) exp(-A(u) xi) du, where A
is Zolotarev's function. The table is over y = log xi. Without its factor exp(-A(0) xi) the integral
I is a smooth function of y, and a power of xi at both ends: xi^-s at 0, xi^(-1/2) at infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from bnpcluster._core.stable_distributions import log_lowest

DIGITS = 36.0  # nats of precision
STEP = 0.05  # of the table
DEGREE = 7
ROWS = 64  # of the table at a time


def log_density(log_x: NDArray, s: float) -> NDArray:
    """log f_s(x)"""
    y = log_x * (-s / (1.0 - s))
    spline, low, high = _table(s)
    inside = np.clip(y, low, high)
    value = spline(inside) - s * np.minimum(y - low, 0.0) - 0.5 * np.maximum(y - high, 0.0)
    value -= np.exp(log_lowest(s) + np.minimum(y, 600.0))
    return value + math.log(s / ((1.0 - s) * math.pi)) - log_x / (1.0 - s)


@lru_cache(maxsize=16)
def _table(s: float) -> tuple[Callable[[NDArray], NDArray], float, float]:
    """A spline through log I + A(0) xi over y, and the ends of y."""
    low, high = -DIGITS / (1.0 - s), DIGITS
    y = np.linspace(low, high, math.ceil((high - low) / STEP))
    # The trapezoidal rule in v = logit(u / pi); its error is exp(-2 pi d / step), d = (1-s) pi / 2.
    step = min(0.15, (1.0 - s) * math.pi**2 / DIGITS)
    v = np.arange(-0.5 * high - DIGITS - 10.0, DIGITS + 10.0, step)
    log_a, log_du = _log_zolotarev(v, s)
    log_excess, values = _log_excess(v, log_a, s), np.empty(len(y))
    with np.errstate(over="ignore"):
        for first in range(0, len(y), ROWS):
            terms = log_a + log_du - np.exp(log_excess + y[first : first + ROWS, None])
            top = terms.max(axis=1, keepdims=True)
            total = np.exp(terms - top).sum(axis=1)
            values[first : first + ROWS] = top[:, 0] + np.log(total * step)
    return make_interp_spline(y, values, k=DEGREE), low, high


def _log_zolotarev(v: NDArray, s: float) -> tuple[NDArray, NDArray]:
    """log A(u) and log du / dv at u = pi / (1 + e^-v)."""
    u = math.pi / (1.0 + np.exp(-v))
    rest = math.pi / (1.0 + np.exp(v))
    sines = s * np.log(np.sin(s * u)) + (1.0 - s) * np.log(np.sin((1.0 - s) * u))
    log_a = (sines - np.log(np.sin(np.minimum(u, rest)))) / (1.0 - s)
    return log_a, np.log(u) + np.log(rest) - math.log(math.pi)


def _log_excess(v: NDArray, log_a: NDArray, s: float) -> NDArray:
    """log(A(u) - A(0)). For a small u, by the series of log A: a difference loses digits."""
    square = (math.pi / (1.0 + np.exp(-v))) ** 2
    c = 1.0 - s + s * s
    series = s * square * (0.5 + c * square * (1.0 / 36.0 + c * square / 405.0))
    more = np.where(square > 4e-4, log_a - log_lowest(s), series)
    return log_lowest(s) + more + np.log(-np.expm1(-more))

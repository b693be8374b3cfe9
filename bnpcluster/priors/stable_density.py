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
    with np.errstate(over="ignore"):
        a, lowest = np.exp(log_a), math.exp(log_lowest(s))
    excess, values = _excess(v, a, lowest, s), np.empty(len(y))
    with np.errstate(over="ignore"):
        for first in range(0, len(y), ROWS):
            xi = np.exp(y[first : first + ROWS, None])
            terms = log_a + log_du - excess * xi
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


def _excess(v: NDArray, a: NDArray, lowest: float, s: float) -> NDArray:
    """A(u) - A(0). For a small u, by the series of the logarithm: a difference loses digits."""
    u = math.pi / (1.0 + np.exp(-v))
    c = 1.0 - s + s * s
    series = s * u * u * (0.5 + c * u * u * (1.0 / 36.0 + c * u * u / 405.0))  # log A(u) / A(0)
    return np.where(u > 0.02, a - lowest, lowest * np.expm1(series))

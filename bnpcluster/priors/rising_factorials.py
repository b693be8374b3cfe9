"""Rising factorials, for the tables of priors."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

LARGE = 32.0  # from here on, Stirling's series has all digits


def log_rising(a: float, m: float) -> float:
    """log a (a+1) ... (a+m-1)"""
    if a < LARGE:
        return math.lgamma(a + m) - math.lgamma(a)
    value = (a + m - 0.5) * math.log1p(m / a) - m
    return m * math.log(a) + value + float(_stirling(a + m) - _stirling(a))


def log_rising_excess(a: NDArray, m: Any) -> NDArray[np.float64]:
    """log a (a+1) ... (a+m-1) - m log a; m need not be an integer.

    For large `a` a difference of two logarithms of the gamma function would lose its digits.
    """
    big, small = np.maximum(a, LARGE), np.minimum(a, LARGE)
    series = (big + m - 0.5) * np.log1p(m / big) - m + _stirling(big + m) - _stirling(big)
    return np.where(a < LARGE, gammaln(small + m) - gammaln(small) - m * np.log(small), series)


def _stirling(a: Any) -> Any:
    """The end of Stirling's series of log Gamma(a)."""
    inverse = 1.0 / (a * a)
    return (1.0 - inverse * (1.0 / 30.0 - inverse * (1.0 / 105.0 - inverse / 140.0))) / (12.0 * a)


@lru_cache(maxsize=16)
def log_rising_table(a: float, n: int) -> np.ndarray:
    """log W[m] = log (a)_{m-1} for m = 0 .. n; entry 0 is 0.

    A sum of logs is faster than lgamma. For a sampled `a` this runs in every iteration.
    """
    table = np.zeros(n + 1)
    np.cumsum(np.log(a + np.arange(n - 1.0)), out=table[2:])
    return table


def log_ways(n: int, k_max: int, sigma: float) -> np.ndarray:
    """log of the sum of prod_b W[n_b] over the partitions of n items into k blocks, k = 0 .. k_max.

    Items are added one by one: a new item opens a block, or joins a block of m items in m - sigma
    ways.
    """
    log_s = np.full(k_max + 1, -np.inf)
    log_s[1] = 0.0
    k = np.arange(k_max + 1)
    for m in range(1, n):
        opened = np.concatenate([[-np.inf], log_s[:-1]])
        log_s = np.logaddexp(log_s + np.log(np.maximum(m - sigma * k, 1e-300)), opened)
    return log_s

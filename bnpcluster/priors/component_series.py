"""The series over the number of components of a mixture of finite mixtures.

V[n, k] is the sum over m of Q(m) g^k m! / (m - k)! / (g m)_n, where Q is the prior of the number of
components. The first terms are added one by one. If they do not suffice, because Q is far away or
has a heavy tail, the rest is an integral over log m with a correction at its lower end.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bnpcluster.priors.quadrature import NEGLIGIBLE, log_integral
from bnpcluster.priors.rising_factorials import log_rising_excess

SHORT, LONG, LONGEST = 64, 1 << 10, 1 << 20  # terms to begin with, before an integral, at most
SMALL = 1e-12  # relative error of the integral that is accepted


@lru_cache(maxsize=4096)
def log_v(n: int, blocks: tuple[int, ...], g: float, name: str, parameter: Any) -> NDArray:
    """log V[n, k] for every k in `blocks`, 1 <= k <= n."""
    k = np.array(blocks, float)
    if name == "gnedin" and g == 1.0:
        return _log_v_gnedin(n, k, parameter)
    length = max(SHORT, 1 << (2 * max(blocks) - 1).bit_length())
    mode = parameter if name == "poisson" else 1.0  # Q decreases from here on
    if name == "array":
        length = len(parameter)
    while True:
        x = np.log(np.arange(1.0, length + 1))
        terms = np.array([_log_term(x, n, one, g, name, parameter) for one in k])
        total = logsumexp(terms, axis=1)
        far = (terms[:, -1] > terms.max(axis=1) - NEGLIGIBLE) | (length < mode)
        if name == "array" or not far.any():
            break
        if length >= LONG:
            found = [_log_rest(length, n, one, g, name, parameter) for one in k[far]]
            rest, error = np.array(found).T
            total[far] = np.logaddexp(total[far], rest)
            if length >= LONGEST or (error - total[far] < math.log(SMALL)).all():
                break
        length *= 2
    return total + k * math.log(g)


def _log_v_gnedin(n: int, k: NDArray, c: float) -> NDArray:
    """The closed form for g = 1."""
    value = gammaln(k) + gammaln(k - c) - math.lgamma(1 - c) + gammaln(n - k + c) - math.lgamma(c)
    return value - math.lgamma(n) - (math.lgamma(n + c) - math.lgamma(1 + c))


def _log_term(x: NDArray, n: int, k: float, g: float, name: str, parameter: Any) -> NDArray:
    """log Q(m) m! / (m - k)! / (g m)_n at m = e^x; -inf where m < k.

    Multiples of x are added before anything else, because for a heavy tail x may be huge.
    """
    m = np.exp(np.minimum(x, 300.0))
    slope, value = k - n, -n * math.log(g) - log_rising_excess(g * m, n)
    above = np.maximum(m - k + 1.0, 1.0)
    value += k * np.log1p((1.0 - k) / np.maximum(m, k)) + log_rising_excess(above, k)
    if name == "array":
        value += np.array(parameter)
    elif name == "poisson":
        value += (m - 1.0) * math.log(parameter) - parameter - gammaln(m)
    elif name == "geometric":
        value += math.log(parameter) + (m - 1.0) * math.log1p(-parameter)
    else:
        c = parameter
        slope -= 1.0 + c
        value += math.log(c) - math.lgamma(1.0 - c)
        value -= (1.0 + c) * np.log1p(-c / m) + log_rising_excess(m - c, 1.0 + c)
    return np.where(m > k - 0.5, slope * x + value, -np.inf)


def _log_rest(
    length: int, n: int, k: float, g: float, name: str, parameter: Any
) -> tuple[float, float]:
    """log of the sum over m > length, and log of its error, by the midpoint rule.

    sum over m > L of f(m) = integral from L + 1/2 of f + f'(L + 1/2) / 24 - 7 f''' / 5760 + ...
    """
    start = math.log(length + 0.5)

    def log_f(x: NDArray) -> NDArray:  # the integrand in x = log m
        return _log_term(x, n, k, g, name, parameter) + x

    integral = log_integral(log_f, start, _far_end(start, n, k, g, name, parameter))
    step = 1e-4
    at = _log_term(start + step * np.array([-1.0, 0.0, 1.0]), n, k, g, name, parameter)
    slope = (at[2] - at[0]) / (2.0 * step * (length + 0.5))  # of log f, by m
    correction = slope * math.exp(min(at[1] - integral, 600.0)) / 24.0
    error = at[1] + 3.0 * math.log(abs(slope) + 1e-100) + math.log(7.0 / 5760.0)
    return float(integral + math.log1p(max(correction, -0.5))), float(error)


def _far_end(start: float, n: int, k: float, g: float, name: str, parameter: Any) -> float:
    """A log m beyond which all terms are negligible."""
    if name == "poisson":
        most = parameter + k + 20.0 * math.sqrt(parameter + k) + 2000.0
    elif name == "geometric":
        most = (2.0 * k + 200.0) / parameter
    else:
        return max(start, math.log(n / g)) + 2.0 * NEGLIGIBLE / (n - k + parameter) + 20.0
    return max(start + 1.0, math.log(most))

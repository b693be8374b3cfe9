"""The integrated autocorrelation time of a trace."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bnpcluster._core.arguments import numbers_of


def autocorrelation_time(trace: ArrayLike) -> float:
    """Integrated autocorrelation time, 1 + 2 times the sum of the autocorrelations.

    This number of draws is worth one independent draw. Geyer's initial monotone sequence truncates
    the sum. With several chains, their autocovariances are averaged, and the variance of the means
    of the chains is added. So chains that disagree have long autocorrelation times.

    Parameters
    ----------
    trace : array-like of shape (n_draws,) or (n_chains, n_draws)
        Values in order of sampling.

    Returns
    -------
    float
        NaN for a constant trace. Infinite for chains that are constant but differ.

    References
    ----------
    Geyer (1992), Practical Markov chain Monte Carlo, Statistical Science 7, 473-483.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.diagnostics import autocorrelation_time
    >>> white = np.random.default_rng(0).normal(size=10_000)
    >>> round(autocorrelation_time(white)), round(autocorrelation_time(np.repeat(white, 5)))
    (1, 5)
    """
    x = np.atleast_2d(numbers_of("trace", trace, "an array of numbers"))
    if x.ndim != 2:
        raise ValueError(f"A trace must have shape (draws,) or (chains, draws), got {x.shape}.")
    if not np.all(np.isfinite(x)) or x.size == 0 or x.min() == x.max():
        return math.nan
    if np.all(np.ptp(x, axis=1) == 0):
        return math.inf
    n_chains, n = x.shape
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), 2 * n)
    covariance = np.fft.irfft(np.mean(np.abs(spectrum) ** 2, axis=0))[:n] / n
    if n_chains > 1:
        covariance += np.var(x.mean(axis=1), ddof=1)
    rho = covariance / covariance[0]
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2]
    negative = np.flatnonzero(pairs < 0)
    initial = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(max(2 * initial.sum() - 1, 1 / math.log10(max(x.size, 10))))

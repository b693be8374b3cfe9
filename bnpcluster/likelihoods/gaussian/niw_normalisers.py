"""Tables of the normal-inverse-Wishart likelihood: normalisers by the size of a block."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster.likelihoods.gaussian.learned_covariance import log_multigamma


@lru_cache(maxsize=32)
def gamma_terms(n: int, d: int, nu: float) -> tuple[NDArray, NDArray]:
    """The terms that depend on nu and the size alone; an update of kappa or M reuses them."""
    df = nu + np.arange(n + 2)
    predictive = gammaln((df + 1) / 2) - gammaln((df + 1 - d) / 2)
    return predictive, log_multigamma(df, d) - log_multigamma(np.array(nu), d)


def normalisers(
    n: int, kappa: float, nu: float, scale: NDArray, log_unit: float
) -> tuple[NDArray, NDArray]:
    """Normalisers of the predictive and of the marginal likelihood of a block, by size.

    `log_unit` is the sum of the logs of the units of the columns.
    """
    d, m = len(scale), np.arange(n + 2)
    predictive, marginal = gamma_terms(n, d, nu)
    log_r = np.log(kappa + np.arange(n + 3))
    half = 0.5 * d
    predictive = predictive + half * (log_r[:-1] - log_r[1:] - np.log(np.pi)) - log_unit
    marginal = marginal + half * (log_r[0] - log_r[:-1]) - m * (half * np.log(np.pi) + log_unit)
    return predictive, marginal + 0.5 * nu * np.linalg.slogdet(scale)[1]


def normalisers_by_level(
    n: int, kappa: float, nu: float, scale: NDArray, log_units: NDArray, ends: NDArray
) -> tuple[NDArray, NDArray]:
    """By level and size: normalisers of the columns up to its end, over those up to its start."""
    d = len(scale)
    tables = [
        normalisers(n, kappa, nu - d + end, scale[:end, :end], log_units[:end].sum())
        for end in ends
    ]
    predictive, marginal = (np.diff(table, axis=0) for table in zip(*tables, strict=True))
    return predictive, marginal

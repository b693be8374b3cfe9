"""Tables of the normal-inverse-Wishart likelihood: normalisers by the size of a block."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bnpcluster.likelihoods.gaussian.learned_covariance import log_det, log_multigamma


@lru_cache(maxsize=32)
def terms_by_size(n: int, d: int, nu: float, kappa: float) -> tuple[NDArray, NDArray]:
    """The terms that do not depend on the scale matrix; an update of M reuses them."""
    m, half = np.arange(n + 2), 0.5 * d
    df, log_r = nu + m, np.log(kappa + np.arange(n + 3))
    predictive = gammaln((df + 1) / 2) - gammaln((df + 1 - d) / 2)
    predictive += half * (log_r[:-1] - log_r[1:] - np.log(np.pi))
    marginal = log_multigamma(df, d) - log_multigamma(np.array(nu), d)
    return predictive, marginal + half * (log_r[0] - log_r[:-1] - m * np.log(np.pi))


def normalisers(
    n: int, kappa: float, nu: float, scale: NDArray, log_unit: float
) -> tuple[NDArray, NDArray]:
    """Normalisers of the predictive and of the marginal likelihood of a block, by size.

    `log_unit` is the sum of the logs of the units of the columns.
    """
    tables = _tables_in_units(n, len(scale), float(nu), float(kappa), float(log_unit))
    return tables[0].copy(), tables[1] + 0.5 * nu * log_det(scale)


@lru_cache(maxsize=32)
def _tables_in_units(
    n: int, d: int, nu: float, kappa: float, log_unit: float
) -> tuple[NDArray, NDArray]:
    """The same tables for a scale matrix of determinant one."""
    predictive, marginal = terms_by_size(n, d, nu, kappa)
    return predictive - log_unit, marginal - np.arange(n + 2) * log_unit


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

"""Normalisers of blocks by their size: from tables, and computed beyond the end of a table.

A table is as long as the rows of the bound data are many. Where most rows are elsewhere, blocks are
larger.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel

LOG_PI = math.log(math.pi)


@kernel(inline=True)
def predictive_normaliser(lik, m):
    """The normaliser of the predictive of a block of m rows."""
    if m < len(lik.norm_predictive):
        return lik.norm_predictive[m]
    return predictive_beyond(lik, m)


@kernel(inline=True)
def marginal_normaliser(lik, m):
    """The normaliser of the marginal likelihood of a block of m rows."""
    if m < len(lik.norm_marginal):
        return lik.norm_marginal[m]
    return marginal_beyond(lik, m)


@kernel
def predictive_beyond(lik, m):
    """An entry of the table of `normalisers` that is not there."""
    d, r, df = lik.X.shape[1], lik.prior[0] + m, lik.prior[1] + m
    total = math.lgamma(0.5 * (df + 1.0)) - math.lgamma(0.5 * (df + 1.0 - d))
    for a in range(d):
        total -= math.log(lik.unit[a])
    return total - 0.5 * d * (math.log1p(1.0 / r) + LOG_PI)


@kernel
def marginal_beyond(lik, m):
    """An entry of the table of `normalisers` that is not there; entry 0 knows the scale matrix."""
    d, r0, nu = lik.X.shape[1], lik.prior[0], lik.prior[1]
    total = lik.norm_marginal[0] - 0.5 * d * (math.log1p(m / r0) + m * LOG_PI)
    for a in range(d):
        total += math.lgamma(0.5 * (nu + m - a)) - math.lgamma(0.5 * (nu - a))
        total -= m * math.log(lik.unit[a])
    return total

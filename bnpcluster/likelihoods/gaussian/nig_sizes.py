"""Normalisers of blocks of independent columns by size, as in `niw_sizes`."""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel

LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel(inline=True)
def predictive_normaliser(lik, m):
    """The normaliser of the predictive of a block of m rows; beyond the table it is computed."""
    if m < len(lik.norm_predictive):
        return lik.norm_predictive[m]
    return predictive_beyond(lik, m)


@kernel(inline=True)
def marginal_normaliser(lik, m):
    """The normaliser of the marginal likelihood of a block of m rows, in the same way."""
    if m < len(lik.norm_marginal):
        return lik.norm_marginal[m]
    return marginal_beyond(lik, m)


@kernel
def predictive_beyond(lik, m):
    """An entry of the table of `normalisers_of_all` that is not there."""
    d, r, a = lik.X.shape[1], lik.prior[0] + m, lik.prior[1] + 0.5 * m
    one = math.lgamma(a + 0.5) - math.lgamma(a) - 0.5 * (math.log1p(1.0 / r) + LOG_TWO_PI)
    total = d * one
    for j in range(d):
        total -= math.log(lik.unit[j])
    return total


@kernel
def marginal_beyond(lik, m):
    """An entry of the table of `normalisers_of_all` that is not there; entry 0 knows the rates."""
    d, r0, shape = lik.X.shape[1], lik.prior[0], lik.prior[1]
    one = math.lgamma(shape + 0.5 * m) - math.lgamma(shape)
    total = lik.norm_marginal[0] + d * (one - 0.5 * (math.log1p(m / r0) + m * LOG_TWO_PI))
    for j in range(d):
        total -= m * math.log(lik.unit[j])
    return total

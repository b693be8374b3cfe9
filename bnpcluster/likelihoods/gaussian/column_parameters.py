"""Means and variances of blocks: the operations of the normal-inverse-gamma likelihood."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.parameter_operations import (
    add_row,
    draw_parameters,
    log_density,
    log_density_of_parameters,
    new_sums,
    put_sums,
)
from bnpcluster.likelihoods.gaussian.nig_columns import InverseGammaColumns, refresh

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class ColumnParameters(NamedTuple):
    """A mean and the inverse of a standard deviation per block and column, in internal units."""

    mean: np.ndarray  # (blocks, D)
    root: np.ndarray  # (blocks, D)
    const: np.ndarray  # by block: log density at the mean, in the units of the data


class ColumnSums(NamedTuple):
    """Sums over the rows of a block of x - mean and of its square."""

    first: np.ndarray  # (blocks, D)
    second: np.ndarray  # (blocks, D)


@draw_parameters.register(InverseGammaColumns)
def _draw_parameters(lik, n_blocks, rng):
    m, mean, rate = lik.size[:n_blocks, None], lik.mean[:, :n_blocks].T, lik.rate[:, :n_blocks].T
    root = np.sqrt(rng.chisquare(2.0 * lik.prior[1] + m + np.zeros(mean.shape)) / (2.0 * rate))
    shift = rng.standard_normal(mean.shape) / (np.sqrt(lik.prior[0] + m) * root)
    const = np.log(root).sum(axis=1) - len(lik.unit) * HALF_LOG_TWO_PI - np.log(lik.unit).sum()
    return ColumnParameters(mean + shift, root, const)


@log_density.register(InverseGammaColumns)
def _log_density(lik, parameters, k, i):
    total = 0.0
    for d in range(lik.X.shape[1]):
        z = (lik.X[i, d] - parameters.mean[k, d]) * parameters.root[k, d]
        total += z * z
    return parameters.const[k] - 0.5 * total


@log_density_of_parameters.register(InverseGammaColumns)
def _log_density_of_parameters(lik, slot, parameters, k):
    m, total = lik.size[slot], 0.0
    r, shape = lik.prior[0] + m, lik.prior[1] + 0.5 * m
    for d in range(len(lik.mean)):
        root, rate = parameters.root[k, d], lik.rate[d, slot]
        z = (parameters.mean[k, d] - lik.mean[d, slot]) * root
        total += 0.5 * math.log(r) - HALF_LOG_TWO_PI + math.log(root) - 0.5 * r * z * z
        # The inverse gamma density of the variance 1 / root^2.
        total += shape * math.log(rate) - math.lgamma(shape)
        total += 2.0 * (shape + 1.0) * math.log(root) - rate * root * root
    return total


@new_sums.register(InverseGammaColumns)
def _new_sums(lik, n_blocks):
    return ColumnSums(*np.zeros((2, n_blocks, len(lik.mean))))


@add_row.register(InverseGammaColumns)
def _add_row(lik, parameters, sums, k, i):
    for d in range(lik.X.shape[1]):
        gap = lik.X[i, d] - parameters.mean[k, d]
        sums.first[k, d] += gap
        sums.second[k, d] += gap * gap


@put_sums.register(InverseGammaColumns)
def _put_sums(lik, slot, parameters, sums, k, m):
    r0 = lik.prior[0]
    for d in range(len(lik.mean)):
        centre = sums.first[k, d] / m
        within = max(sums.second[k, d] - sums.first[k, d] * centre, 0.0)
        gap = parameters.mean[k, d] - lik.prior_mean[d] + centre
        lik.mean[d, slot] = lik.prior_mean[d] + m * gap / (r0 + m)
        between = r0 * m / (r0 + m) * gap * gap
        lik.rate[d, slot] = lik.prior_scale[d] + 0.5 * (within + between)
    lik.size[slot] = m
    refresh(lik, slot)
    return True

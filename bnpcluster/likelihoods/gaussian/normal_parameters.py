"""Means and covariances of blocks: the operations of the normal-inverse-Wishart likelihood.

A covariance is represented by its root R: lower triangular, with R covariance R' = I. The sums of a
block are those of its rows relative to its drawn mean, so that they keep the digits of clusters far
from the origin.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.parameter_operations import (
    add_row,
    draw_parameters,
    log_density,
    log_density_of_parameters,
    new_sums,
    put_sums,
)
from bnpcluster.likelihoods.gaussian.extremes import FLAT
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW, factorise
from bnpcluster.likelihoods.gaussian.niw_planar import PlanarNIW, least_rest, refresh

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class NormalParameters(NamedTuple):
    """A mean and a root of the covariance per block, in internal units."""

    mean: np.ndarray  # (blocks, D)
    root: np.ndarray  # (blocks, D, D)
    const: np.ndarray  # by block: log density at the mean, in the units of the data


class NormalSums(NamedTuple):
    """Sums over the rows of a block of x - mean, and of the lower triangle of its square."""

    first: np.ndarray  # (blocks, D)
    second: np.ndarray  # (blocks, D, D)


def drawn(lik, mean, inv_chol, rng):
    """Parameters drawn from their posterior, given the mean and L^-1 of S = L L' by block."""
    n_blocks, d = mean.shape
    r, nu = lik.prior[:, None] + lik.size[:n_blocks]
    # By Bartlett, G'G is a Wishart matrix; covariance^-1 = (G L^-1)' (G L^-1), so R = G L^-1.
    pivots = np.sqrt(rng.chisquare(nu[:, None] - d + 1 + np.arange(d)))
    below = rng.standard_normal((n_blocks, d * (d - 1) // 2))
    shift = rng.standard_normal((n_blocks, d)) / np.sqrt(r)[:, None]
    parameters = NormalParameters(mean.copy(), np.zeros(inv_chol.shape), np.zeros(n_blocks))
    fill_parameters(inv_chol, pivots, below, shift, parameters)
    parameters.const[:] -= d * HALF_LOG_TWO_PI + np.log(lik.unit).sum()
    return parameters


@kernel
def fill_parameters(inv_chol, pivots, below, shift, parameters):
    """R = G L^-1, its log determinant, and the mean moved by R^-1 shift."""
    mean, root = parameters.mean, parameters.root
    n_blocks, d = mean.shape
    for k in range(n_blocks):
        for a in range(d):
            row, first = root[k, a], a * (a - 1) // 2
            for c in range(a):
                for b in range(c + 1):
                    row[b] += below[k, first + c] * inv_chol[k, c, b]
            for b in range(a + 1):
                row[b] += pivots[k, a] * inv_chol[k, a, b]
            parameters.const[k] += math.log(row[a])
            for b in range(a):
                shift[k, a] -= row[b] * shift[k, b]
            shift[k, a] /= row[a]
        for a in range(d):
            mean[k, a] += shift[k, a]


@draw_parameters.register(PlanarNIW)
def _draw_planar(lik, n_blocks, rng):
    mean, inv_chol = np.zeros((n_blocks, 2)), np.zeros((n_blocks, 2, 2))
    mean[:, 0], mean[:, 1] = lik.mean0[:n_blocks], lik.mean1[:n_blocks]
    inv_chol[:, 0, 0] = 1.0 / np.sqrt(lik.s00[:n_blocks])
    inv_chol[:, 1, 1] = 1.0 / np.sqrt(lik.rest[:n_blocks])
    inv_chol[:, 1, 0] = -lik.slope[:n_blocks] * inv_chol[:, 1, 1]
    return drawn(lik, mean, inv_chol, rng)


@draw_parameters.register(GeneralNIW)
def _draw_general(lik, n_blocks, rng):
    return drawn(lik, lik.mean[:n_blocks], lik.inv_chol[:n_blocks], rng)


@kernel
def square_at(X, i, parameters, k):
    """|R (x_i - mean)|^2"""
    mean, root, total = parameters.mean, parameters.root, 0.0
    for a in range(X.shape[1]):
        z = 0.0
        for b in range(a + 1):
            z += root[k, a, b] * (X[i, b] - mean[k, b])
        total += z * z
    return total


def _log_density(lik, parameters, k, i):
    return parameters.const[k] - 0.5 * square_at(lik.X, i, parameters, k)


def _new_sums(lik, n_blocks):
    d = lik.X.shape[1]
    return NormalSums(np.zeros((n_blocks, d)), np.zeros((n_blocks, d, d)))


def _add_row(lik, parameters, sums, k, i):
    X, mean, first, second = lik.X, parameters.mean, sums.first, sums.second
    for a in range(X.shape[1]):
        gap = X[i, a] - mean[k, a]
        first[k, a] += gap
        for b in range(a + 1):
            second[k, a, b] += gap * (X[i, b] - mean[k, b])


for cls in (PlanarNIW, GeneralNIW):
    log_density.register(cls)(_log_density)
    new_sums.register(cls)(_new_sums)
    add_row.register(cls)(_add_row)


@kernel
def log_normal_wishart(parameters, k, r, nu, distance, trace, log_det):
    """Log density of the mean and the covariance of block k under a posterior.

    `distance` is |R (mean - u)|^2, `trace` that of S covariance^-1, and `log_det` that of S.
    """
    d = parameters.mean.shape[1]
    log_root = 0.0  # -log |covariance| / 2
    for a in range(d):
        log_root += math.log(parameters.root[k, a, a])
    total = d * (0.5 * math.log(r) - HALF_LOG_TWO_PI) + log_root - 0.5 * r * distance
    total += 0.5 * nu * (log_det - d * math.log(2.0)) - 0.25 * d * (d - 1) * math.log(math.pi)
    for a in range(d):
        total -= math.lgamma(0.5 * (nu - a))
    return total + (nu + d + 1.0) * log_root - 0.5 * trace


@log_density_of_parameters.register(PlanarNIW)
def _log_density_of_planar(lik, slot, parameters, k):
    m, root = lik.size[slot], parameters.root
    a, b = parameters.mean[k, 0] - lik.mean0[slot], parameters.mean[k, 1] - lik.mean1[slot]
    distance = (root[k, 0, 0] * a) ** 2 + (root[k, 1, 0] * a + root[k, 1, 1] * b) ** 2
    across = root[k, 1, 0] + root[k, 1, 1] * lik.slope[slot]  # R L for S = L L', up to roots
    trace = lik.s00[slot] * (root[k, 0, 0] ** 2 + across**2) + lik.rest[slot] * root[k, 1, 1] ** 2
    r, nu = lik.prior[0] + m, lik.prior[1] + m
    return log_normal_wishart(parameters, k, r, nu, distance, trace, lik.log_det[slot])


@log_density_of_parameters.register(GeneralNIW)
def _log_density_of_general(lik, slot, parameters, k):
    m, mean, root = lik.size[slot], parameters.mean, parameters.root
    distance, trace, d = 0.0, 0.0, mean.shape[1]
    for a in range(d):
        z = 0.0
        for b in range(a + 1):
            z += root[k, a, b] * (mean[k, b] - lik.mean[slot, b])
            for c in range(b):
                trace += 2.0 * root[k, a, b] * lik.scatter[slot, b, c] * root[k, a, c]
            trace += root[k, a, b] ** 2 * lik.scatter[slot, b, b]
        distance += z * z
    r, nu = lik.prior[0] + m, lik.prior[1] + m
    return log_normal_wishart(parameters, k, r, nu, distance, trace, lik.log_det[slot])


@kernel(inline=True)
def widen(lik, k, w, a, b):
    """S + w (a, b)(a, b)' in slot k of two columns, without loss of digits."""
    old, across = lik.s00[k], b - lik.slope[k] * a
    new = old + w * a * a
    lik.s00[k] = new
    lik.slope[k] += w * a * across / new
    lik.rest[k] += w * old / new * across * across


@put_sums.register(PlanarNIW)
def _put_planar(lik, slot, parameters, sums, k, m):
    scale, r0 = lik.prior_scale, lik.prior[0]
    a, b = sums.first[k, 0] / m, sums.first[k, 1] / m
    s00 = sums.second[k, 0, 0] - m * a * a
    s01 = sums.second[k, 1, 0] - m * a * b
    s11 = sums.second[k, 1, 1] - m * b * b
    # From the prior mean to that of the rows.
    a += parameters.mean[k, 0] - lik.prior_mean[0]
    b += parameters.mean[k, 1] - lik.prior_mean[1]
    lik.size[slot] = m
    lik.mean0[slot] = lik.prior_mean[0] + m * a / (r0 + m)
    lik.mean1[slot] = lik.prior_mean[1] + m * b / (r0 + m)
    lik.s00[slot], lik.slope[slot] = scale[0, 0], scale[0, 1] / scale[0, 0]
    lik.rest[slot] = least_rest(lik)
    widen(lik, slot, r0 * m / (r0 + m), a, b)
    if s00 > 0.0:
        widen(lik, slot, s00, 1.0, s01 / s00)
        lik.rest[slot] += max(s11 - s01 * s01 / s00, 0.0)
    refresh(lik, slot)
    rest, whole = lik.rest[slot], lik.slope[slot] ** 2 * lik.s00[slot]
    return rest > FLAT * (rest + whole)


@put_sums.register(GeneralNIW)
def _put_general(lik, slot, parameters, sums, k, m):
    r0, d = lik.prior[0], len(lik.prior_mean)
    for a in range(d):
        gap = parameters.mean[k, a] - lik.prior_mean[a] + sums.first[k, a] / m
        lik.mean[slot, a] = lik.prior_mean[a] + m * gap / (r0 + m)
        for b in range(a + 1):
            other = parameters.mean[k, b] - lik.prior_mean[b] + sums.first[k, b] / m
            within = sums.second[k, a, b] - sums.first[k, a] * sums.first[k, b] / m
            between = r0 * m / (r0 + m) * gap * other
            lik.scatter[slot, a, b] = lik.prior_scale[a, b] + within + between
    lik.size[slot] = m
    return not factorise(lik, slot)

"""Probabilities and rates of blocks: the operations of the likelihoods of discrete data.

An item is a list of terms. Given the parameters of a block, its log density is a bias plus a weight
per term; of counts, the weight is multiplied by the count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import padded
from bnpcluster._core.parameter_operations import (
    TILE,
    add_log_densities,
    add_row,
    draw_parameters,
    log_density,
    log_density_of_parameters,
    new_scratch,
    new_sums,
    put_sums,
)
from bnpcluster.likelihoods.discrete import bernoulli, categorical, gamma_poisson
from bnpcluster.likelihoods.discrete.bernoulli import BernoulliSlots
from bnpcluster.likelihoods.discrete.categorical import CategoricalSlots, resize
from bnpcluster.likelihoods.discrete.gamma_poisson import PoissonSlots


class TermParameters(NamedTuple):
    """Biases and weights. The block is the last axis, so that all blocks are summed at once."""

    bias: np.ndarray  # by block
    weight: np.ndarray  # by term and block: log odds, log probabilities or log rates


class TermSums(NamedTuple):
    """How often the rows of a block have each term, or the sums of counts."""

    counts: np.ndarray  # by block and term
    log_base: np.ndarray  # by block: the sum of what does not depend on parameters


def as_parameters(bias, weight):
    """Parameters from arrays of K blocks, with room for whole vectors of blocks."""
    n_terms, n_blocks = weight.shape
    width = padded(n_blocks)
    parameters = TermParameters(np.zeros(width), np.zeros((n_terms, width)))
    parameters.bias[:n_blocks], parameters.weight[:, :n_blocks] = bias, weight
    return parameters


def log_gammas(shape, rng):
    """Logs of gamma variables, which a small shape would make underflow."""
    return np.log(rng.gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape


@draw_parameters.register(BernoulliSlots)
def _draw_odds(lik, n_blocks, rng):
    departs = lik.counts[:n_blocks]
    stays = lik.size[:n_blocks, None] - departs
    odds = log_gammas(lik.a.base + departs, rng) - log_gammas(lik.b.base + stays, rng)
    return as_parameters(-np.logaddexp(0.0, odds).sum(axis=1), odds.T)


@draw_parameters.register(CategoricalSlots)
def _draw_probabilities(lik, n_blocks, rng):
    logs = log_gammas(lik.prior.base + lik.counts[:n_blocks], rng)
    first = np.cumsum(lik.n_categories) - lik.n_categories
    column = np.repeat(np.arange(len(first)), lik.n_categories)
    logs -= np.logaddexp.reduceat(logs, first, axis=1)[:, column]
    return as_parameters(0.0, logs.T)


@draw_parameters.register(PoissonSlots)
def _draw_rates(lik, n_blocks, rng):
    logs = log_gammas(lik.shape.base + lik.total[:n_blocks], rng)
    logs -= np.log(lik.rate + lik.size[:n_blocks, None])
    return as_parameters(-np.exp(logs).sum(axis=1), logs.T)


def _log_density(lik, parameters, k, i):
    total = parameters.bias[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += parameters.weight[lik.terms[p], k]
    return total


@log_density.register(PoissonSlots)
def _log_density_of_counts(lik, parameters, k, i):
    total = parameters.bias[k] + lik.log_base[i]
    for p in range(lik.start[i], lik.start[i + 1]):
        total += lik.values[p] * parameters.weight[lik.terms[p], k]
    return total


@log_density_of_parameters.register(BernoulliSlots)
def _log_density_of_odds(lik, slot, parameters, k):
    m, total = lik.size[slot], 0.0
    for d in range(lik.counts.shape[1]):
        odds = parameters.weight[d, k]
        a, b = lik.a.base[d] + lik.counts[slot, d], lik.b.base[d] + m - lik.counts[slot, d]
        log_stays = -max(odds, 0.0) - math.log1p(math.exp(-abs(odds)))
        total += (a - 1.0) * (odds + log_stays) + (b - 1.0) * log_stays
        total += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return total


@log_density_of_parameters.register(CategoricalSlots)
def _log_density_of_probabilities(lik, slot, parameters, k):
    total = 0.0
    for d in range(len(lik.total.base)):
        total += math.lgamma(lik.total.base[d] + lik.size[slot])
    for term in range(len(lik.weight)):
        count = lik.prior.base[term] + lik.counts[slot, term]
        total += (count - 1.0) * parameters.weight[term, k] - math.lgamma(count)
    return total


@log_density_of_parameters.register(PoissonSlots)
def _log_density_of_rates(lik, slot, parameters, k):
    total = 0.0
    for d in range(len(lik.rate)):
        shape, rate = lik.shape.base[d] + lik.total[slot, d], lik.rate[d] + lik.size[slot]
        log_mean = parameters.weight[d, k]
        total += shape * math.log(rate) - math.lgamma(shape)
        total += (shape - 1.0) * log_mean - rate * math.exp(log_mean)
    return total


@new_sums.register(PoissonSlots)
def _new_totals(lik, n_blocks):
    return TermSums(np.zeros((n_blocks, lik.total.shape[1]), np.int64), np.zeros(n_blocks))


def _new_counts(lik, n_blocks):
    return TermSums(np.zeros((n_blocks, lik.counts.shape[1]), np.int64), np.zeros(0))


@add_row.register(PoissonSlots)
def _add_counts(lik, parameters, sums, k, i):
    for p in range(lik.start[i], lik.start[i + 1]):
        sums.counts[k, lik.terms[p]] += lik.values[p]
    sums.log_base[k] += lik.log_base[i]


def _add_terms(lik, parameters, sums, k, i):
    for p in range(lik.start[i], lik.start[i + 1]):
        sums.counts[k, lik.terms[p]] += 1


@put_sums.register(BernoulliSlots)
def _put_departures(lik, slot, parameters, sums, k, m):
    lik.size[slot] = m
    for d in range(lik.counts.shape[1]):
        lik.counts[slot, d] = sums.counts[k, d]
    bernoulli.refresh(lik, slot)
    return True


@put_sums.register(CategoricalSlots)
def _put_categories(lik, slot, parameters, sums, k, m):
    resize(lik, slot, m)
    for term in range(len(lik.weight)):
        lik.counts[slot, term] = sums.counts[k, term]
        categorical.refresh_term(lik, slot, term)
    return True


@put_sums.register(PoissonSlots)
def _put_totals(lik, slot, parameters, sums, k, m):
    lik.size[slot] = m
    lik.sum_log_base[slot] = sums.log_base[k]
    for d in range(lik.total.shape[1]):
        lik.total[slot, d] = sums.counts[k, d]
    gamma_poisson.refresh(lik, slot)
    return True


@kernel(inline=True)
def spread(values, blocks, scores, r):
    """Add the values of some blocks to the scores of a row."""
    for c in range(len(blocks)):
        scores[c, r] += values[blocks[c]]


def _add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores):
    width, sums = len(parameters.bias), scratch
    for r in range(TILE):
        for k in range(width):
            sums[k] = parameters.bias[k]
        for p in range(lik.start[tile[r]], lik.start[tile[r] + 1]):
            weight = parameters.weight[lik.terms[p]]
            for k in range(width):
                sums[k] += weight[k]
        spread(sums, blocks, scores, r)


@add_log_densities.register(PoissonSlots)
def _add_log_densities_of_counts(lik, parameters, tile, blocks, slack, scratch, scores):
    width, sums = len(parameters.bias), scratch
    for r in range(TILE):
        for k in range(width):
            sums[k] = parameters.bias[k] + lik.log_base[tile[r]]
        for p in range(lik.start[tile[r]], lik.start[tile[r] + 1]):
            weight, y = parameters.weight[lik.terms[p]], float(lik.values[p])
            for k in range(width):
                sums[k] += y * weight[k]
        spread(sums, blocks, scores, r)


def _new_scratch(lik, n_blocks):
    return np.zeros(padded(n_blocks))


for cls in (BernoulliSlots, CategoricalSlots, PoissonSlots):
    new_scratch.register(cls)(_new_scratch)
for cls in (BernoulliSlots, CategoricalSlots):
    log_density.register(cls)(_log_density)
    new_sums.register(cls)(_new_counts)
    add_row.register(cls)(_add_terms)
    add_log_densities.register(cls)(_add_log_densities)

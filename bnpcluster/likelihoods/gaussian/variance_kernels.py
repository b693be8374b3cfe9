"""Kernels of one update of the learned hyper-parameters of independent columns.

In every block and column, `rate` is that of the rows alone: the rate of the prior is not in it.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.gaussian.learned_grid import WINDOW, draw_from_window, window_of

STEP = 0.5  # standard deviation of the moves of log v
WIDE = 1.0  # and of log kappa
COLUMNS, MOST_ROUNDS = 16, 4  # so many rounds of an update, times columns; and at most
TINY = 2.2250738585072014e-308  # the smallest value of v


@kernel
def update_variances(hyper, prior, prior_mean, blocks, beta, rng):
    """Update `hyper.expected` and `prior`, which has kappa and the shape."""
    d = len(hyper.floor)
    for _ in range(min(max(COLUMNS // d, 1), MOST_ROUNDS)):
        if len(hyper.grid) > 0:
            draw_shape(hyper, prior, blocks, beta, rng)
        if len(hyper.per_variance) > 0:
            move_both(hyper, prior, prior_mean, blocks, beta, rng)
        elif len(hyper.weight) > 0:
            for j in range(d):
                if beta == 1.0:
                    draw_expected(hyper, prior, blocks, j, rng)
                if beta != 1.0 or len(hyper.ties) > 0:
                    move_expected(hyper, prior, blocks, beta, j, rng)
    if len(hyper.kappa) > 0:  # last, because the rates in the blocks depend on kappa
        move_kappa(hyper, prior, prior_mean, blocks, beta, rng)


@kernel
def multiplier_of(shape):
    """The c of the rate c (v + f)."""
    return max(shape - 1.0, 0.5)


@kernel
def draw_shape(hyper, prior, blocks, beta, rng):
    """Draw the shape from a part of the grid given v, with the variances integrated out."""
    grid, log_p, n_blocks = hyper.grid, hyper.log_p, len(blocks.size)
    first = window_of(grid, 2.0 * (prior[1] - 1.0), rng)
    start, stop = max(first, 0), min(first + WINDOW, len(grid))
    for g in range(start, stop):
        a, total = 1.0 + 0.5 * grid[g], 0.0
        c, normaliser = multiplier_of(a), math.lgamma(a)
        for j in range(len(hyper.floor)):
            own = c * (hyper.expected[j] + hyper.floor[j])
            total += n_blocks * (a * math.log(own) - normaliser)
            for k in range(n_blocks):
                shape = a + 0.5 * blocks.size[k, j]
                total += math.lgamma(shape) - shape * math.log(own + blocks.rate[k, j])
        log_p[g] = beta * total
    prior[1] = 1.0 + 0.5 * draw_from_window(grid, log_p, start, stop, rng)


@kernel
def draw_expected(hyper, prior, blocks, j, rng):
    """Draw the precisions of the blocks in column j, then its v: a proposal if f is not zero."""
    a, old, floor, weight = prior[1], hyper.expected[j], hyper.floor[j], hyper.weight[0]
    c, precision, count = multiplier_of(a), 0.0, 0
    for k in range(len(blocks.size)):
        if blocks.size[k, j] > 0:
            rate = c * (old + floor) + blocks.rate[k, j]
            precision += rng.standard_gamma(a + 0.5 * blocks.size[k, j]) / rate
            count += 1
    rate = weight / hyper.guess[j] + c * precision
    new = max(rng.standard_gamma(weight + count * a) / rate, TINY)
    log_ratio = math.log((new + floor) / new) - math.log((old + floor) / old)
    if math.log(1.0 - rng.random()) <= count * a * log_ratio:
        hyper.expected[j] = new


@kernel
def log_expected(hyper, prior, blocks, beta, j, v):
    """Log density of log v in column j given the rows, variances integrated out."""
    a, weight = prior[1], hyper.weight[0]
    own, marginal = multiplier_of(a) * (v + hyper.floor[j]), 0.0
    for k in range(len(blocks.size)):
        marginal -= (a + 0.5 * blocks.size[k, j]) * math.log(own + blocks.rate[k, j])
    marginal += len(blocks.size) * a * math.log(own)
    return weight * math.log(v) - weight * v / hyper.guess[j] + beta * marginal


@kernel
def move_expected(hyper, prior, blocks, beta, j, rng):
    """A Metropolis move of log v in column j, with the variances integrated out."""
    old = hyper.expected[j]
    new = max(old * math.exp(STEP * rng.standard_normal()), TINY)
    log_ratio = log_expected(hyper, prior, blocks, beta, j, new)
    log_ratio -= log_expected(hyper, prior, blocks, beta, j, old)
    if math.log(1.0 - rng.random()) < log_ratio:
        hyper.expected[j] = new


@kernel
def change_of_rate(blocks, prior_mean, k, j, old, new):
    """By how much the rate of block k in column j grows if kappa goes from `old` to `new`."""
    n = blocks.size[k, j]
    gap = (blocks.mean[k, j] - prior_mean[j]) * (old + n) / max(n, 1.0)  # of the rows
    return 0.5 * (new * n / (new + n) - old * n / (old + n)) * gap * gap


@kernel
def move_both(hyper, prior, prior_mean, blocks, beta, rng):
    """A Metropolis move of log v in the only column; kappa follows. All else is integrated out."""
    a, old_v, old, floor = prior[1], hyper.expected[0], prior[0], hyper.floor[0]
    new_v = max(old_v * math.exp(STEP * rng.standard_normal()), TINY)
    new = hyper.per_variance[0] * (new_v + floor)
    old_rate, new_rate = multiplier_of(a) * (old_v + floor), multiplier_of(a) * (new_v + floor)
    total = len(blocks.size) * a * math.log(new_rate / old_rate)
    for k in range(len(blocks.size)):
        n, rate = blocks.size[k, 0], blocks.rate[k, 0]
        new_own = max(rate + change_of_rate(blocks, prior_mean, k, 0, old, new), 0.0)
        total += 0.5 * math.log(new * (old + n) / (old * (new + n)))
        total -= (a + 0.5 * n) * math.log((new_rate + new_own) / (old_rate + rate))
    weight, guess = hyper.weight[0], hyper.guess[0]
    log_prior = weight * (math.log(new_v / old_v) - (new_v - old_v) / guess)  # of log v
    if math.log(1.0 - rng.random()) < log_prior + beta * total:
        hyper.expected[0], prior[0] = new_v, new
        change_kappa(blocks, prior_mean, old, new)


@kernel
def change_kappa(blocks, prior_mean, old, new):
    """Rates and means of the blocks of the only column after a change of kappa."""
    for k in range(len(blocks.size)):
        n, rate = blocks.size[k, 0], blocks.rate[k, 0]
        change = change_of_rate(blocks, prior_mean, k, 0, old, new)
        blocks.rate[k, 0] = max(rate + change, 0.0)
        gap = blocks.mean[k, 0] - prior_mean[0]
        blocks.mean[k, 0] = prior_mean[0] + gap * (old + n) / (new + n)


@kernel
def move_kappa(hyper, prior, prior_mean, blocks, beta, rng):
    """A Metropolis move of log kappa, with means and variances integrated out."""
    old, a, total = prior[0], prior[1], 0.0
    new = old * math.exp(WIDE * rng.standard_normal())
    for j in range(len(prior_mean)):
        own = multiplier_of(a) * (hyper.expected[j] + hyper.floor[j])
        for k in range(len(blocks.size)):
            n, change = blocks.size[k, j], change_of_rate(blocks, prior_mean, k, j, old, new)
            total += 0.5 * math.log(new * (old + n) / (old * (new + n)))
            total -= (a + 0.5 * n) * math.log1p(change / (own + blocks.rate[k, j]))
    log_prior = hyper.kappa[0] * math.log(new / old) - hyper.kappa[1] * (new - old)  # of log kappa
    if math.log(1.0 - rng.random()) < log_prior + beta * total:
        prior[0] = new

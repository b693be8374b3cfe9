"""Predictive densities in the slots of `niw_general`, and the weights of a sweep.

The quadratic form of an item and a slot is summed row by row. The partial sum is a lower bound, and
the loop stops once it shows that the slot has negligible weight.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import generic, kernel
from bnpcluster._core.operations import (
    LANES,
    append_candidate,
    log_marginal,
    log_predictive,
    log_predictive_of_extreme,
    log_predictive_without,
    log_weights,
    outweighs,
)
from bnpcluster._core.screening import log_weights_of_row, screen_rows
from bnpcluster._core.vectors import ROWS, add_steps, set_logs
from bnpcluster.likelihoods.gaussian.extremes import LOST
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW, row_dot
from bnpcluster.likelihoods.gaussian.niw_sizes import marginal_normaliser, predictive_normaliser


@kernel(inline=True, reassociate=True)
def four_squares(inv_chol, k, a, gap):
    """The sum of squares of rows a .. a+3 of L^-1 gap; the upper triangle of L^-1 is zero."""
    z0 = z1 = z2 = z3 = 0.0
    for b in range(a + 4):
        z0 += inv_chol[k, a, b] * gap[b]
        z1 += inv_chol[k, a + 1, b] * gap[b]
        z2 += inv_chol[k, a + 2, b] * gap[b]
        z3 += inv_chol[k, a + 3, b] * gap[b]
    return z0 * z0 + z1 * z1 + z2 * z2 + z3 * z3


@kernel
def partial_square(X, i, mean, inv_chol, k, gap, start, stop):
    """Rows start .. stop-1 of |L^-1 (x_i - mean)|^2, given the earlier entries of `gap`."""
    for a in range(start, stop):
        gap[a] = X[i, a] - mean[k, a]
    total, last = 0.0, start + (stop - start) // 4 * 4
    for a in range(start, last, 4):
        total += four_squares(inv_chol, k, a, gap)
    for a in range(last, stop):
        z = row_dot(inv_chol, k, a, a + 1, gap)
        total += z * z
    return total


@kernel(inline=True)
def quadratic(lik, k, i):
    """(x_i - mean)' S^-1 (x_i - mean)"""
    return partial_square(lik.X, i, lik.mean, lik.inv_chol, k, lik.work[1], 0, lik.X.shape[1])


@log_predictive.register(GeneralNIW)
def _log_predictive(lik, k, i):
    m = lik.size[k]
    r = lik.prior[0] + m
    t = quadratic(lik, k, i) * r / (r + 1.0)
    const = predictive_normaliser(lik, m) - 0.5 * lik.log_det[k]
    return const - 0.5 * (lik.prior[1] + m + 1.0) * math.log(1.0 + t)


@kernel(inline=True)
def determinant_without(lik, k, i):
    """|S'| / |S|, where S' is that of slot k without its row i.

    With S = S' + (r-1)/r (x-u')(x-u')' and x - u' = r/(r-1) (x - u), |S'| = |S| (1 - r/(r-1) q).
    """
    r = lik.prior[0] + lik.size[k]
    return 1.0 - quadratic(lik, k, i) * r / (r - 1.0)


@log_predictive_without.register(GeneralNIW)
def _log_predictive_without(lik, k, i):
    m, rest = lik.size[k], determinant_without(lik, k, i)
    if rest < LOST:
        return -math.inf
    const = predictive_normaliser(lik, m - 1) - 0.5 * lik.log_det[k]
    return const + 0.5 * (lik.prior[1] + m - 1.0) * math.log(rest)


@outweighs.register(GeneralNIW)
def _outweighs(lik, k, i):
    return determinant_without(lik, k, i) < LOST


@log_marginal.register(GeneralNIW)
def _log_marginal(lik, k):
    m = lik.size[k]
    return marginal_normaliser(lik, m) - 0.5 * (lik.prior[1] + m) * lik.log_det[k]


@generic
def log_weight_bound(lik, k, i, log_prior, beta):
    """A cheap upper bound of the log weight of slot k; inf if there is none."""


@log_weight_bound.register(GeneralNIW)
def _log_weight_bound(lik, k, i, log_prior, beta):
    if len(lik.prior_mean) < 3:
        return math.inf if log_prior > -math.inf else -math.inf
    # Three columns rule out most slots; and log1p(t) >= 2t / (2 + t) avoids the logarithm.
    m, mean, inv_chol = lik.size[k], lik.mean, lik.inv_chol
    r = lik.prior[0] + m
    a, b, c = lik.X[i, 0] - mean[k, 0], lik.X[i, 1] - mean[k, 1], lik.X[i, 2] - mean[k, 2]
    z0 = inv_chol[k, 0, 0] * a
    z1 = inv_chol[k, 1, 0] * a + inv_chol[k, 1, 1] * b
    z2 = inv_chol[k, 2, 0] * a + inv_chol[k, 2, 1] * b + inv_chol[k, 2, 2] * c
    t = r / (r + 1.0) * (z0 * z0 + z1 * z1 + z2 * z2)
    const = predictive_normaliser(lik, m) - 0.5 * lik.log_det[k]
    return log_prior + beta * (const - (lik.prior[1] + m + 1.0) * t / (2.0 + t))


def no_bound(lik, k, i, log_prior, beta):
    """No bound, except -inf for a slot with log prior -inf."""
    return math.inf if log_prior > -math.inf else -math.inf


@generic
def log_weight_above(lik, k, i, log_prior, beta, floor):
    """The log weight of slot k, or -inf if it is below `floor`; may stop early."""


@log_weight_above.register(GeneralNIW)
def _log_weight_above(lik, k, i, log_prior, beta, floor):
    m, d, start = lik.size[k], lik.X.shape[1], 0
    r = lik.prior[0] + m
    scale, half_df = r / (r + 1.0), 0.5 * (lik.prior[1] + m + 1.0)
    const = predictive_normaliser(lik, m) - 0.5 * lik.log_det[k]
    total, weight, stop = 0.0, 0.0, d if d <= 8 else 4
    while True:
        total += partial_square(lik.X, i, lik.mean, lik.inv_chol, k, lik.work[1], start, stop)
        weight = log_prior + beta * (const - half_df * math.log(1.0 + scale * total))
        if weight < floor:
            return -math.inf
        if stop == d:
            return weight
        start, stop = stop, min(2 * stop, d)


@kernel
def _without(lik, k, i):
    return log_predictive_without(lik, k, i)


@log_weights.register(GeneralNIW)
def _log_weights(lik, i, own, beta, slack, partition):
    log_prior, empty = partition.log_prior, partition.n_blocks[0]
    count, floor, first = 0, -math.inf, empty
    fresh = log_prior[empty] + beta * lik.log_empty[i]
    if own >= 0 and log_prior[own] > -math.inf:
        first = own
        score = _without(lik, own, i)
        if score == -math.inf:
            score = log_predictive_of_extreme(lik, own, i, partition.labels, own)
        weight = log_prior[own] + beta * score
        count, floor = append_candidate(partition, count, own, weight), weight - slack
    elif fresh > -math.inf:
        count, floor = append_candidate(partition, count, empty, fresh), fresh - slack
    for k in range(empty):
        if k != first and log_weight_bound(lik, k, i, log_prior[k], beta) > floor:
            weight = log_weight_above(lik, k, i, log_prior[k], beta, floor)
            if weight > floor:
                count = append_candidate(partition, count, k, weight)
    if first != empty and fresh > floor:
        count = append_candidate(partition, count, empty, fresh)
    return count


@screen_rows.register(GeneralNIW)
def _screen_rows(lik, start, stop, partition, screen):
    n_columns, forms = min(LANES, lik.X.shape[1]), screen.forms
    for r in range(stop - start):
        for a in range(n_columns):
            forms.columns[a, r] = lik.X[start + r, a]
    screen.top[:] = -math.inf
    for k in range(partition.n_blocks[0] + 1):
        add_steps(lik.mean[k], lik.inv_chol[k], 0, n_columns, forms)
        _bounds_of_slot(lik, k, partition.log_prior[k], screen)


@kernel
def _bounds_of_slot(lik, k, log_prior, screen):
    """Upper bounds of all rows of the screen in one slot: the weights, if all columns count."""
    m, bounds, top, total = lik.size[k], screen.bounds[k], screen.top, screen.forms.total
    r0 = lik.prior[0] + m
    scale, half_df = r0 / (r0 + 1.0), 0.5 * (lik.prior[1] + m + 1.0)
    base = log_prior + predictive_normaliser(lik, m) - 0.5 * lik.log_det[k]
    for r in range(ROWS):
        total[r] = 1.0 + scale * total[r]
    set_logs(total, screen.forms.product, bounds)
    for r in range(ROWS):
        bounds[r] = base - half_df * bounds[r]
        top[r] = max(top[r], bounds[r])


@log_weights_of_row.register(GeneralNIW)
def _log_weights_of_row(lik, i, slack, partition, screen, r):
    bounds, top, n_slots = screen.bounds, screen.top[r], partition.n_blocks[0] + 1
    if top == -math.inf:
        return 0
    slots, weights, count = partition.slots, partition.weights, 0
    if lik.X.shape[1] <= LANES:  # The bounds are the weights; branches would be mispredicted.
        for k in range(n_slots):
            slots[count] = k
            weights[count] = bounds[k, r]
            count += bounds[k, r] > top - slack
        return count
    # The slot of the highest bound first: it rules most others out.
    log_prior, likely = partition.log_prior, 0
    while bounds[likely, r] < top:
        likely += 1
    weight = log_weight_above(lik, likely, i, log_prior[likely], 1.0, -math.inf)
    count, floor = append_candidate(partition, 0, likely, weight), weight - slack
    for k in range(n_slots):
        if bounds[k, r] > floor and k != likely:
            weight = log_weight_above(lik, k, i, log_prior[k], 1.0, floor)
            if weight > floor:
                count = append_candidate(partition, count, k, weight)
    return count

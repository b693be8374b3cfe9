"""Kernels of the posterior predictive: load draws into slots, and weight new rows by the slots."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.loading import add_all
from bnpcluster._core.operations import (
    NEGLIGIBLE,
    add,
    clear,
    log_weights,
    take_out,
)
from bnpcluster._core.screening import log_weights_of_row, screen_rows
from bnpcluster._core.vectors import ROWS

LOST = math.exp(-NEGLIGIBLE)  # a part of a membership that rounding loses


class Sums(NamedTuple):
    """Sums over the draws s, by row x; draws have the weights w_s and the densities p_s(x).

    They are relative to the largest term so far, so that nothing overflows or vanishes. Rows that
    have density zero under every draw so far have sums of the w_s instead.

    Attributes
    ----------
    top : ndarray, shape (n_rows,): the largest log w_s p_s(x)
    total : ndarray, shape (n_rows,): sum of w_s p_s(x), relative to exp(top)
    squares : ndarray, shape (n_rows,): sum of their squares, relative to exp(2 top)
    novelty : ndarray, shape (n_rows,): sum of w_s p_s(x, x is in a new block), relative to exp(top)
    scale : ndarray, shape (n_rows,): the largest log w_s p_s(x, x is in block b) of any block b
    membership : ndarray, shape (n_rows, n_clusters)
        Sum of w_s p_s(x, x is in b) |b and c| / |b| by cluster c, relative to exp(scale). A new
        block has no part in it. So rows far from all data keep the ratios of their clusters.
    """

    top: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    novelty: np.ndarray
    scale: np.ndarray
    membership: np.ndarray


def empty_sums(n_rows: int, n_clusters: int) -> Sums:
    """Sums over no draw."""
    zero, least = np.zeros(n_rows), np.full(n_rows, -np.inf)
    return Sums(
        top=least,
        total=zero,
        squares=zero.copy(),
        novelty=zero.copy(),
        scale=least.copy(),
        membership=np.zeros((n_rows, n_clusters)),
    )


@kernel
def add_draws(bound, new, partition, draws, estimate, work, sums):
    """Add draws of positive weight to the sums of every row; `work`: see `new_work`."""
    labels, log_urn, weights = draws
    for r in range(len(weights)):
        if weights[r] > 0.0:
            load_draw(bound, partition, labels[r], log_urn[r])
            set_overlap(labels[r], estimate, work[0], partition.sizes)
            add_to_sums(new, partition, work, weights[r], sums)


@kernel
def load_draw(bound, partition, labels, log_urn):
    """Put all items into the slots of a draw, and the urn weights into `partition.log_prior`.

    Successive draws of a chain differ in few items. If most items keep their slots, only the
    others move.
    """
    current, n_blocks, moved = partition.labels, 0, 0
    for i in range(len(labels)):
        n_blocks = max(n_blocks, np.intp(labels[i]) + 1)
        if current[i] != labels[i]:
            moved += 1
    for k in range(len(log_urn)):
        partition.log_prior[k] = log_urn[k]
    partition.n_blocks[0] = n_blocks
    if 3 * moved > len(labels):
        for k in range(len(log_urn)):
            clear(bound, k)
            partition.sizes[k] = 0
        for i in range(len(labels)):
            current[i] = labels[i]
            partition.sizes[current[i]] += 1
        add_all(bound, current)
        return
    # First all items leave their old slots: a slot must not hold an extreme item and then lose it.
    for i in range(len(labels)):
        old = current[i]
        if old >= 0 and old != labels[i]:
            take_out(bound, old, i, current, old)
            partition.sizes[old] -= 1
            current[i] = -1
    for i in range(len(labels)):
        if current[i] < 0:
            k = np.intp(labels[i])
            add(bound, k, i)
            partition.sizes[k] += 1
            current[i] = k


@kernel
def set_overlap(labels, estimate, overlap, sizes):
    """Set overlap[b, c] to the share of block b's items that are in cluster c of the estimate."""
    overlap[:] = 0.0
    if overlap.shape[1] == 0:  # no memberships are wanted
        return
    for i in range(len(labels)):
        b = labels[i]
        overlap[b, estimate[i]] += 1.0 / sizes[b]


@kernel
def add_to_sums(new, partition, work, draw_weight, sums):
    """Add one draw to the sums of every row."""
    screen = work[1]
    log_draw, n = math.log(draw_weight), len(sums.top)
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        screen_rows(new, start, stop, partition, screen)
        for i in range(start, stop):
            add_row(new, partition, work, i - start, log_draw, sums, i)


@kernel(inline=True)
def add_row(new, partition, work, r, log_draw, sums, i):
    """Add one draw to the sums of row i, which is row r of the screen."""
    overlap, screen = work
    weights, empty = partition.weights, partition.n_blocks[0]
    slack = NEGLIGIBLE
    while True:
        count = log_weights_of_row(new, i, slack, partition, screen, r)
        fresh, nearest = heaviest(partition, count)
        # What is left out is negligible beside the new block, so beside a nearer one, too. Where no
        # block is nearer, their ratios still make the memberships.
        if nearest >= fresh or slack == math.inf:
            break
        slack = math.inf
    largest, density, novelty = max(fresh, nearest), 0.0, 0.0
    if largest != -math.inf:
        set_terms(weights, count, largest, screen.terms)
        for c in range(count):
            density += screen.terms[c]
            if partition.slots[c] == empty:
                novelty = screen.terms[c]
        novelty /= density
        add_to_totals(log_draw + largest + math.log(density), novelty, log_draw, sums, i)
    else:  # A row that is impossible is of a new block, if there may be one.
        if partition.log_prior[empty] > -math.inf:
            novelty = 1.0
        add_to_totals(-math.inf, novelty, log_draw, sums, i)
    if overlap.shape[1]:
        if nearest < largest:
            set_terms(weights, count, nearest, screen.terms)
        add_to_membership(partition, count, nearest, work, log_draw, sums, i)


@kernel(inline=True)
def set_terms(weights, count, largest, terms):
    """Set `terms` to the weights relative to `largest`; what exceeds it counts as 1."""
    for c in range(count):
        terms[c] = 1.0 if weights[c] >= largest else math.exp(weights[c] - largest)


@kernel(inline=True)
def heaviest(partition, count):
    """The log weights of the new block and of the heaviest other block among the candidates."""
    fresh, nearest, empty = -math.inf, -math.inf, partition.n_blocks[0]
    for c in range(count):
        if partition.slots[c] == empty:
            fresh = partition.weights[c]
        else:
            nearest = max(nearest, partition.weights[c])
    return fresh, nearest


@kernel(inline=True)
def add_to_totals(log_term, novelty, log_draw, sums, i):
    """Add a draw to the sums of row i; log_term is log w p(x), or -inf."""
    top, total, squares = sums.top, sums.total, sums.squares
    if log_term > top[i]:
        factor = math.exp(top[i] - log_term)
        total[i] *= factor
        squares[i] *= factor * factor
        sums.novelty[i] *= factor
        top[i] = log_term
    if top[i] == log_term:  # equal infinities have no difference
        term = 1.0 if log_term > -math.inf else math.exp(log_draw)
    else:
        term = math.exp(log_term - top[i])
    total[i] += term
    squares[i] += term * term
    sums.novelty[i] += term * novelty


@kernel(inline=True)
def add_to_membership(partition, count, nearest, work, log_draw, sums, i):
    """Add the blocks among the candidates to the memberships of row i; `nearest` weighs most.

    The terms of the screen are relative to it. As long as no block is possible, all count by their
    prior weights.
    """
    scale, membership, (overlap, screen) = sums.scale, sums.membership, work
    slots, empty = partition.slots, partition.n_blocks[0]
    if log_draw + nearest > scale[i]:
        factor = math.exp(scale[i] - log_draw - nearest)
        for cluster in range(membership.shape[1]):
            membership[i, cluster] *= factor
        scale[i] = log_draw + nearest
    if scale[i] == -math.inf:
        for k in range(empty):
            part = math.exp(log_draw + partition.log_prior[k])
            for cluster in range(membership.shape[1]):
                membership[i, cluster] += part * overlap[k, cluster]
    else:
        factor = math.exp(log_draw + nearest - scale[i])
        for c in range(count):
            k, part = slots[c], factor * screen.terms[c]
            if part > LOST:  # an empty slot has no overlap
                for cluster in range(membership.shape[1]):
                    membership[i, cluster] += part * overlap[k, cluster]


@kernel
def write_log_weights(new, partition, out):
    """Write the log weights of the slots at every new row to the rows of `out`."""
    for i in range(len(out)):
        count = log_weights(new, i, -1, 1.0, math.inf, partition)
        for c in range(count):
            out[i, partition.slots[c]] = partition.weights[c]


@kernel
def write_left_out(bound, partition, log_prior, out):
    """Write log p(item i | all other items and their blocks) to out[i].

    Row b of `log_prior` has the log weights of all slots after an item of block b was taken out.
    """
    for i in range(len(out)):
        own = partition.labels[i]
        for k in range(log_prior.shape[1]):
            partition.log_prior[k] = log_prior[own, k]
        count = log_weights(bound, i, own, 1.0, math.inf, partition)
        top, total = -math.inf, 0.0
        for c in range(count):
            top = max(top, partition.weights[c])
        for c in range(count):
            total += math.exp(partition.weights[c] - top)
        out[i] = top + math.log(total)


@kernel
def add_posteriors(bound, labels, weight, total):
    """Add `weight` times the posterior of every item's slot."""
    for i in range(len(labels)):
        k = labels[i]
        for s in range(total.shape[1]):
            for j in range(bound.span[k, s, 0], bound.span[k, s, 1]):
                total[i, s, j] += weight * bound.posterior[k, s, j]

"""Moves of the particles of a population: Gibbs updates of some items, or new labels."""

from __future__ import annotations

import math

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    add,
    clear,
    copy,
    log_predictive,
    log_predictive_of_member,
    take_out,
)
from bnpcluster.samplers.gibbs import pick
from bnpcluster.samplers.smc.population import HOLES, MOST, TOP, allocate_slot, release


@kernel
def gibbs_updates(lik, population, log_v, sigma, items, uniforms, start, stop):
    """Redraw the blocks of `items` in turn for every particle; return where room ran out, or stop.

    Update t redraws items[t % n] of particle t // n, for n items, by inversion of uniforms[t].
    """
    numbers, n = population.numbers, len(items)
    for t in range(start, stop):
        p = t // n
        spare = len(population.holders) - numbers[TOP] + numbers[HOLES]
        if spare < 2 or population.n_blocks[p] + 1 > population.blocks.shape[1]:
            return t
        gibbs_update(lik, population, log_v, sigma, p, items[t % n], uniforms[t])
    return stop


@kernel
def gibbs_update(lik, population, log_v, sigma, p, i, u):
    """Draw the block of item i of particle p from its full conditional."""
    blocks, n_blocks = population.blocks[p], population.n_blocks[p]
    own = np.intp(population.labels[p, i])
    alone = population.sizes[blocks[own]] == 1
    if alone and n_blocks == 1:
        return  # the only item there is
    n = 0
    for j in range(n_blocks):
        n += population.sizes[blocks[j]]
    weights, labels = population.score, population.labels[p, :n]
    for j in range(n_blocks):
        s, size = np.intp(blocks[j]), population.sizes[blocks[j]]
        if j != own:
            weights[j] = math.log(size - sigma) + log_predictive(lik, s, i)
        elif alone:
            weights[j] = -math.inf
        else:
            score = log_predictive_of_member(lik, s, i, labels, own)
            weights[j] = math.log(size - 1 - sigma) + score
    others = n_blocks - 1 if alone else n_blocks
    weights[n_blocks] = log_v[others + 1] - log_v[others] + log_predictive(lik, 0, i)
    j = pick(weights, n_blocks + 1, u, 0.0)
    if j == own or (alone and j == n_blocks):
        return
    if j == n_blocks:
        open_block(lik, population, p, i)
    else:
        s = owned(lik, population, p, j)
        add(lik, s, i)
        population.sizes[s] += 1
    population.labels[p, i] = j
    leave(lik, population, p, own, i, labels)


@kernel
def owned(lik, population, p, j):
    """Return a slot for block j of particle p that it does not share; copies it if necessary."""
    s = np.intp(population.blocks[p, j])
    if population.holders[s] == 1:
        return s
    t = allocate_slot(population)
    copy(lik, t, s)
    population.sizes[t] = population.sizes[s]
    population.holders[t] = 1
    population.holders[s] -= 1
    population.blocks[p, j] = t
    return t


@kernel
def open_block(lik, population, p, i):
    """Open a block with item i for particle p."""
    t, n_blocks = allocate_slot(population), population.n_blocks[p]
    copy(lik, t, 0)
    add(lik, t, i)
    population.sizes[t] = 1
    population.holders[t] = 1
    population.blocks[p, n_blocks] = t
    population.n_blocks[p] = n_blocks + 1
    population.numbers[MOST] = max(population.numbers[MOST], n_blocks + 1)


@kernel
def leave(lik, population, p, j, i, placed):
    """Remove item i from block j of particle p; if this empties it, the last block becomes j.

    `placed` are the labels of the items that have one.
    """
    if population.sizes[population.blocks[p, j]] > 1:
        s = owned(lik, population, p, j)
        take_out(lik, s, i, placed, j)
        population.sizes[s] -= 1
        return
    release(population, population.blocks[p, j])
    last = population.n_blocks[p] - 1
    population.n_blocks[p] = last
    population.blocks[p, j] = population.blocks[p, last]
    labels = population.labels[p]
    for h in range(len(labels)):
        if labels[h] == last:
            labels[h] = j


@kernel
def set_particle(lik, population, p, labels, n_blocks, n_items):
    """Set the labels of the first `n_items` items of particle p; it shares no blocks then."""
    for j in range(population.n_blocks[p]):
        release(population, population.blocks[p, j])
    for j in range(n_blocks):
        s = allocate_slot(population)
        clear(lik, s)
        population.sizes[s] = 0
        population.holders[s] = 1
        population.blocks[p, j] = s
    population.n_blocks[p] = n_blocks
    population.numbers[MOST] = max(population.numbers[MOST], n_blocks)
    for i in range(n_items):
        s = population.blocks[p, labels[i]]
        population.labels[p, i] = labels[i]
        population.sizes[s] += 1
        add(lik, s, i)


@kernel
def log_prior_ratios(population, log_v, log_w, out):
    """out[p] = log_v[K] + sum_b log_w[n_b] of particle p, for tables of log ratios."""
    for p in range(len(out)):
        out[p] = log_v[population.n_blocks[p]]
        for j in range(population.n_blocks[p]):
            out[p] += log_w[population.sizes[population.blocks[p, j]]]

"""The particles of sequential Monte Carlo: many partitions that share blocks.

All blocks of all particles are slots of one bound likelihood. A block of many particles is one slot
with many *holders*, so the predictive density of an item is computed once for all of them. If some
holders put an item into a shared block, they get one common copy with the item (copy on write), and
the others keep the original. Slot 0 is the empty block of all particles. The labels of a particle
are the positions of its blocks in its row of `blocks`.

The *prior weights* say how likely a particle is to open a block or to join one. They are dispatched
by their class, like a likelihood. They also keep everything that a particle has besides its
partition.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import generic, kernel
from bnpcluster._core.operations import (
    add,
    clear,
    copy,
    log_marginal,
    log_predictive_all,
    padded,
    rename,
)
from bnpcluster._core.state import grown_bound

TOP, HOLES, MOST, RESAMPLED, EVALUATED = range(5)  # entries of `numbers`
SPARSE = 0.25  # share of holes among the slots above which they are filled
ROOM = 16  # initial room for blocks per particle


class Population(NamedTuple):
    """Particles and slots.

    Attributes
    ----------
    holders, sizes : by slot, the number of particles with this block, and its number of items
    score : by slot, the log predictive of the next item, or exp of it relative to the highest
    n_joining, child : by slot, how many holders put the item there, and the copy with the item
    free : slots below numbers[TOP] without holders, as a stack of numbers[HOLES]
    blocks, n_blocks : by particle, its slots and their number
    labels : by particle and item
    log_weight, weight : by particle, and exp of it relative to the highest
    total : by particle, the sum of the weights of its choices
    choice, parent : by particle, scratch
    origin : by particle, its ancestor at the beginning
    log_z : one number, log of the product of the mean weights at all resamplings so far
    numbers : slots in use, holes among them, most blocks of a particle, resamplings, evaluations
    """

    holders: np.ndarray
    sizes: np.ndarray
    score: np.ndarray
    n_joining: np.ndarray
    child: np.ndarray
    free: np.ndarray
    blocks: np.ndarray
    n_blocks: np.ndarray
    labels: np.ndarray
    log_weight: np.ndarray
    weight: np.ndarray
    total: np.ndarray
    choice: np.ndarray
    parent: np.ndarray
    origin: np.ndarray
    log_z: np.ndarray
    numbers: np.ndarray

    @property
    def slot_axis(self) -> dict[str, int]:
        """The arrays that grow with the number of slots."""
        return dict.fromkeys("holders sizes score n_joining child free".split(), 0)


def new_population(n_particles: int, n_items: int, capacity: int = 64) -> Population:
    """Particles without items, with room for `n_items`."""
    width = padded(capacity)
    numbers = np.zeros(5, np.intp)
    numbers[TOP] = 1
    return Population(
        holders=np.zeros(width, np.int32),
        sizes=np.zeros(width, np.int32),
        score=np.zeros(width),
        n_joining=np.zeros(width, np.int32),
        child=np.zeros(width, np.int32),
        free=np.zeros(width, np.int32),
        blocks=np.zeros((n_particles, ROOM), np.int32),
        n_blocks=np.zeros(n_particles, np.int32),
        labels=np.zeros((n_particles, n_items), label_type(n_items)),
        log_weight=np.zeros(n_particles),
        weight=np.ones(n_particles),
        total=np.zeros(n_particles),
        choice=np.zeros(n_particles, np.int32),
        parent=np.zeros(n_particles, np.int32),
        origin=np.arange(n_particles, dtype=np.int32),
        log_z=np.zeros(1),
        numbers=numbers,
    )


def label_type(n_items: int) -> Any:
    """The integer type for labels of up to `n_items` blocks."""
    return np.uint16 if n_items < 2**16 else np.int32


def enlarged(lik: Any, population: Population, further: int) -> tuple[Any, Population]:
    """The same population with twice the room of each kind that is scarce."""
    if scarce(population, further):
        capacity = 2 * len(population.holders)
        lik, population = grown_bound(lik, capacity), grown_bound(population, capacity)
    if crowded(population) or further > population.blocks.shape[1]:
        blocks = population.blocks
        population = population._replace(blocks=np.hstack([blocks, np.zeros_like(blocks)]))
    return lik, population


@generic
def opening(prior_weights, step, p, n_blocks):
    """Prior weight of opening a block, for particle p."""


@generic
def joining(prior_weights, step, p, n_blocks, block, size):
    """Prior weight of joining a block of `size` items, for particle p."""


@generic
def opened(prior_weights, p, n_blocks, rng):
    """Update particle p, which had `n_blocks` blocks and opens one."""


@generic
def inherit(prior_weights, p, parent, n_blocks):
    """Copy to particle p what belongs to its parent, which has `n_blocks` blocks."""


@kernel
def scarce(population, further):
    """Whether an item and `further` other blocks might need more slots than there are."""
    numbers = population.numbers
    held = numbers[TOP] - numbers[HOLES]
    needed = held + min(held, len(population.n_blocks)) + 1 + further
    return needed > len(population.holders)


@kernel
def crowded(population):
    """Whether a particle might open more blocks than it has room for."""
    return population.numbers[MOST] + 1 > population.blocks.shape[1]


@kernel
def allocate_slot(population):
    """Return a slot without holders."""
    numbers = population.numbers
    if numbers[HOLES] > 0:
        numbers[HOLES] -= 1
        return np.intp(population.free[numbers[HOLES]])
    numbers[TOP] += 1
    return numbers[TOP] - 1


@kernel
def release(population, s):
    """Remove a holder of slot s."""
    population.holders[s] -= 1
    if population.holders[s] == 0:
        population.sizes[s] = 0
        population.free[population.numbers[HOLES]] = s
        population.numbers[HOLES] += 1


@kernel
def fill_holes(lik, population):
    """Fill the holes with the last slots, so that one operation evaluates all slots."""
    holders, sizes, moved = population.holders, population.sizes, population.child
    hole, last = 1, population.numbers[TOP] - 1
    while True:
        while hole <= last and holders[hole] > 0:
            hole += 1
        while last >= hole and holders[last] == 0:
            last -= 1
        if hole >= last:
            break
        rename(lik, hole, last)
        holders[hole], sizes[hole] = holders[last], sizes[last]
        holders[last], sizes[last] = 0, 0
        moved[last] = hole
    for p in range(len(population.n_blocks)):
        for j in range(population.n_blocks[p]):
            if moved[population.blocks[p, j]] > 0:
                population.blocks[p, j] = moved[population.blocks[p, j]]
    for s in range(population.numbers[TOP]):
        moved[s] = 0
    population.numbers[TOP] = hole
    population.numbers[HOLES] = 0


@kernel
def score_item(lik, population, i):
    """Set score[s] to the log predictive of item i, which is in no slot, for all slots."""
    numbers = population.numbers
    if numbers[HOLES] > SPARSE * numbers[TOP]:
        fill_holes(lik, population)
    log_predictive_all(lik, i, 0, numbers[TOP], population.score)
    numbers[EVALUATED] += numbers[TOP]


@kernel
def highest(population, prior_weights, step):
    """Highest score of a slot that a particle of positive weight may choose."""
    score, top = population.score, -math.inf
    for p in range(len(population.n_blocks)):
        if population.log_weight[p] > -math.inf:
            n_blocks = population.n_blocks[p]
            if score[0] > top and opening(prior_weights, step, p, n_blocks) > 0.0:
                top = score[0]
            for j in range(n_blocks):
                top = max(top, score[population.blocks[p, j]])
    return top


@kernel
def update_weights(population, prior_weights, step):
    """Multiply the weights by the predictive density of the scored item.

    total[p] = opening * f(item | empty block) + sum_b joining * f(item | b), relative to exp(top)
    """
    score, blocks, holders = population.score, population.blocks, population.holders
    top = highest(population, prior_weights, step)
    for s in range(population.numbers[TOP]):
        if s == 0 or holders[s] > 0:
            score[s] = math.exp(min(score[s] - top, 0.0))
    for p in range(len(population.n_blocks)):
        n_blocks = population.n_blocks[p]
        total = opening(prior_weights, step, p, n_blocks) * score[0]
        for j in range(n_blocks):
            s = blocks[p, j]
            total += joining(prior_weights, step, p, n_blocks, j, population.sizes[s]) * score[s]
        population.total[p] = total
        # If the sum underflows, the weight is negligible next to that of the best particle.
        population.log_weight[p] += math.log(total) + top if total > 0.0 else -math.inf


@kernel
def allocate_item(lik, population, prior_weights, step, i, rng):
    """Let every particle put item i into one of its blocks or a new one, drawn by weight."""
    for p in range(len(population.n_blocks)):
        j = draw_block(population, prior_weights, step, p, rng.random())
        population.choice[p] = j
        population.labels[p, i] = j
        population.n_joining[population.blocks[p, j] if j < population.n_blocks[p] else 0] += 1
    for p in range(len(population.n_blocks)):
        j, n_blocks = population.choice[p], population.n_blocks[p]
        opens = j == n_blocks
        s = np.intp(0) if opens else np.intp(population.blocks[p, j])
        t = with_item(lik, population, s, i)
        if opens:
            opened(prior_weights, p, n_blocks, rng)
            population.n_blocks[p] = n_blocks + 1
            population.numbers[MOST] = max(population.numbers[MOST], n_blocks + 1)
        if t != s:
            population.holders[t] += 1
            population.blocks[p, j] = t
            if not opens:
                population.holders[s] -= 1
    for s in range(population.numbers[TOP]):
        population.child[s] = 0
        population.n_joining[s] = 0


@kernel
def draw_block(population, prior_weights, step, p, u):
    """Draw the block that particle p chooses, by inversion of u."""
    score, n_blocks, last = population.score, population.n_blocks[p], 0
    u *= population.total[p]
    for j in range(n_blocks):
        s = population.blocks[p, j]
        weight = joining(prior_weights, step, p, n_blocks, j, population.sizes[s]) * score[s]
        if weight > 0.0:
            last = j
            u -= weight
            if u < 0.0:
                return j
    return n_blocks if opening(prior_weights, step, p, n_blocks) * score[0] > 0.0 else last


@kernel
def with_item(lik, population, s, i):
    """Return the slot with the items of slot s and item i, which all particles share."""
    t = np.intp(population.child[s])
    if t > 0:
        return t
    t = s
    if s == 0 or population.n_joining[s] < population.holders[s]:
        t = allocate_slot(population)
        copy(lik, t, s)
        population.sizes[t] = population.sizes[s]
        population.holders[t] = 0
    add(lik, t, i)
    population.sizes[t] += 1
    population.child[s] = t
    return t


@kernel
def copy_parents(population, prior_weights, n_items):
    """Make every particle a copy of its parent; parents are their own parents."""
    parent, blocks, labels = population.parent, population.blocks, population.labels
    for p in range(len(parent)):
        a = parent[p]
        if a == p:
            continue
        # Hold the slots of the parent first, so that a common one is not released in between.
        for j in range(population.n_blocks[a]):
            population.holders[blocks[a, j]] += 1
        for j in range(population.n_blocks[p]):
            release(population, blocks[p, j])
        for j in range(population.n_blocks[a]):
            blocks[p, j] = blocks[a, j]
        population.n_blocks[p] = population.n_blocks[a]
        population.total[p] = population.total[a]
        population.origin[p] = population.origin[a]
        for i in range(n_items):
            labels[p, i] = labels[a, i]
        inherit(prior_weights, p, a, population.n_blocks[a])


@kernel
def refill(lik, population, n_items):
    """Recompute the statistics of all slots, each from the labels of one of its holders."""
    clear(lik, 0)
    for p in range(len(population.n_blocks)):
        for j in range(population.n_blocks[p]):
            s = population.blocks[p, j]
            if population.child[s] == 0:
                population.child[s] = 1
                clear(lik, s)
                for i in range(n_items):
                    if population.labels[p, i] == j:
                        add(lik, s, i)
    for s in range(population.numbers[TOP]):
        population.child[s] = 0


@kernel
def log_joints(lik, population, log_v, log_w, out):
    """out[p] = log p(data, partition) of particle p; the tables are for all present items."""
    for s in range(1, population.numbers[TOP]):
        if population.holders[s] > 0:
            population.score[s] = log_marginal(lik, s) + log_w[population.sizes[s]]
    for p in range(len(out)):
        out[p] = log_v[population.n_blocks[p]]
        for j in range(population.n_blocks[p]):
            out[p] += population.score[population.blocks[p, j]]

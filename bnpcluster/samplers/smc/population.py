"""Many partitions at once: the particles of sequential Monte Carlo, whose blocks are shared.

All blocks of all particles are slots of one bound likelihood. A block of many particles is one slot
with many *holders*: what it predicts of an item is computed once for all of them. Particles that
put an item into a shared block get one copy of it with the item (copy on write), and the others
keep the original. Slot 0 is the empty block of all of them. The labels of a particle are the
places of its blocks in its row of `blocks`.

How likely a particle is to open a block, or to join one, is the affair of a *law*, dispatched by
its class like a likelihood; and so is whatever a particle knows besides its partition.
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
SPARSE = 0.25  # the share of holes among the slots at which they are filled
ROOM = 16  # blocks of a particle that there is room for to begin with


class Population(NamedTuple):
    """Particles, and what is known of every slot.

    Attributes
    ----------
    holders, sizes : by slot, how many particles have it as a block, and of how many items
    score : by slot, the log predictive of the next item, or exp of it relative to the highest
    taken, child : by slot, how many of the holders put the item there, and the copy that holds it
    free : slots below numbers[TOP] that nobody holds, as a stack of numbers[HOLES]
    blocks, n_blocks : by particle, its slots and how many
    labels : by particle and item
    log_weight, weight : by particle, and exp of it relative to the highest
    total : by particle, the sum of the weights of its choices
    choice, parent : by particle, scratch
    origin : by particle, its ancestor at the beginning
    log_z : one number, log of the product of the mean weights at all resamplings so far
    numbers : slots in use and holes below, the most blocks of a particle, resamplings, evaluations
    """

    holders: np.ndarray
    sizes: np.ndarray
    score: np.ndarray
    taken: np.ndarray
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
        return dict.fromkeys("holders sizes score taken child free".split(), 0)


def new_population(n_particles: int, n_items: int, capacity: int = 64) -> Population:
    """Particles without items; `n_items` is how many will come."""
    width = padded(capacity)
    numbers = np.zeros(5, np.intp)
    numbers[TOP] = 1
    return Population(
        holders=np.zeros(width, np.int32),
        sizes=np.zeros(width, np.int32),
        score=np.zeros(width),
        taken=np.zeros(width, np.int32),
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
    """The integers that number up to so many blocks."""
    return np.uint16 if n_items < 2**16 else np.int32


def enlarged(lik: Any, population: Population, further: int) -> tuple[Any, Population]:
    """The same population with twice the room, of the kinds of room that are scarce."""
    if scarce(population, further):
        capacity = 2 * len(population.holders)
        lik, population = grown_bound(lik, capacity), grown_bound(population, capacity)
    if crowded(population) or further > population.blocks.shape[1]:
        blocks = population.blocks
        population = population._replace(blocks=np.hstack([blocks, np.zeros_like(blocks)]))
    return lik, population


@generic
def opening(law, step, p, n_blocks):
    """Weight of opening a block, for particle p."""


@generic
def joining(law, step, p, n_blocks, block, size):
    """Weight of joining a block of so many items, for particle p."""


@generic
def opened(law, p, n_blocks, rng):
    """Particle p, which had so many blocks, opens one."""


@generic
def inherit(law, p, parent, n_blocks):
    """Particle p becomes like its parent, which has so many blocks."""


@kernel
def scarce(population, further):
    """Whether an item might need more slots than there are, with so many `further` ones."""
    numbers = population.numbers
    held = numbers[TOP] - numbers[HOLES]
    needed = held + min(held, len(population.n_blocks)) + 1 + further
    return needed > len(population.holders)


@kernel
def crowded(population):
    """Whether a particle might open more blocks than there is room for."""
    return population.numbers[MOST] + 1 > population.blocks.shape[1]


@kernel
def take(population):
    """A slot that nobody holds."""
    numbers = population.numbers
    if numbers[HOLES] > 0:
        numbers[HOLES] -= 1
        return np.intp(population.free[numbers[HOLES]])
    numbers[TOP] += 1
    return numbers[TOP] - 1


@kernel
def release(population, s):
    """A particle gives up slot s."""
    population.holders[s] -= 1
    if population.holders[s] == 0:
        population.sizes[s] = 0
        population.free[population.numbers[HOLES]] = s
        population.numbers[HOLES] += 1


@kernel
def compact(lik, population):
    """Fill the holes with the last slots, so that all slots are evaluated in one go."""
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
def predict(lik, population, i):
    """score[s]: the log predictive of item i, which no slot holds, for all slots."""
    numbers = population.numbers
    if numbers[HOLES] > SPARSE * numbers[TOP]:
        compact(lik, population)
    log_predictive_all(lik, i, 0, numbers[TOP], population.score)
    numbers[EVALUATED] += numbers[TOP]


@kernel
def highest(population, law, step):
    """The highest score of a slot that a particle of positive weight may choose."""
    score, top = population.score, -math.inf
    for p in range(len(population.n_blocks)):
        if population.log_weight[p] > -math.inf:
            n_blocks = population.n_blocks[p]
            if score[0] > top and opening(law, step, p, n_blocks) > 0.0:
                top = score[0]
            for j in range(n_blocks):
                top = max(top, score[population.blocks[p, j]])
    return top


@kernel
def weigh(population, law, step):
    """Multiply the weights by the predictive of the item that was scored.

    total[p] = opening * f(item | empty block) + sum_b joining * f(item | b), relative to exp(top)
    """
    score, blocks, holders = population.score, population.blocks, population.holders
    top = highest(population, law, step)
    for s in range(population.numbers[TOP]):
        if s == 0 or holders[s] > 0:
            score[s] = math.exp(min(score[s] - top, 0.0))
    for p in range(len(population.n_blocks)):
        n_blocks = population.n_blocks[p]
        total = opening(law, step, p, n_blocks) * score[0]
        for j in range(n_blocks):
            s = blocks[p, j]
            total += joining(law, step, p, n_blocks, j, population.sizes[s]) * score[s]
        population.total[p] = total
        # A sum that underflows belongs to a particle that weighs nothing next to the best one.
        population.log_weight[p] += math.log(total) + top if total > 0.0 else -math.inf


@kernel
def extend(lik, population, law, step, i, rng):
    """Every particle puts item i into one of its blocks or a new one, in proportion to weight."""
    for p in range(len(population.n_blocks)):
        j = drawn(population, law, step, p, rng.random())
        population.choice[p] = j
        population.labels[p, i] = j
        population.taken[population.blocks[p, j] if j < population.n_blocks[p] else 0] += 1
    for p in range(len(population.n_blocks)):
        j, n_blocks = population.choice[p], population.n_blocks[p]
        opens = j == n_blocks
        s = np.intp(0) if opens else np.intp(population.blocks[p, j])
        t = with_item(lik, population, s, i)
        if opens:
            opened(law, p, n_blocks, rng)
            population.n_blocks[p] = n_blocks + 1
            population.numbers[MOST] = max(population.numbers[MOST], n_blocks + 1)
        if t != s:
            population.holders[t] += 1
            population.blocks[p, j] = t
            if not opens:
                population.holders[s] -= 1
    for s in range(population.numbers[TOP]):
        population.child[s] = 0
        population.taken[s] = 0


@kernel
def drawn(population, law, step, p, u):
    """The block that particle p chooses by inversion of u."""
    score, n_blocks, last = population.score, population.n_blocks[p], 0
    u *= population.total[p]
    for j in range(n_blocks):
        s = population.blocks[p, j]
        weight = joining(law, step, p, n_blocks, j, population.sizes[s]) * score[s]
        if weight > 0.0:
            last = j
            u -= weight
            if u < 0.0:
                return j
    return n_blocks if opening(law, step, p, n_blocks) * score[0] > 0.0 else last


@kernel
def with_item(lik, population, s, i):
    """The slot that holds slot s and item i, made once for all particles that need it."""
    t = np.intp(population.child[s])
    if t > 0:
        return t
    t = s
    if s == 0 or population.taken[s] < population.holders[s]:
        t = take(population)
        copy(lik, t, s)
        population.sizes[t] = population.sizes[s]
        population.holders[t] = 0
    add(lik, t, i)
    population.sizes[t] += 1
    population.child[s] = t
    return t


@kernel
def descend(population, law, n_items):
    """Every particle becomes like its parent; parents are their own parents."""
    parent, blocks, labels = population.parent, population.blocks, population.labels
    for p in range(len(parent)):
        a = parent[p]
        if a == p:
            continue
        # The slots of the parent first, lest one that both hold is given up in between.
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
        inherit(law, p, a, population.n_blocks[a])


@kernel
def refill(lik, population, n_items):
    """Recompute the statistics of all slots from the labels of a particle that holds them."""
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
def log_joint(lik, population, log_v, log_w, out):
    """out[p] = log p(data, partition) of particle p; the tables are those of all items present."""
    for s in range(1, population.numbers[TOP]):
        if population.holders[s] > 0:
            population.score[s] = log_marginal(lik, s) + log_w[population.sizes[s]]
    for p in range(len(out)):
        out[p] = log_v[population.n_blocks[p]]
        for j in range(population.n_blocks[p]):
            out[p] += population.score[population.blocks[p, j]]

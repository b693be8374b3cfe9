"""Conditional sequential Monte Carlo over the partitions of the items of a few blocks.

The particles first place the anchors, which may open blocks. They then place the other items, which
join one of the anchors' blocks. Particle 1 retraces the present labels. Equal particles are kept as
one *group*, which costs as much as one particle. A group divides when its particles choose
differently. The blocks of group s are the slots base + s A .. base + s A + A - 1, for A anchors.

Let gamma be the target of a partial partition. The basic intermediate targets are gamma. The
improved ones delay the prior and the target of the anchors: they are 1 until all anchors are
placed, and then gamma(anchors)^(zeta - 1) gamma, where zeta grows linearly from 0 to 1. If the
blocks contain only the anchors, the target is gamma from the last anchor on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import add, clear, copy, log_marginal, log_predictive


class Swarm(NamedTuple):
    """Groups of equal particles, and what each of them chose."""

    free: np.ndarray  # particles of a group, without particle 1
    log_weight: np.ndarray  # of each of its particles
    log_gamma: np.ndarray  # of the partition of its anchors, when all of them are placed
    n_blocks: np.ndarray
    drawn: np.ndarray  # particles of a group after resampling
    alive: np.ndarray  # the groups in use
    unused: np.ndarray  # the other group numbers, as a stack
    numbers: np.ndarray  # how many are alive, how many unused; the group of particle 1; base; basic
    chance: np.ndarray  # by choice of a group: its weight
    n_choosing: np.ndarray  # by choice of a group: how many particles make it
    path: np.ndarray  # the slot each block of particle 1 has in the state
    choices: np.ndarray  # by time and group: the block joined, n_blocks if it was opened
    parents: np.ndarray  # by time and group: the group of the time before
    before: np.ndarray  # by time: the slot of the item in the state


ALIVE, UNUSED, FIRST, BASE, BASIC = range(5)
TARGETS = {"improved": 0, "basic": 1}


def new_swarm(n_particles: int, n_anchors: int, n_items: int, basic: int = 0) -> Swarm:
    """Room for `n_particles` particles that place up to `n_items` items."""
    shape = (n_items, n_particles)
    return Swarm(
        free=np.zeros(n_particles, np.intp),
        log_weight=np.zeros(n_particles),
        log_gamma=np.zeros(n_particles),
        n_blocks=np.zeros(n_particles, np.intp),
        drawn=np.zeros(n_particles, np.intp),
        alive=np.zeros(n_particles, np.intp),
        unused=np.zeros(n_particles, np.intp),
        numbers=np.array([0, 0, 0, 0, basic], np.intp),
        chance=np.zeros(n_anchors + 1),
        n_choosing=np.zeros(n_anchors + 1, np.intp),
        path=np.zeros(n_anchors, np.intp),
        choices=np.zeros(shape, np.int8),
        parents=np.zeros(shape, np.int32),
        before=np.zeros(n_items, np.intp),
    )


@kernel
def start_swarm(swarm, base):
    """Put all particles into one group without items."""
    n_particles = len(swarm.free)
    swarm.numbers[ALIVE] = 1
    swarm.numbers[UNUSED] = n_particles - 1
    swarm.numbers[FIRST] = 0
    swarm.numbers[BASE] = base
    for s in range(1, n_particles):
        swarm.unused[s - 1] = n_particles - s
    swarm.alive[0] = 0
    swarm.free[0] = n_particles - 1
    swarm.log_weight[0] = 0.0
    swarm.log_gamma[0] = 0.0
    swarm.n_blocks[0] = 0


@kernel
def binomial(n, p, rng):
    """Draw the number of successes in n trials, by inversion."""
    if n == 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if n == 1:
        return int(rng.random() < p)
    rare = min(p, 1.0 - p)
    done = successes = 0
    while done < n:
        # In parts, so that the probability of no success does not underflow.
        m = min(n - done, 500)
        mass, u, k = math.exp(m * math.log1p(-rare)), rng.random(), 0
        while k < m:
            u -= mass
            if u < 0.0:
                break
            mass *= (m - k) / (k + 1.0) * rare / (1.0 - rare)
            k += 1
        successes += k
        done += m
    return successes if rare == p else n - successes


@kernel(inline=True)
def divide_group(problem, partition, swarm, s, t, h, n_choices, total, forced, rng):
    """Let each particle of group s choose a block for item h at time t.

    Its probability is proportional to `chance`, which sums to `total`. `forced` is the choice of
    particle 1 if it is in the group, else -1.
    """
    lik, sizes, n_choosing = problem.likelihood, partition.sizes, swarm.n_choosing
    n_anchors, base = len(swarm.path), swarm.numbers[BASE]
    left, keeper, last = swarm.free[s], -1, 0
    for c in range(n_choices):
        if swarm.chance[c] > 0.0:
            last = c
    for c in range(n_choices):
        n_choosing[c] = left if c == last else binomial(left, swarm.chance[c] / total, rng)
        left -= n_choosing[c]
        total = max(total - swarm.chance[c], 1e-300)
        if n_choosing[c] > 0 or c == forced:
            keeper = c
    for c in range(keeper + 1):
        if n_choosing[c] == 0 and c != forced:
            continue
        to = s
        if c != keeper:
            swarm.numbers[UNUSED] -= 1
            to = swarm.unused[swarm.numbers[UNUSED]]
            swarm.alive[swarm.numbers[ALIVE]] = to
            swarm.numbers[ALIVE] += 1
            swarm.log_weight[to] = swarm.log_weight[s]
            swarm.log_gamma[to] = swarm.log_gamma[s]
            swarm.n_blocks[to] = swarm.n_blocks[s]
            for b in range(swarm.n_blocks[s]):
                copy(lik, base + to * n_anchors + b, base + s * n_anchors + b)
                sizes[base + to * n_anchors + b] = sizes[base + s * n_anchors + b]
        swarm.free[to] = n_choosing[c]
        if c == forced:
            swarm.numbers[FIRST] = to
        swarm.choices[t, to] = c
        swarm.parents[t, to] = s
        slot = base + to * n_anchors + c
        if c == swarm.n_blocks[to]:
            clear(lik, slot)
            sizes[slot] = 0
            swarm.n_blocks[to] = c + 1
        add(lik, slot, h)
        sizes[slot] += 1


@kernel(inline=True)
def choice_of_first(swarm, n_path, slot):
    """The block of particle 1 for a slot of the state; n_path if particle 1 opens it."""
    for b in range(n_path):
        if swarm.path[b] == slot:
            return b
    swarm.path[n_path] = slot
    return n_path


@kernel(inline=True)
def place_item(problem, partition, swarm, t, n, h, n_others, forced, rng):
    """Let all particles place item h, number t of n; n_others other blocks stay as they are.

    An anchor may open a block. Under the improved targets, as long as anchors remain, the target is
    1 where the prior allows the partition. Afterwards each item adds a share of log gamma(anchors).
    """
    lik, log_v, log_w, beta = problem.likelihood, problem.log_v, problem.log_w, problem.beta
    sizes, chance, n_anchors = partition.sizes, swarm.chance, len(swarm.path)
    basic = swarm.numbers[BASIC] == 1
    share = 1.0 / (n - n_anchors) if t >= n_anchors and not basic else 0.0
    for a in range(swarm.numbers[ALIVE]):
        s = swarm.alive[a]
        n_blocks, top, first = swarm.n_blocks[s], -math.inf, swarm.numbers[BASE] + s * n_anchors
        n_choices = n_blocks + int(t < n_anchors)
        before = 0.0
        if basic and 0 < t < n_anchors:
            before = -log_v[n_blocks + n_others]
        elif t == n - 1 < n_anchors:
            before = log_blocks(problem, sizes, first, n_blocks)
        for c in range(n_choices):
            # The empty slot K represents a block that is not yet open.
            slot = first + c if c < n_blocks else partition.n_blocks[0]
            m = sizes[slot] if c < n_blocks else 0
            value = 0.0
            if basic or t >= n_anchors or t == n - 1:
                value = before + log_w[m + 1] - log_w[m] + beta * log_predictive(lik, slot, h)
            if t < n_anchors:
                v = log_v[max(n_blocks, c + 1) + n_others]
                value += v if basic or t == n - 1 or v == -math.inf else 0.0
            chance[c] = value
            top = max(top, value)
        total = 0.0
        for c in range(n_choices):
            chance[c] = math.exp(chance[c] - top) if chance[c] < top else 1.0
            total += chance[c]
        swarm.log_weight[s] += share * swarm.log_gamma[s] + top
        if n_choices > 1:
            swarm.log_weight[s] += math.log(total)
        choice = forced if s == swarm.numbers[FIRST] else -1
        divide_group(problem, partition, swarm, s, t, h, n_choices, total, choice, rng)


@kernel
def log_blocks(problem, sizes, first, n_blocks):
    """sum over a group's blocks of log W + beta log m"""
    value = 0.0
    for k in range(first, first + n_blocks):
        value += problem.log_w[sizes[k]] + problem.beta * log_marginal(problem.likelihood, k)
    return value


@kernel
def end_anchors(problem, partition, swarm, n_others):
    """Compute log gamma of the anchors' partition for each group, after the last anchor."""
    for a in range(swarm.numbers[ALIVE]):
        s = swarm.alive[a]
        first = swarm.numbers[BASE] + s * len(swarm.path)
        value = log_blocks(problem, partition.sizes, first, swarm.n_blocks[s])
        swarm.log_gamma[s] = value + problem.log_v[swarm.n_blocks[s] + n_others]


@kernel
def scale_group_weights(swarm):
    """Scale the weights so that the largest is 1; return the relative effective sample size."""
    alive, log_weight, top = swarm.alive, swarm.log_weight, -math.inf
    for a in range(swarm.numbers[ALIVE]):
        top = max(top, log_weight[alive[a]])
    total = squares = 0.0
    for a in range(swarm.numbers[ALIVE]):
        s = alive[a]
        log_weight[s] -= top
        weight = math.exp(log_weight[s])
        m = swarm.free[s] + int(s == swarm.numbers[FIRST])
        total += m * weight
        squares += m * weight * weight
    return total * total / (squares * len(swarm.free))


@kernel
def pick_group(swarm, rng):
    """Draw a particle by weight; return its group."""
    total, s = 0.0, 0
    for a in range(swarm.numbers[ALIVE]):
        s = swarm.alive[a]
        total += math.exp(swarm.log_weight[s]) * (swarm.free[s] + int(s == swarm.numbers[FIRST]))
    u = rng.random() * total
    for a in range(swarm.numbers[ALIVE]):
        s = swarm.alive[a]
        u -= math.exp(swarm.log_weight[s]) * (swarm.free[s] + int(s == swarm.numbers[FIRST]))
        if u < 0.0:
            break
    return s


@kernel
def resample_groups(swarm, rng):
    """Draw the ancestors of all particles except particle 1, and make all weights equal.

    Particle 1 is its own ancestor, so systematic draws would not be valid: draws are independent.
    """
    for s in range(len(swarm.free)):
        swarm.drawn[s] = 0
    for _ in range(len(swarm.free) - 1):
        swarm.drawn[pick_group(swarm, rng)] += 1
    kept = 0
    for a in range(swarm.numbers[ALIVE]):
        s = swarm.alive[a]
        swarm.free[s] = swarm.drawn[s]
        swarm.log_weight[s] = 0.0
        if swarm.drawn[s] > 0 or s == swarm.numbers[FIRST]:
            swarm.alive[kept] = s
            kept += 1
        else:
            swarm.unused[swarm.numbers[UNUSED]] = s
            swarm.numbers[UNUSED] += 1
    swarm.numbers[ALIVE] = kept


@kernel
def place_all(problem, partition, swarm, items, n, n_others, threshold, rng):
    """Place items[:n], the anchors first; return the group of the particle drawn at the end."""
    n_anchors, n_path, group = len(swarm.path), 0, swarm.numbers[FIRST]
    for t in range(n):
        slot = partition.labels[items[t]]
        swarm.before[t] = slot
        forced = choice_of_first(swarm, n_path, slot)
        n_path = max(n_path, forced + 1)
        place_item(problem, partition, swarm, t, n, items[t], n_others, forced, rng)
        group = swarm.numbers[FIRST]
        if t == n_anchors - 1:
            end_anchors(problem, partition, swarm, n_others)
        if t < n - 1 and threshold > 0.0 and scale_group_weights(swarm) < threshold:
            resample_groups(swarm, rng)
        if t >= n_anchors - 1 and swarm.numbers[ALIVE] == 1 and swarm.n_blocks[group] == 1:
            return group  # all particles, also particle 1, are one block: nothing will change
    scale_group_weights(swarm)
    return pick_group(swarm, rng)


@kernel
def trace_back(swarm, group, n, sides):
    """Set sides[t] to the block of item t in the chosen group."""
    for t in range(n - 1, -1, -1):
        sides[t] = swarm.choices[t, group]
        group = swarm.parents[t, group]

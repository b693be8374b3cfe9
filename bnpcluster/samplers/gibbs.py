"""Collapsed Gibbs sampling (Neal 2000, algorithm 3), for every prior and every likelihood."""

from __future__ import annotations

import math

import numpy as np

from bnpcluster._jit import kernel
from bnpcluster._ops import NEGLIGIBLE, log_weights
from bnpcluster._partition import full, move
from bnpcluster._state import State
from bnpcluster.samplers.base import Sampler


class Gibbs(Sampler):
    """Collapsed Gibbs sampling: one iteration redraws the cluster of every item in turn.

    Each item moves to a cluster, or to a new one, with its full conditional probability: prior
    weight times the predictive density given the cluster's other items. Serves every prior and
    every likelihood. It finds its way slowly where whole clusters must split or merge.

    References
    ----------
    Neal, R. M. (2000). Markov chain sampling methods for Dirichlet process mixture models.
    Journal of Computational and Graphical Statistics 9, 249-265 (algorithm 3).

    Examples
    --------
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import Gibbs
    >>> DPMixture(sampler=Gibbs()).get_params()["sampler"]
    Gibbs()
    """

    requires = ("clear", "add", "remove", "rename", "log_weights")

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """One sweep over all items."""
        state.visit(sweep, rng)
        return {"sweeps": 1}


@kernel(inline=True)
def pick(weights, count, u):
    """Index c with probability prop exp(weights[c]), by inversion of u; overwrites the weights."""
    top = -math.inf
    for c in range(count):
        top = max(top, weights[c])
    total = 0.0
    for c in range(count):
        weights[c] = math.exp(weights[c] - top)
        total += weights[c]
    u *= total
    for c in range(count - 1):
        u -= weights[c]
        if u < 0.0:
            return c
    return count - 1


@kernel(inline=True)
def candidates(problem, partition, i, own, u):
    """List the slots that matter to the choice u of item i; return how many.

    The reference comes first in the order of inversion. It is chosen if the others together weigh
    less than (1 - u) / u times as much: if each lies `slack` below it, for the slack that
    follows from u, nobody needs their exact weights. This is the outcome for most items.
    """
    slack = math.log((partition.n_blocks[0] + 1) * u / (1.0 - u))
    while True:
        count = log_weights(problem.likelihood, i, own, problem.beta, slack, partition)
        if count <= 1 or slack >= NEGLIGIBLE:
            return count
        slack = NEGLIGIBLE


@kernel(inline=True)
def seen_by(problem, partition, own):
    """Let log_prior be what an item of slot `own` sees in its absence; return own's former entry.

    An item that is alone sees its slot as the empty one, whose number is K.
    """
    log_v, log_w, log_prior = problem.log_v, problem.log_w, partition.log_prior
    others, kept = partition.n_blocks[0], 0.0
    if own >= 0:
        m = partition.sizes[own]
        others -= int(m == 1)
        kept = log_prior[own]
        log_prior[own] = -math.inf if m == 1 else log_w[m] - log_w[m - 1]
    log_prior[partition.n_blocks[0]] = log_v[others + 1] - log_v[others] + log_w[1]
    return kept


@kernel(inline=True)
def choose(problem, partition, i, u):
    """The slot of item i, drawn from its full conditional by inversion of u; K: a new block."""
    own = partition.labels[i]
    kept = seen_by(problem, partition, own)
    count = candidates(problem, partition, i, own, u)
    if own >= 0:
        partition.log_prior[own] = kept
    k = partition.slots[pick(partition.weights, count, u)] if count > 1 else partition.slots[0]
    alone = own >= 0 and partition.sizes[own] == 1
    return own if alone and k == partition.n_blocks[0] else k


@kernel
def sweep(problem, partition, uniforms, start, stop):
    """Redraw the slots of items[start:stop] in turn; return where room ran out, or stop.

    The choice of items[start + j] is made by inversion of uniforms[j].
    """
    for j in range(start, stop):
        if full(partition):
            return j
        i = problem.items[j]
        k = choose(problem, partition, i, uniforms[j - start])
        if k != partition.labels[i]:
            move(problem, partition, i, k)
    return stop

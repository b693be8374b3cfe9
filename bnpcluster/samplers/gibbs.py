"""Collapsed Gibbs sampling (Neal 2000, algorithm 3), for every prior and every likelihood."""

from __future__ import annotations

import math

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import NEGLIGIBLE, log_weights
from bnpcluster._core.partition import is_full, move_item
from bnpcluster._core.state import State
from bnpcluster.samplers.base import Sampler


class Gibbs(Sampler):
    """Collapsed Gibbs sampling: one iteration redraws the cluster of every item in turn.

    Each item moves to a cluster, or to a new one, with its full conditional probability: prior
    weight times the predictive density given the cluster's other items. Works with every prior and
    every likelihood. It mixes slowly if whole clusters must split or merge.

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
        """Make one sweep over all items."""
        state.visit(sweep, rng)
        return {"sweeps": 1}


# Nats added to the slack that the uniform of an item needs, so that its list of slots is rarely
# too short, and nats by which the list then widens.
AHEAD, SURER = 1.0, 5.0


@kernel(inline=True)
def pick(weights, count, u, left_out):
    """Index c with probability prop exp(weights[c]), by inversion of u; overwrites the weights.

    -1 if weights that are not listed could change the outcome. They could be anywhere after the
    first one, and their sum is at most `left_out` times the first.
    """
    top = -math.inf
    for c in range(count):
        top = max(top, weights[c])
    left_out *= math.exp(weights[0] - top)
    total = 0.0
    for c in range(count):
        weights[c] = math.exp(weights[c] - top)
        total += weights[c]
    above, c = u * total, 0
    while c < count - 1 and above >= weights[c]:
        above -= weights[c]
        c += 1
    if left_out > 0.0 and above + u * left_out >= weights[c]:
        return -1  # it would change if all that is left out came after c
    if c > 0 and above < (1.0 - u) * left_out:
        return -1  # it would change if it came before c
    return c


@kernel(inline=True)
def leave_out(problem, partition, own):
    """Set log_prior as if an item of slot `own` were absent; return the previous entry of `own`.

    If the item is the only one in its slot, slot K takes its place as the empty one.
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
    """The slot of item i, drawn from its full conditional by inversion of u; K: a new block.

    The reference comes first in the order of inversion. It is chosen if the sum of the other
    weights is less than (1 - u) / u times its own. If each is at least `slack` below the reference,
    for the slack that follows from u, their exact weights do not matter. This is so for most items.
    For others the list widens until what it lacks cannot change the choice.
    """
    own = partition.labels[i]
    kept = leave_out(problem, partition, own)
    n_slots = partition.n_blocks[0] + 1
    slack, c = math.log(n_slots * u / (1.0 - u)) + AHEAD, -1
    while c < 0:
        count = log_weights(problem.likelihood, i, own, problem.beta, slack, partition)
        left_out = n_slots * math.exp(-slack) if slack < NEGLIGIBLE else 0.0
        c = pick(partition.weights, count, u, left_out) if count > 1 else 0
        slack = NEGLIGIBLE if slack > SURER else max(slack, 0.0) + SURER
    if own >= 0:
        partition.log_prior[own] = kept
    k = partition.slots[c]
    alone = own >= 0 and partition.sizes[own] == 1
    return own if alone and k == partition.n_blocks[0] else k


@kernel
def sweep(problem, partition, uniforms, start, stop):
    """Redraw the slots of items[start:stop] in turn; return the first one without room, or stop.

    The slot of items[start + j] is drawn by inversion of uniforms[j].
    """
    for j in range(start, stop):
        if is_full(partition):
            return j
        i = problem.items[j]
        k = choose(problem, partition, i, uniforms[j - start])
        if k != partition.labels[i]:
            move_item(problem, partition, i, k)
    return stop

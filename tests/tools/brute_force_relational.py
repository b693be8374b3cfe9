"""An infinite relational model by brute force: a likelihood whose blocks share statistics.

Of a 0/1 graph, every pair of blocks (a block with itself, too) has one probability of an edge, with
a uniform prior. There is nothing but the slot of every vertex; every operation counts edges anew.
"""

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods import Likelihood

ALL = NONE = -2  # of no slot
LOST = -3  # where a vertex goes that is added twice, or taken out of a slot it is not in


class Graph(NamedTuple):
    """A symmetric 0/1 matrix, and the slot of every vertex or -1."""

    A: np.ndarray
    where: np.ndarray

    slot_axis = {"where": ()}


class BruteForceRelational(Likelihood):
    """The infinite relational model with Beta(1, 1) on the probability of an edge."""

    def bind(self, X, capacity=16):
        return Graph(X, np.full(len(X), -1))


@kernel
def home(lik, i, one, two):
    """The slot of vertex i if the block in slot `two` lived in slot `one`."""
    return one if lik.where[i] == two else lik.where[i]


@kernel
def is_first(lik, i, one, two):
    """Whether vertex i is in a block, and the first of it."""
    for j in range(i):
        if home(lik, j, one, two) == home(lik, i, one, two):
            return False
    return lik.where[i] >= 0


@kernel
def log_factor(lik, a, b, one, two):
    """log m(edges between blocks a and b), or within the block a = b."""
    edges, pairs = 0, 0
    for i in range(len(lik.where)):
        for j in range(i):
            slot_i, slot_j = home(lik, i, one, two), home(lik, j, one, two)
            if (slot_i == a and slot_j == b) or (slot_i == b and slot_j == a):
                pairs += 1
                edges += int(lik.A[i, j])
    log_beta = math.lgamma(1.0 + edges) + math.lgamma(1.0 + pairs - edges)
    return log_beta - math.lgamma(2.0 + pairs)


@kernel
def log_factors(lik, p, q, one, two):
    """All factors that touch block p or q (p = ALL: all there are), each once."""
    total = 0.0
    for i in range(len(lik.where)):
        for j in range(i + 1):
            if is_first(lik, i, one, two) and is_first(lik, j, one, two):
                a, b = home(lik, i, one, two), home(lik, j, one, two)
                if p == ALL or a == p or a == q or b == p or b == q:
                    total += log_factor(lik, a, b, one, two)
    return total


@ops.clear.register(Graph)
def clear(lik, k):
    for i in range(len(lik.where)):
        if lik.where[i] == k:
            lik.where[i] = -1


@ops.add.register(Graph)
def add(lik, k, i):
    lik.where[i] = k if lik.where[i] == -1 else LOST


@ops.remove.register(Graph)
def remove(lik, k, i):
    lik.where[i] = -1 if lik.where[i] == k else LOST


ops.restore.register(Graph)(add)
ops.withdraw.register(Graph)(remove)


@ops.rename.register(Graph)
def rename(lik, to, source):
    for i in range(len(lik.where)):
        if lik.where[i] == source:
            lik.where[i] = to


@ops.log_likelihood.register(Graph)
def log_likelihood(lik, n_blocks):
    return log_factors(lik, ALL, ALL, NONE, NONE)


@ops.log_marginal.register(Graph)
def log_marginal(lik, k):
    return log_factors(lik, k, k, NONE, NONE)


@ops.log_marginal_pair.register(Graph)
def log_marginal_pair(lik, one, two):
    return log_factors(lik, one, two, NONE, NONE)


@ops.log_marginal_union.register(Graph)
def log_marginal_union(lik, one, two, spare, labels):
    return log_factors(lik, one, one, one, two)


@ops.log_predictive.register(Graph)
def log_predictive(lik, k, i):
    own = lik.where[i]  # a vertex may be compared with others while it is in a block
    lik.where[i] = k
    total = log_factors(lik, ALL, ALL, NONE, NONE)
    lik.where[i] = -1
    total -= log_factors(lik, ALL, ALL, NONE, NONE)
    lik.where[i] = own
    return total

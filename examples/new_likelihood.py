"""A new likelihood in less than fifty lines: waiting times, exponential within a cluster."""

import math
from typing import NamedTuple

import numpy as np

from bnpcluster._ops import add, clear, copy, log_marginal, log_predictive, remove
from bnpcluster.likelihoods import Likelihood


class Exponential(Likelihood):
    """Per cluster and column ``rate ~ Gamma(a, b)``, integrated out."""

    def __init__(self, *, a=1.0, b=1.0):
        self.a, self.b = a, b

    def bind(self, X, capacity=16):
        sums = np.zeros((capacity, 1 + X.shape[1]))
        return self.rows(WaitingTimes(X, np.array([self.a, self.b]), sums), X)

    def rows(self, bound, X):
        if not (X > 0).all():
            raise ValueError("Waiting times must be positive.")
        return bound._replace(terms=np.column_stack([np.ones(len(X)), X]))

    def sample(self, bound, k, rng):
        (a, b), sums = bound.prior, bound.sums[k]
        return rng.exponential(1 / rng.gamma(a + sums[0], 1 / (b + sums[1:])))


class WaitingTimes(NamedTuple):
    terms: np.ndarray  # by item: a one, and the waiting times
    prior: np.ndarray  # a and b
    sums: np.ndarray  # by slot: of the terms of its items
    slot_axis = {"sums": 0}  # which arrays a chain owns, and the axis of their slots


@clear.register(WaitingTimes)
def _clear(lik, k):
    lik.sums[k, :] = 0.0


@add.register(WaitingTimes)
def _add(lik, k, i):
    for d in range(lik.sums.shape[1]):
        lik.sums[k, d] += lik.terms[i, d]


@remove.register(WaitingTimes)
def _remove(lik, k, i):
    for d in range(lik.sums.shape[1]):
        lik.sums[k, d] -= lik.terms[i, d]


@copy.register(WaitingTimes)
def _copy(lik, to, source):
    for d in range(lik.sums.shape[1]):
        lik.sums[to, d] = lik.sums[source, d]


@log_predictive.register(WaitingTimes)
def _log_predictive(lik, k, i):
    a, value = lik.prior[0] + lik.sums[k, 0], 0.0
    for d in range(1, lik.sums.shape[1]):
        b = lik.prior[1] + lik.sums[k, d]
        value += math.log(a) + a * math.log(b) - (a + 1.0) * math.log(b + lik.terms[i, d])
    return value


@log_marginal.register(WaitingTimes)
def _log_marginal(lik, k):
    a, b, m, value = lik.prior[0], lik.prior[1], lik.sums[k, 0], 0.0
    for d in range(1, lik.sums.shape[1]):
        value += math.lgamma(a + m) - math.lgamma(a) + a * math.log(b)
        value -= (a + m) * math.log(b + lik.sums[k, d])
    return value

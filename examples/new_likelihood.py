"""A new likelihood in forty lines: waiting times, exponential at the rate of their cluster."""

from math import lgamma, log
from typing import NamedTuple

import numpy as np

from bnpcluster.extending import (
    Likelihood,
    add,
    clear,
    copy,
    kernel,
    log_marginal,
    log_predictive,
    remove,
)


class Exponential(Likelihood):
    """All times of a cluster have the same ``rate ~ Gamma(a, b)``, which is integrated out."""

    def __init__(self, *, a=1.0, b=1.0):
        self.a, self.b = a, b

    def bind(self, X, capacity=16):
        return self.rows(WaitingTimes(X, np.array([self.a, self.b]), np.zeros((capacity, 2))), X)

    def rows(self, bound, X):
        if not (X > 0).all():
            raise ValueError("Waiting times must be positive.")
        return bound._replace(terms=np.column_stack([np.full(len(X), X.shape[1]), X.sum(axis=1)]))

    def sample(self, bound, k, rng):
        a, b = bound.prior + bound.sums[k]
        return rng.exponential(1 / rng.gamma(a, 1 / b), size=int(bound.terms[0, 0]))


class WaitingTimes(NamedTuple):
    terms: np.ndarray  # by item: how many times, and their sum
    prior: np.ndarray  # a and b
    sums: np.ndarray  # by slot: of the terms of its items
    slot_axis = {"sums": 0}  # which arrays a chain owns, and the axis of their slots


@clear.register(WaitingTimes)
def _clear(lik, k):
    lik.sums[k, :] = 0.0


@add.register(WaitingTimes)
def _add(lik, k, i):
    lik.sums[k, 0] += lik.terms[i, 0]
    lik.sums[k, 1] += lik.terms[i, 1]


@remove.register(WaitingTimes)
def _remove(lik, k, i):
    lik.sums[k, 0] -= lik.terms[i, 0]
    lik.sums[k, 1] -= lik.terms[i, 1]


@copy.register(WaitingTimes)
def _copy(lik, to, source):
    lik.sums[to, 0], lik.sums[to, 1] = lik.sums[source, 0], lik.sums[source, 1]


@kernel(inline=True)
def log_evidence(a, b, sums):  # of times with these sums, under Gamma(a, b)
    return lgamma(a + sums[0]) - lgamma(a) + a * log(b) - (a + sums[0]) * log(b + sums[1])


@log_predictive.register(WaitingTimes)
def _log_predictive(lik, k, i):
    return log_evidence(lik.prior[0] + lik.sums[k, 0], lik.prior[1] + lik.sums[k, 1], lik.terms[i])


@log_marginal.register(WaitingTimes)
def _log_marginal(lik, k):
    return log_evidence(lik.prior[0], lik.prior[1], lik.sums[k])

"""The posterior predictive of new rows, averaged over the draws of a posterior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._jit import kernel
from bnpcluster._ops import NEGLIGIBLE, add, clear, log_weights
from bnpcluster._partition import Partition, new_partition
from bnpcluster._state import grown_bound
from bnpcluster.likelihoods import Likelihood
from bnpcluster.posterior import Posterior
from bnpcluster.priors import Prior

CHUNK = 65_536  # rows predicted at a time


class Prediction(NamedTuple):
    """What the posterior says of new rows.

    Attributes
    ----------
    log_density : ndarray, shape (n_rows,)
    novelty : ndarray, shape (n_rows,): probability of a new cluster
    membership : ndarray, shape (n_rows, n_clusters): probability of each cluster of the estimate
    """

    log_density: np.ndarray
    novelty: np.ndarray
    membership: np.ndarray


class Fitted(NamedTuple):
    """All that a prediction rests on: bound training data, the draws and the point estimate."""

    likelihood: Likelihood
    bound: Any
    prior: Prior
    posterior: Posterior
    estimate: np.ndarray


class Draw(NamedTuple):
    """One draw of the posterior: its labels, log urn weights of its blocks and of a new one."""

    labels: np.ndarray
    log_urn: np.ndarray
    weight: float


def draws(fitted: Fitted) -> Iterator[Draw]:
    """The draws of positive weight, with the prior at each draw's hyper-parameters."""
    posterior, prior = fitted.posterior, fitted.prior
    for c in range(posterior.n_chains):
        for r in range(posterior.n_draws):
            weight = float(posterior.weights[c, r])
            if weight > 0:
                values = {name: float(posterior.traces[name][c, r]) for name in prior.sampled}
                labels = posterior.labels[c, r].astype(np.intp)
                log_urn = prior.at(**values).predictive(np.bincount(labels))
                yield Draw(labels, log_urn, weight)


def predict(fitted: Fitted, X: np.ndarray) -> Prediction:
    """The posterior predictive at the rows of `X`, which do not influence one another."""
    parts = [_predict(fitted, X[start : start + CHUNK]) for start in range(0, len(X), CHUNK)]
    return Prediction(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _predict(fitted: Fitted, X: np.ndarray) -> Prediction:
    n, n_clusters = len(X), int(fitted.estimate.max()) + 1
    bound, partition = _room(fitted)
    new = fitted.likelihood.rows(bound, X)
    overlap = np.zeros((len(partition.sizes), n_clusters))
    # Running log-sum-exp over draws: the largest term so far, and the sum relative to it.
    top, total = np.full(n, -np.inf), np.zeros(n)
    novelty, membership = np.zeros(n), np.zeros((n, n_clusters))
    for draw in draws(fitted):
        fill(bound, partition, draw.labels, draw.log_urn)
        share_out(draw.labels, fitted.estimate, overlap, partition.sizes)
        accumulate(new, partition, overlap, draw.weight, (top, total, novelty), membership)
    return Prediction(top + np.log(total), novelty, membership)


def _room(fitted: Fitted) -> tuple[Any, Partition]:
    """Bound training data and a partition with room for every draw."""
    capacity = int(fitted.posterior.n_clusters.max()) + 1
    return grown_bound(fitted.bound, capacity), new_partition(0, capacity)


@kernel
def fill(bound, partition, labels, log_urn):
    """Put all items into their slots, and the urn weights where the prior's weights stand."""
    n_blocks = len(log_urn) - 1
    partition.count[0] = n_blocks
    for k in range(n_blocks + 1):
        clear(bound, k)
        partition.sizes[k] = 0
        partition.log_prior[k] = log_urn[k]
    for i in range(len(labels)):
        add(bound, labels[i], i)
        partition.sizes[labels[i]] += 1


@kernel
def share_out(labels, estimate, overlap, sizes):
    """overlap[b, c]: the share of block b's items that lie in cluster c of the estimate."""
    overlap[:] = 0.0
    for i in range(len(labels)):
        b = labels[i]
        overlap[b, estimate[i]] += 1.0 / sizes[b]


@kernel
def accumulate(new, partition, overlap, draw_weight, sums, membership):
    """Add one draw to the sums of every row."""
    top, total, novelty = sums
    slots, weights, empty = partition.slots, partition.weights, partition.count[0]
    for i in range(len(top)):
        count = log_weights(new, i, -1, 1.0, NEGLIGIBLE, partition)
        largest = weights[0]
        for c in range(1, count):
            largest = max(largest, weights[c])
        evidence = 0.0
        for c in range(count):
            weights[c] = math.exp(weights[c] - largest)
            evidence += weights[c]
        for c in range(count):
            share = draw_weight * weights[c] / evidence
            if slots[c] == empty:
                novelty[i] += share
            else:
                for cluster in range(membership.shape[1]):
                    membership[i, cluster] += share * overlap[slots[c], cluster]
        if largest > top[i]:
            total[i] *= math.exp(top[i] - largest)
            top[i] = largest
        total[i] += draw_weight * evidence * math.exp(largest - top[i])


def sample(fitted: Fitted, n: int, rng: np.random.Generator) -> np.ndarray:
    """`n` new rows from the posterior predictive."""
    weights = fitted.posterior.weights.ravel()
    counts = rng.multinomial(n, weights[weights > 0] / weights.sum())
    bound, partition = _room(fitted)
    rows = []
    for draw, count in zip(draws(fitted), counts, strict=True):
        if count == 0:
            continue
        fill(bound, partition, draw.labels, draw.log_urn)
        urn = np.exp(draw.log_urn)
        for k in rng.choice(len(urn), size=count, p=urn / urn.sum()):
            rows.append(fitted.likelihood.sample(bound, int(k), rng))
    return rng.permutation(np.array(rows))

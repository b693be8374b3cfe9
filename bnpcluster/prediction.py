"""The posterior predictive of new rows, averaged over the draws of a posterior."""

from __future__ import annotations

import math
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
    """All that a prediction rests on.

    Attributes
    ----------
    likelihood : Likelihood
    bound : NamedTuple: its bound training data
    posterior : Posterior
    log_urn : ndarray: see `urn_weights`
    estimate : ndarray: labels of the point estimate
    """

    likelihood: Likelihood
    bound: Any
    posterior: Posterior
    log_urn: np.ndarray
    estimate: np.ndarray


def urn_weights(prior: Prior, posterior: Posterior) -> np.ndarray:
    """Log urn weights of every draw, at its own hyper-parameters, as rows.

    Row by row: of the blocks, then of a new one, then -inf up to the largest number of blocks.
    """
    traces = {name: posterior.traces[name].ravel() for name in prior.sampled}
    labels = posterior.labels.reshape(-1, posterior.n_items)
    log_urn = np.full((len(labels), int(posterior.n_clusters.max()) + 1), -np.inf)
    for r, row in enumerate(labels):
        at = prior.at(**{name: float(trace[r]) for name, trace in traces.items()})
        weights = at.predictive(np.bincount(row))
        log_urn[r, : len(weights)] = weights
    return log_urn


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
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    weights = fitted.posterior.weights.ravel()
    sums = (top, total, novelty, membership)
    for some in _slices(len(labels), n * partition.n_blocks[0] + labels.shape[1]):
        draws = (labels[some], fitted.log_urn[some], weights[some])
        add_draws(bound, new, partition, draws, fitted.estimate, overlap, sums)
    return Prediction(top + np.log(total), novelty, membership)


def _slices(n_draws: int, work: int) -> list[slice]:
    """Draws in kernel calls short enough for Ctrl-C to be noticed."""
    size = max(1, 2_000_000 // (work + 1))
    return [slice(start, start + size) for start in range(0, n_draws, size)]


def _room(fitted: Fitted) -> tuple[Any, Partition]:
    """Bound training data and a partition with room for every draw."""
    capacity = fitted.log_urn.shape[1]
    return grown_bound(fitted.bound, capacity), new_partition(0, capacity)


@kernel
def add_draws(bound, new, partition, draws, estimate, overlap, sums):
    """Add draws of positive weight to the sums of every row."""
    labels, log_urn, weights = draws
    for r in range(len(weights)):
        if weights[r] > 0.0:
            fill(bound, partition, labels[r], log_urn[r])
            share_out(labels[r], estimate, overlap, partition.sizes)
            accumulate(new, partition, overlap, weights[r], sums)


@kernel
def fill(bound, partition, labels, log_urn):
    """Put all items into their slots, and the urn weights where the prior's weights stand."""
    n_blocks = 0
    for i in range(len(labels)):
        n_blocks = max(n_blocks, labels[i] + 1)
    partition.n_blocks[0] = n_blocks
    for k in range(len(log_urn)):
        clear(bound, k)
        partition.sizes[k] = 0
        partition.log_prior[k] = log_urn[k]
    for i in range(len(labels)):
        k = np.intp(labels[i])
        add(bound, k, i)
        partition.sizes[k] += 1


@kernel
def share_out(labels, estimate, overlap, sizes):
    """overlap[b, c]: the share of block b's items that lie in cluster c of the estimate."""
    overlap[:] = 0.0
    for i in range(len(labels)):
        b = labels[i]
        overlap[b, estimate[i]] += 1.0 / sizes[b]


@kernel
def accumulate(new, partition, overlap, draw_weight, sums):
    """Add one draw to the sums of every row."""
    top, total, novelty, membership = sums
    slots, weights, empty = partition.slots, partition.weights, partition.n_blocks[0]
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
    bound, partition = _room(fitted)
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    rows = []
    for r, count in enumerate(rng.multinomial(n, weights / weights.sum())):
        if count:
            fill(bound, partition, labels[r], fitted.log_urn[r])
            urn = np.exp(fitted.log_urn[r])
            for k in rng.choice(len(urn), size=count, p=urn / urn.sum()):
                rows.append(fitted.likelihood.sample(bound, int(k), rng))
    return rng.permutation(np.array(rows))

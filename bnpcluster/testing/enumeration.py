"""The posterior of a few items, by enumeration of all their partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.partitions.label_draws import canonical
from bnpcluster.priors import Prior


class ExactPosterior(NamedTuple):
    """The posterior over all partitions of a few items.

    Attributes
    ----------
    partitions : ndarray of shape (n_partitions, n_items)
    probabilities : ndarray of shape (n_partitions,)
    log_joint : ndarray of shape (n_partitions,): log p(data, partition)
    log_evidence : float: log p(data)
    """

    partitions: np.ndarray
    probabilities: np.ndarray
    log_joint: np.ndarray
    log_evidence: float

    def n_clusters_pmf(self) -> np.ndarray:
        """Probability of 1, 2, .., n clusters."""
        n = self.partitions.shape[1]
        clusters = self.partitions.max(axis=1)
        return np.bincount(clusters, weights=self.probabilities, minlength=n)

    def coclustering(self) -> np.ndarray:
        """Probability that two items share a cluster."""
        same = self.partitions[:, :, None] == self.partitions[:, None, :]
        return np.einsum("p,pij->ij", self.probabilities, same)


def log_eppf(prior: Prior, partitions: np.ndarray) -> np.ndarray:
    """Log p(partition) of each row under a prior.

    Parameters
    ----------
    prior : Prior
        At its current values.
    partitions : ndarray of shape (n_partitions, n_items)
        Labels from 0.

    Returns
    -------
    log_p : ndarray of shape (n_partitions,)
    """
    n = partitions.shape[1]
    log_v, log_w = prior.tables(n, n)
    sizes = np.array([np.bincount(row, minlength=n) for row in partitions])
    filled = np.where(sizes > 0, log_w[sizes], 0.0)
    return log_v[(sizes > 0).sum(axis=1)] + filled.sum(axis=1)


def exact_posterior(
    X: np.ndarray, likelihood: Likelihood, prior: Prior, *, beta: float = 1.0
) -> ExactPosterior:
    """Enumerate the posterior of the partition of at most eight rows.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    likelihood : Likelihood
        Hyper-parameters that are "auto" are fixed at their guess from the data, as with "data".
    prior : Prior, at its current values
    beta : float, default=1.0
        Power of the likelihood.

    Returns
    -------
    ExactPosterior

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.testing import exact_posterior
    >>> X = np.array([[-1.0], [-0.9], [1.0]])
    >>> exact = exact_posterior(X, NormalInverseGamma(), DirichletProcess(1.0))
    >>> exact.probabilities.sum().round(9).tolist(), exact.n_clusters_pmf().shape
    (1.0, (3,))
    """
    bound = likelihood.guessed().bind(np.asarray(X, float), 4)
    return enumerated(bound, prior, len(X), beta)


def enumerated(bound: Any, prior: Prior, n: int, beta: float = 1.0) -> ExactPosterior:
    """The posterior of the partition of the first `n` rows of bound data; the rest are absent."""
    partitions = all_partitions(n)
    state = State(bound, prior, with_absent(partitions[0], bound, n), beta=beta, capacity=n + 2)
    log_joint = np.zeros(len(partitions))
    for j, row in enumerate(partitions):
        state.labels[:n] = row
        state.rebuild()
        log_joint[j] = state.log_joint()
    log_evidence = float(logsumexp(log_joint))
    return ExactPosterior(partitions, np.exp(log_joint - log_evidence), log_joint, log_evidence)


def with_absent(labels: np.ndarray, bound: Any, n: int) -> np.ndarray:
    """Labels of all rows, if only the first n are present."""
    rows = bound[0] if not hasattr(bound, "n_items") else range(bound.n_items)
    return np.concatenate([labels, np.full(len(rows) - n, -1)])


def partition_numbers(labels: np.ndarray, exact: ExactPosterior) -> np.ndarray:
    """The number of each partition in the enumeration, for any labels of its blocks."""
    n = labels.shape[1]
    powers = (n + 1) ** np.arange(n)
    codes = exact.partitions @ powers
    order = np.argsort(codes)
    return order[np.searchsorted(codes[order], canonical(labels)[0] @ powers)]

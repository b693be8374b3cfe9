"""The joint posterior of the partition and the concentrations of a few rows of categories."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.testing.enumeration import log_eppf


class Joint(NamedTuple):
    """Probabilities by partition and concentration of both columns."""

    partitions: np.ndarray
    probability: np.ndarray
    ones: list[np.ndarray]  # even prior counts, by column
    log_evidence: float


def log_dirichlet_multinomial(codes: np.ndarray, prior: np.ndarray) -> float:
    """Log probability of the codes of a block in one column; NaN is missing."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=len(prior))
    value = gammaln(prior.sum()) - gammaln(prior.sum() + counts.sum())
    return value + (gammaln(prior + counts) - gammaln(prior)).sum()


def joint_of_categories(X: np.ndarray, grid: np.ndarray, prior: Any, beta: float = 1.0) -> Joint:
    """The joint posterior of the partition and the concentrations of two columns."""
    partitions = all_partitions(len(X))
    ones = [np.ones(int(np.nanmax(column)) + 1) for column in X.T]
    log_p = np.zeros((len(partitions), len(grid), len(grid)))
    for p, labels in enumerate(partitions):
        of_column = np.zeros((2, len(grid)))
        for j, g, k in itertools.product(range(2), range(len(grid)), range(labels.max() + 1)):
            block = X[labels == k, j]
            of_column[j, g] += log_dirichlet_multinomial(block, grid[g] * ones[j])
        log_p[p] = beta * (of_column[0][:, None] + of_column[1])
    log_p += log_eppf(prior, partitions)[:, None, None]
    log_weight = -2.0 * np.log(grid) - np.log((grid**-2.0).sum())
    log_p += log_weight[:, None] + log_weight
    total = logsumexp(log_p)
    return Joint(partitions, np.exp(log_p - total), ones, float(total))

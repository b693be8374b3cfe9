"""Check that a prior is a distribution on partitions and that its urn weights match it."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.priors import Prior
from bnpcluster.testing.enumeration import log_eppf


def check_prior(prior: Prior, n: int = 6) -> float:
    """Assert that a prior is a distribution on partitions and that its urn weights match it.

    The tables sum to one over all partitions of 1 .. n items. The urn weights are the ratios of the
    probabilities of partitions of n and of n - 1 items.

    Parameters
    ----------
    prior : Prior, at its current values
    n : int, default=6

    Returns
    -------
    gap : float
        The largest error of a probability.

    Examples
    --------
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.testing import check_prior
    >>> check_prior(DirichletProcess(0.7)) < 1e-9
    True
    """
    largest = 0.0
    for m in range(1, n + 1):
        total = logsumexp(log_eppf(prior, all_partitions(m)))
        assert abs(total) < 1e-9, f"{prior!r}: the partitions of {m} items weigh {math.exp(total)}."
        largest = max(largest, abs(total))
    for row in all_partitions(n - 1):
        if log_eppf(prior, row[None])[0] == -np.inf:
            continue  # more blocks than the prior allows
        k = row.max() + 1
        longer = np.column_stack([np.tile(row, (k + 1, 1)), np.arange(k + 1)])
        ratios = log_eppf(prior, longer) - log_eppf(prior, row[None])
        gap = np.abs(np.exp(prior.predictive(np.bincount(row))) - np.exp(ratios)).max()
        assert gap < 1e-9, f"{prior!r}: urn weights at {row.tolist()} are off by {gap}."
        largest = max(largest, gap)
    return float(largest)

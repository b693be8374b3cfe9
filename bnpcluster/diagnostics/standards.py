"""When chains have converged, and how far they are from it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bnpcluster.diagnostics.agreement import largest_difference
from bnpcluster.diagnostics.autocorrelation import autocorrelation_time

RHAT_LIMIT = 1.01
"""Largest R-hat of chains that agree."""

ESS_WANTED = 400
"""Effective draws of the density that are wanted."""

OTHER_RHAT_LIMIT, OTHER_ESS_WANTED = 1.05, 100
"""The same for what chains should agree on, too, before they end: shares, and the prior."""

DIFFERENCE_LIMIT = 0.1
"""How much two chains may differ in how often a pair is together, beyond Monte Carlo error."""

RARELY = 0.05
STUCK = 1e6  # a larger R-hat is infinite, up to rounding


def varies(x: NDArray) -> bool:
    """Whether some chain differs more than rarely from the overall most frequent value.

    A few other values may be due to chance, and R-hat would raise a false alarm.
    """
    values, counts = np.unique(x, return_counts=True)
    return bool(np.any(np.mean(x != values[np.argmax(counts)], axis=1) > RARELY))


def rhat_of(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank-normalised split R-hat of each (chains, draws) trace."""
    from arviz_stats.base import array_stats

    if traces.shape[1] > 1:
        rhat = array_stats.rhat(traces, method="rank")
        # Folding makes a trace constant if it has two values equally often.
        return np.where(np.isnan(rhat), array_stats.rhat(traces, method="z_scale"), rhat)
    # ArviZ needs two chains. A single one is split here, and its halves are the two chains.
    half = traces.shape[2] // 2
    halves = np.concatenate([traces[:, :, :half], traces[:, :, -half:]], axis=1)
    median = np.median(halves, axis=(1, 2), keepdims=True)
    values = [
        array_stats.rhat(_normal_scores(x), method="identity")
        for x in (halves, np.abs(halves - median))
    ]
    rhat = np.fmax(*values)
    return np.where(rhat > STUCK, np.inf, rhat)


def ess_of(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Effective draws in the bulk of each (chains, draws) trace."""
    from arviz_stats.base import array_stats

    return array_stats.ess(traces, method="bulk")


def _normal_scores(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = traces.reshape(len(traces), -1)
    return ndtri((rankdata(flat, axis=1) - 0.375) / (flat.shape[1] + 0.25)).reshape(traces.shape)


def plain_rhat(x: NDArray[np.float64]) -> float:
    """Split R-hat of a (chains, draws) trace without ranks, which is quick to compute."""
    half = x.shape[1] // 2
    halves = np.concatenate([x[:, :half], x[:, x.shape[1] - half :]])
    within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return math.sqrt((half - 1) / half + between / within)


def shortfall(level: NDArray, others: Iterable[NDArray], together: NDArray) -> float:
    """How far chains are from having settled: at most 1 if they have, infinite if they are stuck.

    Parameters
    ----------
    level : ndarray of shape (n_chains, n_draws)
        The density, which must have a small R-hat and enough effective draws.
    others : iterable of ndarray of shape (n_chains, n_draws)
        Other quantities, for which less is enough.
    together : ndarray of shape (n_chains, n_draws, n_pairs)
        Whether pairs of items share a cluster.

    Returns
    -------
    float
        The largest of the relative gaps; that of the pairs only if the others are small.
    """
    gaps = [_gap(x, OTHER_RHAT_LIMIT, OTHER_ESS_WANTED) for x in others]
    gaps.append(_gap(level, RHAT_LIMIT, ESS_WANTED))
    if max(gaps) <= 1:  # pairs and ranks take time, so they are asked last
        gaps.append(largest_difference(together).beyond / DIFFERENCE_LIMIT)
    if max(gaps) <= 1 and varies(level):
        # By the figures of the verdict: a fit that ends by itself shall not be called too short.
        with np.errstate(divide="ignore", invalid="ignore"):
            rhat, ess = float(rhat_of(level[None])[0]), float(ess_of(level[None])[0])
        gaps += [(rhat - 1.0) / (RHAT_LIMIT - 1.0), ESS_WANTED / ess]
    return max(gaps)


def _gap(x: NDArray, rhat_limit: float, ess_wanted: int) -> float:
    """How far a quantity is from enough effective draws and a small R-hat, without ranks."""
    if not varies(x):
        return 0.0
    few = ess_wanted * autocorrelation_time(x) / x.size
    return max(few, (plain_rhat(x) - 1.0) / (rhat_limit - 1.0))

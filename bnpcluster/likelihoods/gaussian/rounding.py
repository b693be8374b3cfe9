"""How finely the data were recorded: the variance that rounding alone gives to each column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GAP = 0.05  # quantile of the gaps between neighbouring values
NO_GAP = 1e-9  # smaller gaps are rounding errors of arithmetic
COARSEST = 0.1  # the largest resolution, in units of the columns
LEAST = 1e-8  # the smallest variance
SINGULAR = 1e-6  # a smaller eigenvalue of the correlations counts as a collinearity
WILD = 30.0  # larger values, in units of the columns, do not count for collinearity


def rounding_variance(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The variance of a uniform distribution over the resolution of each column."""
    return np.array([max(_resolution(z) ** 2 / 12, LEAST) for z in Z.T])


def _resolution(z: NDArray[np.float64]) -> float:
    gaps = np.diff(np.sort(z[~np.isnan(z)]))
    gaps = gaps[gaps > NO_GAP]
    return min(float(np.quantile(gaps, GAP)), COARSEST) if len(gaps) else 0.0


def has_ties(Z: NDArray[np.float64], variance: NDArray[np.float64]) -> bool:
    """Whether rows of a cluster may have no scatter in some direction.

    This is so if columns are rounded or collinear, or if there are fewer rows than columns.
    """
    if (variance > LEAST).any():
        return True
    Z = np.clip(np.where(np.isnan(Z), 0.0, Z), -WILD, WILD)
    Z = Z - Z.mean(axis=0)
    length = np.sqrt((Z**2).sum(axis=0))
    Z = Z / np.where(length > 0, length, 1.0)
    return bool(np.linalg.eigvalsh(Z.T @ Z)[0] < SINGULAR)

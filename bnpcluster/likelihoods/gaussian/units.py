"""Units of real-valued data, and the hyper-parameters that follow from the data ("auto")."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtri
from sklearn.metrics.pairwise import nan_euclidean_distances

from bnpcluster._core.messages import ColumnsError

ROWS = 1000  # rows used to estimate the scale of a cluster
ROUNDING = 1e-13  # values that differ by a smaller share of their size are equal
WIDTH = 8.0  # prior standard deviation of "auto" cluster means, in internal units
FARTHEST = 1e75  # internal units; squares of larger values could overflow
REACH = 1e50  # of given hyper-parameters, in internal units
TIGHTEST = 1e-4  # the smallest share of the squared scale that "auto" gives to a cluster

GUESSED_SHARE = 1 / 500  # the "auto" covariance is worth this share of the rows,
GUESSED_ENTRIES = 16.0  # but at most this many entries


class Units(NamedTuple):
    """Internal units: z = (x - centre) / scale, one centre and scale per column."""

    centre: np.ndarray
    scale: np.ndarray

    def to_internal(self, X: np.ndarray) -> np.ndarray:
        """The rows in internal units."""
        with np.errstate(over="ignore"):
            Z = np.clip((X - self.centre) / self.scale, -FARTHEST, FARTHEST)
        return np.ascontiguousarray(Z)


def in_own_units(X: np.ndarray) -> np.ndarray:
    """The rows in internal units, with missing entries at the centre."""
    return np.nan_to_num(units(X).to_internal(X), nan=0.0)


def units(X: np.ndarray) -> Units:
    """Median and robust scale of the columns; constant columns raise an error.

    The scale is the interquartile range, divided by that of a standard Gaussian. So it is the
    standard deviation of a Gaussian column, and a few wild values do not change it.

    Here and below, NaN is a missing entry.
    """
    constant = constant_columns(X)
    if len(constant):
        many = "s" if len(constant) > 1 else ""
        what = (
            "All rows are equal up to rounding"
            if len(constant) == X.shape[1]
            else f"Constant column{many}"
        )
        raise ColumnsError(
            f"{what} (column{many} ",
            constant[:5].tolist(),
            f"{', ...' if len(constant) > 5 else ''}): Gaussian likelihoods need columns that "
            "vary. Drop constant columns, for example with sklearn's VarianceThreshold.",
        )
    low, centre, high = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    scale = (high - low) / _gaussian_range(0.25)
    for j in np.flatnonzero(are_equal(low, high)):
        scale[j] = _scale_of_tails(X[~np.isnan(X[:, j]), j])
    return Units(centre, scale)


def within_reach(name: str, values: Any, unit: Any, least: float = 0.0) -> np.ndarray:
    """`values` / `unit`; raise an error if the squares of these would have no digits left."""
    with np.errstate(over="ignore"):
        values = values / unit
    if not ((least <= np.abs(values)) & (np.abs(values) <= REACH)).all():
        start = f"from {least:g} to" if least else "at most"
        raise ValueError(f"{name} must be {start} {REACH:g}, in units of the spread of its column.")
    return values


def constant_columns(X: np.ndarray) -> np.ndarray:
    """Numbers of the columns whose observed entries are equal up to rounding."""
    return np.flatnonzero(are_equal(np.nanmin(X, axis=0), np.nanmax(X, axis=0)))


def are_equal(low: Any, high: Any) -> Any:
    """Whether low <= high are equal up to rounding."""
    return high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))


def _gaussian_range(tail: float) -> float:
    """The range of a standard Gaussian without its tails, each of this probability."""
    return 2.0 * float(ndtri(1.0 - tail))


def _scale_of_tails(values: np.ndarray) -> float:
    """The scale of a column whose quartiles are equal.

    It comes from ranges that leave out less and less, but always the smallest and the largest
    value. If these are all zero, it is the standard deviation.
    """
    values, n = np.sort(values), len(values)
    for tail in (0.05, 0.01, 1 / n):
        cut = max(1, math.ceil(tail * (n - 1)))
        low, high = values[cut], values[-1 - cut]
        if not are_equal(low, high):
            return (high - low) / _gaussian_range(tail)
    gap = values - values.mean()
    spread = np.abs(gap).max()  # squares of gaps divided by it neither overflow nor underflow
    return spread * np.sqrt(np.mean((gap / spread) ** 2))


def cluster_share(Z: np.ndarray) -> float:
    """Estimate the share of the squared scale within one cluster, between TIGHTEST and 1.

    In columns of scale 1, the squared distance to a near neighbour reflects the scale of
    clusters, however tight they are. Read as the distance between two random members of a cluster,
    it underestimates the scale, because near neighbours are closer than random members. Compared
    with the distance in a single Gaussian cloud, it overestimates the scale. The share is the
    geometric mean of the two estimates. Medians of distances ignore a few wild rows.
    """
    Z = Z[:: -(-len(Z) // ROWS)]
    near, cloud = _neighbour_distance(Z), _cloud_neighbour_distance(*Z.shape)
    missing = np.isnan(Z)
    if missing.any():
        # Rows with few columns in common have near neighbours by chance. Correct for it with a
        # cloud with the same missing entries.
        near *= cloud / _neighbour_distance(np.where(missing, np.nan, _cloud(*Z.shape)))
    low = near**2 / (2 * Z.shape[1])
    high = (near / cloud) ** 2
    return float(np.clip(np.sqrt(low * high), TIGHTEST, 1.0))


def rows_guessed(n: int, d: int) -> float:
    """The number of rows that the automatic covariance is worth, beyond the minimum.

    With more rows, a cluster that is not quite Gaussian differs more clearly from a Gaussian, so a
    stronger prior is needed to keep it in one piece. The automatic covariance is isotropic, which
    fits worse with more columns.
    """
    return min(GUESSED_SHARE * n, GUESSED_ENTRIES / d)


def _neighbour_distance(Z: np.ndarray) -> float:
    """Median distance to the neighbour of rank sqrt(n)."""
    rank = min(len(Z) - 1, int(np.ceil(np.sqrt(len(Z)))))
    distance = nan_euclidean_distances(Z) if np.isnan(Z).any() else cdist(Z, Z)
    near = np.partition(distance, rank, axis=1)[:, rank]
    # Rows that share no observed column have no distance (NaN, which is sorted to the end).
    near = near[~np.isnan(near)]
    return float(np.median(near)) if len(near) else 1.0


@lru_cache(maxsize=64)
def _cloud_neighbour_distance(n: int, dimension: int) -> float:
    return _neighbour_distance(_cloud(n, dimension))


def _cloud(n: int, dimension: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, dimension))

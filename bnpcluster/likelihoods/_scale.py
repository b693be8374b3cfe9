"""Units of real-valued data, and the hyper-parameters that follow from the data ("auto")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

ROWS = 2000  # rows looked at to find the scale of a cluster
TIGHTEST = 1e-4  # the smallest share of the variance that "auto" takes for a cluster's own


class Units(NamedTuple):
    """Internal units: z = (x - centre) / scale, one centre and scale per column."""

    centre: np.ndarray
    scale: np.ndarray

    def inside(self, X: np.ndarray) -> np.ndarray:
        """The rows in internal units."""
        return np.ascontiguousarray((X - self.centre) / self.scale)


def units(X: np.ndarray) -> Units:
    """Centre and standard deviation of the columns; a constant column has no scale."""
    centre = X.mean(axis=0)
    spread = np.abs(X - centre).max(axis=0)
    magnitude = np.abs(X).max(axis=0)
    constant = np.flatnonzero(spread <= 1e-13 * magnitude)
    if len(constant):
        many = "s" if len(constant) > 1 else ""
        names = ", ".join(map(str, constant[:5])) + (", ..." if len(constant) > 5 else "")
        what = "All rows are equal" if len(constant) == X.shape[1] else f"Constant column{many}"
        raise ValueError(
            f"{what} (column{many} {names}): a Gaussian likelihood has no scale to work in. "
            "Remove constant columns, for instance with sklearn's VarianceThreshold."
        )
    # Squares of the spread-scaled columns neither overflow nor underflow.
    scale = spread * np.sqrt(np.mean(((X - centre) / spread) ** 2, axis=0))
    return Units(centre, scale)


def cluster_share(Z: np.ndarray) -> float:
    """The share of the total variance that one cluster seems to have, between TIGHTEST and 1.

    The median squared distance to a near neighbour, in standardised columns: neighbours are mostly
    of the same cluster, so their distance tells the scale of clusters, however tight these are.
    """
    Z = Z[:: -(-len(Z) // ROWS)]
    n, dimension = Z.shape
    neighbours = min(n - 1, int(np.ceil(np.sqrt(n))))
    distance = cKDTree(Z).query(Z, k=[neighbours + 1])[0]
    return float(np.clip(np.median(distance) ** 2 / (2 * dimension), TIGHTEST, 1.0))

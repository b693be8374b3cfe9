"""Join overlapping components of a mixture to clusters, by their memberships alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from bnpcluster._core.containers import as_array
from bnpcluster.partitions.label_draws import as_weights


class MergeTree(NamedTuple):
    """The joins of components, from the pair that overlaps most down to a single cluster.

    Components have the numbers 0, ..., n_components - 1. The cluster that join j makes has the
    number n_components + j, as in `scipy.cluster.hierarchy`.

    Attributes
    ----------
    joined : ndarray of shape (n_components - 1, 2)
        The numbers of the two that were joined.
    overlaps : ndarray of shape (n_components - 1,)
        Their overlap when they were joined. It need not decrease: a cluster may overlap with a
        third component more than either of its parts.
    sizes : ndarray of shape (n_components - 1,)
        Expected number of rows of the cluster: the sum of its memberships.

    Examples
    --------
    >>> from bnpcluster.partitions import merge_tree
    >>> tree = merge_tree([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.0, 0.1, 0.9]])
    >>> tree.joined.tolist(), tree.sizes.round(1).tolist()
    ([[0, 1], [2, 3]], [2.1, 3.0])
    >>> tree.cut(0.1).tolist()
    [0, 0, 1]
    """

    joined: NDArray[np.intp]
    overlaps: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.joined) + 1

    @property
    def levels(self) -> NDArray[np.float64]:
        """For each join, the largest threshold at which it is made: it never increases."""
        return np.minimum.accumulate(self.overlaps)

    def cut(
        self, threshold: float | None = None, max_clusters: int | None = None
    ) -> NDArray[np.intp]:
        """The cluster of each component.

        Parameters
        ----------
        threshold : float, optional
            Components are joined as long as the largest overlap is at least this. None: no joins.
        max_clusters : int, optional
            Joins go on until there are at most so many clusters.

        Returns
        -------
        ndarray of shape (n_components,)
            Numbers from 0, in the order of the first component of each cluster.
        """
        n, n_joins = self.n_components, 0
        if threshold is not None:
            n_joins = int(np.sum(self.levels >= threshold))
        if max_clusters is not None:
            n_joins = max(n_joins, n - max_clusters)
        groups = np.arange(n + n_joins)
        for j in reversed(range(n_joins)):  # from the last join, whose number no other changes
            groups[self.joined[j]] = groups[n + j]
        _, first, inverse = np.unique(groups[:n], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    def linkage(self) -> NDArray[np.float64]:
        """The tree in the form of `scipy.cluster.hierarchy`, with heights 1 - `levels`.

        Returns
        -------
        ndarray of shape (n_components - 1, 4)
            The two that were joined, the height, and the number of components.
        """
        counts = np.ones(2 * self.n_components - 1)
        for j, pair in enumerate(self.joined):
            counts[self.n_components + j] = counts[pair].sum()
        return np.column_stack([self.joined, 1.0 - self.levels, counts[self.n_components :]])


def merge_tree(membership: ArrayLike, weights: ArrayLike | None = None) -> MergeTree:
    """Join the components of a mixture, the two that overlap most first.

    The overlap of two components is the larger of the two probabilities that a row of one of them
    is assigned to the other, where a row is assigned to its most probable component. The
    probabilities are estimated from the memberships. The memberships of a joined cluster are the
    sums of those of its parts.

    Parameters
    ----------
    membership : array-like of shape (n_rows, n_components)
        The probability of each component for each row, for instance of `predict_proba`.
    weights : array-like of shape (n_rows,), optional
        Weight of each row; equal by default.

    Returns
    -------
    MergeTree
        All joins, down to a single cluster. `MergeTree.cut` stops at a threshold.

    Notes
    -----
    With memberships tau, the probability that a row of component l is assigned to component k is
    estimated by the sum of tau_il over the rows i whose largest membership is that of k, divided by
    the sum of tau_il over all rows. Of equal overlaps, the first pair is joined.

    References
    ----------
    Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and
    Classification 4, 3-34 ("directly estimated misclassification probabilities").

    Examples
    --------
    >>> from bnpcluster.partitions import merge_tree
    >>> merge_tree([[0.9, 0.1], [0.4, 0.6]]).overlaps.round(3).tolist()
    [0.308]
    """
    tau = _checked(membership)
    tau = tau * as_weights(weights, len(tau))[:, None]
    n = tau.shape[1]
    nodes, joined, overlaps, sizes = list(range(n)), [], [], []
    for j in range(n - 1):
        found = _overlaps(tau)
        a, b = sorted(np.unravel_index(found.argmax(), found.shape))
        overlaps.append(found[a, b])
        joined.append(sorted((nodes[a], nodes[b])))
        nodes[a] = n + j
        del nodes[b]
        tau[:, a] += tau[:, b]
        tau = np.delete(tau, b, axis=1)
        sizes.append(tau[:, a].sum())
    return MergeTree(np.array(joined, np.intp).reshape(-1, 2), np.array(overlaps), np.array(sizes))


def _checked(membership: ArrayLike) -> NDArray[np.float64]:
    """The memberships as floats. Raise an error if they cannot be."""
    given = as_array(membership)
    tau = given.astype(float) if given.dtype.kind in "iufb" else np.zeros(0)
    if tau.ndim != 2 or not tau.size or not np.isfinite(tau).all() or (tau < 0).any():
        raise ValueError(
            "membership must contain non-negative numbers of shape (n_rows, n_components)."
        )
    return tau


def _overlaps(tau: NDArray[np.float64]) -> NDArray[np.float64]:
    """The overlap of every two components; -1 on the diagonal."""
    n_rows, n = tau.shape
    assigned = csr_array((np.ones(n_rows), (tau.argmax(axis=1), np.arange(n_rows))), (n, n_rows))
    total = tau.sum(axis=0)
    # A component without any weight overlaps with none.
    moved = (assigned @ tau) / np.where(total > 0, total, 1.0)
    overlaps = np.maximum(moved, moved.T)
    np.fill_diagonal(overlaps, -1.0)
    return overlaps

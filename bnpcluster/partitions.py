"""Losses, point estimates and credible balls for draws of a partition, from any program.

`draws` is an array of integer labels, (draws, items) or (chains, draws, items). Only equality of
labels within a draw matters: they need not be consecutive nor mean the same in two draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster import _draws, _estimate
from bnpcluster._search import Objective

__all__ = [
    "CredibleBall",
    "binder_loss",
    "coclustering",
    "credible_ball",
    "expected_loss",
    "point_estimate",
    "relabel",
    "variation_of_information",
]

MAX_DENSE_BYTES = 2 * 1024**3
"""Largest dense co-clustering matrix that is made on request."""

# The point estimate uses every distinct draw up to this many; more where items are few (so many
# labels cost little), fewer where items are very many.
MAX_DRAWS = 1000
CHEAP_LABELS = 10**6
MAX_LABELS = 10**7


def relabel(labels: ArrayLike) -> NDArray[np.int64]:
    """Number clusters from 0, the largest first, ties by first item.

    Parameters
    ----------
    labels : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    ndarray of shape (n_items,)
        The same partition with labels 0, 1, ..., K - 1.

    Examples
    --------
    >>> from bnpcluster.partitions import relabel
    >>> relabel([7, 3, 3, -1, 7, 3]).tolist()
    [1, 0, 0, 2, 1, 0]
    """
    _, first, inverse, sizes = np.unique(
        _draws.as_labels(labels), return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[inverse]


def binder_loss(a: ArrayLike, b: ArrayLike) -> float:
    """Binder's loss: the number of pairs of items on which two partitions disagree.

    Parameters
    ----------
    a, b : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    float
        Number of pairs that are together in one partition and apart in the other. Divided by
        n (n - 1) / 2 it is one minus the Rand index.

    References
    ----------
    Binder (1978), Bayesian cluster analysis, Biometrika 65, 31-38.

    Examples
    --------
    >>> from bnpcluster.partitions import binder_loss
    >>> binder_loss([0, 0, 1, 1], [0, 0, 0, 1])
    3.0
    """
    return _loss(a, b, "binder")


def variation_of_information(a: ArrayLike, b: ArrayLike) -> float:
    """Variation of information H(a | b) + H(b | a) between two partitions, in nats.

    Parameters
    ----------
    a, b : array-like of shape (n_items,)
        Integer labels.

    Returns
    -------
    float
        A metric between 0 and log(n_items). Divide by log(2) for bits.

    References
    ----------
    Meila (2007), Comparing clusterings: an information based distance, Journal of Multivariate
    Analysis 98, 873-895.

    Examples
    --------
    >>> from bnpcluster.partitions import variation_of_information
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 6)
    1.386294
    """
    return _loss(a, b, "vi")


def _loss(a: ArrayLike, b: ArrayLike, loss: str) -> float:
    first = _draws.as_labels(a)
    second = _draws.as_labels(b, len(first))
    return float(_draws.distances(first, second[None], loss)[0])


def expected_loss(
    draws: ArrayLike, estimate: ArrayLike, loss: str = "vi", weights: ArrayLike | None = None
) -> float:
    """Posterior expected loss of a partition: its mean loss over the draws.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    estimate : array-like of shape (n_items,)
        Integer labels of the partition to judge.
    loss : {"vi", "binder"}, default="vi"
        `variation_of_information` or `binder_loss`.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.

    Returns
    -------
    float
        The weighted mean of the losses.

    Examples
    --------
    >>> from bnpcluster.partitions import expected_loss
    >>> expected_loss([[0, 0, 1], [0, 0, 0]], [0, 0, 0], loss="binder")
    1.0
    """
    matrix = _draws.as_draws(draws)
    labels = _draws.as_labels(estimate, matrix.shape[1])
    return float(
        np.average(
            _draws.distances(labels, matrix, loss), weights=_draws.as_weights(weights, len(matrix))
        )
    )


def coclustering(draws: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Dense matrix of the probabilities that two items are in the same cluster.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.

    Returns
    -------
    ndarray of shape (n_items, n_items)
        Symmetric, with ones on the diagonal.

    Raises
    ------
    ValueError
        If the matrix would take more than 2 GiB. `bnpcluster.posterior.Posterior` gives blocks of
        it, and sparse matrices.

    Examples
    --------
    >>> from bnpcluster.partitions import coclustering
    >>> coclustering([[0, 0, 1], [5, 5, 5]]).tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """
    matrix = _draws.as_draws(draws)
    n = matrix.shape[1]
    refuse_large(n, n)
    rows, totals = _draws.merge(matrix, _draws.as_weights(weights, len(matrix)))
    items = np.arange(n)
    out = np.empty((n, n))
    for part, strip in _draws.agreement_strips(matrix[rows], totals, items, items, symmetric=True):
        right = slice(part.start, n)
        out[part, right] = strip[:, right]
        out[right, part] = strip[:, right].T
    return out


def refuse_large(n_rows: int, n_columns: int) -> None:
    """Raise a ValueError, before anything is allocated, if a dense block would be too large."""
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > MAX_DENSE_BYTES:
        raise ValueError(
            f"A dense {n_rows} x {n_columns} co-clustering matrix takes {n_bytes / 1024**3:.1f} "
            f"GiB, more than the {MAX_DENSE_BYTES / 1024**3:.0f} GiB allowed. Ask for a block, "
            "posterior.coclustering(rows, columns), or for a sparse matrix, "
            "posterior.coclustering(threshold=0.1), with posterior = Posterior(labels)."
        )


def point_estimate(
    draws: ArrayLike,
    loss: str = "vi",
    *,
    weights: ArrayLike | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_starts: int = 16,
) -> NDArray[np.int64]:
    """Partition with the least posterior expected loss that a local search finds.

    Items are moved one at a time while the exact expected loss falls, then whole clusters are
    dissolved and their items placed anew. The starts are the three most central draws (of at most
    100 looked at), one block, sequential allocation in random order, and random labels; the best
    result is returned. Neither an n x n matrix nor a limit on the number of clusters is involved.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    loss : {"vi", "binder"}, default="vi"
        `variation_of_information` or `binder_loss`.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.
    random_state : int, Generator, RandomState or None, default=None
        Orders and random starts of the search. None stands for a fixed seed: the same draws give
        the same estimate.
    n_starts : int, default=16
        Largest number of random starts, in turn sequential allocation and random labels. Fewer are
        made when four starts have led to the same loss.

    Returns
    -------
    ndarray of shape (n_items,)
        Labels from 0, the largest cluster first, ties by first item.

    Notes
    -----
    Identical draws are merged, which is exact. If more than 1,000 distinct draws are left (or
    1e6 / n_items, if that is more; at most 1e7 / n_items, but never less than 40), that many are
    taken, evenly spaced in order of sampling and in proportion to weight. The search stops adding
    starts and dissolving clusters after about 4e9 elementary operations.

    References
    ----------
    Dahl, Johnson and Mueller (2022), Search algorithms and loss functions for Bayesian clustering,
    Journal of Computational and Graphical Statistics 31, 1189-1201.
    Wade and Ghahramani (2018), Bayesian cluster analysis: point estimation and credible balls,
    Bayesian Analysis 13, 559-626.

    Examples
    --------
    >>> from bnpcluster.partitions import point_estimate
    >>> point_estimate([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]).tolist()
    [0, 0, 1, 1]
    """
    matrix = _draws.as_draws(draws)
    n = matrix.shape[1]
    _draws.block_gain(loss, 1)
    rows, totals = _draws.merge(matrix, _draws.as_weights(weights, len(matrix)))
    if len(rows) == 1:
        return relabel(matrix[rows[0]])
    limit = max(40, min(max(MAX_DRAWS, CHEAP_LABELS // n), MAX_LABELS // n))
    kept, totals = _draws.thin(totals, limit)
    distinct, _ = _draws.canonical(matrix[rows[kept]])
    return relabel(
        _estimate.find(distinct, totals, Objective(loss), _generator(random_state), n_starts)
    )


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(0 if random_state is None else random_state)


@dataclass(frozen=True)
class CredibleBall:
    """The draws within a radius of an estimate, and those on the edge of it.

    Attributes
    ----------
    radius : float
        The smallest radius for which the ball holds at least `level` of the posterior mass.
    level, mass : float
        The level asked for, and the share of the draws' weight that the ball holds.
    loss : {"vi", "binder"}
        The distance.
    n_clusters : tuple of int
        Least and largest number of clusters of the draws in the ball.
    horizontal, upper, lower : ndarray of shape (m, n_items)
        The distinct draws in the ball that are farthest from the estimate: among all, among those
        with the fewest clusters, and among those with the most.
    """

    radius: float
    level: float
    mass: float
    loss: str
    n_clusters: tuple[int, int]
    horizontal: NDArray[np.int64]
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]

    def __str__(self) -> str:
        low, high = self.n_clusters
        return (
            f"Within {self.loss} distance {self.radius:.4g} of the estimate lie {self.mass:.1%} "
            f"of the draws; they have {low} to {high} clusters."
        )


def credible_ball(
    draws: ArrayLike,
    estimate: ArrayLike,
    level: float = 0.95,
    *,
    loss: str = "vi",
    weights: ArrayLike | None = None,
) -> CredibleBall:
    """Smallest ball around an estimate that holds a share `level` of the draws.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    estimate : array-like of shape (n_items,)
        Integer labels of the centre, for instance from `point_estimate`.
    level : float, default=0.95
        Posterior mass to enclose, above 0 and at most 1.
    loss : {"vi", "binder"}, default="vi"
        The distance: `variation_of_information` or `binder_loss`, both metrics.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.

    Returns
    -------
    CredibleBall
        Its radius and its extreme draws.

    References
    ----------
    Wade and Ghahramani (2018), Bayesian cluster analysis: point estimation and credible balls,
    Bayesian Analysis 13, 559-626.

    Examples
    --------
    >>> from bnpcluster.partitions import credible_ball
    >>> draws = [[0, 0, 1, 1]] * 8 + [[0, 0, 0, 0], [0, 1, 2, 3]]
    >>> ball = credible_ball(draws, [0, 0, 1, 1], level=0.9, loss="binder")
    >>> ball.radius, ball.n_clusters, ball.lower.tolist()
    (2.0, (2, 4), [[0, 1, 2, 3]])
    """
    if not 0 < level <= 1:
        raise ValueError(f"level must be above 0 and at most 1, got {level}.")
    matrix = _draws.as_draws(draws)
    centre = _draws.as_labels(estimate, matrix.shape[1])
    mass = _draws.as_weights(weights, len(matrix))
    mass = mass / mass.sum()
    distance = _draws.distances(centre, matrix, loss)
    order = np.argsort(distance, kind="stable")
    order = order[mass[order] > 0]
    reached = int(np.searchsorted(np.cumsum(mass[order]), level * (1 - 1e-12)))
    radius = float(distance[order[min(reached, len(order) - 1)]])
    inside = np.flatnonzero((distance <= radius * (1 + 1e-12)) & (mass > 0))
    sizes = _draws.count_blocks(matrix[inside])
    low, high = int(sizes.min()), int(sizes.max())
    return CredibleBall(
        radius=radius,
        level=level,
        mass=float(mass[inside].sum()),
        loss=loss,
        n_clusters=(low, high),
        horizontal=_farthest(matrix, distance, inside),
        upper=_farthest(matrix, distance, inside[sizes == low]),
        lower=_farthest(matrix, distance, inside[sizes == high]),
    )


def _farthest(draws: NDArray, distance: NDArray, among: NDArray) -> NDArray[np.int64]:
    """The distinct draws at the largest distance, relabelled."""
    largest = distance[among].max()
    edge = draws[among[distance[among] >= largest * (1 - 1e-12)]]
    rows, _ = _draws.merge(edge, np.ones(len(edge)))
    return np.stack([relabel(edge[r]) for r in rows])

"""Credible balls, on plain label arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core import arguments
from bnpcluster.partitions import label_draws
from bnpcluster.partitions.losses import relabel


@dataclass(frozen=True)
class CredibleBall:
    """The draws within a radius of an estimate, and the most distant of them.

    Attributes
    ----------
    radius : float
        The smallest radius for which the ball contains at least `level` of the posterior mass.
    level, mass : float
        The requested level, and the share of the weight of the draws in the ball.
    loss : {"vi", "binder"}
        The distance.
    n_clusters : tuple of int
        Smallest and largest number of clusters of the draws in the ball.
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
            f"{self.mass:.1%} of the draws are within {self.loss} distance {self.radius:.4g} of "
            f"the estimate; they have {low} to {high} clusters."
        )


def credible_ball(
    draws: ArrayLike,
    estimate: ArrayLike,
    level: float = 0.95,
    *,
    loss: str = "vi",
    weights: ArrayLike | None = None,
) -> CredibleBall:
    """Smallest ball around an estimate that contains a share `level` of the draws.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    estimate : array-like of shape (n_items,)
        Integer labels of the centre, for example from `point_estimate`.
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
    level = arguments.number_between("level", level, 0.0, 1.0, closed=True)
    matrix = label_draws.as_draws(draws)
    centre = label_draws.as_labels(estimate, matrix.shape[1])
    mass = label_draws.as_weights(weights, len(matrix))
    mass = mass / mass.sum()
    distance = label_draws.distances(centre, matrix, loss)
    order = np.argsort(distance, kind="stable")
    order = order[mass[order] > 0]
    reached = int(np.searchsorted(np.cumsum(mass[order]), level * (1 - 1e-12)))
    radius = float(distance[order[min(reached, len(order) - 1)]])
    inside = np.flatnonzero((distance <= radius * (1 + 1e-12)) & (mass > 0))
    sizes = label_draws.count_blocks(matrix[inside])
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
    rows, _ = label_draws.merge(edge, np.ones(len(edge)))
    return np.stack([relabel(edge[r]) for r in rows])

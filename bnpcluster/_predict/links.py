"""Probabilities of links between the blocks of draws, and between the clusters of an estimate.

In a draw, each pair of blocks has its own probability of a link. What this means for two clusters
of the point estimate is an average over the pairs of their vertices: each pair has the probability
of its own blocks. So no labels switch between draws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import arguments
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.cluster_parameters import MOST_DRAWS, spaced
from bnpcluster.likelihoods.network.adjacency import Graph


class ClusterLinks(NamedTuple):
    """Probabilities of links between clusters; NaN within a cluster of a single vertex.

    Attributes
    ----------
    mean : ndarray of shape (n_clusters, n_clusters)
        Posterior means, from the cluster of the row to that of the column.
    low, high : ndarray of shape (n_clusters, n_clusters)
        Ends of the posterior intervals.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Counts(NamedTuple):
    """Numbers of links, and of observed pairs without one, between each two blocks of a draw."""

    links: NDArray[np.intp]
    others: NDArray[np.intp]

    @classmethod
    def of(cls, z: NDArray, graph: Graph) -> Counts:
        """The counts of the partition `z` of a graph."""
        sizes = np.bincount(z)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        if not graph.directed:
            pairs -= np.diag(sizes * (sizes - 1) // 2)
        pairs -= _between(z, graph.unobserved, len(sizes), graph.directed)
        links = _between(z, graph.links, len(sizes), graph.directed)
        return cls(links, pairs - links)

    def mean(self, beta: tuple[float, float]) -> NDArray[np.float64]:
        """Posterior means of the probabilities."""
        return (beta[0] + self.links) / (sum(beta) + self.links + self.others)

    def draw(
        self, beta: tuple[float, float], directed: bool, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Probabilities drawn from their posterior."""
        drawn = rng.beta(beta[0] + self.links, beta[1] + self.others)
        return drawn if directed else np.triu(drawn) + np.triu(drawn, 1).T


def _between(z: NDArray, ends: NDArray, n_blocks: int, directed: bool) -> NDArray[np.intp]:
    """The number of given pairs of vertices between each two blocks."""
    code = z[ends[:, 0]].astype(np.intp) * n_blocks + z[ends[:, 1]]
    counts = np.bincount(code, minlength=n_blocks**2).reshape(n_blocks, n_blocks)
    return counts if directed else counts + counts.T - np.diag(np.diag(counts))


def link_chances(fitted: Fitted, ends: NDArray) -> NDArray[np.float64]:
    """Posterior probability of a link for each pair of vertices, the columns of `ends`."""
    chances, beta = np.zeros(ends.shape[1]), fitted.likelihood.validate()
    labels = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)
    for z, weight in zip(labels, fitted.posterior.weights.ravel(), strict=True):
        if weight > 0.0:
            chance = Counts.of(z, fitted.X).mean(beta)
            chances += weight * chance[z[ends[0]], z[ends[1]]]
    return chances


def cluster_links(
    fitted: Fitted, level: float, max_draws: int | None = MOST_DRAWS, random_state: int = 0
) -> ClusterLinks:
    """Probabilities of links between the clusters of the point estimate."""
    posterior, beta = fitted.posterior, fitted.likelihood.validate()
    rng = np.random.default_rng(arguments.seed_sequence(random_state))
    chosen = spaced(posterior.weights.shape, max_draws)
    means, drawn = [], []
    for z in posterior.labels.reshape(-1, posterior.n_items)[chosen]:
        counts = Counts.of(z, fitted.X)
        average = Average(fitted.cluster_labels, z)
        means.append(average(counts.mean(beta)))
        drawn.append(average(counts.draw(beta, fitted.X.directed, rng)))
    weights = posterior.weights.ravel()[chosen]
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(drawn, [outside, 1.0 - outside], axis=0)
    return ClusterLinks(np.average(means, axis=0, weights=weights), low, high)


class Average:
    """Averages over the pairs of vertices of two clusters of what blocks have.

    Parameters
    ----------
    labels : ndarray of int
        The clusters; vertices with -1 are in none.
    z : ndarray of int
        The blocks of a draw.
    """

    def __init__(self, labels: NDArray, z: NDArray):
        inside = labels >= 0
        self._common = np.zeros((labels.max() + 1, z.max() + 1))
        np.add.at(self._common, (labels[inside], z[inside]), 1.0)
        sizes = self._common.sum(axis=1)
        self._n_pairs = np.outer(sizes, sizes) - np.diag(sizes)

    def __call__(self, of_blocks: NDArray) -> NDArray[np.float64]:
        """The averages by cluster, given values by block; pairs have two different vertices."""
        total = self._common @ of_blocks @ self._common.T
        total -= np.diag(self._common @ np.diag(of_blocks))
        with np.errstate(invalid="ignore"):
            return np.where(self._n_pairs > 0.0, total / self._n_pairs, np.nan)

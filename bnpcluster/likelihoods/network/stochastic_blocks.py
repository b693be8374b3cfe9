"""Clusters of the vertices of a network: the likelihood of the infinite relational model.

Every pair of blocks, including a block and itself, has one probability of a link. Blocks share
these probabilities, so the likelihood does not factorise over blocks. `block_counts` has the
counts.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import shown
from bnpcluster._core.operations import (
    add,
    clear,
    log_likelihood,
    log_marginal,
    log_marginal_pair,
    log_marginal_union,
    log_predictive,
    log_predictive_all,
    log_predictive_without,
    log_weights,
    log_weights_from_scores,
    padded,
    remove,
    rename,
    restore,
    withdraw,
)
from bnpcluster.likelihoods.base import LEAST, MOST, Likelihood
from bnpcluster.likelihoods.log_tables import Table
from bnpcluster.likelihoods.network.adjacency import as_graph, neighbours
from bnpcluster.likelihoods.network.block_counts import (
    beta_tables,
    clear_counts,
    count_links,
    log_beta,
    marginal,
    marginal_between,
    marginal_union,
    move_counts,
    predictive,
    predictive_all,
    shift,
    shrink_extent,
)

N_FEATURES = 10  # singular vectors as features of vertices, for k-means initialisation


class Relational(Likelihood):
    """Clusters of the vertices of a network with similar links.

    Every pair of clusters, including a cluster and itself, has one probability of a link, with
    prior ``Beta(a, b)``, integrated out. This is the likelihood of
    `bnpcluster.InfiniteRelationalModel`. Mixtures do not accept it, because their items are rows.

    Parameters
    ----------
    beta : (float, float), default=(1.0, 1.0)
        Prior counts of links and of absent links, (a, b), for every pair of clusters.
    directed : bool, default=False
        Whether links have a direction. If so, every ordered pair of clusters has its own
        probability.

    Notes
    -----
    The log likelihood is the sum over pairs of clusters of log B(a + p, b + t - p) - log B(a, b),
    for p links among t observed pairs of vertices. The time of a sweep is proportional to the
    number of links, and to the number of clusters that a vertex has links with times the number of
    clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Relational
    >>> bound = Relational().bind(np.array([[0, 1, 0], [1, 0, np.nan], [0, np.nan, 0]]))
    >>> bound.n_items
    3
    """

    is_of_rows = False

    def __init__(self, *, beta: Any = (1.0, 1.0), directed: bool = False):
        self.beta = beta
        self.directed = directed

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Networks of six vertices: undirected, directed, and both with unobserved pairs."""
        directed = (rng.random((6, 6)) < 0.4).astype(float)
        np.fill_diagonal(directed, 0.0)
        plain = np.triu(directed) + np.triu(directed).T
        plain_gaps, directed_gaps = plain.copy(), directed.copy()
        plain_gaps[[0, 1, 2, 4], [1, 0, 4, 2]] = np.nan
        directed_gaps[[0, 3, 4], [1, 2, 0]] = np.nan
        return [
            (cls(), plain),
            (cls(beta=(0.4, 2.5), directed=True), directed),
            (cls(beta=(0.7, 1.0)), plain_gaps),
            (cls(directed=True), directed_gaps),
        ]

    def validate(self) -> tuple[float, float]:
        """The pair (a, b); raise an error if a parameter is invalid."""
        if not isinstance(self.directed, (bool, np.bool_)):
            raise TypeError(f"directed must be True or False, got {self.directed!r}.")
        if not isinstance(self.beta, (tuple, list)) or len(self.beta) != 2:
            raise TypeError(f"beta must be a pair of positive numbers, got {self.beta!r}.")
        for value in self.beta:
            if not isinstance(value, numbers.Real) or isinstance(value, bool):
                raise TypeError(f"beta must be a pair of positive numbers, got {shown(self.beta)}.")
            if not LEAST <= as_float(value) <= MOST:
                raise ValueError(
                    f"beta must be a pair of positive numbers, from {LEAST:g} to {MOST:g}, got "
                    f"{shown(self.beta)}."
                )
        return float(self.beta[0]), float(self.beta[1])

    def bind(self, X: Any, capacity: int = 16) -> Any:
        """Prepare the adjacency matrix `X`, dense or sparse, for the kernels."""
        a, b = self.validate()
        graph, n = as_graph(X, self.directed), X.shape[0]
        start, ends = neighbours(graph.links, n, self.directed)
        unobserved_start, unobserved_ends = neighbours(graph.unobserved, n, self.directed)
        table, log_beta_0 = beta_tables(a, b, graph.n_pairs)
        n_directions, width = 1 + bool(self.directed), padded(capacity)
        return RelationalSlots(
            start,
            ends,
            unobserved_start,
            unobserved_ends,
            table,
            log_beta_0,
            slot_of=np.full(n, -1, np.intp),
            extent=np.zeros(1, np.intp),
            size=np.zeros(width, np.intp),
            links=np.zeros((width, width), np.intp),
            pairs=np.zeros((width, width), np.intp),
            none=np.zeros((width, width)),
            total=np.zeros(width),
            met=np.zeros((n_directions, width), np.intp),
            unobserved=np.zeros((n_directions, width), np.intp),
        )

    def features(self, X: Any) -> np.ndarray:
        """Singular vectors of the adjacency matrix: vertices with similar links are close."""
        rows, columns, values = as_graph(X, self.directed).entries()
        graph = csr_array((np.nan_to_num(values), (rows, columns)), shape=X.shape)
        if not graph.sum():
            return np.zeros((graph.shape[0], 1))
        # Without the scaling, the vertices with the most links would dominate.
        degree = 1.0 + np.asarray(graph.sum(axis=0) + graph.sum(axis=1)).ravel()
        scale = 1.0 / np.sqrt(degree + degree.mean())
        scaled = graph.multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
        count = min(N_FEATURES, scaled.shape[0] - 1)
        start = np.random.default_rng(0).normal(size=scaled.shape[0])
        left, values, right = svds(scaled, k=count, v0=start)
        both = np.concatenate([left, right.T], axis=1) if self.directed else left
        return both * np.tile(values, both.shape[1] // count)


class RelationalSlots(NamedTuple):
    """Lists of links and of unobserved pairs, the slot of every vertex, and counts per slot."""

    start: np.ndarray
    ends: np.ndarray  # of links, see `neighbours`
    unobserved_start: np.ndarray
    unobserved_ends: np.ndarray  # of unobserved pairs
    table: Table
    log_beta_0: float
    slot_of: np.ndarray  # by vertex; -1: in no slot
    extent: np.ndarray  # shape (1,): the last slot in use plus one
    size: np.ndarray
    links: np.ndarray  # by two slots
    pairs: np.ndarray  # observed pairs, by two slots
    none: np.ndarray  # none[l, k]: log probability that a vertex joining k has no link with l
    total: np.ndarray  # the sum over l of none[l, k]
    met: np.ndarray  # links of the current vertex, by direction and slot
    unobserved: np.ndarray  # unobserved pairs of the current vertex, likewise

    @property
    def slot_axis(self) -> dict[str, Any]:
        """The arrays that a chain owns, and the axes of their slots."""
        return {
            **dict.fromkeys(("slot_of", "extent"), ()),
            **dict.fromkeys(("size", "total"), 0),
            **dict.fromkeys(("links", "pairs", "none"), (0, 1)),
            **dict.fromkeys(("met", "unobserved"), 1),
        }

    @property
    def n_items(self) -> int:
        """The number of vertices."""
        return len(self.slot_of)


@clear.register(RelationalSlots)
def _clear(lik, k):
    if lik.size[k] > 0:
        for i in range(len(lik.slot_of)):
            if lik.slot_of[i] == k:
                lik.slot_of[i] = -1
        clear_counts(lik, k)
        shrink_extent(lik)


@add.register(RelationalSlots)
def _add(lik, k, i):
    lik.extent[0] = max(lik.extent[0], k + 1)
    count_links(lik, i)
    shift(lik, k, 1)
    lik.slot_of[i] = k


@remove.register(RelationalSlots)
def _remove(lik, k, i):
    lik.slot_of[i] = -1
    count_links(lik, i)
    shift(lik, k, -1)


withdraw.register(RelationalSlots)(_remove)
restore.register(RelationalSlots)(_add)


@rename.register(RelationalSlots)
def _rename(lik, to, source):
    if lik.size[source] > 0:
        lik.extent[0] = max(lik.extent[0], to + 1)
        move_counts(lik, to, source)
        for i in range(len(lik.slot_of)):
            if lik.slot_of[i] == source:
                lik.slot_of[i] = to


@log_predictive.register(RelationalSlots)
def _log_predictive(lik, k, i):
    count_links(lik, i)
    return predictive(lik, k, lik.slot_of[i])


log_predictive_without.register(RelationalSlots)(_log_predictive)


@log_predictive_all.register(RelationalSlots)
def _log_predictive_all(lik, i, start, stop, out):
    count_links(lik, i)
    for k in range(start, stop):
        out[k] = predictive(lik, k, lik.slot_of[i])


@log_weights.register(RelationalSlots)
def _log_weights(lik, i, own, beta, slack, partition):
    empty = partition.n_blocks[0]
    count_links(lik, i)
    predictive_all(lik, own, empty, partition.scores)
    partition.scores[empty] = predictive(lik, empty, own)
    return log_weights_from_scores(lik, i, own, beta, slack, empty + 1, partition)


@log_marginal.register(RelationalSlots)
def _log_marginal(lik, k):
    return marginal(lik, k)


@log_marginal_pair.register(RelationalSlots)
def _log_marginal_pair(lik, one, two):
    return marginal(lik, one) + marginal(lik, two) - marginal_between(lik, one, two)


@log_marginal_union.register(RelationalSlots)
def _log_marginal_union(lik, one, two, spare, labels):
    return marginal_union(lik, one, two)


@log_likelihood.register(RelationalSlots)
def _log_likelihood(lik, n_blocks):
    total = 0.0
    for k in range(n_blocks):
        total += log_beta(lik, lik.links[k, k], lik.pairs[k, k])
        for other in range(k):
            total += marginal_between(lik, k, other)
    return total

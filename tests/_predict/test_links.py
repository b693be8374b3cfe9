"""Probabilities of links between clusters, against sums over pairs and over all partitions."""

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution

from bnpcluster import InfiniteRelationalModel
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._predict.links import Average, Counts, cluster_links, link_chances
from bnpcluster.likelihoods import Relational
from bnpcluster.likelihoods.network.adjacency import as_graph
from bnpcluster.posterior import Posterior

GAP = np.nan
UNDIRECTED = np.array(
    [
        [0, 1, 1, 0, 0],
        [1, 0, 1, 0, GAP],
        [1, 1, 0, 1, 0],
        [0, 0, 1, 0, 1],
        [0, GAP, 0, 1, 0],
    ]
)
DIRECTED = np.array(
    [
        [0, 1, 1, 0, 0],
        [0, 0, 1, 0, GAP],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
        [0, 1, 0, 1, 0],
    ]
)
CASES = [
    pytest.param(UNDIRECTED, False, id="undirected"),
    pytest.param(DIRECTED, True, id="directed"),
]
LABELS = np.array([0, 0, 0, 1, 2])


def fitted(A, directed, draws, labels=LABELS):
    """A record of some draws, and a point estimate."""
    likelihood, graph = Relational(beta=(1.5, 0.5), directed=directed), as_graph(A, directed)
    posterior = Posterior(np.array(draws)[None])
    return Fitted(likelihood, likelihood.bind(graph), posterior, None, labels, X=graph)


def chance(A, directed, z, i, j):
    """The posterior mean of the probability of a link from vertex i to j, pair by pair."""
    links, pairs = 1.5, 2.0
    for a in range(len(A)):
        for b in range(len(A)):
            same = z[a] == z[i] and z[b] == z[j]
            if a == b or np.isnan(A[a, b]) or not same:
                continue
            if not directed and z[i] == z[j] and a > b:
                continue
            links, pairs = links + A[a, b], pairs + 1.0
    return links / pairs


@pytest.mark.parametrize(("A", "directed"), CASES)
def test_means_are_those_of_all_pairs(A, directed):
    draws = [[0, 0, 1, 1, 2], [0, 0, 0, 1, 1], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]]
    record = fitted(A, directed, draws)
    expected = np.zeros((3, 3))
    for c in range(3):
        for d in range(3):
            pairs = [
                (i, j)
                for i in np.flatnonzero(LABELS == c)
                for j in np.flatnonzero(LABELS == d)
                if i != j
            ]
            expected[c, d] = np.nan
            if pairs:
                expected[c, d] = np.mean(
                    [chance(A, directed, np.array(z), i, j) for z in draws for i, j in pairs]
                )
    found = cluster_links(record, 0.9, max_draws=None)
    np.testing.assert_allclose(found.mean, expected, atol=1e-12)
    assert np.isnan(found.low[1, 1]) and np.isnan(found.high[2, 2])
    assert (found.low[0] < found.mean[0]).all() and (found.mean[0] < found.high[0]).all()
    ends = np.array([[0, 1], [3, 2], [4, 1]]).T
    one_by_one = [
        np.mean([chance(A, directed, np.array(z), i, j) for z in draws]) for i, j in ends.T
    ]
    np.testing.assert_allclose(link_chances(record, ends), one_by_one, atol=1e-12)


@pytest.mark.parametrize(("A", "directed"), CASES)
def test_intervals_are_those_of_the_beta_posterior(A, directed):
    """The same partition in all draws: what differs is drawn."""
    z = np.array([0, 0, 0, 1, 1])
    record = fitted(A, directed, [z] * 4000, labels=z)
    found, counts = cluster_links(record, 0.8, max_draws=None), Counts.of(z, record.X)
    for q, ends in ((0.1, found.low), (0.9, found.high)):
        exact = beta_distribution(1.5 + counts.links, 0.5 + counts.others).ppf(q)
        np.testing.assert_allclose(ends, exact, atol=0.03)
    if not directed:
        np.testing.assert_array_equal(found.low, found.low.T)


def test_vertices_in_no_cluster_count_nowhere():
    values = np.array([[0.1, 0.6], [0.6, 0.9]])
    some, all_of_them = np.array([0, 0, 0, -1, 1]), np.array([0, 0, 0, 1])
    z = np.array([0, 0, 1, 1, 1])
    without = Average(all_of_them, z[[0, 1, 2, 4]])(values)
    np.testing.assert_allclose(Average(some, z)(values), without)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 15)
    chances = np.array([[0.8, 0.05], [0.05, 0.4]])[groups[:, None], groups]
    A = np.triu(rng.random((30, 30)) < chances, k=1).astype(float)
    return InfiniteRelationalModel(random_state=0).fit(A + A.T)


def test_clusters_of_a_network_are_described(model):
    found = model.link_probabilities_
    assert found.shape == (2, 2)
    np.testing.assert_allclose(found, [[0.8, 0.05], [0.05, 0.4]], atol=0.2)
    table = model.describe()
    assert list(table["size"]) == np.bincount(model.labels_).tolist()
    np.testing.assert_array_equal(table["links_within"], np.diag(found))
    np.testing.assert_array_equal(table["links_to_1"], found[:, 1])
    assert (table["links_within_low"] < table["links_within"]).all()
    text = str(model.report())
    assert "cluster 0" in text and "links within 0." in text and "vertices, certainty" in text


def test_vertices_have_the_names_of_a_frame(model):
    pandas = pytest.importorskip("pandas")
    names = [f"v{i}" for i in range(6)]
    A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    frame = pandas.DataFrame(A, index=names, columns=names)
    found = InfiniteRelationalModel(random_state=0).fit(frame).describe()
    assert set(", ".join(found["typical_vertices"]).split(", ")) <= set(names)

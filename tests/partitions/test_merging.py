"""Joins of overlapping components, by their memberships alone."""

import itertools

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage
from scipy.stats import norm

from bnpcluster.partitions import merge_tree


def written_out(tau):
    """The joins, step by step and pair by pair, with groups of components instead of numbers."""
    groups = {(k,): tau[:, k].copy() for k in range(tau.shape[1])}
    joins = []
    while len(groups) > 1:
        names = list(groups)
        best = np.argmax([groups[name] for name in names], axis=0)
        found = {}
        for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
            to_a, to_b = groups[b][best == i].sum(), groups[a][best == j].sum()
            found[a, b] = max(to_a / groups[b].sum(), to_b / groups[a].sum())
        a, b = max(found, key=found.get)
        joined = groups.pop(a) + groups.pop(b)
        groups = {tuple(sorted(a + b)): joined, **groups}
        joins.append((tuple(sorted(a + b)), found[a, b], joined.sum()))
    return joins


def members(tree):
    """The components of every node."""
    found = [(k,) for k in range(tree.n_components)]
    for a, b in tree.joined:
        found.append(tuple(sorted(found[a] + found[b])))
    return found[tree.n_components :]


@pytest.mark.parametrize("seed", range(8))
def test_the_joins_are_those_of_a_plain_loop(seed):
    tau = np.random.default_rng(seed).dirichlet(np.full(6, 0.3), size=40)
    tree, expected = merge_tree(tau), written_out(tau)
    assert members(tree) == [group for group, _, _ in expected]
    np.testing.assert_allclose(tree.overlaps, [overlap for _, overlap, _ in expected])
    np.testing.assert_allclose(tree.sizes, [size for _, _, size in expected])


def test_planted_overlaps_are_found():
    """Two pairs of Gaussians: a pair errs with probability Phi(-distance / 2)."""
    centres = np.array([0.0, 2.0, 20.0, 23.0])
    x = np.concatenate([norm.ppf((np.arange(4000) + 0.5) / 4000) + c for c in centres])
    density = norm.pdf(x[:, None], centres)
    tree = merge_tree(density / density.sum(axis=1, keepdims=True))
    assert members(tree) == [(0, 1), (2, 3), (0, 1, 2, 3)]
    np.testing.assert_allclose(tree.overlaps, norm.cdf([-1.0, -1.5, -8.5]), atol=2e-3)
    np.testing.assert_allclose(tree.sizes, [8000, 8000, 16000])
    assert tree.cut(0.1).tolist() == [0, 0, 1, 2]
    assert tree.cut(0.01).tolist() == [0, 0, 1, 1]
    assert tree.cut().tolist() == tree.cut(0.9).tolist() == [0, 1, 2, 3]


def test_an_overlap_counts_the_errors_in_both_directions():
    """Of the rows of the small one, most go to the large one, which loses hardly any."""
    tau = np.array([[0.9, 0.1, 0.0]] * 20 + [[0.3, 0.7, 0.0]] + [[0.0, 0.0, 1.0]] * 5)
    tree = merge_tree(tau)
    assert tree.overlaps[0] == pytest.approx(2.0 / 2.7)
    assert tree.joined[0].tolist() == [0, 1]


def test_a_cut_stops_at_the_first_overlap_below_the_threshold():
    """Even if a later one is larger: the joins are made one after another."""
    tau = next(
        tau
        for seed in range(1000)
        if np.diff(merge_tree(tau := planted(seed)).overlaps).max() > 0.02
    )
    tree = merge_tree(tau)
    j = int(np.diff(tree.overlaps).argmax())
    between = (tree.overlaps[j] + tree.overlaps[j + 1]) / 2
    assert len(set(tree.cut(between))) >= tree.n_components - j
    assert (np.diff(tree.levels) <= 0).all()
    assert (tree.levels <= tree.overlaps).all()


def planted(seed):
    return np.random.default_rng(seed).dirichlet(np.full(5, 0.5), size=30)


def test_the_cap_goes_on_with_the_joins():
    trees = (merge_tree(planted(seed)) for seed in range(1000))
    tree = next(tree for tree in trees if (np.diff(tree.overlaps) < 0).all())
    assert [len(set(tree.cut(None, most))) for most in (1, 2, 3, 4, 5, 9)] == [1, 2, 3, 4, 5, 5]
    level = tree.levels[1]
    np.testing.assert_array_equal(tree.cut(level, 4), tree.cut(level))  # two joins, three clusters
    np.testing.assert_array_equal(tree.cut(level, 2), tree.cut(None, 2))
    assert len(set(tree.cut(level))) == 3  # a join exactly at the threshold is made


def test_clusters_are_numbered_by_their_first_component():
    tau = np.eye(4)
    tau[3] = [0.0, 0.4, 0.0, 0.6]
    assert merge_tree(tau).cut(None, 3).tolist() == [0, 1, 2, 1]


def test_weights_are_repeated_rows():
    tau, counts = planted(3), np.random.default_rng(0).integers(1, 4, size=30)
    one, two = merge_tree(tau, counts), merge_tree(np.repeat(tau, counts, axis=0))
    np.testing.assert_array_equal(one.joined, two.joined)
    np.testing.assert_allclose(one.overlaps, two.overlaps)
    np.testing.assert_allclose(one.sizes, two.sizes)


@pytest.mark.parametrize("seed", range(3))
def test_the_linkage_is_one_of_scipy(seed):
    tree = merge_tree(planted(seed))
    linkage = tree.linkage()
    assert is_valid_linkage(linkage, throw=True)
    assert is_monotonic(linkage)
    assert linkage[-1, 3] == 5
    for threshold in (0.05, 0.2, 0.4):
        flat = fcluster(linkage, 1.0 - threshold, "distance")
        cut = tree.cut(threshold)
        np.testing.assert_array_equal(flat[:, None] == flat, cut[:, None] == cut)


def test_few_components_and_components_without_rows():
    one = merge_tree(np.ones((3, 1)))
    assert one.n_components == 1
    assert one.cut(0.1, 1).tolist() == [0]
    assert one.linkage().shape == (0, 4)
    tau = np.column_stack([np.ones(4), np.zeros(4)])
    assert merge_tree(tau).overlaps.tolist() == [0.0]


@pytest.mark.parametrize("tau", [[1.0, 0.0], [[np.nan, 1.0]], [[-0.1, 1.1]], np.ones((0, 3))])
def test_what_is_not_a_membership_is_refused(tau):
    with pytest.raises(ValueError, match="membership must contain non-negative numbers"):
        merge_tree(tau)

"""Which pairs are followed, and how far chains are apart in them beyond Monte Carlo error."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bnpcluster.diagnostics.agreement import (
    CANDIDATES,
    N_PAIRS,
    NEAREST,
    candidates,
    largest_difference,
    neighbour_pairs,
    togetherness,
    typical_draws,
)
from bnpcluster.partitions import variation_of_information


def test_pairs_are_near_neighbours_and_depend_on_the_data_alone():
    X = np.random.default_rng(0).normal(size=(300, 3))
    pairs = neighbour_pairs(candidates(300), X)
    assert pairs.shape == (N_PAIRS, 2) and (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == N_PAIRS
    ranks = cdist(X, X).argsort(axis=1).argsort(axis=1)
    nearest = np.minimum(ranks[pairs[:, 0], pairs[:, 1]], ranks[pairs[:, 1], pairs[:, 0]])
    assert nearest.max() <= NEAREST
    np.testing.assert_array_equal(pairs, neighbour_pairs(candidates(300), X))


def test_few_items_have_all_pairs_and_many_a_sample():
    assert len(neighbour_pairs(candidates(6), None)) == 15
    some = candidates(3 * CANDIDATES)
    assert len(some) == CANDIDATES and some.max() > 2 * CANDIDATES
    pairs = neighbour_pairs(some, np.arange(CANDIDATES)[:, None])
    places = np.searchsorted(some, pairs)
    assert np.abs(np.diff(places)).max() <= NEAREST and set(pairs.ravel()) <= set(some)
    assert len(neighbour_pairs(some, None)) == N_PAIRS


def markov(rng, stay, n_chains, n_draws):
    """Chains of 0 and 1 that stay with this probability; half of their draws are 1."""
    moves = rng.random((n_chains, n_draws)) > stay
    start = rng.integers(2, size=(n_chains, 1))
    return (start + moves.cumsum(axis=1)) % 2


@pytest.mark.parametrize(("stay", "n_draws"), [(0.5, 400), (0.9, 2000)])
def test_chains_of_one_distribution_hardly_differ_beyond_monte_carlo_error(stay, n_draws):
    beyond = []
    for seed in range(40):
        chains = markov(np.random.default_rng(seed), stay, 4, n_draws)
        beyond.append(largest_difference(chains[:, :, None]).beyond)
    # The largest of six differences exceeds two standard errors now and then, by little.
    assert np.mean(np.array(beyond) > 0) < 0.4
    assert max(beyond) < 0.1


def test_a_difference_is_measured_less_two_standard_errors():
    rng = np.random.default_rng(0)
    together = rng.random((2, 2000, 3)) < np.array([[0.9, 0.5, 0.2], [0.9, 0.9, 0.2]])[:, None]
    found = largest_difference(together)
    error = 2 * np.sqrt((0.25 + 0.09) / 2000)
    assert found.pair == 1 and found.chains == (0, 1)
    assert found.shares == pytest.approx((0.5, 0.9), abs=0.03)
    gap = found.shares[1] - found.shares[0]
    assert gap - 1.5 * error < found.beyond < gap - 0.7 * error


def test_slow_chains_have_larger_errors_and_stuck_ones_none():
    rng = np.random.default_rng(1)
    slow = markov(rng, 0.99, 1, 2000)
    together = np.stack([np.ones((2000, 1)), slow.T])  # a share of 1 beside one of about a half
    gap, independent = 1.0 - slow.mean(), np.sqrt(0.25 / 2000)
    assert largest_difference(together).beyond < gap - 8 * independent
    stuck = np.stack([np.zeros((50, 1)), np.ones((50, 1))])
    assert largest_difference(stuck).beyond == 1.0


def test_the_halves_of_a_single_chain_are_compared():
    together = np.zeros((1, 100, 2))
    together[:, 50:, 1] = 1
    found = largest_difference(together)
    assert (found.beyond, found.pair, found.chains) == (1.0, 1, (0, 1))


def test_togetherness_is_by_draw_and_pair():
    draws = np.array([[[0, 0, 1], [0, 1, 1]]])
    found = togetherness(draws, np.array([[0, 1], [1, 2]]))
    assert found.tolist() == [[[True, False], [False, True]]]


def test_a_typical_draw_is_the_most_central_one():
    rng = np.random.default_rng(2)
    centre = np.repeat([0, 1], 10)
    labels = np.tile(centre, (1, 9, 1))
    for r in range(8):
        labels[0, r, rng.integers(20)] = 2
    (typical,) = typical_draws(labels)
    assert variation_of_information(typical, centre) == pytest.approx(0.0)

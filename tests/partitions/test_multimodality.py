"""The search against all partitions, unequal costs, caps, modes, uncertainty, pairs and strips."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import issparse

from bnpcluster.partitions import (
    coclustering,
    coclustering_matrix,
    coclustering_strips,
    exhaustive,
    expected_loss,
    item_uncertainty,
    label_draws,
    modes,
    multimodality,
    multistart,
    point_estimate,
    relabel,
)
from bnpcluster.posterior import LazyCoclustering, Posterior
from bnpcluster.testing import all_partitions

LOSSES = ["vi", "binder"]
ALL = {n: all_partitions(n).astype(np.int32) for n in (4, 6, 8)}


def scattered(rng, n_draws, centre, noise):
    other = rng.integers(len(centre), size=(n_draws, len(centre)))
    return np.where(rng.random(other.shape) < noise, other, centre)


def uniform_labels(rng, n, n_draws):
    return rng.integers(rng.integers(1, n + 1), size=(n_draws, n))


def urn(rng, n, n_draws):
    draws = np.zeros((n_draws, n), dtype=int)
    for row in draws:
        for i in range(1, n):
            row[i] = i if rng.random() < 1.5 / (i + 1.5) else row[rng.integers(i)]
    return draws


def near_duplicates(rng, n, n_draws):
    return scattered(rng, n_draws, rng.integers(n, size=n), 0.3)


def of_several_modes(rng, n, n_draws):
    centres = rng.integers(n, size=(3, n))
    return np.concatenate([scattered(rng, 1 + n_draws // 3, c, 0.15) for c in centres])


def of_all_partitions(rng, n, n_draws):
    return ALL[n][rng.integers(len(ALL[n]), size=n_draws)]


KINDS = [uniform_labels, urn, near_duplicates, of_several_modes, of_all_partitions]


def least(draws, weights, loss, n, **options):
    """The least expected loss over all partitions, and whether they have few enough clusters."""
    candidates, most = ALL[n], options.get("max_clusters") or n
    gain, cost = label_draws.block_gain(loss, n), options.get("cost", 1.0)
    # Exchanging the two partitions exchanges the two costs.
    total = sum(
        w * label_draws.distances_canonical(row, candidates, gain, 2.0 - cost)
        for w, row in zip(weights, label_draws.canonical(draws)[0], strict=True)
    )
    return (total / weights.sum())[candidates.max(axis=1) < most].min()


@pytest.mark.parametrize("n", [4, 6, 8])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_search_alone_finds_the_least_of_all_partitions(kind, loss, n, monkeypatch):
    monkeypatch.setattr(exhaustive, "FEW_ITEMS", 0)
    rng = np.random.default_rng(n)
    for trial in range(8):
        draws = kind(rng, n, rng.choice([2, 5, 12]))
        weights = rng.exponential(size=len(draws)) ** 3 if trial % 2 else np.ones(len(draws))
        found = expected_loss(draws, point_estimate(draws, loss, weights=weights), loss, weights)
        assert found == pytest.approx(least(draws, weights, loss, n), abs=1e-9)


@pytest.mark.parametrize("few_items", [0, 10], ids=["search", "list"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{"cost": 0.5}, {"cost": 1.7}, {"max_clusters": 2}])
def test_costs_and_caps_keep_the_search_exact(loss, options, few_items, monkeypatch):
    monkeypatch.setattr(exhaustive, "FEW_ITEMS", few_items)
    rng = np.random.default_rng(5)
    for trial in range(20):
        draws = KINDS[trial % 5](rng, 6, 7)
        weights = rng.exponential(size=len(draws))
        estimate = point_estimate(draws, loss, weights=weights, **options)
        assert estimate.max() < options.get("max_clusters", 6)
        cost = options.get("cost", 1.0)
        found = expected_loss(draws, estimate, loss, weights, cost=cost)
        assert found == pytest.approx(least(draws, weights, loss, 6, **options), abs=1e-9)


def test_the_cost_weighs_separated_pairs_against_joined_ones():
    separated, joined = ([0, 0, 0], [0, 0, 1]), ([0, 0, 1], [0, 0, 0])  # draw, estimate
    for cost in (0.4, 1.0, 1.5):
        a, b = (expected_loss([d], e, "binder", cost=cost) for d, e in (separated, joined))
        assert (a, b) == pytest.approx((2 * cost, 2 * (2 - cost)))
        conditional = np.log(3) - 2 / 3 * np.log(2)  # of two blocks of 2 and 1 given one block
        a, b = (expected_loss([d], e, "vi", cost=cost) for d, e in (separated, joined))
        assert (a, b) == pytest.approx((cost * conditional, (2 - cost) * conditional))


def test_dearer_separation_leaves_fewer_clusters():
    draws = scattered(np.random.default_rng(6), 60, np.repeat(np.arange(6), 10), 0.4)
    numbers = [point_estimate(draws, "binder", cost=c).max() for c in (0.3, 1.0, 1.6)]
    assert numbers[0] > numbers[1] > numbers[2]


def test_a_cap_holds_when_even_a_single_draw_has_more_clusters():
    assert point_estimate([[0, 0, 0, 1, 2]], max_clusters=2).max() == 1
    assert point_estimate([[0, 0, 0, 1, 2]], max_clusters=3).tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_rough_search_with_few_draws_ends_where_no_item_gains(loss, monkeypatch):
    rng = np.random.default_rng(7)
    draws = scattered(rng, 400, np.repeat(np.arange(5), 12), 0.5)
    careful = expected_loss(draws, point_estimate(draws, loss), loss)
    for name, value in (("FEW_DRAWS", 30), ("ROUGH_LABELS", 1)):
        monkeypatch.setattr(multistart, name, value)
    used, search = [], multistart.Search

    def record(labels, *args):
        used.append(len(labels))
        return search(labels, *args)

    monkeypatch.setattr(multistart, "Search", record)
    estimate = point_estimate(draws, loss)
    assert used == [30, 400]
    found = expected_loss(draws, estimate, loss)
    assert found == pytest.approx(careful, rel=1e-3)
    for i in range(0, 60, 10):
        for k in range(estimate.max() + 2):
            other = estimate.copy()
            other[i] = k
            assert expected_loss(draws, other, loss) > found - 1e-9


def naive_uncertainty(draws, estimate, weights):
    total = np.zeros(len(estimate))
    for row, weight in zip(draws, weights / weights.sum(), strict=True):
        for i in range(len(estimate)):
            mine, theirs = estimate == estimate[i], row == row[i]
            total[i] += weight * (1 - np.sum(mine & theirs) / np.sum(mine | theirs))
    return total


def test_uncertainty_is_the_expected_share_of_companions_that_differ():
    rng = np.random.default_rng(8)
    draws, weights = rng.integers(-2, 2, size=(9, 11)), rng.random(9)
    estimate = rng.integers(3, size=11)
    found = item_uncertainty(draws, estimate, weights=weights)
    np.testing.assert_allclose(found, naive_uncertainty(draws, estimate, weights), atol=1e-14)
    assert item_uncertainty(np.tile(estimate, (4, 1)), estimate).tolist() == [0.0] * 11


@pytest.mark.parametrize("loss", LOSSES)
def test_the_parts_of_the_items_sum_to_the_expected_loss(loss, monkeypatch):
    monkeypatch.setattr(label_draws, "CHUNK_CELLS", 40)
    rng = np.random.default_rng(9)
    draws, weights, estimate = (
        rng.integers(4, size=(20, 13)),
        rng.random(20),
        rng.integers(3, size=13),
    )
    parts = item_uncertainty(draws, estimate, loss, weights=weights)
    assert parts.sum() == pytest.approx(expected_loss(draws, estimate, loss, weights))
    if loss == "binder":
        probability = coclustering(draws, weights)
        together = estimate[:, None] == estimate
        np.testing.assert_allclose(parts, np.abs(together - probability).sum(axis=1) / 2)


def test_modes_of_a_mixture_are_found_with_their_masses():
    rng = np.random.default_rng(10)
    centres = [rng.integers(4, size=60) for _ in range(3)]
    draws = np.concatenate(
        [scattered(rng, m, c, 0.02) for m, c in zip((600, 300, 100), centres, strict=True)]
    )
    order = rng.permutation(1000)
    found = modes(draws[order])
    assert [m.mass for m in found] == [0.6, 0.3, 0.1]
    for mode, centre, start in zip(found, centres, (0, 600, 900), strict=True):
        assert mode.labels.tolist() == relabel(centre).tolist()
        own = draws[start : start + len(mode.draws)]
        assert sorted(order[mode.draws]) == list(range(start, start + len(own)))
        assert mode.spread == pytest.approx(expected_loss(own, centre))
    assert "60.0% of the draws" in str(found[0])


def test_weights_are_the_masses_of_modes():
    rng = np.random.default_rng(11)
    centres = rng.integers(3, size=(2, 40))
    draws = np.concatenate([scattered(rng, 50, c, 0.02) for c in centres])
    weights = np.repeat([1.0, 9.0], 50) * rng.exponential(size=100)
    weights[7] = 0.0
    found = modes(draws, weights=weights)
    expected = weights[50:].sum() / weights.sum()
    assert [m.mass for m in found] == pytest.approx([expected, 1 - expected])
    assert 7 not in found[1].draws and len(found[1].draws) == 49


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2, 0.9])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_single_cloud_of_draws_is_one_mode(noise, loss):
    draws = scattered(np.random.default_rng(12), 300, np.repeat(np.arange(4), 15), noise)
    (mode,) = modes(draws, loss)
    assert mode.mass == 1.0 and len(mode.draws) == 300
    assert mode.labels.tolist() == point_estimate(draws, loss).tolist()


@pytest.mark.parametrize(("together", "n_groups", "share"), [(1, 4, 0.5), (2, 4, 0.5), (1, 2, 0.1)])
@pytest.mark.parametrize("loss", LOSSES)
def test_items_that_waver_each_for_itself_make_no_modes(loss, together, n_groups, share):
    rng = np.random.default_rng(13)
    draws = np.tile(np.repeat([0, 1], 20), (500, 1))
    elsewhere = rng.random((500, n_groups)) < share  # four: sixteen partitions of mass 1/16
    draws[:, : together * n_groups] = np.repeat(elsewhere, together, axis=1)
    assert len(modes(draws, loss)) == 1


def test_partitions_one_item_apart_are_told_from_all_others():
    """They are those that are equal once some item is left out."""
    for a in all_partitions(5):
        for b in all_partitions(5):
            rest = [[relabel(np.delete(z, i)).tolist() for z in (a, b)] for i in range(5)]
            assert multimodality._one_item_apart(a, b) == any(one == other for one, other in rest)
    labels = np.array([7, -1, 7, 3])  # any integers
    assert multimodality._one_item_apart(labels, np.array([0, 1, 0, 0]))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_far_mode_hides_no_near_ones(noise):
    rng = np.random.default_rng(18)
    three, two = np.repeat([0, 1, 2], 20), np.repeat([0, 1], 30)
    centres, shares = (three, two, rng.permutation(three)), (34, 33, 32)
    draws = np.concatenate(
        [scattered(rng, m, c, noise) for m, c in zip(shares, centres, strict=True)]
    )
    found = modes(draws)
    assert [len(m.draws) for m in found] == [34, 33, 32]
    for mode, centre in zip(found, centres, strict=True):
        assert mode.labels.tolist() == relabel(centre).tolist()


def test_draws_that_are_counted_or_repeated_have_the_same_modes():
    draws = np.array([np.repeat([0, 1, 2], 20), np.repeat([0, 1], 30), np.arange(60) % 3])
    for counts in ((5, 4, 3), (1, 1, 1)):
        repeated, counted = modes(np.repeat(draws, counts, axis=0)), modes(draws, weights=counts)
        assert [m.mass for m in repeated] == [m.mass for m in counted]
        assert [m.mass for m in counted] == pytest.approx(np.array(counts) / sum(counts))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_separate_clouds_are_modes_however_far_from_one_another(loss, seed):
    rng = np.random.default_rng(seed)
    centres = [rng.integers(rng.integers(2, 6), size=40) for _ in range(4)]
    for k in (1, 3, 4):
        draws = np.concatenate([scattered(rng, 30, c, 0.02) for c in centres[:k]])
        assert [m.mass for m in modes(draws, loss)] == [1 / k] * k


@pytest.mark.parametrize("seed", range(8))
def test_heavy_draws_are_no_modes_beside_others_of_their_kind(seed):
    rng = np.random.default_rng(seed)
    centres = np.repeat([0, 1, 2, 3], 15), rng.integers(3, size=60)
    draws = np.concatenate([scattered(rng, 60, c, 0.05) for c in centres])
    typical = np.argsort(label_draws.distances(centres[0], draws[:60], "vi"))[[29, 30]]
    weights = np.repeat([1.0, 4.0], 60)
    weights[typical] = 200.0
    assert [len(m.draws) for m in modes(draws, weights=weights)] == [60, 60]


def test_small_groups_belong_to_the_nearest_mode():
    rng = np.random.default_rng(14)
    centres = rng.integers(4, size=(2, 50))
    draws = np.concatenate([np.tile(c, (m, 1)) for c, m in zip(centres, (97, 3), strict=True)])
    assert [m.mass for m in modes(draws)] == [1.0]
    assert [m.mass for m in modes(draws, min_mass=0.02)] == [0.97, 0.03]


def test_many_draws_of_little_weight_make_no_mode():
    centres = np.random.default_rng(20).integers(4, size=(2, 50))
    draws, weights = np.repeat(centres, [30, 10], axis=0), np.repeat([1.0, 0.05], [30, 10])
    assert [m.mass for m in modes(draws, weights=weights)] == [1.0]
    assert len(modes(draws)) == 2


def test_modes_that_overlap_need_less_separation():
    rng = np.random.default_rng(15)
    joined = np.repeat(np.arange(5), 20)
    split = np.where(np.arange(100) < 10, 5, joined)
    draws = np.concatenate([scattered(rng, 100, c, 0.06) for c in (joined, split)])
    assert len(modes(draws)) == 1
    assert [m.mass for m in modes(draws, separation=1.05)] == [0.5, 0.5]


def test_modes_look_at_some_items_and_draws_only_where_they_are_many(monkeypatch):
    rng = np.random.default_rng(16)
    centres = rng.integers(3, size=(2, 90))
    draws = np.concatenate(
        [scattered(rng, m, c, 0.02) for m, c in ((60, centres[0]), (30, centres[1]))]
    )
    shapes, distances = [], label_draws.all_distances

    def record(some, loss):
        shapes.append(some.shape)
        return distances(some, loss)

    monkeypatch.setattr(label_draws, "all_distances", record)
    monkeypatch.setattr(multimodality, "MOST_ITEMS", 40)
    monkeypatch.setattr(multimodality, "MOST_COMPARED", 30)
    found = modes(draws)
    assert shapes == [(30, 30)]
    assert [len(m.draws) for m in found] == [60, 30]


def test_pairs_are_the_entries_of_the_matrix():
    rng = np.random.default_rng(17)
    for weights in (None, rng.random(12)):
        draws = rng.integers(-1, 300, size=(12, 9)) // 100
        full = coclustering(draws, weights)
        pairs = rng.integers(-9, 9, size=(40, 2))
        found = coclustering(draws, weights, pairs=pairs)
        np.testing.assert_allclose(found, full[pairs[:, 0], pairs[:, 1]], atol=1e-14)
        assert np.all(coclustering(draws, weights, pairs=[[3, 3], [5, 5]]) == 1.0)
    assert coclustering(draws, pairs=np.zeros((0, 2), int)).shape == (0,)


@pytest.mark.parametrize("threshold", [None, 0.4])
@pytest.mark.parametrize("height", [None, 1, 4])
def test_strips_are_the_matrix_in_pieces(threshold, height):
    rng = np.random.default_rng(18)
    draws, weights = rng.integers(3, size=(8, 10)), rng.random(8)
    rows, columns = [7, 2, 2, 9, 0], slice(1, None)
    expected = coclustering(draws, weights)[np.ix_(rows, range(1, 10))]
    if threshold:
        expected[expected < threshold] = 0.0
    strips = list(
        coclustering_strips(
            draws, weights, rows=rows, columns=columns, threshold=threshold, height=height
        )
    )
    assert [len(items) for items, _ in strips] == {None: [5], 1: [1] * 5, 4: [4, 1]}[height]
    assert np.concatenate([items for items, _ in strips]).tolist() == rows
    assert all(issparse(strip) == (threshold is not None) for _, strip in strips)
    dense = np.vstack([strip.toarray() if threshold else strip for _, strip in strips])
    np.testing.assert_allclose(dense, expected, atol=1e-14)


def test_streaming_holds_one_strip_at_a_time():
    n = 20_000
    draws = (np.arange(n) % 3).astype(np.uint8)[None]
    next(coclustering_strips(draws, height=1))
    tracemalloc.start()
    total = 0.0
    for number, (_, strip) in enumerate(coclustering_strips(draws, height=5)):
        total += strip.sum()
        if number == 20:
            break
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == pytest.approx(21 * 5 * n / 3, rel=1e-3)
    assert peak < 40 * 8 * n


def test_a_sparse_matrix_that_is_not_sparse_is_refused(monkeypatch):
    monkeypatch.setattr(coclustering_matrix, "MAX_DENSE_BYTES", 20_000)
    monkeypatch.setattr(label_draws, "CHUNK_CELLS", 1000)
    draws = np.zeros((1, 100), dtype=int)
    with pytest.raises(ValueError, match=r"first 20 rows of the sparse .* coclustering_strips"):
        coclustering(draws, threshold=0.5)
    assert coclustering(np.arange(100)[None], threshold=0.5).nnz == 100


def test_a_posterior_passes_its_weights_on():
    rng = np.random.default_rng(19)
    posterior = Posterior(rng.integers(3, size=(2, 9, 8)), weights=rng.random((2, 9)))
    flat, weights = posterior.labels.reshape(-1, 8), posterior.weights.ravel()
    full = posterior.coclustering()
    pairs = [[0, 1], [7, 3]]
    assert posterior.coclustering(pairs=pairs).tolist() == [full[0, 1], full[7, 3]]
    assert LazyCoclustering(posterior).pairs(pairs).tolist() == [full[0, 1], full[7, 3]]
    strips = [strip for _, strip in posterior.coclustering_strips(height=3, columns=[2, 5])]
    assert np.array_equal(np.vstack(strips), full[:, [2, 5]])
    for loss in (None, "binder"):
        centre = posterior.point_estimate(loss or "vi")
        expected = item_uncertainty(flat, centre, loss, weights=weights)
        assert np.array_equal(posterior.item_uncertainty(loss), expected)
    (mode,) = posterior.modes(min_mass=1.0)
    assert mode.labels.tolist() == posterior.point_estimate().tolist()
    assert mode.spread == pytest.approx(expected_loss(flat, mode.labels, weights=weights))
    costly = point_estimate(flat, "vi", weights=weights, cost=1.8, max_clusters=2)
    assert posterior.point_estimate(cost=1.8, max_clusters=2).tolist() == costly.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: point_estimate([[0, 1]], cost=2.0), "cost must be above 0 and below 2"),
        (lambda: point_estimate([[0, 1]], max_clusters=0), "max_clusters must be at least 1"),
        (lambda: modes([[0, 1]], separation=1.0), "separation must be above 1"),
        (lambda: modes([[0, 1]], min_mass=0.0), "min_mass"),
        (lambda: modes([[0, 1]], "rand"), "available: 'vi', 'binder'"),
        (lambda: item_uncertainty([[0, 1]], [0, 1], "rand"), "available: 'vi', 'binder'"),
        (lambda: item_uncertainty([[0, 1]], [0, 1, 1]), "must have 2 items, got 3"),
        (lambda: coclustering([[0, 1]], pairs=[0, 1]), r"shape \(n_pairs, 2\)"),
        (lambda: coclustering([[0, 1]], pairs=[[0.0, 1.0]]), "integers"),
        (lambda: coclustering([[0, 1]], pairs=[[0, 1]], rows=[0]), "cannot be combined"),
        (lambda: coclustering_strips([[0, 1]], height=0), "height must be at least 1"),
        (lambda: Posterior([[[0, 1]]]).point_estimate("map", cost=1.5), "takes neither cost"),
    ],
)
def test_wrong_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_pair_outside_the_items_is_refused():
    with pytest.raises(IndexError):
        coclustering([[0, 1]], pairs=[[0, 2]])

"""Losses, point estimates, credible balls and co-clustering on plain label arrays."""

import tracemalloc

import numpy as np
import pytest

from bnpcluster.partitions import (
    binder_loss,
    coclustering,
    credible_ball,
    estimates,
    exhaustive,
    expected_loss,
    label_draws,
    multistart,
    point_estimate,
    relabel,
    variation_of_information,
)
from bnpcluster.partitions import (
    search as local_search,
)
from bnpcluster.partitions.search import Objective, Search

LOSSES = {"vi": variation_of_information, "binder": binder_loss}


def all_partitions(n):
    """Restricted growth strings of every partition of n items."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, k] for row in rows for k in range(max(row) + 2)]
    return np.array(rows)


def naive_vi(a, b):
    def entropy(*columns):
        _, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        p = counts / counts.sum()
        return -np.sum(p * np.log(p))

    return 2 * entropy(a, b) - entropy(a) - entropy(b)


def naive_binder(a, b):
    n = len(a)
    return sum((a[i] == a[j]) != (b[i] == b[j]) for i in range(n) for j in range(i))


def noisy_draws(rng, n_draws, n_items, n_clusters, noise):
    centre = rng.integers(n_clusters, size=n_items)
    other = rng.integers(n_clusters, size=(n_draws, n_items))
    return np.where(rng.random(other.shape) < noise, other, centre)


def test_relabel_orders_by_size_then_first_item():
    assert relabel([5, 9, 9, -2, 5, 7]).tolist() == [0, 1, 1, 2, 0, 3]
    assert relabel(np.array([3, 1, 1, 1], dtype=np.uint8)).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(("loss", "naive"), [("vi", naive_vi), ("binder", naive_binder)])
def test_losses_agree_with_their_definitions(loss, naive):
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = rng.integers(1, 30)
        a, b = rng.integers(-3, rng.integers(1, 12), size=(2, n))
        assert LOSSES[loss](a, b) == pytest.approx(naive(a, b), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_metrics_on_partitions(loss):
    rng, distance = np.random.default_rng(2), LOSSES[loss]
    for _ in range(100):
        a, b, c = rng.integers(4, size=(3, 9))
        assert distance(a, b) == pytest.approx(distance(b, a), abs=1e-12)
        assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
        assert distance(a, rng.permutation(4)[a] + 10) == 0.0
        assert (distance(a, b) == 0.0) == (relabel(a).tolist() == relabel(b).tolist())


def test_variation_of_information_reaches_log_n():
    n = 8
    assert variation_of_information(np.zeros(n, int), np.arange(n)) == pytest.approx(np.log(n))


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_loss_is_the_weighted_mean_of_the_losses(loss):
    rng = np.random.default_rng(3)
    draws, weights = rng.integers(3, size=(2, 5, 7)), rng.random((2, 5))
    estimate = rng.integers(3, size=7)
    losses = [LOSSES[loss](estimate, z) for z in draws.reshape(-1, 7)]
    naive = np.average(losses, weights=weights.ravel())
    assert expected_loss(draws, estimate, loss, weights) == pytest.approx(naive)
    assert expected_loss(draws, estimate, loss) == pytest.approx(np.mean(losses))


@pytest.mark.parametrize("few_items", [0, 10], ids=["search", "list"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_the_estimate_is_the_optimum_of_all_partitions(loss, n, few_items, monkeypatch):
    monkeypatch.setattr(exhaustive, "FEW_ITEMS", few_items)
    rng = np.random.default_rng(n)
    candidates = all_partitions(n).astype(np.int32)
    gain = label_draws.block_gain(loss, n)
    table = np.array([label_draws.distances_canonical(z, candidates, gain) for z in candidates])
    for trial in range(50):
        rows = rng.integers(len(candidates), size=rng.choice([1, 2, 3, 5, 10, 40]))
        weights = rng.exponential(size=len(rows)) if trial % 2 else None
        optimum = np.average(table[:, rows], axis=1, weights=weights).min()
        estimate = point_estimate(candidates[rows], loss, weights=weights)
        found = expected_loss(candidates[rows], estimate, loss, weights)
        assert found == pytest.approx(optimum, abs=1e-9)


def test_few_items_are_not_searched(monkeypatch):
    """Up to ten of them: the estimate is as good as any other, and no search is made."""
    monkeypatch.setattr(multistart, "Search", None)
    rng = np.random.default_rng(19)
    draws = rng.integers(10, size=(50, 10))
    candidates = [relabel(z) for z in rng.integers(10, size=(200, 10))]
    for options in ({}, {"cost": 0.6}, {"max_clusters": 3}):
        estimate = point_estimate(draws, "binder", **options)
        cost, most = options.get("cost", 1.0), options.get("max_clusters", 10)
        found = expected_loss(draws, estimate, "binder", cost=cost)
        assert estimate.max() < most
        for z in [np.zeros(10, int), *candidates]:
            if z.max() < most:
                assert found <= expected_loss(draws, z, "binder", cost=cost) + 1e-9
    with pytest.raises(TypeError):
        point_estimate(rng.integers(3, size=(5, 11)))


def test_of_equally_good_partitions_rounding_does_not_choose():
    kinds = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1]])
    for heavier in range(3):  # of equal masses, that of one is 0.1 + 0.2, which is not quite 0.3
        draws = kinds[[heavier, *range(3)]]
        weights = np.where(np.arange(3) == heavier, 0.1, 0.3)
        found = point_estimate(draws, weights=[0.2, *weights], max_clusters=2)
        assert found.tolist() == [0, 0, 1]


def test_the_estimate_may_have_more_clusters_than_any_draw():
    draws = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert point_estimate(draws, "binder").tolist() == [0, 1, 2]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_the_estimate_is_no_worse_than_any_draw_or_the_trivial_partitions(loss, noise):
    rng = np.random.default_rng(4)
    draws = noisy_draws(rng, 60, 80, 4, noise)
    found = expected_loss(draws, point_estimate(draws, loss), loss)
    rivals = [*draws, np.zeros(80, int), np.arange(80)]
    assert found <= min(expected_loss(draws, z, loss) for z in rivals) + 1e-12


def test_the_estimate_recovers_a_clear_centre_in_canonical_labels():
    rng = np.random.default_rng(5)
    centre = np.repeat([0, 1, 2, 3], [50, 30, 15, 5])
    order = rng.permutation(100)
    other = rng.integers(4, size=(200, 100))
    draws = np.where(rng.random(other.shape) < 0.1, other, centre[order])
    for loss in LOSSES:
        assert point_estimate(draws, loss).tolist() == relabel(centre[order]).tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_only_the_partitions_of_the_draws_matter(loss):
    rng = np.random.default_rng(6)
    draws = noisy_draws(rng, 40, 30, 5, 0.4)
    renamed = np.array([rng.permutation(1000)[z] - 500 for z in draws])
    wide = renamed.astype(np.int64) * 10**15
    expected = point_estimate(draws, loss).tolist()
    assert point_estimate(renamed, loss).tolist() == expected
    assert point_estimate(wide, loss).tolist() == expected
    assert point_estimate(draws.reshape(4, 10, 30).astype(np.uint8), loss).tolist() == expected


def test_repetitions_and_weights_mean_the_same():
    rng = np.random.default_rng(7)
    draws, times = noisy_draws(rng, 20, 25, 3, 0.5), rng.integers(1, 5, size=20)
    repeated = np.repeat(draws, times, axis=0)
    estimate = point_estimate(repeated)
    assert estimate.tolist() == point_estimate(draws, weights=times).tolist()
    assert expected_loss(repeated, estimate) == pytest.approx(
        expected_loss(draws, estimate, weights=times)
    )
    np.testing.assert_allclose(coclustering(repeated), coclustering(draws, times), atol=1e-14)


def test_the_default_search_is_repeatable_and_every_kind_of_seed_is_accepted():
    rng = np.random.default_rng(8)
    draws = noisy_draws(rng, 50, 40, 5, 0.55)
    assert point_estimate(draws).tolist() == point_estimate(draws).tolist()
    best = expected_loss(draws, point_estimate(draws))
    for seed in (3, np.random.default_rng(3), np.random.RandomState(3)):
        found = expected_loss(draws, point_estimate(draws, random_state=seed))
        assert found == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_search_keeps_its_counts_and_its_loss_exactly(loss):
    rng = np.random.default_rng(9)
    draws, n_blocks = label_draws.canonical(noisy_draws(rng, 30, 50, 6, 0.4))
    weights = rng.random(30)
    search = Search(draws, n_blocks, weights, Objective(loss), rng)
    values = []
    for start in (np.full(50, -1), search.random_labels(), draws[0]):
        values.append(search.climb(start))
        labels, tables = search.tables.labels.copy(), search.tables
        values[-1] -= 51 * expected_loss(draws, labels, loss, weights)
        np.testing.assert_array_equal(
            tables.sizes, np.bincount(labels, minlength=len(tables.sizes))
        )
        together = [
            np.sum((draws[:, [i]] == draws) & (labels == labels[i]), axis=1) for i in range(50)
        ]
        stored = np.array([tables.counts[tables.rows[i], labels[i]] for i in range(50)])
        alone = tables.rows == 0
        np.testing.assert_array_equal(np.where(alone, 1, stored), np.array(together))
    np.testing.assert_allclose(values, values[0], rtol=1e-9)


def test_sweeps_look_at_what_has_changed_and_move_the_same_items():
    rng = np.random.default_rng(1)
    draws, n_blocks = label_draws.canonical(noisy_draws(rng, 30, 100, 12, 0.4))
    objective, searches, moves = Objective("binder"), [], []
    for _ in range(2):
        searches.append(Search(draws, n_blocks, np.ones(30), objective, np.random.default_rng(0)))
        searches[-1].climb(draws[0])
    for turn in range(24):
        items, clusters = rng.permutation(100), rng.integers(40, size=2)
        for search in searches if turn < 20 else ():
            search.reassign(items[:2], clusters)  # which most likely is a loss
        searches[1].tables.looked[:] = -1  # as if everything had changed
        moves.append(searches[0].improve(items))
        assert searches[1].improve(items) == moves[-1]
        assert searches[0].tables.labels.tolist() == searches[1].tables.labels.tolist()
        assert searches[0].loss == pytest.approx(searches[1].loss)
    assert min(moves[:20]) > 0 == moves[-1]
    assert searches[0].tables.used[0] > 60
    searches[0].tables.gains[1:] = 1e6  # every other cluster attracts, but nothing is looked at
    assert searches[0].improve(items) == 0


def test_room_for_clusters_grows_without_changing_the_search():
    rng = np.random.default_rng(10)
    draws, n_blocks = label_draws.canonical(rng.integers(3, size=(15, 60)))
    found = []
    for room in (2, 64):
        rng = np.random.default_rng(0)
        search = Search(draws, n_blocks, np.ones(15), Objective("binder"), rng)
        search.widen(room)
        search.climb(np.full(60, -1))
        found.append(search.tables.labels.tolist())
    assert max(found[0]) > 8
    assert found[0] == found[1]


def test_wide_tables_make_the_search_use_fewer_draws(monkeypatch):
    rng = np.random.default_rng(11)
    draws = rng.integers(3, size=(400, 60))
    full = point_estimate(draws, "binder")
    monkeypatch.setattr(local_search, "CELL_LIMIT", 400 * 3 * 16)
    sizes = []

    def record(labels, *args):
        sizes.append(len(labels))
        return Search(labels, *args)

    monkeypatch.setattr(multistart, "Search", record)
    estimate = point_estimate(draws, "binder")
    assert sizes == [400, 200, 100]
    assert estimate.max() > 40
    assert expected_loss(draws, estimate, "binder") == pytest.approx(
        expected_loss(draws, full, "binder"), rel=0.02
    )


def test_tables_have_a_limit_whatever_the_draws(monkeypatch):
    draws = np.random.default_rng(11).integers(30, size=(60, 400))
    searches = []

    def record(*args):
        searches.append(Search(*args))
        return searches[-1]

    monkeypatch.setattr(multistart, "Search", record)
    for cells, used in ((200_000, [60, 30, 15]), (20_000, [60, 30, 15, 10])):
        monkeypatch.setattr(local_search, "MOST_CELLS", cells)
        searches.clear()
        estimate = point_estimate(draws, "binder")
        assert [s.tables.rows.shape[1] for s in searches] == used
        assert all(s.tables.counts.size <= cells for s in searches)
    n_rows = len(searches[-1].tables.counts)
    assert estimate.max() + 1 == searches[-1].most == cells // n_rows - 8


def test_many_draws_are_thinned_evenly_and_the_estimate_stays(monkeypatch):
    rng = np.random.default_rng(12)
    draws = noisy_draws(rng, 500, 30, 3, 0.2)
    full = point_estimate(draws)
    for name in ("MAX_DRAWS", "CHEAP_LABELS"):
        monkeypatch.setattr(estimates, name, 1)
    sizes, find = [], multistart.best_found

    def record(labels, *args):
        sizes.append(len(labels))
        return find(labels, *args)

    monkeypatch.setattr(multistart, "best_found", record)
    assert point_estimate(draws).tolist() == full.tolist()
    assert 38 <= sizes[0] <= 40  # two of the points may fall on one draw with weight


def test_thinning_is_systematic_in_proportion_to_weight():
    rows, times = label_draws.thin(np.ones(1000), 100)
    assert rows.tolist() == list(range(4, 1000, 10))
    assert set(times) == {1.0}
    weights = np.random.default_rng(13).exponential(size=300)
    rows, times = label_draws.thin(weights, 50)
    expected = np.zeros(300)
    expected[rows] = times
    assert expected.sum() == 50
    assert np.all(np.abs(expected - 50 * weights / weights.sum()) < 1)


def test_identical_draws_are_merged_whatever_their_labels():
    draws = np.array([[0, 0, 1], [7, 7, 2], [0, 1, 1], [1, 1, 0], [0, 0, 0]])
    rows, weights = label_draws.merge(draws, np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    assert rows.tolist() == [0, 2]
    assert weights.tolist() == [7.0, 3.0]


def test_draws_are_handled_in_chunks(monkeypatch):
    rng = np.random.default_rng(14)
    draws = noisy_draws(rng, 50, 20, 4, 0.4)
    labels = draws[3]
    whole = expected_loss(draws, labels), coclustering(draws), point_estimate(draws).tolist()
    monkeypatch.setattr(label_draws, "CHUNK_CELLS", 60)
    assert expected_loss(draws, labels) == pytest.approx(whole[0])
    np.testing.assert_allclose(coclustering(draws), whole[1], atol=1e-14)
    assert point_estimate(draws).tolist() == whole[2]


@pytest.mark.parametrize("n_labels", [3, 400, 100_000])
def test_coclustering_counts_agreements(n_labels):
    rng = np.random.default_rng(15)
    draws, weights = rng.integers(n_labels, size=(12, 9)) // (n_labels // 3), rng.random(12)
    draws[:, 0] = n_labels - 1  # the largest label decides on the type that is compared
    naive = np.average(draws[:, :, None] == draws[:, None, :], axis=0, weights=weights)
    np.testing.assert_allclose(coclustering(draws, weights), naive, atol=1e-14)
    plain = coclustering(draws)
    assert np.all(np.diag(plain) == 1.0)
    assert np.array_equal(plain, np.mean(draws[:, :, None] == draws[:, None, :], axis=0))


def test_a_large_dense_matrix_is_refused_before_it_is_allocated():
    draws = np.zeros((1, 50_000), dtype=np.uint8)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"50000 x 50000 .* 18\.6 GiB.*threshold"):
        coclustering(draws)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_the_search_needs_no_matrix_of_all_pairs():
    rng, n = np.random.default_rng(16), 1000
    draws = noisy_draws(rng, 3, n, 3, 0.1).astype(np.uint8)
    point_estimate(draws[:, :20])
    tracemalloc.start()
    estimate = point_estimate(draws)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert estimate.max() == 2
    assert peak < n**2 / 4


@pytest.mark.parametrize("loss", LOSSES)
def test_the_credible_ball_is_the_smallest_that_holds_the_level(loss):
    rng = np.random.default_rng(17)
    draws, weights = noisy_draws(rng, 60, 12, 3, 0.3), rng.random(60)
    weights[5] = 0.0
    estimate = point_estimate(draws, loss, weights=weights)
    distance = np.array([LOSSES[loss](estimate, z) for z in draws])
    mass = weights / weights.sum()
    for level in (0.3, 0.9, 1.0):
        ball = credible_ball(draws, estimate, level, loss=loss, weights=weights)
        inside = (distance <= ball.radius + 1e-9) & (mass > 0)
        assert ball.mass == pytest.approx(mass[inside].sum())
        assert ball.mass >= level - 1e-9
        assert mass[distance < ball.radius - 1e-9].sum() < level
        sizes = np.array([len(set(z)) for z in draws])
        assert ball.n_clusters == (sizes[inside].min(), sizes[inside].max())
        for edge, chosen in (
            (ball.horizontal, inside),
            (ball.upper, inside & (sizes == ball.n_clusters[0])),
            (ball.lower, inside & (sizes == ball.n_clusters[1])),
        ):
            farthest = distance[chosen].max()
            expected = {tuple(relabel(z)) for z in draws[chosen & (distance > farthest - 1e-9)]}
            assert {tuple(z) for z in edge} == expected
            assert len(edge) == len(expected)


def test_the_credible_ball_of_equal_weights_counts_draws():
    draws = [[0, 0, 0, 0]] * 19 + [[0, 1, 2, 3]]
    assert credible_ball(draws, draws[0], 0.95).radius == 0.0
    ball = credible_ball(draws, draws[0], 0.96)
    assert ball.radius == pytest.approx(np.log(4))
    assert "1 to 4 clusters" in str(ball)


@pytest.mark.parametrize("n_draws", range(2, 40))
def test_the_credible_ball_reaches_its_level_exactly_despite_rounding(n_draws):
    draws = [[0, 0, 0, 0]] * (n_draws - 1) + [[0, 1, 2, 3]]
    assert credible_ball(draws, draws[0], (n_draws - 1) / n_draws).radius == 0.0


def test_the_starts_of_the_search_take_turns():
    draws, n_blocks = label_draws.canonical(np.random.default_rng(18).integers(4, size=(9, 20)))
    search = Search(draws, n_blocks, np.ones(9), Objective("vi"), np.random.default_rng(0))
    starts = list(multistart._starts(search, draws[:3], 6))
    kinds = ["sequential" if np.all(s < 0) else len(set(s)) for s in starts]
    central = [len(set(z)) for z in draws[:3]]
    assert kinds[:3:2] == [central[0], 1]
    assert kinds[1:8:4] == ["sequential", "sequential"]
    assert kinds.count("sequential") == 3
    assert len(kinds) == 4 + 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: point_estimate([[0.0, 1.0]]), "integers"),
        (lambda: point_estimate([0, 1]), "shape"),
        (lambda: point_estimate(np.zeros((0, 3), int)), "draws must not be empty"),
        (lambda: point_estimate([[0, 1]], "rand"), "available: 'vi', 'binder'"),
        (lambda: point_estimate([[0, 1]], weights=[1, 2]), "one weight per draw, got 2 for 1"),
        (lambda: expected_loss([[0, 1]], [0, 1], weights=[-1]), "non-negative"),
        (lambda: binder_loss([0, 1], [0, 1, 1]), "must have 2 items, got 3"),
        (lambda: relabel([[0, 1]]), "one-dimensional"),
        (lambda: credible_ball([[0, 1]], [0, 1], level=0.0), "level"),
    ],
)
def test_wrong_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Where rows are drawn: principal components do not depend on the codes of categories."""

import numpy as np

from bnpcluster import DPMixture
from bnpcluster.plotting.cluster_coordinates import categories_of, coordinates

RNG = np.random.default_rng(0)
CODES = RNG.integers(4, size=50).astype(float)
X = np.column_stack([RNG.normal(size=50), CODES, RNG.normal(size=50)])
NAMES = ["a", "b", "c"]
LABELS = np.zeros(50, int)
TOWNS = ["k", "l", "m", "n"]


def components(table, categories):
    points = coordinates(table, LABELS, NAMES, None, categories).points
    return points * np.sign(points[0])


def test_components_do_not_depend_on_the_codes_of_categories():
    other = X.copy()
    other[:, 1] = np.array([2.0, 0.0, 3.0, 1.0])[CODES.astype(int)]
    np.testing.assert_allclose(components(X, {1: TOWNS}), components(other, {1: TOWNS}), atol=1e-10)
    assert np.abs(components(X, {}) - components(other, {})).max() > 0.1


def test_categories_enter_as_in_factor_analysis_of_mixed_data():
    one = (CODES[:, None] == np.arange(4)).astype(float)
    share = one.mean(axis=0)
    numbers = (X[:, [0, 2]] - X[:, [0, 2]].mean(axis=0)) / X[:, [0, 2]].std(axis=0)
    Z = np.column_stack([numbers, (one - share) / np.sqrt(share)])
    left, sizes, _ = np.linalg.svd(Z)
    expected = left[:, :2] * sizes[:2]
    np.testing.assert_allclose(
        components(X, {1: TOWNS}), expected * np.sign(expected[0]), atol=1e-9
    )
    found = coordinates(X, LABELS, NAMES, None, {1: TOWNS})
    share = 100 * sizes[0] ** 2 / (sizes**2).sum()
    assert found.names[0] == f"first principal component\n({share:.0f} % of the variance)"


def test_one_and_two_columns():
    found = coordinates(X, LABELS, NAMES, ["b"], {1: TOWNS})
    assert found.names == ("b", "cluster") and found.categories == (TOWNS, None)
    np.testing.assert_array_equal(found.points.round(), np.column_stack([CODES, LABELS]))
    found = coordinates(X, LABELS, NAMES, ["a", 2], {1: TOWNS})
    assert found.names == ("a", "c") and found.categories == (None, None)
    np.testing.assert_array_equal(found.points, X[:, [0, 2]])


def test_codes_that_the_user_gave_are_categories():
    model = DPMixture(likelihood="categorical", n_chains=1, n_draws=10, n_warmup=10)
    table = np.column_stack([CODES, np.full(50, 2.0), CODES % 2])
    fitted = model.fit(table)._fitted
    assert categories_of(fitted)[0] == ["0", "1", "2", "3"]
    assert categories_of(fitted)[2] == ["0", "1"]

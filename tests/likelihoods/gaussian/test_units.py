"""Units of real-valued data: a few wild values change neither them nor what follows from them."""

import numpy as np
import pytest
from scipy.stats import norm

from bnpcluster import DPMixture
from bnpcluster._fitting.initial_labels import initial_labels
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseGamma, NormalInverseWishart
from bnpcluster.likelihoods.gaussian.units import cluster_share, units
from bnpcluster.priors import DirichletProcess

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
GAUSSIAN = norm.ppf((np.arange(1000) + 0.5) / 1000)  # quantiles of a standard Gaussian


def unit(column):
    found = units(np.asarray(column, float)[:, None])
    return found.centre[0], found.scale[0]


def clouds(d):
    """Three clear clouds of 100 rows."""
    centres = np.zeros((3, d))
    centres[1, 0] = centres[2, 1] = 8.0
    if d > 2:
        centres[1, 2], centres[2, 3] = -5.0, 5.0
    return 1.0 + np.repeat(centres, 100, axis=0) + np.random.default_rng(0).normal(size=(300, d))


def test_a_gaussian_column_has_its_mean_and_standard_deviation():
    centre, scale = unit(3.0 + 2.0 * GAUSSIAN)
    assert centre == pytest.approx(3.0, abs=1e-12)
    assert scale == pytest.approx(2.0, rel=2e-3)


@pytest.mark.parametrize("value", [1e4, -1e12, 1e75, 1.7e308])
@pytest.mark.parametrize("n_wild", [1, 5])
def test_wild_values_change_little(value, n_wild):
    column = 3.0 + 2.0 * GAUSSIAN
    column[::150][:n_wild] = value
    centre, scale = unit(column)
    assert centre == pytest.approx(3.0, abs=0.05)
    assert scale == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("wild", [None, 1e12])
@pytest.mark.parametrize("zeros", [0.6, 0.8, 0.93, 0.995])
def test_wider_quantiles_if_most_values_are_equal(zeros, wild):
    """The scale is that of the values that vary, up to a factor: zeros count as values, too."""
    column = 7.0 + 2.0 * np.random.default_rng(0).permutation(GAUSSIAN)
    column[: round(1000 * zeros)] = 7.0
    if wild is not None:
        column[-1] = wild
    centre, scale = unit(column)
    assert centre == 7.0
    assert 0.1 < scale < 4.0


def test_the_standard_deviation_if_all_but_one_are_equal():
    """Also if the one has digits that others have not."""
    for base, value in ((0.0, 1e12), (1.0, 1.0000001), (-3.0, -3.0 + 1e-9), (1e300, 2e300)):
        column = np.full(100, base)
        column[40] = value
        centre, scale = unit(column)
        assert centre == base
        assert scale == pytest.approx(abs(value - base) * np.sqrt(0.01 * 0.99), rel=1e-6)


def test_rounding_errors_are_no_scale():
    """0.1 + 0.2 is not 0.3; next to real differences, this must not become the unit."""
    column = np.where(np.arange(100) % 2, 0.1 + 0.2, 0.3)
    column[[5, 50, 80]] = 5.0, 6.0, 4.0
    assert unit(column)[1] > 0.01
    column[50] = 1e12
    assert 0.01 < unit(column)[1] < 10.0


def test_few_rows():
    assert unit([1.0, 2.0]) == (1.5, pytest.approx(0.5 / 1.349, rel=1e-3))
    for column in ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 1.0]):
        centre, scale = unit(column)
        assert centre in (0.0, 1.0)
        assert 0.1 < scale < 1.0


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_sizes_at_the_ends_of_the_range_of_floats(size):
    X = size * np.column_stack([GAUSSIAN, np.where(np.arange(1000) < 950, 0.0, GAUSSIAN)])
    X[3, 1] = 1e300
    found = units(X)
    np.testing.assert_allclose(found.scale[0], size, rtol=2e-3)
    assert np.isfinite(found.to_internal(X)).all()
    assert np.isfinite(NormalInverseWishart().bind(X[:, :1]).norm_marginal).all()


def test_missing_entries_do_not_count():
    X = np.column_stack([GAUSSIAN, np.where(np.arange(1000) < 900, 2.0, GAUSSIAN), GAUSSIAN])
    holes = np.random.default_rng(0).random(X.shape) < 0.4
    found = units(np.where(holes, np.nan, X))
    for j in range(3):
        alone = units(X[~holes[:, j], j : j + 1])
        assert found.centre[j] == alone.centre[0]
        assert found.scale[j] == alone.scale[0]


@pytest.mark.parametrize("d", [2, 4])
@pytest.mark.parametrize("holes", [False, True])
def test_wild_rows_leave_the_share_of_a_cluster(d, holes):
    X = clouds(d)
    if holes:
        X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    share = cluster_share(units(X).to_internal(X))
    X[[0, 130, 260], [0, 1, 0]] = 1e10, -1e15, 1e4
    wild = cluster_share(units(X).to_internal(X))
    assert wild == pytest.approx(share, rel=0.06)


@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma()])
def test_one_cell_leaves_the_automatic_values(likelihood):
    X = clouds(2)
    before = likelihood.frozen(X).get_params()
    X[150, 0] *= 1e10
    after = likelihood.frozen(X).get_params()
    np.testing.assert_allclose(after["mean"], np.median(X, axis=0), rtol=1e-12)
    for name in set(before) - {"missing"}:
        np.testing.assert_allclose(after[name], before[name], rtol=0.05, err_msg=name)


@pytest.mark.parametrize("name", ["niw", "nig"])
def test_one_cell_leaves_the_starts_of_chains(name):
    """In units of the standard deviation, its column would not count."""
    X = np.column_stack([clouds(2)[:, 0], np.random.default_rng(1).normal(size=300)])
    X[150, 0] = 1e10
    rngs = [np.random.default_rng(c) for c in range(4)]
    starts = initial_labels("auto", X, LIKELIHOODS[name](), DirichletProcess(1.0), rngs)
    cloud = np.repeat([0, 1, 0], 100)  # as the first column tells them
    for labels in starts:
        mixed = sum(len(set(cloud[labels == k])) - 1 for k in range(labels.max() + 1))
        assert mixed <= 1


@pytest.mark.filterwarnings("ignore:.*Is it mistyped")
@pytest.mark.parametrize("name", ["niw", "nig"])
@pytest.mark.parametrize("d", [2, 4])
def test_one_mistyped_cell_is_a_cluster_of_its_own(name, d):
    for factor in (1e3, 1e4, 1e5, 1e10):
        X = clouds(d)
        X[150, 0] *= factor
        model = DPMixture(likelihood=name, random_state=0).fit(X)
        assert np.bincount(model.labels_).tolist() == [100, 100, 99, 1], factor
        assert model.labels_[150] == 3

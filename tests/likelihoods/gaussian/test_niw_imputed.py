"""Gaussian clusters with covariances: missing entries that chains impute, against enumeration."""

import numpy as np
import pytest
from scipy.stats import kstest, t

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster._core.state import State
from bnpcluster._fitting.checkpoint import frozen, thawed
from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._fitting.rounds import Chain, Schedule, Stop, advance
from bnpcluster._predict.predictive import predict
from bnpcluster.likelihoods import Columns, NormalInverseWishart
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW
from bnpcluster.likelihoods.gaussian.niw_general_weights import log_weight_bound
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge
from bnpcluster.testing import check_likelihood, log_eppf
from bnpcluster.testing.check_samplers import chi_square
from tests.tools.dossier import P_VALUE, note
from tests.tools.holed_niw import (
    KAPPA,
    MEAN,
    NU,
    SCALE,
    completions,
    conditional,
    exact,
    log_marginal,
    posterior,
    student,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Rows? .* no value"
)
JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")
LIKELIHOOD = NormalInverseWishart(mean=MEAN, kappa=KAPPA, nu=NU, scale=SCALE, missing="impute")
PRIOR = DirichletProcess(1.0)
NAN = np.nan
ONE = np.array([[-1.0, -1.2], [-0.8, NAN], [1.5, 1.0], [1.2, 2.0]])
TWO_ROWS = np.array([[-1.0, -1.2], [-0.8, NAN], [NAN, 1.0], [1.2, 2.0]])
ONE_ROW = np.array([[-1.0, -1.2], [NAN, NAN], [1.5, 1.0], [1.2, 2.0]])
QUICK = {"sampler": "gibbs", "n_draws": 30, "n_warmup": 20, "n_chains": 2, "random_state": 0}


def blobs(seed=0, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5.0 * (np.arange(n) % 2)[:, None]
    X[:, 1] += X[:, 0]
    X[rng.random(X.shape) < 0.15] = NAN
    X[3] = NAN
    return X


def test_contract_at_any_values_of_the_missing_entries():
    check_likelihood(LIKELIHOOD, TWO_ROWS[[0, 1, 2, 3, 0, 1]])
    check_likelihood(NormalInverseWishart(), blobs(n=7, d=4))


def test_the_oracle_agrees_with_closed_forms():
    """One missing entry per block, or a row of them: the marginal of a block is then a product."""
    partitions, probabilities, _, _ = exact(ONE, PRIOR)
    log_joint = []
    for row in partitions:
        total = 0.0
        for k in range(row.max() + 1):
            others = np.flatnonzero((row == k) & (np.arange(4) != 1))
            total += log_marginal(ONE[others])
            if row[1] == k:
                total += student(ONE[others], ONE[1], [0])
        log_joint.append(total)
    p = np.exp(np.array(log_joint) + log_eppf(PRIOR, partitions))
    np.testing.assert_allclose(p / p.sum(), probabilities, atol=1e-9)
    _, both, _, _ = exact(ONE_ROW, PRIOR)
    assert both.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sampler", [Gibbs(), SplitMerge()], ids=["gibbs", "split_merge"])
@pytest.mark.parametrize("X", [ONE, TWO_ROWS, ONE_ROW], ids=["one", "two rows", "one row"])
def test_an_iteration_leaves_the_exact_posterior_invariant(sampler, X):
    """One step from exact draws of the partition and the missing entries leaves both invariant."""
    partitions, probabilities, cells, full = exact(X, PRIOR)
    index = {row.tobytes(): j for j, row in enumerate(partitions)}
    missing = np.isnan(X)
    state = State(LIKELIHOOD.bind(X, 8), PRIOR, partitions[0])
    bound = state.problem.likelihood
    size = 8000 if JITTED else 400
    edges = quantiles(probabilities, cells, full[:, missing])
    p_values = []
    for attempt in (1, 4):
        rng = np.random.default_rng(attempt)
        counts, inside = np.zeros(len(partitions)), np.zeros((len(edges), 6))
        for j in rng.choice(len(partitions), size=attempt * size, p=probabilities):
            values = full[rng.choice(len(full), p=cells[j])][missing]
            state.labels[:] = partitions[j]
            state.set_latent(scaled(bound, X, values))
            sampler.step(state, rng)
            state.move_latent(rng)
            state.rebuild()
            counts[index[state.labels.tobytes()]] += 1
            reached = unscaled(bound, X, state.latent)
            for h, value in enumerate(reached):
                inside[h, np.searchsorted(edges[h][0], value)] += 1
        p = [chi_square(counts, attempt * size * probabilities)]
        p += [chi_square(inside[h], attempt * size * edges[h][1]) for h in range(len(edges))]
        p_values.append(min(p) * len(p))
        if p_values[-1] > 1e-3:
            note(P_VALUE, min(p_values[-1], 1.0), f"{size:,} starts", repr(LIKELIHOOD))
            return
    raise AssertionError(f"p-values {p_values}")


def scaled(bound, X, values):
    column = np.argwhere(np.isnan(X))[:, 1]
    return (values - bound.centre[column]) / bound.unit[column]


def unscaled(bound, X, values):
    column = np.argwhere(np.isnan(X))[:, 1]
    return bound.centre[column] + bound.unit[column] * values


def quantiles(probabilities, cells, values):
    """Edges of six classes of every missing entry, between grid points, and their exact masses."""
    mass = probabilities @ cells
    found = []
    for column in values.T:
        points, inverse = np.unique(column, return_inverse=True)
        masses = np.bincount(inverse.ravel(), weights=mass)
        cuts = np.searchsorted(np.cumsum(masses), np.arange(1, 6) / 6)
        edges = (points[cuts] + points[cuts + 1]) / 2
        classes = np.searchsorted(edges, points)
        found.append((edges, np.bincount(classes, weights=masses, minlength=6)))
    return found


def test_a_redraw_follows_the_conditional_student_t():
    rng = np.random.default_rng(0)
    for x in ([0.7, NAN], [NAN, -1.0], [NAN, NAN]):
        X = np.array([[-1.0, -1.2], [0.2, 0.5], x, [1.2, 2.0], [4.0, 3.0]])
        labels = np.array([0, 0, 0, 0, 1])
        state = State(LIKELIHOOD.bind(X, 8), PRIOR, labels)
        draws = []
        for _ in range(4000 if JITTED else 1000):
            state.move_latent(rng)
            draws.append(unscaled(state.problem.likelihood, X, state.latent))
        location, scale, df = conditional(X[[0, 1, 3]], X[2])
        for column, centre, width in zip(
            np.array(draws).T, location, np.sqrt(np.diag(scale)), strict=True
        ):
            assert kstest((column - centre) / width, t(df).cdf).pvalue > 1e-3
        if len(location) == 2:
            z = np.linalg.solve(np.linalg.cholesky(scale), (np.array(draws) - location).T)
            assert abs(np.corrcoef(np.sign(z))[0, 1]) < 0.1


class Fixed:
    """A generator that returns given values, and records the degrees of freedom."""

    def standard_normal(self, shape):
        return np.tile([-0.8, 1.3], shape[0]).reshape(shape)

    def chisquare(self, df):
        self.df = df
        return np.full(len(df), 2.7)


@pytest.mark.parametrize("x", [[5.0, NAN], [NAN, -4.0], [NAN, NAN]])
def test_a_redraw_is_the_transform_of_its_normals_and_chi_squares(x):
    X = np.array([[-1.0, -1.2], [0.2, 0.5], x, [1.2, 2.0], [4.0, 3.0]])
    state = State(LIKELIHOOD.bind(X, 8), PRIOR, np.array([0, 0, 0, 0, 1]))
    fixed = Fixed()
    state.move_latent(fixed)
    location, scale, df = conditional(X[[0, 1, 3]], X[2])
    assert fixed.df == pytest.approx([df])
    z = np.array([-0.8, 1.3])[2 - len(location) :]
    expected = location + np.linalg.cholesky(scale) @ z * np.sqrt(df / 2.7)
    found = unscaled(state.problem.likelihood, X, state.latent)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_statistics_are_those_of_the_completed_rows():
    """After redraws, slots equal those of a fresh binding of the completed rows."""
    X = blobs()
    state = State(NormalInverseWishart().bind(X), PRIOR, np.arange(30) % 3)
    rng = np.random.default_rng(0)
    for _ in range(5):
        state.move_latent(rng)
    lik = state.problem.likelihood
    assert not np.isnan(lik.X).any()
    np.testing.assert_array_equal(
        (lik.centre + lik.unit * lik.X)[~np.isnan(X)].round(10), X[~np.isnan(X)].round(10)
    )
    found = [ops.log_marginal(lik, k) for k in range(3)]
    empty = lik.log_empty.copy()
    state.set_latent(state.latent)
    np.testing.assert_allclose(found, [ops.log_marginal(lik, k) for k in range(3)], rtol=1e-9)
    np.testing.assert_allclose(empty, lik.log_empty, rtol=1e-9)
    for i in (0, 3, 7):
        assert lik.log_empty[i] == pytest.approx(ops.log_predictive(lik, 3, i), rel=1e-9)


def test_new_rows_have_the_marginal_student_t():
    X = np.array([[-1.0, -1.2], [0.2, 0.5], [1.2, 2.0]])
    new = np.array([[0.7, NAN], [NAN, -1.0], [NAN, NAN], [0.3, 0.4]])
    bound = LIKELIHOOD.bind_observed(X, 4)
    ops.clear(bound, 0)
    ops.clear(bound, 1)
    for i in range(3):
        ops.add(bound, 0, i)
    other = LIKELIHOOD.rows(bound, new)
    for k, rows in ((0, X), (1, X[:0])):
        for i, x in enumerate(new):
            expected = student(rows, x, np.flatnonzero(~np.isnan(x)))
            assert ops.log_predictive(other, k, i) == pytest.approx(expected, abs=1e-9)


def test_predictions_use_the_missing_entries_of_every_draw():
    partitions, _, _, full = exact(TWO_ROWS, PRIOR, 7)
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(full), size=6)
    rows = partitions[[3, 3, 7, 7, 14, 3]]  # the same partition twice, with other entries
    draws = Posterior(rows[None], weights=[[1.0, 2.0, 1.0, 0.5, 1.0, 3.0]])
    bound = LIKELIHOOD.bind(TWO_ROWS)
    missing = np.isnan(TWO_ROWS)
    latent = np.array([scaled(bound, TWO_ROWS, full[c][missing]) for c in chosen])
    fitted = Fitted(LIKELIHOOD, bound, draws, urn_weights(PRIOR, draws), partitions[3], latent)
    new = np.array([[0.5, 0.3], [NAN, 2.0]])
    for x in (new[:1], new):
        densities = np.zeros(len(x))
        for weight, row, c in zip(draws.weights.ravel(), rows, chosen, strict=True):
            for j, point in enumerate(x):
                seen = np.flatnonzero(~np.isnan(point))
                for k in range(row.max() + 2):
                    share = (np.sum(row == k) or 1.0) / 5.0
                    density = np.exp(student(full[c][row == k], point, seen))
                    densities[j] += weight * share * density
        room = fitted._replace(bound=LIKELIHOOD.bind_observed(TWO_ROWS))
        np.testing.assert_allclose(predict(room, x).log_density, np.log(densities), rtol=1e-9)


def test_complete_rows_of_two_columns_have_no_bound():
    """The cheap bound takes three columns, and would read beyond the end of two."""
    X = blobs(d=2)
    X[3, 1] = NAN
    bound = LIKELIHOOD.bind(X)
    rows = LIKELIHOOD.rows(bound, np.zeros((1, 2)))
    assert type(rows) is GeneralNIW
    assert log_weight_bound(rows, 0, 0, -1.0, 1.0) == np.inf
    assert log_weight_bound(rows, 0, 0, -np.inf, 1.0) == -np.inf


def test_chains_go_on_bit_by_bit_from_where_they_were_saved():
    X = blobs()
    bound = NormalInverseWishart().bind(X)
    schedule = Schedule(n_draws=150, n_warmup=0, thin=1)

    def start():
        return Chain(np.arange(30) % 3, PRIOR, np.random.default_rng(5))

    straight = advance(start(), bound, Gibbs(), schedule, 150, Stop())
    first = advance(start(), bound, Gibbs(), schedule, 60, Stop())
    place = first.boundary
    assert place.iteration == 50
    second = advance(thawed(frozen(first, place), PRIOR), bound, Gibbs(), schedule, 150, Stop())
    np.testing.assert_array_equal(straight.draws, second.draws)
    np.testing.assert_array_equal(straight.latent_draws, second.latent_draws)
    assert np.ptp(straight.latent_draws, axis=0).min() > 0


def test_results_do_not_depend_on_jobs_and_continue(tmp_path):
    X = blobs()
    one = DPMixture(**QUICK).fit(X)
    two = DPMixture(**QUICK, n_jobs=2, checkpoint=tmp_path).fit(X)
    again = DPMixture(**QUICK, checkpoint=tmp_path).fit(X)
    for other in (two, again):
        np.testing.assert_array_equal(one.posterior_.labels, other.posterior_.labels)
        np.testing.assert_array_equal(one._fitted.latent, other._fitted.latent)
    longer = one.continue_fit(4)
    missing = np.isnan(X[one.observed_rows_]).sum()  # rows without any value are left out
    assert longer._fitted.latent.shape == (2, 34, missing)
    assert np.isfinite(longer.score(X))
    assert np.isfinite(longer.score(np.nan_to_num(X)))
    assert longer.sample(5, random_state=0).shape == (5, 3)


def test_missing_entries_do_not_hide_the_clusters():
    X = blobs(n=60)
    model = DPMixture(**QUICK).fit(X)
    seen = ~np.isnan(X).all(axis=1)
    truth = (np.arange(60) % 2)[seen]
    found = model.labels_[seen]
    assert max(np.mean(found == truth), np.mean(found != truth)) > 0.95


def test_parts_of_mixed_columns_move_their_entries_too():
    X = np.column_stack([np.arange(30) % 2, blobs()])
    X[4, 0] = NAN
    likelihood = Columns([("niw", [1, 2]), ("bernoulli", 0), ("nig", 3)])
    bound = likelihood.bind(X)
    state = State(bound, PRIOR, np.arange(30) % 3)
    assert len(state.latent) == np.isnan(X[:, 1:3]).sum()
    before = state.latent
    state.move_latent(np.random.default_rng(0))
    assert (state.latent != before).all()
    state.set_latent(before)
    np.testing.assert_array_equal(state.latent, before)
    two = Columns([("nig", 3), ("niw", [0, 1]), ("niw", [2, 4])])
    Y = np.column_stack([blobs(1), blobs(2)[:, :2]])
    both = State(two.bind(Y), PRIOR, np.arange(30) % 3)
    values = np.arange(len(both.latent)) / 10
    both.set_latent(values)
    np.testing.assert_array_equal(both.latent, values)


def test_one_column_needs_no_imputation():
    X = blobs(d=3)[:, :1]
    assert ops.latent(NormalInverseWishart().bind(X)) is None


def test_particles_get_one_sentence():
    with pytest.raises(ValueError, match=r"imputes in chains.*'split_merge'.*'nig'"):
        DPMixture(sampler="urn_smc", n_particles=10, random_state=0).fit(blobs())


def test_completions_cover_the_line():
    full, log_w = completions(ONE)
    density = np.exp(log_w + log_marginal(full[:, :2]) - log_marginal(ONE[:1]))
    expected = np.exp(student(ONE[:1], ONE[1], [0]))
    assert density.sum() == pytest.approx(expected, rel=1e-8)
    assert posterior(ONE[:0])[0] == KAPPA

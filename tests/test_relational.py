"""The estimator of networks: what it finds, predicts, accepts and refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._fitting.checkpoint import Checkpoint
from bnpcluster._fitting.initial_labels import initial_labels
from bnpcluster.likelihoods import Relational
from bnpcluster.plotting import AdjacencyDisplay
from bnpcluster.priors import DirichletProcess
from bnpcluster.relational import DEFAULT_SAMPLER
from bnpcluster.samplers import SAMS, Gibbs
from bnpcluster.testing import exact_posterior

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 40, "n_warmup": 60, "random_state": 0}


def planted(n=60, directed=False, seed=0, hidden=0.0):
    """A network of three groups, of which two link with each other more than within.

    Returns the matrix with a share of the pairs hidden, the groups, the hidden pairs and what they
    hold.
    """
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    chance = np.array([[0.7, 0.1, 0.1], [0.1, 0.1, 0.8], [0.1, 0.7 if directed else 0.8, 0.2]])
    A = (rng.random((n, n)) < chance[np.ix_(groups, groups)]).astype(float)
    A = A if directed else np.triu(A, k=1) + np.triu(A, k=1).T
    np.fill_diagonal(A, 0.0)
    rows, columns = np.nonzero(~np.eye(n, dtype=bool) if directed else np.triu(np.ones((n, n)), 1))
    chosen = rng.random(len(rows)) < hidden
    pairs = np.column_stack([rows, columns])[chosen]
    y = A[pairs[:, 0], pairs[:, 1]].astype(int)
    A[pairs[:, 0], pairs[:, 1]] = np.nan
    if not directed:
        A[pairs[:, 1], pairs[:, 0]] = np.nan
    return A, groups, pairs, y


def same_draws(one, other):
    np.testing.assert_array_equal(one.posterior_.labels, other.posterior_.labels)
    for name, trace in one.posterior_.traces.items():
        np.testing.assert_array_equal(trace, other.posterior_.traces[name])


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return InfiniteRelationalModel(n_draws=10, n_warmup=10, random_state=0).fit(
            planted(hidden=0.1)[0]
        )


@pytest.mark.parametrize("directed", [False, True])
def test_finds_planted_groups_and_predicts_hidden_pairs(directed):
    A, groups, pairs, y = planted(directed=directed, hidden=0.2)
    model = InfiniteRelationalModel(directed=directed, **QUICK).fit(A)
    assert adjusted_rand_score(groups, model.labels_) == 1.0
    chances = model.predict_links(pairs)
    assert roc_auc_score(y, chances) > 0.8
    assert model.score(pairs, y) > np.mean(np.log(np.where(y, y.mean(), 1 - y.mean()))) + 0.1
    assert model.score(pairs, y) == pytest.approx(
        np.mean(y * np.log(chances) + (1 - y) * np.log(1 - chances))
    )


def test_a_direction_makes_a_difference():
    """Two groups that only one direction of their links tells apart."""
    A = np.kron([[0, 1], [0, 0]], np.ones((8, 8)))
    model = InfiniteRelationalModel(directed=True, **QUICK).fit(A)
    assert adjusted_rand_score(np.repeat([0, 1], 8), model.labels_) == 1.0
    there, back = model.predict_links([[0, 8], [8, 0]])
    assert there > 0.9
    assert back < 0.1


@pytest.mark.parametrize("alpha", [1.0, (2.0, 1.0)])
@pytest.mark.parametrize("directed", [False, True])
def test_posterior_is_the_enumerated_one(alpha, directed):
    """Labels, number of clusters and predictions, averaged over all partitions of five vertices."""
    A = planted(5, directed, seed=3)[0]
    A[0, 4] = np.nan
    A[4, 0] = A[4, 0] if directed else np.nan
    beta, pairs = (0.6, 1.3), [[0, 1], [2, 1], [0, 4]]
    model = InfiniteRelationalModel(
        alpha=alpha, beta=beta, directed=directed, n_draws=3000, n_warmup=100, random_state=1
    ).fit(A)
    together, chances = np.zeros((5, 5)), np.zeros(3)
    for value, weight in _alphas(alpha):
        likelihood = Relational(beta=beta, directed=directed)
        exact = exact_posterior(A, likelihood, DirichletProcess(value))
        weight *= np.exp(exact.log_evidence)
        together += weight * exact.coclustering()
        for z, p in zip(exact.partitions, exact.probabilities, strict=True):
            chances += weight * p * np.array([_chance(A, z, beta, directed, *ij) for ij in pairs])
    chances, together = chances / together[0, 0], together / together[0, 0]
    np.testing.assert_allclose(np.asarray(model.coclustering_), together, atol=0.025)
    np.testing.assert_allclose(model.predict_links(pairs), chances, atol=0.015)


@pytest.mark.parametrize("directed", [False, True])
def test_predictions_are_averages_over_draws(directed):
    A = planted(9, directed, hidden=0.3)[0]
    beta, pairs = (0.6, 1.3), np.array([[0, 1], [2, 1], [0, 3], [8, 5]])
    model = InfiniteRelationalModel(
        beta=beta, directed=directed, n_draws=3, n_warmup=1, n_chains=2, random_state=0
    ).fit(A)
    draws = model.posterior_.labels.reshape(-1, 9)
    expected = np.mean([[_chance(A, z, beta, directed, *ij) for ij in pairs] for z in draws], 0)
    np.testing.assert_allclose(model.predict_links(pairs), expected)
    y = np.array([1, 0, 0, 1])
    outcomes = np.where(y == 1, expected, 1.0 - expected)
    assert model.score(pairs, y) == pytest.approx(np.log(outcomes).mean())


@pytest.mark.parametrize(("alpha", "sampled"), [(1.0, False), ("auto", True), ((2.0, 1.0), True)])
def test_alpha_is_fixed_or_sampled(alpha, sampled):
    model = InfiniteRelationalModel(alpha=alpha, n_draws=3, n_warmup=1, n_chains=2, random_state=0)
    model.fit(planted(9)[0])
    assert ("alpha" in model.posterior_.traces) == sampled
    if sampled:
        assert len(np.unique(model.posterior_.alpha)) == 6


def _alphas(alpha):
    """Values of alpha and their weights: one, or a grid over a Gamma(2, 1) prior."""
    if alpha == 1.0:
        return [(1.0, 1.0)]
    values = np.linspace(0.05, 12.0, 60)
    return [(v, v * np.exp(-v)) for v in values]


def _chance(A, z, beta, directed, i, j):
    """Posterior mean of the probability of a link from the block of i to that of j, by hand."""
    links = pairs = 0
    for u in range(len(A)):
        for v in range(len(A)):
            here = (z[u], z[v]) == (z[i], z[j])
            if directed or u < v:
                here = here or (not directed and (z[v], z[u]) == (z[i], z[j]))
                if here and u != v and not np.isnan(A[u, v]):
                    links, pairs = links + A[u, v], pairs + 1
    return (beta[0] + links) / (sum(beta) + pairs)


@pytest.mark.parametrize("directed", [False, True])
def test_sparse_and_dense_are_one_bit_for_bit(directed):
    A, _, pairs, _ = planted(30, directed, hidden=0.1)
    frame = pd.DataFrame(A, columns=[f"v{i}" for i in range(30)])
    models = [
        InfiniteRelationalModel(directed=directed, **QUICK).fit(form)
        for form in (A, csr_array(A), coo_matrix(A), frame)
    ]
    for model in models[1:]:
        same_draws(models[0], model)
        np.testing.assert_array_equal(model.predict_links(pairs), models[0].predict_links(pairs))
    assert models[3].feature_names_in_[3] == "v3"
    assert models[0].n_features_in_ == 30


def test_n_jobs_changes_no_bit():
    A = planted(30)[0]
    one, other = (InfiniteRelationalModel(n_jobs=n, **QUICK).fit(A) for n in (None, 2))
    same_draws(one, other)


def test_pairs_in_either_order_where_there_is_no_direction(fitted):
    pairs = np.array([[0, 1], [5, 9], [20, 3]])
    np.testing.assert_array_equal(fitted.predict_links(pairs), fitted.predict_links(pairs[:, ::-1]))


@pytest.mark.parametrize("init", ["one", "singletons", "prior", "auto", "labels"])
def test_inits(init):
    A, groups, _, _ = planted(30)
    init = groups if init == "labels" else init
    model = InfiniteRelationalModel(init=init, n_draws=5, n_warmup=200, random_state=0).fit(A)
    assert model.n_clusters_ >= 2


def test_auto_starts_differ_between_chains():
    A = planted(120)[0]
    model = InfiniteRelationalModel(n_draws=1, n_warmup=1, random_state=0)
    likelihood, rngs = model._likelihood(), [np.random.default_rng(c) for c in range(4)]
    found = initial_labels("auto", csr_array(A), likelihood, model._prior(), rngs)
    assert len({labels.tobytes() for labels in found}) == 4
    assert min(labels.max() for labels in found) > 3


@pytest.mark.parametrize(
    "sampler", ["jain_neal", "sams", "arm", "arm_sams", Gibbs(), SAMS(anchors="balanced")]
)
def test_samplers_that_serve(sampler):
    A, groups, _, _ = planted(30)
    model = InfiniteRelationalModel(sampler=sampler, **QUICK).fit(A)
    assert adjusted_rand_score(groups, model.labels_) > 0.9


@pytest.mark.parametrize("sampler", ["split_merge", "pgsm"])
def test_samplers_that_do_not_serve_name_those_that_do(sampler):
    message = r"those of a network are not: use 'gibbs', 'jain_neal', 'sams', 'arm' or 'arm_sams'"
    with pytest.raises(TypeError, match=message):
        InfiniteRelationalModel(sampler=sampler).fit(planted(10)[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": (1.0, -1.0)}, "beta must be a pair of positive numbers"),
        ({"directed": 1}, "directed must be True or False"),
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"init": "kmeans"}, "Unknown init 'kmeans'.*Available: 'auto', 'one'"),
        ({"sampler": "gibs"}, "Did you mean 'gibbs'"),
        ({"point_estimate": "mean"}, "point_estimate"),
        ({"n_draws": 0}, "n_draws must be at least 1"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        InfiniteRelationalModel(**parameters).fit(planted(10)[0])


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.zeros((3, 4)), "square adjacency matrix"),
        (2.0 * planted(10)[0], "threshold the weights"),
        (np.triu(planted(10)[0]), "use directed=True"),
        (np.eye(4), "self-link at vertex 0"),
        (np.zeros((1, 1)), "single vertex: at least 2"),
        (np.full((3, 3), np.inf), r"A\[0, 0\] is inf"),
    ],
)
def test_bad_matrices_get_one_sentence(A, message):
    with pytest.raises(ValueError, match=message):
        InfiniteRelationalModel().fit(A)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 60]], "numbers from 0 to 59"),
        ([[-1, 2]], "numbers from 0 to 59"),
        ([[3, 3]], "two different vertices"),
        ([[0.5, 2.0]], "integers of shape"),
        ([0, 1], "integers of shape"),
    ],
)
def test_bad_pairs_get_one_sentence(fitted, pairs, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict_links(pairs)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5], "only 0 and 1, got .0.5"),
        ([0, 1], "each of the 1 pairs"),
        ([2], "only 0 and 1, got .2"),
    ],
)
def test_bad_outcomes_get_one_sentence(fitted, y, message):
    with pytest.raises(ValueError, match=f"y must contain.*{message}"):
        fitted.score([[0, 1]], y)


class Graph:
    """As much of a graph of networkx as is looked at."""

    nodes = edges = ()


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (Graph(), "an adjacency matrix, got Graph: convert a graph with networkx"),
        ({0: [1], 1: [0]}, "an adjacency matrix, got dict"),
        (
            pd.DataFrame([["a", "b"], ["b", "c"], ["a", "c"]]),
            "square.* looks like a list of links",
        ),
        (pd.DataFrame(np.eye(2)[::-1], index=["a", "b"], columns=["b", "a"]), "different orders"),
    ],
)
def test_what_is_no_matrix_gets_one_sentence(A, message):
    with pytest.raises((TypeError, ValueError), match=message):
        InfiniteRelationalModel().fit(A)


@pytest.mark.parametrize("fill", [0.0, np.nan, 1.0])
def test_networks_without_anything_to_see(fill):
    """No links, no observed pair, nothing but links: few clusters, and finite numbers."""
    A = np.full((8, 8), fill)
    np.fill_diagonal(A, 0.0)
    model = InfiniteRelationalModel(**QUICK).fit(A)
    (chance,) = model.predict_links([[0, 1]])
    assert chance == pytest.approx({0.0: 0.0, 1.0: 1.0}.get(fill, 0.5), abs=0.1)
    assert np.isfinite(model.posterior_.log_posterior).all()


def test_continue_fit_goes_on_with_what_was_fitted():
    A = planted(30)[0]
    model = InfiniteRelationalModel(**QUICK).fit(A).continue_fit(40)
    same_draws(model, InfiniteRelationalModel(**{**QUICK, "n_draws": 80}).fit(A))


def test_warm_start_goes_on_from_the_last_states():
    A = planted(30)[0]
    model = InfiniteRelationalModel(
        n_draws=1, n_warmup=1, init="singletons", warm_start=True, random_state=0
    ).fit(A)
    first = model.posterior_.log_posterior.mean()
    for _ in range(20):
        model.fit(A)
    assert model.posterior_.log_posterior.mean() > first


def test_a_stopped_fit_resumes_bit_for_bit(tmp_path, monkeypatch):
    A = planted(30, hidden=0.1)[0]
    whole = InfiniteRelationalModel(**QUICK).fit(A)
    parameters = {**QUICK, "checkpoint": tmp_path}
    stopped = InfiniteRelationalModel(**parameters)
    rounds = []
    save = Checkpoint.save

    def save_and_stop(self, chains, force=False):
        save(self, chains, force=True)
        rounds.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(A)
    monkeypatch.setattr(Checkpoint, "save", save)
    assert len(rounds) == 1
    same_draws(whole, InfiniteRelationalModel(**parameters).fit(csr_array(A)))
    assert len(list(tmp_path.iterdir())) == 1  # a sparse matrix is the same network


def test_report_says_what_was_found(fitted):
    text = str(fitted.report())
    assert "60 vertices" in text
    assert "pairs unobserved" in text
    assert "InfiniteRelationalModel, Relational(), sampler ARMWithSAMS()" in text
    assert "rows" not in text
    assert "<table>" in fitted.report()._repr_html_()


def test_clone_and_parameters():
    model = InfiniteRelationalModel(beta=(0.5, 2.0), directed=True, n_draws=7)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["sampler"] == DEFAULT_SAMPLER
    assert "n_particles" not in model.get_params()
    assert not hasattr(model, "predict")
    assert not hasattr(model, "transform")
    tags = model.__sklearn_tags__().input_tags
    assert tags.pairwise and tags.sparse and tags.allow_nan


def test_fit_predict_equals_labels():
    A = planted(30)[0]
    model = InfiniteRelationalModel(**QUICK)
    np.testing.assert_array_equal(model.fit_predict(A), model.labels_)


def test_mixtures_refuse_networks_in_one_sentence():
    with pytest.raises(TypeError, match="use InfiniteRelationalModel"):
        DPMixture(likelihood=Relational()).fit(planted(10)[0])


@pytest.fixture
def pyplot(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_the_picture_shows_every_pair_by_cluster(fitted, pyplot):
    A = planted(hidden=0.1)[0]
    display = AdjacencyDisplay.from_estimator(fitted)
    order = np.argsort(fitted.labels_, kind="stable")
    np.testing.assert_array_equal(display.density, A[np.ix_(order, order)])
    assert np.isnan(display.density).any()
    sizes = np.bincount(fitted.labels_)
    np.testing.assert_array_equal(display.boundaries, np.cumsum(sizes))
    assert display.image_.get_array().shape == (60, 60)
    assert len(display.lines_) == 2
    assert display.figure_ is display.ax_.figure


def test_large_networks_are_shown_as_shares_per_cell(fitted, pyplot):
    _, ax = pyplot.subplots()
    display = AdjacencyDisplay.from_estimator(
        fitted, labels=np.arange(60) // 30, n_cells=2, ax=ax, cmap="viridis"
    )
    A = planted(hidden=0.1)[0]
    np.fill_diagonal(A, np.nan)
    shares = [[np.nanmean(A[r, c]) for c in _halves()] for r in _halves()]
    np.testing.assert_allclose(display.density, shares)
    assert display.ax_ is ax
    assert display.image_.get_cmap().name == "viridis"
    assert display.plot(lines=False).lines_ == []


def _halves():
    return slice(0, 30), slice(30, 60)


def test_pictures_need_labels_of_all_vertices(fitted):
    with pytest.raises(ValueError, match=r"labels must have shape \(60,\)"):
        AdjacencyDisplay.from_estimator(fitted, labels=[0, 1])


def test_pairs_may_be_names_of_vertices():
    A = np.kron(1 - np.eye(2), np.ones((4, 4)))
    names = [f"person {i}" for i in range(8)]
    fitted = InfiniteRelationalModel(n_chains=1, n_draws=10, n_warmup=10, random_state=0).fit(
        pd.DataFrame(A, index=names, columns=names)
    )
    pairs = np.array([[0, 7], [3, 1]])
    by_name = np.array(names)[pairs]
    found = fitted.predict_links(pairs)
    np.testing.assert_array_equal(fitted.predict_links(by_name), found)
    np.testing.assert_array_equal(fitted.predict_links(by_name.astype(object)), found)
    assert fitted.score(by_name, [1, 0]) == fitted.score(pairs, [1, 0])
    with pytest.raises(ValueError, match=r"no vertex 'person 8'. Did you mean 'person"):
        fitted.predict_links([["person 8", "person 0"]])
    with pytest.raises(ValueError, match=r"two different vertices"):
        fitted.predict_links([["person 0", "person 0"]])
    with pytest.raises(ValueError, match=r"numbers of two vertices"):
        fitted.fit(A).predict_links([["person 0", "person 1"]])


def test_networks_say_what_they_have_instead_of_means():
    fitted = InfiniteRelationalModel(n_chains=1, n_draws=10, n_warmup=10, random_state=0)
    fitted.fit(np.kron(1 - np.eye(2), np.ones((4, 4))))
    for name, remedy in {"means_": "link_probabilities_", "weights_": "describe"}.items():
        with pytest.raises(AttributeError, match=f"'{name}': use {remedy}"):
            getattr(fitted, name)

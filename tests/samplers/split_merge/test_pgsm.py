"""Particle Gibbs: its exactness, the parts it is made of, what it leaves behind."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from bnpcluster import DPMixture, FiniteDirichletMixture
from bnpcluster._core.jit import DISABLED, kernel
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma, NormalInverseWishart
from bnpcluster.priors import DirichletProcess, FiniteDirichlet
from bnpcluster.samplers import PGSM
from bnpcluster.samplers.split_merge.conditional_smc import binomial
from tests.conftest import three_blobs
from tests.samplers.split_merge.exact_kernel import canonical
from tests.samplers.test_gibbs import assert_as_rebuilt
from tests.tools.proofs import run_as_plain_python


def test_moves_are_in_detailed_balance_with_the_posterior():
    run_as_plain_python("tests/samplers/split_merge/exact_pgsm.py")


@kernel
def fill_binomial(out, n, p, rng):
    for j in range(len(out)):
        out[j] = binomial(n, p, rng)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (4, 0.5), (19, 0.9), (19, 1e-3), (700, 0.4), (1300, 0.01)]
)
def test_the_number_of_particles_that_take_a_choice_is_binomial(n, p):
    out = np.zeros(2_000 if DISABLED else 20_000, np.intp)
    fill_binomial(out, n, p, np.random.default_rng(0))
    edges = np.unique(binom.ppf([0.05, 0.2, 0.4, 0.6, 0.8, 0.95], n, p))
    cells = np.bincount(np.searchsorted(edges, out), minlength=len(edges) + 1)
    expected = np.diff([0.0, *binom.cdf(edges, n, p), 1.0]) * len(out)
    assert chisquare(cells[expected > 0], expected[expected > 0]).pvalue > 1e-4


@pytest.mark.parametrize(("n", "p"), [(5, 0.0), (5, 1.0), (0, 0.5)])
def test_certain_choices_need_no_draw(n, p):
    out = np.zeros(3, np.intp)
    fill_binomial(out, n, p, np.random.default_rng(0))
    assert (out == round(n * p)).all()


SAMPLERS = [
    pytest.param(PGSM(n_moves=4, n_gibbs=0), id="two-anchors"),
    pytest.param(PGSM(n_particles=6, n_anchors=3, n_moves=4, n_gibbs=0), id="three-anchors"),
    pytest.param(PGSM(anchors="cluster", resample_threshold=0.5, n_moves=4), id="informed"),
]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("likelihood", [NormalInverseWishart(), NormalInverseGamma(), Bernoulli()])
def test_moves_keep_the_books(sampler, likelihood):
    """Blocks open and close, also two at a time."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(14, 2)) + 2.0 * rng.integers(2, size=(14, 1))
    X = np.tile((X > 0.5) * 1.0, 3) if isinstance(likelihood, Bernoulli) else X
    state = State(likelihood.bind(X), FiniteDirichlet(6, 1.5), np.zeros(14, int))
    seen = set()
    for seed in range(4 if DISABLED else 12):
        sampler.step(state, np.random.default_rng(seed))
        assert_as_rebuilt(state)
        assert (state.partition.sizes[state.n_blocks :] == 0).all()
        seen.add(state.n_blocks)
    assert len(seen) > 1


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_neither_room_nor_short_calls_change_a_draw(sampler):
    X, _ = three_blobs(18)
    paths = []
    for capacity, batch in ((2, 1), (256, 16)):
        state = State(
            NormalInverseGamma().bind(X, 2), DirichletProcess(3.0), [0] * 18, capacity=capacity
        )
        state._batch = batch
        rng = np.random.default_rng(0)
        paths.append([])
        for _ in range(5):
            sampler.step(state, rng)
            paths[-1].append(canonical(state.labels))
    assert paths[0] == paths[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_moves_alone_find_three_clusters():
    X, labels = three_blobs(60)
    model = DPMixture(
        sampler=PGSM(n_gibbs=0), init="one", n_warmup=100, n_draws=100, n_chains=2, random_state=0
    ).fit(X)
    assert canonical(model.labels_) == canonical(labels)
    stats = model.sampler_stats_
    assert all(c + r <= m for c, r, m in zip(*map(stats.get, NAMES), strict=True))
    assert all(changed > 0 for changed in stats["changed"])


NAMES = ("changed", "rejected", "moves")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_three_anchors_serve_a_fixed_number_of_components():
    """From a wrong partition into two components, neither of which may split first."""
    X, labels = three_blobs(30)
    start = (labels == 2).astype(int)
    model = FiniteDirichletMixture(
        n_components=3, sampler=PGSM(n_anchors=3), init=start, n_chains=2, random_state=0
    ).fit(X)
    assert canonical(model.labels_) == canonical(labels)


def test_fewer_rows_than_anchors():
    X = np.array([[0.0], [1.0]])
    state = State(NormalInverseGamma().bind(X), DirichletProcess(1.0), [0, 0])
    counts = PGSM(n_anchors=3, n_gibbs=1).step(state, np.random.default_rng(0))
    assert counts["moves"] == 0
    assert counts["sweeps"] == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_particles": 1}, "n_particles must be an integer of at least 2, got 1"),
        ({"n_particles": 2.5}, "n_particles must be an integer of at least 2, got 2.5"),
        ({"n_anchors": 1}, "n_anchors must be an integer of at least 2"),
        ({"anchors": "clusters"}, "anchors must be one of .* Did you mean 'cluster'"),
        ({"order": "ramdom"}, "order must be one of .* Did you mean 'random'"),
        ({"resample_threshold": 2}, "resample_threshold must be 'auto' or a number from 0 to 1"),
        ({"resample_threshold": "often"}, "resample_threshold must be 'auto' or a number"),
        ({"n_moves": 0}, "n_moves must be an integer of at least 1"),
        ({"n_gibbs": -1}, "n_gibbs must be an integer of at least 0"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_one_sentence(parameters, message):
    X, _ = three_blobs(6)
    with pytest.raises(ValueError, match=message):
        DPMixture(sampler=PGSM(**parameters)).fit(X)


def test_the_shortcut_for_particles():
    X, _ = three_blobs(12)
    quick = {"n_draws": 10, "n_warmup": 5, "n_chains": 1, "random_state": 0, "alpha": 1.0}
    one = DPMixture(sampler="pgsm", n_particles=5, **quick)
    two = DPMixture(sampler=PGSM(n_particles=5), **quick)
    np.testing.assert_array_equal(one.fit(X).posterior_.labels, two.fit(X).posterior_.labels)

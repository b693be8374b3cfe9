"""Automatic lengths: when warm-up and sampling end, and that nothing but draws decides it."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.exceptions
from scipy.special import multigammaln

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._core.state import State
from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.lengths import FIRST, ROUND, Asked, Lengths
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = np.concatenate([np.random.default_rng(c).normal(4 * c, 1, (30, 2)) for c in range(3)])
FOLLOWED = Followed(np.arange(4), np.array([[0, 1], [2, 3]]))
LABELS = np.array([0, 0, 1, 1])


def chains_with(level, n_warmup, n_draws, shift=0.0):
    """Four chains whose density is `level(rng)` around the number of the chain times `shift`."""
    chains = []
    for c in range(4):
        rng = np.random.default_rng(c)
        early = [np.array([level(rng) + c * shift, 1.0, 0.5, 1.0, 1.0, 1, 1])] * 0
        for _ in range(n_warmup):
            early.append(np.array([level(rng) + c * shift, 1.0, 0.5, 1.0, 1.0, 1, 1]))
        traces = [{"log_density": level(rng) + c * shift, "alpha": 1.0} for _ in range(n_draws)]
        chains.append(
            SimpleNamespace(
                iteration=n_warmup + n_draws,
                early=early,
                traces=traces,
                draws=[LABELS] * n_draws,
                prior=DirichletProcess(),
            )
        )
    return chains


def lengths_of(n_draws=None, n_warmup=None, thin=1, max_draws=1000):
    return Lengths(Asked(n_draws, n_warmup, thin, max_draws), FOLLOWED)


def run(lengths, level, shift=0.0):
    """Judge longer and longer chains until they are long enough."""
    while (until := lengths.next_end()) is not None:
        warm = min(until, lengths.schedule.n_warmup)
        n_draws = max(until - lengths.schedule.n_warmup, 0) // lengths.schedule.thin
        chains = chains_with(level, warm, n_draws, shift)
        for chain in chains:
            chain.iteration = until
        lengths.judge(chains)
    return lengths.schedule


def white(rng):
    return rng.normal()


def test_white_noise_is_as_short_as_allowed():
    schedule = run(lengths_of(), white)
    assert schedule.n_warmup == FIRST and FIRST <= schedule.n_draws <= 3 * FIRST
    assert not schedule.is_open


def test_chains_apart_end_when_rounds_bring_nothing(monkeypatch):
    monkeypatch.setattr("bnpcluster._fitting.lengths.HOPELESS", np.inf)
    schedule = run(lengths_of(), white, shift=3.0)
    assert FIRST < schedule.n_warmup < 500  # warm-up gave up, too
    assert 400 <= schedule.n_draws < 1000


def test_chains_far_apart_end_soon_unless_many_more_draws_are_allowed():
    assert run(lengths_of(), white, shift=3.0).n_draws == FIRST + 2 * ROUND
    assert run(lengths_of(max_draws=10**5), white, shift=3.0).n_draws > 2 * FIRST + 2 * ROUND


def test_integers_mean_exactly_that_many():
    assert run(lengths_of(n_warmup=30), white).n_warmup == 30
    lengths = lengths_of(n_draws=70, n_warmup=20)
    assert lengths.is_fixed and lengths.next_end() is None
    assert (lengths.schedule.n_draws, lengths.schedule.n_warmup) == (70, 20)
    open_start = lengths_of(n_draws=70)
    assert run(open_start, white).n_draws == 70 and open_start.schedule.n_warmup == FIRST
    assert open_start.is_fixed


def test_no_phase_is_longer_than_allowed():
    slow = np.random.default_rng(0).normal(size=10**5).cumsum()  # never settles
    values = iter(np.tile(slow, 100))
    schedule = run(lengths_of(max_draws=120), lambda rng: next(values))
    assert schedule.n_warmup == 100 and schedule.n_draws == 120


def test_thinned_rounds_have_as_many_draws():
    lengths = lengths_of(n_warmup=0, thin=3)
    assert lengths.next_end() == 3 * ROUND


def test_what_is_judged_at_once_is_judged_as_round_by_round():
    first = run(lengths_of(), white)
    lengths = lengths_of()
    chains = chains_with(white, first.n_warmup, first.n_draws)
    lengths.judge(chains)
    assert lengths.schedule == first and lengths.finished


def fit(**parameters):
    return DPMixture(**{"random_state": 0, **parameters}).fit(X)


def same(a, b):
    np.testing.assert_array_equal(a.posterior_.labels, b.posterior_.labels)
    np.testing.assert_array_equal(a.posterior_.log_density, b.posterior_.log_density)
    assert a.n_iter_ == b.n_iter_


def test_the_number_of_jobs_changes_no_length():
    same(fit(), fit(n_jobs=2))


def test_a_stopped_fit_resumes_with_the_same_lengths(tmp_path, monkeypatch):
    whole = fit()
    run_chains = chain_runs.run_chains

    def stopped(chains, bound, sampler, lengths, *, after_round, stop, **settings):
        def after(chains):
            if chains[0].iteration >= stop_at:
                stop.requested.set()
            after_round(chains)

        return run_chains(chains, bound, sampler, lengths, after_round=after, stop=stop, **settings)

    for stop_at in (50, 100, 200):  # in warm-up, at about its end, while sampling
        with monkeypatch.context() as patch:
            patch.setattr(chain_runs, "run_chains", stopped)
            part = fit(checkpoint=tmp_path / str(stop_at))
        assert part.n_iter_ < whole.n_iter_
        same(fit(checkpoint=tmp_path / str(stop_at)), whole)
    same(fit(checkpoint=tmp_path / "200"), whole)  # a finished fit is only read


def test_a_fit_says_how_long_it_was():
    model = fit()
    assert model.posterior_.n_draws % ROUND == 0
    assert model.n_iter_ >= FIRST + model.posterior_.n_draws
    assert fit(n_draws=20).posterior_.n_draws == 20
    short = fit(n_warmup=10, max_draws=40)
    assert short.posterior_.n_draws == 40 and short.n_iter_ == 50


@pytest.mark.parametrize(
    ("most", "in_python", "in_shell"),
    [
        (1000, "or set n_draws and n_warmup.", "--draws"),  # more would be allowed: they ended
        (FIRST, "or raise max_draws.", "--max-draws"),
    ],
)
def test_advice_is_about_what_ended_the_chains(monkeypatch, most, in_python, in_shell):
    monkeypatch.setattr("bnpcluster._fitting.lengths.shortfall", lambda *given: 0.0)
    model = DPMixture(n_chains=2, max_draws=most, random_state=0)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning) as caught:
        model.fit(X)
    assert str(caught[0].message).endswith(in_python)
    assert in_shell in model.diagnostics_.verdict.shell


def test_continued_chains_keep_their_draws():
    model = fit()
    before = model.posterior_.n_draws
    assert model.continue_fit(30).posterior_.n_draws == before + 30
    assert "log_density" in model.posterior_.traces


@pytest.mark.parametrize("name", ["n_draws", "n_warmup"])
def test_other_words_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be an integer or 'auto', got 'many'"):
        fit(**{name: "many"})


def test_networks_follow_the_log_joint_and_pairs():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((30, 30)) < np.kron(np.eye(2), np.full((15, 15), 0.8)), 1).astype(float)
    model = InfiniteRelationalModel(random_state=0).fit(A + A.T)
    assert "log_density" not in model.posterior_.traces
    assert model.posterior_.n_draws >= FIRST
    assert model.converged_ is not True  # chains that learn from one another are one witness


def log_marginal(X, kappa, nu):
    """The closed form of a normal-inverse-Wishart block, with prior mean 0 and scale matrix 1."""
    n, d = X.shape
    if n == 0:
        return 0.0
    mean = X.mean(axis=0)
    S = np.eye(d) + (X - mean).T @ (X - mean) + kappa * n / (kappa + n) * np.outer(mean, mean)
    gamma = multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d)
    of_kappa = 0.5 * d * np.log(kappa / (kappa + n))
    return gamma + of_kappa - 0.5 * (nu + n) * np.linalg.slogdet(S)[1] - 0.5 * n * d * np.log(np.pi)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0], [0, 1, 0, 2, 1]])
def test_the_density_that_is_followed_is_that_of_a_further_row(labels):
    kappa, nu, alpha = 0.1, 4.0, 1.3
    likelihood = NormalInverseWishart(mean=[0.0, 0.0], kappa=kappa, nu=nu, scale=np.eye(2))
    rows, labels = np.random.default_rng(0).normal(size=(5, 2)), np.array(labels)
    state = State(likelihood.bind(rows), DirichletProcess(alpha), labels)
    before = state.partition.log_prior.copy()
    found = state.mean_log_density(np.array([0, 3]))
    np.testing.assert_array_equal(state.partition.log_prior, before)
    blocks = [rows[labels == k] for k in range(labels.max() + 1)] + [rows[:0]]
    # The weights of a Gibbs step among all items.
    weights = np.array([*map(len, blocks[:-1]), alpha]) / (5 + alpha)
    expected = 0.0
    for x in rows[[0, 3]]:
        more = [log_marginal(np.vstack([b, x]), kappa, nu) for b in blocks]
        less = [log_marginal(b, kappa, nu) for b in blocks]
        expected += 0.5 * np.log(weights @ np.exp(np.subtract(more, less)))
    assert found == pytest.approx(expected, rel=1e-9)

"""R-hat, effective sample sizes, autocorrelation times, and the verdict."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from bnpcluster import (
    DPMixture,
    FiniteDirichletMixture,
    InfiniteRelationalModel,
    MFMMixture,
    NGGMixture,
    PitmanYorMixture,
)
from bnpcluster._fitting.chain_runs import _other
from bnpcluster.diagnostics import autocorrelation_time, diagnose
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.posterior import Posterior
from bnpcluster.samplers import ARM, PGSM, AnnealedSMC, AuxiliarySMC, UrnSMC


def ar1(rng, phi, n_chains, n_draws):
    x = np.empty((n_chains, n_draws))
    x[:, 0] = rng.normal(size=n_chains) / math.sqrt(1 - phi**2)
    for t in range(1, n_draws):
        x[:, t] = phi * x[:, t - 1] + rng.normal(size=n_chains)
    return x


def random_posterior(rng, n_chains=4, n_draws=200, n_items=6, **traces):
    return Posterior(rng.integers(3, size=(n_chains, n_draws, n_items)), traces=traces)


def stuck_posterior(partitions, n_draws=50):
    return Posterior(np.stack([np.tile(z, (n_draws, 1)) for z in partitions]))


@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.5, 0.9, 0.97])
def test_the_autocorrelation_time_of_an_ar1_process_is_known(phi):
    exact = (1 + phi) / (1 - phi)
    trace = ar1(np.random.default_rng(0), phi, 2, 100_000)
    assert autocorrelation_time(trace) == pytest.approx(exact, rel=0.08)
    assert autocorrelation_time(trace[0]) == pytest.approx(exact, rel=0.12)


def test_the_autocorrelation_time_is_free_of_location_scale_and_repetition():
    trace = ar1(np.random.default_rng(1), 0.6, 1, 5000)[0]
    tau = autocorrelation_time(trace)
    assert autocorrelation_time(1e6 - 3 * trace) == pytest.approx(tau, rel=1e-6)
    assert autocorrelation_time(np.repeat(trace, 3)) == pytest.approx(3 * tau, rel=0.05)


def geyer(trace):
    """The definition, written out: autocovariances by lag, pairs, monotone while positive."""
    n = len(trace)
    x = trace - trace.mean()
    rho = [np.dot(x[: n - t], x[t:]) / np.dot(x, x) for t in range(n)]
    total, last = -1.0, math.inf
    for t in range(0, n - 1, 2):
        pair = rho[t] + rho[t + 1]
        if pair < 0:
            break
        last = min(last, pair)
        total += 2 * last
    return total


@pytest.mark.parametrize("n_draws", [21, 60])
def test_the_autocorrelation_time_follows_its_definition(n_draws):
    for seed in range(20):
        trace = ar1(np.random.default_rng(seed), 0.9 if seed % 2 else 0.2, 1, n_draws)[0]
        assert autocorrelation_time(trace) == pytest.approx(
            max(geyer(trace), 1 / np.log10(n_draws))
        )


def test_constant_traces_have_no_autocorrelation_time_and_stuck_ones_an_infinite_one():
    assert math.isnan(autocorrelation_time(np.full(100, 3.0)))
    assert math.isnan(autocorrelation_time([1.0, math.nan]))
    assert autocorrelation_time([[0.0] * 9, [1.0] * 9]) == math.inf


def test_chains_that_disagree_have_long_autocorrelation_times():
    trace = np.random.default_rng(2).normal(size=(2, 500))
    trace[1] += 5
    assert autocorrelation_time(trace) > 100


def test_independent_chains_converge():
    rng = np.random.default_rng(3)
    found = diagnose(random_posterior(rng, log_posterior=rng.normal(size=(4, 200))))
    assert found.converged is True
    assert found.verdict.startswith("The chains agree on the log posterior (R-hat 1.0")
    assert [answer.agrees for answer in found.answers.values()] == [True, True, True]
    for row in found.table.values():
        if row["assessable"]:
            assert row["rhat"] <= 1.01
            assert row["ess_bulk"] > 400
            assert 0.5 < row["tau"] < 2
    assert list(found.table)[:2] == ["log_posterior", "n_clusters"]


@pytest.mark.parametrize("n_chains", [1, 4])
def test_rhat_is_the_rank_normalised_split_one(n_chains):
    rng = np.random.default_rng(4)
    trace = ar1(rng, 0.9, n_chains, 100)
    posterior = random_posterior(rng, n_chains, 100, alpha=trace)
    halves = np.concatenate([trace[:, :50], trace[:, 50:]])

    def classic(x):
        z = norm.ppf((rankdata(x).reshape(x.shape) - 0.375) / (x.size + 0.25))
        within, between = z.var(axis=1, ddof=1).mean(), z.mean(axis=1).var(ddof=1)
        return math.sqrt((within * 49 / 50 + between) / within)

    expected = max(classic(halves), classic(np.abs(halves - np.median(halves))))
    assert diagnose(posterior).table["alpha"]["rhat"] == pytest.approx(expected)


def test_chains_stuck_apart_have_not_converged():
    found = diagnose(stuck_posterior([[0, 0, 0, 0], [0, 0, 1, 1]]))
    row = found.table["n_clusters"]
    assert found.converged is False
    assert row["assessable"] and row["rhat"] == math.inf and row["tau"] == math.inf
    assert "disagree on the number of clusters (R-hat inf" in found.verdict
    assert "continue_fit(n_draws)" in found.verdict


def test_chains_stuck_on_partitions_of_equal_sizes_are_noticed():
    found = diagnose(stuck_posterior([[0, 0, 1, 1], [0, 1, 0, 1]]))
    assert not found.table["n_clusters"]["assessable"]
    assert not found.table["share_of_1_largest"]["assessable"]
    assert found.converged is False
    assert found.verdict.startswith(
        "The chains disagree on who is with whom: items 0 and 1 are together in 100 % and 0 % of "
        "the draws of chains 0 and 1 (typical partitions of two chains: adjusted Rand index -0.50)"
    )


def test_chains_that_all_hold_one_answer_are_not_assessable():
    found = diagnose(stuck_posterior([[0, 0, 1], [0, 0, 1]]))
    assert found.converged is None
    assert all(not row["assessable"] for row in found.table.values())
    assert all(math.isnan(row["rhat"]) for row in found.table.values())
    assert "The chains agree." in found.verdict
    assert "init='auto'" in found.verdict
    assert "n_chains=4" in diagnose(stuck_posterior([[0, 0, 1]])).verdict


def test_a_rare_excursion_of_one_chain_is_no_alarm_but_a_long_one_is():
    rng = np.random.default_rng(5)
    for length, converged in ((20, True), (300, False)):
        labels = np.zeros((4, 500, 5), dtype=int)
        labels[2, 100 : 100 + length, 0] = 1
        found = diagnose(Posterior(labels, traces={"alpha": rng.random((4, 500))}))
        assert found.converged is converged
        assert found.table["n_clusters"]["assessable"] is not converged


def test_a_single_chain_is_compared_with_itself():
    rng = np.random.default_rng(6)
    good = diagnose(random_posterior(rng, 1, 800))
    assert good.converged is None and "The halves of the only chain agree" in good.verdict
    assert "A single chain cannot show that it is right: set n_chains to 4." in good.verdict
    drifting = random_posterior(rng, 1, 400, alpha=np.linspace(0, 9, 400)[None])
    bad = diagnose(drifting)
    assert bad.converged is None
    assert "The halves of the only chain disagree on alpha" in bad.verdict
    labels = np.zeros((1, 400, 4), int)
    labels[:, 200:, 0] = 1
    found = diagnose(Posterior(labels, traces={"log_density": rng.normal(size=(1, 400))}))
    assert "of the draws of the halves of the chain" in found.verdict
    assert diagnose(Posterior(labels)).table["n_clusters"]["rhat"] == math.inf


@pytest.mark.parametrize(("n_chains", "n_draws", "needed"), [(1, 7, "8"), (2, 3, "4")])
def test_too_few_draws_are_not_assessed(n_chains, n_draws, needed):
    found = diagnose(random_posterior(np.random.default_rng(7), n_chains, n_draws))
    assert found.converged is None
    assert f"({needed} per chain are needed)" in found.verdict


def test_few_effective_draws_come_with_the_number_still_missing():
    rng = np.random.default_rng(8)
    trace = ar1(rng, 0.9, 4, 150)
    halves = trace.reshape(4, 2, 75)
    halves -= halves.mean(axis=2, keepdims=True)  # they agree, and still are few
    halves /= halves.std(axis=2, keepdims=True)
    found = diagnose(random_posterior(rng, 4, 150, alpha=trace))
    ess = found.table["alpha"]["ess_bulk"]
    assert ess < 400 and found.table["alpha"]["rhat"] <= 1.01
    assert found.converged is False
    missing = math.ceil(150 * (400 / ess - 1))
    assert f"it has only {ess:.0f} effective draws (400 wanted)" in found.verdict
    assert f"continue_fit({missing})" in found.verdict


def test_shares_of_the_largest_clusters_are_cumulative():
    labels = np.array([[[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]] * 5] * 2)
    table = diagnose(Posterior(labels)).table
    assert [name for name in table if name.startswith("share")] == [
        f"share_of_{t}_largest" for t in (1, 2, 3)
    ]
    assert table["share_of_1_largest"]["assessable"]
    labels[:, ::2] = [0, 0, 0, 1, 2, 3]
    labels[:, 1::2] = [0, 0, 1, 1, 2, 3]
    table = diagnose(Posterior(labels)).table
    assert table["share_of_1_largest"]["assessable"]
    assert not table["share_of_2_largest"]["assessable"]


def test_pairs_can_be_chosen():
    apart = stuck_posterior([[0, 0, 1, 1], [0, 1, 0, 1]])
    assert diagnose(apart, pairs=[(0, 1)]).converged is False
    assert diagnose(apart, pairs=[(0, 3)]).converged is None  # never together
    assert diagnose(Posterior(np.zeros((2, 9, 1), dtype=int))).converged is None


def test_a_density_decides_before_other_traces():
    rng = np.random.default_rng(14)
    white = rng.normal(size=(4, 200))
    apart = white + np.arange(4)[:, None]
    traces = {"log_density": white, "log_posterior": apart, "alpha": apart}
    assert diagnose(random_posterior(rng, **traces)).converged is True
    traces["log_density"] = apart
    found = diagnose(random_posterior(rng, **traces))
    assert found.converged is False
    assert found.verdict.startswith("The chains disagree on the density (R-hat ")
    assert found.answers["density"].agrees is False and found.answers["pairs"].agrees is True


def test_a_spare_cluster_is_named_and_is_no_failure():
    rng = np.random.default_rng(15)
    labels = np.repeat([0, 1], 50) * np.ones((4, 200, 1), int)
    labels[:2, :, :3] = np.where(rng.random((2, 200, 1)) < 0.7, 2, 0)
    labels[2:, :, :3] = np.where(rng.random((2, 200, 1)) < 0.2, 2, 0)
    pairs = [(i, i + 1) for i in range(3, 99)]
    traces = {"log_density": rng.normal(size=(4, 200))}
    found = diagnose(Posterior(labels, traces=traces), pairs=pairs)
    assert found.answers["n_clusters"].agrees is False
    assert "on whether clusters of up to 3 items stand alone" in found.answers["n_clusters"].text
    assert found.answers["density"].agrees is True
    assert found.converged is True


def test_particles_are_judged_by_their_weights():
    rng = np.random.default_rng(10)
    labels = rng.integers(2, size=(2, 1000, 4))
    assert diagnose(Posterior(labels)).converged is True
    weights = rng.exponential(size=(2, 1000))
    assert diagnose(Posterior(labels, weights=weights)).converged is True
    weights[1] = 0.0
    assert diagnose(Posterior(labels, weights=weights)).converged is True
    weights[:, 5:] *= 1e-9
    found = diagnose(Posterior(labels, weights=weights))
    assert found.converged is False
    assert "raise n_particles" in found.verdict


def test_a_trace_that_varies_in_the_middle_draw_alone_is_not_assessable():
    rng = np.random.default_rng(13)
    trace = np.zeros((2, 5))
    trace[:, 2] = 1.0
    found = diagnose(random_posterior(rng, 2, 5, alpha=trace))
    assert not found.table["alpha"]["assessable"]


def test_infinite_log_posteriors_are_not_assessable():
    rng = np.random.default_rng(11)
    trace = rng.normal(size=(4, 200))
    trace[0, 0] = -math.inf
    found = diagnose(random_posterior(rng, log_posterior=trace))
    assert not found.table["log_posterior"]["assessable"]
    assert found.converged is True


def test_text_and_html_show_every_scalar():
    rng = np.random.default_rng(12)
    found = diagnose(
        random_posterior(rng, **{"a<b": rng.random((4, 200)), "fixed": np.ones((4, 200))})
    )
    text, page = str(found), found._repr_html_()
    lines = text.splitlines()
    assert lines[-1] == found.verdict
    assert len({len(line) for line in lines[:-1]}) == 1
    assert f"{found.table['n_clusters']['rhat']:.3f}" in text
    fixed = next(line for line in lines if line.startswith("fixed"))
    assert fixed.split() == ["fixed", "not", "assessable"]
    assert "<td>fixed</td><td colspan='4'>not assessable</td>" in page
    assert "<td>a&lt;b</td>" in page and found.verdict in page


def test_arviz_stats_is_imported_only_when_it_is_needed():
    code = "import sys, bnpcluster.diagnostics; sys.exit('arviz_stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_verdict_advises_another_sampler():
    apart = stuck_posterior([[0, 0, 0, 0], [0, 0, 1, 1]])
    assert diagnose(apart).verdict.endswith("continue_fit(n_draws), or try another sampler.")
    assert diagnose(apart, other="pgsm").verdict.endswith("or try sampler='pgsm'.")


def test_the_verdict_names_a_chain_that_is_apart_from_all_others():
    together, apart = [0, 0, 0, 0], [0, 0, 1, 1]
    for n_chains, lost in ((3, 1), (4, 0), (5, 4)):
        partitions = [apart if c == lost else together for c in range(n_chains)]
        assert (
            f"; all but chain {lost} agree): run" in diagnose(stuck_posterior(partitions)).verdict
        )
    for partitions in ([together, apart], [together, together, apart, apart]):
        assert "all but" not in diagnose(stuck_posterior(partitions)).verdict


FIXED = NormalInverseGamma(mean=0.0, kappa=0.01, shape=2.0, scale=1.0)
SHORT = {"n_warmup": 1, "n_chains": 2, "random_state": 0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("sampler", "other"),
    [
        ("split_merge", "pgsm"),
        ("gibbs", "split_merge"),
        ("pgsm", "split_merge"),
        (PGSM(n_particles=5), "split_merge"),
    ],
)
def test_a_mixture_is_advised_a_sampler_it_does_not_use(sampler, other):
    X = np.array([[-9.0], [-8.0], [-7.0], [7.0], [8.0], [9.0]])
    assert _other(DPMixture(sampler=sampler, n_draws=6, **SHORT).fit(X)._fitted) == other


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_verdict_of_a_fit_advises_the_other_sampler():
    X = np.repeat([[-9.0], [9.0]], 200, axis=0)  # two heaps that Gibbs neither joins nor divides
    apart = np.stack([np.zeros(400, int), np.repeat([0, 1], 200)])
    model = DPMixture(sampler="gibbs", init=apart, alpha=1e-9, n_draws=8, **SHORT).fit(X)
    assert model.diagnostics_.verdict.endswith("or try sampler='split_merge'.")


def test_chains_that_learn_from_one_another_are_one_witness():
    X = np.array([[-9.0], [-8.0], [-7.0], [7.0], [8.0], [9.0]])
    verdicts = {}
    for sampler in ("arm", ARM(variant="simple"), "split_merge"):
        model = DPMixture(alpha=1.0, likelihood=FIXED, sampler=sampler, n_draws=2000, n_chains=2)
        model.set_params(random_state=0, n_warmup=100).fit(X)
        shared = "learnt from one another" in model.diagnostics_.verdict
        assert model.converged_ is (None if shared else True)
        verdicts[str(sampler)] = shared
    assert list(verdicts.values()) == [True, False, False]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("sampler", "other"), [("arm", "sams"), ("gibbs", "arm"), ("sams", "arm")])
def test_a_network_is_advised_a_sampler_that_serves_networks(sampler, other):
    A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    assert (
        _other(InfiniteRelationalModel(sampler=sampler, n_draws=6, **SHORT).fit(A)._fitted) == other
    )


def test_particles_are_advised_what_their_sampler_has():
    for sampler in (UrnSMC(), AuxiliarySMC()):
        assert sampler.remedy.endswith("try sampler='annealed_smc', whose particles move")
    assert AnnealedSMC().remedy == "raise n_particles or block_size"
    assert AnnealedSMC(path="temperature").remedy == "raise n_particles or n_moves"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "names"),
    [
        (DPMixture(), ["alpha"]),
        (PitmanYorMixture(alpha=(1, 1), discount=(1, 1)), ["alpha", "discount"]),
        (NGGMixture(tau=(1, 1), sigma=(1, 1)), ["tau", "sigma"]),
        (MFMMixture(gamma=(1, 1)), ["gamma"]),
        (FiniteDirichletMixture(concentration=(1, 1)), ["concentration"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_sampled_parameter_is_assessed_and_reported(model, names):
    model.set_params(n_draws=12, sampler="gibbs", **SHORT)
    model.fit(np.random.default_rng(0).normal(size=(8, 1)))
    assert {"log_density", "log_posterior", "n_clusters", "share_of_1_largest", *names} <= set(
        model.diagnostics_.table
    )
    lines = str(model.report()).splitlines()
    assert lines[-1] == model.diagnostics_.verdict
    for name in names:
        assert sum(line.split()[:1] == [name] for line in lines) == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_chains", [1, 2])
@pytest.mark.parametrize("n_draws", range(1, 11))
def test_few_draws_and_one_chain_have_a_verdict(n_chains, n_draws):
    posterior = random_posterior(np.random.default_rng(n_draws), n_chains, n_draws)
    found = diagnose(posterior)
    enough = n_draws >= (4 if n_chains > 1 else 8)
    assert ("Too few draws" in found.verdict) is not enough
    assert str(found).endswith(found.verdict)
    assert found.verdict.endswith(".")


@pytest.mark.parametrize(
    ("limit", "option"), [("n_draws", "--draws"), ("max_draws", "--max-draws")]
)
def test_the_command_line_advises_the_option_that_counts(limit, option):
    apart = diagnose(stuck_posterior([[0, 0, 0, 0], [0, 0, 1, 1]]), limit=limit).verdict
    assert f"run longer with more {option}, or try" in apart.shell
    assert "run longer with continue_fit(n_draws)" in apart
    posterior = random_posterior(np.random.default_rng(0), 2, 100)
    few = diagnose(posterior, limit=limit).verdict
    number = int(re.search(rf"wanted\): {option} (\d+) should be enough", few.shell)[1])
    more = int(re.search(r"continue_fit\((\d+)\) should be enough", few)[1])
    assert number == 100 + more

"""Particle samplers: evidence and weighted posterior without bias, and the parts they are made of.

The product: all examples of all samplers on a few targets, the first example of each on the
examples of all priors and of plain likelihoods, one on those of all. The rest is slow.
"""

import functools

import numpy as np
import pytest
from scipy.stats import gamma
from sklearn.base import clone

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import DISABLED, kernel
from bnpcluster._core.state import State, Stopped
from bnpcluster._fitting.smc_runs import combined_evidence
from bnpcluster.likelihoods import Bernoulli, NormalInverseGamma
from bnpcluster.partitions.label_draws import canonical
from bnpcluster.priors import MFM, NGG, PRIORS, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers import SAMPLERS, AnnealedSMC, AuxiliarySMC, SplitMerge, UrnSMC
from bnpcluster.samplers.smc import base
from bnpcluster.samplers.smc import population as kernels
from bnpcluster.samplers.smc.auxiliary import Sticks
from bnpcluster.samplers.smc.population import HOLES, RESAMPLED, TOP
from bnpcluster.samplers.smc.population_gibbs import gibbs_updates, set_particle
from bnpcluster.samplers.smc.resampling import draw_parents, parents_from_counts, sorted_parents
from bnpcluster.samplers.smc.tempering import Tempered, ess_share, set_state
from bnpcluster.samplers.smc.urn import log_v_rows, urn_tables
from bnpcluster.testing import check_particles, exact_posterior
from tests.conftest import three_blobs
from tests.samplers.test_registry import LIKELIHOOD_EXAMPLES, pairs
from tests.tools.dossier import ERRORS, note

SIZE = {"error": 0.1, "n_runs": 40} if DISABLED else {"error": 0.01, "n_runs": 400}
PARTICLES = {name: cls for name, cls in SAMPLERS.items() if cls.weighted}
INSTANCES = [
    pytest.param(sampler, id=f"{name}-{j}")
    for name, cls in PARTICLES.items()
    for j, sampler in enumerate(cls.examples())
]
FIRST = [pytest.param(cls.examples()[0], id=name) for name, cls in PARTICLES.items()]
PRIOR_EXAMPLES = [
    pytest.param(prior, id=f"{name}-{j}")
    for name, cls in PRIORS.items()
    for j, prior in enumerate(cls.examples())
    if not prior.sampled
]
NEAR = np.array([[-1.0], [0.7], [-0.7], [-1.2], [1.0]])
COINS = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]])


def serves(sampler, prior):
    if isinstance(sampler, AuxiliarySMC):
        return hasattr(prior, "draw_components") or prior.sigma_now > 0.0
    return True


def prove(*arguments):
    """Check a sampler with particles, and note the worst error."""
    note(ERRORS, check_particles(*arguments, **SIZE), "up to a standard error of 1 % or less")


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize(
    ("likelihood", "X", "prior"),
    [
        pytest.param(NormalInverseGamma(), NEAR, PitmanYor(0.2, 0.4), id="nig-py"),
        pytest.param(
            *(Bernoulli(), COINS, FiniteDirichlet(3, 0.7)),
            id="bernoulli-finite",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_example_is_unbiased(sampler, likelihood, X, prior):
    prove(sampler, likelihood, prior, X)


@pytest.mark.parametrize("sampler", FIRST)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_every_prior_is_served_without_bias(sampler, prior):
    if serves(sampler, prior):
        prove(sampler, NormalInverseGamma(), prior, NEAR)
    else:
        with pytest.raises(ValueError, match="use UrnSMC"):
            sampler.checked(prior)


@pytest.mark.parametrize(("sampler", "likelihood", "X"), list(pairs(FIRST, ["urn_smc"])))
def test_every_likelihood_is_served_without_bias(sampler, likelihood, X):
    prove(sampler, likelihood, PitmanYor(0.5, 0.3), X)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_the_full_product_is_unbiased(sampler, prior, likelihood, X):
    if serves(sampler, prior):
        prove(sampler, likelihood, prior, X)


SHUFFLED, _ = three_blobs(45, d=1, seed=4)
SHUFFLED = np.random.default_rng(5).permutation(SHUFFLED)
SCHEMES = ["multinomial", "stratified", "systematic"]
FIXED = NormalInverseGamma(mean=0.0, kappa=0.1, shape=2.0, scale=0.5)


def run_of(sampler, X=SHUFFLED, prior=None, seed=0, n=None):
    prior = sampler.checked(prior or DirichletProcess(0.7))
    return sampler.run(FIXED.bind(X), prior, n or len(X), np.random.default_rng(seed))


@kernel
def repeat_draw(weights, scheme, parent, count, rng, drawn):
    for r in range(len(drawn)):
        draw_parents(weights, scheme, parent, count, rng)
        for p in range(len(parent)):
            drawn[r, parent[p]] += 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_parents_are_drawn_in_proportion_to_weight(scheme):
    """Their expected numbers, the variances of multinomial ones, the bounds of systematic ones."""
    weights = np.array([0.05, 0.0, 1.0, 0.35, 0.6])
    expected = 5 * weights / weights.sum()
    drawn = np.zeros((1000 if DISABLED else 20_000, 5))
    parent, count = np.zeros((2, 5), np.int32)
    code = SCHEMES.index(scheme)
    repeat_draw(weights, code, parent, count, np.random.default_rng(1), drawn)
    alone = np.array(
        [
            np.bincount(sorted_parents(weights, 5, code, np.random.default_rng(r)), minlength=5)
            for r in range(2000)
        ]
    )
    for counts in (drawn, alone):
        error = counts.std(axis=0) / np.sqrt(len(counts))
        assert (np.abs(counts.mean(axis=0) - expected) < 4 * error + 1e-12).all()
        share = expected / 5
        if scheme == "multinomial":
            ratio = counts.var(axis=0) / np.where(share > 0, 5 * share * (1 - share), 1.0)
            assert np.abs(ratio - (share > 0)).max() < 12 / np.sqrt(len(counts))
        else:
            assert (np.abs(counts - expected) < (1 if scheme == "systematic" else 2)).all()
    ups = (drawn.sum(axis=1) == 5).all()
    assert ups


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_differ_in_how_counts_vary_together(scheme):
    """Strata at one height draw in step; at their own heights, or freely, they do not."""
    weights = np.full(4, 1.0) + np.array([0.5, 0.0, 0.5, 0.0])
    drawn = np.zeros((2000, 4))
    parent, count = np.zeros((2, 4), np.int32)
    repeat_draw(weights, SCHEMES.index(scheme), parent, count, np.random.default_rng(2), drawn)
    patterns = len(np.unique(drawn, axis=0))
    assert patterns == {"systematic": 2, "stratified": 4}.get(scheme, patterns)
    assert scheme != "multinomial" or patterns > 15


def test_survivors_stay_in_their_places():
    parent, count = np.zeros(4, np.int32), np.array([0, 2, 0, 2], np.int32)
    parents_from_counts(parent, count)
    assert parent.tolist() == [1, 1, 3, 3]


FILTERS = [
    pytest.param(UrnSMC(n_particles=20), id="urn"),
    pytest.param(AuxiliarySMC(n_particles=20), id="jumps"),
    pytest.param(AnnealedSMC(n_particles=10, block_size=4), id="annealed"),
    pytest.param(AnnealedSMC(n_particles=5, move=SplitMerge(n_moves=2)), id="other-move"),
]


def assert_books_are_right(particles, fresh):
    """Slots are held, counted and freed as the labels say; statistics equal recomputed ones."""
    population, lik = particles.population, particles.lik
    held = np.zeros(len(population.holders), int)
    for p, labels in enumerate(population.labels[:, : particles.n_placed]):
        slots = population.blocks[p, : population.n_blocks[p]]
        held[slots] += 1
        assert (population.sizes[slots] == np.bincount(labels)).all()
        for j, s in enumerate(slots):
            ops.clear(fresh, 0)
            for i in np.flatnonzero(labels == j):
                ops.add(fresh, 0, i)
            expected = ops.log_marginal(fresh, 0)
            assert ops.log_marginal(lik, s) == pytest.approx(expected, abs=1e-8)
    assert (population.holders == held).all()
    assert held[0] == 0
    used = population.numbers[TOP] - population.numbers[HOLES]
    assert used == 1 + (held > 0).sum()
    assert not population.child.any()


@pytest.mark.parametrize("sampler", FILTERS)
@pytest.mark.parametrize("prior", [PitmanYor(1.5, 0.3), MFM(0.5, ("poisson", 3.0))])
def test_particles_keep_the_books(sampler, prior):
    bound, n = FIXED.bind(SHUFFLED, 4), 15 if DISABLED else 45
    sampler = clone(sampler).set_params(resample_threshold=1.0)
    particles = sampler.filter(bound, prior, n, np.random.default_rng(1))
    for placed in (1, 2, 3, 5, 8, 12, 15, 25, n)[: 7 if DISABLED else 9]:
        particles.place_up_to(placed, lambda: False)
        assert_books_are_right(particles, FIXED.bind(SHUFFLED, 4))
    assert particles.population.numbers[RESAMPLED] > 0


def test_filled_holes_leave_the_books_right():
    """Most particles die at once, and the slots of the others move together."""
    sampler = UrnSMC(n_particles=20, resample_threshold=0.0)
    particles = sampler.filter(FIXED.bind(SHUFFLED), PitmanYor(3.0), 15, np.random.default_rng(1))
    particles.place_up_to(14, lambda: False)
    population = particles.population
    population.parent[:] = np.where(np.arange(20) % 7 == 6, np.arange(20), 13)
    kernels.copy_parents(population, particles.prior_weights(14, 15), 14)
    assert population.numbers[HOLES] > 0.25 * population.numbers[TOP]
    assert_books_are_right(particles, FIXED.bind(SHUFFLED, 4))
    kernels.fill_holes(particles.lik, population)
    assert population.numbers[HOLES] == 0
    assert_books_are_right(particles, FIXED.bind(SHUFFLED, 4))
    particles.place_up_to(15, lambda: False)
    assert_books_are_right(particles, FIXED.bind(SHUFFLED, 4))


def test_an_extreme_row_leaves_a_block_with_its_digits():
    """The last rows have no labels yet, and do not count."""
    X = SHUFFLED[:15].copy()
    X[3] = 1e10
    sampler = AnnealedSMC(n_particles=4, anneal=False)
    particles = sampler.filter(FIXED.bind(X), PitmanYor(1.5, 0.3), 15, np.random.default_rng(1))
    particles.place_up_to(12, lambda: False)
    population, lik = particles.population, particles.lik
    for p in range(4):
        set_particle(lik, population, p, np.zeros(15, np.intp), 1, 12)
    log_v = particles.prior.tables(12, particles.block_room + 1).log_v
    gibbs_updates(lik, population, log_v, 0.3, np.array([3]), np.full(4, 0.5), 0, 4)
    assert (population.n_blocks == 2).all()
    assert_books_are_right(particles, FIXED.bind(X, 4))


@pytest.mark.parametrize("sampler", FILTERS)
def test_neither_room_nor_short_calls_change_a_run(sampler, monkeypatch):
    prior, runs = PitmanYor(2.0, 0.5), []
    for room, longest in ((2, 0.0), (64, 1.0)):
        monkeypatch.setattr(kernels, "ROOM", room)
        monkeypatch.setattr(base, "LONGEST", longest)
        small = functools.partial(kernels.new_population, capacity=8 * room)
        monkeypatch.setattr(base, "new_population", small)
        runs.append(run_of(sampler, prior=prior))
    assert (runs[0].labels == runs[1].labels).all()
    assert runs[0].log_evidence == pytest.approx(runs[1].log_evidence, abs=1e-9)


@pytest.mark.parametrize("sampler", FILTERS)
def test_items_that_come_later_change_nothing(sampler):
    prior = PitmanYor(1.5, 0.3)
    bound = FIXED.bind(SHUFFLED)
    at_once = run_of(sampler, prior=prior)
    in_three = run_of(sampler, prior=prior, n=10)
    for n in (11, len(SHUFFLED)):
        in_three = sampler.resume(in_three, bound, n)
    assert (in_three.labels == at_once.labels).all()
    assert in_three.log_evidence == pytest.approx(at_once.log_evidence, abs=1e-9)
    assert in_three.log_joint == pytest.approx(at_once.log_joint, abs=1e-8)


def test_the_joint_density_of_particles_is_that_of_their_labels():
    for sampler in (AnnealedSMC(n_particles=6), AnnealedSMC(n_particles=6, path="temperature")):
        run = run_of(sampler, X=SHUFFLED[:12])
        state = State(FIXED.bind(SHUFFLED[:12]), DirichletProcess(0.7), [0] * 12)
        for labels, value in zip(run.labels, run.log_joint, strict=True):
            state.labels[:] = labels
            state.rebuild()
            assert value == pytest.approx(state.log_joint(), abs=1e-8)


@pytest.mark.parametrize("prior", [NGG(20.0, 0.5), PitmanYor(0.3, 0.6), MFM(), FiniteDirichlet(4)])
def test_rows_of_the_table_by_recursion_are_those_of_the_prior(prior):
    """Backwards over 64 items, whose first rows are compared with the prior's own."""
    rows = log_v_rows(prior, 1, 65, 12)
    for n in (1, 2, 10, 40, 64):
        k = min(n, 12) + 1
        assert rows[n - 1, 1:k] == pytest.approx(prior.tables(n, 12).log_v[1:k], rel=1e-10)


def test_urn_weights_are_the_predictive_of_the_prior():
    for prior in (PitmanYor(0.7, 0.4), MFM(0.6, ("gnedin", 0.7)), FiniteDirichlet(3, 0.7)):
        urn = urn_tables(prior, 4, 7, 5)
        for sizes in ([3, 2], [1, 1, 3], [4, 1]):
            sizes = np.array(sizes)
            step, k = sizes.sum() - 4, len(sizes)
            weights = np.append((sizes - urn.sigma) * urn.join[step, k], urn.open[step, k])
            assert weights == pytest.approx(np.exp(prior.predictive(sizes)), abs=1e-12)


def test_a_single_run_that_resampled_has_no_error():
    for sampler in (
        UrnSMC(n_particles=20, resample_threshold=1.0, resampling="multinomial"),
        AnnealedSMC(n_particles=20, path="temperature"),
    ):
        assert np.isnan(run_of(sampler, X=SHUFFLED[:8], seed=0).relative_variance)


def test_particles_leave_the_prior_for_separate_clusters():
    """By default; with Gibbs sweeps alone the evidence is 6 to 14 nats too low in seven runs."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)) - 5.0, rng.normal(size=(30, 2)) + 5.0])
    likelihood = NormalInverseGamma(mean=0.0, kappa=0.01, shape=2.0, scale=1.0)
    sampler = AnnealedSMC(n_particles=40, path="temperature")
    run = sampler.run(likelihood.bind(X, 16), DirichletProcess(1.0), 60, rng)
    assert run.log_evidence == pytest.approx(-230.3, abs=2.5)  # the mean of seven runs
    apart = np.array([len(set(row[:30]) & set(row[30:])) == 0 for row in run.labels])
    assert apart.mean() > 0.95


COVERED = [
    UrnSMC(n_particles=50),
    UrnSMC(n_particles=50, resample_threshold=0.0),
    AuxiliarySMC(n_particles=100),
    AnnealedSMC(n_particles=20),
    AnnealedSMC(n_particles=20, path="temperature"),
]


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [1, 2, 4])
@pytest.mark.parametrize("sampler", COVERED, ids=repr)
def test_two_errors_cover_the_evidence(sampler, n_runs, fits=400):
    """In 90 to 98 % of the fits that tell an error."""
    X, prior = SHUFFLED[:8], PitmanYor(1.0, 0.3)
    exact = exact_posterior(X, FIXED, prior).log_evidence
    seeds = np.arange(fits * n_runs).reshape(fits, n_runs)
    runs = [[run_of(sampler, X=X, prior=prior, seed=s) for s in row] for row in seeds]
    found = np.array([combined_evidence(row) for row in runs])
    told = ~np.isnan(found[:, 1])
    covered = np.abs(found[told, 0] - exact) <= 2 * found[told, 1]
    assert told.all() or n_runs == 1
    assert told.sum() < 100 or 0.90 <= covered.mean() <= 0.98


def test_the_variance_from_one_run_is_that_of_a_mean():
    weights = np.array([1.0, 2.0, 2.0, 7.0])
    expected = weights.var(ddof=1) / len(weights) / weights.mean() ** 2
    assert base.relative_variance(np.log(weights) - 800.0, 0) == pytest.approx(expected)
    assert np.isnan(base.relative_variance(np.log(weights), 1))


def test_the_variance_from_one_run_is_unbiased():
    """Without resampling, which leaves the weights independent."""
    sampler = UrnSMC(n_particles=20, resample_threshold=0.0)
    runs = [run_of(sampler, X=SHUFFLED[:8], seed=r) for r in range(50 if DISABLED else 3000)]
    ratios = np.exp([run.log_evidence for run in runs])
    ratios /= ratios.mean()
    gaps = (ratios - 1) ** 2 - ratios**2 * [run.relative_variance for run in runs]
    assert abs(gaps.mean()) < 4 * gaps.std() / np.sqrt(len(gaps))
    assert DISABLED or gaps.std() / np.sqrt(len(gaps)) < 0.2 * ratios.var()


def test_hyper_parameters_are_sampled_on_the_path_of_the_temperature():
    """Evidence, and the posterior mean of alpha, by quadrature over the hyper-prior."""
    grid = gamma(2.0).ppf((np.arange(400) + 0.5) / 400)
    prior = DirichletProcess((2.0, 1.0))
    z = np.exp([exact_posterior(NEAR, FIXED, prior.at(alpha=a)).log_evidence for a in grid])
    sampler = AnnealedSMC(n_particles=16, path="temperature", temperatures=[0.3, 1.0], n_moves=1)
    evidence, mean = [], []
    for seed in range(20 if DISABLED else 600):
        run = run_of(sampler, X=NEAR, prior=prior, seed=seed)
        evidence.append(np.exp(run.log_evidence) / z.mean())
        mean.append(evidence[-1] * (run.values["alpha"].mean() - (z * grid).sum() / z.sum()))
    for values, expected in ((evidence, 1.0), (mean, 0.0)):
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values) - expected) < 4 * error
        assert DISABLED or error < 0.05


def test_adaptive_temperatures_keep_the_effective_size():
    seen = []

    class Watched(Tempered):
        def advance_to(self, beta, log_f, *settings):
            seen.append((beta, ess_share((beta - self.beta) * log_f)))
            super().advance_to(beta, log_f, *settings)

    rng = np.random.default_rng(0)
    move = SplitMerge(n_moves=5)
    particles = Watched(FIXED.bind(SHUFFLED), DirichletProcess(0.7), 45, rng, 60, move)
    run = particles.run_temperatures(None, 0.8, 2, 1, None, lambda: False)
    betas, sizes = map(np.array, zip(*seen, strict=True))
    assert (np.diff(betas) > 0).all()
    assert betas[-1] == 1.0
    assert sizes[:-1] == pytest.approx(0.8, abs=1e-6)
    assert sizes[-1] >= 0.8 - 1e-6
    exact = [run_of(UrnSMC(n_particles=2000), seed=s).log_evidence for s in range(2)]
    assert abs(run.log_evidence - np.mean(exact)) < 1.0


@pytest.mark.parametrize("sampler", [AnnealedSMC(), UrnSMC(), AnnealedSMC(path="temperature")])
def test_runs_stop_when_they_are_asked_to(sampler):
    with pytest.raises(Stopped):
        sampler.run(FIXED.bind(SHUFFLED), PitmanYor(1.0), 45, np.random.default_rng(0), bool_true)


def bool_true():
    return True


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (UrnSMC(n_particles=0), "n_particles must be an integer of at least 1"),
        (UrnSMC(resampling="residual"), "resampling must be one of 'multinomial'"),
        (UrnSMC(resample_threshold=1.5), "resample_threshold must be between 0 and 1"),
        (AnnealedSMC(rate=0.0), "rate must be above 0"),
        (AnnealedSMC(start=-1.0), "start must be positive"),
        (AnnealedSMC(path="rows"), "path must be one of 'items', 'temperature'"),
        (AnnealedSMC(move=UrnSMC()), r"move must be None or a sampler such as Gibbs\(\)"),
        (AnnealedSMC(temperatures=[0.5, 0.2, 1.0]), "an increasing list of powers"),
        (AnnealedSMC(temperatures="fast"), "temperatures must be 'adaptive'"),
        (AnnealedSMC(n_particles=10, waste_free=3), "n_particles=10 must be a multiple"),
    ],
)
def test_bad_settings_get_a_sentence(sampler, message):
    with pytest.raises((ValueError, TypeError), match=message):
        run_of(sampler)


def test_particles_without_moves_need_fixed_values():
    with pytest.raises(ValueError, match="UrnSMC needs a fixed alpha"):
        UrnSMC().checked(DirichletProcess((1.0, 1.0)))
    assert UrnSMC().checked(PitmanYor("auto", 0.3)).values == {"alpha": 1.0, "discount": 0.3}
    with pytest.raises(ValueError, match="takes no further rows"):
        run = run_of(AnnealedSMC(n_particles=4, path="temperature"), X=NEAR)
        AnnealedSMC().resume(run, None, 9)


@pytest.mark.parametrize("prior", [PitmanYor(0.5, 0.3), FiniteDirichlet(3, 0.7)])
@pytest.mark.parametrize(("start", "item"), [([0, 0, 1, 0, 1], 3), ([0, 1, 0, 0, 2], 1)])
def test_redrawn_items_follow_their_full_conditional(prior, start, item):
    """Over a grid of uniforms, from a block of several items and from one of its own."""
    exact = exact_posterior(NEAR, FIXED, prior)
    others = np.delete(np.arange(5), item)
    start, size = np.array(start), 2000
    same = (exact.partitions[:, others, None] == exact.partitions[:, None, others]) == (
        start[others, None] == start[others]
    )
    possible = same.all(axis=(1, 2))
    expected = np.where(possible, exact.probabilities, 0.0)
    sampler = AnnealedSMC(n_particles=size)
    particles = sampler.filter(FIXED.bind(NEAR), prior, 5, np.random.default_rng(0))
    for p in range(size):
        while kernels.scarce(particles.population, 4):
            particles.make_room(further=4)
        set_particle(particles.lik, particles.population, p, start, start.max() + 1, 5)
    log_v, sigma = prior.tables(5, 10).log_v, prior.sigma_now
    uniforms, items, reached = (np.arange(size) + 0.5) / size, np.array([item]), 0
    while reached < size:
        lik, population = particles.lik, particles.population
        reached = gibbs_updates(lik, population, log_v, sigma, items, uniforms, reached, size)
        particles.make_room(further=2)
    codes = 6 ** np.arange(5)
    found = canonical(particles.population.labels)[0] @ codes
    shares = [(found == row @ codes).mean() for row in exact.partitions]
    assert np.abs(shares - expected / expected.sum()).max() < 2 / size


@pytest.mark.parametrize("prior", [PitmanYor(1.5, 0.5), MFM(0.5, ("poisson", 6.0))])
def test_particles_inherit_the_weights_of_their_clusters(prior):
    """They add up to what the first ancestor drew: a total mass, or a number of components."""

    def drawn_first(weights):
        if isinstance(weights, Sticks):
            return weights.components.copy()
        return weights.log_mass - np.log(weights.left)

    sampler = AuxiliarySMC(n_particles=12, resample_threshold=1.0)
    particles = sampler.filter(FIXED.bind(SHUFFLED), prior, 45, np.random.default_rng(3))
    particles.place_up_to(1, lambda: False)
    first = drawn_first(particles.weights)
    particles.place_up_to(15, lambda: False)
    weights, population = particles.weights, particles.population
    assert len(np.unique(population.origin)) < 12
    shares = [weights.share[p, :k].sum() for p, k in enumerate(population.n_blocks)]
    assert weights.left + shares == pytest.approx(1.0)
    assert drawn_first(weights) == pytest.approx(first[population.origin])


def test_the_threshold_says_when_particles_are_drawn_anew():
    times = [
        run_of(UrnSMC(n_particles=20, resample_threshold=t)).counts["resamplings"]
        for t in (0.0, 1e-9, 0.5, 0.9, 1.0)
    ]
    assert times[:2] == [0, 0]
    assert 0 < times[2] < times[3] < times[4]


def test_an_assigned_state_is_the_one_it_copies():
    """Labels, more blocks than there was room for, statistics, and hyper-parameters."""
    bound, prior = FIXED.bind(NEAR, 2), DirichletProcess((2.0, 1.0))
    one = State(bound, prior.at(alpha=0.3), [0, 0, 0, 0, 0], capacity=2)
    other = State(bound, prior.at(alpha=4.0), [0, 1, 2, 3, 0], capacity=8)
    set_state(one, other.labels.copy(), other.prior)
    assert (one.labels == other.labels).all()
    assert one.prior.values == {"alpha": 4.0}
    assert one.log_joint() == pytest.approx(other.log_joint())

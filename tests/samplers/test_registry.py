"""Every sampler leaves the exact posterior invariant: the sharpest test there is.

What is tested by default: all examples of all samplers on a few targets, the first example of each
sampler on every prior and on a few likelihoods, and two samplers on all examples of priors and on
nearly all likelihoods. The others are slow, for each pair of a sampler and a likelihood is
compiled, and so is the full product.
"""

import numpy as np
import pytest

from bnpcluster.likelihoods import LIKELIHOODS, Bernoulli, NormalInverseGamma
from bnpcluster.priors import PRIORS, DirichletProcess, FiniteDirichlet, PitmanYor
from bnpcluster.samplers import SAMPLERS
from bnpcluster.samplers.base import offers
from bnpcluster.testing import check_sampler
from tests.tools.dossier import P_VALUE, note

JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")
REPLICATES = 10_000 if JITTED else 100
CHAINS = {name: cls for name, cls in SAMPLERS.items() if not cls.weighted}  # see test_smc.py
INSTANCES = [
    pytest.param(sampler, id=f"{name}-{j}")
    for name, cls in CHAINS.items()
    for j, sampler in enumerate(cls.examples())
]
FIRST = [pytest.param(cls.examples()[0], id=name) for name, cls in CHAINS.items()]
LIKELIHOOD_EXAMPLES = [
    pytest.param(likelihood, X[:5], id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(2)))
]
EVERYWHERE = ("gibbs", "split_merge", "blocked")  # tested on every likelihood by default
PLAIN = ("nig-0", "nig-1", "niw-0", "niw-1", "bernoulli-0")  # on these, every sampler is
COMPOUND = ("columns-0", "niw-4")  # made of others, or of levels of them, with proofs of their own


def pairs(samplers, everywhere):
    """Each sampler with each likelihood; what adds no new operation to a sampler is slow."""
    for likelihood in LIKELIHOOD_EXAMPLES:
        bound = likelihood.values[0].bind(likelihood.values[1])
        for sampler in samplers:
            if not all(offers(bound, name) for name in sampler.values[0].requires):
                continue
            new = likelihood.id in PLAIN or sampler.id == "gibbs"
            new |= sampler.id in everywhere and likelihood.id not in COMPOUND
            yield pytest.param(
                *sampler.values,
                *likelihood.values,
                id=f"{likelihood.id}-{sampler.id}",
                marks=[] if new else [pytest.mark.slow],
            )


def with_priors(samplers, everywhere):
    """Each sampler with each prior; a prior's further examples are other tables, no other code."""
    for prior in PRIOR_EXAMPLES:
        for sampler in samplers:
            first = prior.id.endswith("-0") or sampler.id in everywhere
            marks = [] if first else [pytest.mark.slow]
            yield pytest.param(
                *prior.values, *sampler.values, id=f"{prior.id}-{sampler.id}", marks=marks
            )


def on_second_targets(samplers):
    """Each sampler where items are absent and data tempered; its first example also elsewhere."""
    for beta, absent in [(0.3, 0), (0.0, 0), (1.0, 1), (0.6, 2)]:
        for sampler in samplers:
            new = sampler.id.endswith("-0") or absent == 2
            marks = [] if new else [pytest.mark.slow]
            yield pytest.param(
                beta, absent, *sampler.values, id=f"{beta}-{absent}-{sampler.id}", marks=marks
            )


PRIOR_EXAMPLES = [
    pytest.param(prior, id=f"{name}-{j}")
    for name, cls in PRIORS.items()
    for j, prior in enumerate(cls.examples())
]
SEPARATED = np.array([[-2.0], [-1.9], [-1.7], [1.6], [2.0]])
COINS = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]])
FEW_LIKELIHOODS = [
    pytest.param(NormalInverseGamma(), SEPARATED, id="nig"),
    pytest.param(Bernoulli(), COINS, id="bernoulli", marks=pytest.mark.slow),
]
FEW_PRIORS = [
    pytest.param(DirichletProcess(0.8), id="dp"),
    pytest.param(PitmanYor(0.7, 0.4), id="py"),
    pytest.param(FiniteDirichlet(3, 0.7), id="finite"),
]


def prove(*arguments, n_replicates=REPLICATES, **target):
    """Check a sampler, and note the p-value."""
    p = check_sampler(*arguments, n_replicates=n_replicates, **target)
    note(P_VALUE, p, f"{n_replicates:,} starts")


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize("prior", FEW_PRIORS)
@pytest.mark.parametrize(("likelihood", "X"), FEW_LIKELIHOODS)
def test_invariance_for_every_example(sampler, prior, likelihood, X):
    prove(sampler, likelihood, prior, X)


@pytest.mark.parametrize(("sampler", "likelihood", "X"), list(pairs(FIRST, EVERYWHERE)))
def test_invariance_for_every_likelihood(sampler, likelihood, X):
    prove(sampler, likelihood, DirichletProcess(1.0), X)


@pytest.mark.parametrize(("prior", "sampler"), list(with_priors(FIRST, EVERYWHERE)))
def test_invariance_for_every_prior(sampler, prior):
    prove(sampler, NormalInverseGamma(), prior, SEPARATED)


@pytest.mark.parametrize(("beta", "absent", "sampler"), list(on_second_targets(INSTANCES)))
def test_invariance_for_tempered_and_partly_present_targets(sampler, beta, absent):
    X = np.array([[-1.0, 0.1], [-0.8, -0.3], [0.2, 1.0], [1.1, 0.9], [0.0, 0.1], [2.0, 2.0]])
    prove(sampler, NormalInverseGamma(), DirichletProcess(1.5), X, beta=beta, absent=absent)


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
@pytest.mark.parametrize(("sampler", "likelihood", "X"), list(pairs(INSTANCES, ())))
def test_invariance_for_the_full_product(sampler, prior, likelihood, X):
    prove(sampler, likelihood, prior, X, n_replicates=50_000)

"""Particle samplers: evidence and weighted posterior without bias, and the parts they are made of.

The product: all examples of all samplers on a few targets, the first example of each on the
examples of all priors and of all likelihoods. The full product is slow.
"""

import numpy as np
import pytest

from bnpcluster._jit import DISABLED
from bnpcluster.likelihoods import LIKELIHOODS, Bernoulli, NormalInverseGamma
from bnpcluster.priors import (
    PRIORS,
    FiniteDirichlet,
    PitmanYor,
)
from bnpcluster.samplers import SAMPLERS, AuxiliarySMC
from bnpcluster.testing import check_particles

SIZE = {"error": 0.1, "n_runs": 40} if DISABLED else {"error": 0.01, "n_runs": 1000}
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
LIKELIHOOD_EXAMPLES = [
    pytest.param(likelihood, X[:5], id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(2)))
]
NEAR = np.array([[-1.0], [0.7], [-0.7], [-1.2], [1.0]])
COINS = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]])


def serves(sampler, prior):
    if isinstance(sampler, AuxiliarySMC):
        return hasattr(prior, "draw_components") or prior.sigma_now > 0.0
    return True


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize(
    ("likelihood", "X", "prior"),
    [
        pytest.param(NormalInverseGamma(), NEAR, PitmanYor(0.2, 0.4), id="nig-py"),
        pytest.param(Bernoulli(), COINS, FiniteDirichlet(3, 0.7), id="bernoulli-finite"),
    ],
)
def test_every_example_is_unbiased(sampler, likelihood, X, prior):
    check_particles(sampler, likelihood, prior, X, **SIZE)


@pytest.mark.parametrize("sampler", FIRST)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_every_prior_is_served_without_bias(sampler, prior):
    if serves(sampler, prior):
        check_particles(sampler, NormalInverseGamma(), prior, NEAR, **SIZE)
    else:
        with pytest.raises(ValueError, match="use UrnSMC"):
            sampler.checked(prior)


@pytest.mark.parametrize("sampler", FIRST)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_every_likelihood_is_served_without_bias(sampler, likelihood, X):
    check_particles(sampler, likelihood, PitmanYor(0.5, 0.3), X, **SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_the_full_product_is_unbiased(sampler, prior, likelihood, X):
    if serves(sampler, prior):
        check_particles(sampler, likelihood, prior, X, **SIZE)

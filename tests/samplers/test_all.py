"""Every sampler leaves the exact posterior invariant: the sharpest test there is."""

import numpy as np
import pytest

from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseGamma
from bnpcluster.priors import PRIORS, DirichletProcess
from bnpcluster.samplers import SAMPLERS
from bnpcluster.testing import check_sampler

JITTED = hasattr(__import__("bnpcluster.samplers.gibbs", fromlist=["sweep"]).sweep, "py_func")
REPLICATES = 20_000 if JITTED else 300
INSTANCES = [
    pytest.param(sampler, id=f"{name}-{j}")
    for name, cls in SAMPLERS.items()
    for j, sampler in enumerate(cls.examples())
]
LIKELIHOOD_EXAMPLES = [
    pytest.param(likelihood, X[:5], id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(2)))
]
PRIOR_EXAMPLES = [
    pytest.param(prior, id=f"{name}-{j}")
    for name, cls in PRIORS.items()
    for j, prior in enumerate(cls.examples())
]
SEPARATED = np.array([[-2.0], [-1.9], [-1.7], [1.6], [2.0]])


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_invariance_for_every_likelihood(sampler, likelihood, X):
    check_sampler(sampler, likelihood, DirichletProcess(1.0), X, n_replicates=REPLICATES)


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
def test_invariance_for_every_prior(sampler, prior):
    check_sampler(sampler, NormalInverseGamma(), prior, SEPARATED, n_replicates=REPLICATES)


@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize(("beta", "absent"), [(0.3, 0), (0.0, 0), (1.0, 1), (0.6, 2)])
def test_invariance_for_tempered_and_partly_present_targets(sampler, beta, absent):
    X = np.array([[-1.0, 0.1], [-0.8, -0.3], [0.2, 1.0], [1.1, 0.9], [0.0, 0.1], [2.0, 2.0]])
    check_sampler(
        sampler,
        NormalInverseGamma(),
        DirichletProcess(1.5),
        X,
        beta=beta,
        absent=absent,
        n_replicates=REPLICATES // 2,
    )


@pytest.mark.slow
@pytest.mark.parametrize("sampler", INSTANCES)
@pytest.mark.parametrize("prior", PRIOR_EXAMPLES)
@pytest.mark.parametrize(("likelihood", "X"), LIKELIHOOD_EXAMPLES)
def test_invariance_for_the_full_product(sampler, prior, likelihood, X):
    check_sampler(sampler, likelihood, prior, X, n_replicates=50_000)

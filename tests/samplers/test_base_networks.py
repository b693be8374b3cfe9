"""Samplers leave the enumerated posterior of the infinite relational model invariant."""

import numpy as np
import pytest

from bnpcluster.likelihoods import Relational
from bnpcluster.priors import DirichletProcess, FiniteDirichlet
from bnpcluster.samplers import ARM, SAMS, ARMWithSAMS, Gibbs, JainNeal
from bnpcluster.samplers.gibbs import sweep
from bnpcluster.testing import check_sampler
from tests.tools.dossier import P_VALUE, note
from tests.tools.proofs import run_as_plain_python

REPLICATES = 10_000 if hasattr(sweep, "py_func") else 100
NETWORKS = [
    pytest.param(likelihood, A, id=name)
    for name, (likelihood, A) in zip(
        ("plain", "directed", "gaps", "directed-gaps"),
        Relational.examples(np.random.default_rng(4)),
        strict=True,
    )
]
SAMPLERS = [
    pytest.param(Gibbs(), id="gibbs"),
    pytest.param(JainNeal(n_gibbs=0), id="jain_neal"),
    pytest.param(JainNeal(n_restricted=None, n_gibbs=1), id="jain_neal-mixed"),
    pytest.param(SAMS(n_moves=1, n_gibbs=0), id="sams"),
    pytest.param(SAMS(anchors="balanced", order="decisive", n_moves=2), id="sams-balanced"),
    pytest.param(ARM(n_gibbs=0), id="arm"),
    pytest.param(ARM(variant="simple", n_gibbs=0), id="arm-simple"),
    pytest.param(ARMWithSAMS(n_gibbs=0, n_split_merge=2), id="arm_sams"),
]
TARGETS = [
    pytest.param(beta, absent, id=f"{beta}-{absent}")
    for beta, absent in [(0.4, 0), (1.0, 1), (0.0, 1)]
]
SETTINGS = ("jain_neal-mixed", "sams-balanced", "arm-simple")  # by default, on one target each


def with_targets(targets, general):
    """Each sampler with each target; other settings of a sampler on the most general one."""
    for target in targets:
        for sampler in SAMPLERS:
            slow = sampler.id in SETTINGS and target.id != general
            yield pytest.param(
                *sampler.values,
                *target.values,
                id=f"{target.id}-{sampler.id}",
                marks=[pytest.mark.slow] if slow else [],
            )


@pytest.mark.parametrize(
    ("sampler", "likelihood", "A"), list(with_targets(NETWORKS, "directed-gaps"))
)
def test_invariance(sampler, likelihood, A):
    subset = A[:5, :5]
    p = check_sampler(sampler, likelihood, DirichletProcess(1.0), subset, n_replicates=REPLICATES)
    note(P_VALUE, p, f"{REPLICATES:,} starts")


@pytest.mark.parametrize(("sampler", "beta", "absent"), list(with_targets(TARGETS, "1.0-1")))
def test_invariance_for_tempered_and_partly_present_networks(sampler, beta, absent):
    likelihood, A = Relational.examples(np.random.default_rng(6))[3]
    p = check_sampler(
        sampler,
        likelihood,
        FiniteDirichlet(4, 0.7),
        A,
        beta=beta,
        absent=absent + 1,
        n_replicates=REPLICATES,
    )
    note(P_VALUE, p, f"{REPLICATES:,} starts")


def test_exact_transition_matrices():
    run_as_plain_python("tests/samplers/exact_networks.py")

"""Exact transition matrices of moves on networks; plain Python, run by `test_relational`."""

import numpy as np
import pytest

from bnpcluster.likelihoods import Relational
from bnpcluster.priors import DirichletProcess, PitmanYor
from bnpcluster.samplers import SAMS, JainNeal
from tests.samplers.split_merge.exact_kernel import Chain, Target, check_balance

PLAIN = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]], float)
GAPS = PLAIN.copy()
GAPS[0, 1] = GAPS[1, 0] = np.nan
DIRECTED = np.array([[0, 1, np.nan, 0], [0, 0, 1, 1], [1, 0, 0, np.nan], [1, 1, 0, 0]], float)
TARGETS = [
    pytest.param(Target(Relational(), DirichletProcess(1.0), PLAIN), id="plain"),
    pytest.param(Target(Relational(beta=(0.4, 1.5)), PitmanYor(0.6, 0.3), GAPS), id="gaps"),
    pytest.param(Target(Relational(directed=True), DirichletProcess(0.7), DIRECTED), id="directed"),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "sampler",
    [
        pytest.param(JainNeal(n_restricted=None), id="jain_neal-no_scan"),
        pytest.param(JainNeal(n_restricted=0), id="jain_neal-0"),
        pytest.param(SAMS(anchors="balanced", order="decisive"), id="sams-decisive"),
        pytest.param(SAMS(), id="sams"),
    ],
)
def test_moves_on_networks_are_in_detailed_balance(sampler, target):
    check_balance(Chain(sampler, target))

"""Properties of every prior in the registry."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, kstest

from bnpcluster.priors import PRIORS
from bnpcluster.testing import all_partitions, check_prior, log_eppf
from tests.tools.dossier import GAP, note

EXAMPLES = [
    pytest.param(prior, id=f"{name}-{j}")
    for name, cls in PRIORS.items()
    for j, prior in enumerate(cls.examples())
]
SAMPLED = [example for example in EXAMPLES if example.values[0].sampled]


@pytest.mark.parametrize("prior", EXAMPLES)
def test_contract(prior):
    note(GAP, check_prior(prior), "1 to 6 items")


@pytest.mark.parametrize("prior", EXAMPLES)
def test_samples_follow_the_tables(prior):
    rng = np.random.default_rng(0)
    counts = np.bincount(
        [len(np.unique(prior.sample(5, rng))) - 1 for _ in range(4000)], minlength=5
    )
    partitions = all_partitions(5)
    weights = np.exp(log_eppf(prior, partitions))
    expected = 4000 * np.bincount(partitions.max(axis=1), weights=weights, minlength=5)
    statistic = ((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
    assert statistic < 23  # chi-square with 4 degrees of freedom: 1e-4


@pytest.mark.parametrize("prior", SAMPLED)
@pytest.mark.parametrize("n_pairs", [1500, pytest.param(6000, marks=pytest.mark.slow)])
def test_update_keeps_the_joint_distribution(prior, n_pairs):
    """An update of parameters and a partition from the prior keeps their joint distribution."""
    rng = np.random.default_rng(4)
    before, after = [], []
    for pairs in (before, after):
        for _ in range(n_pairs):
            at = prior.at(**prior.draw(rng))
            labels = at.sample(8, rng)
            sizes = np.bincount(labels)
            if pairs is after:
                at = at.update(sizes, 8, rng)
            pairs.append([len(sizes), *at.values.values()])
    before, after = np.array(before), np.array(after)
    for column in range(1, before.shape[1]):
        assert kstest(before[:, column], after[:, column]).pvalue > 1e-3
        cuts = np.quantile(before[:, column], [0.2, 0.4, 0.6, 0.8])
        table = [
            np.bincount(
                8 * np.searchsorted(cuts, rows[:, column]) + rows[:, 0].astype(int) - 1,
                minlength=40,
            )
            for rows in (before, after)
        ]
        table = np.array(table)
        assert chi2_contingency(table[:, table.sum(axis=0) >= 10]).pvalue > 1e-3

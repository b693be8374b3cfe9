"""Predictives of the discrete likelihoods, over all possible rows, sum to one."""

import itertools

import numpy as np
import pytest

from bnpcluster._core import operations as ops
from bnpcluster.likelihoods import Bernoulli, Categorical, Poisson

CASES = [
    (Bernoulli(a=0.4, b=2.0), [(0, 1)] * 4),
    (Categorical(concentration=0.3, n_categories=[3, 2, 4]), [range(3), range(2), range(4)]),
    (Poisson(shape=1.5, rate=0.7), [range(80), range(80)]),
]


@pytest.mark.parametrize(("likelihood", "values"), CASES, ids=lambda c: type(c).__name__)
def test_predictives_sum_to_one(likelihood, values):
    rows = np.array(list(itertools.product(*values)), float)
    seen = rows[np.random.default_rng(0).integers(min(len(rows), 9), size=6)]
    bound = likelihood.bind(seen, 2)
    for k in (0, 1):
        ops.clear(bound, k)
    for i in range(6):
        ops.add(bound, 0, i)
    new = likelihood.rows(bound, rows)
    for k in (0, 1):
        total = sum(np.exp(ops.log_predictive(new, k, i)) for i in range(len(rows)))
        assert total == pytest.approx(1.0, abs=1e-9)

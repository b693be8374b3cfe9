"""Slots that are filled at once hold what they hold if items are added one by one."""

import numpy as np
import pytest

from bnpcluster._core.loading import add_all
from bnpcluster._core.operations import add, clear, log_marginal, log_predictive
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseWishart

EXAMPLES = [
    pytest.param(likelihood, X, id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(7)))
]


def filled(likelihood, X, labels, at_once):
    """Bound data with every item in its slot, after other items were there."""
    bound = likelihood.bind(X, capacity=8)
    for k in range(8):
        clear(bound, k)
    add(bound, 0, len(X) - 1)
    clear(bound, 0)
    if at_once:
        add_all(bound, labels)
    else:
        for i in range(len(X)):
            add(bound, labels[i], i)
    return bound


def check(likelihood, X, labels, rel=1e-10):
    bounds = [filled(likelihood, X, labels, at_once) for at_once in (True, False)]
    for k in range(labels.max() + 2):  # one of them is empty
        one, other = ([log_marginal(b, k), log_predictive(b, k, 0)] for b in bounds)
        assert one == pytest.approx(other, rel=rel, abs=1e-10)


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_all_items_at_once_are_those_one_by_one(likelihood, X):
    check(likelihood, X, np.arange(len(X)) % 3 % 2 * 2)  # slot 1 is empty


@pytest.mark.parametrize("d", [3, 5, 20])
def test_many_columns(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(200, d)) @ rng.normal(size=(d, d)) + 30.0 * rng.normal(size=d)
    check(NormalInverseWishart(), X, rng.integers(3, size=200))


def test_flat_slots_keep_their_digits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + 1e-9 * rng.normal(size=60)
    X *= 1e6
    likelihood = NormalInverseWishart(mean=np.zeros(3), kappa=1.0, nu=5.0, scale=1e-6)
    check(likelihood, X, rng.integers(2, size=60), rel=1e-7)

"""Properties of every likelihood in the registry."""

import numpy as np
import pytest
from sklearn.base import clone

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster._core.state import State, grown_bound
from bnpcluster.likelihoods import LIKELIHOODS
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers.gibbs import sweep
from bnpcluster.testing import check_likelihood

EXAMPLES = [
    pytest.param(likelihood, X, id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(1)))
]


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_contract(likelihood, X):
    check_likelihood(likelihood, X)


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_clone_and_repr(likelihood, X):
    assert repr(clone(likelihood)) == repr(likelihood)


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_new_rows_see_the_same_blocks(likelihood, X):
    bound = likelihood.bind(X, 4)
    for k in (0, 1):
        ops.clear(bound, k)
    for i in range(4):
        ops.add(bound, 0, i)
    new = likelihood.rows(bound, X[[5, 4]])
    for k in (0, 1):
        assert ops.log_predictive(new, k, 0) == ops.log_predictive(bound, k, 5)
        assert ops.log_predictive(new, k, 1) == ops.log_predictive(bound, k, 4)


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_more_room_changes_nothing(likelihood, X):
    """Sweeps that stop again and again for more room give the same draws."""
    paths = []
    for capacity in (2, 64):
        state = State(likelihood.bind(X, 2), DirichletProcess(2.0), [0] * 6, capacity=capacity)
        rng = np.random.default_rng(3)
        # Every sweep counts: chains that share their uniforms meet again after a difference.
        paths.append([])
        for _ in range(30):
            state.visit(sweep, rng)
            paths[-1].append((state.labels.tolist(), state.log_joint()))
    assert paths[0] == paths[1]


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_growing_copies_what_a_chain_owns(likelihood, X):
    bound = likelihood.bind(X, 2)
    assert_copied(bound, grown_bound(bound, 4))


def assert_copied(bound, own):
    for name in bound.slot_axis:
        if isinstance(getattr(bound, name), tuple):
            assert_copied(getattr(bound, name), getattr(own, name))
        else:
            assert not np.shares_memory(getattr(own, name), getattr(bound, name))
    for name in set(bound._fields) - set(bound.slot_axis):
        assert getattr(own, name) is getattr(bound, name)


@kernel
def wander(lik, labels, items, slots):
    """Move items between two slots, many times."""
    for step in range(len(items)):
        i, k = items[step], slots[step]
        ops.remove(lik, labels[i], i)
        ops.add(lik, k, i)
        labels[i] = k


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_statistics_do_not_drift(likelihood, X):
    """After a million moves the cached statistics equal those recomputed from the labels."""
    rng = np.random.default_rng(0)
    X = np.concatenate([X, X[rng.integers(6, size=34)]])
    bound = likelihood.bind(X, 8)
    state = State(bound, DirichletProcess(1.0), np.arange(40) % 4)
    lik, labels = state.problem.likelihood, state.labels
    moves = 1_000_000 if hasattr(wander, "py_func") else 1000
    wander(lik, labels, rng.integers(40, size=moves), rng.integers(4, size=moves))
    fresh = State(bound, DirichletProcess(1.0), labels)
    for k in range(4):
        i = int(np.flatnonzero(labels == k)[0])
        same = int(fresh.labels[i])
        moved = [ops.log_marginal(lik, k)] + [ops.log_predictive(lik, k, j) for j in range(40)]
        again = fresh.problem.likelihood
        exact = [ops.log_marginal(again, same)]
        exact += [ops.log_predictive(again, same, j) for j in range(40)]
        np.testing.assert_allclose(moved, exact, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_a_frozen_likelihood_is_the_one_it_was(likelihood, X):
    """Of its own data; other rows no longer change it."""
    X = np.asarray(X, float)
    frozen = likelihood.frozen(X)
    more = np.vstack([X, X[:3]])
    assert "auto" not in map(str, frozen.get_params().values())
    values = []
    for each, rows in ((likelihood, X), (frozen, X), (frozen, more)):
        bound = each.bind(rows, 8)
        ops.clear(bound, 0)
        values.append(ops.log_predictive_set(bound, 0, np.arange(len(X))))
    assert values[1:] == pytest.approx([values[0]] * 2, rel=1e-9)

"""Check that a likelihood keeps the contract of its operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior, PriorTables


def check_likelihood(likelihood: Likelihood, X: np.ndarray, *, tolerance: float = 1e-8) -> None:
    """Assert that a likelihood keeps its contract on the rows of `X` (at least five).

    The product of predictives is the marginal in any order. Removing reverses adding. Copies equal
    originals. The leave-one-out, all-slots, set and weight operations agree with the plain ones.
    Room for more slots changes nothing.

    Parameters
    ----------
    likelihood : Likelihood
    X : ndarray of shape (n, n_features)
    tolerance : float, default=1e-8

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> from bnpcluster.testing import check_likelihood
    >>> check_likelihood(NormalInverseGamma(), np.random.default_rng(0).normal(size=(6, 2)))
    """
    X = np.asarray(X, float)
    rng = np.random.default_rng(0)
    bound = likelihood.bind(X, 8)
    for k in range(5):
        ops.clear(bound, k)
    _check_chain_rule(bound, rng.permutation(len(X)), rng.permutation(len(X)), tolerance)
    _check_slots(bound, len(X), tolerance)
    _check_weights(likelihood, X, tolerance)


def _close(a: float, b: float, tolerance: float, what: str) -> None:
    assert abs(a - b) <= tolerance * (1.0 + abs(b)), f"{what}: {a} against {b}."


def _check_chain_rule(bound: Any, one: np.ndarray, two: np.ndarray, tolerance: float) -> None:
    for k, order in enumerate((one, two)):
        total = 0.0
        for i in order:
            total += ops.log_predictive(bound, k, i)
            ops.add(bound, k, i)
        _close(total, ops.log_marginal(bound, k), tolerance, "predictives against the marginal")
    _close(ops.log_marginal(bound, 0), ops.log_marginal(bound, 1), tolerance, "order of items")
    ops.clear(bound, 2)
    total = ops.log_predictive_set(bound, 2, two)
    _close(total, ops.log_marginal(bound, 1), tolerance, "log_predictive_set")
    both = ops.log_likelihood(bound, 2)
    _close(both, 2 * ops.log_marginal(bound, 1), tolerance, "log_likelihood")
    for k in range(3):
        ops.clear(bound, k)
        _close(ops.log_marginal(bound, k), 0.0, 1e-12, "marginal of an empty slot")


def _check_slots(bound: Any, n: int, tolerance: float) -> None:
    for i in range(n - 1):
        ops.add(bound, i % 2, i)
    before = [ops.log_predictive(bound, k, n - 1) for k in range(3)]
    marginal = ops.log_marginal(bound, 0)
    ops.add(bound, 0, n - 1)
    _close(
        ops.log_predictive_without(bound, 0, n - 1), before[0], tolerance, "log_predictive_without"
    )
    ops.copy(bound, 3, 0)
    _close(ops.log_marginal(bound, 3), ops.log_marginal(bound, 0), tolerance, "copy")
    ops.remove(bound, 0, n - 1)
    _check_union(bound, n, tolerance)
    _close(ops.log_marginal(bound, 0), marginal, tolerance, "add then remove")
    _close(ops.log_predictive(bound, 0, n - 1), before[0], tolerance, "add then remove")
    out = np.zeros(8)
    ops.log_predictive_all(bound, n - 1, 0, 3, out)
    for k in range(3):
        _close(out[k], before[k], tolerance, "log_predictive_all")
    ops.rename(bound, 4, 0)
    _close(ops.log_predictive(bound, 4, n - 1), before[0], tolerance, "rename")
    ops.add(bound, 2, n - 1)
    ops.remove(bound, 2, n - 1)
    _close(ops.log_predictive(bound, 2, n - 1), before[2], tolerance, "an emptied slot")


def _check_union(bound: Any, n: int, tolerance: float) -> None:
    """Check slots 0 and 1, with the even and odd items before the last; slot 4 is free."""
    labels = np.append(np.arange(n - 1) % 2, -1)
    one, two = (ops.log_marginal(bound, k) for k in (0, 1))
    _close(ops.log_marginal_pair(bound, 0, 1), one + two, tolerance, "log_marginal_pair")
    union = ops.log_marginal_union(bound, 0, 1, 4, labels)
    ops.pool(bound, 4, 0, 1, labels)
    predictive = ops.log_predictive(bound, 4, n - 1)
    ops.clear(bound, 4)
    everything = ops.log_predictive_set(bound, 4, np.arange(n - 1))
    _close(union, everything, tolerance, "log_marginal_union")
    _close(predictive, ops.log_predictive(bound, 4, n - 1), tolerance, "pool")
    ops.clear(bound, 4)


def _check_weights(likelihood: Likelihood, X: np.ndarray, tolerance: float) -> None:
    """Compare log_weights with its fallback, with and without a slack, at every item."""
    n = len(X)
    state = State(likelihood.bind(X, 8), _Flat(), np.arange(n) % 3)
    bound, partition = state.problem.likelihood, state.partition
    partition.log_prior[3] = -0.5
    for i in range(n):
        for own, slack, beta in ((i % 3, math.inf, 1.0), (i % 3, 2.0, 0.7), (-1, math.inf, 1.0)):
            found = _weights_by_slot(ops.log_weights, bound, i, own, beta, slack, partition)
            fallback = ops.log_weights.fallback
            full = _weights_by_slot(fallback, bound, i, own, beta, math.inf, partition)
            reference = own if own >= 0 else 3
            assert next(iter(found)) == reference, "log_weights lists the reference first"
            for k, weight in found.items():
                _close(weight, full[k], tolerance, f"log_weights of slot {k}")
            for k in set(full) - set(found):
                assert full[k] <= full[reference] - slack + 1e-9, f"log_weights lost slot {k}"


def _weights_by_slot(
    operation: Any, bound: Any, i: int, own: int, beta: float, slack: float, partition: Any
) -> dict[int, float]:
    count = operation(bound, i, own, beta, slack, partition)
    slots = partition.slots[:count].tolist()
    return dict(zip(slots, partition.weights[:count].tolist(), strict=True))


class _Flat(Prior):
    """A prior with zero tables, for operations that need any prior weights."""

    def tables(self, n: int, k_max: int) -> PriorTables:
        return PriorTables(np.zeros(k_max + 1), np.zeros(n + 1))

"""Helpers of the tests of discrete likelihoods."""

import math
from itertools import product

import numpy as np

from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster._core.partition import new_partition
from tests.tools.dossier import LOG_GAP, note


def filled(likelihood, rows, extra):
    """Bound data with `rows` in slot 0 and an empty slot 1, and the number of item `extra`."""
    bound = likelihood.bind(np.vstack([rows, extra]).astype(float), 4)
    ops.clear(bound, 0)
    ops.clear(bound, 1)
    for i in range(len(rows)):
        ops.add(bound, 0, i)
    return bound, len(rows)


def assert_matches(likelihood, rows, extra, marginal, tolerance=1e-9):
    """Every value of slot 0 and of the empty slot 1 against a naive log marginal of some rows."""
    bound, new = filled(likelihood, rows, extra)
    whole, alone = marginal(rows), marginal(extra[None])
    ahead = marginal(np.vstack([rows, extra])) - whole
    out = np.zeros(2)
    ops.log_predictive_all(bound, new, 0, 2, out)
    found = [ops.log_marginal(bound, 0), *(ops.log_predictive(bound, k, new) for k in (0, 1)), *out]
    exact = [whole, ahead, alone, ahead, alone]
    found += [ops.log_predictive_without(bound, 0, i) for i in range(len(rows))]
    exact += [whole - marginal(np.delete(rows, i, axis=0)) for i in range(len(rows))]
    gaps = np.abs(np.subtract(found, exact)) / (1.0 + np.abs(exact))
    np.testing.assert_array_less(gaps, tolerance)
    note(LOG_GAP, gaps.max(), f"{len(rows)} rows", " ".join(repr(likelihood).split()))


def assert_emptied_is_cleared(likelihood, X):
    """After removal of its last item, a slot equals a cleared one bit by bit."""
    bound, _ = filled(likelihood, X[:-1], X[-1])
    for i in range(len(X) - 1):
        ops.remove(bound, 0, i)
    of_slots = {name: axis for name, axis in bound.slot_axis.items() if isinstance(axis, int)}
    for name, axis in of_slots.items():
        values = np.moveaxis(getattr(bound, name), axis, 0)
        np.testing.assert_array_equal(values[0], values[1], err_msg=name)


@kernel
def list_weights(lik, i, own, beta, slack, partition):
    return ops.log_weights(lik, i, own, beta, slack, partition)


def assert_weights(likelihood, X, n_blocks):
    """log_weights over many slots: all of them, and with a slack at least the needed ones."""
    n = len(X)
    bound = likelihood.bind(X, n_blocks + 2)
    partition = new_partition(n, n_blocks + 2)
    partition.n_blocks[0] = n_blocks
    for k in range(n_blocks + 1):
        ops.clear(bound, k)
        partition.log_prior[k] = -0.1 * k
    partition.log_prior[2] = -math.inf
    for i in range(n - 1):  # the last item stays out
        ops.add(bound, i % n_blocks, i)
    n_left_out = 0
    items = [*((i, i % n_blocks) for i in range(10)), (n - 1, -1)]
    for (i, own), (beta, slack) in product(items, [(1.0, math.inf), (1.0, 2.0), (0.4, 5.0)]):
        count = ops.log_weights.fallback(bound, i, own, beta, math.inf, partition)
        full = dict(zip(partition.slots[:count], partition.weights[:count].copy(), strict=True))
        partition.scores[:] = -math.inf  # scratch space: nothing may rest on what it held
        count = list_weights(bound, i, own, beta, slack, partition)
        found = dict(zip(partition.slots[:count], partition.weights[:count].copy(), strict=True))
        assert len(found) == count
        assert next(iter(found)) == next(iter(full))
        assert list(found)[1:] == sorted(list(found)[1:])
        floor = next(iter(full.values())) - slack
        assert {k for k, weight in full.items() if weight > floor} <= set(found)
        for k, weight in found.items():
            np.testing.assert_allclose(weight, full[k], rtol=1e-11, atol=1e-11)
        n_left_out += len(full) - len(found)
    assert n_left_out > 0


def shares_slots(bound, other):
    """Whether two bound data share their slots."""
    return all(
        getattr(other, name) is getattr(bound, name)
        for name in bound.slot_axis
        if not isinstance(getattr(bound, name), tuple) and name != "log_alone"
    )

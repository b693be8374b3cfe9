"""Loops over rows have the digits of the functions that they replace."""

import numpy as np
import pytest

from bnpcluster._core.vectors import LINE, aligned, set_logs


def logs(values):
    out = np.empty_like(values)
    set_logs(values, np.empty_like(values), out)
    return out


def test_logarithms():
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [np.exp(rng.uniform(-700, 700, 2000)), 1 + 10.0 ** rng.uniform(-16, 1, 2000), [1.0, 0.5]]
    )
    exact = np.log(values)
    assert np.all(np.abs(logs(values) - exact) <= 2 * np.spacing(np.abs(exact)))
    assert logs(np.array([1.0, np.inf])).tolist() == [0.0, np.inf]


@pytest.mark.parametrize("shapes", [((3, 5), (1,), (7,)), ((64,), (8, 64)), ((2, 2), (2, 2, 2))])
def test_arrays_start_at_lines_of_the_cache(shapes):
    kept = [aligned(*shapes) for _ in range(5)]  # at several addresses
    for arrays in kept:
        assert [array.shape for array in arrays] == list(shapes)
        assert all(array.ctypes.data % (8 * LINE) == 0 for array in arrays)
        for j, array in enumerate(arrays):  # they share no entry
            array[...] = j
        assert all((array == j).all() for j, array in enumerate(arrays))

"""Sorting inside kernels."""

import numpy as np
import pytest

from bnpcluster._core.sorting import heap_sort


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 100])
def test_heap_sort_sorts(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        keys = rng.integers(2 * size + 1, size=size).astype(float)  # some are equal
        items = np.arange(size) + 50
        pairs = sorted(zip(keys.tolist(), items.tolist(), strict=True))
        heap_sort(keys, items)
        assert (np.diff(keys) >= 0.0).all()
        assert sorted(zip(keys.tolist(), items.tolist(), strict=True)) == pairs

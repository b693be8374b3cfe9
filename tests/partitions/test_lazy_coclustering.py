"""The lazy matrix has the entries of the dense one, for every index of numpy that it takes."""

import numpy as np
import pytest

from bnpcluster.posterior import LazyCoclustering, Posterior

RNG = np.random.default_rng(0)
LAZY = LazyCoclustering(Posterior(RNG.integers(3, size=(2, 20, 7))))
DENSE = np.asarray(LAZY)
MASK = np.array([True, False, True, True, False, False, False])


@pytest.mark.parametrize(
    "index",
    [
        (2, 3),
        (-1, 0),
        2,
        slice(1, 5),
        (slice(None), 3),
        (3, slice(2, 6, 2)),
        ([0, 1], [2, 3]),
        ([0, 1], 3),
        (np.int64(2), [1, -1]),
        ([[0, 1], [2, 3]], [4, 5]),
        np.ix_([0, 2, 4], [1, 3]),
        np.ix_([5], [1, 3]),
        ([0, 2], slice(None)),
        (slice(None), [0, 2]),
        MASK,
        (MASK, slice(None)),
        (slice(1, 3), MASK),
        (MASK, MASK),
        (MASK, [1, 2, 3]),
        (Ellipsis, 2),
        (2, Ellipsis),
        DENSE > 0.4,
        [],
        ([], []),
    ],
    ids=range(24),
)
def test_indices_are_those_of_numpy(index):
    found, expected = LAZY[index], DENSE[index]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((0, 1, 2), "at most two indices"),
        (None, "at most two indices"),
        (7, "Index 7 is out of bounds: there are 7 items"),
        ([0, -8], "out of bounds"),
        ("a", "must be integers, slices or masks"),
        (1.5, "must be integers, slices or masks"),
        ([True], "A mask must have 7 entries, one per item, got 1"),
        (([0, 1, 2], [0, 1]), r"cannot be paired: write \[np.ix_\(rows, columns\)\]"),
        (([[0, 1]], slice(None)), "must have one dimension"),
        (np.ones((2, 2), bool), r"a mask of shape \(7, 7\)"),
        ([[0, 1]], r"a mask of shape \(7, 7\)"),
    ],
)
def test_other_indices_are_refused_in_one_sentence(index, message):
    with pytest.raises(IndexError, match=message):
        LAZY[index]

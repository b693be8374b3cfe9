"""Adjacency matrices: accepted forms of one network, and refused ones."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_array

from bnpcluster.likelihoods import Relational
from tests.tools.networks import FIGURE_3, network


@pytest.mark.parametrize("directed", [False, True])
def test_sparse_equals_dense(directed):
    likelihood, A = Relational(directed=directed), network(9, directed, True)
    bounds = [likelihood.bind(form) for form in (A, csr_array(A), coo_matrix(A))]
    for bound in bounds[1:]:
        for name in ("start", "ends", "unobserved_start", "unobserved_ends"):
            np.testing.assert_array_equal(getattr(bound, name), getattr(bounds[0], name))


def test_the_matrix_is_left_alone():
    for A in (network(6, False, True), csr_array(network(6, False, True))):
        before = A.copy()
        Relational().bind(A)
        Relational().features(A)
        same = (A.data, before.data) if isinstance(A, csr_array) else (A, before)
        np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("directed", [False, True])
def test_a_diagonal_of_zeros_or_nan_means_nothing(directed):
    A = FIGURE_3.copy()
    np.fill_diagonal(A, np.nan)
    assert len(Relational(directed=directed).bind(A).unobserved_ends) == 0


def edited(*entries, n=4):
    A = np.zeros((n, n))
    for i, j, value in entries:
        A[i, j] = value
    return A


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.zeros((3, 4)), r"square adjacency matrix, got shape \(3, 4\)"),
        (np.zeros(3), "square adjacency matrix"),
        (edited((0, 1, 2.5), (1, 0, 2.5)), r"A\[0, 1\] is 2.5: threshold"),
        (edited((0, 1, np.inf)), r"A\[0, 1\] is inf"),
        (edited((2, 2, 1.0)), "self-link at vertex 2; .*diagonal to zero"),
        (edited((0, 1, 1.0)), r"A\[0, 1\] is 1, A\[1, 0\] is 0\): use directed=True"),
        (edited((1, 3, np.nan), (3, 1, 1.0)), r"A\[1, 3\] is NaN, A\[3, 1\] is 1"),
    ],
)
def test_bad_matrices_get_one_sentence(A, message):
    for form in (A, csr_array(A)) if A.ndim == 2 else (A,):
        with pytest.raises(ValueError, match=message):
            Relational().bind(form)

"""Adjacency matrices: checks, a canonical form, and the lists of links made from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse


def check_matrix(A: Any) -> None:
    """Raise an error for a network in another form than an adjacency matrix."""
    if isinstance(A, dict) or (hasattr(A, "nodes") and hasattr(A, "edges")):
        raise TypeError(
            f"A must be an adjacency matrix, got {type(A).__name__}: convert a graph with "
            "networkx.to_scipy_sparse_array(graph, weight=None), and a dict with "
            "networkx.from_dict_of_lists before that."
        )
    shape = tuple(getattr(A, "shape", (0, 0)))
    if len(shape) == 2 and shape[0] != shape[1]:
        raise ValueError(
            f"A must be a square adjacency matrix, got shape {shape}: convert a list of links with "
            "scipy.sparse.coo_array((ones, (from, to)), shape=(n, n))."
        )
    if hasattr(A, "index") and hasattr(A, "columns"):
        rows, columns = list(A.index), list(A.columns)
        if rows != columns and set(rows) == set(columns):
            raise ValueError(
                "The rows and columns of A name the same vertices in different orders: use "
                "A[A.index]."
            )


def as_graph(A: Any, directed: bool) -> csr_array:
    """The matrix `A` as a sparse one that stores 1 for links and NaN for unobserved pairs.

    Zeros and NaN on the diagonal are dropped; links there raise an error.
    """
    if not issparse(A):
        A = np.asarray(A, float)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square adjacency matrix, got shape {A.shape}.")
    entries = coo_array(csr_array(A, dtype=float))
    rows, columns, values = entries.row, entries.col, entries.data
    unobserved = np.isnan(values)
    _check_values(rows, columns, values, ~unobserved & (values != 0) & (values != 1))
    loops = np.flatnonzero((rows == columns) & (values == 1))
    if len(loops):
        raise ValueError(
            f"A has a self-link at vertex {rows[loops[0]]}; self-links are not modelled: set the "
            "diagonal to zero."
        )
    kept = (rows != columns) & (values != 0)
    graph = csr_array((values[kept], (rows[kept], columns[kept])), shape=A.shape)
    graph.sort_indices()
    if not directed:
        _check_symmetric(graph)
    return graph


def _check_values(rows: NDArray, columns: NDArray, values: NDArray, bad: NDArray) -> None:
    found = np.flatnonzero(bad)
    if len(found):
        at = found[0]
        raise ValueError(
            "A must contain only 0 and 1, and NaN for unobserved pairs, but "
            f"A[{rows[at]}, {columns[at]}] is {values[at]:g}: threshold the weights."
        )


def _check_symmetric(graph: csr_array) -> None:
    codes = _pair_codes(graph)
    differ = coo_array(codes != _pair_codes(csr_array(graph.T)))
    if differ.nnz:
        i, j = differ.row[0], differ.col[0]
        shown = ["0", "1", "NaN"]
        raise ValueError(
            f"A is not symmetric (A[{i}, {j}] is {shown[codes[i, j]]}, A[{j}, {i}] is "
            f"{shown[codes[j, i]]}): use directed=True, or make it symmetric."
        )


def _pair_codes(graph: csr_array) -> csr_array:
    """1 for links and 2 for unobserved pairs, because NaN cannot be compared."""
    codes = np.where(np.isnan(graph.data), 2, 1).astype(np.int8)
    return csr_array((codes, graph.indices, graph.indptr), shape=graph.shape)


def edge_list(graph: csr_array, directed: bool) -> NDArray:
    """The links, each once, as rows (i, j); i < j for undirected links."""
    return _pairs(graph, directed, unobserved=False)


def unobserved_list(graph: csr_array, directed: bool) -> NDArray:
    """The unobserved pairs, each once, in the form of `edge_list`."""
    return _pairs(graph, directed, unobserved=True)


def _pairs(graph: csr_array, directed: bool, unobserved: bool) -> NDArray:
    entries = coo_array(graph)
    kept = np.isnan(entries.data) == unobserved
    if not directed:
        kept &= entries.row < entries.col
    return np.column_stack([entries.row[kept], entries.col[kept]])


def neighbours(pairs: NDArray, n: int, directed: bool) -> tuple[NDArray, NDArray]:
    """`start` and `ends` of the lists of all vertices: list v is ends[start[v]:start[v + 1]].

    List i has the other ends of the pairs of vertex i. For directed pairs, list i has the ends of
    the pairs that leave i, and list n + i those of the pairs that enter i.
    """
    first_entering = np.array([n if directed else 0, 0])
    both = np.concatenate([pairs, pairs[:, ::-1] + first_entering])
    order = np.lexsort((both[:, 1], both[:, 0]))
    start = np.zeros((2 if directed else 1) * n + 1, np.intp)
    np.cumsum(np.bincount(both[:, 0], minlength=len(start) - 1), out=start[1:])
    # Unsigned, because the compiler guards a signed index against being negative.
    return start, both[order, 1].astype(np.uint32)

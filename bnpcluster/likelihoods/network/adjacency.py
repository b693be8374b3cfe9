"""Networks: checks of adjacency matrices, and the lists that they are made into."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from bnpcluster._core.containers import check_container

NEEDED = "A must be a square adjacency matrix, but looks like a list of links: pass "
OR_MATRIX = (
    ", or a scipy.sparse.coo_array with 1 for each link, in both directions unless directed=True."
)
LINKS = NEEDED + (
    "networkx.to_scipy_sparse_array(networkx.from_edgelist(links), weight=None)" + OR_MATRIX
)
LINKS_OF_TABLE = NEEDED + (
    "networkx.to_scipy_sparse_array(networkx.from_pandas_edgelist(A, *A.columns[:2]), weight=None)"
    + OR_MATRIX
)


class Graph(NamedTuple):
    """A network, parsed: its links and its unobserved pairs.

    Attributes
    ----------
    n_vertices : int
    directed : bool
    links : ndarray of shape (n_links, 2)
        Each once, one pair (i, j) per row; i < j where they have no direction.
    unobserved : ndarray of shape (n_unobserved, 2)
        The unobserved pairs, in the same form.
    """

    n_vertices: int
    directed: bool
    links: NDArray
    unobserved: NDArray

    @property
    def shape(self) -> tuple[int, int]:
        """That of the adjacency matrix."""
        return self.n_vertices, self.n_vertices

    @property
    def n_pairs(self) -> int:
        """How many pairs of vertices there are, observed or not."""
        return self.n_vertices * (self.n_vertices - 1) // (1 if self.directed else 2)

    def entries(self) -> tuple[NDArray, NDArray, NDArray]:
        """Rows, columns and values of the adjacency matrix: 1 for links, NaN for unobserved pairs.

        In the order of the rows, and of the columns within them.
        """
        pairs = np.concatenate([self.links, self.unobserved])
        values = np.repeat([1.0, np.nan], [len(self.links), len(self.unobserved)])
        if not self.directed:
            pairs, values = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(values, 2)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return pairs[order, 0], pairs[order, 1], values[order]


def check_matrix(A: Any) -> None:
    """Raise an error for a network in another form than an adjacency matrix."""
    if isinstance(A, dict) or (hasattr(A, "nodes") and hasattr(A, "edges")):
        raise TypeError(
            f"A must be an adjacency matrix, got {type(A).__name__}: convert a graph with "
            "networkx.to_scipy_sparse_array(graph, weight=None), and a dict with "
            "networkx.from_dict_of_lists before that."
        )
    if _is_list_of_links(A):
        raise ValueError(LINKS)
    check_container(A, "A")
    shape = np.shape(A) if isinstance(A, (list, tuple)) else tuple(getattr(A, "shape", (0, 0)))
    if len(shape) == 2 and shape[0] != shape[1]:
        if shape[1] in (2, 3):
            raise ValueError(LINKS_OF_TABLE if hasattr(A, "columns") else LINKS)
        raise ValueError(f"A must be a square adjacency matrix, got shape {shape}.")
    if shape == (1, 1):
        raise ValueError("A has a single vertex: at least 2 are needed.")
    if hasattr(A, "index") and hasattr(A, "columns"):
        rows, columns = list(A.index), list(A.columns)
        if rows != columns and set(rows) == set(columns):
            raise ValueError(
                "The rows and columns of A name the same vertices in different orders: use "
                "A[A.index]."
            )


def _is_list_of_links(A: Any) -> bool:
    """Whether an object contains tuples that are links, and not rows of a matrix."""
    if not isinstance(A, (list, tuple, Set)) or not all(isinstance(row, tuple) for row in A):
        return False
    lengths = {len(row) for row in A}
    if not lengths or not lengths <= {2, 3}:
        return False
    return lengths != {len(A)} or any(cell not in (0, 1) and cell == cell for r in A for cell in r)


def as_graph(A: Any, directed: bool) -> Graph:
    """The network of an adjacency matrix; a network is left as it is.

    Zeros and NaN on the diagonal are dropped; links there raise an error.
    """
    if isinstance(A, Graph):
        return A
    matrix = _sparse(A, directed)
    return Graph(
        matrix.shape[0],
        directed,
        _pairs(matrix, directed, unobserved=False),
        _pairs(matrix, directed, unobserved=True),
    )


def _sparse(A: Any, directed: bool) -> csr_array:
    """The matrix `A` as a sparse one that stores 1 for links and NaN for unobserved pairs."""
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

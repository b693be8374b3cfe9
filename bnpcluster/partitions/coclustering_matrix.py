"""Co-clustering probabilities of pairs of items: dense, in parts, at pairs, sparse or in strips.

Memory grows with the square of the number of items only if you ask for a dense matrix. A matrix
that is too large is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core import arguments
from bnpcluster._core.containers import as_array
from bnpcluster._core.messages import shown
from bnpcluster.partitions import label_draws

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_DENSE_BYTES = 2 * 1024**3
"""Size of the largest co-clustering matrix, dense or sparse."""
SPARSE_BYTES = 12  # bytes of one entry: the value, and the number of its column


def coclustering(
    draws: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    rows: ArrayLike | slice | None = None,
    columns: ArrayLike | slice | None = None,
    pairs: ArrayLike | None = None,
    threshold: float | None = None,
) -> NDArray[np.float64] | csr_array:
    """Probabilities that two items are in the same cluster.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Integer labels.
    weights : array-like, optional
        Weight of each draw; equal by default. They need not sum to one.
    rows, columns : array-like of int or bool, or slice, optional
        The items of the rows and of the columns; all items by default.
    pairs : array-like of int of shape (n_pairs, 2), optional
        Pairs of items, instead of rows and columns.
    threshold : float, optional
        If given, the result is sparse and keeps the positive entries that are at least this large.
        No dense n x n matrix is computed.

    Returns
    -------
    ndarray or scipy.sparse.csr_array of shape (rows, columns), or ndarray of shape (n_pairs,)
        The whole matrix is symmetric, with ones on the diagonal.

    Raises
    ------
    ValueError
        If the result would take more than 2 GiB. `coclustering_strips` has no such limit.

    Examples
    --------
    >>> from bnpcluster.partitions import coclustering
    >>> draws = [[0, 0, 1], [5, 5, 5]]
    >>> coclustering(draws).tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    >>> coclustering(draws, rows=[2], columns=slice(2)).tolist()
    [[0.5, 0.5]]
    >>> coclustering(draws, pairs=[[0, 1], [1, 2]]).tolist()
    [1.0, 0.5]
    >>> coclustering(draws, threshold=0.6).nnz
    5
    """
    matrix = label_draws.as_draws(draws)
    mass = label_draws.as_weights(weights, len(matrix))
    if pairs is not None:
        if rows is not None or columns is not None or threshold is not None:
            raise ValueError("pairs cannot be combined with rows, columns or a threshold.")
        return _at_pairs(matrix, mass, pairs)
    if threshold is not None:
        threshold = _finite("threshold", threshold)
        return _sparse(matrix, mass, rows, columns, threshold)
    if rows is None and columns is None:
        return _square(matrix, mass)
    return _block(matrix, mass, rows, columns)


def coclustering_strips(
    draws: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    rows: ArrayLike | slice | None = None,
    columns: ArrayLike | slice | None = None,
    threshold: float | None = None,
    height: int | None = None,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64] | csr_array]]:
    """Co-clustering probabilities, one strip of rows at a time.

    Parameters
    ----------
    draws : array-like of int, shape (n_draws, n_items) or (n_chains, n_draws, n_items)
        Labels; only equality within a draw matters.
    weights : array-like, one number per draw, optional
        Weights of the draws; equal by default.
    rows : array-like of int or bool, or slice, optional
        The items of the rows; all items by default.
    columns : array-like of int or bool, or slice, optional
        The items of the columns; all items by default.
    threshold : float, optional
        If given, strips are sparse and keep the positive entries that are at least this large.
    height : int, optional
        Number of rows of a strip; by default a strip has about 2**23 entries.

    Returns
    -------
    strips : iterator of (items, strip)
        The items of the rows (an array of int), and their probabilities (an array, or a sparse one,
        of shape (height, columns)). Only one strip is in memory at a time.

    Examples
    --------
    >>> from bnpcluster.partitions import coclustering_strips
    >>> for items, strip in coclustering_strips([[0, 0, 1], [5, 5, 5]], height=2):
    ...     print(items, strip.sum(axis=1))
    [0 1] [2.5 2.5]
    [2] [2.]
    """
    matrix = label_draws.as_draws(draws)
    mass = label_draws.as_weights(weights, len(matrix))
    if threshold is not None:
        threshold = _finite("threshold", threshold)
    if height is not None:
        height = arguments.count("height", height, 1)
    # This is not a generator, so that wrong arguments raise an error at once.
    return _strips(matrix, mass, rows, columns, threshold, height)


def _finite(name: str, value: Any) -> float:
    number = arguments.as_float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {shown(value)}.")
    return number


def _strips(
    draws: NDArray,
    weights: NDArray[np.float64],
    rows: ArrayLike | slice | None,
    columns: ArrayLike | slice | None,
    threshold: float | None,
    height: int | None = None,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64] | csr_array]]:
    from scipy.sparse import csr_array

    n = draws.shape[1]
    left, right = items_of(rows, n), items_of(columns, n)
    for part, strip in label_draws.agreement_strips(draws, weights, left, right, height=height):
        if threshold is not None:
            strip[strip < threshold] = 0.0
        yield left[part], strip if threshold is None else csr_array(strip)


def _square(draws: NDArray, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The whole matrix."""
    n = draws.shape[1]
    refuse_large(n, n)
    kept, totals = label_draws.merge(draws, weights)
    items = np.arange(n)
    out = np.empty((n, n))
    for part, strip in label_draws.agreement_strips(
        draws[kept], totals, items, items, symmetric=True
    ):
        right = slice(part.start, n)
        out[part, right] = strip[:, right]
        out[right, part] = strip[:, right].T
    return out


def _block(
    draws: NDArray,
    weights: NDArray[np.float64],
    rows: ArrayLike | slice | None,
    columns: ArrayLike | slice | None,
) -> NDArray[np.float64]:
    n = draws.shape[1]
    left, right = items_of(rows, n), items_of(columns, n)
    refuse_large(len(left), len(right))
    out = np.empty((len(left), len(right)))
    for part, strip in label_draws.agreement_strips(draws, weights, left, right):
        out[part] = strip
    return out


def _sparse(
    draws: NDArray,
    weights: NDArray[np.float64],
    rows: ArrayLike | slice | None,
    columns: ArrayLike | slice | None,
    threshold: float,
) -> csr_array:
    from scipy.sparse import csr_array, vstack

    kept, totals = label_draws.merge(draws, weights)
    n, n_bytes, n_rows = draws.shape[1], 0, 0
    strips = [csr_array((0, len(items_of(columns, n))))]
    for items, dense in _strips(draws[kept], totals, rows, columns, None):
        dense[dense < threshold] = 0.0
        strip = csr_array(dense)
        n_bytes, n_rows = n_bytes + SPARSE_BYTES * strip.nnz, n_rows + len(items)
        if n_bytes > MAX_DENSE_BYTES:
            raise ValueError(
                f"The first {n_rows} rows of the sparse co-clustering matrix take more than the "
                f"{MAX_DENSE_BYTES / 1024**3:.0f} GiB allowed. Raise the threshold of {threshold}, "
                "ask for fewer rows, or use coclustering_strips()."
            )
        strips.append(strip)
    return vstack(strips, format="csr")


def _at_pairs(
    draws: NDArray, weights: NDArray[np.float64], pairs: ArrayLike
) -> NDArray[np.float64]:
    index = as_array(pairs)
    if index.ndim != 2 or index.shape[1] != 2 or (index.size and index.dtype.kind not in "iu"):
        raise ValueError(
            f"pairs must be integers of shape (n_pairs, 2), got shape {index.shape} and dtype "
            f"{index.dtype}."
        )
    items = np.arange(draws.shape[1])
    return label_draws.pair_agreements(draws, weights, *items[index.T.astype(np.intp)])


def items_of(which: ArrayLike | slice | None, n_items: int) -> NDArray[np.intp]:
    """Item numbers selected by a slice, an index array or a mask; None selects all of them."""
    items = np.arange(n_items)
    if which is None or isinstance(which, slice):
        return items[which or slice(None)]
    index = as_array(which)
    if index.ndim > 1:
        raise IndexError(f"An index of items must be one-dimensional, got shape {index.shape}.")
    if index.size and (
        index.dtype.kind not in "iub" or (index.dtype.kind == "b" and not index.ndim)
    ):
        raise IndexError(f"Items are chosen by numbers, slices or masks, got {shown(which)}.")
    return np.atleast_1d(items[index]) if index.size else items[:0]


def refuse_large(n_rows: int, n_columns: int) -> None:
    """Raise a ValueError if a dense block would be too large, before allocating it."""
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > MAX_DENSE_BYTES:
        raise ValueError(
            f"A dense {n_rows} x {n_columns} co-clustering matrix takes {n_bytes / 1024**3:.1f} "
            f"GiB, more than the {MAX_DENSE_BYTES / 1024**3:.0f} GiB allowed. Ask for a block with "
            "coclustering(rows=..., columns=...), for pairs with coclustering(pairs=...), for a "
            "sparse matrix with coclustering(threshold=0.1), or use coclustering_strips()."
        )

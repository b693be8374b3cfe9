"""The co-clustering matrix as an array that computes its entries on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster._core.containers import as_array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class _Draws(Protocol):
    """What the matrix needs of a `bnpcluster.posterior.Posterior`."""

    n_items: int

    def coclustering(
        self,
        rows: ArrayLike | slice | None = None,
        columns: ArrayLike | slice | None = None,
        threshold: float | None = None,
        *,
        pairs: ArrayLike | None = None,
    ) -> Any:
        """Probabilities that two items are in the same cluster."""


class LazyCoclustering:
    """Co-clustering matrix that computes its entries on request.

    It behaves like a read-only array of shape (n_items, n_items), with the indices of numpy:
    integers, slices, index arrays, and boolean masks. Two
    index arrays or masks are paired, as in numpy: `lazy[[0, 1], [2, 3]]` are two entries. For the
    block of some rows and columns, write `lazy[np.ix_(rows, columns)]`, or use
    `bnpcluster.posterior.Posterior.coclustering`. `np.asarray(lazy)` gives the dense matrix, or
    raises an error if it would take more than 2 GiB.

    Parameters
    ----------
    posterior : Posterior
        The draws. The matrix keeps only a reference.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.posterior import LazyCoclustering, Posterior
    >>> lazy = LazyCoclustering(Posterior([[[0, 0, 1], [0, 1, 1]]]))
    >>> lazy[0, 1], lazy[0].tolist(), lazy[[0, 2], 1:].shape
    (0.5, [1.0, 0.5, 0.0], (2, 2))
    >>> np.asarray(lazy).shape
    (3, 3)
    """

    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(self, posterior: _Draws):
        self._posterior = posterior

    @property
    def shape(self) -> tuple[int, int]:
        """Number of items, twice."""
        return self._posterior.n_items, self._posterior.n_items

    def __len__(self) -> int:
        return self._posterior.n_items

    def __repr__(self) -> str:
        n = len(self)
        return f"<{n} x {n} co-clustering probabilities, computed on request>"

    def __getitem__(self, key: Any) -> float | NDArray[np.float64]:
        keys = key if isinstance(key, tuple) else (key,)
        given = [k for k in keys if k is not Ellipsis]
        if len(given) > 2 or len(keys) > len(given) + 1 or any(k is None for k in given):
            raise IndexError("A co-clustering matrix takes at most two indices.")
        if len(given) == 1 and keys[0] is Ellipsis:
            given.insert(0, slice(None))
        if len(given) == 1 and as_array(given[0]).ndim == 2:
            return self._of_mask(given[0])
        rows, columns = (self._index(k) for k in (*given, slice(None), slice(None))[:2])
        if not isinstance(rows, slice) and not isinstance(columns, slice):
            return self._paired(rows, columns)
        for index in (rows, columns):
            if not isinstance(index, slice) and index.ndim > 1:
                raise IndexError("An index array beside a slice must have one dimension.")
        block = np.asarray(self._posterior.coclustering(rows, columns))
        kept = [isinstance(k, slice) or k.ndim > 0 for k in (rows, columns)]
        shape = [size for size, keep in zip(block.shape, kept, strict=True) if keep]
        return block.reshape(shape)

    def _index(self, index: Any) -> Any:
        """A slice, or an array of item numbers."""
        if isinstance(index, slice):
            return index
        array = as_array(index)
        n = len(self)
        if array.dtype.kind == "b" and array.ndim == 1:
            if len(array) != n:
                raise IndexError(f"A mask must have {n} entries, one per item, got {len(array)}.")
            return np.flatnonzero(array)
        if array.size == 0:
            array = array.astype(np.intp)
        if array.dtype.kind not in "iu":
            raise IndexError(f"Indices must be integers, slices or masks, got {index!r}.")
        if array.size and not (-n <= array.min() and array.max() < n):
            raise IndexError(f"Index {array.max()} is out of bounds: there are {n} items.")
        return array

    def _paired(self, rows: NDArray, columns: NDArray) -> float | NDArray[np.float64]:
        """The entries at index arrays that are broadcast against one another."""
        if rows.ndim == columns.ndim == 2 and rows.shape[1] == columns.shape[0] == 1:  # of np.ix_
            return np.asarray(self._posterior.coclustering(rows[:, 0], columns[0]))
        try:
            rows, columns = np.broadcast_arrays(rows, columns)
        except ValueError:
            raise IndexError(
                f"Index arrays of shapes {rows.shape} and {columns.shape} cannot be paired: write "
                "[np.ix_(rows, columns)] for the block of these rows and columns."
            ) from None
        entries = self.pairs(np.column_stack([rows.ravel(), columns.ravel()]))
        return entries.reshape(rows.shape) if rows.ndim else float(entries[0])

    def _of_mask(self, mask: Any) -> NDArray[np.float64]:
        """The entries where a matrix of booleans is True."""
        array = np.asarray(mask)
        if array.dtype.kind != "b" or array.shape != self.shape:
            raise IndexError(
                f"An index with two dimensions must be a mask of shape {self.shape}, got "
                f"{array.dtype} of shape {array.shape}."
            )
        return self.pairs(np.argwhere(array))

    def sparse(self, threshold: float) -> csr_array:
        """The entries that are at least `threshold`, as a sparse matrix."""
        return self._posterior.coclustering(threshold=threshold)

    def pairs(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """The entries at pairs of items, an array of shape (n_pairs, 2)."""
        return np.asarray(self._posterior.coclustering(pairs=pairs))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            raise ValueError("copy=False is not possible: the matrix is computed on request.")
        return np.asarray(self._posterior.coclustering(), dtype=dtype)

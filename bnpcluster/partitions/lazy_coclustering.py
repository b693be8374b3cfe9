"""The co-clustering matrix as an array that computes its entries on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

    It behaves like a read-only array of shape (n_items, n_items). Each axis is indexed separately:
    `lazy[rows, columns]` with integers, slices, index arrays or boolean masks. `np.asarray(lazy)`
    gives the dense matrix, or raises an error if it would take more than 2 GiB.

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
        rows, columns = (*given, slice(None), slice(None))[:2]
        block = np.asarray(self._posterior.coclustering(rows, columns))
        shape = [
            size
            for size, index in zip(block.shape, (rows, columns), strict=True)
            if isinstance(index, slice) or np.ndim(index) > 0
        ]
        return block.reshape(shape) if shape else float(block[0, 0])

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

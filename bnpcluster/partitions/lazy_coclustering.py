"""The co-clustering matrix as an array whose entries are computed when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from bnpcluster.posterior import Posterior


class LazyCoclustering:
    """Co-clustering matrix whose entries are computed when they are asked for.

    It behaves like a read-only array of shape (n_items, n_items) that is indexed along each axis
    on its own: `lazy[rows, columns]` with integers, slices, index arrays or boolean masks.
    `np.asarray(lazy)` gives the dense matrix, or refuses if that would take more than 2 GiB.

    Parameters
    ----------
    posterior : Posterior
        The draws. Only a reference is kept.

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

    def __init__(self, posterior: Posterior):
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
            raise IndexError("A co-clustering matrix is indexed by at most two sets of items.")
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
            raise ValueError("The co-clustering matrix is computed: it cannot be had uncopied.")
        return np.asarray(self._posterior.coclustering(), dtype=dtype)

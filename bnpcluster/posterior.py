"""Posterior: weighted draws of a partition, and what one asks of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster import _draws, partitions

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LazyCoclustering", "Posterior"]


class Posterior:
    """Weighted draws of a partition, with traces of scalar quantities.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_items)
        Integer labels. Only equality of labels within a draw matters.
    weights : array-like of shape (n_chains, n_draws), optional
        Weights of the draws, equal by default; scaled to sum to one.
    traces : mapping of str to array-like of shape (n_chains, n_draws), optional
        Scalar quantities, for instance "log_posterior" and "alpha". "n_clusters" is computed from
        the labels if it is not given.

    Attributes
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_items)
        In the smallest integer type that fits.
    weights : ndarray of shape (n_chains, n_draws)
        Summing to one.
    traces : dict of str to ndarray of shape (n_chains, n_draws)
        Each is an attribute too: `posterior.alpha` is `posterior.traces["alpha"]`.
    n_chains, n_draws, n_items : int
        The three lengths of `labels`.

    Examples
    --------
    >>> from bnpcluster.posterior import Posterior
    >>> posterior = Posterior([[[0, 0, 1], [0, 0, 1], [0, 1, 1]]], traces={"alpha": [[1, 2, 3]]})
    >>> posterior
    Posterior(n_chains=1, n_draws=3, n_items=3, traces=['alpha', 'n_clusters'])
    >>> posterior.point_estimate().tolist()
    [0, 0, 1]
    >>> posterior.alpha.tolist(), posterior.n_clusters_pmf()
    ([[1, 2, 3]], {2: 1.0})
    """

    def __init__(
        self,
        labels: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        traces: Mapping[str, ArrayLike] | None = None,
    ):
        array = np.asarray(labels)
        if array.ndim != 3:
            raise ValueError(f"labels must be (chains, draws, items), got shape {array.shape}.")
        flat = _draws.as_draws(array)
        self.labels = _draws.smallest_integers(array)
        self.n_chains, self.n_draws, self.n_items = array.shape
        if weights is not None and np.shape(weights) != array.shape[:2]:
            raise ValueError(f"weights must have shape {array.shape[:2]}, got {np.shape(weights)}.")
        flat_weights = _draws.as_weights(weights, len(flat))
        self.weights = (flat_weights / flat_weights.sum()).reshape(array.shape[:2])
        self.traces = {name: self._trace(name, values) for name, values in (traces or {}).items()}
        if "n_clusters" not in self.traces:
            counts = _draws.count_blocks(_draws.as_draws(self.labels))
            self.traces["n_clusters"] = counts.reshape(array.shape[:2])

    def _trace(self, name: str, values: ArrayLike) -> NDArray:
        array = np.asarray(values)
        if array.shape != self.labels.shape[:2] or array.dtype.kind not in "fiub":
            raise ValueError(
                f"The trace {name!r} must hold numbers and have shape {self.labels.shape[:2]}, "
                f"got shape {array.shape} and dtype {array.dtype}."
            )
        if name in {*self.__dict__, "traces"} or hasattr(type(self), name):
            raise ValueError(f"A trace cannot be named {name!r}: the posterior has that attribute.")
        return array

    def __getattr__(self, name: str) -> NDArray:
        # Copying and unpickling ask before `traces` exists, so it is looked up without recursion.
        traces = self.__dict__.get("traces", {})
        if name in traces:
            return traces[name]
        raise AttributeError(
            f"Posterior has no attribute or trace {name!r}; traces available: {sorted(traces)}."
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.traces})

    def __repr__(self) -> str:
        return (
            f"Posterior(n_chains={self.n_chains}, n_draws={self.n_draws}, n_items={self.n_items}, "
            f"traces={sorted(self.traces)})"
        )

    @property
    def _flat(self) -> NDArray:
        return self.labels.reshape(-1, self.n_items)

    def _is_weighted(self) -> bool:
        return bool(self.weights.min() < self.weights.max())

    def coclustering(
        self,
        rows: ArrayLike | slice | None = None,
        columns: ArrayLike | slice | None = None,
        threshold: float | None = None,
    ) -> NDArray[np.float64] | csr_array:
        """Probabilities that two items are in the same cluster.

        Parameters
        ----------
        rows, columns : array-like of int or bool, or slice, optional
            The items of the rows and of the columns; all items by default.
        threshold : float, optional
            If given, the result is sparse and keeps the positive entries that are at least this
            large. No dense n x n matrix is made on the way.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (rows, columns)
            The block of the co-clustering matrix.

        Raises
        ------
        ValueError
            If the dense block would take more than 2 GiB.

        Examples
        --------
        >>> from bnpcluster.posterior import Posterior
        >>> posterior = Posterior([[[0, 0, 1], [0, 1, 1]]])
        >>> posterior.coclustering(rows=[0]).tolist()
        [[1.0, 0.5, 0.0]]
        >>> posterior.coclustering(threshold=0.6).nnz
        3
        """
        if threshold is not None:
            return self._sparse(self._items(rows), self._items(columns), threshold)
        if rows is None and columns is None:
            return partitions.coclustering(self.labels, self._plain_weights())
        return self._dense(rows, columns)

    def _dense(
        self, rows: ArrayLike | slice | None, columns: ArrayLike | slice | None
    ) -> NDArray[np.float64]:
        left, right = self._items(rows), self._items(columns)
        partitions.refuse_large(len(left), len(right))
        out = np.empty((len(left), len(right)))
        for part, strip in _draws.agreement_strips(self._flat, self._plain_weights(), left, right):
            out[part] = strip
        return out

    def _items(self, which: ArrayLike | slice | None) -> NDArray[np.intp]:
        """Item numbers meant by a slice, an index array or a mask."""
        items = np.arange(self.n_items)
        if which is None or isinstance(which, slice):
            return items[which or slice(None)]
        index = np.asarray(which)
        if index.ndim > 1:
            raise IndexError(f"Items are indexed by one-dimensional arrays, not {index.ndim}-d.")
        return np.atleast_1d(items[index]) if index.size else items[:0]

    def _plain_weights(self) -> NDArray[np.float64]:
        """Weights of the flat draws; ones if they are equal, so that counting is exact."""
        return _draws.as_weights(self.weights, self.weights.size)

    def _sparse(self, rows: NDArray, columns: NDArray, threshold: float) -> csr_array:
        from scipy.sparse import csr_array, vstack

        kept, weights = _draws.merge(self._flat, self._plain_weights())
        strips = [csr_array((0, len(columns)))]
        for _, strip in _draws.agreement_strips(self._flat[kept], weights, rows, columns):
            strip[strip < threshold] = 0.0
            strips.append(csr_array(strip))
        return vstack(strips, format="csr")

    def point_estimate(
        self,
        loss: str = "vi",
        *,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.int64]:
        """One partition that stands for the posterior.

        Parameters
        ----------
        loss : {"vi", "binder", "map"}, default="vi"
            The loss whose posterior expectation is made small (see
            `bnpcluster.partitions.point_estimate`), or "map": the draw with the highest
            log_posterior.
        random_state : int, Generator, RandomState or None, default=None
            For the search. None stands for a fixed seed.

        Returns
        -------
        ndarray of shape (n_items,)
            Labels from 0, the largest cluster first, ties by first item.
        """
        if loss != "map":
            if loss not in ("vi", "binder"):
                raise ValueError(f"Unknown loss {loss!r}; available: 'vi', 'binder', 'map'.")
            return partitions.point_estimate(
                self.labels, loss, weights=self.weights, random_state=random_state
            )
        if "log_posterior" not in self.traces:
            raise ValueError("loss='map' needs the trace 'log_posterior', which is not there.")
        values = np.asarray(self.traces["log_posterior"], dtype=float).ravel()
        return partitions.relabel(self._flat[np.nanargmax(values)])

    def credible_ball(
        self, level: float = 0.95, loss: str = "vi", *, estimate: ArrayLike | None = None
    ) -> partitions.CredibleBall:
        """Smallest ball around a point estimate that holds a share `level` of the posterior.

        Parameters
        ----------
        level : float, default=0.95
            Posterior mass to enclose.
        loss : {"vi", "binder"}, default="vi"
            The distance.
        estimate : array-like of shape (n_items,), optional
            The centre; by default the point estimate for `loss`.

        Returns
        -------
        bnpcluster.partitions.CredibleBall
            Its radius and its extreme draws.
        """
        centre = self.point_estimate(loss) if estimate is None else estimate
        return partitions.credible_ball(self.labels, centre, level, loss=loss, weights=self.weights)

    def n_clusters_pmf(self) -> dict[int, float]:
        """Posterior probability of each number of clusters that occurs, in increasing order."""
        values, inverse = np.unique(self.traces["n_clusters"], return_inverse=True)
        weights = self._plain_weights()
        mass = np.bincount(inverse.ravel(), weights=weights) / weights.sum()
        return {int(k): float(p) for k, p in zip(values, mass, strict=True) if p > 0}

    def to_arviz(self, *, labels: bool = False) -> Any:
        """The traces as an ArviZ object: a DataTree (ArviZ 1) or an InferenceData (before).

        Parameters
        ----------
        labels : bool, default=False
            Whether to add the labels, with dimension "item", to the posterior group. Their values
            have no meaning across draws.

        Returns
        -------
        xarray.DataTree or arviz.InferenceData
            Group `posterior` with all traces but log_posterior, which is `sample_stats.lp`. Unequal
            weights of the draws are in `sample_stats.weight`: ArviZ itself does not use them.
        """
        groups = {"posterior": {k: v for k, v in self.traces.items() if k != "log_posterior"}}
        stats = {}
        if "log_posterior" in self.traces:
            stats["lp"] = self.traces["log_posterior"]
        if self._is_weighted():
            stats["weight"] = self.weights
        if stats:
            groups["sample_stats"] = stats
        if labels:
            groups["posterior"]["labels"] = self.labels
        return _from_dict(groups, dims={"labels": ["item"]} if labels else {})


def _from_dict(groups: dict[str, dict[str, NDArray]], dims: dict[str, list[str]]) -> Any:
    try:
        with warnings.catch_warnings():
            # ArviZ 0.23 announces ArviZ 1 at import; both are served here.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError(
            'Exporting to ArviZ needs the package arviz: pip install "bnpcluster[arviz]".'
        ) from error
    from_dict: Any = arviz.from_dict  # one of two signatures
    if int(arviz.__version__.split(".")[0]) >= 1:
        return from_dict(groups, dims=dims)
    return from_dict(**groups, dims=dims)


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
        if len(keys) > 2 or any(k is None or k is Ellipsis for k in keys):
            raise IndexError("A co-clustering matrix is indexed by at most two sets of items.")
        rows, columns = (*keys, slice(None))[:2]
        block = self._posterior._dense(rows, columns)
        shape = [
            size
            for size, index in zip(block.shape, (rows, columns), strict=True)
            if isinstance(index, slice) or np.ndim(index) > 0
        ]
        return block.reshape(shape) if shape else float(block[0, 0])

    def sparse(self, threshold: float) -> csr_array:
        """The entries that are at least `threshold`, as a sparse matrix."""
        everything = self._posterior._items(None)
        return self._posterior._sparse(everything, everything, threshold)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            raise ValueError("The co-clustering matrix is computed: it cannot be had uncopied.")
        return np.asarray(self._posterior.coclustering(), dtype=dtype)

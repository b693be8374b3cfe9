"""Posterior: weighted draws of a partition, and their summaries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster import partitions
from bnpcluster._core.containers import as_array
from bnpcluster._core.messages import shown
from bnpcluster.partitions import label_draws
from bnpcluster.partitions.lazy_coclustering import LazyCoclustering
from bnpcluster.partitions.parameter_draws import ParameterDraws
from bnpcluster.partitions.tidy import as_frame, tidy, write_csv, write_parquet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LazyCoclustering", "ParameterDraws", "Posterior"]


class Posterior:
    """Weighted draws of a partition, with traces of scalar quantities.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_items)
        Integer labels. Only equality of labels within a draw matters.
    weights : array-like of shape (n_chains, n_draws), optional
        Weights of the draws, equal by default. They are scaled to sum to one.
    traces : mapping of str to array-like of shape (n_chains, n_draws), optional
        Scalar quantities, for example "log_posterior" and "alpha". If "n_clusters" is not given, it
        is computed from the labels.

    Attributes
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_items)
        The labels in the smallest integer type.
    weights : ndarray of shape (n_chains, n_draws)
        Weights that sum to one.
    traces : dict of str to ndarray of shape (n_chains, n_draws)
        Each trace is also an attribute: `posterior.alpha` is `posterior.traces["alpha"]`.
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

    _source: Any = None  # what draws parameters, if the posterior is that of a fitted mixture

    def __init__(
        self,
        labels: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        traces: Mapping[str, ArrayLike] | None = None,
    ):
        array = as_array(labels)
        if array.ndim != 3:
            raise ValueError(f"labels must be (chains, draws, items), got shape {array.shape}.")
        flat = label_draws.as_draws(array)
        self.labels = label_draws.smallest_integers(array)
        self.n_chains, self.n_draws, self.n_items = array.shape
        if weights is not None and np.shape(weights) != array.shape[:2]:
            raise ValueError(f"weights must have shape {array.shape[:2]}, got {np.shape(weights)}.")
        flat_weights = label_draws.as_weights(weights, len(flat))
        self.weights = (flat_weights / flat_weights.sum()).reshape(array.shape[:2])
        self.traces = {name: self._trace(name, values) for name, values in (traces or {}).items()}
        if "n_clusters" not in self.traces:
            counts = label_draws.count_blocks(label_draws.as_draws(self.labels))
            self.traces["n_clusters"] = counts.reshape(array.shape[:2])

    def _attach(self, source: Any) -> None:
        """Let a source draw the parameters of the clusters."""
        self._source = source

    def __getstate__(self) -> dict[str, Any]:
        # A saved posterior is the draws alone; a model gives it its source again.
        return {name: value for name, value in self.__dict__.items() if name != "_source"}

    def _trace(self, name: str, values: ArrayLike) -> NDArray:
        array = np.asarray(values)
        if array.shape != self.labels.shape[:2] or array.dtype.kind not in "fiub":
            raise ValueError(
                f"The trace {name!r} must be numeric with shape {self.labels.shape[:2]}, "
                f"got shape {array.shape} and dtype {array.dtype}."
            )
        if name in {*self.__dict__, "traces"} or hasattr(type(self), name):
            raise ValueError(f"A trace cannot be named {name!r}: the posterior has that attribute.")
        return array

    def __getattr__(self, name: str) -> NDArray:
        # Copying and unpickling come here before `traces` exists, so avoid recursion.
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
        *,
        pairs: ArrayLike | None = None,
    ) -> NDArray[np.float64] | csr_array:
        """Probabilities that two items are in the same cluster.

        Parameters
        ----------
        rows, columns : array-like of int or bool, or slice, optional
            The items of the rows and of the columns; all items by default.
        threshold : float, optional
            If given, the result is sparse and keeps the positive entries that are at least this
            large. No dense n x n matrix is computed.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Pairs of items, instead of rows and columns.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (rows, columns), or ndarray of shape (n_pairs,)
            The block of the co-clustering matrix, or its entries at the pairs.

        Raises
        ------
        ValueError
            If the result would take more than 2 GiB. `coclustering_strips` has no such limit.

        Examples
        --------
        >>> from bnpcluster.posterior import Posterior
        >>> posterior = Posterior([[[0, 0, 1], [0, 1, 1]]])
        >>> posterior.coclustering(rows=[0]).tolist()
        [[1.0, 0.5, 0.0]]
        >>> posterior.coclustering(threshold=0.6).nnz
        3
        >>> posterior.coclustering(pairs=[[0, 1], [0, 2]]).tolist()
        [0.5, 0.0]
        """
        return partitions.coclustering(
            self.labels,
            self.weights,
            rows=rows,
            columns=columns,
            pairs=pairs,
            threshold=threshold,
        )

    def coclustering_strips(
        self,
        rows: ArrayLike | slice | None = None,
        columns: ArrayLike | slice | None = None,
        threshold: float | None = None,
        *,
        height: int | None = None,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64] | csr_array]]:
        """Co-clustering probabilities, one strip of rows at a time.

        Parameters
        ----------
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
        iterator of (items, strip)
            The items of the rows, and their probabilities. Only one strip is in memory at a time.
        """
        return partitions.coclustering_strips(
            self.labels,
            self.weights,
            rows=rows,
            columns=columns,
            threshold=threshold,
            height=height,
        )

    def _plain_weights(self) -> NDArray[np.float64]:
        """Weights of the flat draws; ones if they are equal, so that counts are exact."""
        return label_draws.as_weights(self.weights, self.weights.size)

    def point_estimate(
        self,
        loss: str = "vi",
        *,
        cost: float = 1.0,
        max_clusters: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.int64]:
        """One partition that represents the posterior.

        Parameters
        ----------
        loss : {"vi", "binder", "map"}, default="vi"
            The loss whose posterior expectation to minimise (see
            `bnpcluster.partitions.point_estimate`), or "map": the draw with the highest
            log_posterior.
        cost : float, default=1.0
            Cost of separating two items that belong together. Joining two that do not costs 2 -
            `cost`. Not for "map".
        max_clusters : int, optional
            Largest number of clusters of the partition. Not for "map".
        random_state : int, Generator, RandomState or None, default=None
            For the search. None means a fixed seed.

        Returns
        -------
        ndarray of shape (n_items,)
            Labels from 0, the largest cluster first, ties by first item.
        """
        if not isinstance(loss, str) or loss != "map":
            if not isinstance(loss, str) or loss not in ("vi", "binder"):
                raise ValueError(f"Unknown loss {loss!r}; available: 'vi', 'binder', 'map'.")
            return partitions.point_estimate(
                self.labels,
                loss,
                weights=self.weights,
                cost=cost,
                max_clusters=max_clusters,
                random_state=random_state,
            )
        if cost != 1.0 or max_clusters is not None:
            raise ValueError("loss='map' takes neither cost nor max_clusters.")
        if "log_posterior" not in self.traces:
            raise ValueError("loss='map' needs the trace 'log_posterior', which is missing.")
        values = np.asarray(self.traces["log_posterior"], dtype=float).ravel()
        return partitions.relabel(self._flat[np.nanargmax(values)])

    def credible_ball(
        self, level: float = 0.95, loss: str = "vi", *, estimate: ArrayLike | None = None
    ) -> partitions.CredibleBall:
        """Smallest ball around a point estimate that contains a share `level` of the posterior.

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

    def item_uncertainty(
        self, loss: str | None = None, *, estimate: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Expected disagreement of each item between a point estimate and the draws.

        Parameters
        ----------
        loss : {"vi", "binder"} or None, default=None
            None: the expected share, from 0 to 1, of the item's companions that differ. With a
            loss: the item's part in the expected loss.
        estimate : array-like of shape (n_items,), optional
            The partition to judge; by default the point estimate for `loss`, or "vi".

        Returns
        -------
        ndarray of shape (n_items,)
            See `bnpcluster.partitions.item_uncertainty`.
        """
        centre = (
            self.point_estimate("vi" if loss is None else loss) if estimate is None else estimate
        )
        return partitions.item_uncertainty(self.labels, centre, loss, weights=self.weights)

    def modes(
        self, loss: str = "vi", *, separation: float = 2.0, min_mass: float = 0.05
    ) -> list[partitions.Mode]:
        """The distinct modes of the posterior, by decreasing mass; one if it is unimodal.

        Parameters
        ----------
        loss : {"vi", "binder"}, default="vi"
            The distance between partitions.
        separation : float, default=2.0
            The mean distance between draws of two modes must be more than this times the mean
            distance within either.
        min_mass : float, default=0.05
            Groups with less mass are not modes.

        Returns
        -------
        list of bnpcluster.partitions.Mode
            Each with a representative, its mass, the mean distance of its draws from it, and the
            numbers of these draws; see `bnpcluster.partitions.modes`.
        """
        return partitions.modes(
            self.labels, loss, weights=self.weights, separation=separation, min_mass=min_mass
        )

    def parameters(self, *, max_draws: int | None = 400, random_state: Any = 0) -> ParameterDraws:
        """Draws of the parameters of the clusters: weights, means, covariances and the like.

        In each draw of the partition, the parameters of every block are drawn from their posterior.
        Each row has those of its block. The value of a cluster of `labels_` is the average over
        its rows, so that nothing switches between draws.

        Parameters
        ----------
        max_draws : int or None, default=400
            Use at most so many draws, evenly spaced in each chain. None means all.
        random_state : int, Generator, RandomState or None, default=0
            The same integer gives the same parameters.

        Returns
        -------
        bnpcluster.posterior.ParameterDraws
            A mapping from names to draws, with means and intervals.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> X = np.repeat([[0.0], [9.0]], [6, 4], axis=0) + np.linspace(-1, 1, 10)[:, None]
        >>> model = DPMixture(n_chains=1, n_draws=100, random_state=0).fit(X)
        >>> model.posterior_.parameters().mean("means").round().tolist()
        [[-0.0], [10.0]]
        """
        source = self._parameter_source()
        is_plain = type(max_draws) is int and type(random_state) is int
        if is_plain and (max_draws, random_state) == (400, 0):
            return source.default
        return source.draws(max_draws, random_state)

    def block_parameters(
        self, draw: int, chain: int = 0, *, random_state: Any = 0
    ) -> dict[str, Any]:
        """Parameters of the blocks of one draw, as they are in the model.

        Numbers of blocks are not comparable across draws; `parameters` is about clusters.

        Parameters
        ----------
        draw : int
            Number of the draw in its chain.
        chain : int, default=0
            Number of the chain.
        random_state : int, Generator, RandomState or None, default=0
            The same integer gives the same parameters.

        Returns
        -------
        parameters : dict of str to ndarray, or to dict of ndarray by column
            By name, with the blocks of `labels[chain, draw]` first. "weights" has one entry more:
            the weight of all blocks without items.
        """
        source = self._parameter_source()
        chain, draw = _index("chain", chain, self.n_chains), _index("draw", draw, self.n_draws)
        return source.blocks(chain, draw, random_state)

    def _parameter_source(self) -> Any:
        if self._source is None:
            raise AttributeError(
                "This posterior has no parameters: it does not come from a fitted mixture."
            )
        return self._source

    def n_clusters_pmf(self) -> dict[int, float]:
        """Posterior probability of each number of clusters that occurs, in increasing order."""
        values, inverse = np.unique(self.traces["n_clusters"], return_inverse=True)
        weights = self._plain_weights()
        mass = np.bincount(inverse.ravel(), weights=weights) / weights.sum()
        return {int(k): float(p) for k, p in zip(values, mass, strict=True) if p > 0}

    @property
    def _items(self) -> NDArray | None:
        """Numbers of the rows that the items are, if the posterior is that of a mixture."""
        return None if self._source is None else self._source.items

    def to_frame(self, what: str = "traces") -> Any:
        """The draws in tidy form as a data frame of pandas.

        Parameters
        ----------
        what : {"traces", "labels"}, default="traces"
            As in `to_csv`.

        Returns
        -------
        table : pandas.DataFrame
            One row per draw, or one row per draw and item.

        Examples
        --------
        >>> from bnpcluster.posterior import Posterior
        >>> posterior = Posterior([[[0, 0], [0, 1]]], traces={"alpha": [[1.0, 2.0]]})
        >>> posterior.to_frame()
           chain  draw  weight  alpha  n_clusters
        0      0     0     0.5    1.0           1
        1      0     1     0.5    2.0           2
        """
        return as_frame(tidy(self, what, self._items))

    def to_csv(self, path: Any, what: str = "traces") -> Path:
        """Write the draws in tidy form to a file of comma-separated values, for R and others.

        Parameters
        ----------
        path : str or path-like
            The file. An existing file is replaced.
        what : {"traces", "labels"}, default="traces"
            "traces": one line per draw, with its chain, number, weight and traces. "labels": one
            line per draw and item, with the item and its label. The items of a fitted mixture have
            the numbers of their rows in the data of the fit, where empty rows are left out.

        Returns
        -------
        path : pathlib.Path
            The file.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from bnpcluster.posterior import Posterior
        >>> posterior = Posterior([[[0, 0], [0, 1]]], traces={"alpha": [[1.0, 2.0]]})
        >>> with TemporaryDirectory() as folder:
        ...     print(posterior.to_csv(f"{folder}/draws.csv").read_text())
        chain,draw,weight,alpha,n_clusters
        0,0,0.5,1.0,1
        0,1,0.5,2.0,2
        <BLANKLINE>
        """
        return write_csv(path, tidy(self, what, self._items))

    def to_parquet(self, path: Any, what: str = "traces") -> Path:
        """Write the draws in tidy form to a Parquet file; see `to_csv`.

        Parameters
        ----------
        path : str or path-like
            The file. An existing file is replaced.
        what : {"traces", "labels"}, default="traces"
            As in `to_csv`.

        Returns
        -------
        path : pathlib.Path
            The file.
        """
        return write_parquet(path, tidy(self, what, self._items))

    def to_arviz(
        self,
        *,
        labels: bool = False,
        more: Mapping[str, Mapping[str, ArrayLike]] | None = None,
        dims: Mapping[str, list[str]] | None = None,
    ) -> Any:
        """Convert the traces to an ArviZ object: a DataTree (ArviZ 1) or an InferenceData (before).

        Parameters
        ----------
        labels : bool, default=False
            Whether to add the labels, with dimension "item", to the posterior group. The items of a
            fitted mixture have the numbers of their rows in the data of the fit. The values of
            labels are not comparable across draws.
        more : mapping of str to mapping of str to array, optional
            Further variables by group and name, such as ``{"observed_data": {"x": X}}``.
        dims : mapping of str to list of str, optional
            Names of the dimensions of these variables, after the chain and the draw.

        Returns
        -------
        xarray.DataTree or arviz.InferenceData
            Group `posterior` has all traces except log_posterior, which is `sample_stats.lp`.
            Unequal weights of the draws are in `sample_stats.weight`. ArviZ itself ignores them.
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
        for name, given in (("more", more), ("dims", dims)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name} must be a dict or None, got {shown(given)}.")
        for group, variables in (more or {}).items():
            groups.setdefault(group, {}).update(
                {name: np.asarray(values) for name, values in variables.items()}
            )
        names = {"labels": ["item"]} if labels else {}
        numbers = np.arange(self.n_items) if self._items is None else self._items
        return _from_dict(groups, dims={**names, **(dims or {})}, coords={"item": numbers})


def _index(name: str, value: Any, length: int) -> int:
    """A number from 0; negative ones count from the end."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if not -length <= value < length:
        raise IndexError(f"{name} must be from 0 to {length - 1}, got {value}.")
    return int(value) % length


def _from_dict(
    groups: dict[str, dict[str, NDArray]], dims: dict[str, list[str]], coords: dict[str, NDArray]
) -> Any:
    try:
        with warnings.catch_warnings():
            # ArviZ 0.23 announces ArviZ 1 at import; this code supports both.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError(
            'Exporting to ArviZ needs the package arviz: pip install "bnpcluster[arviz]".'
        ) from error
    from_dict: Any = arviz.from_dict  # one of two signatures
    if int(arviz.__version__.split(".")[0]) >= 1:
        return from_dict(groups, dims=dims, coords=coords)
    return from_dict(**groups, dims=dims, coords=coords)

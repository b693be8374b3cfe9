"""Mixtures of rows that are elsewhere: fits of dask collections, and predictions block by block."""

from __future__ import annotations

import functools
import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bnpcluster._core import arguments
from bnpcluster._core.messages import with_columns
from bnpcluster._fitting import chains_elsewhere
from bnpcluster._fitting.dask_rows import MOST_ROWS, DaskRows, client_in_force
from bnpcluster._fitting.empty_rows import ObservedRows
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._fitting.large_starts import SCANNED
from bnpcluster._fitting.lengths import Asked
from bnpcluster._fitting.walk_checkpoint import WalkCheckpoint
from bnpcluster._fitting.walks import N_START, Sample, generator_of
from bnpcluster.likelihoods import Columns
from bnpcluster.samplers import Blocked, Sampler, SplitMerge
from bnpcluster.samplers.blocked.assignment import Numbering
from bnpcluster.samplers.blocked.blocked import rows_to_scan
from bnpcluster.samplers.blocked.counters import draw_key
from bnpcluster.samplers.blocked.elsewhere import Chunk, labels_of, labels_of_rows

LARGEST = 4_000_000  # bytes of a model that is part of every graph
STARTS = ("auto", "kmeans", "one")


def is_dask(X: Any) -> bool:
    """Whether a table is an array or a frame of dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "compute")


def as_dask_array(X: Any) -> tuple[Any, list | None]:
    """An array of dask whose chunks have known lengths and all columns; names of the columns."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = None if not hasattr(X, "columns") else list(X.columns)
        for name, kind in zip(names or (), getattr(X, "dtypes", ()), strict=False):
            if getattr(kind, "kind", "O") not in "fiub":
                raise TypeError(
                    f"Column {name!r} has values of type {kind}: a fit of a dask collection takes "
                    "numbers alone. Encode or drop it."
                )
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a dask array with {X.ndim} dimensions instead.")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    if 0 in X.chunks[0]:
        X = X.rechunk({0: tuple(length for length in X.chunks[0] if length)})
    return X, names


def none(model: Any) -> None:
    """Results without columns."""


def one_per_cluster(model: Any) -> int:
    """Results with a column per cluster."""
    return int(model.n_clusters_)


def by_block(kind: Any, n_columns: Callable[[Any], int | None]) -> Callable:
    """A decorator of methods that predict rows: a dask collection is predicted block by block."""

    def decorated(method: Callable) -> Callable:
        @functools.wraps(method)
        def predict(self: Any, X: Any, *more: Any, **settings: Any) -> Any:
            if not is_dask(X):
                return method(self, X, *more, **settings)
            check_is_fitted(self)
            if more or settings:
                asked = ", ".join(settings) or "A second argument"
                raise ValueError(
                    f"{asked} is not available for a dask collection: call {method.__name__}(X), "
                    "or pass an array of some rows."
                )
            rows, names = as_dask_array(X)
            if rows.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return _lazy(self, method.__name__, rows, names, kind, n_columns(self))

        return predict

    return decorated


def _lazy(
    model: Any,
    method: str,
    rows: Any,
    names: list | None,
    kind: Any,
    n_columns: int | None,
) -> Any:
    """The result of a method as an array of dask."""
    shape: dict[str, Any] = {"drop_axis": 1} if n_columns is None else {}
    if n_columns is not None:
        shape["chunks"] = (rows.chunks[0], (n_columns,))
    return rows.map_blocks(
        _of_block,
        method=method,
        names=names,
        kind=kind,
        model=carried(model),
        dtype=kind,
        meta=np.zeros((0,) if n_columns is None else (0, 0), kind),
        **shape,
    )


def carried(model: Any) -> Any:
    """The model as part of a graph of dask; a large one goes to a worker once, not with each graph.

    Then its predictions need the client, which a small model does not.
    """
    from dask import delayed

    light = model._carried()
    if len(pickle.dumps(light)) > LARGEST:
        with suppress(RuntimeError), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return client_in_force().submit(itself, light, pure=False)
    return delayed(light, traverse=False)


def itself(model: Any) -> Any:
    """The same model, on a worker."""
    return model


def _of_block(
    block: Any,
    *,
    model: Any,
    method: str,
    names: list | None,
    kind: Any,
) -> Any:
    """The result of a method for one block."""
    rows = np.asarray(block)
    if names is not None:
        import pandas

        rows = pandas.DataFrame(rows, columns=names)
    return getattr(model, method)(rows).astype(kind, copy=False)


def drawn_labels(rows: Any, common: tuple, columns: np.ndarray) -> Any:
    """The labels of all rows in one draw, as an array of dask."""
    from dask import array, delayed

    shared, lengths = delayed(common, traverse=False), rows.chunks[0]
    firsts = np.cumsum([0, *lengths])
    parts = [
        array.from_delayed(
            delayed(_labels_of_block)(block, int(first), shared, columns), (n,), np.int32
        )
        for block, first, n in zip(rows.to_delayed().ravel(), firsts, lengths, strict=False)
    ]
    return array.concatenate(parts)


def _labels_of_block(block: Any, first: int, common: tuple, columns: np.ndarray) -> np.ndarray:
    """The labels of one block, whose first row has this number."""
    chunk = Chunk(np.asarray(block)[:, columns], Numbering(first, np.zeros(0, np.uint32)))
    likelihood, bound, message = common
    return labels_of(likelihood, bound, message, chunk)


class ReferenceRows(ObservedRows):
    """The rows that the posterior is about, by their numbers among all rows."""

    @property
    def empty(self) -> np.ndarray:
        """None: rows without values are refused."""
        return self.numbers[:0]

    def restored(self, values: np.ndarray, fill: float) -> np.ndarray:
        """The values of these rows."""
        return values


class FitsElsewhere:
    """The part of a mixture that fits dask collections."""

    _fitted: Fitted

    def _fit_elsewhere(self: Any, X: Any) -> Any:
        """Sample the posterior of the partition of the rows of a dask collection."""
        likelihood, prior, sampler = self._components()
        sampler = blocked_instead_of(sampler)
        self._refuse_elsewhere(likelihood)
        table, names = as_dask_array(X)
        if not 2 <= table.shape[0] <= MOST_ROWS:
            raise ValueError(
                f"The number of rows is {table.shape[0]}: it must be 2 to {MOST_ROWS}."
            )
        rows = DaskRows(client_in_force(), table, sampler.n_jobs)
        rows.check()
        rng = generator_of(self.random_state)
        numbers, some = rows.sample(draw_key(rng), N_START)
        if names is not None:
            import pandas

            some = pandas.DataFrame(some, columns=names)
        values, likelihood, reading = self._read_rows(some, likelihood)
        constants = reading["constants"]
        with with_columns(constants.names(self._names())):
            bound = likelihood.bind(values)
            self._check_sampler(sampler, bound, likelihood)
            sample = Sample(values, numbers, bound)
            few = likelihood.rows(bound, values[:2])  # workers need no more of them
            rows.prepare(likelihood, few, constants.kept)
            task = self._task(sample.reference, (likelihood, prior, sampler))
            scanned = rows_to_scan(sampler.n_scanned, rows.n_rows, SCANNED)
            asked = Asked(
                arguments.count_or_auto("n_draws", self.n_draws, 1),
                arguments.count_or_auto("n_warmup", self.n_warmup, 0),
                arguments.count("thin", self.thin, 1),
                arguments.count("max_draws", self.max_draws, 1),
            )
            saved = None
            if self.checkpoint is not None:
                named = (self._identity(), task, sample, table.chunks[0])
                saved = WalkCheckpoint(self.checkpoint, *named)
            outcome = chains_elsewhere.fit(task, sample, rows, asked, self.init, scanned, saved)
        reference = ReferenceRows(numbers[: len(task.X)], len(task.X))
        reading |= {"observed": reference, "row_names": None}
        self._adopt(outcome, **reading)
        self.labels_, self.reference_rows_ = self.predict(X), reference.numbers
        return self

    def draw_labels(self: Any, X: Any, chain: int, draw: int) -> Any:
        """Labels of all rows in one draw, after a fit of a dask collection.

        A draw is stored as what determines its labels, in some kB. So they are computed from the
        rows, which must be those of the fit, in the same chunks.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            The rows of the fit.
        chain, draw : int
            The draw.

        Returns
        -------
        labels : dask.array.Array of shape (n_samples,)
            Labels of the blocks of the draw. Only equality of labels matters.

        Examples
        --------
        >>> import dask.array as da
        >>> import numpy as np
        >>> from distributed import Client
        >>> from bnpcluster import DPMixture
        >>> rng = np.random.default_rng(0)
        >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 100, axis=0) + rng.normal(size=(200, 2))
        >>> rows = da.from_array(X, chunks=(50, 2))
        >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
        ...     model = DPMixture(n_chains=1, n_draws=20, n_warmup=20, random_state=0).fit(rows)
        ...     labels = model.draw_labels(rows, 0, 0).compute()
        ...     together = model.draw_coclustering(rows, [0, 1, 150])
        >>> bool(labels[0] == labels[1]), bool(labels[0] == labels[150])
        (True, False)
        >>> together.round().tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        fitted, rows = self._fitted_elsewhere("draw_labels"), self._rows_of_fit(X)
        r = int(np.ravel_multi_index((chain, draw), fitted.posterior.weights.shape))
        common = (fitted.likelihood, fitted.bound, fitted.elsewhere.draws[r].message)
        return drawn_labels(rows, common, fitted.constants.kept)

    def draw_coclustering(self: Any, X: Any, rows: Any) -> np.ndarray:
        """Posterior probabilities that chosen rows share a component, after a fit with dask.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            The rows of the fit.
        rows : array-like of int
            Numbers of rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_rows)
            The share of the draws in which they have the same label.

        Examples
        --------
        See `draw_labels`.
        """
        fitted, chosen = self._fitted_elsewhere("draw_coclustering"), np.asarray(rows, np.intp)
        table = self._rows_of_fit(X)
        values = table[np.sort(chosen)].compute()[np.argsort(np.argsort(chosen))]
        values = fitted.constants.cut(np.asarray(values, np.float64))
        together = np.zeros((len(chosen), len(chosen)))
        for draw in fitted.elsewhere.draws:
            arguments = (fitted.likelihood, fitted.bound, draw.message)
            labels = labels_of_rows(*arguments, values, chosen)
            together += labels[:, None] == labels
        return together / len(fitted.elsewhere.draws)

    def _fitted_elsewhere(self: Any, method: str) -> Fitted:
        """The record of a fit of a dask collection; an error after another fit."""
        check_is_fitted(self)
        fitted: Fitted = self._fitted
        if fitted.elsewhere is None:
            raise ValueError(
                f"{method} is for fits of dask collections: after other fits, posterior_.labels "
                "and posterior_.coclustering have all draws."
            )
        return fitted

    def _rows_of_fit(self: Any, X: Any) -> Any:
        """The rows as an array of dask, after a check of their shape."""
        rows, _ = as_dask_array(X)
        expected = (self._fitted.elsewhere.n_rows, self.n_features_in_)
        if rows.shape != expected:
            raise ValueError(
                f"X has the shape {rows.shape}, but the rows of the fit have {expected}."
            )
        return rows

    def _refuse_elsewhere(self: Any, likelihood: Any) -> None:
        """Raise an error for settings that a fit of a dask collection does not have."""
        if isinstance(likelihood, Columns) and likelihood.is_automatic:
            raise ValueError(
                "likelihood='columns' reads types of columns from a table in memory: for a dask "
                "collection, name the likelihood of every column, for instance {'age': 'nig'}."
            )
        if self.warm_start:
            raise ValueError("A fit of a dask collection has no warm start: leave it at False.")
        if not isinstance(self.init, str) or self.init not in STARTS:
            raise ValueError(
                f"init must be 'auto', 'kmeans' or 'one' for a dask collection, got {self.init!r}."
            )


def blocked_instead_of(sampler: Sampler) -> Blocked:
    """The blocked sampler, which also stands in for the default one."""
    if isinstance(sampler, Blocked):
        return sampler
    if repr(sampler) == repr(SplitMerge()):
        return Blocked()
    raise ValueError(
        f"sampler {sampler!r} needs all rows in one memory: for a dask collection, leave sampler "
        "at its default or set 'blocked', or pass X.compute()."
    )

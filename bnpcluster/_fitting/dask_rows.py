"""Rows on the workers of a dask cluster.

A pass is one task per worker, with threads inside. Tasks have no state: what a worker remembers of
the last pass only saves time. So dask may repeat a task elsewhere, and no result depends on where
it runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from bnpcluster._fitting.rows_elsewhere import Memory, first_rows, threshold
from bnpcluster.samplers.blocked.batch_elsewhere import Divided, Plan, joined
from bnpcluster.samplers.blocked.elsewhere import (
    Chunk,
    Found,
    Sent,
    least_ranks,
    new_chunk,
    total,
)

MOST_ROWS = 2**32
REGROUP = 50  # passes after which chunks are looked for, as they may have moved
MEMORIES: dict[str, Memory] = {}  # of this process, by fit
KEPT = 2  # fits whose labels a worker remembers

NO_CLIENT = (
    "X is a dask collection, and there is no dask client: create one first, with "
    "`from distributed import Client; client = Client()`, or pass X.compute()."
)


class Checked(NamedTuple):
    """What is known of a chunk before the fit."""

    n_rows: int
    has_nan: bool
    has_inf: bool


class DaskRows:
    """Rows of a dask array, on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    X : dask.array.Array of shape (n_samples, n_features)
        Rows in chunks of known lengths, with all columns in one chunk.
    n_threads : int or None
        Threads of a task. None: as many as its worker has.
    """

    def __init__(self, client: Any, X: Any, n_threads: int | None = None):
        self.client, self.n_threads, self.name = client, n_threads, uuid4().hex
        lengths = [int(length) for length in X.chunks[0]]
        self.starts = np.cumsum([0, *lengths])[:-1]
        self.n_rows = sum(lengths)
        self._raw = client.compute(list(X.to_delayed().ravel()))
        self._chunks: list[Any] = []
        self._groups: list[tuple[str, list[int]]] = []
        self._passes = 0

    def check(self) -> None:
        """Raise an error for values that cannot be modelled."""
        found = self.client.gather(self._each(checked, self._raw))
        where = next((c for c, one in enumerate(found) if one.has_inf), None)
        if where is not None:
            raise ValueError(
                f"Chunk {where} of X contains infinity: remove or replace such values."
            )
        where = next((c for c, one in enumerate(found) if one.has_nan), None)
        if where is not None:
            raise ValueError(
                f"Chunk {where} of X contains NaN, which a fit of a dask collection cannot take: "
                "remove rows with missing values, for instance with dropna(), or impute them first."
            )

    def sample(self, key: NDArray, n: int) -> tuple[NDArray[np.int64], NDArray]:
        """The numbers of the `n` rows of least rank in the order that `key` names, and the rows."""
        below = threshold(n, self.n_rows)
        each = zip(self._raw, self.starts, strict=True)
        tasks = [self._submit(least_ranks, key, below, raw, int(first)) for raw, first in each]
        return first_rows(self.client.gather(tasks), n)

    def prepare(self, likelihood: Any, bound: Any, columns: NDArray[np.intp]) -> None:
        """Order the rows of every chunk; only some columns are modelled."""
        self._shared = self._submit(shared, likelihood, bound)
        each = zip(self._raw, self.starts, strict=True)
        self._chunks = [
            self._submit(prepared, self._shared, raw, int(first), columns) for raw, first in each
        ]
        self.client.gather(self._each(nothing, self._chunks))  # raises what went wrong
        self._raw = []

    def pass_over(self, sent: Sequence[Sent]) -> list[Found]:
        """What passes over all rows find, by chain."""
        return [total(parts) for parts in zip(*self._run(pass_in_worker, sent), strict=True)]

    def divide(self, plans: Sequence[Plan]) -> list[Divided]:
        """What passes that divide unions find, by chain."""
        found = self._run(divide_in_worker, plans)
        return [joined(list(parts)) for parts in zip(*found, strict=True)]

    def _submit(self, function: Callable, *arguments: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            # Parameters of many columns and clusters take some MB, and each pass has new ones.
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(function, *arguments, pure=False, **options)

    def _each(self, function: Callable, futures: list[Any]) -> list[Any]:
        return [self._submit(function, future) for future in futures]

    def _run(self, function: Callable, sent: Sequence[Any]) -> list[list[Any]]:
        """What a function finds in every chunk, in their order, by one task per worker."""
        if self._passes % REGROUP == 0:
            self._group()
        self._passes += 1
        tasks = [
            self._submit(
                function,
                self._shared,
                [self._chunks[c] for c in chunks],
                list(sent),
                self.name,
                self.n_threads,
                workers=[worker] if worker else None,
                allow_other_workers=True,
                priority=1,
            )
            for worker, chunks in self._groups
        ]
        result: list[Any] = [None] * len(self._chunks)
        for (_, chunks), found in zip(self._groups, self.client.gather(tasks), strict=True):
            for c, one in zip(chunks, found, strict=True):
                result[c] = one
        return result

    def _group(self) -> None:
        """Group the chunks by the workers that have them."""
        where = self.client.who_has(self._chunks)
        groups: dict[str, list[int]] = {}
        for c, chunk in enumerate(self._chunks):
            owners = where.get(chunk.key) or ("",)  # lost with its worker, and made again anywhere
            groups.setdefault(sorted(owners)[0], []).append(c)
        self._groups = sorted(groups.items())


def checked(rows: Any) -> Checked:
    """What a fit must know of a chunk."""
    values = np.asarray(rows)
    if values.dtype.kind not in "fiub":
        raise TypeError(
            f"X has values of type {values.dtype}: a fit of a dask collection takes numbers alone."
        )
    has_nan = values.dtype.kind == "f" and bool(np.isnan(values).any())
    has_inf = values.dtype.kind == "f" and bool(np.isinf(values).any())
    return Checked(len(values), has_nan, has_inf)


def shared(likelihood: Any, bound: Any) -> tuple[Any, Any]:
    """What all chunks of a worker share."""
    return likelihood, bound


def prepared(common: tuple[Any, Any], rows: Any, first: int, columns: NDArray[np.intp]) -> Chunk:
    """A chunk, ordered for passes."""
    values = np.asarray(rows)
    return new_chunk(
        *common, values if len(columns) == values.shape[1] else values[:, columns], first
    )


def nothing(chunk: Any) -> None:
    """Return nothing: the chunk was made."""


def pass_in_worker(
    common: tuple[Any, Any], chunks: list[Chunk], sent: list[Sent], name: str, n_threads: int | None
) -> list[list[Found]]:
    """What passes over some chunks find, by chunk and chain."""
    memory, n_threads = memory_of(name), threads(n_threads)
    return [memory.pass_over(*common, sent, chunk, n_threads) for chunk in chunks]


def divide_in_worker(
    common: tuple[Any, Any],
    chunks: list[Chunk],
    plans: list[Plan],
    name: str,
    n_threads: int | None,
) -> list[list[Divided]]:
    """What dividing some chunks finds, by chunk and chain."""
    memory, n_threads = memory_of(name), threads(n_threads)
    return [memory.divide(*common, plans, chunk, n_threads) for chunk in chunks]


def memory_of(name: str) -> Memory:
    """What this process remembers of a fit."""
    memory = MEMORIES.pop(name, None) or Memory()
    MEMORIES[name] = memory
    for old in list(MEMORIES)[:-KEPT]:
        MEMORIES.pop(old, None)
    return memory


def threads(n_threads: int | None) -> int:
    """The number of threads of a task."""
    from distributed import get_worker

    return n_threads or int(get_worker().state.nthreads)


def client_in_force() -> Any:
    """The client of dask in this process; an error if there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError) as error:
        raise RuntimeError(NO_CLIENT) from error

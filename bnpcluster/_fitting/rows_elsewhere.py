"""Where the rows of a fit are: what a chain asks of them, and rows in the memory of this process.

`dask_rows` has rows on the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bnpcluster.samplers.blocked.assignment import Message
from bnpcluster.samplers.blocked.batch_elsewhere import Divided, Plan, divide_over, joined
from bnpcluster.samplers.blocked.elsewhere import (
    Chunk,
    Found,
    Sent,
    labels_in,
    labels_of,
    least_ranks,
    new_chunk,
    pass_over,
    total,
)

MARGIN = 6.0  # standard deviations by which a threshold is higher than needed on average


class RowsElsewhere(Protocol):
    """Rows in chunks, numbered one chunk after another."""

    n_rows: int

    def sample(self, key: NDArray, n: int) -> tuple[NDArray[np.int64], NDArray]:
        """The numbers of the `n` rows of least rank in the order that `key` names, and the rows."""

    def pass_over(self, sent: Sequence[Sent]) -> list[Found]:
        """What passes over all rows find, by chain."""

    def divide(self, plans: Sequence[Plan]) -> list[Divided]:
        """What passes that divide unions find, by chain."""


class Memory:
    """The labels that passes have drawn last, for the passes that divide unions.

    They may be lost: then they are drawn again, and are the same.
    """

    def __init__(self) -> None:
        self._labels: dict[tuple[int, bytes], NDArray[np.int32]] = {}

    def pass_over(
        self, likelihood: Any, bound: Any, sent: Sequence[Sent], chunk: Chunk, n_threads: int | None
    ) -> list[Found]:
        """What a pass over a chunk finds, by chain."""
        found, labels = pass_over(likelihood, bound, sent, chunk, n_threads)
        first = chunk.numbering.first
        for key in [key for key in self._labels if key[0] == first]:
            del self._labels[key]
        for one, own in zip(sent, labels, strict=True):
            self._labels[first, one.message.key.tobytes()] = own
        return found

    def divide(
        self,
        likelihood: Any,
        bound: Any,
        plans: Sequence[Plan],
        chunk: Chunk,
        n_threads: int | None,
    ) -> list[Divided]:
        """What dividing a chunk finds, by chain."""
        found = []
        for plan in plans:
            labels = self._labels.get((chunk.numbering.first, plan.message.key.tobytes()))
            if labels is None:
                labels = labels_in(likelihood, bound, plan.message, chunk, n_threads)
            found.append(divide_over(likelihood, bound, plan, labels, chunk, n_threads))
        return found


class LocalRows:
    """Rows in the memory of this process, for passes by threads.

    Parameters
    ----------
    parts : list of ndarray
        The rows, in chunks.
    n_threads : int or None
        As `n_jobs` of the sampler.
    """

    def __init__(self, parts: Sequence[NDArray], n_threads: int | None = None):
        self.parts, self.n_threads = list(parts), n_threads
        self.starts = np.cumsum([0, *(len(part) for part in parts)])
        self.n_rows = int(self.starts[-1])
        self.chunks: list[Chunk] = []
        self.memory = Memory()

    def sample(self, key: NDArray, n: int) -> tuple[NDArray[np.int64], NDArray]:
        """The `n` rows of least rank."""
        below = threshold(n, self.n_rows)
        each = zip(self.parts, self.starts, strict=False)
        return first_rows([least_ranks(key, below, part, int(start)) for part, start in each], n)

    def prepare(self, likelihood: Any, bound: Any) -> None:
        """Order the rows of every chunk."""
        self.likelihood, self.bound = likelihood, bound
        each = zip(self.parts, self.starts, strict=False)
        self.chunks = [new_chunk(likelihood, bound, part, int(start)) for part, start in each]

    def pass_over(self, sent: Sequence[Sent]) -> list[Found]:
        """What passes over all rows find, by chain."""
        arguments = (self.likelihood, self.bound, sent)
        found = [self.memory.pass_over(*arguments, c, self.n_threads) for c in self.chunks]
        return [total(parts) for parts in zip(*found, strict=True)]

    def divide(self, plans: Sequence[Plan]) -> list[Divided]:
        """What passes that divide unions find, by chain."""
        arguments = (self.likelihood, self.bound, plans)
        found = [self.memory.divide(*arguments, c, self.n_threads) for c in self.chunks]
        return [joined(list(parts)) for parts in zip(*found, strict=True)]

    def labels(self, message: Message) -> NDArray[np.int32]:
        """The labels of all rows."""
        arguments = (self.likelihood, self.bound, message)
        return np.concatenate([labels_of(*arguments, c, self.n_threads) for c in self.chunks])


def threshold(n: int, n_rows: int) -> np.uint64:
    """A rank that at least `n` rows are below, but for bad luck; the largest for most rows."""
    share = (n + MARGIN * np.sqrt(n)) / n_rows
    return np.uint64(0xFFFFFFFFFFFFFFFF) if share >= 0.5 else np.uint64(int(share * 2.0**64))


def first_rows(
    parts: Sequence[tuple[NDArray[np.uint64], NDArray]], n: int
) -> tuple[NDArray[np.int64], NDArray]:
    """The numbers of the `n` rows of least rank among those of some chunks, and the rows."""
    ranks, rows = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(ranks)[:n]
    return (ranks[order] & np.uint64(0xFFFFFFFF)).astype(np.int64), rows[order]

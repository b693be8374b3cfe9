"""What a fit of rows that are elsewhere knows of its draws, besides the labels of some rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.partition import Partition
from bnpcluster._core.slots import put_slots
from bnpcluster.samplers.blocked.assignment import Message


class BlockDraw(NamedTuple):
    """A draw of the partition of all rows, in some kB.

    Attributes
    ----------
    message : Message
        It determines the labels of all rows. None in a copy for predictions.
    sizes : ndarray of intp, one per block
    slots : dict
        Copies of the slots of all blocks, and of an empty one.
    order : ndarray of intp, one per block
        The block of the message that each block is. Blocks of reference rows come first.
    """

    message: Message | None
    sizes: np.ndarray
    slots: dict[str, Any]
    order: np.ndarray


class Elsewhere(NamedTuple):
    """The draws of a fit whose rows are elsewhere. The posterior has reference rows alone.

    Attributes
    ----------
    draws : list of BlockDraw
        One chain after another.
    n_rows : int
        The number of all rows.
    numbers : ndarray of int
        The numbers of the reference rows.
    """

    draws: list[BlockDraw]
    n_rows: int
    numbers: np.ndarray

    def of_draws(self, chosen: NDArray[np.intp]) -> Self:
        """Some of the draws."""
        return self._replace(draws=[self.draws[r] for r in chosen])

    def without_messages(self) -> Self:
        """The same draws, for predictions alone."""
        return self._replace(draws=[draw._replace(message=None) for draw in self.draws])

    def load(self, r: int, bound: Any, partition: Partition, labels: NDArray) -> None:
        """Put a draw into slots; `labels` are those of the reference rows."""
        draw = self.draws[r]
        put_slots(bound, draw.slots)
        partition.n_blocks[0] = len(draw.sizes)
        partition.labels[:] = labels


def log_urn_of(priors: list[Any], draws: list[BlockDraw]) -> NDArray[np.float64]:
    """Log urn weights of each draw, as `urn_weights`, from the sizes of all blocks."""
    log_urn = np.full((len(draws), max(len(draw.sizes) for draw in draws) + 1), -np.inf)
    for row, prior, draw in zip(log_urn, priors, draws, strict=True):
        weights = prior.predictive(draw.sizes)
        row[: len(weights)] = weights
    return log_urn

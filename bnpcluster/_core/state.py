"""Where one chain is: the target it moves on, its partition, and room that grows on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import latent, log_likelihood, move_latent, padded, set_latent
from bnpcluster._core.partition import Problem, change_size, grown, new_partition, rebuild

LONGEST = 0.1  # seconds: kernel calls are cut so that a stop is noticed about this soon


class Stopped(Exception):
    """Raised between kernel calls when the user or the clock has asked a chain to stop."""


class State:
    """A partition, the target it moves on, and the prior's current hyper-parameters.

    Parameters
    ----------
    bound : NamedTuple
        Bound data of a likelihood; its slots are filled from `labels`.
    prior : Prior
        At its current values.
    labels : array of int, shape (n,)
        The partition to start from; -1 for items that are absent.
    beta : float
        Inverse temperature of the likelihood.
    capacity : int
        Room for this many slots to begin with; results do not depend on it.
    should_stop : callable
        Asked between kernel calls.

    Attributes
    ----------
    tuning : dict
        Numbers a sampler finds during warm-up; they go into checkpoints.
    adapting : bool
        Whether it is warm-up, so that a sampler may change `tuning`.
    archive : Archive or None
        Earlier states of all chains, for a sampler that learns from them.
    scratch : dict
        Working arrays a sampler keeps from one iteration to the next; nothing depends on them.
    """

    def __init__(
        self,
        bound: Any,
        prior: Any,
        labels: np.ndarray,
        *,
        beta: float = 1.0,
        capacity: int = 16,
        should_stop: Callable[[], bool] = lambda: False,
    ):
        labels = np.asarray(labels)
        items = np.flatnonzero(labels >= 0)
        needed = int(labels.max(initial=-1)) + 2
        capacity = max(capacity, needed)
        self.prior = prior
        self.should_stop = should_stop
        self.partition = new_partition(len(labels), capacity)
        self.partition.labels[:] = labels
        log_v, log_w = prior.tables(len(items), capacity)
        self.problem = Problem(grown_bound(bound, capacity), log_v, log_w, items, beta)
        self.tuning: dict[str, float] = {}
        self.adapting = False
        self.archive: Any = None
        self.scratch: dict[str, Any] = {}
        self._chunk = 1024
        self._batch = 16
        self.rebuild()

    @property
    def n_items(self) -> int:
        """How many items are present."""
        return len(self.problem.items)

    @property
    def n_blocks(self) -> int:
        """The number of blocks K."""
        return int(self.partition.n_blocks[0])

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the blocks."""
        return self.partition.sizes[: self.n_blocks]

    @property
    def labels(self) -> np.ndarray:
        """The slot of every item."""
        return self.partition.labels

    @property
    def latent(self) -> np.ndarray | None:
        """A copy of what the likelihood adds to the data, such as missing entries; or None."""
        return latent(self.problem.likelihood)

    def set_latent(self, values: np.ndarray) -> None:
        """Go on with other missing entries."""
        set_latent(self.problem.likelihood, values)
        self.rebuild()

    def move_latent(self, rng: np.random.Generator) -> None:
        """Draw the missing entries given all else, if the likelihood moves them."""
        move_latent(self.problem.likelihood, self.labels, rng)

    def rebuild(self) -> None:
        """Renumber the blocks by first item and recompute all statistics from the labels."""
        rebuild(self.problem, self.partition)

    def enlarge(self) -> None:
        """Double the room; what the slots hold is unchanged."""
        capacity = 2 * len(self.partition.sizes)
        self.partition = grown(self.partition, capacity)
        tables = self.prior.tables(self.n_items, capacity)
        self.problem = self.problem._replace(
            likelihood=grown_bound(self.problem.likelihood, capacity), log_v=tables.log_v
        )

    def set_prior(self, prior: Any) -> None:
        """Go on with other hyper-parameters."""
        self.prior = prior
        log_v, log_w = prior.tables(self.n_items, len(self.partition.sizes))
        changed = log_w is not self.problem.log_w
        self.problem = self.problem._replace(log_v=log_v, log_w=log_w)
        if changed:
            update_log_prior(self.partition, log_w)

    def visit(self, move: Callable, rng: np.random.Generator) -> None:
        """Run the kernel `move(problem, partition, uniforms, start, stop)` over all items.

        It uses one uniform per item. (An array of them costs less than a generator, whose passing
        to a kernel alone takes 8 microseconds.) Calls are cut short so that a stop is noticed
        soon, and entered again with more room where it ran out; neither changes a result.
        """
        start = 0
        while start < self.n_items:
            if self.should_stop():
                raise Stopped
            stop = min(start + self._chunk, self.n_items)
            uniforms = rng.random(stop - start)
            begin = time.perf_counter()
            reached = start
            while True:
                reached = move(
                    self.problem, self.partition, uniforms[reached - start :], reached, stop
                )
                if reached == stop:
                    break
                self.enlarge()
            self._fit_chunk(time.perf_counter() - begin, stop)
            start = stop

    def repeat(self, moves: Callable, times: int, *arguments: Any) -> None:
        """Run the kernel `moves(problem, partition, *arguments, start, stop)` for `times` moves.

        As in `visit`, calls are cut short and entered again with more room where it ran out.
        """
        start = 0
        while start < times:
            if self.should_stop():
                raise Stopped
            stop = min(start + self._batch, times)
            begin = time.perf_counter()
            start = moves(self.problem, self.partition, *arguments, start, stop)
            if start < stop:
                self.enlarge()
            elif time.perf_counter() - begin > LONGEST:
                self._batch = max(1, self._batch // 2)
            else:
                self._batch = min(2 * self._batch, 1024)

    def _fit_chunk(self, seconds: float, stop: int) -> None:
        """Choose how many items the next kernel call gets, so that it lasts about LONGEST."""
        if seconds < LONGEST / 4 and stop < self.n_items:
            self._chunk *= 2
        elif seconds > LONGEST and self._chunk > 64:
            self._chunk //= 2

    def log_joint(self) -> float:
        """Log p(data, partition) under the current hyper-parameters."""
        return float(log_joint(self.problem, self.partition))


def grown_bound(bound: Any, capacity: int) -> Any:
    """Bound data with their own copy of the slots, and room for `capacity` of them.

    `slot_axis` names the arrays that a chain must own, with the axis (or axes, or none: scratch
    space) that the slots lie along. A field may also hold bound data with slots of its own.
    """
    width = padded(capacity)
    changed = {}
    for name, axes in bound.slot_axis.items():
        old = getattr(bound, name)
        if isinstance(old, tuple):
            changed[name] = grown_bound(old, capacity)
            continue
        shape = list(old.shape)
        for axis in (axes,) if isinstance(axes, int) else axes:
            shape[axis] = max(width, shape[axis])
        new = np.zeros(shape, old.dtype)
        new[tuple(slice(length) for length in old.shape)] = old
        changed[name] = new
    return bound._replace(**changed)


@kernel
def update_log_prior(partition, log_w):
    """Recompute what depends on the table of the prior."""
    for k in range(partition.n_blocks[0]):
        change_size(partition, log_w, k, 0)


@kernel
def log_joint(problem, partition):
    """log V[K] + sum_b log W[n_b] + beta log p(data | partition)"""
    n_blocks = partition.n_blocks[0]
    total = problem.log_v[n_blocks]
    for k in range(n_blocks):
        total += problem.log_w[partition.sizes[k]]
    if problem.beta == 0.0:
        return total
    return total + problem.beta * log_likelihood(problem.likelihood, n_blocks)

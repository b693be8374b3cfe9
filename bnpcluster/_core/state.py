"""The state of one chain: its target and its partition, with slots that grow on demand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import (
    NEGLIGIBLE,
    latent,
    learned,
    log_learned,
    log_likelihood,
    log_weights,
    move_latent,
    move_learned,
    padded,
    set_latent,
    set_learned,
    traces_learned,
)
from bnpcluster._core.partition import Problem, change_size, grown, new_partition, rebuild

LONGEST = 0.1  # seconds that a kernel call may take, so that a stop is noticed soon


class Stopped(Exception):
    """Raised between kernel calls when the user or the time limit stops a chain."""


class State:
    """A partition, its target distribution, and the current hyper-parameters of the prior.

    Parameters
    ----------
    bound : NamedTuple
        Bound data of a likelihood; its slots are filled from `labels`.
    prior : Prior
        The prior with its current hyper-parameters.
    labels : array of int, shape (n,)
        The partition to start from; -1 for items that are absent.
    beta : float
        Inverse temperature of the likelihood.
    capacity : int
        Initial number of slots; results do not depend on it.
    n_items : int, optional
        The number of all items, if most are elsewhere. By default, those that are present.
    should_stop : callable
        Called between kernel calls; True stops the chain.

    Attributes
    ----------
    n_items : int
        The number of all items.
    tuning : dict
        Settings that a sampler finds during warm-up; they are saved in checkpoints.
    guide : ndarray or None
        A table that a sampler makes during warm-up; it is saved in checkpoints, too.
    adapting : bool
        Whether the chain is in warm-up; only then may a sampler change these.
    archive : Archive or None
        Earlier states of all chains, for a sampler that learns from them.
    scratch : dict
        Working arrays that a sampler keeps between iterations; no result depends on them.
    """

    def __init__(
        self,
        bound: Any,
        prior: Any,
        labels: np.ndarray,
        *,
        beta: float = 1.0,
        capacity: int = 16,
        n_items: int | None = None,
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
        self.n_items = len(items) if n_items is None else n_items
        log_v, log_w = prior.tables(self.n_items, capacity)
        self.problem = Problem(grown_bound(bound, capacity), log_v, log_w, items, beta)
        self.tuning: dict[str, float] = {}
        self.guide: np.ndarray | None = None
        self.adapting = False
        self.archive: Any = None
        self.scratch: dict[str, Any] = {}
        self._known: dict[Callable, Any] = {}  # read from the learned hyper-parameters
        self._learns = learned(self.problem.likelihood) is not None
        self._chunk = 1024
        self._batch = 16
        self.rebuild()

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
        """A copy of the latent values of the likelihood, such as missing entries; or None."""
        return latent(self.problem.likelihood)

    def set_latent(self, values: np.ndarray) -> None:
        """Replace the latent values."""
        set_latent(self.problem.likelihood, values)
        self.rebuild()

    def move_latent(self, rng: np.random.Generator) -> None:
        """Draw the latent values given all else, if the likelihood samples them."""
        move_latent(self.problem.likelihood, self.labels, rng)

    @property
    def learned(self) -> np.ndarray | None:
        """The learned hyper-parameters of the likelihood, not to be changed; or None."""
        return self._read(fixed_learned)

    def set_learned(self, values: np.ndarray) -> None:
        """Replace the learned hyper-parameters."""
        set_learned(self.problem.likelihood, values)
        self._known = {}
        self.rebuild()

    def move_learned(self, rng: np.random.Generator) -> None:
        """Draw the learned hyper-parameters given all else, if there are any."""
        if self._learns:
            likelihood, beta = self.problem.likelihood, self.problem.beta
            renewed = move_learned(likelihood, self.labels, beta, rng)
            self._known = {}
            if not renewed:
                self.rebuild()

    def traces_learned(self) -> dict[str, float]:
        """The learned hyper-parameters as a few numbers by name."""
        return self._read(traces_learned)

    def _read(self, read: Callable[[Any], Any]) -> Any:
        """Something that depends on the learned hyper-parameters; read again after a change."""
        if read not in self._known:
            self._known[read] = read(self.problem.likelihood)
        return self._known[read]

    def rebuild(self) -> None:
        """Renumber the blocks by first item and recompute all statistics from the labels."""
        rebuild(self.problem, self.partition)

    def enlarge(self) -> None:
        """Double the number of slots; their contents are unchanged."""
        capacity = 2 * len(self.partition.sizes)
        self.partition = grown(self.partition, capacity)
        tables = self.prior.tables(self.n_items, capacity)
        self.problem = self.problem._replace(
            likelihood=grown_bound(self.problem.likelihood, capacity), log_v=tables.log_v
        )

    def set_prior(self, prior: Any) -> None:
        """Replace the hyper-parameters of the prior."""
        self.prior = prior
        log_v, log_w = prior.tables(self.n_items, len(self.partition.sizes))
        changed = log_w is not self.problem.log_w
        self.problem = self.problem._replace(log_v=log_v, log_w=log_w)
        if changed:
            update_log_prior(self.partition, log_w)

    def visit(self, move: Callable, rng: np.random.Generator) -> None:
        """Run the kernel `move(problem, partition, uniforms, start, stop)` over all items.

        It uses one uniform per item. (An array costs less than a generator: passing one to a
        kernel takes 8 microseconds.) The items are divided among several calls, so that a stop is
        noticed soon. If the slots run out, their number doubles and the kernel resumes. Neither
        changes a result.
        """
        start, n_present = 0, len(self.problem.items)
        while start < n_present:
            if self.should_stop():
                raise Stopped
            stop = min(start + self._chunk, n_present)
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

        As in `visit`, the moves are divided among several calls, and slots are added on demand.
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
        """Choose the number of items of the next kernel call, so that it takes about LONGEST."""
        if seconds < LONGEST / 4 and stop < len(self.problem.items):
            self._chunk *= 2
        elif seconds > LONGEST and self._chunk > 64:
            self._chunk //= 2

    def log_joint(self) -> float:
        """Log p(data, partition) under the current hyper-parameters."""
        return float(log_joint(self.problem, self.partition))

    def log_posterior(self) -> float:
        """Log p(data, partition, hyper-parameters)."""
        of_prior, of_likelihood = self.prior.log_hyper_density(), float(self._read(log_learned))
        return self.log_joint() + of_prior + of_likelihood

    def mean_log_density(self, items: np.ndarray) -> float:
        """The mean over some items of the log density of a further item with the same values."""
        return float(mean_log_density(self.problem, self.partition, items))


def fixed_learned(bound: Any) -> np.ndarray | None:
    """The learned hyper-parameters, not to be changed; or None."""
    values = learned(bound)
    if values is not None:
        values.setflags(write=False)
    return values


def grown_bound(bound: Any, capacity: int) -> Any:
    """Bound data with their own copy of the slots, at least `capacity` of them.

    `slot_axis` names the arrays that a chain must own, with the axis (or axes, or none: scratch
    space) of the slots. A field may also contain bound data with slots of its own.
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
    """Recompute the prior weights of all blocks from the table."""
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


@kernel
def mean_log_density(problem, partition, items):
    """The mean over `items` of log sum_b w_b f(item | block b) for the weights of a Gibbs step.

    A block of m items weighs W[m+1] / W[m] = m - sigma, and an empty one V[K+1] / V[K]. An item
    counts as a further one: its own block contains it. This is what a density of new rows looks
    like, at a cost that does not depend on the prior.
    """
    log_v, log_w, log_prior = problem.log_v, problem.log_w, partition.log_prior
    n_blocks = partition.n_blocks[0]
    kept_first, kept_empty = log_prior[0], log_prior[n_blocks]
    if n_blocks == 1:  # the table ends at the number of items
        log_prior[0] = math.log(partition.sizes[0] - 1.0 + math.exp(log_w[2] - log_w[1]))
    log_prior[n_blocks] = log_v[n_blocks + 1] - log_v[n_blocks] + log_w[1]
    weight, total = 0.0, 0.0
    for k in range(n_blocks + 1):
        weight += math.exp(log_prior[k])
    for i in items:
        count = log_weights(problem.likelihood, i, -1, 1.0, NEGLIGIBLE, partition)
        top, density = -math.inf, 0.0
        for c in range(count):
            top = max(top, partition.weights[c])
        for c in range(count):
            density += math.exp(partition.weights[c] - top)
        total += top + math.log(density)
    log_prior[0], log_prior[n_blocks] = kept_first, kept_empty
    return total / len(items) - math.log(weight)

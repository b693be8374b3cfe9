"""Particle Gibbs split-merge: conditional sequential Monte Carlo on the blocks of the anchors."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.arguments import as_float, code, is_auto, whole
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import shown
from bnpcluster._core.operations import add, clear, rename
from bnpcluster._core.partition import change_size, close_slot
from bnpcluster._core.state import State
from bnpcluster.samplers.split_merge.anchors import draw_anchors, log_anchor_probability
from bnpcluster.samplers.split_merge.base import SplitMergeSampler, anchor_distribution
from bnpcluster.samplers.split_merge.conditional_smc import (
    FIRST,
    TARGETS,
    Swarm,
    new_swarm,
    place_all,
    start_swarm,
    trace_back,
)
from bnpcluster.samplers.split_merge.kernel import Work, new_work
from bnpcluster.samplers.split_merge.orders import ORDERS, arrange

TALLY = ("moves", "changed", "rejected", "work")
RESAMPLED = 0.5  # the authors' threshold, used under "auto" for more than two anchors


class PGSM(SplitMergeSampler):
    """Particle Gibbs split-merge.

    A move draws some rows, the anchors, and redistributes the rows of their clusters among them.
    Particles place one row after another, and their weights target the conditional distribution
    given the rest of the partition. One particle retraces the present clusters, and the move ends
    with a particle drawn by weight, so nothing is rejected. Clusters of the anchors split, merge or
    exchange rows.

    Parameters
    ----------
    n_particles : int, default=20
        At least 2. Particles that are equal share their computations.
    n_anchors : int, default=2
        With 3, a split and a merge can happen in one move. A prior with a fixed number of
        components may need this.
    anchors : str, default="uniform"
        ``"uniform"``, ``"cluster"``, ``"threshold"``, ``"balanced"``, ``"mixed"``,
        ``"frozen_cluster"`` (the authors' choice) or ``"frozen_threshold"``: how the first two
        anchors are drawn, see `SAMS`. Further ones are drawn uniformly. If the distribution of the
        anchors depends on the present clusters, the move is accepted with the ratio of their
        probabilities, so it is exact.
    order : {"random", "decisive", "alternate"}, default="alternate"
        The order in which rows are placed, see `SAMS`. The authors use "random".
    resample_threshold : "auto" or float, default="auto"
        Particles are resampled when their relative effective sample size falls below it. The
        authors use 0.5. ``"auto"`` is 0.5 for more than two anchors. For two anchors it never
        resamples: the intermediate targets favour merged particles, so resampling would remove the
        splits.
    n_moves : int or "auto", default="auto"
        Moves per iteration. ``"auto"``: as many as cost about one Gibbs sweep, tuned in warm-up.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration; 0 gives the pure sampler.
    targets : {"improved", "basic"}, default="improved"
        The intermediate targets. ``"basic"``: the posterior of the rows placed so far.
        ``"improved"``: as the authors recommend, the prior and the likelihood of the anchors come
        in gradually, so that particles do not decide about the anchors too early.

    Notes
    -----
    Works with every prior and every likelihood that factorises over clusters. If the anchors'
    clusters contain only the anchors, the last improved target is the posterior itself; the formula
    as printed ignores the data in this case.

    References
    ----------
    Bouchard-Cote, A., Doucet, A. and Roth, A. (2017). Particle Gibbs split-merge sampling for
    Bayesian inference in mixture models. Journal of Machine Learning Research 18(28), 1-39.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler="pgsm", n_particles=10, n_draws=2000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    requires = (*SplitMergeSampler.requires, "copy")

    def __init__(
        self,
        *,
        n_particles: int = 20,
        n_anchors: int = 2,
        anchors: str = "uniform",
        order: str = "alternate",
        resample_threshold: Any = "auto",
        n_moves: Any = "auto",
        n_gibbs: int = 1,
        targets: str = "improved",
    ):
        self.n_particles = n_particles
        self.n_anchors = n_anchors
        self.anchors = anchors
        self.order = order
        self.resample_threshold = resample_threshold
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs
        self.targets = targets

    @classmethod
    def examples(cls) -> list[PGSM]:
        """Moves without sweeps: all numbers of particles, thresholds and kinds of anchors."""
        pure: Any = {"n_moves": 1, "n_gibbs": 0}
        return [
            cls(**pure),
            cls(n_particles=2, resample_threshold=1.0, order="random", anchors="balanced", **pure),
            cls(n_particles=3, n_anchors=3, resample_threshold=0.5, **pure),
            cls(n_particles=20, resample_threshold=0.5, anchors="cluster", **pure),
            cls(n_particles=3, resample_threshold=1.0, anchors="threshold", **pure),
            cls(n_particles=20, n_anchors=3, resample_threshold=1.0, anchors="balanced", **pure),
            cls(n_particles=3, anchors="frozen_threshold", **pure),
            cls(n_particles=3, resample_threshold=0.5, targets="basic", **pure),
        ]

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        if "pgsm" not in state.scratch:
            state.scratch["pgsm"] = self._prepare(state)
        if state.n_items < self.n_anchors:
            return dict.fromkeys(TALLY, 0)
        work = state.scratch["pgsm"][0]
        work.tally[:] = 0
        state.repeat(particle_moves, n_moves, *state.scratch["pgsm"], rng)
        return dict(zip(TALLY, work.tally.tolist(), strict=False))

    def _prepare(self, state: State) -> tuple[Work, Swarm, Any, int, float]:
        n_particles = whole("n_particles", self.n_particles, 2)
        n_anchors, n = whole("n_anchors", self.n_anchors, 2), len(state.labels)
        distribution = anchor_distribution(self.anchors, state)
        basic = code("targets", self.targets, TARGETS)
        swarm = new_swarm(n_particles, n_anchors, n + 1, basic)
        work = new_work(state.problem.likelihood, n, n_anchors)
        return work, swarm, distribution, code("order", self.order, ORDERS), self._threshold()

    def _threshold(self) -> float:
        value = self.resample_threshold
        if is_auto(value):
            return 0.0 if self.n_anchors == 2 else RESAMPLED
        if not 0.0 <= as_float(value) <= 1.0:
            raise ValueError(
                f"resample_threshold must be 'auto' or a number from 0 to 1, got {shown(value)}."
            )
        return as_float(value)


@kernel
def particle_moves(
    problem, partition, work, swarm, distribution, order, threshold, rng, start, stop
):
    """Make moves start .. stop-1; return the first one without room, or stop."""
    lik, sizes, labels, items = problem.likelihood, partition.sizes, partition.labels, work.items
    n_anchors, n_slots = len(work.anchors), len(swarm.free) * len(work.anchors)
    for number in range(start, stop):
        # Up to n_anchors - 1 blocks may open before the first slot of the particles.
        base = partition.n_blocks[0] + n_anchors + 1
        if base + n_slots + 1 > len(sizes):
            return number
        work.numbers[3] = base + n_slots
        draw_anchors(distribution, problem, partition, work, rng)
        n = gather_union(problem.items, labels, work, rng)
        n_old = work.numbers[0]
        for a in range(n_anchors):
            clear(lik, base + a)
            add(lik, base + a, items[a])
        arrange(lik, work, order, n_anchors, n, base, rng)
        start_swarm(swarm, base)
        n_others = partition.n_blocks[0] - n_old
        group = place_all(problem, partition, swarm, items, n, n_others, threshold, rng)
        work.tally[0] += 1
        work.tally[3] += n
        if group != swarm.numbers[FIRST]:
            trace_back(swarm, group, n, work.sides)
            log_u = -rng.standard_exponential()
            first = base + group * n_anchors
            n_new = swarm.n_blocks[group]
            ratio = log_anchor_ratio(distribution, problem, partition, work, n, first, n_new)
            accepted = log_u < ratio
            work.tally[1 if accepted else 2] += 1
            if accepted:
                apply_proposal(problem, partition, work, n, first, n_new, n_old)
            else:
                for t in range(n):
                    labels[items[t]] = swarm.before[t]
        for k in range(base, base + n_slots):
            sizes[k] = 0
    return stop


@kernel
def gather_union(items, labels, work, rng):
    """Draw further anchors; list all in random order, then the other items of their blocks.

    work.old lists these blocks in increasing order.
    """
    anchors, out, old = work.anchors, work.items, work.old
    for a in range(2, len(anchors)):
        rank = int(rng.random() * (len(items) - a))
        for t in range(len(items)):
            if not is_among(items[t], anchors, a):
                if rank == 0:
                    anchors[a] = items[t]
                    break
                rank -= 1
    n = n_old = 0
    for a in range(len(anchors)):
        # Insert it at a uniform position among those before it.
        spot = int(rng.random() * (a + 1))
        out[a] = out[spot]
        out[spot] = anchors[a]
        n += 1
        k = labels[anchors[a]]
        if not is_among(k, old, n_old):
            old[n_old] = k
            n_old += 1
            for b in range(n_old - 1, 0, -1):
                if old[b] < old[b - 1]:
                    old[b], old[b - 1] = old[b - 1], old[b]
    for t in range(len(items)):
        h = items[t]
        out[n] = h
        n += int(is_among(labels[h], old, n_old) and not is_among(h, anchors, len(anchors)))
    work.numbers[0] = n_old
    return n


@kernel(inline=True)
def is_among(value, values, count):
    """Whether a value is among the first `count` of an array."""
    for a in range(count):
        if values[a] == value:
            return True
    return False


@kernel
def log_anchor_ratio(distribution, problem, partition, work, n, first, n_new):
    """log h(anchors | proposal) - log h(anchors | state); sets the labels of the proposal."""
    labels, anchors, n_old = partition.labels, work.anchors, work.numbers[0]
    work.numbers[0] = 0
    work.numbers[1] = 0
    own, other = labels[anchors[0]], labels[anchors[1]]
    before = log_anchor_probability(distribution, problem, partition, work, own, other)
    for t in range(n):
        labels[work.items[t]] = first + work.sides[t]
    work.numbers[0] = n_old
    work.numbers[1] = n_new
    for b in range(n_new):
        work.new[b] = first + b
    own, other = labels[anchors[0]], labels[anchors[1]]
    return log_anchor_probability(distribution, problem, partition, work, own, other) - before


@kernel
def apply_proposal(problem, partition, work, n, first, n_new, n_old):
    """Replace the anchors' blocks by those in slots first .. first + n_new - 1."""
    lik, sizes, labels, old = problem.likelihood, partition.sizes, partition.labels, work.old
    for b in range(n_new):
        k = old[b] if b < n_old else partition.n_blocks[0]
        work.new[b] = k
        partition.n_blocks[0] = max(partition.n_blocks[0], k + 1)
        rename(lik, k, first + b)
        change_size(partition, problem.log_w, k, sizes[first + b] - sizes[k])
    for t in range(n):
        labels[work.items[t]] = work.new[work.sides[t]]
    for b in range(n_old - 1, n_new - 1, -1):  # the last one first: no other can move into it
        sizes[old[b]] = 0
        close_slot(problem, partition, old[b])
    clear(lik, partition.n_blocks[0])

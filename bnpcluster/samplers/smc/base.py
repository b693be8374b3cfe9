"""What the sequential Monte Carlo samplers share: resampling, weights, evidence, runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import clear
from bnpcluster._core.state import LONGEST, Stopped, grown_bound
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.smc.population import (
    EVALUATED,
    MOST,
    RESAMPLED,
    crowded,
    descend,
    enlarged,
    extend,
    label_type,
    log_joint,
    new_population,
    predict,
    refill,
    scarce,
    weigh,
)
from bnpcluster.samplers.smc.resampling import (
    draw_parents,
    scale_weights,
    scheme_of,
    threshold_of,
)


@dataclass
class Run:
    """The particles of one run after all items, weighted.

    Attributes
    ----------
    labels : ndarray of shape (n_particles, n_items)
    log_weight : ndarray of shape (n_particles,), up to a constant
    log_evidence : float: log of an unbiased estimate of p(data)
    relative_variance : float: of the estimate, as far as this run alone can tell
    log_joint : ndarray of shape (n_particles,): log p(data, partition, hyper-parameters)
    values : dict: sampled hyper-parameters, by particle
    origin : ndarray of shape (n_particles,): the ancestors at the beginning
    counts : dict: what was done
    seconds : float
    state : what `extend` goes on from, None if the sampler takes no further items
    """

    labels: np.ndarray
    log_weight: np.ndarray
    log_evidence: float
    relative_variance: float
    log_joint: np.ndarray
    values: dict[str, np.ndarray]
    origin: np.ndarray
    counts: dict[str, float]
    seconds: float
    state: Any = None


class ParticleSampler(Sampler):
    """Base class of samplers whose draws are weighted particles, and which estimate the evidence.

    A subclass offers `run`, and `resume` if its particles can take further items.
    """

    weighted = True

    @property
    def remedy(self) -> str:
        """What to do about runs that disagree."""
        return "raise n_particles"

    def checked(self, prior: Any) -> Any:
        """The prior this sampler will use; one sentence if it does not serve it.

        Particles without moves carry no hyper-parameters of their own: "auto" becomes 1.0.
        """
        fixed = {}
        for name in prior.sampled:
            if not isinstance(getattr(prior, name), str):
                raise ValueError(
                    f"{type(self).__name__} needs a fixed {name}, not the hyper-prior "
                    f"{getattr(prior, name)!r}: give a number."
                )
            fixed[name] = prior.hyper[name].start
        return clone(prior).set_params(**fixed) if fixed else prior

    def run(
        self,
        bound: Any,
        prior: Any,
        n_items: int,
        rng: np.random.Generator,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Run:
        """One run over all items; `prior` is what `checked` returned."""
        raise NotImplementedError(f"{type(self).__name__} must define run.")

    def resume(
        self, run: Run, bound: Any, n_items: int, should_stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Go on with the items that were added; `bound` holds the old and the new ones."""
        raise ValueError(
            f"{type(self).__name__} with these settings takes no further rows: fit all of them."
        )


def number_of(name: str, value: Any, low: int) -> int:
    """`value` as an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}.")
    return int(value)


@kernel
def resample(population, law, scheme, n_items, rng):
    """Draw parents by weight; log_z remembers the mean weight, and all weights are equal then."""
    log_mean, _ = scale_weights(population)
    population.log_z[0] += log_mean
    population.numbers[RESAMPLED] += 1
    draw_parents(population.weight, scheme, population.parent, population.choice, rng)
    descend(population, law, n_items)
    for p in range(len(population.log_weight)):
        population.log_weight[p] = 0.0


@kernel
def advance(lik, population, law, rule, first, start, stop, rng):
    """Place items start .. stop-1; return where room ran out, or stop.

    Weights depend on what a particle was before the item, so it is resampled before it takes it.
    """
    scheme, threshold = rule
    for i in range(start, stop):
        if scarce(population, 0) or crowded(population):
            return i
        predict(lik, population, i)
        weigh(population, law, i - first)
        if threshold > 0.0 and scale_weights(population)[1] < threshold:
            resample(population, law, scheme, i, rng)
        extend(lik, population, law, i - first, i, rng)
    return stop


class Filter:
    """Particles that take the items in their order.

    A subclass says by `law` how likely a particle is to open a block, or to join one.

    Parameters
    ----------
    bound : NamedTuple
        Bound data of a likelihood.
    prior : Prior
    n_particles, n_items : int
    rule : (int, float)
        The code of the resampling scheme, and the threshold.
    rng : Generator
    """

    chunk = 64
    """Items per table of the prior; boundaries stand at its multiples."""

    def __init__(
        self,
        bound: Any,
        prior: Any,
        n_particles: int,
        n_items: int,
        rule: tuple[int, float],
        rng: np.random.Generator,
    ):
        self.population = new_population(n_particles, n_items)
        self.lik = grown_bound(bound, len(self.population.holders))
        clear(self.lik, 0)
        self.prior, self.rule, self.rng = prior, rule, rng
        self.n_placed, self.seconds = 0, 0.0

    @property
    def room(self) -> int:
        """How many blocks of a particle there is room for."""
        return self.population.blocks.shape[1]

    def law(self, start: int, stop: int) -> Any:
        """The law for items start .. stop-1, with tables for `room` blocks."""
        raise NotImplementedError(f"{type(self).__name__} must define law(start, stop).")

    def enlarge(self, further: int = 0) -> None:
        """Double the room that is scarce, or would be with so many further slots."""
        self.lik, self.population = enlarged(self.lik, self.population, further)

    def place(self, n_items: int, should_stop: Callable[[], bool]) -> None:
        """Place all items up to `n_items`."""
        batch = 1
        while self.n_placed < n_items:
            first = self.n_placed // self.chunk * self.chunk
            end = min(first + self.chunk, n_items)
            law = self.law(first, end)
            while self.n_placed < end:
                if should_stop():
                    raise Stopped
                batch = self._advance(law, first, min(self.n_placed + batch, end), batch)
                if crowded(self.population):
                    self.enlarge()
                    law = self.law(first, end)

    def _advance(self, law: Any, first: int, stop: int, batch: int) -> int:
        """Place some items in one call of a kernel; return how many the next one should get."""
        begin = time.perf_counter()
        self.n_placed = advance(
            self.lik, self.population, law, self.rule, first, self.n_placed, stop, self.rng
        )
        seconds = time.perf_counter() - begin
        self.seconds += seconds
        if self.n_placed < stop and not crowded(self.population):
            self.enlarge()
        return max(1, batch // 2) if seconds > LONGEST else min(2 * batch, self.chunk)

    def rebind(self, bound: Any, n_items: int) -> None:
        """Go on with other bound data, whose first items are those already placed."""
        old = self.population.labels
        labels = np.zeros((len(old), n_items), label_type(n_items))
        labels[:, : old.shape[1]] = old
        self.population = self.population._replace(labels=labels)
        self.lik = grown_bound(bound, len(self.population.holders))
        refill(self.lik, self.population, self.n_placed)

    def outcome(self, log_correction: Any = 0.0) -> Run:
        """The particles as they are, with further log weights that the run itself does not see."""
        population, n = self.population, self.n_placed
        log_weight = population.log_weight + log_correction
        tables = self.prior.tables(n, int(population.numbers[MOST]))
        joint = np.zeros(len(log_weight))
        log_joint(self.lik, population, *tables, joint)
        self.lik = None  # the slots are large, and `rebind` makes them again
        return Run(
            labels=population.labels[:, :n].copy(),
            log_weight=log_weight,
            log_evidence=float(population.log_z[0] + log_mean_exp(log_weight)),
            relative_variance=relative_variance(
                log_weight, population.origin, int(population.numbers[RESAMPLED])
            ),
            log_joint=joint,
            values={},
            origin=population.origin.copy(),
            counts={
                "resamplings": int(population.numbers[RESAMPLED]),
                "predictives": int(population.numbers[EVALUATED]),
            },
            seconds=self.seconds,
            state=self,
        )


def log_mean_exp(x: np.ndarray) -> float:
    """log of the mean of exp(x)."""
    top = x.max()
    return float(top + np.log(np.mean(np.exp(x - top))))


def shares(log_weight: np.ndarray) -> np.ndarray:
    """Weights that sum to one."""
    weights = np.exp(log_weight - log_weight.max())
    return weights / weights.sum()


def relative_variance(log_weight: np.ndarray, origin: np.ndarray, n_resampled: int) -> float:
    """Relative variance of a run's evidence, from the shares of its lines of descent.

    The estimator of Lee and Whiteley (2018), unbiased (relative to the squared evidence), and so
    sometimes negative. If a single line survives it says 1, which is no news.
    """
    n = len(log_weight)
    if n == 1:
        return math.nan
    lines = np.bincount(origin, weights=shares(log_weight))
    apart = (1.0 - (lines**2).sum()) * (n / (n - 1)) ** (n_resampled + 1)
    return float(1.0 - apart)


class FilterSampler(ParticleSampler):
    """Base class of the samplers that place every item once and for all."""

    requires = ("clear", "add", "copy", "rename", "log_predictive_all", "log_marginal")

    particles: type[Filter]

    @property
    def remedy(self) -> str:
        """What to do about runs that disagree."""
        return "raise n_particles, or try sampler='annealed_smc', whose particles move"

    def __init__(
        self,
        *,
        n_particles: int = 1000,
        resample_threshold: float = 0.8,
        resampling: str = "systematic",
    ):
        self.n_particles = n_particles
        self.resample_threshold = resample_threshold
        self.resampling = resampling

    @classmethod
    def examples(cls) -> list[FilterSampler]:
        """Few particles; every scheme; resampling never, sometimes and always."""
        return [
            cls(n_particles=8),
            cls(n_particles=8, resample_threshold=1.0, resampling="multinomial"),
            cls(n_particles=8, resample_threshold=0.95, resampling="stratified"),
            cls(n_particles=16, resample_threshold=0.0),
        ]

    def run(
        self,
        bound: Any,
        prior: Any,
        n_items: int,
        rng: np.random.Generator,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Run:
        """One run over all items."""
        particles = self.filter(bound, prior, n_items, rng)
        particles.place(n_items, should_stop)
        return particles.outcome()

    def filter(self, bound: Any, prior: Any, n_items: int, rng: np.random.Generator) -> Filter:
        """Particles without items."""
        rule = scheme_of(self.resampling), threshold_of(self.resample_threshold)
        n_particles = number_of("n_particles", self.n_particles, 1)
        return self.particles(bound, prior, n_particles, n_items, rule, rng)

    def resume(
        self, run: Run, bound: Any, n_items: int, should_stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Go on with the items that were added."""
        run.state.rebind(bound, n_items)
        run.state.place(n_items, should_stop)
        return run.state.outcome()

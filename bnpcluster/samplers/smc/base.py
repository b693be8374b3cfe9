"""Base classes of sequential Monte Carlo: resampling, weights, evidence, runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core.arguments import whole
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import MORE_PARTICLES, Message, given, parameter, setting
from bnpcluster._core.operations import clear
from bnpcluster._core.state import LONGEST, Stopped, grown_bound
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.smc.population import (
    EVALUATED,
    MOST,
    RESAMPLED,
    allocate_item,
    copy_parents,
    crowded,
    enlarged,
    label_type,
    log_joints,
    new_population,
    refill,
    scarce,
    score_item,
    update_weights,
)
from bnpcluster.samplers.smc.resampling import (
    draw_parents,
    scale_weights,
    scheme_of,
    threshold_of,
)


@dataclass
class Run:
    """The weighted particles of one run after all items.

    Attributes
    ----------
    labels : ndarray of shape (n_particles, n_items)
    log_weight : ndarray of shape (n_particles,), up to a constant
    log_evidence : float: log of an unbiased estimate of p(data)
    relative_variance : float: of this estimate; nan if a single run cannot tell
    log_joint : ndarray of shape (n_particles,): log p(data, partition, hyper-parameters)
    values : dict: sampled hyper-parameters, by particle; of the likelihood, a few numbers
    origin : ndarray of shape (n_particles,): the ancestors at the first item
    counts : dict: numbers of operations
    seconds : float
    state : what `resume` continues from; None if the sampler takes no further items
    learned : ndarray of shape (n_particles, n_values): learned hyper-parameters of the likelihood;
        None if particles do not carry them
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
    learned: np.ndarray | None = None


class ParticleSampler(Sampler):
    """Base class of samplers that draw weighted particles and estimate the evidence.

    A subclass defines `run`, and `resume` if its particles can take further items.
    """

    weighted = True

    @property
    def carries_learned(self) -> bool:
        """Whether particles carry learned hyper-parameters of the likelihood.

        If not, these are fixed at the guess from the data.
        """
        return False

    @property
    def remedy(self) -> str:
        """What to do if runs disagree."""
        return Message(MORE_PARTICLES)

    def checked(self, prior: Any) -> Any:
        """The prior that this sampler will use; raises an error if it does not work with it.

        Particles without moves have no hyper-parameters of their own: "auto" becomes 1.0.
        """
        fixed = {}
        for name in prior.sampled:
            if not isinstance(getattr(prior, name), str):
                raise ValueError(
                    Message(
                        f"{type(self).__name__} needs a fixed ",
                        parameter(name),
                        ", not the hyper-prior ",
                        given(getattr(prior, name)),
                        ": give a number.",
                    )
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
        """Make one run over all items; `prior` is what `checked` returned."""
        raise NotImplementedError(f"{type(self).__name__} must define run.")

    def resume(
        self, run: Run, bound: Any, n_items: int, should_stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Continue with the items that were added; `bound` contains the old and the new items."""
        raise ValueError(
            f"{type(self).__name__} takes no further rows with these settings: fit all of them."
        )


@kernel
def resample(population, prior_weights, scheme, n_items, rng):
    """Draw parents by weight, add the log of the mean weight to log_z, and reset the weights."""
    log_mean, _ = scale_weights(population)
    population.log_z[0] += log_mean
    population.numbers[RESAMPLED] += 1
    draw_parents(population.weight, scheme, population.parent, population.choice, rng)
    copy_parents(population, prior_weights, n_items)
    for p in range(len(population.log_weight)):
        population.log_weight[p] = 0.0


@kernel
def place_items(lik, population, prior_weights, rule, first, start, stop, rng):
    """Place items start .. stop-1; return the first one without room, or stop.

    Weights depend on the particle before the item, so resampling comes before the item.
    """
    scheme, threshold = rule
    for i in range(start, stop):
        if scarce(population, 0) or crowded(population):
            return i
        score_item(lik, population, i)
        update_weights(population, prior_weights, i - first)
        if threshold > 0.0 and scale_weights(population)[1] < threshold:
            resample(population, prior_weights, scheme, i, rng)
        allocate_item(lik, population, prior_weights, i - first, i, rng)
    return stop


class Filter:
    """Particles that take the items in their order.

    A subclass defines `prior_weights`: the weights of opening a block and of joining one.

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
    """Number of items per table of the prior; tables start at its multiples."""

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
    def block_room(self) -> int:
        """Number of blocks per particle for which there is room."""
        return self.population.blocks.shape[1]

    def prior_weights(self, start: int, stop: int) -> Any:
        """Prior weights for items start .. stop-1, with tables for `block_room` blocks."""
        raise NotImplementedError(f"{type(self).__name__} must define prior_weights(start, stop).")

    def make_room(self, further: int = 0) -> None:
        """Double the room that is scarce, or would be with `further` more slots."""
        self.lik, self.population = enlarged(self.lik, self.population, further)

    def place_up_to(self, n_items: int, should_stop: Callable[[], bool]) -> None:
        """Place all items up to `n_items`."""
        batch = 1
        while self.n_placed < n_items:
            first = self.n_placed // self.chunk * self.chunk
            end = min(first + self.chunk, n_items)
            prior_weights = self.prior_weights(first, end)
            while self.n_placed < end:
                if should_stop():
                    raise Stopped
                batch = self._place_batch(
                    prior_weights, first, min(self.n_placed + batch, end), batch
                )
                if crowded(self.population):
                    self.make_room()
                    prior_weights = self.prior_weights(first, end)

    def _place_batch(self, prior_weights: Any, first: int, stop: int, batch: int) -> int:
        """Place some items in one kernel call; return how many the next call should place."""
        begin = time.perf_counter()
        self.n_placed = place_items(
            self.lik,
            self.population,
            prior_weights,
            self.rule,
            first,
            self.n_placed,
            stop,
            self.rng,
        )
        seconds = time.perf_counter() - begin
        self.seconds += seconds
        if self.n_placed < stop and not crowded(self.population):
            self.make_room()
        return max(1, batch // 2) if seconds > LONGEST else min(2 * batch, self.chunk)

    def rebind(self, bound: Any, n_items: int) -> None:
        """Continue with other bound data, whose first items are those already placed."""
        old = self.population.labels
        labels = np.zeros((len(old), n_items), label_type(n_items))
        labels[:, : old.shape[1]] = old
        self.population = self.population._replace(labels=labels)
        self.lik = grown_bound(bound, len(self.population.holders))
        refill(self.lik, self.population, self.n_placed)

    def outcome(self, log_correction: Any = 0.0) -> Run:
        """The present particles; `log_correction` changes their weights only in the result."""
        population, n = self.population, self.n_placed
        log_weight = population.log_weight + log_correction
        tables = self.prior.tables(n, int(population.numbers[MOST]))
        joint = np.zeros(len(log_weight))
        log_joints(self.lik, population, *tables, joint)
        self.lik = None  # the slots are large, and `rebind` recomputes them
        return Run(
            labels=population.labels[:, :n].copy(),
            log_weight=log_weight,
            log_evidence=float(population.log_z[0] + log_mean_exp(log_weight)),
            relative_variance=relative_variance(log_weight, int(population.numbers[RESAMPLED])),
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


def normalised_weights(log_weight: np.ndarray) -> np.ndarray:
    """Weights that sum to one."""
    weights = np.exp(log_weight - log_weight.max())
    return weights / weights.sum()


def relative_variance(log_weight: np.ndarray, n_resampled: int) -> float:
    """Relative variance of a run's evidence; nan if one run cannot tell.

    Without resampling, weights are independent. After resampling, the particles have common
    ancestors, and there is no estimate that one can trust for every scheme: the one from the shares
    of the lines of descent needs multinomial resampling and many surviving lines.
    """
    n = len(log_weight)
    if n == 1 or n_resampled:
        return math.nan
    return float((n * (normalised_weights(log_weight) ** 2).sum() - 1.0) / (n - 1))


class FilterSampler(ParticleSampler):
    """Base class of samplers that place every item once."""

    requires = ("clear", "add", "copy", "rename", "log_predictive_all", "log_marginal")

    particles: type[Filter]

    @property
    def remedy(self) -> str:
        """What to do if runs disagree."""
        other = setting("sampler", "annealed_smc")
        return Message(MORE_PARTICLES, ", or try ", other, ", whose particles move")

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
        """Few particles, every scheme; resampling never, sometimes and always."""
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
        """Make one run over all items."""
        particles = self.filter(bound, prior, n_items, rng)
        particles.place_up_to(n_items, should_stop)
        return particles.outcome()

    def filter(self, bound: Any, prior: Any, n_items: int, rng: np.random.Generator) -> Filter:
        """Particles without items."""
        rule = scheme_of(self.resampling), threshold_of(self.resample_threshold)
        n_particles = whole("n_particles", self.n_particles, 1)
        return self.particles(bound, prior, n_particles, n_items, rule, rng)

    def resume(
        self, run: Run, bound: Any, n_items: int, should_stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Continue with the items that were added."""
        run.state.rebind(bound, n_items)
        run.state.place_up_to(n_items, should_stop)
        return run.state.outcome()

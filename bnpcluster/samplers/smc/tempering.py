"""From the prior to the posterior of a fixed data set, by powers of the likelihood."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.operations import draw_learned, log_likelihood
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.smc.base import Run, log_mean_exp, normalised_weights, relative_variance
from bnpcluster.samplers.smc.population import label_type
from bnpcluster.samplers.smc.resampling import sorted_parents

HALVINGS = 50  # in the search for a temperature


class Particle(NamedTuple):
    """What resampling copies of a state."""

    labels: NDArray
    prior: Any
    learned: NDArray | None  # hyper-parameters of the likelihood, if particles carry them

    @classmethod
    def of(cls, state: State, learns: bool) -> Particle:
        """The particle of a state."""
        return cls(state.labels.copy(), state.prior, state.learned if learns else None)


class Tempered:
    """Particles that are whole partitions, each a `State`, at a common inverse temperature.

    If the likelihood learns hyper-parameters, every particle has its own values, which start with a
    draw from their hyper-prior. The evidence then integrates over the hyper-prior.

    Parameters
    ----------
    bound, prior, n_items, rng : as for `ParticleSampler.run`
    n_particles : int
    move : Sampler
        Moves the particles at every temperature.
    """

    def __init__(
        self,
        bound: Any,
        prior: Any,
        n_items: int,
        rng: np.random.Generator,
        n_particles: int,
        move: Sampler,
    ):
        self.move, self.rng = move, rng
        self.states = [_draw_state(bound, prior, n_items, rng) for _ in range(n_particles)]
        self.learns = is_carried(bound)
        self.origin = np.arange(n_particles, dtype=np.int32)
        self.beta, self.log_z, self.n_steps = 0.0, 0.0, 0

    @property
    def log_likelihoods(self) -> NDArray[np.float64]:
        """log p(data | partition) of all particles."""
        return np.array([log_likelihood(s.problem.likelihood, s.n_blocks) for s in self.states])

    def next_beta(self, log_f: NDArray, share: float) -> float:
        """The inverse temperature at which the ESS is `share` of the particles; at most 1."""
        low, high = self.beta, 1.0
        if ess_share((high - self.beta) * log_f) >= share:
            return high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high)
                if ess_share((middle - self.beta) * log_f) >= share
                else (low, middle)
            )
        return high  # above `low`, so that each step increases beta

    def advance_to(
        self, beta: float, log_f: NDArray, scheme: int, n_moves: int, length: int | None
    ) -> None:
        """Reweight the particles for `beta`, resample them by weight, and move them.

        If `length` is given, the moves are waste-free: N / length particles are drawn, each starts
        a chain of `length` states, and all these states are particles.
        """
        increments = (beta - self.beta) * log_f
        self.log_z += log_mean_exp(increments)
        self.beta, self.n_steps = beta, self.n_steps + 1
        n, chain = len(self.states), length or 1
        parents = sorted_parents(normalised_weights(increments), n // chain, scheme, self.rng)
        copies = [Particle.of(self.states[a], self.learns) for a in parents]
        self.origin = np.repeat(self.origin[parents], chain)
        for state in self.states:
            state.problem = state.problem._replace(beta=beta)
        for m, particle in enumerate(copies):
            for t in range(chain):
                state = self.states[m * chain + t]
                set_state(state, *particle)
                for _ in range(n_moves if length is None or t > 0 else 0):
                    self._move_state(state)
                particle = Particle.of(state, self.learns)

    def _move_state(self, state: State) -> None:
        self.move.step(state, self.rng)
        if state.prior.sampled:
            state.set_prior(state.prior.update(state.sizes, state.n_items, self.rng))
        if self.learns:
            state.move_learned(self.rng)

    def run_temperatures(
        self,
        temperatures: Sequence[float] | None,
        share: float,
        scheme: int,
        n_moves: int,
        length: int | None,
        should_stop: Callable[[], bool],
    ) -> Run:
        """Step through all temperatures; None: the ESS determines each of them."""
        begin, given = time.perf_counter(), iter(temperatures or ())
        while self.beta < 1.0:
            if should_stop():
                raise Stopped
            log_f = self.log_likelihoods
            beta = next(given) if temperatures else self.next_beta(log_f, share)
            self.advance_to(beta, log_f, scheme, n_moves, length)
        return self._outcome(time.perf_counter() - begin)

    def _outcome(self, seconds: float) -> Run:
        states, n = self.states, self.states[0].n_items
        for state in states:
            state.rebuild()
        log_weight = np.zeros(len(states))
        rows = [_values(state, self.learns) for state in states]
        return Run(
            labels=np.array([s.labels[:n] for s in states]).astype(label_type(n)),
            log_weight=log_weight,
            log_evidence=self.log_z,
            relative_variance=relative_variance(log_weight, self.n_steps),
            log_joint=np.array([s.log_posterior() for s in states]),
            values={name: np.array([row[name] for row in rows]) for name in rows[0]},
            origin=self.origin,
            counts={"resamplings": self.n_steps},
            seconds=seconds,
            learned=np.array([s.learned for s in states]) if self.learns else None,
        )


def _draw_state(bound: Any, prior: Any, n_items: int, rng: np.random.Generator) -> State:
    """A state at inverse temperature 0: partition and hyper-parameters come from their priors."""
    at = prior.at(**prior.draw(rng))
    labels = np.full(_length(bound), -1)
    labels[:n_items] = at.sample(n_items, rng)
    state, learned = State(bound, at, labels, beta=0.0), draw_learned(bound, rng)
    if learned is not None:
        state.set_learned(learned)
    return state


def is_carried(bound: Any) -> bool:
    """Whether the likelihood learns hyper-parameters that particles can carry."""
    return draw_learned(bound, np.random.default_rng(0)) is not None


def _values(state: State, learns: bool) -> dict[str, float]:
    """The sampled hyper-parameters by name: those of the prior, and a few numbers on the others."""
    values = {name: state.prior.values[name] for name in state.prior.sampled}
    return {**values, **state.traces_learned()} if learns else values


def _length(bound: Any) -> int:
    return bound.n_items if hasattr(bound, "n_items") else len(bound[0])


def set_state(state: State, labels: NDArray, prior: Any, learned: NDArray | None = None) -> None:
    """Give a state the labels and the hyper-parameters of another one."""
    while labels.max() + 2 > len(state.partition.sizes):
        state.enlarge()
    state.labels[:] = labels
    if prior is not state.prior:
        state.set_prior(prior)
    if learned is None or learned is state.learned:
        state.rebuild()
    else:
        state.set_learned(learned)


def ess_share(log_weight: NDArray) -> float:
    """Effective sample size of weights, divided by their number."""
    return float(1.0 / (normalised_weights(log_weight) ** 2).sum() / len(log_weight))

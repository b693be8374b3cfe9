"""Annealed sequential Monte Carlo: particles move while rows or powers of the likelihood come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bnpcluster._core.arguments import as_float, code, number_between, whole
from bnpcluster._core.messages import MORE_PARTICLES, Message, shown
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.base import Sampler, can_sample
from bnpcluster.samplers.gibbs import Gibbs
from bnpcluster.samplers.smc.base import (
    Filter,
    ParticleSampler,
    Run,
)
from bnpcluster.samplers.smc.population import scarce
from bnpcluster.samplers.smc.population_gibbs import gibbs_updates, log_prior_ratios, set_particle
from bnpcluster.samplers.smc.resampling import scheme_of, threshold_of
from bnpcluster.samplers.smc.tempering import Tempered, set_state
from bnpcluster.samplers.smc.urn import Urn, urn_tables

PATHS = ("items", "temperature")


class AnnealedFilter(Filter):
    """Particles that follow the urn scheme at an annealed concentration and redraw some items.

    The concentration starts at `start`. After each item it moves to the prior's own value by the
    share `rate` of the remaining difference.
    """

    chunk = 1
    start, rate, block_size = 1.0, 0.01, 9
    move: Sampler | None = None
    pointer = 0

    def start_annealing(self) -> None:
        """Set the start and the target of the annealing, before the first item."""
        self.target = self.prior
        if self.rate > 0.0:
            self.name = next(iter(self.prior.hyper))
            self.value = self.start
            self.prior = self.target.at(**{self.name: self.value})

    def prior_weights(self, start: int, stop: int) -> Urn:
        """Urn weights at the present concentration."""
        return urn_tables(self.prior, start, stop, self.block_room)

    def place_up_to(self, n_items: int, should_stop: Callable[[], bool]) -> None:
        """Place all items up to `n_items`, and move the particles after each of them."""
        while self.n_placed < n_items:
            if should_stop():
                raise Stopped
            if self.n_placed > 0 and self.rate > 0.0:
                self._anneal()
            super().place_up_to(self.n_placed + 1, should_stop)
            if self.move is None:
                self._redraw()
            else:
                self._move_particles(self.move)

    def _anneal(self) -> None:
        """Change the concentration, and with it the weights of the particles."""
        value = self.value + self.rate * (self.target.values[self.name] - self.value)
        if value == self.value:
            return
        then = self.target.at(**{self.name: value})
        self.population.log_weight[:] += self.log_ratio(then)
        self.prior, self.value = then, value

    def log_ratio(self, then: Any) -> np.ndarray:
        """log p(partition) under the prior `then` minus that under the present one, by particle."""
        n, most = self.n_placed, self.block_room
        log_v, log_w = self.prior.tables(n, most)
        to_v, to_w = then.tables(n, most)
        # Both have the same entries -inf: annealing keeps the bound on the number of blocks.
        with np.errstate(invalid="ignore"):
            ratio_v = np.where(np.isfinite(to_v), to_v - log_v, -np.inf)
        ratio = np.zeros(len(self.population.n_blocks))
        log_prior_ratios(self.population, ratio_v, to_w - log_w, ratio)
        return ratio

    def _redraw(self) -> None:
        """Redraw the active block of items, which cycles through them, and the last item."""
        n = self.n_placed
        size = min(self.block_size, n - 1)
        active = (self.pointer + np.arange(size)) % max(n - 1, 1)
        self.pointer = (self.pointer + size) % max(n - 1, 1)
        items = np.append(active, n - 1)
        uniforms = self.rng.random(len(self.population.n_blocks) * len(items))
        reached, sigma = 0, float(self.prior.sigma_now)
        while reached < len(uniforms):
            log_v = self.prior.tables(n, self.block_room + 1).log_v
            reached = gibbs_updates(
                self.lik, self.population, log_v, sigma, items, uniforms, reached, len(uniforms)
            )
            if reached < len(uniforms):
                self.make_room(further=2)

    def _move_particles(self, move: Sampler) -> None:
        """Make one iteration of another sampler for every particle."""
        n, present = self.n_placed, self.population.labels
        labels = np.full(present.shape[1], -1)
        labels[:n] = present[0, :n]
        state = State(self.lik, self.prior, labels)
        for p in range(len(present)):
            labels[:n] = present[p, :n]
            set_state(state, labels, self.prior)
            move.step(state, self.rng)
            state.rebuild()
            while scarce(self.population, state.n_blocks) or state.n_blocks > self.block_room:
                self.make_room(further=state.n_blocks)
            set_particle(self.lik, self.population, p, state.labels, state.n_blocks, n)

    def outcome(self, log_correction: Any = 0.0) -> Run:
        """The particles with weights for the target; the run continues with its own weights."""
        annealed, correction = self.prior, self.log_ratio(self.target)
        self.prior = self.target
        run = super().outcome(correction)
        self.prior = annealed
        return run


class AnnealedSMC(ParticleSampler):
    """Sequential Monte Carlo with moves of the particles and an annealed target.

    On the path of the *items* the rows come in their order, as for `UrnSMC`. After each row, every
    particle redraws the clusters of a block of earlier rows by Gibbs updates. With `anneal` the
    prior's concentration starts high and decreases to its value. This lets clusters open that a
    small concentration would suppress. The weights are corrected at the end. On the path of the
    *temperature* all rows are present from the beginning, and the power of the likelihood grows
    from 0 to 1.

    Parameters
    ----------
    n_particles : int, default=100
    block_size : int, default=9
        Number of earlier rows to redraw after each new row, in turn. The new row is redrawn too.
    anneal : bool, default=True
        If False, the concentration keeps its value (SMC-G of the reference).
    rate : float, default=0.01
        The share of the remaining difference by which the concentration changes per row.
    start : float, default=1.0
        Initial concentration. The concentration is the first parameter of the prior: alpha, tau,
        gamma or concentration.
    path : {"items", "temperature"}, default="items"
    move : Sampler or None, default=None
        Sampler that moves the particles instead. On the path of the items it makes one iteration
        per row, on that of the temperature `n_moves` iterations per temperature (None: of
        `SplitMerge`, because Gibbs sweeps alone leave separate clusters together; of `Gibbs` where
        the likelihood does not support splits).
    temperatures : "adaptive" or array, default="adaptive"
        Increasing powers of the likelihood that end with 1. "adaptive": each is the highest power
        at which the particles keep the relative effective sample size `resample_threshold`.
    n_moves : int, default=1
        Iterations of `move` per temperature.
    waste_free : int or None, default=None
        If given, only n_particles / waste_free particles are resampled at each temperature. Each
        starts a chain of `waste_free` states, `n_moves` iterations apart. All these states are
        particles.
    resample_threshold : float, default=0.8
        As for `UrnSMC`.
    resampling : {"systematic", "stratified", "multinomial"}, default="systematic"

    Notes
    -----
    The estimate of the evidence is unbiased, except with adaptive temperatures, where it is
    consistent. On the path of the temperature hyper-parameters of the prior and of the likelihood
    are sampled: every particle has its own values, and the evidence integrates over their
    hyper-priors. On the path of the items they must be fixed. There ``"auto"`` means 1.0 for the
    prior and the guess from the data for the likelihood.
    `continue_fit` is not available. `partial_fit` is, on the path of the items.

    References
    ----------
    Ulker, Y. and Gunsel, B. (2010). Annealed SMC samplers for Dirichlet process mixture models.
    Proceedings of ICPR (the annealed concentration).

    Ulker, Y., Gunsel, B. and Cemgil, A. T. (2010). Sequential Monte Carlo samplers for Dirichlet
    process mixtures. Proceedings of AISTATS, 876-883 (the particles that redraw a block of rows;
    ``anneal=False``).

    Dau, H.-D. and Chopin, N. (2022). Waste-free sequential Monte Carlo. Journal of the Royal
    Statistical Society B 84, 114-148.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(alpha=0.1, sampler="annealed_smc", random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    def __init__(
        self,
        *,
        n_particles: int = 100,
        block_size: int = 9,
        anneal: bool = True,
        rate: float = 0.01,
        start: float = 1.0,
        path: str = "items",
        move: Any = None,
        temperatures: Any = "adaptive",
        n_moves: int = 1,
        waste_free: int | None = None,
        resample_threshold: float = 0.8,
        resampling: str = "systematic",
    ):
        self.n_particles = n_particles
        self.block_size = block_size
        self.anneal = anneal
        self.rate = rate
        self.start = start
        self.path = path
        self.move = move
        self.temperatures = temperatures
        self.n_moves = n_moves
        self.waste_free = waste_free
        self.resample_threshold = resample_threshold
        self.resampling = resampling

    @classmethod
    def examples(cls) -> list[AnnealedSMC]:
        """Both paths, with and without annealing, small blocks, other moves, waste-free."""
        powers: Any = {"path": "temperature", "temperatures": [0.1, 0.3, 0.6, 1.0]}
        return [
            cls(n_particles=8, rate=0.3),
            cls(n_particles=8, anneal=False, block_size=2, resampling="stratified"),
            cls(n_particles=8, rate=0.2, start=2.0, block_size=1, resample_threshold=0.0),
            cls(n_particles=4, rate=0.3, move=Gibbs(), resampling="multinomial"),
            cls(n_particles=16, **powers),
            cls(n_particles=32, waste_free=4, resampling="multinomial", **powers),
        ]

    @property
    def remedy(self) -> str:
        """What to do if runs disagree."""
        moves = "n_moves" if self._is_tempered else "block_size"
        return Message(MORE_PARTICLES, f" or {moves}")

    @property
    def requires(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the move
        """Operations that the filter, its moves and the path need."""
        self._check_move()
        if self._is_tempered:
            return ("log_likelihood", *(self.move or Gibbs()).requires)
        needed = "clear add copy rename remove log_predictive log_predictive_without"
        further = () if self.move is None else self.move.requires
        return (*needed.split(), "log_predictive_all", "log_marginal", *further)

    @property
    def _is_tempered(self) -> bool:
        return isinstance(self.path, str) and self.path == "temperature"

    @property
    def _anneals(self) -> bool:
        if not isinstance(self.anneal, (bool, np.bool_)):
            raise TypeError(f"anneal must be True or False, got {shown(self.anneal)}.")
        return bool(self.anneal)

    @property
    def carries_learned(self) -> bool:
        """Whether particles carry learned hyper-parameters; only those of one path move them."""
        return self._is_tempered

    def checked(self, prior: Any) -> Any:
        """The prior that this sampler will use; only one path samples hyper-priors."""
        if self._is_tempered:
            return prior
        if self._anneals and not prior.hyper:
            raise ValueError(
                f"AnnealedSMC with {prior!r} has no parameter to anneal: set anneal to False, or "
                "path to 'temperature'."
            )
        return super().checked(prior)

    def run(
        self,
        bound: Any,
        prior: Any,
        n_items: int,
        rng: np.random.Generator,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Run:
        """Make one run over all items, or through all temperatures."""
        self._validate()
        scheme, share = scheme_of(self.resampling), threshold_of(self.resample_threshold)
        if self._is_tempered:
            move = _default_move(bound) if self.move is None else self.move
            tempered = Tempered(bound, prior, n_items, rng, self.n_particles, move)
            powers = (
                None
                if isinstance(self.temperatures, str)
                else list(map(as_float, self.temperatures))
            )
            settings = powers, share, scheme, self.n_moves, self.waste_free
            return tempered.run_temperatures(*settings, should_stop)
        particles = self.filter(bound, prior, n_items, rng)
        particles.place_up_to(n_items, should_stop)
        return particles.outcome()

    def filter(
        self, bound: Any, prior: Any, n_items: int, rng: np.random.Generator
    ) -> AnnealedFilter:
        """Particles without items, on the path of the items."""
        rule = scheme_of(self.resampling), threshold_of(self.resample_threshold)
        particles = AnnealedFilter(bound, prior, self.n_particles, n_items, rule, rng)
        particles.rate = as_float(self.rate) if self._anneals else 0.0
        particles.start, particles.block_size = as_float(self.start), self.block_size
        particles.move = self.move
        particles.start_annealing()
        return particles

    def resume(
        self, run: Run, bound: Any, n_items: int, should_stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Continue with the items that were added."""
        if run.state is None:
            return super().resume(run, bound, n_items, should_stop)
        run.state.rebind(bound, n_items)
        run.state.place_up_to(n_items, should_stop)
        return run.state.outcome()

    def _validate(self) -> None:
        """Raise an error for the first invalid setting."""
        whole("n_particles", self.n_particles, 1)
        whole("block_size", self.block_size, 0)
        whole("n_moves", self.n_moves, 1)
        number_between("rate", self.rate, 0.0, 1.0, closed=True)
        if not 0.0 < as_float(self.start) < np.inf:
            raise ValueError(f"start must be positive and finite, got {shown(self.start)}.")
        code("path", self.path, dict.fromkeys(PATHS))
        self._check_move()
        if self.waste_free is not None:
            length = whole("waste_free", self.waste_free, 2)
            if self.n_particles % length:
                raise ValueError(
                    f"n_particles={self.n_particles} must be a multiple of waste_free={length}."
                )
        if not _adaptive(self.temperatures) and not _rises_to_one(self.temperatures):
            raise ValueError(
                "temperatures must be 'adaptive' or an increasing list of powers above 0 that ends "
                f"with 1, got {shown(self.temperatures)}."
            )

    def _check_move(self) -> None:
        if self.move is not None and (not isinstance(self.move, Sampler) or self.move.weighted):
            raise TypeError(f"move must be None or a sampler such as Gibbs(), got {self.move!r}.")


def _default_move(bound: Any) -> Sampler:
    from bnpcluster.samplers.registry import SAMPLERS  # which imports this file

    best = SAMPLERS["split_merge"]
    return best() if can_sample(best, bound) else Gibbs()


def _adaptive(temperatures: Any) -> bool:
    return isinstance(temperatures, str) and temperatures == "adaptive"


def _rises_to_one(temperatures: Any) -> bool:
    is_list = isinstance(temperatures, (list, tuple)) or np.shape(temperatures) != ()
    powers = np.array([0.0, *map(as_float, temperatures)]) if is_list else np.zeros(1)
    return bool(powers[-1] == 1.0 and (np.diff(powers) > 0.0).all())

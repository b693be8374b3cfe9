"""Run the chains of a fit: warm-up, thinning, rounds, stops; each chain is a picklable object."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from bnpcluster._core.state import State, Stopped
from bnpcluster._fitting.stop import Stop, interruptible
from bnpcluster._fitting.workers import SharedData
from bnpcluster.priors import Prior
from bnpcluster.samplers import Sampler
from bnpcluster.samplers.archive import Archive

BOUNDARY = 50
"""Iterations between two rebuilds of all statistics, which every fit makes at the same places."""

MEETING = 10
"""Iterations between two meetings of chains that learn from one another; it divides BOUNDARY."""

LONG_ROUND = 2.0
"""Seconds after which rounds get shorter: workers elsewhere hear of an interrupt between them."""

LONGEST_HISTORY = 256
"""A chain shares at most about so many of its states, evenly spaced."""


@dataclass
class Schedule:
    """How long chains run: `n_warmup` iterations, then a draw every `thin` of them."""

    n_draws: int
    n_warmup: int
    thin: int

    @property
    def n_iterations(self) -> int:
        """Iterations of one chain in all."""
        return self.n_warmup + self.n_draws * self.thin

    def kept(self, iteration: int) -> bool:
        """Whether the state after this iteration (counted from 1) is a draw."""
        after = iteration - self.n_warmup
        return after > 0 and after % self.thin == 0


class Snapshot(NamedTuple):
    """All that decides how a chain goes on, and how many draws it had by then."""

    labels: np.ndarray
    prior: Prior
    generator: Any
    iteration: int
    n_draws: int
    counts: Counter
    tuning: dict[str, float]
    history: dict[int, np.ndarray]
    latent: np.ndarray | None = None


@dataclass
class Chain:
    """One chain between two rounds: where it stands, its last boundary, and the draws so far."""

    labels: np.ndarray
    prior: Prior
    rng: np.random.Generator
    iteration: int = 0
    draws: list[np.ndarray] = field(default_factory=list)
    latent: np.ndarray | None = None  # missing entries, if the likelihood moves them
    latent_draws: list[np.ndarray] = field(default_factory=list)
    traces: list[dict[str, float]] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    tuning: dict[str, float] = field(default_factory=dict)
    history: dict[int, np.ndarray] = field(default_factory=dict)  # what it shares, by iteration
    log_posterior: float = math.nan  # at the end of the last round
    seconds: float = 0.0
    finished: bool = False
    boundary: Snapshot | None = None
    n_before: int = 0  # draws that stayed where the chain came from

    def snapshot(self) -> Snapshot:
        """Where the chain stands."""
        state = self.rng.bit_generator.state
        return Snapshot(
            self.labels.copy(),
            self.prior,
            state,
            self.iteration,
            self.n_before + len(self.draws),
            self.counts.copy(),
            self.tuning.copy(),
            self.history.copy(),
            self.latent,
        )

    def without_draws(self) -> Chain:
        """The chain as it goes to a worker: its draws need not travel."""
        return replace(self, draws=[], latent_draws=[], traces=[], n_before=len(self.draws))

    def continued_by(self, later: Chain) -> Chain:
        """The same chain as it came back, with all its draws."""
        kept = {
            name: getattr(self, name) + getattr(later, name)
            for name in ("draws", "latent_draws", "traces")
        }
        return replace(later, **kept, n_before=0)

    def append_draw(self, state: State) -> None:
        """Append the state to the draws."""
        n_blocks, values = state.n_blocks, state.prior.values
        self.draws.append(compact_labels(state))
        latent = state.latent
        if latent is not None:
            self.latent_draws.append(latent)
        traces = {name: values[name] for name in state.prior.sampled}
        traces["n_clusters"] = n_blocks
        traces["log_posterior"] = log_posterior(state)
        self.traces.append(traces)

    def append_history(self, state: State) -> None:
        """Share the state with the other chains; of a long history, evenly spaced states."""
        if self.iteration % history_spacing(self.iteration) == 0:
            self.history[self.iteration] = compact_labels(state)

    def trim_history(self) -> None:
        """Keep the second half of the history alone."""
        now = max(self.history, default=0)
        for then in [t for t in self.history if t <= now // 2 or t % history_spacing(now)]:
            del self.history[then]


def log_posterior(state: State) -> float:
    """log p(data, partition, hyper-parameters)"""
    return state.log_joint() + state.prior.log_hyper_density()


def compact_labels(state: State) -> np.ndarray:
    """The labels, in the smallest type that holds them."""
    n_blocks = state.n_blocks
    small = np.uint8 if n_blocks <= 256 else np.uint16 if n_blocks <= 65_536 else np.uint32
    return state.labels.astype(small)


def history_spacing(iteration: int) -> int:
    """Iterations between two states of the history, so that its second half is short enough."""
    return 1 << max(0, (iteration // 2 - 1) // LONGEST_HISTORY).bit_length()


def iterate(chain: Chain, state: State, sampler: Sampler, schedule: Schedule) -> None:
    """One iteration, and all that is kept of it."""
    every = chain.prior.update_every if chain.prior.sampled else 0
    warm_up = chain.iteration < schedule.n_warmup
    state.adapting = warm_up
    chain.counts.update(sampler.step(state, chain.rng))
    if every and chain.iteration % every == 0:
        state.set_prior(state.prior.update(state.sizes, state.n_items, chain.rng))
    state.move_latent(chain.rng)
    chain.iteration += 1
    if chain.iteration % BOUNDARY == 0:
        state.rebuild()
    if schedule.kept(chain.iteration):
        chain.append_draw(state)
    if sampler.learns_from == "adaptive" or (sampler.learns_from == "frozen" and warm_up):
        chain.append_history(state)
    if chain.iteration % BOUNDARY == 0 and sampler.learns_from is None:
        chain.labels, chain.prior, chain.latent = state.labels, state.prior, state.latent
        chain.boundary = chain.snapshot()


def advance(
    chain: Chain,
    bound: Any,
    sampler: Sampler,
    schedule: Schedule,
    until: int,
    stop: Stop,
    archive: Archive | None = None,
) -> Chain:
    """Run a chain to iteration `until` or until it is asked to stop; 0: only keep where it is."""
    begin = time.perf_counter()
    state = start_round(chain, bound, stop)
    state.archive = archive
    try:
        while chain.iteration < until and not stop():
            iterate(chain, state, sampler, schedule)
    except Stopped:
        # A sweep cut short is no iteration, but its last state is as good a state as any.
        pass
    if until == 0:
        chain.append_draw(state)
    return end_round(chain, state, schedule, begin)


def start_round(chain: Chain, bound: Any, stop: Stop) -> State:
    """The state of a chain that goes on."""
    state = State(bound, chain.prior, chain.labels, should_stop=stop)
    state.tuning = chain.tuning
    if chain.latent is not None:
        state.set_latent(chain.latent)
    if chain.boundary is None:
        chain.boundary = chain.snapshot()
    return state


def end_round(chain: Chain, state: State, schedule: Schedule, begin: float) -> Chain:
    """The chain after a round that began at the time `begin`."""
    chain.labels, chain.prior, chain.latent = state.labels.copy(), state.prior, state.latent
    chain.log_posterior = log_posterior(state)
    chain.finished = chain.iteration >= schedule.n_iterations
    chain.seconds += time.perf_counter() - begin
    return chain


def advance_in_turn(
    chains: list[Chain], bound: Any, sampler: Sampler, schedule: Schedule, until: int, stop: Stop
) -> list[Chain]:
    """Run chains that see one another's current states: one iteration of each after the other.

    If all moved at once, from states the others are about to leave, the posterior would not be
    invariant.
    """
    begin = time.perf_counter()
    states = [start_round(chain, bound, stop) for chain in chains]
    try:
        while chains[-1].iteration < until and not stop():
            for c, chain in enumerate(chains):
                others = states[:c] + states[c + 1 :]
                states[c].archive = Archive([[state.labels] for state in others], -1)
                iterate(chain, states[c], sampler, schedule)
    except Stopped:
        pass
    return [end_round(c, s, schedule, begin) for c, s in zip(chains, states, strict=True)]


def advance_all(
    chains: list[Chain],
    data: SharedData,
    sampler: Sampler,
    schedule: Schedule,
    until: int,
    stop: Stop,
    parallel: Parallel,
) -> list[Chain]:
    """Run all chains to iteration `until`, with meetings where they learn from one another."""
    if sampler.learns_from == "ensemble":
        return advance_in_turn(chains, data.content, sampler, schedule, until, stop)
    if sampler.learns_from is None:
        tasks = [(chain, data, sampler, schedule, until, stop) for chain in chains]
        return advance_parallel(parallel, tasks, data)
    start = min(chain.iteration for chain in chains)
    for meeting in [*range((start // MEETING + 1) * MEETING, until, MEETING), until]:
        histories = [list(chain.history.values()) for chain in chains]
        learning = [
            (chain, data, sampler, schedule, meeting, stop, Archive(histories, c))
            for c, chain in enumerate(chains)
        ]
        chains = advance_parallel(parallel, learning, data)
        if stop():
            break
        for chain in chains:
            chain.trim_history()
    return chains


def advance_parallel(parallel: Parallel, tasks: Sequence[tuple], data: SharedData) -> list[Chain]:
    """The chains as `advance` leaves them, wherever that is.

    A worker that joined late, or was started anew, says that it lacks the data, and gets them.
    """
    done = parallel(delayed(advance_in_worker)(*task) for task in tasks)
    lacking = [task for task, chain in zip(tasks, done, strict=True) if chain is None]
    if lacking:
        data.sent = False
        again = iter(parallel(delayed(advance_in_worker)(*task) for task in lacking))
        done = [next(again) if chain is None else chain for chain in done]
    data.sent = True
    return done


def advance_in_worker(
    chain: Chain,
    data: SharedData,
    sampler: Sampler,
    schedule: Schedule,
    until: int,
    stop: Stop,
    archive: Archive | None = None,
) -> Chain | None:
    """`advance` in whatever process; None if the data are not there."""
    if data.content is None:
        return None
    with interruptible(stop):  # Ctrl-C in a terminal reaches the workers, too
        return advance(chain, data.content, sampler, schedule, until, stop, archive)


def run_chains(
    chains: list[Chain],
    bound: Any,
    sampler: Sampler,
    schedule: Schedule,
    *,
    n_jobs: int | None = None,
    stop: Stop,
    round_length: int | None = None,
    after_round: Callable[[list[Chain]], None] = lambda chains: None,
) -> list[Chain]:
    """Run all chains to the end of the schedule, `round_length` iterations at a time.

    Rounds end at boundaries only, so that how many there are changes no result. After each of them
    `after_round` sees the chains (progress, checkpoints).
    """
    check_learning(sampler, schedule, len(chains))
    data = SharedData(bound)
    # One pool for all rounds: with some backends a worker takes seconds to start.
    with interruptible(stop), Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        start = min(chain.iteration for chain in chains)  # stopped chains resume where each was
        for until in _round_ends(start, schedule.n_iterations, round_length):
            try:
                stop.returned.clear()
                light = [chain.without_draws() for chain in chains]
                later = advance_all(light, data, sampler, schedule, until, stop, parallel)
                chains = [chain.continued_by(c) for chain, c in zip(chains, later, strict=True)]
            except (BrokenProcessPool, KeyboardInterrupt) as error:
                # Ctrl-C in a terminal may kill workers, too: what was drawn before is here.
                broken = isinstance(error, BrokenProcessPool)
                if not (stop.requested.is_set() if broken else stop.given_up):
                    raise
            except BaseException:
                stop.requested.set()  # the other chains need not go on
                raise
            finally:
                stop.returned.set()
            if sampler.learns_from and all(chain.iteration == until for chain in chains):
                # A place to resume from is one that all have reached: they share their pasts.
                for chain in chains:
                    chain.boundary = chain.snapshot()
            after_round(chains)
            if stop():
                break
    # Chains stopped in warm-up have no draw yet: their current state is kept as the one draw.
    return [c if c.draws else advance(c, bound, sampler, schedule, 0, stop) for c in chains]


def check_learning(sampler: Sampler, schedule: Schedule, n_chains: int) -> None:
    """Raise one sentence if chains could not learn from one another as the sampler asks."""
    if sampler.learns_from == "ensemble" and n_chains < 3:
        raise ValueError(f"archive='ensemble' takes three chains or more: n_chains is {n_chains}.")
    if sampler.learns_from == "frozen" and schedule.n_warmup == 0:
        raise ValueError(
            "The archive of the sampler is built during warm-up, so n_warmup must be positive; "
            "sampler='gibbs' needs none."
        )


def _round_ends(start: int, total: int, longest: int | None) -> Iterator[int]:
    """The iterations at which rounds end: boundaries, close to one another at first."""
    longest = total if longest is None else max(BOUNDARY, longest // BOUNDARY * BOUNDARY)
    length = longest if longest == total else BOUNDARY
    while start < total:
        begin = time.monotonic()
        start = min((start // BOUNDARY * BOUNDARY) + length, total)
        yield start
        slow = time.monotonic() - begin > LONG_ROUND
        length = length // 2 // BOUNDARY * BOUNDARY if slow else 2 * length
        length = min(max(length, BOUNDARY), longest)


def warm_up_kernels(chain: Chain, bound: Any, sampler: Sampler) -> None:
    """Compile what a chain needs, on a few items, so that no clock counts it."""
    labels = np.full(len(chain.labels), -1)
    labels[:4] = 0
    state = State(bound, chain.prior, labels)
    state.archive = Archive([[labels, np.where(np.arange(len(labels)) == 0, 1, labels)]], 0)
    sampler.step(state, np.random.default_rng(0))
    state.move_latent(np.random.default_rng(0))
    state.log_joint()
    state.rebuild()
    values = {name: 0.9 * value for name, value in state.prior.values.items()}
    state.set_prior(state.prior.at(**{name: values[name] for name in state.prior.sampled}))


def stats(chains: list[Chain]) -> dict[str, Any]:
    """Counts of moves by chain, and the seconds each chain took."""
    names = sorted({name for chain in chains for name in chain.counts})
    result: dict[str, Any] = {name: [chain.counts[name] for chain in chains] for name in names}
    result["seconds"] = [chain.seconds for chain in chains]
    result["iterations"] = [chain.iteration for chain in chains]
    return result

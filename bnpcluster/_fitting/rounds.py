"""Run the chains of a fit: warm-up, thinning, rounds, stops. Chains are picklable objects."""

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
from bnpcluster._fitting.followed import Followed
from bnpcluster._fitting.lengths import Lengths, Schedule
from bnpcluster._fitting.stop import Stop, interruptible, watched
from bnpcluster._fitting.workers import SharedData
from bnpcluster.priors import Prior
from bnpcluster.samplers import Sampler
from bnpcluster.samplers.archive import Archive

BOUNDARY = 50
"""Iterations between two rebuilds of all statistics; they are the same in every fit."""

MEETING = 10
"""Iterations between two meetings of chains that learn from one another; a divisor of BOUNDARY."""

LONG_ROUND = 2.0
"""Seconds after which rounds get shorter: other processes notice an interrupt only between them."""

LONGEST_HISTORY = 256
"""A chain shares at most about this many of its states, evenly spaced."""


KEPT = ("draws", "latent_draws", "learned_draws", "traces", "early")
"""What a chain keeps of every draw, and of every iteration before them."""


class Snapshot(NamedTuple):
    """Everything that determines how a chain continues, and how much it has kept so far."""

    labels: np.ndarray
    prior: Prior
    generator: Any
    iteration: int
    n_draws: int
    n_early: int
    counts: Counter
    tuning: dict[str, float]
    history: dict[int, np.ndarray]
    latent: np.ndarray | None = None
    learned: np.ndarray | None = None
    guide: np.ndarray | None = None


@dataclass
class Chain:
    """One chain between two rounds: its current state, its last boundary, and the draws so far."""

    labels: np.ndarray
    prior: Prior
    rng: np.random.Generator
    iteration: int = 0
    draws: list[np.ndarray] = field(default_factory=list)
    latent: np.ndarray | None = None  # missing entries, if the likelihood samples them
    latent_draws: list[np.ndarray] = field(default_factory=list)
    learned: np.ndarray | None = None  # hyper-parameters of the likelihood, if it learns them
    learned_draws: list[np.ndarray] = field(default_factory=list)
    traces: list[dict[str, float]] = field(default_factory=list)
    early: list[np.ndarray] = field(default_factory=list)  # what was followed during warm-up
    counts: Counter = field(default_factory=Counter)
    tuning: dict[str, float] = field(default_factory=dict)
    guide: np.ndarray | None = None  # a table that the sampler has made in warm-up
    history: dict[int, np.ndarray] = field(default_factory=dict)  # shared states, by iteration
    log_posterior: float = math.nan  # at the end of the last round
    seconds: float = 0.0
    finished: bool = False
    boundary: Snapshot | None = None
    n_before: int = 0  # draws that stayed in the parent process
    n_early_before: int = 0  # iterations of warm-up that stayed there

    def snapshot(self) -> Snapshot:
        """The current state, to resume from."""
        state = self.rng.bit_generator.state
        return Snapshot(
            self.labels.copy(),
            self.prior,
            state,
            self.iteration,
            self.n_before + len(self.draws),
            self.n_early_before + len(self.early),
            self.counts.copy(),
            self.tuning.copy(),
            self.history.copy(),
            self.latent,
            self.learned,
            self.guide,
        )

    def without_draws(self) -> Chain:
        """The chain to send to a worker, which does not need the draws."""
        empty: dict[str, Any] = {name: [] for name in KEPT}
        n, n_early = len(self.draws), len(self.early)
        return replace(self, **empty, n_before=n, n_early_before=n_early)

    def continued_by(self, later: Chain) -> Chain:
        """The chain `later` that a worker returned, with the draws of this one before its own."""
        kept = {name: getattr(self, name) + getattr(later, name) for name in KEPT}
        return replace(later, **kept, n_before=0, n_early_before=0)

    def append_draw(self, state: State, followed: Followed | None = None) -> None:
        """Append the state to the draws."""
        n_blocks, values = state.n_blocks, state.prior.values
        self.draws.append(compact_labels(state))
        latent, learned = state.latent, state.learned
        if latent is not None:
            self.latent_draws.append(latent)
        if learned is not None:
            self.learned_draws.append(learned)
        traces = {name: values[name] for name in state.prior.sampled}
        traces.update(state.traces_learned())
        traces["n_clusters"] = n_blocks
        traces["log_posterior"] = state.log_posterior()
        if followed is not None:
            traces.update(followed.density(state))
        self.traces.append(traces)

    def copy_state(self, state: State) -> None:
        """Make the state the current one."""
        self.labels, self.prior = state.labels.copy(), state.prior
        self.latent, self.learned = state.latent, state.learned
        self.guide = state.guide

    def append_history(self, state: State) -> None:
        """Append the state to the history, if its iteration is one to share."""
        if self.iteration % history_spacing(self.iteration) == 0:
            self.history[self.iteration] = compact_labels(state)

    def trim_history(self) -> None:
        """Keep only the second half of the history, at the current spacing."""
        now = max(self.history, default=0)
        for then in [t for t in self.history if t <= now // 2 or t % history_spacing(now)]:
            del self.history[then]


def compact_labels(state: State) -> np.ndarray:
    """The labels, in the smallest type that can represent them."""
    n_blocks = state.n_blocks
    small = np.uint8 if n_blocks <= 256 else np.uint16 if n_blocks <= 65_536 else np.uint32
    return state.labels.astype(small)


def history_spacing(iteration: int) -> int:
    """Iterations between two states of the history, so that its second half is short enough."""
    return 1 << max(0, (iteration // 2 - 1) // LONGEST_HISTORY).bit_length()


def iterate(chain: Chain, state: State, sampler: Sampler, schedule: Schedule) -> None:
    """Run one iteration, and keep its draw, history and boundary."""
    every = chain.prior.update_every if chain.prior.sampled else 0
    warm_up = chain.iteration < schedule.n_warmup
    state.adapting = warm_up
    chain.counts.update(sampler.step(state, chain.rng))
    if every and chain.iteration % every == 0:
        state.set_prior(state.prior.update(state.sizes, state.n_items, chain.rng))
    if chain.iteration % schedule.learn_every == 0:
        state.move_learned(chain.rng)
    state.move_latent(chain.rng)
    chain.iteration += 1
    if chain.iteration % BOUNDARY == 0:
        state.rebuild()
    if schedule.kept(chain.iteration):
        chain.append_draw(state, schedule.followed)
    elif schedule.is_open and schedule.followed is not None:
        chain.early.append(schedule.followed.of_state(state))
    if sampler.learns_from == "adaptive" or (sampler.learns_from == "frozen" and warm_up):
        chain.append_history(state)
    if chain.iteration % BOUNDARY == 0 and sampler.learns_from is None:
        chain.copy_state(state)
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
    """Run a chain to iteration `until` or until `stop`; 0: only keep the current state."""
    begin = time.perf_counter()
    state = start_round(chain, bound, stop)
    state.archive = archive
    try:
        while chain.iteration < until and not stop():
            iterate(chain, state, sampler, schedule)
    except Stopped:
        # An interrupted sweep is not an iteration, but its last state is still a valid state.
        pass
    if until == 0:
        chain.append_draw(state, schedule.followed)
    return end_round(chain, state, schedule, begin)


def start_round(chain: Chain, bound: Any, stop: Stop) -> State:
    """The state of a chain at the start of a round."""
    state = State(bound, chain.prior, chain.labels, should_stop=stop)
    state.tuning = chain.tuning
    state.guide = chain.guide
    if chain.learned is not None:
        state.set_learned(chain.learned)
    if chain.latent is not None:
        state.set_latent(chain.latent)
    if chain.boundary is None:
        chain.boundary = chain.snapshot()
    return state


def end_round(chain: Chain, state: State, schedule: Schedule, begin: float) -> Chain:
    """The chain after a round that started at the time `begin`."""
    chain.copy_state(state)
    chain.log_posterior = state.log_posterior()
    chain.finished = chain.iteration >= schedule.n_iterations
    chain.seconds += time.perf_counter() - begin
    return chain


def advance_in_turn(
    chains: list[Chain], bound: Any, sampler: Sampler, schedule: Schedule, until: int, stop: Stop
) -> list[Chain]:
    """Run chains that use one another's current states: one iteration of each chain in turn.

    If all chains moved simultaneously, the posterior would not be invariant.
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
    """Run all chains to iteration `until`, with meetings if they learn from one another."""
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
    """Run `advance` on all chains in parallel.

    A worker that joined late or was restarted has no data; its tasks are submitted again with them.
    """
    done = parallel(delayed(advance_in_worker)(*task) for task in tasks)
    missing = [task for task, chain in zip(tasks, done, strict=True) if chain is None]
    if missing:
        data.sent = False
        again = iter(parallel(delayed(advance_in_worker)(*task) for task in missing))
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
    """Run `advance` in a worker; None if the worker does not have the data."""
    if data.content is None:
        return None
    with interruptible(stop):  # Ctrl-C in a terminal also reaches the workers
        return advance(chain, data.content, sampler, schedule, until, stop, archive)


def run_chains(
    chains: list[Chain],
    bound: Any,
    sampler: Sampler,
    lengths: Lengths,
    *,
    n_jobs: int | None = None,
    stop: Stop,
    round_length: int | None = None,
    after_round: Callable[[list[Chain]], None] = lambda chains: None,
    after_loss: Callable[[list[Chain]], None] = lambda chains: None,
) -> list[Chain]:
    """Run all chains until they are long enough, `round_length` iterations at a time.

    Rounds end only at boundaries, so their number changes no result; rounds that decide about
    automatic lengths have lengths of their own. `after_round` is called with the chains after each
    round (progress, checkpoints). If an error ends the fit, `after_loss` is called with the chains
    of the last complete round.
    """
    check_learning(sampler, lengths.schedule, len(chains))
    data = SharedData(bound)

    def current() -> list[Chain]:
        return chains

    # One pool for all rounds: some backends take seconds to start a worker.
    with interruptible(stop), watched(stop), Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for until in round_ends(lengths, current, round_length):
            schedule = lengths.schedule
            try:
                stop.returned.clear()
                light = [chain.without_draws() for chain in chains]
                later = advance_all(light, data, sampler, schedule, until, stop, parallel)
                chains = [chain.continued_by(c) for chain, c in zip(chains, later, strict=True)]
            except (BrokenProcessPool, KeyboardInterrupt) as error:
                # Ctrl-C in a terminal may kill workers; earlier draws are in this process.
                broken = isinstance(error, BrokenProcessPool)
                if not (stop.requested.is_set() if broken else stop.given_up):
                    raise
            except BaseException:
                stop.requested.set()  # stop the other chains
                after_loss(chains)
                raise
            finally:
                stop.returned.set()
            if sampler.learns_from and all(chain.iteration == until for chain in chains):
                # All chains resume from the same iteration, because they share their histories.
                for chain in chains:
                    chain.boundary = chain.snapshot()
            lengths.judge(chains)
            after_round(chains)
            if stop():
                break
    # Chains stopped in warm-up have no draw: their current state becomes the only draw.
    schedule = lengths.schedule
    return [c if c.draws else advance(c, bound, sampler, schedule, 0, stop) for c in chains]


def check_learning(sampler: Sampler, schedule: Schedule, n_chains: int) -> None:
    """Raise an error if chains cannot learn from one another as the sampler requires."""
    if sampler.learns_from == "ensemble" and n_chains < 3:
        raise ValueError(f"archive='ensemble' needs at least 3 chains, got n_chains={n_chains}.")
    if sampler.learns_from == "frozen" and schedule.n_warmup == 0:
        raise ValueError(
            "The sampler builds its archive during warm-up, but n_warmup is 0: set n_warmup to a "
            "positive number, or use sampler='gibbs'."
        )


def round_ends(
    lengths: Lengths, chains: Callable[[], list[Chain]], longest: int | None
) -> Iterator[int]:
    """The iterations at which rounds end, as long as `chains()` are not long enough."""
    lengths.judge(chains())  # those that resume
    while (until := lengths.next_end()) is not None:
        yield until
    if lengths.is_fixed:
        start = min(chain.iteration for chain in chains())
        yield from _fixed_round_ends(start, lengths.schedule.n_iterations, longest)


def _fixed_round_ends(start: int, total: int, longest: int | None) -> Iterator[int]:
    """The ends of rounds of chains of known length. They are boundaries; the first are near."""
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
    """Compile the kernels of a chain on a few items, so that no time measured includes it."""
    labels = np.full(len(chain.labels), -1)
    labels[:4] = 0
    state = State(bound, chain.prior, labels)
    state.archive = Archive([[labels, np.where(np.arange(len(labels)) == 0, 1, labels)]], 0)
    sampler.step(state, np.random.default_rng(0))
    state.move_learned(np.random.default_rng(0))
    state.move_latent(np.random.default_rng(0))
    state.log_joint()
    state.rebuild()
    values = {name: 0.9 * value for name, value in state.prior.values.items()}
    state.set_prior(state.prior.at(**{name: values[name] for name in state.prior.sampled}))


def stats(chains: list[Chain]) -> dict[str, Any]:
    """Counts of moves, seconds and iterations, by chain."""
    names = sorted({name for chain in chains for name in chain.counts})
    result: dict[str, Any] = {name: [chain.counts[name] for chain in chains] for name in names}
    result["seconds"] = [chain.seconds for chain in chains]
    result["iterations"] = [chain.iteration for chain in chains]
    return result

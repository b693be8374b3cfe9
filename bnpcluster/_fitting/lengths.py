"""How long chains run: as many iterations as asked for, or until what users read has settled.

Automatic lengths are decided between rounds of a fixed number of iterations, from what all chains
have found so far and nothing else. So neither the number of jobs nor a resumption changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._fitting.followed import N_SHARES, Followed
from bnpcluster.diagnostics.agreement import largest_difference
from bnpcluster.diagnostics.standards import DIFFERENCE_LIMIT, plain_rhat, shortfall, varies

ROUND = 50
"""Iterations of a round of warm-up, and draws of a round of sampling."""

FIRST = 100
"""Least number of iterations of warm-up, and of draws."""

WARM_RHAT = 1.05
"""R-hat of the density at which warm-up ends: so few iterations reach 1.01 by luck only."""

PATIENCE, LONG_PATIENCE = 3, 6
"""Rounds without progress that end warm-up, and sampling: effective draws are hard to count."""

HOPELESS = 5.0
"""Sampling ends if, in PATIENCE rounds in a row, so many times `max_draws` would be too few."""


ENTRIES = 1700
"""With so many entries, an update of learned hyper-parameters costs about as much as a sweep."""

RAREST = 6
"""The largest number of iterations between two such updates."""


def learn_every(n_rows: int, n_columns: int) -> int:
    """Iterations between two updates of learned hyper-parameters, from the size of the data alone.

    The density follows these values, so an update in every iteration gives more effective draws.
    With many rows a sweep makes larger steps, and the updates may be rare.
    """
    return min(max(round(n_rows * n_columns / ENTRIES), 1), RAREST)


def were_cut(automatic: bool, n_draws: int, max_draws: int) -> bool:
    """Whether `max_draws` ended automatic chains. Otherwise raising it would change nothing."""
    return automatic and n_draws >= max_draws


class Asked(NamedTuple):
    """The parameters of an estimator about the length of its chains; "auto" is None."""

    n_draws: int | None
    n_warmup: int | None
    thin: int
    max_draws: int


class Schedule(NamedTuple):
    """The length of chains: `n_warmup` iterations, then a draw every `thin` iterations.

    Attributes
    ----------
    n_draws, n_warmup, thin : int
        Under automatic lengths, the largest numbers as far as they are known.
    is_open : bool
        Whether warm-up may end earlier. Its iterations are then followed.
    followed : Followed or None
        What to follow.
    learn_every : int
        Iterations between two updates of the learned hyper-parameters of the likelihood.
    """

    n_draws: int
    n_warmup: int
    thin: int
    is_open: bool = False
    followed: Followed | None = None
    learn_every: int = 1

    @property
    def n_iterations(self) -> int:
        """Total number of iterations of a chain."""
        return self.n_warmup + self.n_draws * self.thin

    def kept(self, iteration: int) -> bool:
        """Whether the state after this iteration (counted from 1) is a draw."""
        after = iteration - self.n_warmup
        return after > 0 and after % self.thin == 0


class Lengths:
    """Decides when warm-up and sampling end.

    Parameters
    ----------
    asked : Asked
        The lengths that were asked for.
    followed : Followed or None
        What to follow.
    shape : tuple of int
        The shape of the data.

    Attributes
    ----------
    schedule : Schedule
        What is known so far.
    finished : bool
        Whether automatic sampling has ended.
    """

    def __init__(
        self, asked: Asked, followed: Followed | None = None, shape: tuple[int, ...] = (1, 1)
    ):
        self.automatic = asked.n_draws is None
        self._most_draws = asked.max_draws
        n_draws = asked.max_draws if asked.n_draws is None else asked.n_draws
        longest = max(FIRST, asked.max_draws // 2 // ROUND * ROUND)
        is_open = asked.n_warmup is None
        n_warmup = longest if asked.n_warmup is None else asked.n_warmup
        every = learn_every(*shape)
        self.schedule = Schedule(n_draws, n_warmup, asked.thin, is_open, followed, every)
        self.finished = False
        self._judged = 0  # iterations that were judged
        self._shortfalls: list[float] = []  # of the rounds of this phase
        self._rows: list[list[np.ndarray]] = []  # what was followed of the draws, by chain

    @property
    def is_fixed(self) -> bool:
        """Whether nothing is left to decide."""
        return not (self.schedule.is_open or self.automatic)

    def limit(self, n_draws: int) -> str:
        """The parameter that gives longer chains than these."""
        return "max_draws" if were_cut(self.automatic, n_draws, self._most_draws) else "n_draws"

    def is_over(self, chains: Sequence[Any]) -> bool:
        """Whether the chains are as long as they should be."""
        return self.finished or all(c.iteration >= self.schedule.n_iterations for c in chains)

    def judge(self, chains: Sequence[Any]) -> None:
        """Judge all rounds that the chains have completed, in order, also after a resumption."""
        done = min(chain.iteration for chain in chains)
        while (until := self.next_end()) is not None and until <= done:
            self._judged = until
            if until <= self.schedule.n_warmup:
                self._judge_warmup(chains)
            else:
                self._judge_draws(chains)

    def next_end(self) -> int | None:
        """The iteration at which the next round ends; None if there is nothing left to decide."""
        return None if self.finished or self.is_fixed else self._end_of_round()

    def _end_of_round(self) -> int:
        schedule = self.schedule
        if self._judged < schedule.n_warmup:
            return min(self._judged + ROUND, schedule.n_warmup)
        return min(self._judged + ROUND * schedule.thin, schedule.n_iterations)

    def _judge_warmup(self, chains: Sequence[Any]) -> None:
        """End warm-up if its second half looks stationary, gets no better, or is long enough."""
        over = self._judged == self.schedule.n_warmup
        if not over and self._judged >= FIRST:
            assert self.schedule.followed is not None
            early = np.array([c.early[self._judged // 2 : self._judged] for c in chains])
            self._shortfalls.append(_unrest(early, len(self.schedule.followed.pairs)))
            over = self._shortfalls[-1] <= 1 or self._has_stalled(PATIENCE)
        if over:
            self.schedule = self.schedule._replace(n_warmup=self._judged, is_open=False)
            self._shortfalls = []

    def _judge_draws(self, chains: Sequence[Any]) -> None:
        """End sampling if the draws have settled, get no better, or are as many as allowed."""
        schedule = self.schedule
        n_draws = (self._judged - schedule.n_warmup) // schedule.thin
        over = self._judged >= schedule.n_iterations
        if not over and n_draws >= FIRST:
            self._shortfalls.append(shortfall(*self._of_draws(chains, n_draws)))
            over = self._shortfalls[-1] <= 1 or self._has_stalled(LONG_PATIENCE)
            over = over or self._is_hopeless(n_draws)
        if over:
            self.schedule = schedule._replace(n_draws=n_draws)
            self.finished = True

    def _of_draws(
        self, chains: Sequence[Any], n_draws: int
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """The density, other scalars, and whether pairs are together, over the first draws."""
        followed = self.schedule.followed
        assert followed is not None
        self._rows = self._rows or [[] for _ in chains]
        for chain, rows in zip(chains, self._rows, strict=True):
            rows += [followed.of_labels(draw) for draw in chain.draws[len(rows) : n_draws]]
        labels = np.array(self._rows)
        level = "log_density" if len(followed.rows) else "log_posterior"
        names = (level, *chains[0].prior.sampled)
        first, *others = (
            np.array([[row[k] for row in c.traces[:n_draws]] for c in chains]) for k in names
        )
        others += list(np.moveaxis(labels[:, :, :N_SHARES], 2, 0))
        return first, others, labels[:, :, N_SHARES:]

    def _has_stalled(self, patience: int) -> bool:
        """Whether the last rounds were no better than the one before them."""
        if len(self._shortfalls) <= patience:
            return False
        before, *last = self._shortfalls[-patience - 1 :]
        return min(last) >= before

    def _is_hopeless(self, n_draws: int) -> bool:
        """Whether the end is out of reach: at best, a shortfall is inverse to the number of draws.

        Chains that sit in different modes would otherwise run to `max_draws` for nothing.
        """
        last = self._shortfalls[-PATIENCE:]
        numbers = n_draws - ROUND * np.arange(len(last))[::-1]
        needed = HOPELESS * self._most_draws
        return len(last) == PATIENCE and bool((numbers * last > needed).all())


def _unrest(early: np.ndarray, n_pairs: int) -> float:
    """How far some iterations of warm-up, (chains, iterations, followed), are from stationary.

    The density and the pairs decide. Other quantities may mix slowly: draws will show it.
    """
    level, together = early[:, :, 0], early[:, :, early.shape[2] - n_pairs :]
    gap = (plain_rhat(level) - 1.0) / (WARM_RHAT - 1.0) if varies(level) else 0.0
    return max(gap, largest_difference(together).beyond / DIFFERENCE_LIMIT)

"""What the samplers of the split-merge family share: moves, then Gibbs sweeps, and how many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bnpcluster._core.arguments import code, whole
from bnpcluster._core.operations import n_coordinates
from bnpcluster._core.state import State
from bnpcluster.samplers.base import Sampler, offers
from bnpcluster.samplers.gibbs import Gibbs, sweep
from bnpcluster.samplers.split_merge.informed_anchors import INFORMED, LAWS
from bnpcluster.samplers.split_merge.kernel import TALLY, Plan, Work, moves, new_work
from bnpcluster.samplers.split_merge.launches import LAUNCHES, METRIC

MOST_MOVES = 100
UNTUNED = 10  # moves per iteration where there was no warm-up to find a number
MEMORY = 50  # iterations over which warm-up averages what a move costs
IDLE = 20  # items: what a move costs that is given up before it touches the data
# A pass compares an item with two blocks and adds it to one; a sweep compares it with its own.
PASSES = 1.5
COLUMNS = 16  # with so many columns more, adding costs as much more as comparing once
# Over few items moves may cost as much as a sweep over this many, divided by the number of columns:
# they let small clusters come and go. An iteration takes about half as long again.
FEW = 2000
DISCRETE = 8  # columns that a likelihood without coordinates counts for


class SplitMergeSampler(Sampler):
    """Base class: `n_moves` moves of whole blocks, then `n_gibbs` Gibbs sweeps."""

    n_moves: Any
    n_gibbs: Any
    few = 0  # under "auto" moves cost as much as a sweep over at least so many items

    requires: tuple[str, ...] = (
        *Gibbs.requires,
        "log_predictive",
        "log_predictive_without",
        "log_marginal",
        "log_marginal_pair",
        "log_marginal_union",
        "withdraw",
        "restore",
    )

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """One iteration."""
        counts: dict[str, float] = {}
        n_gibbs = whole("n_gibbs", self.n_gibbs, 0)
        n_moves = self._how_many(state)
        if state.n_items > 1:
            counts = self._move(state, n_moves, rng)
            self._learn(state, counts.pop("work"), n_moves)
        for _ in range(n_gibbs):
            state.visit(sweep, rng)
        return {**counts, "sweeps": n_gibbs}

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        """Make so many moves; counts of them, and the `work` they took in items."""
        raise NotImplementedError(f"{type(self).__name__} must define _move(state, n_moves, rng).")

    def _how_many(self, state: State) -> int:
        """Moves of this iteration; under "auto" about as many as cost one Gibbs sweep.

        That is of `few` items at least.
        """
        if self.n_moves != "auto":
            return whole("n_moves", self.n_moves, 1)
        if "moves" not in state.tuning:
            return UNTUNED
        return round(state.tuning["moves"])

    def _learn(self, state: State, work: float, n_moves: int) -> None:
        """During warm-up, count what a move costs; the number of moves is frozen after it.

        It is found from counts, not from a clock, so that the same seed gives the same draws.
        """
        if not state.adapting or self.n_moves != "auto":
            return
        n_columns = n_coordinates(state.problem.likelihood)
        passes = PASSES + n_columns // COLUMNS
        enough = max(state.n_items, self.few // (n_columns or DISCRETE))
        tuning, cost = state.tuning, IDLE + passes * work / n_moves
        seen = tuning.get("seen", 0.0) + 1.0
        rate = 1.0 / min(seen, MEMORY)
        tuning["seen"] = seen
        tuning["cost"] = tuning.get("cost", cost) * (1.0 - rate) + rate * cost
        tuning["moves"] = min(max(enough / tuning["cost"], 1.0), MOST_MOVES)


class PairSampler(SplitMergeSampler):
    """Base class of samplers whose moves split one block or merge two."""

    few = FEW

    def _plan(self, state: State) -> tuple[Any, Plan]:
        """The law of the anchors, and how moves propose."""
        raise NotImplementedError(f"{type(self).__name__} must define _plan(state).")

    def _prepared(self, state: State) -> tuple[Work, Any, Plan]:
        """Scratch space, the law of the anchors, and how moves propose."""
        if "moves" not in state.scratch:
            work = new_work(state.problem.likelihood, len(state.labels))
            state.scratch["moves"] = (work, *self._plan(state))
        return state.scratch["moves"]

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        work, law, plan = self._prepared(state)
        work.tally[:] = 0
        state.repeat(moves, n_moves, work, law, plan, rng)
        return dict(zip(TALLY, work.tally.tolist(), strict=True))


def law_of(anchors: Any, bound: Any) -> Any:
    """The law of anchors of that name, if the likelihood can serve it."""
    law = code("anchors", anchors, LAWS)()
    if anchors in INFORMED and not offers(bound, "copy"):
        raise ValueError(
            f"anchors={anchors!r} needs blocks that can be pooled, which this likelihood's cannot: "
            "use 'uniform' or 'balanced'."
        )
    return law


def launch_codes(launches: Any, bound: Any) -> np.ndarray:
    """The codes of launches, chosen to suit the likelihood under "auto"."""
    has_metric = n_coordinates(bound) > 0
    if isinstance(launches, str) and launches == "auto":
        launches = [*METRIC, "sequential"] if has_metric else ["hard", "sequential"]
    if isinstance(launches, str) or not isinstance(launches, Iterable) or not list(launches):
        raise ValueError(
            f"launches must be 'auto' or a list of {', '.join(map(repr, LAUNCHES))}; "
            f"got {launches!r}."
        )
    for name in launches:
        if name in METRIC and not has_metric:
            raise ValueError(
                f"The launch {name!r} needs distances between rows, which make no sense under this "
                "likelihood: use 'hard' and 'sequential'."
            )
    return np.array([code("launches", name, LAUNCHES) for name in launches], np.intp)

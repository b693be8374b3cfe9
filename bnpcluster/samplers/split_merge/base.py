"""Base classes of the split-merge family: moves, then Gibbs sweeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bnpcluster._core.arguments import code, is_auto, whole
from bnpcluster._core.messages import shown
from bnpcluster._core.operations import n_coordinates
from bnpcluster._core.state import State
from bnpcluster.samplers.base import Sampler, offers
from bnpcluster.samplers.gibbs import Gibbs, sweep
from bnpcluster.samplers.launches import LAUNCHES, METRIC
from bnpcluster.samplers.split_merge.frozen_anchors import TABLES, frozen_anchors, learn_table
from bnpcluster.samplers.split_merge.informed_anchors import ANCHOR_DISTRIBUTIONS, INFORMED
from bnpcluster.samplers.split_merge.kernel import TALLY, Plan, Work, new_work, pair_moves

MOST_MOVES = 100
UNTUNED = 10  # moves per iteration if there was no warm-up
MEMORY = 50  # iterations over which warm-up averages the cost of a move
IDLE = 20  # cost, in items, of a move that is rejected before any computation on the data
# A pass compares an item with two blocks and adds it to one; a sweep compares it with its own.
PASSES = 1.5
COLUMNS = 16  # per 16 columns, adding an item costs one more comparison
# With few items, moves may cost as much as a sweep over this number divided by that of the columns,
# so that small clusters can come and go: the rest of an iteration takes as long anyway.
FEW = 6000
# In wide data a move costs little beside an update of learned hyper-parameters, and chains need
# many to find the same partition: they may cost as much as a sweep over so many items per column.
WIDE = 200
DISCRETE = 8  # number of columns assumed for a likelihood without coordinates
# After warm-up, moves are as many as in warm-up if at least this share of iterations has brought
# about a large move, else in proportion. They cost at least IDLY of a sweep, and of rows that are
# few or wide, where moves cost little time, half as much as in warm-up.
USEFUL = 0.02
IDLY = 0.2
HALF = 0.5
LATE = 3.0  # iteration t of warm-up counts in proportion to t to this power: the last quarter most


class SplitMergeSampler(Sampler):
    """Base class: `n_moves` moves of whole blocks, then `n_gibbs` Gibbs sweeps."""

    n_moves: Any
    n_gibbs: Any
    anchors: str = "uniform"
    few = 0  # under "auto", moves cost at least as much as a sweep over this many items

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
        n_moves = self._how_many(state, rng)
        if state.n_items > 1:
            if learn_table(self.anchors, state):
                state.scratch.clear()
            counts = self._move(state, n_moves, rng)
            self._learn(state, counts.pop("work"), counts.pop("large", math.inf), n_moves)
        for _ in range(n_gibbs):
            state.visit(sweep, rng)
        return {**counts, "sweeps": n_gibbs}

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        """Make `n_moves` moves; return their counts, and the `work` they took in items."""
        raise NotImplementedError(f"{type(self).__name__} must define _move(state, n_moves, rng).")

    def _how_many(self, state: State, rng: np.random.Generator) -> int:
        """Number of moves; under "auto" they cost about as much as one Gibbs sweep.

        If items are few or wide, they cost more. After warm-up, moves that were idle are made less
        often. A number that is not whole is rounded at random, whatever the state is.
        """
        if not is_auto(self.n_moves):
            return whole("n_moves", self.n_moves, 1)
        tuning = state.tuning
        if "moves" not in tuning:
            return UNTUNED
        if state.adapting:
            return round(tuning["moves"])
        n, few = state.n_items, self._few(state)
        least = max(IDLY * n, HALF * few) / max(n, few)
        share = min(max(tuning["large"] / USEFUL, least), 1.0)
        return int(tuning["moves"] * share + rng.random())

    def _learn(self, state: State, work: float, large: float, n_moves: int) -> None:
        """Tune the number of moves during warm-up, from their cost and what they achieved.

        Both are counted, not timed, so that the same seed gives the same draws. After warm-up the
        number is fixed: if it followed the state, another distribution would be sampled.
        """
        if not state.adapting or not is_auto(self.n_moves):
            return
        n_columns = n_coordinates(state.problem.likelihood)
        passes = PASSES + n_columns // COLUMNS
        tuning, cost = state.tuning, IDLE + passes * work / n_moves
        seen = tuning.get("seen", 0.0) + 1.0
        rate = 1.0 / min(seen, MEMORY)
        tuning["seen"] = seen
        tuning["cost"] = tuning.get("cost", cost) * (1.0 - rate) + rate * cost
        enough = max(state.n_items, self._few(state))
        tuning["moves"] = min(max(enough / tuning["cost"], 1.0), MOST_MOVES)
        late = (LATE + 1.0) / (LATE + seen)
        tuning["large"] = tuning.get("large", 0.0) * (1.0 - late) + late * min(large, 1.0)

    def _few(self, state: State) -> int:
        """Number of items below which they are few or wide: moves may cost a sweep over so many."""
        n_columns = n_coordinates(state.problem.likelihood)
        return max(self.few // (n_columns or DISCRETE), WIDE * n_columns) if self.few else 0


class PairSampler(SplitMergeSampler):
    """Base class of samplers whose moves split one block or merge two."""

    few = FEW

    def _plan(self, state: State) -> tuple[Any, Plan]:
        """The distribution of the anchors, and how moves propose."""
        raise NotImplementedError(f"{type(self).__name__} must define _plan(state).")

    def _prepared(self, state: State) -> tuple[Work, Any, Plan]:
        """Scratch space, the distribution of the anchors, and how moves propose."""
        if "moves" not in state.scratch:
            work = new_work(state.problem.likelihood, len(state.labels))
            state.scratch["moves"] = (work, *self._plan(state))
        return state.scratch["moves"]

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        work, distribution, plan = self._prepared(state)
        work.tally[:] = 0
        state.repeat(pair_moves, n_moves, work, distribution, plan, rng)
        return dict(zip(TALLY, work.tally.tolist(), strict=True))


def anchor_distribution(anchors: Any, state: State) -> Any:
    """The distribution of anchors with that name, if the likelihood has its operations."""
    kind = code("anchors", anchors, {**ANCHOR_DISTRIBUTIONS, **dict.fromkeys(TABLES)})
    if anchors in (*INFORMED, *TABLES) and not offers(state.problem.likelihood, "copy"):
        raise ValueError(
            f"anchors={anchors!r} needs a likelihood that factorises over clusters, and this one "
            "does not: use 'uniform', 'balanced' or 'mixed'."
        )
    return frozen_anchors(state) if anchors in TABLES else kind()


def launch_codes(launches: Any, bound: Any) -> np.ndarray:
    """The codes of the launches; "auto" chooses those that suit the likelihood."""
    has_metric = n_coordinates(bound) > 0
    if is_auto(launches):
        launches = [*METRIC, "sequential"] if has_metric else ["hard", "sequential"]
    if not isinstance(launches, (list, tuple)) or not launches:
        raise ValueError(
            f"launches must be 'auto' or a list of {', '.join(map(repr, LAUNCHES))}; "
            f"got {shown(launches)}."
        )
    for name in launches:
        if name in METRIC and not has_metric:
            raise ValueError(
                f"The launch {name!r} needs distances between rows, which this likelihood does not "
                "define: use 'hard' and 'sequential'."
            )
    return np.array([code("launches", name, LAUNCHES) for name in launches], np.intp)

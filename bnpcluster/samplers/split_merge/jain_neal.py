"""Jain and Neal's split-merge moves, with restricted Gibbs scans from a random launch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from bnpcluster._core.arguments import code, whole
from bnpcluster._core.state import State
from bnpcluster.samplers.archive import draw_disagreement
from bnpcluster.samplers.launches import ARCHIVE, COIN
from bnpcluster.samplers.split_merge.anchors import Given, Uniform
from bnpcluster.samplers.split_merge.base import PairSampler
from bnpcluster.samplers.split_merge.kernel import TALLY, Plan
from bnpcluster.samplers.split_merge.orders import RANDOM

LAUNCHES = {"random": COIN, "archive": ARCHIVE}


class JainNeal(PairSampler):
    """Restricted Gibbs split-merge, `(n_restricted, n_moves, n_gibbs)` in its authors' notation.

    A move draws two rows. If they share a cluster, it proposes to split it: coins divide the other
    rows between the two, `n_restricted` restricted Gibbs scans improve on the coins, and one more
    scan is the proposal. Otherwise it proposes to merge their two clusters.

    Parameters
    ----------
    n_restricted : int or None, default=5
        Restricted scans before the proposing scan. None: no scan, which is the simple random split.
    n_moves : int or "auto", default=1
        Moves per iteration. ``"auto"``: as many as cost about one Gibbs sweep, or, if there are few
        rows, about as much as the rest of an iteration; tuned in warm-up.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration; 0 gives the pure sampler.
    launch : {"random", "archive"}, default="random"
        ``"random"``: coins. ``"archive"``: two earlier states of the chains disagree on the two
        rows. Rows that both states put with one of the two join it; coins decide on the others.
        The states are those of the second half of warm-up.

    Notes
    -----
    Works with every prior and every likelihood, even one that does not factorise over clusters.

    References
    ----------
    Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the
    Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182.

    Herlau, T., Morup, M., Teh, Y. W. and Schmidt, M. N. Adaptive reconfiguration moves for
    Dirichlet mixtures (the launch from an archive).

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import JainNeal
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler=JainNeal(n_restricted=3), n_draws=2000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    def __init__(
        self,
        *,
        n_restricted: Any = 5,
        n_moves: Any = 1,
        n_gibbs: int = 1,
        launch: str = "random",
    ):
        self.n_restricted = n_restricted
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs
        self.launch = launch

    @classmethod
    def examples(cls) -> list[JainNeal]:
        """Moves without sweeps: some scans, one scan, none, and the archive."""
        plain = [cls(n_restricted=t, n_gibbs=0) for t in (5, 0, None)]
        return [*plain, cls(n_restricted=1, n_gibbs=0, launch="archive")]

    @property
    def learns_from(self) -> str | None:
        """Which states the chains share; None if they share none."""
        return "frozen" if code("launch", self.launch, LAUNCHES) == ARCHIVE else None

    def _plan(self, state: State) -> tuple[Any, Plan]:
        scans = -1 if self.n_restricted is None else whole("n_restricted", self.n_restricted, 0)
        launch = code("launch", self.launch, LAUNCHES)
        if launch == ARCHIVE and scans < 0:
            raise ValueError("launch='archive' needs scans: set n_restricted to 0 or more.")
        distribution = Given(np.zeros(2, np.intp)) if launch == ARCHIVE else Uniform()
        return distribution, Plan(RANDOM, np.array([launch]), scans)

    def _move(self, state: State, n_moves: int, rng: np.random.Generator) -> dict[str, float]:
        if self.learns_from is None:
            return super()._move(state, n_moves, rng)
        counts: Counter = Counter(dict.fromkeys(TALLY, 0))
        for _ in range(n_moves):
            pair = draw_disagreement(state, rng)
            if pair is not None:
                work, distribution, _ = self._prepared(state)
                distribution.anchors[:] = pair.i, pair.j
                work.refinement[:] = pair.refinement
                counts.update(super()._move(state, 1, rng))
        return dict(counts)

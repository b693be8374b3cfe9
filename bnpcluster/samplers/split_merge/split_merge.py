"""Launch split-merge, the package's own sampler: split proposals that start from the data."""

from __future__ import annotations

from typing import Any

from bnpcluster._core.arguments import is_auto, whole
from bnpcluster._core.operations import n_coordinates
from bnpcluster._core.state import State
from bnpcluster.samplers.split_merge.base import PairSampler, anchor_distribution, launch_codes
from bnpcluster.samplers.split_merge.kernel import Plan
from bnpcluster.samplers.split_merge.orders import RANDOM

FEW_ROWS = 50  # per column: with fewer, launches are rough
SCANS = 5  # restricted scans that improve them


class SplitMerge(PairSampler):
    """Launch split-merge: restricted Gibbs split-merge from data-driven launches.

    A move draws two rows, the anchors, as often from one cluster as from two. If they share a
    cluster, it proposes to split it: a launch divides the other rows between the anchors, then
    restricted Gibbs scans follow, and the last scan is the proposal. Otherwise it proposes to merge
    their clusters. The launch lets it find clusters where other moves get stuck. A launch is
    2-means from the anchors, with Euclidean distances or those of the cluster's covariance; or a
    few rounds in which every row goes to the side that predicts it better; or an allocation of one
    row at a time. Each move draws one of the `launches`.

    Parameters
    ----------
    launches : "auto" or list of str, default="auto"
        From ``"two_means"``, ``"whitened_two_means"``, ``"hard"``, ``"sequential"`` and
        ``"random"`` (the coins of Jain and Neal). One that you list twice is drawn twice as often.
        ``"auto"``: both kinds of 2-means and sequential if rows are points, else hard and
        sequential.
    n_restricted : int or "auto", default="auto"
        Restricted scans between the launch and the proposing scan. ``"auto"``: 5 if there are fewer
        than 50 rows per column, else 0.
    anchors : str, default="mixed"
        How anchors are drawn; `SAMS` lists the names. ``"mixed"`` draws balanced pairs of rows or,
        as often, balanced pairs of clusters, and then their rows. So small clusters can merge, too.
    n_moves : int or "auto", default="auto"
        Moves per iteration. ``"auto"``: as many as cost about one Gibbs sweep, or more if rows are
        few or wide; tuned in warm-up. After warm-up they become fewer, down to a fifth of
        a sweep (of few or wide rows, down to half as many), if hardly any has moved many rows (10,
        and the square root of their number) in its later part.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration; 0 gives the pure sampler.

    Notes
    -----
    This sampler is the package's own work. It is exact because a launch is a function of the rows
    of both clusters together, the anchors and fresh randomness, never of their present division.
    Given all three, a move is a Metropolis-Hastings step between the merged state and the splits
    that keep the anchors apart. A mixture of such steps leaves the posterior invariant. See the
    page on samplers in the documentation for the proof and for measurements.

    Works with every prior and every likelihood that factorises over clusters.

    References
    ----------
    Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the
    Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import SplitMerge
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> sampler = SplitMerge(launches=["two_means", "sequential"])
    >>> DPMixture(sampler=sampler, n_draws=2000, random_state=0).fit(X).n_clusters_
    2
    """

    requires = (*PairSampler.requires, "copy")

    def __init__(
        self,
        *,
        launches: Any = "auto",
        n_restricted: Any = "auto",
        anchors: str = "mixed",
        n_moves: Any = "auto",
        n_gibbs: int = 1,
    ):
        self.launches = launches
        self.n_restricted = n_restricted
        self.anchors = anchors
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs

    @classmethod
    def examples(cls) -> list[SplitMerge]:
        """One move without sweeps, by default and with the launches for every likelihood."""
        return [
            cls(n_moves=1, n_gibbs=0),
            cls(launches=["hard", "random"], n_restricted=1, n_moves=1, n_gibbs=0),
        ]

    def _plan(self, state: State) -> tuple[Any, Plan]:
        bound = state.problem.likelihood
        plan = Plan(RANDOM, launch_codes(self.launches, bound), self._n_scans(state))
        return anchor_distribution(self.anchors, state), plan

    def _n_scans(self, state: State) -> int:
        """The number of scans before the recorded one; it does not depend on the partition."""
        if not is_auto(self.n_restricted):
            return whole("n_restricted", self.n_restricted, 0)
        few = len(state.labels) < FEW_ROWS * n_coordinates(state.problem.likelihood)
        return SCANS if few else 0

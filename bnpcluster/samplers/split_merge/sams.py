"""Sequentially allocated merge-split moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.arguments import code
from bnpcluster._core.state import State
from bnpcluster.samplers.launches import SEQUENTIAL
from bnpcluster.samplers.split_merge.base import PairSampler, anchor_distribution
from bnpcluster.samplers.split_merge.kernel import Plan
from bnpcluster.samplers.split_merge.orders import ORDERS


class SAMS(PairSampler):
    """Sequentially allocated merge-split.

    A move draws two rows, the anchors. If they share a cluster, it proposes to split it: each of
    the other rows in turn goes to one of the two sides, with its probability given the rows placed
    so far. Otherwise it proposes to merge their two clusters.

    Parameters
    ----------
    anchors : str, default="uniform"
        How anchors are drawn. ``"uniform"``: all pairs are equally likely. ``"cluster"``: the
        second comes from a cluster that might merge with that of the first (by the ratio of
        marginal likelihoods). ``"threshold"``: the second comes from a cluster that might contain
        the first. ``"balanced"``: both come from one cluster or from two, equally often.
        ``"mixed"``: balanced or, equally often, from a random cluster or two random clusters,
        whatever their sizes. The acceptance probability corrects for this, so all are exact.
        ``"frozen_cluster"`` and ``"frozen_threshold"`` are the informed anchors of the clusters at
        one time of warm-up, as the authors of `PGSM` draw them: the table of probabilities is
        made again whenever the number of clusters (at most 256) breaks its record, and never after
        warm-up. So no correction is necessary, and a move costs less.
    order : {"random", "decisive", "alternate"}, default="random"
        The order in which rows are placed. ``"decisive"``: rows that clearly prefer one anchor come
        first, which raises the acceptance of good splits by orders of magnitude. ``"alternate"``: a
        coin chooses between the two.
    n_moves : int or "auto", default="auto"
        Moves per iteration. ``"auto"``: as many as cost about one Gibbs sweep, or, if there are few
        rows, about as much as the rest of an iteration; tuned in warm-up.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration; 0 gives the pure sampler.

    Notes
    -----
    Works with every prior and every likelihood. Likelihoods that do not factorise over clusters
    have no informed anchors.

    References
    ----------
    Dahl, D. B. (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate
    Dirichlet process mixture models. Technical report, Texas A&M University.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import SAMS
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler=SAMS(order="decisive"), n_draws=2000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    def __init__(
        self,
        *,
        anchors: str = "uniform",
        order: str = "random",
        n_moves: Any = "auto",
        n_gibbs: int = 1,
    ):
        self.anchors = anchors
        self.order = order
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs

    @classmethod
    def examples(cls) -> list[SAMS]:
        """Moves without sweeps, with every kind of anchors and every order."""
        choices = [
            ("uniform", "random"),
            ("balanced", "decisive"),
            ("cluster", "random"),
            ("threshold", "alternate"),
            ("frozen_cluster", "random"),
        ]
        return [cls(anchors=a, order=o, n_moves=1, n_gibbs=0) for a, o in choices]

    def _plan(self, state: State) -> tuple[Any, Plan]:
        distribution = anchor_distribution(self.anchors, state)
        return distribution, Plan(code("order", self.order, ORDERS), np.array([SEQUENTIAL]), 0)

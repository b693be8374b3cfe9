"""Jain and Neal's split-merge moves, with restricted Gibbs scans from a random launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._state import State
from bnpcluster.samplers._anchors import Uniform
from bnpcluster.samplers._launches import COIN
from bnpcluster.samplers._moves import PairSampler, whole
from bnpcluster.samplers._orders import RANDOM
from bnpcluster.samplers._pairs import Plan


class JainNeal(PairSampler):
    """Restricted Gibbs split-merge, `(n_restricted, n_moves, n_gibbs)` in its authors' notation.

    A move draws two rows. If they share a cluster, it proposes to split it: coins divide the other
    rows between the two, `n_restricted` restricted Gibbs scans improve on the coins, and one more
    is the proposal. If they do not, it proposes to merge their two clusters.

    Parameters
    ----------
    n_restricted : int or None, default=5
        Restricted scans before the one that proposes. None: no scan at all, the simple random
        split.
    n_moves : int or "auto", default=1
        Moves per iteration. ``"auto"``: as many as cost about one Gibbs sweep, found in warm-up.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration; 0 gives the pure sampler.

    Notes
    -----
    Serves every prior and every likelihood, also one that does not factorise over clusters.

    References
    ----------
    Jain, S. and Neal, R. M. (2004). A split-merge Markov chain Monte Carlo procedure for the
    Dirichlet process mixture model. Journal of Computational and Graphical Statistics 13, 158-182.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import JainNeal
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler=JainNeal(n_restricted=3), n_draws=200, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    def __init__(self, *, n_restricted: Any = 5, n_moves: Any = 1, n_gibbs: int = 1):
        self.n_restricted = n_restricted
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs

    @classmethod
    def examples(cls) -> list[JainNeal]:
        """Moves alone, with scans, without an intermediate one, and the simple random split."""
        scans = (5, 0, None)
        return [cls(n_restricted=t, n_gibbs=0) for t in scans]

    def _plan(self, state: State) -> tuple[Any, Plan]:
        scans = -1 if self.n_restricted is None else whole("n_restricted", self.n_restricted, 0)
        return Uniform(), Plan(RANDOM, np.array([COIN]), scans)

"""Adaptive reconfiguration moves, and split-merge moves that do not learn."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bnpcluster._core.arguments import whole
from bnpcluster._core.state import State
from bnpcluster.samplers.reconfiguration.arm import ARM
from bnpcluster.samplers.split_merge.sams import SAMS


class ARMWithSAMS(ARM):
    """`ARM` and `SAMS` in turn: moves that learn from other chains, and moves that do not.

    Chains that learn from one another can agree on a partition from which no move leads on, because
    none of them has ever been anywhere else. Splits and merges of random pairs of rows do not
    depend on what the chains have seen.

    Parameters
    ----------
    n_moves : int, default=1
        Reconfiguration moves per iteration, as for `ARM`.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration.
    variant : {"full", "singletons", "simple"}, default="full"
        As for `ARM`.
    archive : {"frozen", "adaptive", "ensemble"}, default="frozen"
        As for `ARM`.
    n_split_merge : int, default=10
        Moves of `SAMS` per iteration.

    Notes
    -----
    The default of `InfiniteRelationalModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler="arm_sams", n_draws=2000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    requires: tuple[str, ...] = tuple(dict.fromkeys((*ARM.requires, *SAMS.requires)))

    def __init__(
        self,
        *,
        n_moves: int = 1,
        n_gibbs: int = 1,
        variant: str = "full",
        archive: str = "frozen",
        n_split_merge: int = 10,
    ):
        super().__init__(n_moves=n_moves, n_gibbs=n_gibbs, variant=variant, archive=archive)
        self.n_split_merge = n_split_merge

    @classmethod
    def examples(cls) -> list[ARM]:
        """Moves of both kinds, without sweeps."""
        return [cls(n_gibbs=0, n_split_merge=2)]

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """Make one iteration."""
        counts = Counter(super().step(state, rng))
        n_moves = whole("n_split_merge", self.n_split_merge, 0)
        counts.update(SAMS(n_moves=n_moves, n_gibbs=0).step(state, rng))
        return dict(counts)

"""Adaptive reconfiguration moves: chains learn from one another which rows belong together."""

from __future__ import annotations

import numpy as np

from bnpcluster._core.arguments import code, whole
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.archive import draw_disagreement
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.gibbs import Gibbs, sweep
from bnpcluster.samplers.reconfiguration.kernel import MovePlan, new_scratch, reconfigure

VARIANTS = ("full", "singletons", "simple")
ARCHIVES = ("frozen", "adaptive", "ensemble")


class ARM(Sampler):
    """Adaptive reconfiguration moves: rebuild the clusters on which the chains disagree.

    The chains of a fit keep an archive of their earlier states. A move draws two of them, and two
    rows that are together in one and apart in the other. It divides the clusters of both rows into
    the parts on which both earlier states agree. It places each part as a whole. Then other rows
    join or leave, one at a time. A second pass retraces the way back, and the move is accepted with
    the exact Metropolis-Hastings ratio.

    Parameters
    ----------
    n_moves : int, default=1
        Moves per iteration. One costs several Gibbs sweeps.
    n_gibbs : int, default=1
        Gibbs sweeps per iteration. With 0, some partitions cannot be reached from others.
    variant : {"full", "singletons", "simple"}, default="full"
        ``"full"`` moves parts, then rows (ARM); ``"singletons"`` moves rows only (sARM);
        ``"simple"`` draws the two rows at random and needs no archive (sRM).
    archive : {"frozen", "adaptive", "ensemble"}, default="frozen"
        ``"frozen"``: the states of the second half of warm-up. They are fixed when warm-up ends, so
        the sampler is exact. ``"adaptive"``: the states of the second half of all iterations so
        far, as in the paper. This is exact only in the limit. ``"ensemble"``: the current states of
        the other chains. The chains move one at a time, and this is exact. It needs at least three
        chains.

    Notes
    -----
    Works with every prior, even with a bounded number of clusters, and every likelihood, even one
    that does not factorise over clusters. Chains share their states every 10 iterations. In between
    they run in parallel, except with ``"ensemble"``.

    References
    ----------
    Herlau, T., Morup, M., Teh, Y. W. and Schmidt, M. N. Adaptive reconfiguration moves for
    Dirichlet mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import ARM
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(sampler=ARM(n_moves=2), n_draws=2000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    requires: tuple[str, ...] = (
        *Gibbs.requires,
        "log_predictive",
        "log_predictive_without",
        "log_marginal_pair",
        "log_marginal_union",
        "log_likelihood",
    )

    def __init__(
        self, *, n_moves: int = 1, n_gibbs: int = 1, variant: str = "full", archive: str = "frozen"
    ):
        self.n_moves = n_moves
        self.n_gibbs = n_gibbs
        self.variant = variant
        self.archive = archive

    @classmethod
    def examples(cls) -> list[ARM]:
        """Moves without sweeps, in all variants."""
        return [cls(variant=variant, n_gibbs=0) for variant in VARIANTS]

    @property
    def learns_from(self) -> str | None:
        """Which states the chains share; None if they share none."""
        code("archive", self.archive, dict.fromkeys(ARCHIVES))
        return None if self.variant == "simple" else self.archive

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """Make one iteration."""
        code("variant", self.variant, dict.fromkeys(VARIANTS))
        n_gibbs = whole("n_gibbs", self.n_gibbs, 0)
        tried = accepted = 0
        for _ in range(whole("n_moves", self.n_moves, 0)):
            plan = self._draw_plan(state, rng)
            if plan is not None:
                tried += 1
                accepted += self._try_move(state, plan, rng)
        for _ in range(n_gibbs):
            state.visit(sweep, rng)
        return {"moves": tried, "moves_accepted": accepted, "sweeps": n_gibbs}

    def _draw_plan(self, state: State, rng: np.random.Generator) -> MovePlan | None:
        """Two items and a refinement that do not depend on the state; None for no move."""
        order, n = rng.permutation(state.problem.items), len(state.labels)
        if len(order) < 2:
            return None
        if self.variant == "simple":
            return MovePlan(order[:2].copy(), np.arange(n), rng.permutation(order), False)
        pair = draw_disagreement(state, rng)
        if pair is None:
            return None
        return MovePlan(np.array([pair.i, pair.j]), pair.refinement, order, self.variant == "full")

    def _try_move(self, state: State, plan: MovePlan, rng: np.random.Generator) -> bool:
        """Make one move; return whether it was accepted."""
        if state.should_stop():
            raise Stopped
        n = len(state.labels)
        if "work" not in state.scratch:
            state.scratch["work"] = new_scratch(n)
        uniforms, log_u = rng.random(2 * n), -rng.standard_exponential()
        return reconfigure(state, plan, state.scratch["work"], uniforms, log_u)

"""The blocked sampler: one chain on many cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster._core.arguments import whole
from bnpcluster._core.state import State, Stopped
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.blocked.batch import make_batches
from bnpcluster.samplers.blocked.restricted_sweep import restricted_sweep
from bnpcluster.samplers.gibbs import Gibbs, sweep

FEW = 200  # rows of a scan under "auto", and
SHARE = 20  # one row in so many, if that is more
AT_ONCE = 1024  # rows of a scan between two looks at the stop flag


class Blocked(Sampler):
    """Blocked Gibbs sampling: one chain on several cores, for hundreds of thousands of rows.

    An iteration draws the weights and the parameters of all clusters given their rows, and then all
    labels at once given these. Rows are independent then, so threads share the work, and a row
    costs less than in a collapsed Gibbs sweep. No cluster is born or dies in this step. For that, a
    collapsed Gibbs scan visits some rows, drawn at random, and batches of moves split and merge
    clusters.

    Parameters
    ----------
    n_scanned : int or "auto", default="auto"
        Number of rows that the collapsed scan of an iteration visits. ``"auto"``: one in 20 rows,
        but at least 200 if there are so many.
    n_batches : int, default=1
        Batches of merges per iteration. In such a batch most clusters are paired, and the pairs
        that lose little try to merge. A batch in which most clusters try to split follows every
        second one, at random. 0: no splits and merges.
    n_jobs : int or None, default=None
        Number of threads of one chain. None: 1; -1: all cores. The draws do not depend on it. The
        model's own `n_jobs` is the number of chains that run at once: for one chain on all cores,
        set ``n_chains=1`` and ``Blocked(n_jobs=-1)``.

    Notes
    -----
    The sampler is exact for every prior of Gibbs type, without truncation. A random order of the
    rows is drawn in every iteration. The first row of a cluster, its leader, keeps its place, and
    another row may join only clusters whose leader precedes it. Given the leaders, weights with a
    Dirichlet(n_b - sigma) distribution and the parameters, the labels are independent.

    A batch draws which clusters try to split and which pairs try to merge. Its moves are on
    disjoint sets of rows, so all of them are proposed in one pass. They are Metropolis-Hastings
    updates of the posterior times the probability of what was drawn, and are decided one after the
    other. The parameters by which a set is divided may be part of the state while it is divided:
    only so can large fragments of one cluster merge.

    It mixes more slowly than a collapsed sampler where clusters have few rows per column, since
    parameters are drawn. For thousands of rows take `SplitMerge`.

    Serves ``"niw"``, ``"nig"``, ``"bernoulli"``, ``"categorical"``, ``"poisson"`` and `Columns` of
    them, without missing entries.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.samplers import Blocked
    >>> X = np.repeat([[-4.0, 0.0], [4.0, 0.0]], 60, axis=0)
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> model = DPMixture(sampler=Blocked(n_jobs=2), n_chains=1, n_draws=200, random_state=0)
    >>> model.fit(X).n_clusters_
    2
    """

    requires = (
        *Gibbs.requires,
        "draw_parameters",
        "log_density",
        "new_sums",
        "add_row",
        "put_sums",
        "log_density_of_parameters",
        "log_marginal_union",
        "pool",
    )

    def __init__(
        self,
        *,
        n_scanned: Any = "auto",
        n_batches: int = 1,
        n_jobs: int | None = None,
    ):
        self.n_scanned = n_scanned
        self.n_batches = n_batches
        self.n_jobs = n_jobs

    @classmethod
    def examples(cls) -> list[Sampler]:
        """The defaults, and more moves with hardly any collapsed step."""
        return [cls(), cls(n_scanned=1, n_batches=2, n_jobs=2)]

    def step(self, state: State, rng: np.random.Generator) -> dict[str, float]:
        """A collapsed scan of some rows, splits and merges, then a restricted sweep of all."""
        n_scanned, n_jobs = rows_to_scan(self.n_scanned, state.n_items), self._n_jobs()
        n_batches = whole("n_batches", self.n_batches, 0)
        if state.problem.beta != 1.0:
            # A power of the marginal likelihood has no parameters to draw.
            state.visit(sweep, rng)
            return {"sweeps": 1}
        scan(state, n_scanned, rng)
        counts: dict[str, float] = {"sweeps": 1, "scanned": n_scanned}
        counts.update(make_batches(state, n_batches, n_jobs, rng))
        restricted_sweep(state, n_jobs, rng)
        return counts

    def _n_jobs(self) -> int | None:
        """The number of threads."""
        given: Any = self.n_jobs
        is_whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        if given is None or (is_whole and given != 0):
            return given
        raise ValueError(
            f"n_jobs of Blocked must be None or an integer other than 0, got {given!r}."
        )


def rows_to_scan(n_scanned: Any, n_items: int, most: int | None = None) -> int:
    """The number of rows to scan, of `n_items`; under "auto", it is at most `most`."""
    if isinstance(n_scanned, str) and n_scanned == "auto":
        found = max(n_items // SHARE, min(FEW, n_items))
        return found if most is None else min(found, most)
    return whole("n_scanned", n_scanned, 1)


def scan(state: State, n_scanned: int, rng: np.random.Generator) -> None:
    """Make collapsed Gibbs updates of random items, drawn with replacement."""
    items = state.problem.items[rng.integers(state.n_items, size=n_scanned)]
    for first in range(0, n_scanned, AT_ONCE):
        if state.should_stop():
            raise Stopped
        chosen = items[first : first + AT_ONCE]
        uniforms, done = rng.random(len(chosen)), 0
        while done < len(chosen):
            problem = state.problem._replace(items=chosen)
            done = sweep(problem, state.partition, uniforms[done:], done, len(chosen))
            if done < len(chosen):
                state.enlarge()

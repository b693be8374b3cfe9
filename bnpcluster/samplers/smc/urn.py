"""The particle filter over the urn scheme: particles take the items one after another."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster.samplers.smc.base import Filter, FilterSampler
from bnpcluster.samplers.smc.population import inherit, joining, opened, opening

SMALL = 1e-300


class Urn(NamedTuple):
    """Urn weights by step and number of blocks; (m - sigma) join for a block of m items.

    With V of the prior, `join` is V[n+1, k] / V[n, k] and `open` is V[n+1, k+1] / V[n, k].
    """

    sigma: float
    join: np.ndarray
    open: np.ndarray


@opening.register(Urn)
def _opening_urn(prior_weights, step, p, n_blocks):
    return prior_weights.open[step, n_blocks]


@joining.register(Urn)
def _joining_urn(prior_weights, step, p, n_blocks, block, size):
    return (size - prior_weights.sigma) * prior_weights.join[step, n_blocks]


@opened.register(Urn)
def _opened_urn(prior_weights, p, n_blocks, rng):
    pass


@inherit.register(Urn)
def _inherit_urn(prior_weights, p, parent, n_blocks):
    pass


def log_v_rows(prior: Any, start: int, stop: int, k_max: int) -> np.ndarray:
    """log V[n, k] for n = start .. stop as rows, k = 0 .. k_max.

    Only the last row comes from the prior. The others follow by V[n, k] = V[n+1, k+1] +
    (n - sigma k) V[n+1, k], which adds positive terms and so loses no digits.
    """
    rows = np.full((stop - start + 1, k_max + 1), -math.inf)
    row = prior.tables(stop, k_max + stop - start).log_v
    rows[-1] = row[: k_max + 1]
    for n in range(stop - 1, start - 1, -1):
        ways = np.maximum(n - prior.sigma_now * np.arange(len(row) - 1), SMALL)
        row = np.logaddexp(row[1:], np.log(ways) + row[:-1])
        rows[n - start] = row[: k_max + 1]
    return rows


def urn_tables(prior: Any, start: int, stop: int, k_max: int) -> Urn:
    """Urn weights of items start .. stop-1, for k < k_max; i other items precede item i."""
    first = max(start, 1)
    log_v = log_v_rows(prior, first, max(stop, first + 1), k_max)
    possible = np.isfinite(log_v[:-1, :-1])  # other ratios are undefined, and not needed
    now = np.where(possible, log_v[:-1, :-1], 0.0)
    ratios = [
        np.where(possible, np.exp(np.where(possible, then, -math.inf) - now), 0.0)
        for then in (log_v[1:, :-1], log_v[1:, 1:])
    ]
    if start == 0:  # the first item opens a block
        ratios = [np.vstack([np.full(k_max, value), r]) for value, r in enumerate(ratios)]
    return Urn(float(prior.sigma_now), *ratios)


class UrnFilter(Filter):
    """Particles that follow the urn scheme of the prior."""

    def prior_weights(self, start: int, stop: int) -> Urn:
        """Urn weights at the values of the prior."""
        return urn_tables(self.prior, start, stop, self.block_room)


class UrnSMC(FilterSampler):
    """Particle filter over the urn scheme of the prior.

    The rows come in order. Every particle puts each row into one of its clusters or a new one,
    with probability proportional to the urn weight times the predictive density. One pass gives
    weighted partitions and an unbiased estimate of the evidence, for any prior and any likelihood
    that factorises. Rows never move afterwards, so many rows need many particles, or `AnnealedSMC`.

    Parameters
    ----------
    n_particles : int, default=1000
    resample_threshold : float, default=0.8
        Particles are resampled when their relative effective sample size falls below it. 0: never
        ("standard vanilla" in the reference); 1: whenever weights differ.
    resampling : {"systematic", "stratified", "multinomial"}, default="systematic"
        How they are resampled.

    Notes
    -----
    Before a particle places a row, its weight is multiplied by its predictive density of the row.
    Hyper-parameters must be fixed, and ``"auto"`` means 1.0. ``n_draws``, ``n_warmup``, ``thin``
    and ``init`` of an estimator have no effect. ``n_chains`` is the number of independent runs.

    References
    ----------
    Lomeli, M. (2017). General Bayesian inference schemes in infinite mixture models. PhD thesis,
    University College London.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = DPMixture(alpha=1.0, sampler="urn_smc", n_particles=100, random_state=0).fit(X)
    >>> model.n_clusters_, bool(model.log_evidence_se_ < 0.2)
    (2, True)
    """

    particles = UrnFilter

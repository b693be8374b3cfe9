"""Particle filters that carry the weights of their clusters instead of integrating them out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.stable_distributions import log_share_left
from bnpcluster.samplers.smc.base import Filter, FilterSampler
from bnpcluster.samplers.smc.population import inherit, joining, opened, opening


class Jumps(NamedTuple):
    """Clusters in size-biased order whose weights are jumps of a stable subordinator over its sum.

    The random measure has the total mass T; `share` are the jumps of a particle's blocks, and
    `left` what remains of T, over T, and `log_mass` is the log of what remains itself.
    """

    sigma: float
    log_mass: np.ndarray
    left: np.ndarray
    share: np.ndarray


class Sticks(NamedTuple):
    """Clusters in size-biased order of a mixture whose number of components is random.

    Given M components with Dirichlet(g, ..., g) weights, the l-th cluster takes a share
    Beta(1 + g, (M - l) g) of what the earlier ones left, and the M-th all of it.
    """

    gamma: float
    components: np.ndarray
    left: np.ndarray
    share: np.ndarray


@opening.register(Jumps)
@opening.register(Sticks)
def _opening(law, step, p, n_blocks):
    return law.left[p]


@joining.register(Jumps)
@joining.register(Sticks)
def _joining(law, step, p, n_blocks, block, size):
    return law.share[p, block]


@opened.register(Jumps)
def _opened_jump(law, p, n_blocks, rng):
    log_left = log_share_left(law.log_mass[p], law.sigma, rng)
    law.share[p, n_blocks] = -law.left[p] * math.expm1(log_left)
    law.left[p] *= math.exp(log_left)
    law.log_mass[p] += log_left


@opened.register(Sticks)
def _opened_stick(law, p, n_blocks, rng):
    rest = law.components[p] - n_blocks - 1.0
    taken = 1.0
    if rest > 0.0:
        one = rng.standard_gamma(1.0 + law.gamma)
        taken = one / (one + rng.standard_gamma(rest * law.gamma))
    law.share[p, n_blocks] = law.left[p] * taken
    law.left[p] = law.left[p] * (1.0 - taken) if rest > 0.0 else 0.0


@inherit.register(Jumps)
def _inherit_jumps(law, p, parent, n_blocks):
    law.log_mass[p] = law.log_mass[parent]
    law.left[p] = law.left[parent]
    for j in range(n_blocks):
        law.share[p, j] = law.share[parent, j]


@inherit.register(Sticks)
def _inherit_sticks(law, p, parent, n_blocks):
    law.components[p] = law.components[parent]
    law.left[p] = law.left[parent]
    for j in range(n_blocks):
        law.share[p, j] = law.share[parent, j]


class WeightedFilter(Filter):
    """Particles with the weights of their clusters."""

    weights: Any = None

    def law(self, start: int, stop: int) -> Any:
        """The weights of all particles; they are drawn before the first item."""
        if self.weights is None:
            self.weights = _begin(self.prior, len(self.population.n_blocks), self.rng)
        share = self.weights.share
        missing = self.room - share.shape[1]
        if missing > 0:
            wider = np.hstack([share, np.zeros((len(share), missing))])
            self.weights = self.weights._replace(share=wider)
        return self.weights


def _begin(prior: Any, n: int, rng: np.random.Generator) -> Jumps | Sticks:
    """Particles without clusters: their total masses, or their numbers of components."""
    left, share = np.ones(n), np.zeros((n, 0))
    if hasattr(prior, "log_total_mass"):
        return Jumps(float(prior.sigma_now), prior.log_total_mass(n, rng), left, share)
    return Sticks(-float(prior.sigma_now), prior.draw_components(n, rng), left, share)


class AuxiliarySMC(FilterSampler):
    """Particle filter whose particles carry the weights of their clusters.

    Each particle draws the total mass of the random measure at the start, and the weight of a
    cluster (a size-biased jump of a stable subordinator) when the cluster opens; a row joins a
    cluster in proportion to its weight times what it predicts. For a mixture of finite mixtures it
    is the number of components and the sticks. Priors that have no tractable urn could be served
    this way; on those here it estimates the same evidence as `UrnSMC`, with more noise.

    Parameters
    ----------
    n_particles : int, default=1000
    resample_threshold : float, default=0.8
        Particles are drawn anew by weight when their relative effective sample size falls below it.
        0: never ("vanilla" in the reference); 1: whenever weights differ.
    resampling : {"systematic", "stratified", "multinomial"}, default="systematic"

    Notes
    -----
    Serves Pitman-Yor processes of positive discount and NGG (the reference's "SMC I"), and MFM
    and finite Dirichlet mixtures ("SMC III"). Jumps are drawn exactly for every sigma between 0 and
    1, by rejection, at sigma = 1/2 in closed form. The reference's approximate variants are left
    out. The Dirichlet process has no stable form. Hyper-parameters as for `UrnSMC`.

    References
    ----------
    Lomeli, M. (2017). General Bayesian inference schemes in infinite mixture models. PhD thesis,
    University College London.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import NGGMixture
    >>> X = np.concatenate([np.full((9, 1), -3.0), np.full((9, 1), 3.0)])
    >>> X += np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> model = NGGMixture(sampler="auxiliary_smc", n_particles=300, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    particles = WeightedFilter

    def checked(self, prior: Any) -> Any:
        """The prior with fixed values; one sentence if its clusters have no such weights."""
        prior = super().checked(prior)
        stable = hasattr(prior, "log_total_mass") and prior.sigma_now > 0.0
        if not stable and not hasattr(prior, "draw_components"):
            raise ValueError(
                f"AuxiliarySMC cannot serve {prior!r}: it needs the jumps of a stable process "
                "(Pitman-Yor of positive discount, NGG) or a number of components (MFM, finite "
                "Dirichlet); use UrnSMC."
            )
        return prior

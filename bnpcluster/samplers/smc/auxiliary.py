"""Particle filters that sample the weights of their clusters instead of integrating them out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.stable_distributions import log_share_left
from bnpcluster.samplers.smc.base import Filter, FilterSampler
from bnpcluster.samplers.smc.population import inherit, joining, opened, opening


class Jumps(NamedTuple):
    """Clusters in size-biased order, with the normalised jumps of a stable subordinator as weights.

    The random measure has the total mass T. `share` is the jump of a block over T, `left` is the
    remaining mass over T, and `log_mass` is the log of the remaining mass.
    """

    sigma: float
    log_mass: np.ndarray
    left: np.ndarray
    share: np.ndarray


class Sticks(NamedTuple):
    """Clusters in size-biased order of a mixture with a random number of components.

    Given M components with Dirichlet(g, ..., g) weights, the l-th cluster takes a share
    Beta(1 + g, (M - l) g) of the remaining stick, and the M-th takes all of it.
    """

    gamma: float
    components: np.ndarray
    left: np.ndarray
    share: np.ndarray


@opening.register(Jumps)
@opening.register(Sticks)
def _opening_left(prior_weights, step, p, n_blocks):
    return prior_weights.left[p]


@joining.register(Jumps)
@joining.register(Sticks)
def _joining_share(prior_weights, step, p, n_blocks, block, size):
    return prior_weights.share[p, block]


@opened.register(Jumps)
def _opened_jump(prior_weights, p, n_blocks, rng):
    log_left = log_share_left(prior_weights.log_mass[p], prior_weights.sigma, rng)
    prior_weights.share[p, n_blocks] = -prior_weights.left[p] * math.expm1(log_left)
    prior_weights.left[p] *= math.exp(log_left)
    prior_weights.log_mass[p] += log_left


@opened.register(Sticks)
def _opened_stick(prior_weights, p, n_blocks, rng):
    rest = prior_weights.components[p] - n_blocks - 1.0
    stick = 1.0
    if rest > 0.0:
        one = rng.standard_gamma(1.0 + prior_weights.gamma)
        stick = one / (one + rng.standard_gamma(rest * prior_weights.gamma))
    prior_weights.share[p, n_blocks] = prior_weights.left[p] * stick
    prior_weights.left[p] = prior_weights.left[p] * (1.0 - stick) if rest > 0.0 else 0.0


@inherit.register(Jumps)
def _inherit_jumps(prior_weights, p, parent, n_blocks):
    prior_weights.log_mass[p] = prior_weights.log_mass[parent]
    prior_weights.left[p] = prior_weights.left[parent]
    for j in range(n_blocks):
        prior_weights.share[p, j] = prior_weights.share[parent, j]


@inherit.register(Sticks)
def _inherit_sticks(prior_weights, p, parent, n_blocks):
    prior_weights.components[p] = prior_weights.components[parent]
    prior_weights.left[p] = prior_weights.left[parent]
    for j in range(n_blocks):
        prior_weights.share[p, j] = prior_weights.share[parent, j]


class WeightedFilter(Filter):
    """Particles with weights of their clusters."""

    weights: Any = None

    def prior_weights(self, start: int, stop: int) -> Any:
        """Weights of the clusters of all particles, first drawn before the first item."""
        if self.weights is None:
            self.weights = _initial_weights(self.prior, len(self.population.n_blocks), self.rng)
        share = self.weights.share
        missing = self.block_room - share.shape[1]
        if missing > 0:
            wider = np.hstack([share, np.zeros((len(share), missing))])
            self.weights = self.weights._replace(share=wider)
        return self.weights


def _initial_weights(prior: Any, n: int, rng: np.random.Generator) -> Jumps | Sticks:
    """Draw the total masses, or the numbers of components, of particles without clusters."""
    left, share = np.ones(n), np.zeros((n, 0))
    if hasattr(prior, "log_total_mass"):
        return Jumps(float(prior.sigma_now), prior.log_total_mass(n, rng), left, share)
    return Sticks(-float(prior.sigma_now), prior.draw_components(n, rng), left, share)


class AuxiliarySMC(FilterSampler):
    """Particle filter whose particles sample the weights of their clusters.

    Each particle draws the total mass of the random measure at the start. When a cluster opens, it
    draws its weight (a size-biased jump of a stable subordinator). A row joins a cluster with
    probability proportional to its weight times the predictive density. For a mixture of finite
    mixtures, particles draw the number of components and the sticks instead. It estimates the same
    evidence as `UrnSMC`, with more noise, and does not need the urn of the prior.

    Parameters
    ----------
    n_particles : int, default=1000
    resample_threshold : float, default=0.8
        Particles are resampled when their relative effective sample size falls below it. 0: never
        ("vanilla" in the reference); 1: whenever weights differ.
    resampling : {"systematic", "stratified", "multinomial"}, default="systematic"

    Notes
    -----
    Works with Pitman-Yor processes of positive discount, NGG and any other `PoissonKingman` prior
    ("SMC I" of the reference), and with MFM and finite Dirichlet mixtures ("SMC III"). Jumps are
    exact for every sigma between 0 and 1: by rejection, or in closed form at sigma = 1/2. The
    approximate variants of the reference are not included. The Dirichlet process has no stable
    form. See `UrnSMC` for hyper-parameters.

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
    >>> model = NGGMixture(sampler="auxiliary_smc", n_particles=1000, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    particles = WeightedFilter

    def checked(self, prior: Any) -> Any:
        """The prior with fixed values; raises an error if its clusters have no such weights."""
        prior = super().checked(prior)
        stable = hasattr(prior, "log_total_mass") and prior.sigma_now > 0.0
        if not stable and not hasattr(prior, "draw_components"):
            raise ValueError(
                f"AuxiliarySMC does not work with {prior!r}. It needs a Pitman-Yor prior with "
                "positive discount, NGG, PoissonKingman, MFM or a finite Dirichlet prior: use "
                "UrnSMC instead."
            )
        return prior

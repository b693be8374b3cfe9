"""Exact posteriors by enumeration, and the checks that every component must pass.

For up to about seven items all partitions can be listed, so the posterior is known exactly. A
sampler is right when it leaves it invariant: `check_sampler` starts from exact draws, applies one
step and compares. `check_likelihood` and `check_prior` hold the other components to their
contracts. They serve components of other packages just as well.
"""

from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.testing.check_likelihoods import check_likelihood
from bnpcluster.testing.check_particle_samplers import check_particles
from bnpcluster.testing.check_priors import check_prior
from bnpcluster.testing.check_samplers import check_sampler
from bnpcluster.testing.enumeration import ExactPosterior, exact_posterior, log_eppf

__all__ = [
    "ExactPosterior",
    "all_partitions",
    "check_likelihood",
    "check_particles",
    "check_prior",
    "check_sampler",
    "exact_posterior",
    "log_eppf",
]

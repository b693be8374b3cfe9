"""Exact posteriors by enumeration, and the checks that every component must pass.

For up to about seven items, all partitions can be enumerated, so the posterior is known exactly. A
sampler is correct if it leaves the posterior invariant: `check_sampler` starts from exact draws,
makes one step and compares. `check_particles` compares the estimates of particle samplers.
`check_likelihood` and `check_prior` check the contracts of the other components. You can use them
for components of your own.
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

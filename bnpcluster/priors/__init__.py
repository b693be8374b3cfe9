"""Gibbs-type priors on partitions. Each is two tables, so all share the same compiled kernels."""

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.poisson_kingman import PoissonKingman
from bnpcluster.priors.registry import *  # noqa: F403
from bnpcluster.priors.registry import PRIORS

__all__ = [
    "PRIORS",
    "PoissonKingman",
    "Prior",
    "PriorTables",
    *(cls.__name__ for cls in PRIORS.values()),
]

"""Gibbs-type priors on partitions: each is two tables, so one compiled kernel serves them all."""

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.registry import *  # noqa: F403
from bnpcluster.priors.registry import PRIORS

__all__ = ["PRIORS", "Prior", "PriorTables", *(cls.__name__ for cls in PRIORS.values())]

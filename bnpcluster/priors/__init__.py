"""Gibbs-type priors on partitions: each is two tables, so one compiled kernel serves them all."""

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.dirichlet_process import DirichletProcess

PRIORS: dict[str, type[Prior]] = {
    "dp": DirichletProcess,
}
"""Names for `prior=`, in the order they are listed to users."""

__all__ = ["PRIORS", "DirichletProcess", "Prior", "PriorTables"]

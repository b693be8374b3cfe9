"""Gibbs-type priors on partitions: each is two tables, so one compiled kernel serves them all."""

from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.dirichlet_process import DirichletProcess
from bnpcluster.priors.finite_dirichlet import FiniteDirichlet
from bnpcluster.priors.mfm import MFM
from bnpcluster.priors.ngg import NGG
from bnpcluster.priors.pitman_yor import PitmanYor

PRIORS: dict[str, type[Prior]] = {
    "dp": DirichletProcess,
    "py": PitmanYor,
    "ngg": NGG,
    "mfm": MFM,
    "finite": FiniteDirichlet,
}
"""Names for `prior=`, in the order they are listed to users."""

__all__ = [
    "MFM",
    "NGG",
    "PRIORS",
    "DirichletProcess",
    "FiniteDirichlet",
    "PitmanYor",
    "Prior",
    "PriorTables",
]

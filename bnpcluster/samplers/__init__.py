"""Samplers of the posterior of a partition, exchangeable behind one word."""

from bnpcluster.samplers._smc import ParticleSampler, Run
from bnpcluster.samplers.annealed_smc import AnnealedSMC
from bnpcluster.samplers.arm import ARM
from bnpcluster.samplers.auxiliary_smc import AuxiliarySMC
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.gibbs import Gibbs
from bnpcluster.samplers.jain_neal import JainNeal
from bnpcluster.samplers.pgsm import PGSM
from bnpcluster.samplers.sams import SAMS
from bnpcluster.samplers.split_merge import SplitMerge
from bnpcluster.samplers.urn_smc import UrnSMC

SAMPLERS: dict[str, type[Sampler]] = {
    "split_merge": SplitMerge,
    "gibbs": Gibbs,
    "jain_neal": JainNeal,
    "sams": SAMS,
    "pgsm": PGSM,
    "arm": ARM,
    "urn_smc": UrnSMC,
    "annealed_smc": AnnealedSMC,
    "auxiliary_smc": AuxiliarySMC,
}
"""Names for `sampler=`, in the order they are listed to users."""

__all__ = [
    "ARM",
    "PGSM",
    "SAMPLERS",
    "SAMS",
    "AnnealedSMC",
    "AuxiliarySMC",
    "Gibbs",
    "JainNeal",
    "ParticleSampler",
    "Run",
    "Sampler",
    "SplitMerge",
    "UrnSMC",
]

"""The samplers by name. To add one, write a file and add a line here."""

from __future__ import annotations

from bnpcluster.samplers.arm_sams import ARMWithSAMS
from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.blocked.blocked import Blocked
from bnpcluster.samplers.gibbs import Gibbs
from bnpcluster.samplers.reconfiguration.arm import ARM
from bnpcluster.samplers.smc.annealed import AnnealedSMC
from bnpcluster.samplers.smc.auxiliary import AuxiliarySMC
from bnpcluster.samplers.smc.urn import UrnSMC
from bnpcluster.samplers.split_merge.jain_neal import JainNeal
from bnpcluster.samplers.split_merge.pgsm import PGSM
from bnpcluster.samplers.split_merge.sams import SAMS
from bnpcluster.samplers.split_merge.split_merge import SplitMerge

SAMPLERS: dict[str, type[Sampler]] = {
    "split_merge": SplitMerge,
    "gibbs": Gibbs,
    "blocked": Blocked,
    "jain_neal": JainNeal,
    "sams": SAMS,
    "pgsm": PGSM,
    "arm": ARM,
    "arm_sams": ARMWithSAMS,
    "urn_smc": UrnSMC,
    "annealed_smc": AnnealedSMC,
    "auxiliary_smc": AuxiliarySMC,
}
"""Names for `sampler=`, in the order in which users see them."""

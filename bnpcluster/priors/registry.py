"""The priors by name. To add one, write a file and add a line here."""

from __future__ import annotations

from bnpcluster.priors.base import Prior
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
"""Names for `prior=`, in the order in which messages list them."""

"""Bayesian nonparametric clustering that behaves like scikit-learn.

=========================  =======================================================
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("bnpcluster")
except PackageNotFoundError:  # a source tree that was not installed
    __version__ = "0.0.0"

from bnpcluster.evidence import bayes_factor
from bnpcluster.mixtures import (
    BNPMixture,
    DPMixture,
    FiniteDirichletMixture,
    MFMMixture,
    NGGMixture,
    PitmanYorMixture,
)
from bnpcluster.relational import InfiniteRelationalModel

__all__ = [
    "BNPMixture",
    "DPMixture",
    "FiniteDirichletMixture",
    "InfiniteRelationalModel",
    "MFMMixture",
    "NGGMixture",
    "PitmanYorMixture",
    "__version__",
    "bayes_factor",
]

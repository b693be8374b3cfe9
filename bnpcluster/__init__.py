"""Bayesian nonparametric clustering that behaves like scikit-learn.

========================  ==============================================================
`DPMixture`               Dirichlet process mixture
`PitmanYorMixture`        Pitman-Yor mixture
`NGGMixture`              normalised generalised gamma mixture
`MFMMixture`              mixture of finite mixtures
`FiniteDirichletMixture`  mixture with a fixed number of components
`BNPMixture`              mixture with any prior on partitions
`bayes_factor`            log Bayes factor of two models fitted with particles
`bnpcluster.likelihoods`  the law of the data within a cluster
`bnpcluster.priors`       priors on partitions
`bnpcluster.samplers`     how the posterior is sampled
`bnpcluster.partitions`   point estimates and losses, on label draws of any program
`bnpcluster.testing`      exact posteriors by enumeration; checks of new components
========================  ==============================================================
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

__all__ = [
    "BNPMixture",
    "DPMixture",
    "FiniteDirichletMixture",
    "MFMMixture",
    "NGGMixture",
    "PitmanYorMixture",
    "__version__",
    "bayes_factor",
]

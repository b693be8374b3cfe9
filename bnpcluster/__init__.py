"""Bayesian nonparametric clustering that behaves like scikit-learn.

========================  ==============================================================
`DPMixture`               Dirichlet process mixture
`BNPMixture`              mixture with any prior on partitions
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

from bnpcluster.mixtures import BNPMixture, DPMixture

__all__ = ["BNPMixture", "DPMixture", "__version__"]

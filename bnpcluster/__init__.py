"""Bayesian nonparametric clustering that behaves like scikit-learn.

=========================  =========================================================
`DPMixture`                Dirichlet process mixture
`PitmanYorMixture`         with more small clusters
`NGGMixture`               likewise, by normalised generalised gamma processes
`MFMMixture`               with a finite, unknown number of components
`FiniteDirichletMixture`   with a given number of components
`BNPMixture`               with any prior on partitions
`InfiniteRelationalModel`  clusters of the vertices of a network
`bayes_factor`             two models compared by their evidences
`bnpcluster.likelihoods`   distributions of the data within a cluster
`bnpcluster.priors`        priors on partitions
`bnpcluster.samplers`      how the posterior is sampled
`bnpcluster.posterior`     the draws, and what one asks of them
`bnpcluster.partitions`    point estimates and losses, on label draws of any program
`bnpcluster.diagnostics`   whether the draws can be trusted
`bnpcluster.plotting`      pictures
`bnpcluster.extending`     base classes and operations, for components of your own
`bnpcluster.testing`       exact posteriors by enumeration; checks of components
=========================  =========================================================
"""

from bnpcluster._version import __version__
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

"""Conjugate likelihoods: distributions of the data within a cluster, parameters integrated out."""

from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.gaussian.wishart import Wishart
from bnpcluster.likelihoods.network.stochastic_blocks import Relational
from bnpcluster.likelihoods.registry import *  # noqa: F403
from bnpcluster.likelihoods.registry import LIKELIHOODS

__all__ = [
    "LIKELIHOODS",
    "Likelihood",
    "Relational",
    "Wishart",
    *(cls.__name__ for cls in LIKELIHOODS.values()),
]

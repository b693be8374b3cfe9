"""Samplers of the posterior of a partition, which you choose by name."""

from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.registry import *  # noqa: F403
from bnpcluster.samplers.registry import SAMPLERS
from bnpcluster.samplers.smc.base import ParticleSampler, Run

__all__ = [
    "ParticleSampler",
    "Run",
    "SAMPLERS",
    "Sampler",
    *(cls.__name__ for cls in SAMPLERS.values()),
]

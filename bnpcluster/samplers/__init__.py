"""Samplers of the posterior of a partition, exchangeable behind one word."""

from bnpcluster.samplers.base import Sampler
from bnpcluster.samplers.gibbs import Gibbs

SAMPLERS: dict[str, type[Sampler]] = {
    "gibbs": Gibbs,
}
"""Names for `sampler=`, in the order they are listed to users."""

__all__ = ["SAMPLERS", "Gibbs", "Sampler"]

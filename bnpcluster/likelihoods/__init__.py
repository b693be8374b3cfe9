"""Conjugate likelihoods: the law of the data within a cluster, its parameters integrated out."""

from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.normal_inverse_gamma import NormalInverseGamma
from bnpcluster.likelihoods.normal_inverse_wishart import NormalInverseWishart

LIKELIHOODS: dict[str, type[Likelihood]] = {
    "niw": NormalInverseWishart,
    "nig": NormalInverseGamma,
}
"""Names for `likelihood=`, in the order they are listed to users."""

__all__ = ["LIKELIHOODS", "Likelihood", "NormalInverseGamma", "NormalInverseWishart"]

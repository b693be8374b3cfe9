"""Conjugate likelihoods: the law of the data within a cluster, its parameters integrated out."""

from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.bernoulli import Bernoulli
from bnpcluster.likelihoods.categorical import Categorical
from bnpcluster.likelihoods.columns import Columns
from bnpcluster.likelihoods.normal_inverse_gamma import NormalInverseGamma
from bnpcluster.likelihoods.normal_inverse_wishart import NormalInverseWishart
from bnpcluster.likelihoods.poisson import Poisson
from bnpcluster.likelihoods.pyclone import PyClone
from bnpcluster.likelihoods.relational import Relational

LIKELIHOODS: dict[str, type[Likelihood]] = {
    "niw": NormalInverseWishart,
    "nig": NormalInverseGamma,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "poisson": Poisson,
    "columns": Columns,
    "pyclone": PyClone,
}
"""Names for `likelihood=` of the mixtures, in the order they are listed to users."""

__all__ = [
    "LIKELIHOODS",
    "Bernoulli",
    "Categorical",
    "Columns",
    "Likelihood",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Poisson",
    "PyClone",
    "Relational",
]

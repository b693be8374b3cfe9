"""The likelihoods by name. To add one, write a file and add a line here."""

from __future__ import annotations

import bnpcluster.likelihoods.discrete.term_parameters
import bnpcluster.likelihoods.gaussian.column_parameters
import bnpcluster.likelihoods.gaussian.niw_moments
import bnpcluster.likelihoods.gaussian.normal_parameters
import bnpcluster.likelihoods.gaussian.planar_tiles
import bnpcluster.likelihoods.gaussian.wide_tiles
import bnpcluster.likelihoods.mixed.pair_parameters  # noqa: F401  these seven register operations
from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.discrete.bernoulli import Bernoulli
from bnpcluster.likelihoods.discrete.categorical import Categorical
from bnpcluster.likelihoods.discrete.poisson import Poisson
from bnpcluster.likelihoods.gaussian.nig import NormalInverseGamma
from bnpcluster.likelihoods.gaussian.niw import NormalInverseWishart
from bnpcluster.likelihoods.mixed.columns import Columns
from bnpcluster.likelihoods.pyclone.likelihood import PyClone

LIKELIHOODS: dict[str, type[Likelihood]] = {
    "niw": NormalInverseWishart,
    "nig": NormalInverseGamma,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "poisson": Poisson,
    "columns": Columns,
    "pyclone": PyClone,
}
"""Names for `likelihood=` of the mixtures, in the order in which messages list them."""

Columns._by_name = LIKELIHOODS  # parts may be given by name

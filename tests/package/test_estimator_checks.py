"""scikit-learn's own checks, none expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bnpcluster import DPMixture, mixtures
from bnpcluster._estimators.mixture import Mixture

# The checks fit pure noise, on which chains may well disagree.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_draws": 60, "n_warmup": 60}
MIXTURES = [
    cls(**QUICK)
    for cls in vars(mixtures).values()
    if isinstance(cls, type) and issubclass(cls, Mixture) and cls is not Mixture
]


def test_every_mixture_is_checked():
    assert {type(m).__name__ for m in MIXTURES} >= {"DPMixture", "BNPMixture", "NGGMixture"}


@parametrize_with_checks(MIXTURES)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([DPMixture()])
def test_checks_with_all_defaults(estimator, check):
    check(estimator)

"""Hyper-parameters that arithmetic cannot hold are refused with the range that it can."""

import numpy as np
import pytest

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster.likelihoods import (
    Bernoulli,
    Categorical,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Relational,
    Wishart,
)
from bnpcluster.likelihoods.base import LEAST, MOST
from bnpcluster.likelihoods.gaussian.units import REACH
from bnpcluster.priors import DirichletProcess
from bnpcluster.testing import exact_posterior

NIW, NIG = NormalInverseWishart, NormalInverseGamma
ROWS = np.random.default_rng(0).normal(size=(6, 2))
BITS = (ROWS > 0).astype(float)
GRAPH = np.triu(np.ones((5, 5)), 2) + np.triu(np.ones((5, 5)), 2).T
ROW_RANGE, FAR = "from 1e-10 to 1e\\+10", "1e\\+50, in units of the spread of its column"


@pytest.mark.parametrize("value", [1e308, 10**400, 5e-324])
@pytest.mark.parametrize(
    ("cls", "name", "expected"),
    [
        (NIW, "kappa", ROW_RANGE),
        (NIW, "scale", FAR),
        (NIG, "kappa", ROW_RANGE),
        (NIG, "shape", ROW_RANGE),
        (NIG, "scale", FAR),
        (Poisson, "shape", ROW_RANGE),
        (Poisson, "rate", ROW_RANGE),
        (Bernoulli, "a", ROW_RANGE),
        (Bernoulli, "b", ROW_RANGE),
        (Categorical, "concentration", ROW_RANGE),
    ],
)
def test_what_arithmetic_cannot_hold_is_refused(cls, name, value, expected):
    X = BITS if cls in (Poisson, Bernoulli, Categorical) else ROWS
    in_words = "an integer of 1329 bits" if value == 10**400 else ""
    with pytest.raises(ValueError, match=f"^{name} must be .*({expected}|finite).*{in_words}"):
        DPMixture(likelihood=cls(**{name: value})).fit(X)


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        (NIW(nu=1e300), "nu must be greater than 1, from 1 to 1e\\+10"),
        (NIW(mean=-1e60), f"mean must be at most {FAR}"),
        (NIG(mean=1e60), f"mean must be at most {FAR}"),
        (NIW(kappa=(1.0, 1e308)), f"The rate of kappa must be greater than 0, {ROW_RANGE}"),
        (NIW(scale=Wishart(df=1e308)), "df must be greater than 1, from 1 to 1e\\+10"),
        (NIW(scale=Wishart(mean=1e-300)), f"mean must be from 1e-50 to {FAR}"),
        (NIG(scale=Wishart(mean=1e-300)), f"mean must be from 1e-50 to {FAR}"),
    ],
)
def test_other_bounds(likelihood, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        DPMixture(likelihood=likelihood).fit(ROWS)


@pytest.mark.parametrize("value", [1e308, 10**400, 5e-324])
def test_the_prior_of_links_has_a_range(value):
    with pytest.raises(ValueError, match=f"beta must be a pair of positive numbers, {ROW_RANGE}"):
        InfiniteRelationalModel(beta=(1.0, value)).fit(GRAPH)


@pytest.mark.parametrize("end", [LEAST, MOST])
@pytest.mark.parametrize(
    ("cls", "names", "X"),
    [
        (NIW, ("kappa", "nu"), ROWS),
        (NIG, ("kappa", "shape"), ROWS),
        (Poisson, ("shape", "rate"), BITS),
        (Bernoulli, ("a", "b"), BITS),
        (Categorical, ("concentration",), BITS),
    ],
)
def test_the_ends_of_the_range_give_numbers(cls, names, X, end):
    for name in names:
        value = 1.0 + 1e-6 if name == "nu" and end == LEAST else end
        found = exact_posterior(X[:4], cls(**{name: value}), DirichletProcess(1.0))
        assert np.isfinite(found.log_evidence), name


def test_far_scales_and_means_give_numbers():
    for given in ({"scale": 10.0 / REACH}, {"scale": 0.1 * REACH}, {"mean": 0.1 * REACH}):
        for cls in (NIW, NIG):
            found = exact_posterior(ROWS[:4], cls(**given), DirichletProcess(1.0))
            assert np.isfinite(found.log_evidence), (cls, given)
    for beta in (LEAST, MOST):
        found = exact_posterior(GRAPH, Relational(beta=(beta, 1.0)), DirichletProcess(1.0))
        assert np.isfinite(found.log_evidence)

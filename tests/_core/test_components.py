"""Unknown parameters of components, also of those that others write."""

import copy
import inspect
import pickle

import pytest
from sklearn.base import clone

from bnpcluster._core.components import Component
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.samplers import Gibbs


class Plain(Component):
    """Without parameters."""


class Open(Component):
    """With a constructor that takes anything."""

    def __init__(self, first=1, **others):
        self.first, self.others = first, others


class Given(Component):
    """With parameters that need no names."""

    def __init__(self, first=1, second=2):
        self.first, self.second = first, second


def test_unknown_names_are_refused():
    with pytest.raises(
        TypeError, match=r"^Given has no parameter 'secnod'. Did you mean 'second'\?$"
    ):
        Given(secnod=3)
    with pytest.raises(TypeError, match=r"^Given has no parameter 'x'. It has first, second\.$"):
        Given(x=3)
    with pytest.raises(TypeError, match=r"^Plain has no parameter 'x', because it has none"):
        Plain(x=3)
    with pytest.raises(TypeError, match=r"^Plain has no parameters: write Plain\(\)"):
        Plain(3)


def test_what_is_known_is_accepted():
    assert (Given(3).first, Given(second=4).second) == (3, 4)
    assert Open(anything=5).others == {"anything": 5}
    assert isinstance(Plain(), Plain)


def test_components_stay_estimators_of_sklearn():
    likelihood = NormalInverseGamma(kappa=0.5)
    for same in (clone(likelihood), copy.deepcopy(likelihood)):
        assert same.get_params() == likelihood.get_params()
    assert pickle.loads(pickle.dumps(likelihood)).kappa == 0.5
    assert "kappa" in inspect.signature(NormalInverseGamma).parameters
    assert clone(Gibbs()).get_params() == Gibbs().get_params()

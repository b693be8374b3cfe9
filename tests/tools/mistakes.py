"""Tables of mistakes and of the fragments expected in the replies to them."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture

LONGEST = 420  # characters of a reply: one or two sentences
FORBIDDEN = ("object at 0x", "Traceback", "inhomogeneous", "numba", "\n\n")
X = np.random.default_rng(0).normal(size=(14, 2))
QUICK = {"n_draws": 4, "n_warmup": 2, "n_chains": 1, "random_state": 0}
N = len(X)


def fit(data=X, model=DPMixture, **parameters):
    """A short fit."""
    return model(**{**QUICK, **parameters}).fit(data)


def frame(**columns):
    """A data frame of two measurements and other columns."""
    return pd.DataFrame({"height": X[:, 0], "width": X[:, 1], **columns})


def spoilt(value, i=3, j=1):
    """The rows with one other cell."""
    bad = X.astype(float if isinstance(value, float) else object)
    bad[i, j] = value
    return bad


@functools.cache
def fitted(kind="niw"):
    """A fit that several mistakes share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "mixed":
            return fit(frame(city=["Oslo", "Rome"] * 7), likelihood="columns")
        if kind == "frame":
            return fit(frame())
        if kind == "particles":
            return fit(sampler="urn_smc", n_particles=8)
        data = np.arange(2 * N).reshape(N, 2) % 2 if kind == "bernoulli" else X
        return fit(data, likelihood=kind)


def reply(mistake):
    """The class and the text of the error that a mistake raises."""
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        mistake()
    return caught.type, str(caught.value)


def table(*rows):
    """A decorator for a test of `mistake` and `fragment`, from triples with a name before them."""
    assert len({row[0] for row in rows}) == len(rows)
    cases = [pytest.param(*row[1:], id=row[0]) for row in rows]
    return pytest.mark.parametrize(("mistake", "fragment"), cases)


def check(mistake, fragment, kinds=(ValueError, TypeError, AttributeError)):
    """Raise an AssertionError unless the reply to a mistake is kind."""
    kind, text = reply(mistake)
    assert issubclass(kind, kinds), f"{kind.__name__}: {text}"
    assert fragment in text, f"{kind.__name__}: {text}"
    assert len(text) <= LONGEST
    assert not [word for word in FORBIDDEN if word in text]

from __future__ import annotations
from typing import Any
import numpy as np
from bnpcluster._ops import padded
from bnpcluster.likelihoods._beta_bernoulli import BernoulliSlots
from bnpcluster.likelihoods._counts import tabulate
from bnpcluster.likelihoods.base import Likelihood, column_values

class Bernoulli(Likelihood):
    def __init__(self, *, a=1.0, b=1.0):
        self.a = a
        self.b = b
    def bind(self, X, capacity=16):
        n, d = X.shape
        a, b = column_values("a", self.a, d, True), column_values("b", self.b, d, True)
        common = (X.mean(axis=0) > 0.5).astype(float)
        a, b = np.where(common, b, a), np.where(common, a, b)
        width = padded(capacity)
        start, columns = departures(X, common)
        return BernoulliSlots(start, columns, common, tabulate(a,n+2), tabulate(b,n+2), tabulate(a+b,n+2),
            np.zeros(width, np.intp), np.zeros((width,d),np.int32), np.zeros((d,width)), np.zeros(width), np.zeros((width,d)), np.zeros(width))

def departures(X, common):
    item, column = np.nonzero(X != common)
    start = np.zeros(len(X) + 1, np.intp)
    np.cumsum(np.bincount(item, minlength=len(X)), out=start[1:])
    return start, column.astype(np.uint32)

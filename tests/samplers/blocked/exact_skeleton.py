"""The proof of `exact_batch` for five items, where the skeleton couples more decisions.

Only with five can two moves be decided beside a block that stays single, or a side of two items
stand in a matching of two pairs. The likelihood is the same for all items, so parameters make no
branches.
"""

import numpy as np

from bnpcluster.samplers.blocked import batch, proposals
from bnpcluster.samplers.blocked.batch import Batch
from tests.samplers.blocked.exact_batch import ODD, PY, SHARES, Chain, assert_invariant, table
from tests.samplers.blocked.exact_batch import enumerable as discrete
from tests.tools.grid import GridLikelihood

__all__ = ["discrete"]  # a fixture that every test here uses


def test_a_batch_of_five_items_leaves_the_posterior_as_it_is(monkeypatch):
    monkeypatch.setattr(proposals, "RESTS", 0.0)
    monkeypatch.setattr(batch, "draw_odd", lambda rng: ODD)
    monkeypatch.setattr(batch, "draw_log_shares", one_share)
    chain = Chain(GridLikelihood(table(5, 1)), PY, Batch(0.45, 0.0))
    assert_invariant(chain)


def one_share(one, two, rng):
    """The same share for all moves: fixed launches need no other."""
    return np.tile(np.log([SHARES[0], 1.0 - SHARES[0]]), (len(one), 1))

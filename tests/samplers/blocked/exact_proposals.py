"""The proof of `exact_batch` for launches of more rows than the anchors.

Four items are the fewest of which a launch can take some, and some that are no anchors.
"""

from bnpcluster.samplers.blocked import batch, proposals
from bnpcluster.samplers.blocked.batch import Batch
from tests.samplers.blocked.exact_batch import DP, ODD, Chain, assert_invariant, table
from tests.samplers.blocked.exact_batch import enumerable as discrete
from tests.samplers.blocked.exact_skeleton import one_share
from tests.tools.grid import GridLikelihood

__all__ = ["discrete"]  # a fixture that every test here uses


def test_a_launch_of_three_of_four_items_leaves_the_posterior_as_it_is(monkeypatch):
    """The first side is like three items, and leaves some of four."""
    for name, value in {"RESTS": 1.0, "SIZES_OF_RESTS": (3,), "MOST_LEFT": 4}.items():
        monkeypatch.setattr(proposals, name, value)
    monkeypatch.setattr(batch, "draw_odd", lambda rng: ODD)
    monkeypatch.setattr(batch, "draw_log_shares", one_share)
    monkeypatch.setattr(proposals, "log_density_of_shares", lambda *shares: 0.0)
    chain = Chain(GridLikelihood(table(4, 2, 2.5, seed=5)), DP, Batch(0.4, 1.0))
    assert_invariant(chain)

"""When the table of frozen anchors is made, and what becomes of it; see `exact_kernel`, too."""

import json

import numpy as np
import pytest

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._core.state import State
from bnpcluster._fitting.checkpoint import Checkpoint, thawed
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import PGSM, SAMS
from bnpcluster.samplers.split_merge import frozen_anchors as module
from bnpcluster.samplers.split_merge.frozen_anchors import TABLES, learn_table, read_table
from tests.conftest import three_blobs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SAMPLERS = [
    pytest.param(SAMS(anchors="frozen_cluster", n_moves=5), id="sams"),
    pytest.param(PGSM(anchors="frozen_threshold", n_particles=5, n_moves=5), id="pgsm"),
]


def state_with(labels, adapting=True):
    X = np.random.default_rng(0).normal(size=(12, 1)) + 4.0 * (np.arange(12) // 4)[:, None]
    state = State(NormalInverseGamma().bind(X), DirichletProcess(1.0), labels, capacity=2)
    state.adapting = adapting
    return state


def put(state, labels):
    state.labels[:] = labels
    state.rebuild()


@pytest.mark.parametrize("anchors", TABLES)
def test_the_table_is_made_again_at_a_record_of_the_number_of_blocks(anchors, monkeypatch):
    state = state_with([0] * 12)
    assert not learn_table(anchors, state) and state.guide is None
    for labels, made in [
        (np.arange(12) // 6, True),
        (np.arange(12) % 2, False),  # as many blocks
        (np.arange(12) // 4, True),
        (np.arange(12) // 6, False),
    ]:
        before = state.guide
        put(state, labels)
        assert learn_table(anchors, state) == made
        assert made or state.guide is before
    block, row, chances = read_table(state.guide, 12)
    np.testing.assert_array_equal(block, np.arange(12) // 4)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert row.max() < len(chances) and chances.shape[1] == 3
    put(state, np.arange(12) // 3)
    monkeypatch.setattr(module, "MOST", 3)
    assert not learn_table(anchors, state)
    monkeypatch.undo()
    state.adapting = False
    assert not learn_table(anchors, state)


def test_a_threshold_table_has_a_row_for_each_set_of_blocks():
    state = state_with(np.arange(12) // 4)
    assert learn_table("frozen_threshold", state)
    _, row, chances = read_table(state.guide, 12)
    assert len(chances) <= 7 and len(np.unique(chances, axis=0)) == len(chances)
    assert (chances[row, np.arange(12) // 4] > 0).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_step_uses_the_new_table_and_keeps_it_after_warm_up(sampler):
    state, rng = state_with(np.arange(12) // 6), np.random.default_rng(0)
    sampler.step(state, rng)
    put(state, np.arange(12) // 4)
    sampler.step(state, rng)
    (key,) = {"moves", "pgsm"} & set(state.scratch)
    held = next(part for part in state.scratch[key] if isinstance(part, module.Frozen))
    np.testing.assert_array_equal(held.block, np.arange(12) // 4)
    guide = state.guide
    state.adapting = False
    put(state, np.arange(12))
    sampler.step(state, rng)
    assert state.guide is guide


def guides(model):
    return [thawed(arrays, model._fitted.prior).guide for arrays in model._fitted.states]


def fit(sampler, n_draws=30, n_warmup=140, **parameters):
    model = DPMixture(
        sampler=sampler,
        n_draws=n_draws,
        n_warmup=n_warmup,
        n_chains=2,
        random_state=4,
        **parameters,
    )
    return model.fit(three_blobs()[0])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_table_survives_rounds_an_interruption_and_longer_chains(
    sampler, tmp_path, monkeypatch
):
    whole = fit(sampler)
    assert all(guide is not None and guide[0] >= 3 for guide in guides(whole))
    monkeypatch.setattr("bnpcluster._fitting.checkpoint.EVERY", 0.0)
    save = Checkpoint.save

    def dies(self, chains, force=False):
        save(self, chains, force)
        if chains[0].boundary.guide is not None:
            raise KeyError("the machine stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", dies)
        with pytest.raises(KeyError):
            fit(sampler, checkpoint=tmp_path)
    resumed = fit(sampler, checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.posterior_.labels, whole.posterior_.labels)
    longer = fit(sampler).continue_fit(20)
    for one, two, three in zip(guides(whole), guides(resumed), guides(longer), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    again = fit(sampler, n_warmup=0, n_draws=2, init=three_blobs()[1])
    assert guides(again) == [None, None]


def test_a_warm_start_keeps_the_table():
    model = fit(SAMS(anchors="frozen_cluster"), warm_start=True)
    before = guides(model)
    model.set_params(n_warmup=0, n_draws=3).fit(three_blobs()[0])
    for one, two in zip(before, guides(model), strict=True):
        np.testing.assert_array_equal(one, two)


GUIDE = np.array([2, 2, 0, 0, 1, 0, 0, 1, 0.5, 0.5, 1.0, 0.0])


@pytest.mark.parametrize(
    ("position", "value"), [(0, 3), (2, 7), (2, -2), (4, 0), (5, 9), (8, -1.0), (10, 0), (11, 1.0)]
)
def test_foreign_tables_are_refused(position, value):
    assert read_table(GUIDE, 3)[2].tolist() == [[0.5, 0.5], [1.0, 0.0]]
    foreign = GUIDE.copy()
    foreign[position] = value
    with pytest.raises(ValueError, match="the table of the anchors"):
        read_table(foreign, 3)


@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a * np.nan, lambda a: a - 9.0])
def test_a_checkpoint_with_a_foreign_table_is_refused(tmp_path, change):
    fit(SAMS(anchors="frozen_cluster"), checkpoint=tmp_path)
    (file,) = tmp_path.iterdir()
    with np.load(file) as arrays:
        members = dict(arrays)
    assert json.loads(str(members["about"]))["format"] == 4
    np.savez(file, **{**members, "guide_1": change(members["guide_1"])})
    with pytest.raises(ValueError, match=r"^The checkpoint .* cannot be read \(.*table"):
        fit(SAMS(anchors="frozen_cluster"), checkpoint=tmp_path)


def test_frozen_anchors_need_clusters_that_factorise():
    A = (np.random.default_rng(0).random((6, 6)) < 0.5).astype(float)
    A = np.triu(A, 1) + np.triu(A, 1).T
    with pytest.raises(ValueError, match="needs a likelihood that factorises"):
        InfiniteRelationalModel(sampler=SAMS(anchors="frozen_cluster"), n_draws=2).fit(A)

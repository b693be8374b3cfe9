"""Checkpoints with sound checksums and foreign contents: every value is checked."""

import json

import numpy as np
import pytest

from bnpcluster import DPMixture

N = 12
X = np.random.default_rng(0).normal(size=(N, 2))
SHORT = {"n_draws": 6, "n_warmup": 4, "n_chains": 2, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The file of a fit, its arrays, and the draws."""
    folder = tmp_path_factory.mktemp("saved")
    model = DPMixture(checkpoint=folder, **SHORT).fit(X)
    (file,) = folder.iterdir()
    with np.load(file) as arrays:
        return file, dict(arrays), model.posterior_.labels


def resumed(written, **members):
    """The draws of the fit that starts from the checkpoint with some other members."""
    file, arrays, _ = written
    np.savez(file, **{**arrays, **members})
    return DPMixture(checkpoint=file.parent, **SHORT).fit(X).posterior_.labels


def test_the_file_as_it_is_gives_the_draws(written):
    np.testing.assert_array_equal(resumed(written), written[2])


def meta_with(written, change):
    """The text about chain 0 after a change."""
    meta = json.loads(str(written[1]["meta_0"]))
    change(meta)
    return {"meta_0": np.array(json.dumps(meta))}


def assert_refused(written, members, reason):
    with pytest.raises(ValueError, match=rf"^The checkpoint .* cannot be read \(.*{reason}"):
        resumed(written, **members)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iteration", -100),
        ("iteration", 1),
        ("iteration", 2**60),
        ("iteration", True),
        ("iteration", 10.0),
        ("iteration", None),
        ("seconds", -1.0),
        ("seconds", "long"),
        ("seconds", float("nan")),
        ("values", {"alpha": -1.0}),
        ("values", {"alpha": "large"}),
        ("values", {"alpha": float("inf")}),
        ("values", []),
        ("traces", []),
        ("traces", [{}] * 6),
        ("traces", [{"n_clusters": 1, "log_posterior": 0.0, "alpha": 1.0}] * 5 + [{}]),
        ("traces", [{"n_clusters": 99, "log_posterior": 0.0, "alpha": 1.0}] * 6),
        ("traces", [{"n_clusters": 1, "log_posterior": "x", "alpha": 1.0}] * 6),
        ("counts", {"moves": -3}),
        ("counts", {"moves": "many"}),
        ("counts", 7),
        ("tuning", {"moves": "many"}),
        ("tuning", {"moves": float("nan")}),
        ("remembered", [3]),
        ("remembered", None),
        ("generator", {}),
        ("generator", "PCG64"),
    ],
)
def test_foreign_values(written, name, value):
    assert_refused(written, meta_with(written, lambda meta: meta.update({name: value})), "")


@pytest.mark.parametrize(("key", "value"), [("inc", 2), ("state", -1), ("state", 2**128)])
def test_a_generator_out_of_range(written, key, value):
    members = meta_with(written, lambda meta: meta["generator"]["state"].update({key: value}))
    assert_refused(written, members, "generator")


@pytest.mark.parametrize("member", ["labels_0", "draws_1"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda a: a.astype(int) - 1, "out of range"),
        (lambda a: a.astype(int) + 1000, "out of range"),
        (lambda a: a.astype(int) * 0 + 10**15, "out of range"),
        (lambda a: np.where(np.arange(N) == 3, 7, 0 * a.astype(int)), "gaps"),
        (lambda a: a.astype(float), "describe 12 items"),
        (lambda a: a.astype(str), "describe 12 items"),
        (lambda a: a.astype(bool), "describe 12 items"),
        (lambda a: a[..., :-1], "describe 12 items"),
        (lambda a: a[..., None], "describe 12 items"),
    ],
)
def test_foreign_labels(written, member, change, reason):
    assert_refused(written, {member: change(written[1][member])}, reason)


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("learned_0", lambda a: a[:-1]),
        ("learned_0", lambda a: a * np.nan),
        ("learned_0", lambda a: np.zeros(0)),
        ("learned_1", lambda a: a.astype(int)),
        ("learned_draws_0", lambda a: a[:-1]),
        ("learned_draws_0", lambda a: a[:, 1:]),
        ("learned_draws_1", lambda a: a * np.inf),
        ("latent_0", lambda a: np.ones(3)),
        ("latent_draws_0", lambda a: np.ones((6, 2))),
    ],
)
def test_foreign_parameters_of_the_likelihood(written, member, change):
    assert_refused(written, {member: change(written[1][member])}, "values")

"""`bnpcluster compile`: small fits of every kind of data."""

import numpy as np
import pytest

from bnpcluster.cli import main, preparation
from bnpcluster.cli.names import LIKELIHOODS


@pytest.fixture
def runs(monkeypatch):
    """The fits that would run, in this process."""
    found = []
    monkeypatch.setattr(preparation, "run", lambda *words: found.append(words))
    return found


def test_all_kinds_by_default(runs, capsys):
    assert main(["compile", "--jobs", "1"]) == 0
    assert {name for name, _, _ in runs} == set(LIKELIHOODS)
    assert {sampler for _, _, sampler in runs} == {"split_merge"}
    out, err = capsys.readouterr()
    assert out.startswith(f"{len(runs)} kinds of fits are compiled (") and out.count("\n") == 1
    assert err == ""  # it is redirected: no bar


def test_chosen_kinds(runs, capsys):
    words = ["compile", "--likelihood", "nig", "--sampler", "gibbs", "--sampler", "pgsm"]
    assert main([*words, "--jobs", "1", "--quiet"]) == 0
    assert [name for name, _, _ in runs] == ["nig"] * 4
    assert [sampler for _, _, sampler in runs] == ["gibbs", "pgsm"] * 2
    assert capsys.readouterr() == ("", "")


def test_unknown_likelihoods_are_refused(capsys):
    assert main(["compile", "--likelihood", "nix"]) == 2
    assert "Did you mean 'niw'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_data_with_and_without_holes(name):
    found = preparation.tables(name)
    if name == "columns":
        assert found[0].shape == (preparation.N_ROWS, 3)
    else:
        assert [bool(np.isnan(X).any()) for X in found] == [False] * (len(found) - 1) + [True]


def test_a_fit_and_its_predictions():
    preparation.run("nig", 0, "gibbs")

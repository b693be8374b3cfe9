"""Reproductions of papers resume where they were stopped, and write tables into their pages."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reproductions import arm_chains, jain_neal
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from bnpcluster.likelihoods import Bernoulli

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "reproductions"
SCRIPTS = [path.stem for path in sorted(FOLDER.glob("*.py")) if "def main(" in path.read_text()]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_starts_and_stands_in_the_readme(name, capsys):
    module = importlib.import_module(f"benchmarks.reproductions.{name}")
    with pytest.raises(SystemExit) as end:
        module.main(["--help"])
    assert end.value.code == 0
    command = f"python -m benchmarks.reproductions.{name}"
    assert command in (FOLDER / "README.md").read_text()
    assert "--finished" in capsys.readouterr().out


def test_a_unit_runs_once(tmp_path):
    calls = []

    def work():
        calls.append(1)
        return {"mean": np.float64(0.1), "labels": np.arange(3), "time": np.nan}

    first = Finished(tmp_path / "new" / "units.jsonl").get(("S1", 0.5, 1), work)
    again = Finished(tmp_path / "new" / "units.jsonl").get(("S1", 0.5, 1), work)
    assert len(calls) == 1
    np.testing.assert_equal(again, {"mean": 0.1, "labels": [0, 1, 2], "time": np.nan})
    np.testing.assert_equal(first, again)


def test_units_differ_in_any_part_of_their_keys(tmp_path):
    done = Finished(tmp_path / "units.jsonl")
    for number, key in enumerate([("S1", 1), ("S1", 2), ("S2", 1), ("S1", "1")]):
        assert done.get(key, lambda n=number: n) == number


def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    path = tmp_path / "units.jsonl"
    done = Finished(path)
    for number in range(3):
        done.get([number], lambda n=number: 10 * n)
    path.write_bytes(path.read_bytes()[:-4])
    again = Finished(path)
    assert [again.get([n], lambda n=n: 10 * n + 1) for n in range(4)] == [0, 10, 21, 31]
    assert [Finished(path).get([n], None) for n in range(4)] == [0, 10, 21, 31]


def test_an_unknown_value_is_not_kept(tmp_path):
    path = tmp_path / "units.jsonl"
    with pytest.raises(TypeError, match="cannot keep object"):
        Finished(path).get(["x"], object)
    assert not path.exists()


def test_a_stopped_run_ends_with_the_same_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(jain_neal, "N_ITERATIONS", 40)
    real, calls = jain_neal.stay_in_five, []

    def stopped(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    def run(name):
        page = tmp_path / f"{name}.md"
        page.write_text("A\n<!-- table: Gibbs from singletons -->\nold\n<!-- end -->\nB\n")
        files = ["--finished", str(tmp_path / f"{name}.jsonl"), "--page", str(page)]
        jain_neal.main(["--parts", "singletons", "--sets", "2", *files])
        return page.read_text()

    whole = run("whole")
    monkeypatch.setattr(jain_neal, "stay_in_five", stopped)
    with pytest.raises(KeyboardInterrupt):
        run("stopped")
    assert run("stopped") == whole
    # Eight units: three before the stop, the one that was stopped, and it again with four others.
    assert len(calls) == 9 and calls[3] == calls[4] and len(set(calls)) == 8
    assert "old" not in whole and whole.startswith("A\n") and whole.endswith("B\n")
    assert "| 2 | Beta(0.5, 0.5) |" in whole
    assert "Gibbs from singletons" in capsys.readouterr().out


def test_a_page_changes_in_the_places_of_its_tables_only(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "a\n<!-- table: One -->\nx\n<!-- end -->\nb\n<!-- table: Two -->\ny\n<!-- end -->\n"
    )
    Page(path).table("Two", "k | v", [[1, 2.5]])
    Page(path).table("Three", "k", [[1]])
    table = "| k | v |\n|---|---|\n| 1 | 2.5 |"
    one = "a\n<!-- table: One -->\nx\n<!-- end -->\nb\n"
    assert path.read_text() == f"{one}<!-- table: Two -->\n\n{table}\n\n<!-- end -->\n"
    path.write_text("<!-- table: Two -->\ny\n")
    with pytest.raises(ValueError, match="'Two' has no end"):
        Page(path).table("Two", "k", [])


def test_r_hat_compares_chains_of_different_restarts():
    values = np.random.default_rng(0).normal(size=(4, 2, 60)) + np.arange(2)[:, None]
    parts = [arm_chains.moments(restart, 20) for restart in values]
    kept = values[:, :, 20:]
    for chain, found in enumerate(arm_chains.between_restarts(parts)):
        within = kept[:, chain].var(axis=1, ddof=1).mean()
        between = kept[:, chain].mean(axis=1).var(ddof=1)
        assert found == pytest.approx(np.sqrt(39 / 40 + between / within), rel=1e-12)
    # The chains of a restart differ by 1, which does not count.
    assert arm_chains.between_restarts(parts).max() < 1.2


def test_chains_of_arm_keep_every_iteration_that_is_asked_for():
    bound = Bernoulli(a=1.0, b=1.0).bind(arm_chains.simulate(6, 0)[::10])
    chains = arm_chains.begin(bound, 10, 2, 0, sweeps=3)
    found = arm_chains.sample(bound, chains, arm_chains.METHODS["Gibbs"], 8, 2)
    thinned = arm_chains.sample(bound, chains, arm_chains.METHODS["Gibbs"], 8, 2, 4)
    assert found.labels.shape == (2, 8, 10) and found.log_joint.shape == (2, 8)
    np.testing.assert_array_equal(thinned.log_joint, found.log_joint[:, 3::4])


def test_hyper_parameters_of_arm_are_fixed():
    bound = Bernoulli().bind(arm_chains.simulate(6, 0)[::10])
    with pytest.raises(ValueError, match="hyper-parameters are fixed"):
        arm_chains.begin(bound, 10, 2, 0, sweeps=3)


def test_the_indicator_of_arm_is_the_largest_of_all_pairs():
    labels = np.zeros((1, 400, 100), int)
    labels[0, ::2, 1] = 1  # the pairs of item 1 change in every iteration
    labels[0, 200:, 41] = 1  # those of item 41 once
    labels[0, :, 99] = np.arange(400) % 7  # is not among the fifteen
    shares, indicator = arm_chains.times(arm_chains.Runs(np.zeros((1, 400)), labels, None, 0.0))
    one = labels[0, :, 0] == labels[0, :, 41]
    assert indicator >= arm_chains.autocorrelation_time(one) > 50
    assert np.isfinite(shares)

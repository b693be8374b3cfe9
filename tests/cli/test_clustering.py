"""`bnpcluster fit`: what it finds is what the estimator finds."""

import re

import numpy as np
import pandas as pd
import pytest

from bnpcluster import PitmanYorMixture
from bnpcluster.cli.cells import Marks
from bnpcluster.cli.formats import read_table
from bnpcluster.cli.results import FILES
from bnpcluster.cli.rows import column_likelihoods, select_rows
from tests.tools.shell import QUICK, columns_of, fit, refused


def test_labels_probabilities_and_draws_are_those_of_the_estimator(table, blobs, capsys):
    status, folder = fit(table, "--id-column", "name", "--seed", "5", "--prior", "py")
    out, err = capsys.readouterr()
    X = pd.read_csv(table)[["height", "weight"]].to_numpy()
    model = PitmanYorMixture(random_state=5).fit(X)
    assert status == 0
    labels = columns_of(folder / "labels.csv")
    assert labels["name"] == [f"n{i:02d}" for i in range(len(X))]
    assert list(map(int, labels["cluster"])) == model.labels_.tolist()
    shares = pd.read_csv(folder / "probabilities.csv", index_col="name")
    assert list(shares) == [f"cluster_{k}" for k in range(model.n_clusters_)]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-4)
    own = shares.to_numpy()[np.arange(len(X)), model.labels_]
    np.testing.assert_allclose(np.array(labels["probability"], float), own)
    with np.load(folder / "draws.npz") as draws:
        np.testing.assert_array_equal(draws["labels"], model.posterior_.labels)
        np.testing.assert_array_equal(draws["alpha"], model.posterior_.alpha)
        assert draws["weights"].sum() == pytest.approx(1.0)
    assert str(model.diagnostics_) in out  # the summary
    assert "--seed 5\n" in out
    assert err == ""  # nobody looks at a terminal: no progress


def test_disagreement_is_an_exit_status_and_a_sentence(table, capsys):
    fixed = ["--hyper", "scale=data", "--hyper", "nu=data"]
    status, folder = fit(table, *QUICK, *fixed, "--id-column", "name", "--quiet")
    out, err = capsys.readouterr()
    assert status == 3
    assert out == ""  # quiet: no summary, and no progress
    assert len(err.splitlines()) == 1
    assert "The chains have not converged: the report says" in err
    assert err.endswith("draws are missing. Raise --draws and --warmup.\n")
    report = (folder / "report.html").read_text()
    assert re.search(r"with more --draws|--draws \d+ should be enough", report)
    assert "--max-draws" not in report
    assert all((folder / name).exists() for name in FILES)


def test_chains_that_ended_in_warm_up_are_too_short(table, capsys):
    options = ["--columns", "height", "--warmup", "100000", "--max-time", "0.01", "--quiet"]
    status, _ = fit(table, *options)
    assert status == 3
    assert "before warm-up was over" in capsys.readouterr().err


def test_words_are_categories(tmp_path, capsys):
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 30)
    colour = np.where(rng.random(60) < 0.95, kind, 1 - kind)
    data = {f"c{j}": np.array(["red", "blue"])[rng.permuted(colour)] for j in range(2)}
    data |= {f"d{j}": np.array(["no", "yes"])[colour] for j in range(4)} | {"size": 10 * kind + 2}
    pd.DataFrame(data).to_csv(tmp_path / "table.csv", index=False)
    _, folder = fit(tmp_path / "table.csv", "--likelihood", "categorical", *QUICK)
    found = columns_of(folder / "clusters.csv")
    assert sorted(cell.split()[0] for cell in found["d0"]) == ["no", "yes"]
    assert sorted(cell.split()[0] for cell in found["size"]) == ["12", "2"]
    assert "yes" in (folder / "report.html").read_text()


def test_particles_serve_the_command_line(table, capsys):
    options = ["--sampler", "urn_smc", "--particles", "300", "--chains", "2", "--seed", "1"]
    status, folder = fit(table, "--id-column", "name", *options)
    assert status in (0, 3)
    assert np.load(folder / "draws.npz")["weights"].shape == (2, 300)
    assert "log evidence" in (folder / "report.html").read_text()


def test_without_a_seed_the_one_that_was_drawn_repeats_the_run(table, capsys):
    quick = [*QUICK[:-2], "--id-column", "name"]
    _, folder = fit(table, *quick)
    first = np.load(folder / "draws.npz")["labels"]
    seed = re.search(r"--seed (\d+)", capsys.readouterr().out)[1]
    fit(table, *quick, "--seed", seed, "--force")
    np.testing.assert_array_equal(np.load(folder / "draws.npz")["labels"], first)


def test_constant_columns_are_left_out_by_name(frame, tmp_path, capsys):
    path = tmp_path / "table.csv"
    frame.assign(depth=3.0).to_csv(path, index=False)
    status, folder = fit(path, *QUICK, "--id-column", "name")
    out, err = capsys.readouterr()
    assert status in (0, 3)
    assert "Constant column 'depth' was left out: it says nothing about clusters." in err
    line = (
        "the density covers columns 'height', 'weight'; constant, and so left out: column 'depth'"
    )
    assert line in out
    assert "left out: column" in (folder / "report.html").read_text()


def test_a_mark_of_missing_values_is_named_and_read(frame, tmp_path, capsys):
    path = tmp_path / "table.csv"
    frame.loc[::10, "height"] = -999
    frame.to_csv(path, index=False)
    options = [*QUICK, "--id-column", "name", "--quiet", "--force"]
    fit(path, *options)
    err = capsys.readouterr().err
    assert "Column 'height': 6 values are -999" in err
    assert "If this marks missing values, add --missing -999." in err
    fit(path, *options, "--missing", "-999")
    assert "-999" not in capsys.readouterr().err


def test_mixed_tables_are_clustered_by_words_coins_and_numbers(frame, tmp_path):
    groups = np.arange(len(frame)) % 2
    mixed = pd.DataFrame(
        {"height": 60 + 30 * groups, "city": np.array(["Oslo", "Rome"])[groups], "ill": groups}
    )
    mixed["height"] += np.random.default_rng(0).normal(size=len(mixed))
    mixed.loc[3, "city"], mixed.loc[5, "height"] = None, None
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    options = ["--likelihood", "columns", "--sampler", "gibbs", *QUICK]
    status, folder = fit(tmp_path / "mixed.csv", *options)
    assert status in (0, 3)
    assert columns_of(folder / "labels.csv")["cluster"] == [str(g) for g in groups]
    text = (folder / "report.html").read_text()
    for cell in ("<th>height</th>", "<th>city</th>", "<th>ill</th>", "Rome"):
        assert cell in text
    found = columns_of(folder / "clusters.csv")
    assert [round(float(cell)) for cell in found["height"]] == [60, 90]
    assert [cell.split()[0] for cell in found["city"]] == ["Oslo", "Rome"]
    table = read_table(tmp_path / "mixed.csv")
    kinds = column_likelihoods(select_rows(table, None, [], "columns", Marks()))
    assert kinds == {0: "nig", 1: "categorical", 2: "bernoulli"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("a,,b\n1,2,3\n", "Column 2 of table.csv has no name"),
        ("a,b\n1,2\n3\n", "Line 3 of table.csv has 1 cell,"),
        ("a,b\n1,red\n2,blue\n", "Column 'b' contains text .'red' in row 1."),
        ("a,b\n1,NA\n2,\n3,nan\n", "Column 'b' is entirely missing"),
        ("a;b\n1;0,5\n2;0,7\n", "Column 'b' has numbers with commas .'0,5' in row 1."),
        ("a,b\n1,True\n2,False\n", "write 1 and 0, or use --likelihood columns"),
        ("a,b\n3,1\n3,1\n3,1\n", "All rows are equal up to rounding .columns 'a', 'b'."),
        ("a,b\n1,2\n2,inf\n3,1\n", "infinity"),
        ("a,b\n1,2\n", "1 sample|1 row"),
        ("a,b\n", "no rows"),
        ('a,b\n"1,2\n', "not a table of text"),
    ],
)
def test_bad_tables(tmp_path, capsys, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    status, folder = fit(path, *QUICK, "--quiet")
    assert re.search(message, refused(capsys, status))
    assert not any((folder / name).exists() for name in FILES)

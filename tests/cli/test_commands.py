"""The command line: what it reads, what it writes, and what its exit status says."""

import csv
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture, PitmanYorMixture
from bnpcluster._core.messages import parameter
from bnpcluster._fitting import chain_runs
from bnpcluster._fitting.progress import Progress
from bnpcluster.cli import commands
from bnpcluster.cli.read import column_likelihoods, read_table, select_rows
from bnpcluster.cli.write import FILES
from bnpcluster.likelihoods import PyClone
from bnpcluster.partitions import coclustering
from bnpcluster.plotting.common import membership
from bnpcluster.posterior import Posterior
from bnpcluster.pyclone import prevalences

QUICK = ["--draws", "20", "--warmup", "20", "--chains", "2", "--seed", "0"]


@pytest.fixture
def frame(blobs):
    X, _ = blobs
    data = pd.DataFrame(X, columns=["height", "weight"])
    data.insert(0, "name", [f"n{i:02d}" for i in range(len(X))])
    return data


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def run(*words):
    """The exit status of a command, also where the parser leaves."""
    try:
        return commands.main([str(word) for word in words])
    except SystemExit as leaving:
        return leaving.code


def fit(table, *options):
    """The exit status, and the folder of the results."""
    folder = table.parent / "results"
    return run("fit", table, "--out", folder, *options), folder


def columns_of(path):
    with path.open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def refused(capsys, status):
    """The one sentence on the error stream of a command that was refused."""
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    return err


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
    assert "Seed 5" in out
    assert "iterations" in err  # the progress


def test_probabilities_are_mean_shares_of_blocks():
    rng = np.random.default_rng(0)
    posterior = Posterior(rng.integers(3, size=(2, 5, 6)), weights=rng.random((2, 5)))
    labels = np.array([0, 0, 0, 1, 1, 2])
    expected = np.zeros((6, 3))
    draws = posterior.labels.reshape(-1, 6)
    for row, weight in zip(draws, posterior.weights.ravel(), strict=True):
        for i in range(6):
            for j in np.flatnonzero(row == row[i]):
                expected[i, labels[j]] += weight / np.sum(row == row[i])
    found = membership(posterior, labels)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = membership(posterior, np.arange(6))  # each cluster a row: co-clustering over sizes
    assert (alone[coclustering(draws, posterior.weights.ravel()) == 0] == 0).all()


def test_the_report_is_one_page_with_pictures(table, capsys):
    status, folder = fit(table, "--columns", "weight, height", *QUICK, "--quiet")
    text = (folder / "report.html").read_text()
    assert status == 3
    assert text.count("data:image/png;base64,") == 4
    assert "table.csv" in text
    assert "mean of height" in text
    assert not re.search(r"(src|href)=['\"](?!data:)", text)  # it needs no other file


def test_disagreement_is_an_exit_status_and_a_sentence(table, capsys):
    fixed = ["--hyper", "scale=data", "--hyper", "nu=data"]
    status, folder = fit(table, *QUICK, *fixed, "--id-column", "name", "--quiet")
    out, err = capsys.readouterr()
    assert status == 3
    assert out == ""  # quiet: no summary, and no progress
    assert len(err.splitlines()) == 1
    assert "The chains have not converged: the report says" in err
    assert err.endswith("Raise --max-draws (or --draws and --warmup).\n")
    assert re.search(r"--max-draws|more --draws", (folder / "report.html").read_text())
    assert all((folder / name).exists() for name in FILES)


def test_chains_that_ended_in_warm_up_are_too_short(table, capsys):
    options = ["--columns", "height", "--warmup", "100000", "--max-time", "0.01", "--quiet"]
    status, _ = fit(table, *options)
    assert status == 3
    assert "before warm-up was over" in capsys.readouterr().err


class Impatient(Progress):
    """Who watches the progress, and presses Ctrl-C once there are draws."""

    def show(self, chains):
        if min(len(chain.draws) for chain in chains) > 2:
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_leaves_what_was_drawn(table, capsys, monkeypatch):
    monkeypatch.setattr(chain_runs, "progress_display", lambda *_: Impatient())
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        status, folder = fit(table, "--columns", "height", "--draws", "4000", "--warmup", "5")
    finally:
        signal.signal(signal.SIGINT, previous)
    assert status == 130
    with np.load(folder / "draws.npz") as draws:
        assert 2 < draws["labels"].shape[1] < 4000
    assert "interrupted" in (folder / "report.html").read_text()


def test_an_interrupt_before_anything_was_drawn(table, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "build_model", interrupt)
    status, folder = fit(table)
    assert status == 130
    assert "interrupted" in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".parquet"])
def test_all_formats_give_the_same_labels(frame, tmp_path, ending, capsys):
    path = tmp_path / f"table{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        separator = {".csv": ";", ".tsv": "\t", ".txt": ","}[ending]
        frame.to_csv(path, sep=separator, index=False, encoding="utf-8-sig")
    _, folder = fit(path, "--id-column", "name", *QUICK)
    X = frame[["height", "weight"]].to_numpy()
    model = DPMixture(n_draws=20, n_warmup=20, n_chains=2, random_state=0).fit(X)
    np.testing.assert_array_equal(np.load(folder / "draws.npz")["labels"], model.posterior_.labels)
    assert columns_of(folder / "labels.csv")["name"][0] == "n00"


def test_a_first_column_without_a_name_names_the_rows(frame, tmp_path, capsys):
    frame.set_index("name").rename_axis(None).to_csv(tmp_path / "table.csv")
    _, folder = fit(tmp_path / "table.csv", *QUICK)
    assert columns_of(folder / "labels.csv")["row"][:2] == ["n00", "n01"]


def test_rows_without_names_are_counted_from_one(table, capsys):
    _, folder = fit(table, "--columns", "height,weight", *QUICK)
    assert columns_of(folder / "labels.csv")["row"] == [str(i) for i in range(1, 61)]


def test_quoted_cells_and_blank_lines(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('name,"x, in cm"\n"a ""b""",1.5\n\nc,2\n')
    assert read_table(path) == {"name": ['a "b"', "c"], "x, in cm": ["1.5", "2"]}


def test_words_are_categories(tmp_path, capsys):
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 30)
    colour = np.where(rng.random(60) < 0.95, kind, 1 - kind)
    data = {f"c{j}": np.array(["red", "blue"])[rng.permuted(colour)] for j in range(2)}
    data |= {f"d{j}": np.array(["no", "yes"])[colour] for j in range(4)} | {"size": 10 * kind + 2}
    pd.DataFrame(data).to_csv(tmp_path / "table.csv", index=False)
    _, folder = fit(tmp_path / "table.csv", "--likelihood", "categorical", *QUICK)
    assert "<td>yes</td>" in (folder / "report.html").read_text()
    assert "<td>12</td>" in (folder / "report.html").read_text()


def test_options_reach_the_model(table):
    words = ["fit", str(table), "--out", "r", "--prior", "mfm", "--gamma", "2,0.5"]
    words += ["--n-components-prior", "poisson,1.5", "--sampler", "gibbs", "--init", "one"]
    words += ["--jobs", "2", "--max-time", "9.5", "--point-estimate", "binder", "--thin", "3"]
    model = commands.build_model(commands.parser().parse_args([*words, "--seed", "7"]))
    assert (
        model.get_params()
        | {
            "gamma": (2, 0.5),
            "n_components_prior": ("poisson", 1.5),
            "sampler": "gibbs",
            "init": "one",
            "n_jobs": 2,
            "max_time": 9.5,
            "point_estimate": "binder",
            "thin": 3,
            "random_state": 7,
            "verbose": 1,
        }
        == model.get_params()
    )


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
    seed = re.search(r"Seed (\d+)", capsys.readouterr().out)[1]
    fit(table, *quick, "--seed", seed, "--force")
    np.testing.assert_array_equal(np.load(folder / "draws.npz")["labels"], first)


def test_help_tells_the_exit_statuses_and_the_defaults(capsys):
    assert run("fit", "--help") == 0
    text = capsys.readouterr().out
    for status in (commands.DONE, commands.WRONG, commands.DISAGREE, commands.INTERRUPTED):
        assert f"\n  {status} " in text
    defaults = DPMixture().get_params()
    for name in ("max_draws", "n_chains"):
        option = parameter(name).shell
        assert re.search(rf"{option} N\s.*\({defaults[name]}\)", text)
    assert defaults["n_draws"] == defaults["n_warmup"] == "auto"
    assert text.count("auto (the default)") == 2


def test_the_module_runs_and_leaves_with_the_status(tmp_path):
    words = [sys.executable, "-m", "bnpcluster", "fit", "none.csv", "--out", "results"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "bnpcluster: none.csv: No such file or directory.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("1.5,2\n3,4\n5,6\n", "must name the columns, but contains only numbers"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("a,,b\n1,2,3\n", "Column 2 of table.csv has no name"),
        ("a,b\n1,2\n3\n", "Line 3 of table.csv has 1 cells"),
        ("a,b\n1,red\n2,blue\n", "Column 'b' contains text .'red' in row 1."),
        ("a,b\n1,NA\n2,\n3,nan\n", "Column 'b' is entirely missing"),
        ("a;b\n1;0,5\n2;0,7\n", "Column 'b' has numbers with a decimal comma .'0,5' in row 1."),
        ("a,b\n1,True\n2,False\n", "write 1 and 0, or use --likelihood categorical"),
        ("a,b\n3,1\n3,1\n3,1\n", "All rows are equal up to rounding .columns 'a', 'b'."),
        ("a,b\n1,2\n2,inf\n3,1\n", "infinity"),
        ("a,b\n1,2\n", "1 sample|1 row"),
        ("a,b\n", "0 sample|no row"),
        ('a,b\n"1,2\n', "not a table of text"),
    ],
)
def test_bad_tables(tmp_path, capsys, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    status, folder = fit(path, *QUICK, "--quiet")
    assert re.search(message, refused(capsys, status))
    assert not any((folder / name).exists() for name in FILES)


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


def test_files_that_are_no_tables(tmp_path, capsys):
    for name, message in {
        "table.xlsx": "must end in .csv",
        "table.csv": "not text in UTF-8",
        "table.parquet": "not a Parquet file",
    }.items():
        (tmp_path / name).write_bytes(b"\xff\xfe,\xe9\n1,2\n")
        status, _ = fit(tmp_path / name)
        assert message in refused(capsys, status)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sampler", "gibs"], "Did you mean 'gibbs'"),
        (["--likelihood", "pyclone"], "use bnpcluster pyclone"),
        (["--likelihood", "poisson"], "in column 'height': drop the column"),
        (["--likelihood", "gauss"], "Unknown likelihood 'gauss'"),
        (["--prior", "dirichlet"], "Unknown prior 'dirichlet'. Available: dp, py"),
        (["--discount", "0.5"], "--discount is not a parameter of prior 'dp'"),
        (["--alpha", "-1"], "alpha must be positive"),
        (["--alpha", "large"], "alpha must be a number"),
        (["--draws", "0"], "--draws must be at least 1"),
        (["--draws", "many"], "'many' is neither a whole number nor auto"),
        (["--particles", "5"], "has no particles"),
        (["--columns", "height,length"], "has no column 'length'; it has name, height, weight"),
        (["--id-column", "id"], "has no column 'id'"),
        (["--seed", "-1"], "random_state must not be negative"),
        (["--colour"], "unrecognized arguments: --colour"),
        ([], "Column 'name' contains text"),
    ],
)
def test_bad_options(table, capsys, options, message):
    columns = [] if not options or "--columns" in options else ["--columns", "height,weight"]
    status, folder = fit(table, *columns, *options)
    assert message in refused(capsys, status)
    assert not any((folder / name).exists() for name in FILES)


def test_usage_in_one_sentence(capsys):
    assert "required" in refused(capsys, run("fit", "table.csv"))
    assert "invalid choice: 'cluster'" in refused(capsys, run("cluster"))


def test_results_are_not_overwritten_unless_told_to(table, capsys):
    folder = table.parent / "results"
    folder.mkdir()
    (folder / "labels.csv").write_text("precious")
    (folder / "notes.txt").write_text("mine")
    options = ["--columns", "height", *QUICK, "--quiet"]
    status, _ = fit(table, *options)
    assert "already contains labels.csv" in refused(capsys, status)
    assert (folder / "labels.csv").read_text() == "precious"
    fit(table, *options, "--force")
    assert (folder / "labels.csv").read_text().startswith("row,cluster,probability\n1,")
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_said_before_the_fit(table, capsys, monkeypatch):
    monkeypatch.setattr(DPMixture, "fit", None)
    (table.parent / "file").write_text("")
    for out in ("file", "file/results"):
        status = run("fit", table, "--out", table.parent / out, "--columns", "height")
        message = refused(capsys, status)
        assert re.search(
            r"file.*: Not a directory|--out must name a folder, but .*file is", message
        )


def test_parquet_asks_for_pyarrow(frame, tmp_path, capsys, monkeypatch):
    frame.to_parquet(tmp_path / "table.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    status, _ = fit(tmp_path / "table.parquet")
    assert "bnpcluster[tables]" in refused(capsys, status)


def test_without_matplotlib_the_report_has_no_pictures(table, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    _, folder = fit(table, "--columns", "height", *QUICK)
    assert "bnpcluster[plot]" in (folder / "report.html").read_text()


def test_the_commands_of_the_guide_are_understood():
    page = (Path(__file__).parents[2] / "doc" / "command_line.md").read_text()
    lines = re.findall(r"^bnpcluster (.+)$", page, re.MULTILINE)
    assert len(lines) == 5
    for command in lines:
        commands.build_model(commands.parser().parse_args(shlex.split(command)))


def test_the_draws_are_read_as_the_guide_says(table, capsys, monkeypatch):
    fit(table, "--columns", "height", *QUICK)
    page = (Path(__file__).parents[2] / "doc" / "command_line.md").read_text()
    monkeypatch.chdir(table.parent)
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    assert sum(names["posterior"].n_clusters_pmf().values()) == pytest.approx(1.0)
    assert names["posterior"].alpha.shape == (2, 20)


@pytest.fixture
def reads(tmp_path):
    """Read counts of 24 mutations, half of them in a fifth of the cells of sample b."""
    rng = np.random.default_rng(0)
    lines = ["mutation_id\tsample_id\tref_counts\talt_counts\tnormal_cn\tmajor_cn\tminor_cn"]
    for m in range(24):
        for sample, prevalence in {"a": 1.0, "b": 1.0 if m % 2 else 0.2}.items():
            alt = rng.binomial(200, prevalence / 2)
            lines.append(f"m{m}\t{sample}\t{200 - alt}\t{alt}\t2\t1\t1")
    (tmp_path / "reads.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path / "reads.tsv"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mutations_are_clustered_by_prevalence(reads, capsys):
    folder = reads.parent / "results"
    options = ["--n-grid", "31", "--density", "beta_binomial"]
    assert run("pyclone", reads, "--out", folder, *QUICK, *options) in (0, 3)
    printed = capsys.readouterr()
    assert "no column 'tumour_content': all samples are assumed" in printed.err
    frame = pd.read_csv(reads, sep="\t").assign(tumour_content=1.0)
    found = pd.read_csv(folder / "mutations.tsv", sep="\t")
    likelihood = PyClone(n_grid=31, density="beta_binomial")
    model = DPMixture(likelihood=likelihood, n_draws=20, n_warmup=20, n_chains=2, random_state=0)
    model.fit(frame)
    expected = prevalences(model, frame).drop(columns="tumour_content")
    pd.testing.assert_frame_equal(found.astype(expected.dtypes.to_dict()), expected)
    assert np.abs(found["cellular_prevalence"][1::4] - 0.2).max() < 0.1
    assert found["alt_counts"].dtype == int
    labels = columns_of(folder / "labels.csv")
    assert labels["mutation_id"] == [f"m{m}" for m in range(24)]
    assert list(map(int, labels["cluster"])) == model.labels_.tolist()
    text = (folder / "report.html").read_text()
    means = expected.groupby(["cluster_id", "sample_id"])["cellular_prevalence"].mean()
    for k in range(model.n_clusters_):
        cells = "".join(f"<td>{means[k, sample]:.4g}</td>" for sample in ("a", "b"))
        assert re.search(rf"<tr><td>{k}</td><td>12</td><td>[\d.]+</td>{cells}</tr>", text)
    assert "mean of prevalence in b" in text
    assert text.count("data:image/png;base64,") == 3
    assert "mutations.tsv" in printed.out


def test_bad_reads(reads, capsys):
    folder = reads.parent / "results"
    frame = pd.read_csv(reads, sep="\t")
    for column, value, message in [
        ("ref_counts", "many", "Column 'ref_counts' contains text ('many' in row 1)"),
        ("major_cn", 0, "major_cn of at least 1 (drop deleted loci); mutation 'm0' in "),
        ("ref_counts", "NA", "The column 'ref_counts' of the table contains no numbers"),
        ("normal_cn", None, "has no column 'normal_cn'"),
        ("sample_id", "a", "several rows for mutation"),
        ("sample_id", "", "Column 'sample_id' is empty in row 1"),
        ("mutation_id", None, "has no column 'mutation_id'"),
        ("error_rate", 0.01, "drop the column and use --error-rate, which is 0.001 now"),
    ]:
        bad = frame.assign(**{column: value}) if value is not None else frame.drop(columns=column)
        bad.to_csv(reads.parent / "bad.tsv", sep="\t", index=False)
        assert message in refused(capsys, run("pyclone", reads.parent / "bad.tsv", "--out", folder))
    assert "--precision applies only to beta_binomial reads" in refused(
        capsys, run("pyclone", reads, "--out", folder, "--precision", "100")
    )
    assert "n_grid must be at least 2" in refused(
        capsys, run("pyclone", reads, "--out", folder, "--n-grid", "1")
    )
    assert not any((folder / name).exists() for name in FILES)


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
    assert "<th>mean of height</th><th>most common city</th><th>mean of ill</th>" in text
    assert re.search(r"<td>9\d\.\d+</td><td>Rome</td><td>1</td>", text)
    kinds = column_likelihoods(
        select_rows(read_table(tmp_path / "mixed.csv"), "mixed", None, [], "text")
    )
    assert kinds == {0: "nig", 1: "categorical", 2: "bernoulli"}


def test_a_comma_in_mixed_tables_makes_no_category(tmp_path, capsys):
    (tmp_path / "comma.csv").write_text("a;b\n1,5;x\n2,5;y\n")
    status, _ = fit(tmp_path / "comma.csv", "--likelihood", "columns")
    assert "has numbers with a decimal comma" in refused(capsys, status)


def test_an_error_rate_in_a_table_is_a_number(reads, capsys):
    """A column of a text file, as PyClone-VI's own tables have it."""
    frame = pd.read_csv(reads, sep="\t").assign(error_rate=0.01, tumour_content=0.9)
    frame.to_csv(reads, sep="\t", index=False)
    options = ["--out", reads.parent / "results", "--n-grid", "31", *QUICK, "--quiet"]
    assert "--error-rate, which is 0.001 now" in refused(capsys, run("pyclone", reads, *options))
    assert run("pyclone", reads, *options, "--error-rate", "0.01") in (0, 3)


def test_the_options_of_reads_are_those_of_the_likelihood(capsys):
    assert run("pyclone", "--help") == 0
    text = capsys.readouterr().out
    assert set(commands.READS) == set(PyClone().get_params())
    for default in PyClone().get_params().values():
        assert f"{default:g}" in text if not isinstance(default, str) else default in text

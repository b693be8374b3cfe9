"""`bnpcluster pyclone`: mutations by the share of cells that carry them."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture
from bnpcluster.cli.mutations import SETTINGS
from bnpcluster.cli.results import FILES
from bnpcluster.likelihoods import PyClone
from bnpcluster.pyclone import prevalences
from tests.tools.shell import QUICK, columns_of, refused, run


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
    clusters = columns_of(folder / "clusters.csv")
    means = expected.groupby(["cluster_id", "sample_id"])["cellular_prevalence"].mean()
    assert clusters["size"] == ["12", "12"]
    for sample in ("a", "b"):
        found = np.array(clusters[sample], float)
        np.testing.assert_allclose(found, [means[k, sample] for k in range(2)], atol=0.02)
    assert "<th>b</th>" in (folder / "report.html").read_text()
    assert "mutations.tsv" in printed.out
    assert "cluster of a mutation alone is that of labels.csv for" in printed.out
    assert "bnpcluster predict" not in printed.out  # which takes no mutations


def test_bad_reads(reads, capsys):
    folder = reads.parent / "results"
    frame = pd.read_csv(reads, sep="\t")
    for column, value, message in [
        ("ref_counts", "many", "Column 'ref_counts' contains text ('many' in row 1)"),
        ("major_cn", 0, "No row is left"),
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
    assert "--n-grid must be at least 2" in refused(
        capsys, run("pyclone", reads, "--out", folder, "--n-grid", "1")
    )
    assert not any((folder / name).exists() for name in FILES)


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
    assert set(SETTINGS) == set(PyClone().get_params())
    for default in PyClone().get_params().values():
        assert f"{default:g}" in text if not isinstance(default, str) else default in text


def test_deleted_loci_are_left_out_by_name(reads, capsys):
    frame = pd.read_csv(reads, sep="\t")
    frame.loc[[0, 4], ["major_cn", "minor_cn"]] = 0
    frame.to_csv(reads, sep="\t", index=False)
    folder = reads.parent / "results"
    options = ["--n-grid", "31", *QUICK, "--quiet"]
    assert run("pyclone", reads, "--out", folder, *options) in (0, 3)
    err = capsys.readouterr().err
    assert (
        "Rows with major_cn 0, a deleted locus, were left out: mutation 'm0' in sample 'a', "
        "mutation 'm2' in sample 'a'." in err
    )
    found = columns_of(folder / "mutations.tsv")
    assert len(found["mutation_id"]) == len(frame) - 2
    assert len(columns_of(folder / "labels.csv")["mutation_id"]) == 24  # seen in sample b


def test_small_clusters_of_mutations_are_dissolved_or_merged(reads, capsys):
    """Two large clusters, and a mutation that is alone."""
    lines = reads.read_text().replace("m0\ta\t100", "m0\ta\t100").splitlines()
    lines += ["alone\ta\t199\t1\t2\t1\t1", "alone\tb\t199\t1\t2\t1\t1"]
    reads.write_text("\n".join(lines) + "\n")
    folder = reads.parent / "results"
    options = ["--n-grid", "31", *QUICK, "--quiet", "--force", "--out", folder]
    run("pyclone", reads, *options, "--min-cluster-size", "5")
    found = columns_of(folder / "labels.csv")
    assert found["cluster"][-1] == "-1"
    assert set(found["cluster"]) == {"0", "1", "-1"}
    assert columns_of(folder / "mutations.tsv")["cluster_id"][-1] == "-1"
    run("pyclone", reads, *options, "--max-clusters", "2")
    assert set(columns_of(folder / "labels.csv")["cluster"]) == {"0", "1"}
    run("pyclone", reads, *options, "--merge", "0.99")
    assert set(columns_of(folder / "labels.csv")["cluster"]) == {"0", "1", "2"}


def test_a_mistyped_column_of_reads_is_recognised(reads, capsys):
    reads.write_text(reads.read_text().replace("alt_counts", "alt_count"))
    message = refused(capsys, run("pyclone", reads, "--out", reads.parent / "results"))
    assert "no column 'alt_counts'. Did you mean 'alt_count'?" in message

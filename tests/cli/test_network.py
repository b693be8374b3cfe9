"""`bnpcluster network`: the vertices of a list of links."""

from types import SimpleNamespace

import numpy as np
import pytest

from bnpcluster import InfiniteRelationalModel
from bnpcluster.cli.cells import Marks
from bnpcluster.cli.network import adjacency, read_links
from bnpcluster.cli.text_tables import Table
from tests.tools.shell import QUICK, columns_of, run

N = 24


@pytest.fixture
def edges(tmp_path):
    """Two groups of vertices that link among themselves, as names."""
    rng = np.random.default_rng(0)
    groups = np.arange(N) % 2
    chance = np.where(groups[:, None] == groups, 0.9, 0.1)
    pairs = np.argwhere(np.triu(rng.random((N, N)) < chance, k=1))
    lines = ["from,to", *(f"v{i},v{j}" for i, j in pairs)]
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "edges.csv"


def links(columns, **options):
    table = Table("edges.csv", columns, [])
    return read_links(table, SimpleNamespace(**{"directed": False, **options}), Marks())


def matrix(columns, **options):
    found = links(columns, **options)
    return adjacency(found, options.get("directed", False)).toarray()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vertices_are_clustered_as_in_python(edges, capsys):
    folder = edges.parent / "results"
    assert run("network", edges, "--out", folder, *QUICK) in (0, 3)
    out, _ = capsys.readouterr()
    found = columns_of(folder / "labels.csv")
    assert list(found) == ["vertex", "cluster", "probability"]
    table = columns_of(edges)
    A = adjacency(links(table), False)
    model = InfiniteRelationalModel(n_draws=20, n_warmup=20, n_chains=2, random_state=0).fit(A)
    assert list(map(int, found["cluster"])) == model.labels_.tolist()
    np.testing.assert_array_equal(np.load(folder / "draws.npz")["labels"], model.posterior_.labels)
    groups = {name: int(name[1:]) % 2 for name in found["vertex"]}
    by_cluster = dict(zip(found["vertex"], found["cluster"], strict=True))
    for group in (0, 1):
        assert len({by_cluster[name] for name in groups if groups[name] == group}) == 1
    assert "24 vertices" in out
    page = (folder / "report.html").read_text()
    assert "The network, its vertices ordered by cluster" in page
    clusters = columns_of(folder / "clusters.csv")
    assert list(map(int, clusters["size"])) == np.bincount(model.labels_).tolist()
    assert float(clusters["links_to_0"][0]) == pytest.approx(model.link_probabilities_[0, 0])
    typical = clusters["typical_vertices"][0].split(", ")
    assert {by_cluster[name] for name in typical} == {"0"}


def test_links_have_no_direction_unless_told():
    columns = {"from": ["a", "b", "b"], "to": ["b", "c", "a"]}
    assert matrix(columns).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert matrix(columns, directed=True).tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


def test_weights_are_links_gaps_or_above_a_threshold():
    columns = {"from": ["a", "b", "a"], "to": ["b", "c", "c"], "value": ["1", "0", ""]}
    np.testing.assert_array_equal(matrix(columns), [[0, 1, np.nan], [1, 0, 0], [np.nan, 0, 0]])
    columns["value"] = ["0.2", "7", "3"]
    assert matrix(columns, threshold=3.0).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    columns["value"] = ["0.2", "7", ""]
    found = matrix(columns, threshold=3.0)
    np.testing.assert_array_equal(found, [[0, 0, np.nan], [0, 0, 1], [np.nan, 1, 0]])
    with pytest.raises(ValueError, match="--threshold needs a column of weights"):
        links({"from": ["a"], "to": ["b"]}, threshold=3.0)


def test_vertices_without_links_have_a_row_of_their_own():
    found = links({"from": ["a", "c"], "to": ["b", ""]})
    assert (found.vertices, found.pairs) == (["a", "b", "c"], {(0, 1): 1.0})
    with pytest.raises(ValueError, match=r"Row 2 of edges\.csv names no vertex"):
        links({"from": ["a", ""], "to": ["b", ""]})


def test_what_is_assumed_and_left_out_is_said():
    assert links({"x": ["a", "b"], "y": ["b", "b"]}).notes == [
        "Columns 'x' and 'y' were taken for the ends of links.",
        "Links of a vertex with itself are not modelled, and left out: 'b'.",
    ]
    notes = links({"from": ["a"], "to": ["b"], "year": ["1990"]}).notes
    assert notes == ["Not used: column 'year'."]


def test_ends_and_weights_can_be_named():
    columns = {"year": ["1990"], "x": ["a"], "y": ["b"], "strong": ["0"]}
    found = links(columns, start="x", end="y", weight="strong")
    assert (found.vertices, found.pairs) == (["a", "b"], {(0, 1): 0.0})
    with pytest.raises(ValueError, match="--from and --to go together"):
        links(columns, start="x")
    with pytest.raises(ValueError, match="no column 'z'"):
        links(columns, start="x", end="z")


def test_contradictions_are_refused_and_repetitions_are_not():
    assert links({"from": ["a", "b"], "to": ["b", "a"], "value": ["1", "1"]}).pairs == {(0, 1): 1.0}
    with pytest.raises(ValueError, match="given twice, with different values"):
        links({"from": ["a", "b"], "to": ["b", "a"], "value": ["1", ""]})

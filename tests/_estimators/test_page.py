"""The page of a report: it needs no other file, and shows all text as text."""

import base64
import html.parser
import re

import numpy as np
import pandas as pd
import pytest

from bnpcluster import DPMixture, InfiniteRelationalModel

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
EVIL = "<script>alert('&')</script>"
QUICK = {"n_chains": 1, "n_draws": 40, "n_warmup": 30, "random_state": 0}


class Page(html.parser.HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.words, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A page whose columns, categories and rows all have names that would be code."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    table = pd.DataFrame(
        {
            f"length {EVIL}": rng.normal(9.0 * group),
            f"town {EVIL}": np.where(group == 1, f"Ulm {EVIL}", "Bonn"),
        },
        index=[f"row {EVIL} {i}" for i in range(40)],
    )
    model = DPMixture(likelihood="columns", **QUICK).fit(table)
    path = tmp_path_factory.mktemp("page") / "clusters.html"
    assert model.report().save(str(path)) == path
    return model, path.read_text(encoding="utf-8")


def test_all_text_is_escaped(saved):
    _, text = saved
    page = Page(text)
    assert "script" not in page.tags and "<script" not in text.lower()
    assert page.open == []
    for name in ("length", "town", "Ulm", "row"):
        assert any(f"{name} {EVIL}" in words for words in page.words)


def test_the_page_needs_no_other_file(saved):
    _, text = saved
    page = Page(text)
    assert "http:" not in text and "https:" not in text and "url(" not in text
    assert not {"link", "script", "iframe"} & set(page.tags)
    assert len(page.links) == page.tags.count("img") == 5
    for link in page.links:
        kind, data = link.split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data).startswith(b"\x89PNG")


def test_the_page_has_the_report_and_the_table_of_clusters(saved):
    model, text = saved
    words = " ".join(Page(text).words)
    assert "2 clusters" in words
    for line in str(model.report()).split("\n\n")[0].splitlines():
        assert line.split("  ")[-1].strip() in words
    for name in model.describe().columns:
        assert name in words


def test_a_network_has_a_page_of_its_clusters(tmp_path):
    A = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    model = InfiniteRelationalModel(**QUICK).fit(A)
    text = model.report().save(tmp_path / "network.html").read_text(encoding="utf-8")
    assert "vertices ordered by cluster" in text
    assert "<h2>Clusters</h2>" in text and "<th>links_within</th>" in text


def test_particles_have_no_trace_on_their_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 1))
    model = DPMixture(sampler="urn_smc", alpha=1.0, n_chains=2, n_draws=20, random_state=0).fit(X)
    text = model.report().save(tmp_path / "runs.html").read_text(encoding="utf-8")
    assert "show no trend" not in text and text.count("<img") == 4


def test_a_page_is_replaced_and_folders_are_not_made(saved, tmp_path):
    model, text = saved
    file = tmp_path / "x.html"
    file.write_text("old")
    assert model.report().save(file).read_text(encoding="utf-8")[:60] == text[:60]
    with pytest.raises(FileNotFoundError):
        model.report().save(tmp_path / "nowhere" / "x.html")


def test_without_matplotlib_the_page_says_how_to_get_pictures(saved, tmp_path, monkeypatch):
    model, _ = saved
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    text = model.report().save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "Pictures need matplotlib: pip install" in text and not re.search("<img", text)


def test_a_page_is_not_saved_under_the_name_of_another_format(tmp_path):
    model = DPMixture(n_chains=1, n_draws=5, n_warmup=5, random_state=0)
    model.fit(np.random.default_rng(0).normal(size=(12, 2)))
    with pytest.raises(ValueError, match=r"end its name in \.html"):
        model.report().save(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())

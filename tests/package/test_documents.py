"""The README's example and all examples run; the README's promises hold."""

import importlib.util
import inspect
import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import bnpcluster
from bnpcluster import DPMixture, InfiniteRelationalModel, likelihoods, priors, samplers
from bnpcluster._core.descriptions import parameters, summary, table
from bnpcluster.cli import names
from bnpcluster.cli.checks import WITH_PARTICLES
from bnpcluster.likelihoods import LIKELIHOODS, Relational
from bnpcluster.likelihoods.network.adjacency import as_graph
from bnpcluster.priors import PRIORS
from bnpcluster.samplers import SAMPLERS
from bnpcluster.samplers.base import can_sample
from tests.tools.pages import agrees, outputs, rewritten

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bnpcluster"
UPDATE = "python -m tests.tools.pages"
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [*(ROOT / "doc").glob("*.md"), *(ROOT / "doc" / "guide").glob("*.md")]
# The page of the command line goes on from files, which its own tests make.
GUIDES = sorted(p for p in PAGES if "```python" in p.read_text() and p.stem != "command_line")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Pictures are written, not shown, and not beside the sources."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    yield tmp_path
    import matplotlib.pyplot

    matplotlib.pyplot.close("all")


def test_readme_example_runs(elsewhere):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["model"].n_clusters_ == 3


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_examples_of_guides_run(page, elsewhere, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    # Examples of a guide build on one another.
    for block, printed in outputs(page.read_text()):
        shown = block["shown"]
        assert shown is None or agrees(shown, printed), f"write it anew: {UPDATE} doc/{page.name}"


def test_outputs_on_pages_are_compared_but_for_digits():
    page = "```python\nprint('a', 1.25)\nprint('b')\n```\n\n```text\n{}```\n"
    shown = {"a   3.1\nb\n": True, "a 1\n": False, "c 1.25\nb\n": False, "...\nb\n": True}
    for text, same in {**shown, "b\n...\na 1\n": False}.items():
        ((block, printed),) = outputs(page.format(text))
        assert agrees(block["shown"], printed) is same
    assert rewritten(page.format("c\n")) == page.format("a 1.25\nb\n")
    assert rewritten(page.format("...\nc\n")) == page.format("...\nc\n")


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_readme_commands_exist():
    text = (ROOT / "README.md").read_text()
    script = (ROOT / "run").read_text()
    for command in re.findall(r"bash run (\w+)", text):
        assert f"  {command})" in script


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_examples_run_without_warnings(path, elsewhere, capsys):
    runpy.run_path(str(path), run_name="__main__")
    shown = capsys.readouterr().out
    assert shown and "object at 0x" not in shown
    if "quickstart" in path.stem:
        assert os.path.getsize(elsewhere / "quickstart.png") > 10_000


def test_every_page_has_a_place_and_every_link_leads_somewhere():
    """What the build of the documentation would say, too, but it is not run by the tests."""
    places = re.findall(r"^([\w/]+)$", (ROOT / "doc" / "index.md").read_text(), re.MULTILINE)
    for page in [*(ROOT / "doc").glob("*.md"), *(ROOT / "doc" / "guide").glob("*.md")]:
        name = str(page.relative_to(ROOT / "doc").with_suffix(""))
        assert name in {*places, "index"}, f"{name} is in no table of contents of doc/index.md"
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_no_text_has_the_marks_of_an_unfinished_merge():
    texts = [*ROOT.glob("*.md"), *ROOT.glob("changes/*.md"), *ROOT.glob("doc/**/*.md"), *EXAMPLES]
    for path in texts:
        assert not re.search(r"^(<{7}|={7}|>{7})( |$)", path.read_text(), re.MULTILINE), path.name


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("outlier", "anomalies"),
        ("anomaly", "glossary"),
        ("segment", "glossary"),
        ("export", "export"),
        ("LOO", "export"),
        ("AnnData", "not_offered"),
        ("sample_weight", "not_offered"),
        ("weights", "not_offered"),
        ("constraint", "not_offered"),
        ("must-link", "not_offered"),
        ("means_", "interpretation"),
    ],
)
def test_what_people_search_for_has_a_page(word, page):
    assert word.lower() in (ROOT / "doc" / f"{page}.md").read_text().lower()


def test_the_reference_holds_every_public_module():
    page = (ROOT / "doc" / "api.md").read_text()
    inside = {"chains", "cli", "comparison", "evidence", "mixtures", "prediction", "relational"}
    for path in [*PACKAGE.glob("[a-z]*.py"), *PACKAGE.glob("[a-z]*/__init__.py")]:
        name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert name in inside or f"   bnpcluster.{name}\n" in page, f"doc/api.md lacks {name}"


def test_pages_of_components_show_first_what_users_need():
    spec = importlib.util.spec_from_file_location("conf", ROOT / "doc" / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    likelihood = conf.split_members("bnpcluster.likelihoods", "Bernoulli")
    assert likelihood["for_users"] == []
    assert {("method", "bind"), ("method", "frozen"), ("attribute", "takes_nan")} <= set(
        likelihood["internal"]
    )
    prior = conf.split_members("bnpcluster.priors", "DirichletProcess")
    assert {name for _, name in prior["for_users"]} == conf.FOR_USERS
    assert ("method", "tables") in prior["internal"]
    # Models, and the base classes that only those who extend look up, are shown as a whole.
    assert not conf.split_members("bnpcluster", "DPMixture")["internal"]
    assert not conf.split_members("bnpcluster.likelihoods", "Likelihood")["internal"]


def test_the_documentation_and_the_command_line_name_every_component():
    """From the registries; the README has a table of its own."""
    readme = (ROOT / "README.md").read_text()
    for registry in (LIKELIHOODS, PRIORS, SAMPLERS):
        for name, cls in registry.items():
            assert f'`"{name}"`' in readme, name
            assert f'| `"{name}"` | `{cls.__name__}` | {summary(cls)} |' in table(registry)
    assert all(f'``"{name}"``' in DPMixture.__doc__ for name in (*LIKELIHOODS, *SAMPLERS))
    for name, cls in PRIORS.items():
        assert set(parameters(cls)) == set(cls._get_param_names()), name


def test_the_command_line_knows_every_component():
    """Its names are written out, so that help needs no compiled code."""
    assert [*names.LIKELIHOODS, "pyclone"] == list(LIKELIHOODS)
    assert names.SAMPLERS == tuple(SAMPLERS)
    assert {n: set(own) for n, own in names.PRIORS.items()} == {
        n: set(cls._get_param_names()) for n, cls in PRIORS.items()
    }
    learnable = {n: cls.learnable for n, cls in LIKELIHOODS.items() if cls.learnable}
    assert names.HYPER == learnable
    assert DPMixture._inits == names.STARTS
    assert InfiniteRelationalModel._inits == names.NETWORK_STARTS
    graph = as_graph(np.zeros((2, 2)), directed=False)
    bound = Relational().bind(graph)
    found = {n for n, cls in SAMPLERS.items() if can_sample(cls, bound)}
    assert set(names.NETWORK_SAMPLERS) == found
    assert names.NETWORK_SAMPLERS[0] == InfiniteRelationalModel().sampler
    with_particles = {n for n, cls in SAMPLERS.items() if "n_particles" in cls().get_params()}
    assert set(WITH_PARTICLES) == with_particles


def test_one_page_says_what_every_auto_means():
    page = (ROOT / "doc" / "defaults.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    cells = " ".join("|".join(row.split("|")[1:3]) for row in rows)
    for module in (bnpcluster, likelihoods, priors, samplers):
        for cls in filter(inspect.isclass, vars(module).values()):
            for parameter in inspect.signature(cls).parameters.values():
                if isinstance(parameter.default, str) and parameter.default == "auto":
                    assert f"`{parameter.name}`" in cells, f"{cls.__name__}, {parameter.name}"

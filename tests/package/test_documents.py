"""The README's example and all examples run; the README's promises hold."""

import inspect
import os
import re
import runpy
from pathlib import Path

import pytest

import bnpcluster
from bnpcluster import DPMixture, likelihoods, priors, samplers
from bnpcluster._core.descriptions import parameters, summary, table
from bnpcluster.cli.commands import parser, prior_parameters
from bnpcluster.likelihoods import LIKELIHOODS
from bnpcluster.priors import PRIORS
from bnpcluster.samplers import SAMPLERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bnpcluster"
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
    names = {"__name__": "__main__"}  # examples of a guide build on one another
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(code, page.name, "exec"), names)


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_readme_commands_exist():
    text = (ROOT / "README.md").read_text()
    script = (ROOT / "run").read_text()
    for command in re.findall(r"bash run (\w+)", text):
        assert f"  {command})" in script


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(path, elsewhere, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
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


def test_the_reference_holds_every_public_module():
    page = (ROOT / "doc" / "api.md").read_text()
    inside = {"chains", "cli", "evidence", "mixtures", "prediction", "relational"}
    for path in [*PACKAGE.glob("[a-z]*.py"), *PACKAGE.glob("[a-z]*/__init__.py")]:
        name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert name in inside or f"   bnpcluster.{name}\n" in page, f"doc/api.md lacks {name}"


def test_the_documentation_and_the_command_line_name_every_component():
    """From the registries; the README has a table of its own."""
    readme = (ROOT / "README.md").read_text()
    shell = parser().parse_args(["fit", "table.csv", "--out", "results"])
    for registry in (LIKELIHOODS, PRIORS, SAMPLERS):
        for name, cls in registry.items():
            assert f'`"{name}"`' in readme, name
            assert f'| `"{name}"` | `{cls.__name__}` | {summary(cls)} |' in table(registry)
    assert all(f'``"{name}"``' in DPMixture.__doc__ for name in (*LIKELIHOODS, *SAMPLERS))
    assert shell.prior in PRIORS
    for name, cls in PRIORS.items():
        assert set(parameters(cls)) == set(cls._get_param_names()), name
        assert all(name in prior_parameters()[parameter] for parameter in parameters(cls))


def test_one_page_says_what_every_auto_means():
    page = (ROOT / "doc" / "defaults.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    cells = " ".join("|".join(row.split("|")[1:3]) for row in rows)
    for module in (bnpcluster, likelihoods, priors, samplers):
        for cls in filter(inspect.isclass, vars(module).values()):
            for parameter in inspect.signature(cls).parameters.values():
                if isinstance(parameter.default, str) and parameter.default == "auto":
                    assert f"`{parameter.name}`" in cells, f"{cls.__name__}, {parameter.name}"

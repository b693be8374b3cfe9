"""The README's example and all examples run; the README's promises hold."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

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


@pytest.mark.parametrize("name", ["networks.md", "pictures.md", "mutations.md"])
def test_examples_of_guides_run(name, elsewhere):
    text = (ROOT / "doc" / name).read_text()
    names = {}  # examples of a guide build on one another
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, name, "exec"), names)


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

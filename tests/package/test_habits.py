"""What contributors rely on is there: workflows, hooks, pins, and the paths that the pages name."""

import configparser
import importlib
import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bnpcluster"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PAGES = [
    ROOT / name
    for name in (
        "CONTRIBUTING.md",
        "SECURITY.md",
        "changes/README.md",
        "doc/developers.md",
        ".github/pull_request_template.md",
    )
]
TOP = ("bnpcluster", "tests", "benchmarks", "doc", "examples", "changes", ".github")


def commands():
    """The commands of `run`."""
    return set(re.findall(r"^  (\w+)\)", (ROOT / "run").read_text(), re.MULTILINE))


def steps(workflow):
    """All steps of all jobs of a workflow."""
    return [
        step
        for job in yaml.safe_load(workflow.read_text())["jobs"].values()
        for step in job["steps"]
    ]


def options():
    """The sections of setup.cfg."""
    found = configparser.ConfigParser()
    found.read(ROOT / "setup.cfg")
    return found


def named_paths(text):
    """Paths of this repository that a text names."""
    words = re.findall(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, TOP))})/[\w./-]*\w", text)
    return {word for word in words if not word.startswith("doc/_build")}


def test_every_workflow_has_steps_that_run_something():
    assert {w.stem for w in WORKFLOWS} == {"docs", "mutants", "tests", "wheels"}
    for workflow in WORKFLOWS:
        for step in steps(workflow):
            assert ("run" in step) != ("uses" in step), workflow.name


@pytest.mark.parametrize("page", [*WORKFLOWS, *PAGES], ids=lambda page: page.name)
def test_commands_of_run_exist(page):
    assert set(re.findall(r"bash run (\w+)", page.read_text())) <= commands()


@pytest.mark.parametrize("page", [*WORKFLOWS, *PAGES], ids=lambda page: page.name)
def test_named_paths_exist(page):
    for path in named_paths(page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} names {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_usage_of_run_names_every_command():
    usage = re.search(r"usage: .*?>&2", (ROOT / "run").read_text(), re.DOTALL)[0]
    assert commands() == set(re.findall(r"(?:run|\|) (\w+)", usage))


def test_workflows_run_every_python_that_is_promised():
    minors = [f"3.{n}" for n in range(11, 15)]
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert yaml.safe_load(text)["jobs"]["tests"]["strategy"]["matrix"]["python"] == minors
    classified = re.findall(r"Python :: (3\.\d+)", options()["metadata"]["classifiers"])
    assert set(classified) <= set(minors)
    assert options()["options"]["python_requires"] == f">={minors[0]}"


def test_the_oldest_pins_are_the_lower_bounds():
    known = options()
    extras = known["options.extras_require"]
    users = [extras[name] for name in ("plot", "arviz", "progress", "tables", "dask")]
    listed = "\n".join([known["options"]["install_requires"], *users])
    bounds = dict(line.split(">=") for line in listed.split("\n") if line)
    text = (ROOT / ".github" / "oldest.txt").read_text()
    assert dict(re.findall(r"^([\w-]+)==(.+)$", text, re.MULTILINE)) == bounds


def test_hooks_are_local_and_their_tools_are_installed_by_an_extra():
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert [hook["id"] for hook in hooks] == ["ruff", "ruff-format", "mypy", "public-surface"]
    for hook in hooks:
        program, *words = shlex.split(hook["entry"])
        assert program in (".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/python")
        assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_issue_forms_ask_something(form):
    content = yaml.safe_load(form.read_text())
    if form.stem != "config":
        assert content["name"] and content["description"]
        assert all(part["attributes"]["label"] for part in content["body"])


def test_fragments_are_of_known_kinds():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = [kind["directory"] for kind in settings["type"]]
    readme = (ROOT / "changes" / "README.md").read_text()
    assert re.findall(r"^\| `(\w+)`", readme, re.MULTILINE) == kinds
    for path in (ROOT / "changes").iterdir():
        if path.name not in settings["ignore"]:
            assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(kinds)})\.md", path.name), path.name
            assert path.read_text().strip()
    assert settings["start_string"] in (ROOT / settings["filename"]).read_text()


def test_modules_named_for_mypy_exist():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    for name in [name for part in settings["overrides"] for name in part["module"]]:
        path = ROOT / name.removesuffix(".*").replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), f"pyproject.toml names {name}"


def test_the_picture_of_the_folders_shows_all_of_them():
    script = ROOT / "doc" / "figures" / "folders.py"
    spec = importlib.util.spec_from_file_location("folders", script)
    folders = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(folders)
    assert script.with_suffix(".svg").read_text() == folders.picture(), f"run {script}"
    shown = {name for row in folders.ROWS for name, _ in row}
    there = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    there |= {p.stem for p in PACKAGE.glob("[a-z]*.py")}
    assert shown == there
    page = (ROOT / "doc" / "developers.md").read_text()
    assert not [name for name in there if not re.search(rf"[─ ]{name}(/|\.py)", page)]


def test_every_benchmark_can_be_imported():
    """Nothing else runs them, so a name that moved would go unnoticed."""
    for path in (ROOT / "benchmarks").rglob("*.py"):
        if path.name != "__main__.py":
            parts = path.relative_to(ROOT).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))

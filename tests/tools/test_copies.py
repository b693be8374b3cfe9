"""Tests run in copies: none sees later edits, and none outlives its time."""

import os
import time

import pytest

from tests.tools.copies import Copies, copy

HANGS = """import pathlib, subprocess, time


def test_hang():
    child = subprocess.Popen(["sleep", "600"])
    pathlib.Path("child.part").write_text(str(child.pid))
    pathlib.Path("child.part").rename("child")
    time.sleep(600)
"""


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "tests" / "__pycache__").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "tests" / "test_one.py").write_text("def test_one():\n    assert True\n")
    (root / "README.md").write_text("Read me.")
    return root


def copies_of(tree, **options):
    (tree.parent / "copies").mkdir()
    return Copies(tree, tree.parent / "copies", **{"n_jobs": 1, **options})


def test_a_copy_has_what_tests_read(tree, tmp_path):
    copy(tree, tmp_path / "to")
    found = {path.relative_to(tmp_path / "to").as_posix() for path in (tmp_path / "to").rglob("*")}
    assert found == {"README.md", "tests", "tests/test_one.py"}


def test_tests_run_on_the_sources_as_they_were(tree):
    copies = copies_of(tree)
    (tree / "tests" / "test_one.py").write_text("def test_one():\n    assert False\n")
    (job,) = copies.jobs
    assert copies.pytest(job, ["tests/test_one.py"], False, None).status == 0
    (job / "tests" / "test_one.py").write_text("def test_one():\n    assert 0\n")
    done = copies.pytest(job, ["tests/test_one.py"], False, None)
    assert done.status == 1
    assert "1 failed" in done.said


def test_a_run_that_takes_too_long_is_killed_with_its_children(tree):
    (tree / "tests" / "test_one.py").write_text(HANGS)
    copies = copies_of(tree)
    (job,) = copies.jobs
    for seconds in (1, 5, 40):  # as long as a busy machine needs to come to the test
        assert copies.pytest(job, ["tests/test_one.py"], False, seconds).status is None
        if (job / "child").exists():
            break
    child = int((job / "child").read_text())
    for _ in range(100):
        if is_gone(child):
            return
        time.sleep(0.1)
    pytest.fail("the child of a killed run lives on")


def is_gone(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{process}/stat") as file:  # killed, but nobody has asked how it ended
        return file.read().rsplit(")")[-1].split()[0] == "Z"


def test_every_unit_is_worked_at_once(tree):
    seen = []
    copies = copies_of(tree, n_jobs=2)
    copies.each(range(20), lambda unit, folder: seen.append((unit, folder)))
    assert sorted(unit for unit, _ in seen) == list(range(20))
    assert {folder for _, folder in seen} <= set(copies.jobs)


def test_none_begins_when_the_time_is_up(tree):
    seen = []
    copies_of(tree, minutes=0).each(range(20), lambda unit, folder: seen.append(unit))
    assert seen == []


def test_an_error_ends_all_jobs(tree):
    (tree / "tests" / "test_one.py").write_text(HANGS)
    copies = copies_of(tree, n_jobs=2)

    def work(unit, folder):
        if unit:
            raise ValueError("an error")
        copies.pytest(folder, ["tests/test_one.py"], False, None)

    with pytest.raises(ValueError, match="an error"):
        copies.each([0, 1], work)

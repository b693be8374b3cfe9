"""The slow tests run file by file, and not again before something changes."""

import ast

import pytest

from tests.tools.copies import Done
from tests.tools.digests import Sources
from tests.tools.slow import ROOT, ledger, main, marks_slow, row, slow_files

SLOW = """import pytest


@pytest.mark.slow
def test_slow():
    assert {}


def test_quick():
    assert {}
"""
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow: long']\n",
    "bnpcluster/__init__.py": "ONE = 1\n",
    "tests/test_good.py": SLOW.format("True", "False"),
    "tests/test_bad.py": SLOW.format("False", "True"),
    "tests/test_quick.py": "def test_quick():\n    assert False\n",
}


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_files_with_slow_tests_are_found():
    found = slow_files(Sources(ROOT))
    assert {"tests/package/test_calibration.py", "tests/samplers/test_registry.py"} <= set(found)
    assert "tests/samplers/reconfiguration/exact_arm.py" in found
    assert "tests/tools/test_slow.py" not in found


@pytest.mark.parametrize("text", ["@pytest.mark.slow\ndef f(): pass", "x = [pytest.mark.slow]"])
def test_marks_are_seen_anywhere(text):
    assert marks_slow(ast.parse(text))
    assert not marks_slow(ast.parse(text.replace("slow", "parametrize")))


def test_slow_tests_run_once(tree, capsys):
    assert main([], tree) == 1
    said = capsys.readouterr().out
    assert "test_quick.py" not in said
    rows = ledger(tree).rows()
    counts = {f: [r[c] for c in ("outcome", "passed", "failed")] for (f,), r in rows.items()}
    assert counts["tests/test_good.py"] == ["passed", "1", "0"]
    assert counts["tests/test_bad.py"] == ["FAILED", "0", "1"]

    (tree / "tests/test_bad.py").write_text(FILES["tests/test_good.py"])
    assert main([], tree) == 0
    said = capsys.readouterr().out
    assert "tests/test_bad.py: passed 1" in said
    assert "tests/test_good.py" not in said
    assert "2 files with slow tests, 2 passed to their end, 0 did not, 0 without" in said

    (tree / "bnpcluster/__init__.py").write_text('ONE = 1\n"""A docstring."""\n')
    assert main(["--summary"], tree) == 0
    assert "2 passed to their end" in capsys.readouterr().out
    (tree / "bnpcluster/__init__.py").write_text("ONE = 2\n")
    assert main(["--summary"], tree) == 0
    assert "0 passed to their end, 0 did not, 2 without" in capsys.readouterr().out


def test_a_file_that_takes_too_long_is_unfinished():
    found = row("tests/test_x.py", "key", Done(None, "....\n"), 60.0)
    assert found["outcome"] == "unfinished"


def test_the_closing_line_is_counted():
    found = row("x", "key", Done(1, "3 passed\n1 failed, 12 passed, 2 skipped in 3.00s"), 3.0)
    assert [found[name] for name in ("passed", "failed", "skipped")] == ["12", "1", "2"]


def test_a_file_nobody_has_is_refused(tree, capsys):
    with pytest.raises(SystemExit):
        main(["--only", "nothing"], tree)
    assert "no file with slow tests has 'nothing'" in capsys.readouterr().err

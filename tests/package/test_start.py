"""The package starts at once: names are imported at their first use."""

import subprocess
import sys

import pytest

import bnpcluster

HEAVY = ("numpy", "scipy", "sklearn", "numba", "joblib", "matplotlib")


def loaded(code):
    """Which heavy packages some code loads in a new process."""
    ending = f"\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    words = [sys.executable, "-c", code + ending]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def shell(*words):
    return f"from bnpcluster.cli import main\nmain({list(words)!r})"


@pytest.mark.parametrize(
    "code",
    [
        "import bnpcluster\ndir(bnpcluster)",
        shell("--help"),
        shell("fit", "--help"),
        shell("--version"),
        shell("fit", "table.csv", "--out", "results", "--drawz", "5"),
        shell("fit", "table.csv", "--out", "results", "--likelihood", "gauss"),
    ],
    ids=["import", "help", "help_of_fit", "version", "option", "value"],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded(code) in ("[]", "['numpy']" if "gauss" in code else "[]")


def test_the_command_line_is_there_in_no_time():
    """Until it is there, Ctrl-C ends in a traceback of Python."""
    code = "import sys\nbefore = set(sys.modules)\nfrom bnpcluster.cli import main\n"
    code += "print(set(sys.modules) - before)"
    words = [sys.executable, "-c", code]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert eval(found) == {"bnpcluster", "bnpcluster.cli"}


def test_a_missing_table_needs_no_compiled_code():
    assert loaded(shell("fit", "table.csv", "--out", "results")) in ("[]", "['numpy']")


def test_modules_and_names_are_there_after_an_import():
    code = "import bnpcluster\nprint(bnpcluster.plotting.TraceDisplay, bnpcluster.DPMixture)"
    words = [sys.executable, "-c", code]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "TraceDisplay" in found and "DPMixture" in found


def test_all_names_are_there():
    assert set(bnpcluster.__all__) | {"plotting", "partitions"} <= set(dir(bnpcluster))
    for name in dir(bnpcluster):
        assert getattr(bnpcluster, name) is not None or name == "__builtins__"
    with pytest.raises(AttributeError, match="has no attribute 'DPmixture'"):
        _ = bnpcluster.DPmixture
    assert set(bnpcluster._HOMES) == set(bnpcluster.__all__)

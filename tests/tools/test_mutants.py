"""Mutants are of the code as it is, and their runner tells caught ones from the others."""

import os
import signal
import subprocess
import sys

import pytest

from tests.mutants import Mutant, edited, span
from tests.mutants.__main__ import MUTANTS, ROOT, in_order, main
from tests.mutants.results import key, ledger
from tests.mutants.trials import Trials, tail, verdict
from tests.tools.copies import Copies, Done
from tests.tools.digests import Sources

CODE = """import math

ONE = 1


@decorated
def double(x):
    return 2 * x


def half(x):
    return x / 2


class Number:
    def double(self):
        return 2 * self.x
"""
TESTS = """from bnpcluster.numbers import double, half
from tests.helper import ONE


def test_double():
    assert double(ONE) == 2


def test_half():
    assert half(ONE) < 1


def test_fails():
    assert half(ONE) == 3
"""
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "bnpcluster/__init__.py": "",
    "bnpcluster/numbers.py": CODE.replace("@decorated\n", ""),
    "tests/__init__.py": "",
    "tests/helper.py": "ONE = 1\n",
    "tests/test_numbers.py": TESTS,
    "tests/mutants/__init__.py": "",
}


def mutant(breaks, old="2 * x", new="3 * x", test="test_double", function="double", **others):
    tests = f"test_numbers.py::{test}"
    return Mutant("numbers.py", function, breaks, old, new, tests, **others)


ALL = [
    mutant("double is triple"),
    mutant("half is a third", "x / 2", "x / 3", "test_half", "half"),
    mutant("the test fails anyway", "x / 2", "x / 3", "test_fails", "half"),
    mutant("the text is gone", "5 * x"),
    mutant("the test is gone", test="test_triple"),
    mutant("the file does not load", new="2 *"),
]
OUTCOMES = ["caught", "SURVIVED", "broken", "STALE", "STALE", "STALE"]


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def collected():
    """The ids of all tests in the files that mutants name."""
    tests = {test for m in MUTANTS for test in m.tests.split()}
    files = sorted({f"tests/{test.partition('::')[0]}" for test in tests})
    words = ["-q", "-m", "", "--collect-only", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}


def test_every_mutant_is_of_the_code_as_it_is():
    """A mutant whose text is gone would show nothing, however often it is run."""
    texts = {m.file: (ROOT / "bnpcluster" / m.file).read_text() for m in MUTANTS}
    assert not [m for m in MUTANTS if edited(texts[m.file], m) is None]


def test_the_tests_of_every_mutant_exist(collected):
    """As a file, as a test with all its parameters, or as a test with some."""
    known = collected | {i.partition("[")[0] for i in collected}
    known |= {i.partition("::")[0] for i in collected}
    assert not [(m, test) for m in MUTANTS for test in m.tests.split() if test not in known]


def test_mutants_differ_in_what_their_results_are_named_after():
    assert len({(m.file, m.breaks) for m in MUTANTS}) == len(MUTANTS)
    assert len(MUTANTS) > 700


def test_a_mutant_edits_its_function_alone():
    text = edited(CODE, mutant("double is triple"))
    assert text == CODE.replace("2 * x", "3 * x")
    method = mutant("the method is triple", "2 * self", "3 * self", function="Number.double")
    assert edited(CODE, method) == CODE.replace("2 * self", "3 * self")


@pytest.mark.parametrize(
    ("old", "function"), [("x", "double"), ("2 * x", "half"), ("2 * x", "gone"), ("y", "")]
)
def test_text_that_is_not_exactly_once_in_the_function_is_not_edited(old, function):
    assert edited(CODE, mutant("it", old=old, function=function)) is None


def test_a_function_reaches_from_its_decorators_to_its_end():
    start, end = span(CODE, "double")
    assert CODE[start:end] == "@decorated\ndef double(x):\n    return 2 * x\n"
    assert span(CODE, "") == (0, len(CODE))
    assert span("def (", "double") == (0, 0)


def test_the_key_covers_the_mutant_and_what_its_tests_import(tree):
    def now(m=ALL[0]):
        return key(m, Sources(tree))

    before = now()
    assert now(ALL[0]._replace(breaks="it, in other words")) == before
    assert now(ALL[0]._replace(new="4 * x")) != before
    assert now(ALL[0]._replace(compiled=True)) != before
    file = tree / "bnpcluster" / "numbers.py"
    file.write_text(file.read_text().replace("def half(x):", 'def half(x):\n    """Half."""  # x'))
    assert now() == before
    file.write_text(file.read_text().replace("x / 2", "x / 2.0"))
    assert now() != before
    before = now()
    (tree / "tests" / "helper.py").write_text("ONE = 1.0\n")
    assert now() != before


def test_mutants_are_told_apart(tree, capsys):
    """Once they are tried, those that are settled are not tried again."""
    assert main([], tree, ALL) == 1
    said = capsys.readouterr().out
    for m, outcome in zip(ALL, OUTCOMES, strict=True):
        assert f"numbers.py: {m.breaks}" in said
        assert ledger(tree).rows()[m.file, m.breaks]["outcome"] == outcome
    assert said.splitlines()[-1] == (
        "6 mutants, 6 with a result that holds: 1 caught, 1 survived, 1 broken, 3 stale; "
        "0 without, 0 of them with one of older sources"
    )
    assert "5 * x' is not exactly once in double" in said
    assert "assert 0.5 == 3" in said
    assert "1 failed" not in said and "1 passed" not in said
    assert (tree / "bnpcluster" / "numbers.py").read_text() == FILES["bnpcluster/numbers.py"]

    assert main([], tree, ALL[:2]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "SURVIVED numbers.py: half is a third"
    assert len(said) == 2  # it is reported, and nothing ran
    assert len(ledger(tree).rows()) == 2  # mutants that are gone are forgotten

    (tree / "tests" / "test_numbers.py").write_text(TESTS.replace("< 1", "== 0.5"))
    assert main(["--jobs", "2"], tree, ALL[:2]) == 0
    assert "2 caught, 0 survived" in capsys.readouterr().out


def test_options_say_which_mutants_run(tree, capsys):
    assert main(["--minutes", "0"], tree, ALL) == 0
    assert "6 without" in capsys.readouterr().out
    assert main(["--shard", "1/6"], tree, ALL) == 0
    assert "1 mutants, 1 with a result that holds: 1 caught" in capsys.readouterr().out
    assert main(["--only", "triple", "--again"], tree, ALL) == 0
    assert "caught " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--only", "nothing"], tree, ALL)


def test_compiled_mutants_come_last_and_by_test():
    compiled = [mutant("it", test=test, compiled=True) for test in "bab"]
    order = in_order([compiled[0], ALL[1], *compiled[1:], ALL[0]])
    assert order == [ALL[1], ALL[0], compiled[1], compiled[0], compiled[2]]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0, "SURVIVED"),
        (1, "caught"),
        (2, "STALE"),
        (None, "caught"),  # it hangs
        (-signal.SIGSEGV, "caught"),
        (-signal.SIGKILL, "STALE"),  # somebody else killed it
    ],
)
def test_an_exit_status_is_an_outcome(status, outcome):
    assert verdict(Done(status, "said"))[0] == outcome


def test_closing_lines_are_those_of_the_suite_alone():
    assert tail("E  wrong\n1 failed, 2 passed in 0.1s\n2 errors in 3s") == "\n    E  wrong"


def test_a_mutant_is_given_time_by_how_long_its_tests_take_without_it(monkeypatch, tmp_path):
    """Or the tests of a busy machine would catch it by being slow."""
    limits = []
    copies = Copies.__new__(Copies)

    def pytest_run(folder, words, compiled, seconds):
        limits.append(seconds)
        return Done(0, "", 100.0)

    monkeypatch.setattr(copies, "pytest", pytest_run, raising=False)
    (tmp_path / "bnpcluster").mkdir()
    (tmp_path / "bnpcluster" / "numbers.py").write_text(CODE)
    Trials(copies, None, {}).outcome(ALL[0], tmp_path)
    assert limits == [300.0, 500.0]

"""A digest changes with what the code does, and with nothing else."""

import pytest

from tests.tools.digests import Sources, syntax

FILES = {
    "bnpcluster/__init__.py": "from bnpcluster.inner import f\n",
    "bnpcluster/inner.py": "def f():\n    return 1\n",
    "bnpcluster/other.py": "def g():\n    return 1\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "from tests.tools.shared import DATA\n",
    "tests/tools/__init__.py": "",
    "tests/tools/shared.py": "DATA = 1\n",
    "tests/tools/helper.py": "from tests.tools import deeper\n",
    "tests/tools/deeper.py": "def help():\n    return 1\n",
    "tests/tools/unused.py": "",
    "tests/priors/conftest.py": "",
    "tests/priors/proof.py": "import bnpcluster.other\n",
    "tests/priors/test_base.py": (
        "from bnpcluster import f\n\n\ndef test_f():\n    import tests.tools.helper\n\n"
        "    run('tests/priors/proof.py')\n"
    ),
}
TEST = "tests/priors/test_base.py"


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def digest(tree):
    sources = Sources(tree)
    return sources.digest(sources.of_tests([TEST]), "word")


def test_comments_formatting_and_docstrings_do_not_count():
    plain = 'def f(x):\n    return {"a": x}\n\n\nclass A:\n    b = 1\n'
    spoken = (
        '"""Module."""\ndef f(x):  # says\n    """Say."""\n    return {\n        "a": x,\n    }\n'
        'class A:\n    """A."""\n    b = 1\n    """An attribute."""\n'
    )
    assert syntax(plain) == syntax(spoken)


@pytest.mark.parametrize(
    "other", ["x = True", "x = 1.0", "x = '1'", "x = -1", "y = 1", "x: int = 1", "x = 1, []"]
)
def test_all_else_counts(other):
    assert syntax("x = 1") != syntax(other)


def test_strings_that_are_used_count():
    assert syntax("def f():\n    return 'a'") != syntax("def f():\n    return 'b'")


def test_a_test_rests_on_what_it_imports_and_on_the_package_by_name(tree):
    assert Sources(tree).of_tests([TEST]) == {
        TEST,
        "bnpcluster/__init__.py",  # and not what that imports
        "bnpcluster/other.py",  # by the proof that is named in a string
        "tests/conftest.py",
        "tests/priors/conftest.py",
        "tests/priors/proof.py",
        "tests/tools/__init__.py",
        "tests/tools/deeper.py",
        "tests/tools/helper.py",
        "tests/tools/shared.py",
    }


@pytest.mark.parametrize("file", ["tests/tools/deeper.py", "tests/conftest.py", TEST])
def test_an_edit_of_what_a_test_imports_changes_the_digest(tree, file):
    before = digest(tree)
    (tree / file).write_text(FILES[file] + "\n# a comment\n")
    assert digest(tree) == before
    (tree / file).write_text(FILES[file] + "\nx = 1\n")
    assert digest(tree) != before


@pytest.mark.parametrize("file", ["tests/tools/unused.py", "bnpcluster/inner.py"])
def test_an_edit_elsewhere_does_not(tree, file):
    before = digest(tree)
    (tree / file).write_text("x = 1\n")
    assert digest(tree) == before


def test_words_change_the_digest(tree):
    sources = Sources(tree)
    assert sources.digest([TEST], "a") != sources.digest([TEST], "b")
    assert sources.digest([TEST]) != sources.digest([])


def test_a_file_that_is_gone_or_is_no_python_has_a_digest(tree):
    before = digest(tree)
    (tree / "tests/tools/deeper.py").write_text("def (")
    half_written = digest(tree)
    (tree / "tests/tools/deeper.py").unlink()
    assert len({before, half_written, digest(tree)}) == 3
    assert Sources(tree).digest(["tests/nowhere.py"])


def test_the_package_is_all_its_files(tree):
    names = ["__init__", "inner", "other"]
    assert sorted(Sources(tree).package()) == [f"bnpcluster/{name}.py" for name in names]

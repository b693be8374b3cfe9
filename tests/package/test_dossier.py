"""The dossier says what proofs measured, and names proofs that exist."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.tools.dossier import GAP, P_VALUE, page

ROOT = Path(__file__).parents[2]


def line(case, value, measure=P_VALUE, test="tests/samplers/test_registry.py::test_a_claim"):
    return {
        "test": f"{test}[{case}]",
        "of": "Gibbs()",
        "measure": measure,
        "value": value,
        "size": "9",
    }


def test_the_worst_is_shown_of_each_claim():
    lines = [line("one", 0.5), line("two", 0.031), line("three", 0.9)]
    lines += [line("four", 1e-12, GAP, "tests/priors/exact_x.py::test_b_c")]
    lines += [line("five", 3e-12, GAP, "tests/priors/exact_x.py::test_b_c")]
    text = page(lines)
    assert "| samplers, registry: a claim | 3 | 9 | p-value 0.031 |" in text
    assert "| priors, x: b c | 2 | 9 | largest gap 3e-12 |" in text
    assert "| two | Gibbs() | 0.031 |" in text
    assert text.startswith("# Dossier\n")


def test_a_proof_writes_its_line(tmp_path):
    """Once, though the workers of a parallel run report to their master, too."""
    file = tmp_path / "lines"
    test = "tests/priors/test_registry.py::test_contract"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", test]
    done = subprocess.run([*words, "-k", "mfm-1", "--dossier", file], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout
    (found,) = map(json.loads, file.read_text().splitlines())
    assert found["test"] == f"{test}[mfm-1]"
    assert found["of"].startswith("MFM(")
    assert found["measure"] == GAP
    assert 0 < found["value"] < 1e-9


def test_the_page_names_proofs_that_exist():
    text = (ROOT / "doc" / "dossier.md").read_text()
    names = re.findall(r"^`(tests/\S+)::(test_\w+)`$", text, re.MULTILINE)
    assert len(names) > 10
    for file, test in names:
        assert f"def {test}(" in (ROOT / file).read_text(), f"{file} lacks {test}: bash run dossier"

"""The dossier of correctness: what the proofs among the tests measured, as a page.

Proofs `note` what they measured. `pytest --dossier FILE` appends a line of JSON for each proof that
passed; `python -m tests.tools.dossier FILE > doc/dossier.md` makes the page of these lines.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import groupby
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

VARIABLE = "BNPCLUSTER_DOSSIER"  # how runs of pytest that tests begin know the file
P_VALUE, IMBALANCE = "p-value", "largest imbalance"
ERRORS, GAP, LOG_GAP = "standard errors", "largest gap", "largest gap of logarithms"
EXPLAINED = {
    P_VALUE: "p-value of a chi-square test over all partitions, after one step from exact draws "
    "(of a second run, four times as long, where the first one fell below 0.001); the least of "
    "many is small by chance alone, about one over their number",
    IMBALANCE: "largest difference between the flows of probability from one partition to another "
    "and back, over all pairs",
    ERRORS: "distance of the mean evidence, and of the mean weight of every common partition, from "
    "the enumerated ones, in standard errors, the largest",
    GAP: "largest error of a probability",
    LOG_GAP: "largest error of a log density, relative where it is large, against a formula "
    "written out",
}
LONGEST = 120  # characters of what describes a component
HEAD = """# Dossier

What the proofs among the tests measured, as they said it themselves: `bash run dossier` runs them
and writes this page. [Correctness](correctness.md) says what is claimed and why these tests can
tell; all cases passed, or there would be no page.

"""

_noted: list[dict] = []


def note(measure: str, value: float, size: str, of: str = "") -> None:
    """Keep what the running test measured, on how much, and of what but its parameters."""
    _noted.append({"measure": measure, "value": float(value), "size": size, "of": of})


class Dossier:
    """The plugin that writes the lines."""

    def __init__(self, config):
        self.file = Path(config.getoption("--dossier")).resolve()
        self.writes = not hasattr(config, "workerinput")  # workers send their reports home
        os.environ[VARIABLE] = str(self.file)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        _noted.clear()
        yield
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        named = [shortened(repr(p)) for p in parameters.values() if is_component(p)]
        item.user_properties += [("of", ", ".join(named)), ("noted", list(_noted))]

    def pytest_runtest_logreport(self, report):
        properties = dict(report.user_properties)
        if not self.writes or report.when != "call" or not report.passed:
            return
        with self.file.open("a") as file:
            for line in properties.get("noted", []):
                named = ", ".join(filter(None, [line["of"], properties["of"]]))
                file.write(json.dumps({"test": report.nodeid, **line, "of": named}) + "\n")


def shortened(text):
    """On one line, and without most of a long array."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def is_component(parameter):
    """Whether a parameter of a test is a sampler, a likelihood or a prior."""
    return isinstance(parameter, BaseEstimator)


def page(lines: list[dict]) -> str:
    """The page of all lines."""
    lines = sorted(lines, key=lambda line: (line["test"].split("[")[0], line["test"]))
    groups = [(name, list(g)) for name, g in groupby(lines, lambda x: x["test"].split("[")[0])]
    rows = [_row(name, group) for name, group in groups]
    table = ["| claim | cases | size | measured, the worst |", "|---|---|---|---|", *rows, ""]
    words = [f"- *{name}*: {text}." for name, text in EXPLAINED.items()]
    parts = [HEAD, "\n".join(table), "\n", "\n".join(words), "\n\n## Case by case\n"]
    for name, group in groups:
        head = f"| case | of | {group[0]['measure']} |\n|---|---|---|"
        parts.append(f"\n### {claim(name)}\n\n`{name}`\n\n{head}")
        for line in group:
            case = line["test"].removeprefix(name).strip("[]")
            parts.append(f"\n| {case} | {line['of']} | {shown(line['value'])} |")
        parts.append("\n")
    return "".join(parts)


def _row(name: str, group: list[dict]) -> str:
    measure = group[0]["measure"]
    worst = (min if measure == P_VALUE else max)(line["value"] for line in group)
    sizes = ", ".join(dict.fromkeys(line["size"] for line in group))
    return f"| {claim(name)} | {len(group)} | {sizes} | {measure} {shown(worst)} |"


def claim(name: str) -> str:
    """A test's name in words."""
    file, test = name.split("::")[0], name.split("::")[-1]
    place = Path(file).stem.removeprefix("test_").removeprefix("exact_")
    words = test.removeprefix("test_").replace("_", " ")
    return f"{Path(file).parent.name}, {place}: {words}"


def shown(value: float) -> str:
    """A number with the digits that matter."""
    return f"{value:.2g}"


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text()
    print(page([json.loads(line) for line in text.splitlines()]), end="")

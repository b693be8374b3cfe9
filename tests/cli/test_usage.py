"""The words of a command line, and the help."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bnpcluster import DPMixture, InfiniteRelationalModel
from bnpcluster._core.messages import parameter
from bnpcluster.cli.options import COMMANDS
from bnpcluster.cli.usage import DISAGREE, DONE, INTERRUPTED, WRONG, parse
from bnpcluster.cli.values import parse_value
from bnpcluster.likelihoods import PyClone
from bnpcluster.mixtures import PRESETS
from tests.tools.shell import refused, run


def test_help_tells_the_exit_statuses_and_the_defaults(capsys):
    assert run("fit", "--help") == 0
    text = capsys.readouterr().out
    for status in (DONE, WRONG, DISAGREE, INTERRUPTED):
        assert f"\n  {status} " in text
    defaults = DPMixture().get_params()
    for name in ("max_draws", "n_chains"):
        option = parameter(name).shell
        assert re.search(rf"{option} N\s.*\({defaults[name]}\)", text)
    assert defaults["n_draws"] == defaults["n_warmup"] == "auto"
    assert text.count("auto (the default)") == 2


def test_the_module_runs_and_leaves_with_the_status(tmp_path):
    words = [sys.executable, "-m", "bnpcluster", "fit", "none.csv", "--out", "results"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "bnpcluster: none.csv: No such file or directory.\n"
    assert list(tmp_path.iterdir()) == []


def test_usage_in_one_sentence(capsys):
    assert "--out is missing" in refused(capsys, run("fit", "table.csv"))
    assert "Unknown command 'cluster'" in refused(capsys, run("cluster"))


def test_the_commands_of_the_guide_are_understood():
    page = (Path(__file__).parents[2] / "doc" / "command_line.md").read_text()
    lines = re.findall(r"^bnpcluster (.+)$", page, re.MULTILINE)
    assert len(lines) >= 5
    for command in lines:
        parse(shlex.split(command), COMMANDS, "")


def parsed(*words):
    return parse(["fit", "t.csv", "--out", "r", *words], COMMANDS, "")


def test_values_may_follow_an_equals_sign_and_may_be_negative():
    options = parsed("--missing", "-999", "--missing=?,-", "--alpha", "-1", "--seed=7")
    assert options.missing == [["-999"], ["?", "-"]]
    assert (options.alpha, options.seed) == (-1, 7)
    assert parsed("--missing", "--").missing == [["--"]]


def test_lengths_may_be_automatic():
    options = parsed("--draws", "auto", "--warmup", "auto")
    assert (options.n_draws, options.n_warmup) == ("auto", "auto")
    assert (parsed("--draws", "50", "--jobs", "-1").n_draws) == 50


def test_names_of_columns_may_contain_commas():
    assert parsed("--columns", 'height, "x, in cm"').columns == ["height", "x, in cm"]


def test_marks_have_names():
    options = parsed("--sep", "tab", "--decimal", "comma", "--thousands", "blank")
    assert (options.sep, options.decimal, options.thousands) == ("\t", ",", " ")


def test_numbers_with_underscores_are_text():
    assert parse_value("1_000") == "1_000"
    assert parse_value("1000,0.5") == (1000, 0.5)
    with pytest.raises(ValueError, match="'1_000' is neither a whole number nor auto"):
        parsed("--draws", "1_000")


def test_options_that_are_not_given_are_left_to_the_model():
    assert not {"alpha", "n_draws", "sampler", "likelihood", "hyper"} & set(vars(parsed()))


def test_every_command_explains_all_of_its_options(capsys):
    for name, command in COMMANDS.items():
        assert run(name, "--help") == 0
        text = capsys.readouterr().out
        for option in command.options.values():
            assert re.search(rf"^  {option.name}\b", text, re.MULTILINE), option.name
        assert max(map(len, text.splitlines())) <= 100
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)


def test_options_of_fits_are_parameters_of_the_estimators():
    files = {
        "out",
        "force",
        "quote_formulas",
        "save_model",
        "id_column",
        "columns",
        "quiet",
        "seed",
    }
    reading = {"sep", "decimal", "thousands", "missing", "header"}
    for command, known in (
        ("fit", {*_parameters(*PRESETS.values()), "prior", "hyper"}),
        ("pyclone", {*_parameters(*PRESETS.values()), *PyClone().get_params(), "prior"}),
        ("network", {*_parameters(InfiniteRelationalModel), "start", "end", "weight", "threshold"}),
    ):
        keys = {option.key for option in COMMANDS[command].options.values()}
        assert keys <= known | files | reading, command


def _parameters(*classes):
    return {name for cls in classes for name in cls._get_param_names()}

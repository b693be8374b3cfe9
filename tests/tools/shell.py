"""Run commands of the command line in this process, and read what they wrote."""

import csv

from bnpcluster.cli import main

QUICK = ["--draws", "20", "--warmup", "20", "--chains", "2", "--seed", "0"]


def run(*words):
    """The exit status of a command."""
    return main([str(word) for word in words])


def fit(table, *options):
    """The exit status of a fit, and the folder of the results."""
    folder = table.parent / "results"
    return run("fit", table, "--out", folder, *options), folder


def columns_of(path):
    """The columns of a table of text."""
    with path.open(newline="") as file:
        head, *rows = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def refused(capsys, status):
    """The one sentence on the error stream of a command that was refused."""
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    return err

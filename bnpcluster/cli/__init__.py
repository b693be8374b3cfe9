"""The command line: `bnpcluster fit table.csv --out results/`."""

from bnpcluster.cli.commands import main

__all__ = ["main"]

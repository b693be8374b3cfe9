"""`bnpcluster pyclone`: cluster mutations by the share of tumour cells that carry them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from bnpcluster.cli.cells import Marks
from bnpcluster.cli.checks import check_options
from bnpcluster.cli.clustering import read
from bnpcluster.cli.frames import Frame
from bnpcluster.cli.interrupts import raising
from bnpcluster.cli.rows import Rows, check_column
from bnpcluster.cli.text_tables import Table
from bnpcluster.cli.usage import print_message

MUTATIONS = "mutations.tsv"
NEEDED = (
    "mutation_id",
    "sample_id",
    "ref_counts",
    "alt_counts",
    "normal_cn",
    "major_cn",
    "minor_cn",
)
NUMBERS = (*NEEDED[2:], "tumour_content", "error_rate")
SETTINGS = ("n_grid", "density", "genotypes", "error_rate", "precision")
SHOWN = 5  # rows that a message names


def pyclone(options: SimpleNamespace) -> int:
    """Cluster the mutations of a tidy table of read counts."""
    check_options(options)
    settings = {name: value for name, value in vars(options).items() if name in SETTINGS}
    if "precision" in settings and settings.get("density") != "beta_binomial":
        raise ValueError(
            "--precision applies only to beta_binomial reads: add --density beta_binomial."
        )
    table, marks = read(options)
    reads, notes = read_counts(table, marks)
    from bnpcluster.cli.files import prepared
    from bnpcluster.cli.models import build_model, finish, fit_model
    from bnpcluster.cli.results import FILES
    from bnpcluster.likelihoods import PyClone
    from bnpcluster.likelihoods.pyclone.tables import index_rows, wide
    from bnpcluster.pyclone import prevalences

    likelihood = PyClone(**settings)
    model = build_model(options).set_params(likelihood=likelihood)
    names = wide(reads, likelihood.error_rate).columns  # an error if reads are wrong
    at, files = index_rows(reads), [*FILES, MUTATIONS]
    with raising(), prepared(options.out, files, options.force, options.quote_formulas) as folder:
        for note in notes:
            print_message(note)
        doubtful = fit_model(model, reads)
        found = prevalences(model, reads)
        folder.write_table(MUTATIONS, found.columns, found.rows(), "\t")
        rows = Rows("mutation_id", at.mutations.tolist(), {}, {}, [])
        named: Any = model._named(names, {}, rows.ids)
        return finish(options, folder, model, named, rows, files, doubtful)


def read_counts(table: Table, marks: Marks) -> tuple[Frame, list[str]]:
    """The read counts of a table, without deleted loci, and notes."""
    for name in NEEDED:
        check_column(table, name, "the table")
    reads = Frame.of(table, NUMBERS, marks)
    deleted = reads["major_cn"] == 0
    if not deleted.any():
        return reads, list(table.notes)
    if deleted.all():
        raise ValueError("No row is left: major_cn is 0 in all of them.")
    return reads.taken(~deleted), [*table.notes, _deleted(reads, deleted)]


def _deleted(reads: Frame, deleted: Any) -> str:
    """Which rows are left out."""
    which = np.flatnonzero(deleted)
    named = [
        f"mutation {str(reads['mutation_id'][i])!r} in sample {str(reads['sample_id'][i])!r}"
        for i in which[:SHOWN]
    ]
    more = f", ... ({len(which)} rows)" if len(which) > SHOWN else ""
    verb = "was" if len(which) == 1 else "were"
    start = "A row" if len(which) == 1 else "Rows"
    return f"{start} with major_cn 0, a deleted locus, {verb} left out: {', '.join(named)}{more}."

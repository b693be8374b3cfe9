"""`bnpcluster fit`: cluster the rows of a table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bnpcluster.cli.cells import Marks
from bnpcluster.cli.checks import check_options
from bnpcluster.cli.formats import local, read_table
from bnpcluster.cli.interrupts import raising
from bnpcluster.cli.rows import Rows, column_likelihoods, select_rows
from bnpcluster.cli.text_tables import Table
from bnpcluster.cli.usage import print_message


def read(options: SimpleNamespace) -> tuple[Table, Marks]:
    """The table of a command, and how its cells are written."""
    marks = Marks.of(options.decimal, options.thousands, options.missing)
    return read_table(local(options.table), options.sep, options.header), marks


def fit(options: SimpleNamespace) -> int:
    """Cluster the rows of a table."""
    check_options(options)
    table, marks = read(options)
    likelihood = getattr(options, "likelihood", "niw")
    rows = select_rows(table, options.id_column, options.columns, likelihood, marks)
    # What is compiled is loaded after all checks that can do without.
    from bnpcluster.cli.files import prepared
    from bnpcluster.cli.models import build_model, finish, fit_model
    from bnpcluster.cli.results import FILES
    from bnpcluster.cli.saved_models import MODEL, save_model

    files = [*FILES, MODEL] if options.save_model else [*FILES]
    model, names = build_model(options), list(rows.columns)
    if model.likelihood == "columns":
        model.set_params(likelihood=column_likelihoods(rows))
    with raising(), prepared(options.out, files, options.force, options.quote_formulas) as folder:
        for note in rows.notes:
            print_message(note)
        doubtful = fit_model(model, rows.array(), names)
        if options.save_model:
            save_model(folder, model, likelihood, rows)
        return finish(options, folder, model, with_names(model, rows), rows, files, doubtful)


def with_names(model: Any, rows: Rows) -> Any:
    """A copy of a fitted model with the names of columns, categories and rows."""
    names = list(rows.columns)
    categories = {names.index(name): words for name, words in rows.words.items()}
    return model._named(names, categories, list(rows.ids))

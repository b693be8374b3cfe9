"""The results of a fit: labels, probabilities, clusters, draws and a report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bnpcluster._estimators.base import Sampled
from bnpcluster._estimators.page import html_page
from bnpcluster.cli.files import Folder
from bnpcluster.cli.rows import Rows
from bnpcluster.cli.usage import print_message
from bnpcluster.partitions.memberships import membership
from bnpcluster.plotting.common import with_rest_last

FILES = ("labels.csv", "probabilities.csv", "clusters.csv", "draws.npz", "report.html")


def write_results(
    folder: Folder, model: Sampled, named: Any, rows: Rows, facts: dict[str, str]
) -> None:
    """Write all results of a fitted model, the draws first.

    Parameters
    ----------
    folder : Folder
    model : Sampled
        The fitted model.
    named : Sampled
        The same, with the names of columns, categories and rows, for the report.
    rows : Rows
        What was clustered.
    facts : dict of str to str
        What goes to the top of the report.
    """
    _write_draws(folder, draws_of(model))
    try:
        write_labels(folder, model, rows)
        table = named._description(with_rows=True).table()
        cells = zip(table.index, *map(_column, table.columns.values()), strict=True)
        folder.write_table("clusters.csv", [table.index_name, *table.columns], cells)
        page = html_page(named, named.report().in_shell_words(), facts)
        folder.write_text("report.html", page)
    except BaseException:
        print_message(f"The draws were saved in {folder.path / 'draws.npz'}.")
        raise


def draws_of(model: Sampled) -> dict[str, Any]:
    """All draws of a fitted model, by name."""
    fitted, posterior = model._fitted, model.posterior_
    draws: dict[str, Any] = {"labels": posterior.labels, "weights": posterior.weights}
    if posterior.n_items < len(model.labels_):
        draws["observed_rows"] = fitted.observed.numbers
    return {**draws, **posterior.traces}


def _write_draws(folder: Folder, draws: dict[str, Any]) -> None:
    """Write the draws; if that fails, to the folder of temporary files."""
    try:
        folder.write("draws.npz", lambda file: np.savez_compressed(file, **draws))
    except OSError:
        spare = Path(tempfile.mkdtemp(prefix="bnpcluster-"))
        Folder(spare).write("draws.npz", lambda file: np.savez_compressed(file, **draws))
        print_message(f"The draws were saved in {spare / 'draws.npz'}.")
        raise


def write_labels(folder: Folder, model: Sampled, rows: Rows) -> None:
    """Write the cluster of each row, and the probabilities of all clusters."""
    fitted, posterior = model._fitted, model.posterior_
    labels = with_rest_last(fitted.cluster_labels)
    shares = membership(posterior, labels)
    own = fitted.all_rows(shares[np.arange(len(shares)), labels], np.nan)
    shares = fitted.all_rows(shares[:, : model.n_clusters_], np.nan)
    components = [] if fitted.clusters is None else [model.component_labels_]
    folder.write_table(
        "labels.csv",
        [rows.name, "cluster", "probability", *["component"] * len(components)],
        zip(rows.ids, model.labels_, map(shown, own), *components, strict=True),
    )
    folder.write_table(
        "probabilities.csv",
        [rows.name, *(f"cluster_{k}" for k in range(model.n_clusters_))],
        ([i, *map(shown, row)] for i, row in zip(rows.ids, shares, strict=True)),
    )


def _column(values: list) -> list:
    return [shown(value) if isinstance(value, float) else value for value in values]


def shown(number: float) -> str:
    """A number with six digits, or nothing for what is not known."""
    return "" if np.isnan(number) else f"{number:.6g}"

"""Write the results of the command line: labels, probabilities, draws and a report."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._estimators.base import Sampled
from bnpcluster.cli.page import html_page
from bnpcluster.cli.read import Rows
from bnpcluster.plotting.common import membership, with_rest_last

FILES = ("labels.csv", "probabilities.csv", "draws.npz", "report.html")


def prepare_folder(folder: Path, files: Sequence[str], force: bool) -> None:
    """Create the folder and check that it is writable. Call this before a long fit."""
    existing = [name for name in files if (folder / name).exists()]
    if existing and not force:
        raise ValueError(
            f"{folder} already contains {', '.join(existing)}: choose another --out, or add "
            "--force to replace them."
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out must name a folder, but {folder} is a file.")
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


def write_results(folder: Path, model: Sampled, rows: Rows, facts: dict[str, str]) -> None:
    """Write all results of a fitted model. `facts` go to the top of the report."""
    fitted, posterior = model._fitted, model.posterior_
    labels = with_rest_last(fitted.cluster_labels)
    shares = membership(posterior, labels)
    own = fitted.all_rows(shares[np.arange(len(shares)), labels], np.nan)
    shares = fitted.all_rows(shares[:, : model.n_clusters_], np.nan)
    components = [] if fitted.clusters is None else [model.component_labels_]
    write_csv(
        folder / "labels.csv",
        [rows.name, "cluster", "probability", *["component"] * len(components)],
        zip(rows.ids, model.labels_, map(_shown, own), *components, strict=True),
    )
    write_csv(
        folder / "probabilities.csv",
        [rows.name, *(f"cluster_{k}" for k in range(model.n_clusters_))],
        ([i, *map(_shown, row)] for i, row in zip(rows.ids, shares, strict=True)),
    )
    draws: dict[str, Any] = {"labels": posterior.labels, "weights": posterior.weights}
    if posterior.n_items < len(model.labels_):
        draws["observed_rows"] = fitted.observed.numbers
    np.savez_compressed(folder / "draws.npz", **{**draws, **posterior.traces})
    (folder / "report.html").write_text(html_page(model, own, rows, facts), encoding="utf-8")


def write_csv(
    path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ","
) -> None:
    """Write a table of text."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, delimiter=separator, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(rows)


def _shown(probability: float) -> str:
    """A probability, or nothing for a row without any value."""
    return "" if np.isnan(probability) else f"{probability:.6g}"


def aligned(values: NDArray, index: NDArray, chosen: NDArray) -> NDArray[np.float64]:
    """The chosen values at their indices, and NaN at all others."""
    result = np.full(int(index.max()) + 1, np.nan)
    result[index[chosen]] = values[chosen]
    return result

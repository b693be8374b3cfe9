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
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

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
    shares = membership(model.posterior_, model.labels_)
    own = shares[np.arange(len(shares)), model.labels_]
    write_csv(
        folder / "labels.csv",
        [rows.name, "cluster", "probability"],
        ((i, k, f"{p:.6g}") for i, k, p in zip(rows.ids, model.labels_, own, strict=True)),
    )
    write_csv(
        folder / "probabilities.csv",
        [rows.name, *(f"cluster_{k}" for k in range(model.n_clusters_))],
        ([i, *(f"{p:.6g}" for p in row)] for i, row in zip(rows.ids, shares, strict=True)),
    )
    posterior = model.posterior_
    draws: dict[str, Any] = {"labels": posterior.labels, "weights": posterior.weights}
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


def aligned(values: NDArray, index: NDArray, chosen: NDArray) -> NDArray[np.float64]:
    """The chosen values at their indices, and NaN at all others."""
    result = np.full(int(index.max()) + 1, np.nan)
    result[index[chosen]] = values[chosen]
    return result


def membership(posterior: Posterior, labels: NDArray) -> NDArray[np.float64]:
    """Probability of each cluster of the point estimate for each clustered item.

    In each draw, an item belongs to a block. The probability of a cluster is the share of that
    block's items that are in the cluster, averaged over draws. The draws already know the item, so
    their weights stay as they are. For new rows, `predict_proba` weights each draw by the density
    that it gives to the row, too.
    """
    n_clusters, result = int(labels.max()) + 1, np.zeros((len(labels), int(labels.max()) + 1))
    flat, weights = label_draws.as_draws(posterior.labels), posterior.weights.ravel()
    for part, draws, n_blocks in label_draws.chunks(flat):
        for row, size, weight in zip(draws, n_blocks, weights[part], strict=True):
            cell = row.astype(np.intp) * n_clusters + labels
            counts = np.bincount(cell, minlength=size * n_clusters).reshape(size, n_clusters)
            result += (weight * counts / counts.sum(axis=1, keepdims=True))[row]
    return result

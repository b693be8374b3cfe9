"""The report of a fit as one self-contained HTML page."""

from __future__ import annotations

import base64
import copy
import html
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._estimators.base import Sampled
from bnpcluster._version import __version__
from bnpcluster.cli.read import Rows

SHOWN_COLUMNS = 12  # how many columns of the data the table of clusters shows
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; text-align: right; }
figure { display: inline-block; margin: 0.5em; vertical-align: top; }
img { max-width: 100%; }
"""


def html_page(model: Sampled, own: NDArray[np.float64], rows: Rows, facts: dict[str, str]) -> str:
    """The report of a fitted model.

    Parameters
    ----------
    model : Sampled, fitted
    own : ndarray
        For each row, the probability of its own cluster; NaN for rows without any value.
    rows : Rows
        The data.
    facts : dict of str to str
        Names and values shown at the top of the page, such as the seed.
    """
    facts_html = "".join(
        f"<tr><th>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in facts.items()
    )
    report = model.report().in_shell_words().to_html()
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>bnpcluster report</title><style>{STYLE}</style></head><body>"
        f"<h1>{model.n_clusters_} clusters</h1><table>{facts_html}</table>{report}"
        f"<h2>Clusters</h2>{_clusters(model, own, rows)}"
        f"<h2>Pictures</h2>{_pictures(model, list(rows.columns))}"
        f"<p>bnpcluster {__version__}</p></body></html>\n"
    )


def with_names(model: Any, names: Sequence[str]) -> Any:
    """A copy of a fitted model that knows the names of the columns."""
    model = copy.copy(model)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _clusters(model: Sampled, own: NDArray[np.float64], rows: Rows) -> str:
    """A table of the clusters: their size, mean probability and typical values."""
    shown = list(rows.columns)[:SHOWN_COLUMNS]
    head = ["cluster", "rows", "mean probability"]
    head += [f"{'most common' if name in rows.words else 'mean of'} {name}" for name in shown]
    lines = ["".join(f"<th>{html.escape(name)}</th>" for name in head)]
    clusters = range(-1 if model._fitted.cluster_labels.min() < 0 else 0, model.n_clusters_)
    for k in sorted(clusters, key=lambda k: (k < 0, k)):  # rows in no cluster come last
        inside = (model.labels_ == k) & ~np.isnan(own)
        cells = ["none" if k < 0 else str(k), str(inside.sum()), f"{own[inside].mean():.3f}"]
        cells += [_typical(rows.columns[name][inside], rows.words.get(name)) for name in shown]
        lines.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _typical(values: NDArray[np.float64], words: list[str] | None) -> str:
    """The mean of the observed values, or the most common word."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "-"
    if words is None:
        return f"{known.mean():.4g}"
    return words[np.bincount(known.astype(int)).argmax()]


def _pictures(model: Sampled, names: list[str]) -> str:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "<p>Pictures need matplotlib: pip install 'bnpcluster[plot]'.</p>"
    shown = []
    for caption, draw in _displays(model, names):
        figure = Figure(figsize=(4.4, 3.8), layout="constrained")
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100, metadata={"Software": None})
        data = base64.b64encode(file.getvalue()).decode()
        shown.append(
            f"<figure><img alt='{caption}' src='data:image/png;base64,{data}'>"
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return "".join(shown)


def _displays(model: Sampled, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The caption of each picture, and a function that draws it on given axes."""
    from bnpcluster import plotting

    def drawn(display: Any, *arguments: Any) -> Any:
        return lambda ax: display.from_estimator(model, *arguments, ax=ax)

    if len(names) == model.n_features_in_:  # not for read counts
        model = with_names(model, names)  # the axes show these names
        yield "The rows; paler points are less certain", drawn(plotting.ClusterDisplay)
    yield "Probability that two rows share a cluster", drawn(plotting.CoclusteringDisplay)
    yield "Number of clusters", drawn(plotting.NumberOfClustersDisplay)
    if not hasattr(model, "log_evidence_"):  # particles have no order, so there is no trace
        yield (
            "The chains should overlap and show no trend",
            drawn(plotting.TraceDisplay, "log_posterior"),
        )

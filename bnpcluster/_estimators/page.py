"""The report of a fit as one self-contained HTML page: styled, with pictures, all text escaped."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Mapping
from typing import Any

from bnpcluster._version import __version__
from bnpcluster.likelihoods import PyClone

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; text-align: right; }
th { font-weight: 600; }
figure { display: inline-block; margin: 0.5em; vertical-align: top; }
img { max-width: 100%; }
"""


def html_page(model: Any, report: Any, facts: Mapping[str, str] | None = None) -> str:
    """The report of a fitted model as a page.

    Parameters
    ----------
    model : estimator
        The fitted model.
    report : Report
        Its report.
    facts : mapping of str to str, optional
        Names and values shown at the top of the page, such as the seed.
    """
    top = "".join(
        f"<tr><th>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in (facts or {}).items()
    )
    table = model._description(with_rows=True).table().to_html()
    clusters = f"<h2>Clusters</h2><div class='wide'>{table}</div>"
    n = model.n_clusters_
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>bnpcluster report</title><style>{STYLE}</style></head><body>"
        f"<h1>{n} {'cluster' if n == 1 else 'clusters'}</h1>"
        + (f"<table>{top}</table>" if top else "")
        + f"{report.to_html()}{clusters}<h2>Pictures</h2>{_pictures(model)}"
        f"<p>bnpcluster {__version__}</p></body></html>\n"
    )


def _pictures(model: Any) -> str:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "<p>Pictures need matplotlib: pip install 'bnpcluster[plot]'.</p>"
    shown = []
    for caption, draw in _displays(model):
        figure = Figure(figsize=(4.6, 3.9), layout="constrained")
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100, metadata={"Software": None})
        data = base64.b64encode(file.getvalue()).decode()
        shown.append(
            f"<figure><img alt='{caption}' src='data:image/png;base64,{data}'>"
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return "".join(shown)


def _displays(model: Any) -> Iterator[tuple[str, Any]]:
    """The caption of each picture, and a function that draws it on given axes."""
    from bnpcluster import plotting

    def drawn(display: Any, *arguments: Any) -> Any:
        return lambda ax: display.from_estimator(model, *arguments, ax=ax)

    if model._items == "rows":
        if not isinstance(model._fitted.likelihood, PyClone):  # read counts are no coordinates
            yield "The rows; paler points are less certain", drawn(plotting.ClusterDisplay)
        yield "What the clusters are like", drawn(plotting.ProfileDisplay)
    else:
        yield "The network, its vertices ordered by cluster", drawn(plotting.AdjacencyDisplay)
    yield (
        f"Probability that two {model._items} share a cluster",
        drawn(plotting.CoclusteringDisplay),
    )
    yield "Number of clusters", drawn(plotting.NumberOfClustersDisplay)
    if not hasattr(model, "log_evidence_"):  # particles have no order, so there is no trace
        yield (
            "The chains should overlap and show no trend",
            drawn(plotting.TraceDisplay, "log_posterior"),
        )

"""Convergence diagnostics of chains: R-hat, effective sample sizes, autocorrelation times.

Rank-normalised split R-hat and the bulk and tail effective sample sizes come from ArviZ (Vehtari et
al. 2021, Rank-normalization, folding, and localization: an improved R-hat for assessing convergence
of MCMC, Bayesian Analysis 16, 667-718). Partitions have no coordinates, so the diagnostics use
scalar functions (the density of some rows, the number of clusters, the share of the largest ones)
and whether pairs of items share a cluster.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnpcluster.diagnostics.agreement import candidates, neighbour_pairs, togetherness
from bnpcluster.diagnostics.autocorrelation import autocorrelation_time
from bnpcluster.diagnostics.standards import RHAT_LIMIT, ess_of, plain_rhat, rhat_of, varies
from bnpcluster.diagnostics.verdict import LEVELS, Answer, Evidence, Row, judge
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

__all__ = ["Diagnostics", "autocorrelation_time", "diagnose"]

N_SHARES = 3
FIRST = (*LEVELS, "n_clusters")
"""The first quantities in the table."""


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of a posterior.

    Attributes
    ----------
    table : dict of str to dict
        For each quantity "rhat", "ess_bulk", "ess_tail", "tau" (the autocorrelation time in draws)
        and "assessable". A quantity with the same value in at least 95 % of the draws of every
        chain is not assessable, and its numbers are NaN. A quantity that is constant within every
        chain but differs between chains has an infinite R-hat.
    converged : bool or None
        Whether the chains agree on the density (R-hat at most 1.01, and 400 effective draws) and
        on who is with whom (no two chains differ by more than 0.1, beyond Monte Carlo error, in
        how often a pair of items is together). None if it cannot be told: with a single chain, if
        chains learnt from one another, or if nothing varies.
    verdict : str
        The same in words, with advice on what to do next.
    answers : dict of str to Answer
        The answers to three questions: do the chains agree on the "density", on who is with whom
        ("pairs"), on the number of clusters ("n_clusters")? Each has `agrees` (True, False or
        None) and `text`. The last one does not decide about `converged`.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.diagnostics import diagnose
    >>> from bnpcluster.posterior import Posterior
    >>> labels = np.random.default_rng(0).integers(2, size=(4, 200, 5))
    >>> diagnostics = diagnose(Posterior(labels))
    >>> diagnostics.converged
    True
    >>> list(diagnostics.table)[:2], round(diagnostics.table["n_clusters"]["rhat"], 1)
    (['n_clusters', 'share_of_1_largest'], 1.0)
    >>> diagnostics.answers["pairs"].agrees
    True
    """

    table: dict[str, Row]
    converged: bool | None
    verdict: str
    answers: dict[str, Answer] = field(default_factory=dict)

    def __str__(self) -> str:
        head, rows = _table_cells(self.table)
        width = max((len(name) for name, *_ in rows), default=0)
        lines = [
            f"{name:<{width}}" + "".join(f"{cell:>{40 // len(cells)}}" for cell in cells)
            for name, *cells in [head, *rows]
        ]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        head, rows = _table_cells(self.table)
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            f"<tr><td>{html.escape(name)}</td>"
            + "".join(f"<td colspan='{4 // len(cells)}'>{cell}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in rows
        )
        verdict = html.escape(self.verdict)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table><p>{verdict}</p>"


def _table_cells(table: dict[str, Row]) -> tuple[list[str], list[list[str]]]:
    """The table as text: head and rows.

    A row is a name and four numbers, or "not assessable" instead of them.
    """
    formats = {"rhat": ".3f", "ess_bulk": ".0f", "ess_tail": ".0f", "tau": ".1f"}
    rows = [
        [name, *(format(row[k], f) for k, f in formats.items())]
        if row["assessable"]
        else [name, "not assessable"]
        for name, row in table.items()
    ]
    return ["", "R-hat", "ESS bulk", "ESS tail", "autocorr"], rows


def _quantities(posterior: Posterior) -> dict[str, NDArray]:
    """Scalar functions of the draws, each of shape (chains, draws)."""
    names = [name for name in FIRST if name in posterior.traces]
    names += [name for name in posterior.traces if name not in names]
    found = {name: np.asarray(posterior.traces[name], dtype=float) for name in names}
    shares = label_draws.largest_shares(label_draws.as_draws(posterior.labels), N_SHARES)
    for t in range(min(N_SHARES, posterior.n_items - 1)):
        found[f"share_of_{t + 1}_largest"] = shares[:, t].reshape(posterior.weights.shape)
    return found


def _resampling(weights: NDArray[np.float64]) -> NDArray | None:
    """Systematic sample of draws of each chain in proportion to weight; None for equal weights."""
    if weights.min() == weights.max():
        return None
    n = weights.shape[1]
    rows = []
    for w in weights:
        # A run without weight counts with equal weights.
        edges = np.cumsum(w if w.sum() > 0 else np.ones(n))
        rows.append(np.searchsorted(edges, (np.arange(n) + 0.5) * (edges[-1] / n)))
    return np.minimum(np.array(rows), n - 1)


def _assess(quantities: dict[str, NDArray]) -> dict[str, Row]:
    """Compute one row per quantity."""
    from arviz_stats.base import array_stats

    table: dict[str, Row] = {}
    varying = {}
    for name, x in quantities.items():
        enough = x.shape[1] >= (4 if x.shape[0] > 1 else 8)
        moves = enough and bool(np.all(np.isfinite(x))) and varies(x)
        stuck = moves and bool(np.all(np.ptp(x, axis=1) == 0))
        table[name] = _diagnostics_row()
        if stuck:
            n_chains = float(len(x))
            table[name] = _diagnostics_row(math.inf, n_chains, n_chains, math.inf)
        elif moves:
            varying[name] = x
    if varying:
        traces = np.stack(list(varying.values()))
        # If a half of a chain is constant, R-hat is infinite, as it should be.
        with np.errstate(divide="ignore", invalid="ignore"):
            rhat = rhat_of(traces)
            bulk = ess_of(traces)
            tail = array_stats.ess(traces, method="tail", prob=(0.05, 0.95))
        for q, (name, x) in enumerate(varying.items()):
            values = float(rhat[q]), float(bulk[q]), float(tail[q]), autocorrelation_time(x)
            # If only the middle draw varies, the halves of the chains are constant.
            if not math.isnan(values[0]):
                table[name] = _diagnostics_row(*values)
    return table


def _diagnostics_row(*values: float) -> Row:
    """The row of a quantity with these four numbers; without them it is not assessable."""
    names = ("rhat", "ess_bulk", "ess_tail", "tau")
    numbers = dict(zip(names, values or (math.nan,) * len(names), strict=True))
    return {**numbers, "assessable": bool(values)}


def _apart(x: NDArray) -> str:
    """Name the chain that differs from all others, if these agree without it."""
    if len(x) < 3:
        return ""
    rhat = [plain_rhat(np.delete(x, c, axis=0)) for c in range(len(x))]
    c = int(np.argmin(rhat))
    alone = rhat[c] <= RHAT_LIMIT and sorted(rhat)[1] > RHAT_LIMIT
    return f"; all but chain {c} agree" if alone else ""


def diagnose(
    posterior: Posterior,
    *,
    pairs: Sequence[tuple[int, int]] | NDArray | None = None,
    other: str = "",
    shared: bool = False,
    limit: str = "",
    can_continue: bool = True,
) -> Diagnostics:
    """Assess whether the chains of a posterior agree, and how many effective draws they have.

    Parameters
    ----------
    posterior : Posterior
        The draws. Draws with unequal weights (particles) are first resampled within each run.
    pairs : sequence of (int, int), optional
        Pairs of items, chosen before sampling. By default, 200 at random. A fit uses pairs of near
        neighbours.
    other : str, default=""
        The name of a sampler that the verdict may suggest instead.
    shared : bool, default=False
        Whether the chains learnt from one another. Their agreement then says less.
    limit : str, default=""
        The parameter of the fit that set the number of draws, "n_draws" or "max_draws". The command
        line advises to raise this one.
    can_continue : bool, default=True
        Whether more draws can be appended to these. If not, the verdict advises to raise `limit`.

    Returns
    -------
    Diagnostics
        The table, and the verdict.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.diagnostics import diagnose
    >>> from bnpcluster.posterior import Posterior
    >>> stuck = np.stack([np.tile(z, (50, 1)) for z in ([0, 0, 0], [0, 1, 2])])
    >>> print(diagnose(Posterior(stuck)).verdict)  # doctest: +ELLIPSIS
    The chains disagree on the number of clusters (R-hat inf, should be at most 1.01): run ...
    """
    quantities, n = _quantities(posterior), posterior.n_items
    chosen = neighbour_pairs(candidates(n), None) if pairs is None else np.asarray(pairs, np.intp)
    chosen = chosen.reshape(-1, 2)
    together = togetherness(posterior.labels, chosen)
    rows = _resampling(posterior.weights)
    if rows is not None:
        quantities = {name: np.take_along_axis(x, rows, axis=1) for name, x in quantities.items()}
        together = np.take_along_axis(together, rows[:, :, None], axis=1)
    table = _assess(quantities)
    evidence = Evidence(
        posterior,
        table,
        chosen,
        together,
        lambda name: _apart(quantities[name]),
        other,
        shared,
        limit,
        can_continue,
    )
    return Diagnostics(table, *judge(evidence))

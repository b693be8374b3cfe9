"""Convergence diagnostics of chains: R-hat, effective sample sizes, autocorrelation times.

Rank-normalised split R-hat and the bulk and tail effective sample sizes come from ArviZ (Vehtari et
al. 2021, Rank-normalization, folding, and localization: an improved R-hat for assessing convergence
of MCMC, Bayesian Analysis 16, 667-718). Partitions have no coordinates, so the diagnostics use
scalar functions: the log posterior, the number of clusters, the share of the largest clusters, and
whether some pairs of items are together.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnpcluster.diagnostics.verdict import RHAT_LIMIT, Row, judge
from bnpcluster.partitions import label_draws
from bnpcluster.posterior import Posterior

__all__ = ["Diagnostics", "autocorrelation_time", "diagnose"]

RARELY = 0.05
N_SHARES = 3
N_PAIRS = 10


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
        Whether R-hat is below 1.05 and the bulk effective sample size at least 100 for every
        assessable quantity; None if there is none.
    verdict : str
        The same in words, with advice on what to do next.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.diagnostics import diagnose
    >>> from bnpcluster.posterior import Posterior
    >>> labels = np.random.default_rng(0).integers(2, size=(4, 200, 5))
    >>> diagnostics = diagnose(Posterior(labels))
    >>> diagnostics.converged
    True
    >>> sorted(diagnostics.table)[:2], round(diagnostics.table["n_clusters"]["rhat"], 1)
    (['n_clusters', 'pair_0_1'], 1.0)
    """

    table: dict[str, Row]
    converged: bool | None
    verdict: str

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
    """The table as text: head and rows. One row shows the worst of all pairs of items.

    A row is a name and four numbers, or "not assessable" instead of them.
    """
    pairs = {name: row for name, row in table.items() if name.startswith("pair_")}
    shown = {name: row for name, row in table.items() if name not in pairs}
    assessable = [row for row in pairs.values() if row["assessable"]]
    if pairs:
        worst = max(assessable, key=lambda row: row["rhat"], default=next(iter(pairs.values())))
        shown[f"worst of {len(pairs)} pairs of items"] = worst
    formats = {"rhat": ".3f", "ess_bulk": ".0f", "ess_tail": ".0f", "tau": ".1f"}
    rows = [
        [name, *(format(row[k], f) for k, f in formats.items())]
        if row["assessable"]
        else [name, "not assessable"]
        for name, row in shown.items()
    ]
    return ["", "R-hat", "ESS bulk", "ESS tail", "autocorr"], rows


def autocorrelation_time(trace: ArrayLike) -> float:
    """Integrated autocorrelation time, 1 + 2 times the sum of the autocorrelations.

    This number of draws is worth one independent draw. Geyer's initial monotone sequence truncates
    the sum. With several chains, their autocovariances are averaged, and the variance of the means
    of the chains is added. So chains that disagree have long autocorrelation times.

    Parameters
    ----------
    trace : array-like of shape (n_draws,) or (n_chains, n_draws)
        Values in order of sampling.

    Returns
    -------
    float
        NaN for a constant trace. Infinite for chains that are constant but differ.

    References
    ----------
    Geyer (1992), Practical Markov chain Monte Carlo, Statistical Science 7, 473-483.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.diagnostics import autocorrelation_time
    >>> white = np.random.default_rng(0).normal(size=10_000)
    >>> round(autocorrelation_time(white)), round(autocorrelation_time(np.repeat(white, 5)))
    (1, 5)
    """
    x = np.atleast_2d(np.asarray(trace, dtype=float))
    if x.ndim != 2:
        raise ValueError(f"A trace must have shape (draws,) or (chains, draws), got {x.shape}.")
    if not np.all(np.isfinite(x)) or x.size == 0 or x.min() == x.max():
        return math.nan
    if np.all(np.ptp(x, axis=1) == 0):
        return math.inf
    n_chains, n = x.shape
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), 2 * n)
    covariance = np.fft.irfft(np.mean(np.abs(spectrum) ** 2, axis=0))[:n] / n
    if n_chains > 1:
        covariance += np.var(x.mean(axis=1), ddof=1)
    rho = covariance / covariance[0]
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2]
    negative = np.flatnonzero(pairs < 0)
    initial = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(max(2 * initial.sum() - 1, 1 / math.log10(max(x.size, 10))))


def _quantities(posterior: Posterior, pairs: ArrayLike | None) -> dict[str, NDArray]:
    """Scalar functions of the draws, each of shape (chains, draws)."""
    shape, n = posterior.weights.shape, posterior.n_items
    names = ["log_posterior", "n_clusters"]
    names = [name for name in names if name in posterior.traces]
    names += [name for name in posterior.traces if name not in names]
    found = {name: np.asarray(posterior.traces[name], dtype=float) for name in names}
    flat = label_draws.as_draws(posterior.labels)
    shares = label_draws.largest_shares(flat, N_SHARES)
    for t in range(min(N_SHARES, n - 1)):
        found[f"share_of_{t + 1}_largest"] = shares[:, t].reshape(shape)
    chosen = _followed_pairs(n) if pairs is None else np.asarray(pairs).reshape(-1, 2)
    for i, j in chosen:
        together = posterior.labels[:, :, i] == posterior.labels[:, :, j]
        found[f"pair_{i}_{j}"] = together.astype(float)
    return found


def _followed_pairs(n: int) -> NDArray:
    """Some pairs of items, which depend only on n; all pairs if there are few."""
    if n * (n - 1) // 2 <= N_PAIRS:
        return np.column_stack(np.triu_indices(n, 1))
    rng, chosen = np.random.default_rng(n), set[tuple[int, int]]()
    while len(chosen) < N_PAIRS:
        i, j = sorted(rng.choice(n, size=2, replace=False).tolist())
        chosen.add((i, j))
    return np.array(sorted(chosen))


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


def _rhat(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank-normalised split R-hat of each (chains, draws) trace."""
    from arviz_stats.base import array_stats

    if traces.shape[1] > 1:
        rhat = array_stats.rhat(traces, method="rank")
        # Folding makes a trace constant if it has two values equally often.
        return np.where(np.isnan(rhat), array_stats.rhat(traces, method="z_scale"), rhat)
    # ArviZ needs two chains. A single one is split here, and its halves are the two chains.
    half = traces.shape[2] // 2
    halves = np.concatenate([traces[:, :, :half], traces[:, :, -half:]], axis=1)
    median = np.median(halves, axis=(1, 2), keepdims=True)
    values = [
        array_stats.rhat(_normal_scores(x), method="identity")
        for x in (halves, np.abs(halves - median))
    ]
    return np.fmax(*values)


def _normal_scores(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = traces.reshape(len(traces), -1)
    return ndtri((rankdata(flat, axis=1) - 0.375) / (flat.shape[1] + 0.25)).reshape(traces.shape)


def _assess(quantities: dict[str, NDArray]) -> dict[str, Row]:
    """Compute one row per quantity."""
    from arviz_stats.base import array_stats

    table: dict[str, Row] = {}
    varying = {}
    for name, x in quantities.items():
        enough = x.shape[1] >= (4 if x.shape[0] > 1 else 8)
        varies = enough and bool(np.all(np.isfinite(x))) and _varies(x)
        stuck = varies and bool(np.all(np.ptp(x, axis=1) == 0))
        table[name] = _diagnostics_row()
        if stuck:
            n_chains = float(len(x))
            table[name] = _diagnostics_row(math.inf, n_chains, n_chains, math.inf)
        elif varies:
            varying[name] = x
    if varying:
        traces = np.stack(list(varying.values()))
        # If a half of a chain is constant, R-hat is infinite, as it should be.
        with np.errstate(divide="ignore", invalid="ignore"):
            rhat = _rhat(traces)
            bulk = array_stats.ess(traces, method="bulk")
            tail = array_stats.ess(traces, method="tail", prob=(0.05, 0.95))
        for q, (name, x) in enumerate(varying.items()):
            values = float(rhat[q]), float(bulk[q]), float(tail[q]), autocorrelation_time(x)
            # If only the middle draw varies, the halves of the chains are constant.
            if not math.isnan(values[0]):
                table[name] = _diagnostics_row(*values)
    return table


def _varies(x: NDArray) -> bool:
    """Whether some chain differs more than rarely from the overall most frequent value.

    A few other values may be due to chance, and R-hat would raise a false alarm.
    """
    values, counts = np.unique(x, return_counts=True)
    return bool(np.any(np.mean(x != values[np.argmax(counts)], axis=1) > RARELY))


def _diagnostics_row(*values: float) -> Row:
    """The row of a quantity with these four numbers; without them it is not assessable."""
    names = ("rhat", "ess_bulk", "ess_tail", "tau")
    numbers = dict(zip(names, values or (math.nan,) * len(names), strict=True))
    return {**numbers, "assessable": bool(values)}


def _apart(x: NDArray) -> str:
    """Name the chain that differs from all others, if these agree without it."""
    if len(x) < 3:
        return ""
    rest = [_assess({"x": np.delete(x, c, axis=0)})["x"] for c in range(len(x))]
    rhat = [row["rhat"] if row["assessable"] else 1.0 for row in rest]
    c = int(np.argmin(rhat))
    alone = rhat[c] < RHAT_LIMIT and sorted(rhat)[1] >= RHAT_LIMIT
    return f"; all but chain {c} agree" if alone else ""


def diagnose(
    posterior: Posterior,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    other: str = "",
    shared: bool = False,
) -> Diagnostics:
    """Assess whether the chains of a posterior agree, and how many effective draws they have.

    Parameters
    ----------
    posterior : Posterior
        The draws. Draws with unequal weights (particles) are first resampled within each run.
    pairs : sequence of (int, int), optional
        Pairs of items: whether they are together is one quantity each. The ten default pairs depend
        only on the number of items.
    other : str, default=""
        The name of a sampler that the verdict may suggest instead.
    shared : bool, default=False
        Whether the chains learnt from one another. Their agreement then says less.

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
    The chains disagree on the number of clusters (R-hat inf, should be below 1.05): run longer ...
    """
    quantities = _quantities(posterior, pairs)
    rows = _resampling(posterior.weights)
    if rows is not None:
        quantities = {name: np.take_along_axis(x, rows, axis=1) for name, x in quantities.items()}
    table = _assess(quantities)
    converged, verdict = judge(
        table, posterior, other, lambda name: _apart(quantities[name]), shared
    )
    return Diagnostics(table, converged, verdict)

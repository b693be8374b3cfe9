"""Diagnostics of weighted particles: their effective number, and whether the runs agree."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.messages import MORE_PARTICLES, Action, Message, setting

ESS_WANTED = 100
SPREAD_LIMIT = 1.0  # standard deviation of the runs' log evidences


@dataclass(frozen=True)
class RunDiagnostics:
    """Diagnostics of independent runs of sequential Monte Carlo.

    R-hat does not apply, because particles have weights and no order. The diagnostics are the
    effective number of draws of the particles, and whether the independent runs estimate the same
    evidence.

    Attributes
    ----------
    table : dict of str to dict
        For every run, and for all runs together: "log_evidence", "ess" (the effective number of
        particles, by their weights) and "lines" (the effective number of different ancestors at
        the first row; the clusters of the first rows rest on that many draws).
    converged : bool or None
        Whether the log evidences of the runs have a standard deviation of at most 1 and all
        particles are worth at least 100 draws; None for a single run.
    verdict : str
        The same in words, with advice on what to do next.
    """

    table: dict[str, dict[str, float]]
    converged: bool | None
    verdict: str

    def __str__(self) -> str:
        head, rows = self._cells()
        width = max(len(name) for name, *_ in rows)
        lines = [
            f"{name:<{width}}" + "".join(f"{cell:>14}" for cell in cells)
            for name, *cells in [head, *rows]
        ]
        return "\n".join([*lines, self.verdict])

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        verdict = html.escape(self.verdict)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table><p>{verdict}</p>"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        formats = {"log_evidence": ".3f", "ess": ".0f", "lines": ".1f"}
        rows = [
            [name, *(format(row[k], f) for k, f in formats.items())]
            for name, row in self.table.items()
        ]
        return ["", "log evidence", "ESS", "lines"], rows


def diagnose_runs(
    log_evidences: NDArray,
    log_evidence: float,
    weights: NDArray,
    origins: NDArray,
    remedy: str | Action = MORE_PARTICLES,
) -> RunDiagnostics:
    """Diagnostics of runs with these evidences, weights (runs x particles) and first ancestors.

    `remedy` is the advice of the verdict if they disagree.
    """
    table = {
        f"run {r + 1}": _run_row(z, w, o)
        for r, (z, w, o) in enumerate(zip(log_evidences, weights, origins, strict=True))
    }
    n_runs, n = weights.shape
    everyone = (origins + n * np.arange(n_runs)[:, None]).ravel()
    if n_runs > 1:
        table["all runs"] = _run_row(log_evidence, weights.ravel(), everyone)
    converged, verdict = _judge(log_evidences, list(table.values())[-1], remedy)
    return RunDiagnostics(table, converged, verdict)


def _run_row(log_evidence: float, weights: NDArray, origins: NDArray) -> dict[str, float]:
    total = weights.sum()
    if total == 0.0:  # negligible next to the other runs
        return {"log_evidence": float(log_evidence), "ess": 0.0, "lines": 0.0}
    lines = np.bincount(origins, weights=weights / total)
    return {
        "log_evidence": float(log_evidence),
        "ess": float(1.0 / ((weights / total) ** 2).sum()),
        "lines": float(1.0 / (lines**2).sum()),
    }


def _judge(
    log_evidences: NDArray, row: dict[str, float], remedy: str | Action
) -> tuple[bool | None, str]:
    """Whether the runs converged, and the verdict."""
    worth = f"the particles are worth {row['ess']:.0f} draws, from {row['lines']:.1f} lines"
    if len(log_evidences) == 1:
        what = f"There is only one run ({worth}): compare it with others, "
        return None, Message(what, setting("n_chains", 4), ".")
    spread = float(np.std(log_evidences, ddof=1))
    if not spread <= SPREAD_LIMIT:
        return False, Message(
            f"The runs disagree on the evidence (standard deviation of its log {spread:.2f}, "
            f"should be at most {SPREAD_LIMIT:g}): ",
            remedy,
            ".",
        )
    if not row["ess"] >= ESS_WANTED:
        more = math.ceil(ESS_WANTED / row["ess"])
        return False, (
            f"The runs agree on the evidence, but {worth} ({ESS_WANTED} wanted): about {more} "
            "times as many particles should be enough."
        )
    return True, f"The runs agree (standard deviation of the log evidence {spread:.2f}); {worth}."

"""What the warning of a fit that has not converged advises."""

from __future__ import annotations

from typing import Any

from bnpcluster._core.messages import MORE_PARTICLES, Action, Message
from bnpcluster._fitting.lengths import were_cut
from bnpcluster._fitting.searches import is_in_search
from bnpcluster.diagnostics import Diagnostics
from bnpcluster.diagnostics.runs import RunDiagnostics
from bnpcluster.posterior import Posterior

NOT_CONVERGED = (
    "The chains have not converged: the report says what they disagree on, or how many effective "
    "draws are missing. "
)
LONGER = {
    "n_draws": Action(
        "Call continue_fit(n_draws), or raise n_draws and n_warmup", "Raise --draws and --warmup"
    ),
    "max_draws": Action("Call continue_fit(n_draws), or raise max_draws", "Raise --max-draws"),
    "auto": Action(
        "Call continue_fit(n_draws), or set n_draws and n_warmup", "Set --draws and --warmup"
    ),
}
"""What makes the chains longer: what set their length, or "auto" if they ended by themselves."""
AGAIN = {
    "n_draws": "Raise n_draws and n_warmup",
    "max_draws": "Raise max_draws",
    "auto": "Set n_draws and n_warmup",
}
"""The same, for chains that cannot be continued."""
IN_SEARCH = (
    "Some fits of this search have not converged, and their scores are less certain. To improve "
    "them, raise max_draws (or n_draws), or n_particles. This is said once per search."
)
RUNS_DIFFER = Message(
    "The particles give no reliable result yet: the report says why. To improve it, ",
    MORE_PARTICLES,
    ".",
)


def advice(
    n_draws: Any,
    max_draws: int,
    posterior: Posterior,
    diagnostics: Diagnostics | RunDiagnostics,
    can_continue: bool = True,
) -> str:
    """The text of the warning, given the parameters that set the length of the chains."""
    if is_in_search():
        return IN_SEARCH
    if isinstance(diagnostics, RunDiagnostics):
        return RUNS_DIFFER
    automatic = isinstance(n_draws, str)
    cut = were_cut(automatic, posterior.n_draws, max_draws)
    limit = "max_draws" if cut else "auto" if automatic else "n_draws"
    return Message(NOT_CONVERGED, LONGER[limit] if can_continue else AGAIN[limit], ".")

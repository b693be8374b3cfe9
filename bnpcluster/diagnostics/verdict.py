"""The verdict of the diagnostics: whether the chains agree, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Callable

from bnpcluster.posterior import Posterior

RHAT_LIMIT = 1.05
ESS_WANTED = 100

Row = dict[str, float | bool]


def judge(
    table: dict[str, Row], posterior: Posterior, another: str, apart: Callable[[str], str]
) -> tuple[bool | None, str]:
    """Whether the chains converged, and the verdict.

    `apart` names the chain that differs from all others in a quantity.
    """
    population = posterior.weights.min() < posterior.weights.max()
    longer = "raise n_particles" if population else "run longer with continue_fit(n_draws)"
    rows = {name: row for name, row in table.items() if row["assessable"]}
    if not rows:
        return None, _nothing_to_assess(posterior, longer)
    worst = max(rows, key=lambda name: rows[name]["rhat"])
    rhat = rows[worst]["rhat"]
    fewest = min(rows, key=lambda name: rows[name]["ess_bulk"])
    ess = rows[fewest]["ess_bulk"]
    if not rhat < RHAT_LIMIT:
        who = "The chains disagree" if posterior.n_chains > 1 else "The halves of the chain differ"
        return False, (
            f"{who} on {_describe(worst)} (R-hat {rhat:.3f}, should be below {RHAT_LIMIT}"
            f"{apart(worst)}): {longer}, or try {another}."
        )
    if not ess >= ESS_WANTED:
        more = math.ceil(posterior.n_draws * (ESS_WANTED / max(ess, 1.0) - 1))
        advice = longer if population else f"continue_fit({more}) should be enough"
        return False, (
            f"No disagreement (R-hat at most {rhat:.2f}), but {_describe(fewest)} has only "
            f"{ess:.0f} effective draws ({ESS_WANTED} wanted): {advice}."
        )
    who = "The chains agree" if posterior.n_chains > 1 else "The halves of the only chain agree"
    return True, f"{who}: R-hat at most {rhat:.3f}, at least {ess:.0f} effective draws."


def _nothing_to_assess(posterior: Posterior, longer: str) -> str:
    needed = 4 if posterior.n_chains > 1 else 8
    if posterior.n_draws < needed:
        return f"Too few draws to assess ({needed} per chain are needed): {longer}."
    if posterior.n_chains > 1:
        return (
            "Hardly anything varies over the draws. The chains agree. This is reassuring only if "
            "they started from different partitions (init='auto')."
        )
    return "Hardly anything varies over the only chain: compare it with others, n_chains=4."


def _describe(name: str) -> str:
    """Describe a quantity in words."""
    if name.startswith("pair_"):
        _, i, j = name.split("_")
        return f"whether items {i} and {j} belong together"
    if name.startswith("share_of_"):
        count = name.split("_")[2]
        return (
            f"the size of the {f'{count} largest clusters' if count != '1' else 'largest cluster'}"
        )
    words = {"log_posterior": "the log posterior", "n_clusters": "the number of clusters"}
    return words.get(name, name)

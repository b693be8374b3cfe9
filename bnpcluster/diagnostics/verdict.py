"""The verdict of the diagnostics: whether the chains agree, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Callable

from bnpcluster._core.messages import (
    GOOD_STARTS,
    MORE_PARTICLES,
    RUN_LONGER,
    Action,
    Message,
    more_draws,
    setting,
)
from bnpcluster.posterior import Posterior

RHAT_LIMIT = 1.05
ESS_WANTED = 100

LEARNED = {
    "log_scale": "the expected variance within clusters",
    "nu": "nu",
    "shape": "the shape",
    "kappa": "kappa",
    "log_concentration": "the concentration",
    "log_shape": "the shape",
    "log_mean": "the mean over clusters",
}
"""Learned hyper-parameters of the likelihood, by trace."""

SHARED = (
    "The chains learnt from one another, so their agreement is not that of independent chains: "
    "compare with a fit of another random_state."
)

Row = dict[str, float | bool]


def judge(
    table: dict[str, Row],
    posterior: Posterior,
    other: str,
    apart: Callable[[str], str],
    shared: bool = False,
) -> tuple[bool | None, str]:
    """Whether the chains converged, and the verdict.

    `other` is the name of a sampler to try, if there is one. `apart` names the chain that differs
    from all others in a quantity. `shared` says that the chains learnt from one another.
    """
    population = posterior.weights.min() < posterior.weights.max()
    longer = MORE_PARTICLES if population else RUN_LONGER
    rows = {name: row for name, row in table.items() if row["assessable"]}
    if not rows:
        return None, _nothing_to_assess(posterior, longer)
    worst = max(rows, key=lambda name: rows[name]["rhat"])
    rhat = rows[worst]["rhat"]
    fewest = min(rows, key=lambda name: rows[name]["ess_bulk"])
    ess = rows[fewest]["ess_bulk"]
    if not rhat < RHAT_LIMIT:
        who = "The chains disagree" if posterior.n_chains > 1 else "The halves of the chain differ"
        return False, Message(
            f"{who} on {_describe(worst)} (R-hat {rhat:.3f}, should be below {RHAT_LIMIT}"
            f"{apart(worst)}): ",
            longer,
            *_another(worst, other),
            ".",
        )
    if not ess >= ESS_WANTED:
        more = math.ceil(posterior.n_draws * (ESS_WANTED / max(ess, 1.0) - 1))
        return False, Message(
            f"No disagreement (R-hat at most {rhat:.2f}), but {_describe(fewest)} has only "
            f"{ess:.0f} effective draws ({ESS_WANTED} wanted): ",
            *([longer] if population else [more_draws(more), " should be enough"]),
            ".",
        )
    who = "The chains agree" if posterior.n_chains > 1 else "The halves of the only chain agree"
    found = f"{who}: R-hat at most {rhat:.3f}, at least {ess:.0f} effective draws."
    return True, f"{found} {SHARED}" if shared and posterior.n_chains > 1 else found


def _nothing_to_assess(posterior: Posterior, longer: Action) -> str:
    needed = 4 if posterior.n_chains > 1 else 8
    if posterior.n_draws < needed:
        return Message(f"Too few draws to assess ({needed} per chain are needed): ", longer, ".")
    if posterior.n_chains > 1:
        return Message(
            "Hardly anything varies over the draws. The chains agree. This is reassuring only if "
            "they started from different partitions (",
            GOOD_STARTS,
            ").",
        )
    return Message(
        "Hardly anything varies over the only chain: compare it with others, ",
        setting("n_chains", 4),
        ".",
    )


def _another(name: str, other: str) -> list[str | Action]:
    """Advice to try another sampler, unless all of them move the quantity in the same way."""
    if name.rstrip("_0123456789") in LEARNED:
        return []
    return [", or try ", setting("sampler", other) if other else "another sampler"]


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
    base = name.rstrip("_0123456789")
    if base in LEARNED:
        part = name[len(base) + 1 :]
        return LEARNED[base] + (f" of part {part}" if part else "")
    return words.get(name, name)

"""The verdict of the diagnostics: three questions, their answers, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from bnpcluster._core.messages import (
    GOOD_STARTS,
    MORE_PARTICLES,
    RUN_LONGER,
    Action,
    Message,
    more_draws,
    parameter,
    setting,
)
from bnpcluster.diagnostics.agreement import largest_difference, typical_draws
from bnpcluster.diagnostics.standards import DIFFERENCE_LIMIT, ESS_WANTED, RHAT_LIMIT
from bnpcluster.posterior import Posterior

LEVELS = ("log_density", "log_posterior")
"""What answers the question about the density, the best first."""

SHARED = (
    " The chains learnt from one another, so their agreement is not that of independent chains: "
    "compare with a fit of another ",
    Action("random_state", "--seed"),
    ".",
)

Row = dict[str, float | bool]


class Answer(NamedTuple):
    """The answer to a question about the chains.

    Attributes
    ----------
    agrees : bool or None
        Whether the chains agree; None if it cannot be told.
    text : str
        The same in words.
    enough : bool
        Whether there are enough effective draws.
    """

    agrees: bool | None
    text: str
    enough: bool = True


class Evidence(NamedTuple):
    """What the verdict rests on.

    Attributes
    ----------
    posterior : Posterior
        The draws.
    table : dict
        R-hat and effective draws of scalar functions of the draws.
    pairs : ndarray of int, shape (n_pairs, 2)
        Pairs of items.
    together : ndarray, shape (n_chains, n_draws, n_pairs)
        Whether they share a cluster.
    apart : callable
        Names the chain that differs from all others in a quantity.
    other : str
        The name of a sampler to try; empty if there is none.
    shared : bool
        Whether the chains learnt from one another.
    limit : str
        The parameter that set the number of draws; empty if that is not known.
    can_continue : bool
        Whether more draws can be appended.
    """

    posterior: Posterior
    table: dict[str, Row]
    pairs: NDArray
    together: NDArray
    apart: Callable[[str], str]
    other: str
    shared: bool
    limit: str = ""
    can_continue: bool = True

    @property
    def longer(self) -> Action:
        """What gives more draws; the command line names the option that set their number."""
        if self.posterior.weights.min() < self.posterior.weights.max():
            return MORE_PARTICLES
        if not self.limit:
            return RUN_LONGER
        more = parameter(self.limit)
        python = RUN_LONGER.python if self.can_continue else f"run longer with more {more.python}"
        return Action(python, f"run longer with more {more.shell}")

    def enough(self, more: int) -> Action:
        """What gives so many more draws per chain."""
        if not self.limit:
            return more_draws(more)
        n_draws = self.posterior.n_draws + more
        name = parameter(self.limit)
        python = more_draws(more).python if self.can_continue else f"{name.python}={n_draws}"
        return Action(python, f"{name.shell} {n_draws}")

    @property
    def who(self) -> str:
        """Whom the sentences are about."""
        return "The chains" if self.posterior.n_chains > 1 else "The halves of the only chain"


def judge(evidence: Evidence) -> tuple[bool | None, str, dict[str, Answer]]:
    """Whether the chains converged, the verdict, and the answers to the three questions."""
    posterior = evidence.posterior
    needed = 4 if posterior.n_chains > 1 else 8
    weighted = posterior.weights.min() < posterior.weights.max()
    longer = evidence.longer
    if posterior.n_draws < needed:
        few = f"Too few draws to assess ({needed} per chain are needed): "
        return None, Message(few, longer, "."), {}
    answers = {
        "density": _density(evidence, longer, weighted),
        "pairs": _pairs(evidence, longer),
        "n_clusters": _n_clusters(evidence),
    }
    decisive = [answers["density"], answers["pairs"]]
    wrong = [answer.text for answer in decisive if answer.agrees is False]
    wrong += [answer.text for answer in decisive if not answer.enough]
    alone = posterior.n_chains == 1
    if wrong:
        return None if alone else False, wrong[0], answers
    if all(answer.agrees is None for answer in decisive):
        return None, _nothing_varies(posterior), answers
    text = " ".join(answer.text for answer in answers.values())
    if alone:
        return None, Message(text, *ALONE), answers
    if evidence.shared:
        return None, Message(text, *SHARED), answers
    return True, text, answers


ALONE = (
    " A single chain cannot show that it is right: ",
    Action("set n_chains to 4.", "use --chains 4."),
)


def _density(evidence: Evidence, longer: Action, weighted: bool) -> Answer:
    """Do the chains agree on the density?"""
    table, posterior = evidence.table, evidence.posterior
    names = [name for name in LEVELS if name in table][:1] or list(table)
    rows = {name: table[name] for name in names if table[name]["assessable"]}
    if not rows:
        return Answer(None, "The density hardly varies.")
    worst = max(rows, key=lambda name: rows[name]["rhat"])
    fewest = min(rows, key=lambda name: rows[name]["ess_bulk"])
    rhat, ess = rows[worst]["rhat"], rows[fewest]["ess_bulk"]
    if not rhat <= RHAT_LIMIT:
        found = f"(R-hat {rhat:.3f}, should be at most {RHAT_LIMIT}{evidence.apart(worst)})"
        start = f"{evidence.who} disagree on {_described(worst)} {found}: "
        return Answer(False, Message(start, longer, *_another(evidence.other), "."))
    if not ess >= ESS_WANTED:
        more = math.ceil(posterior.n_draws * (ESS_WANTED / max(ess, 1.0) - 1))
        start = (
            f"{evidence.who} agree on {_described(worst)} (R-hat {rhat:.3f}), but it has only "
            f"{ess:.0f} effective draws ({ESS_WANTED} wanted): "
        )
        advice = [longer] if weighted else [evidence.enough(more), " should be enough"]
        return Answer(True, Message(start, *advice, "."), enough=False)
    found = f"R-hat {rhat:.3f}, {ess:.0f} effective draws"
    return Answer(True, f"{evidence.who} agree on {_described(worst)} ({found}).")


def _pairs(evidence: Evidence, longer: Action) -> Answer:
    """Do the chains agree on who is with whom?"""
    together, n_pairs = evidence.together, len(evidence.pairs)
    if not n_pairs or (together == together[0, 0]).all():
        return Answer(None, "The clusters of neighbours hardly vary.")
    found = largest_difference(together)
    ari = _agreement(evidence.posterior)
    if found.beyond > DIFFERENCE_LIMIT:
        i, j = evidence.pairs[found.pair]
        shares = f"{100 * found.shares[0]:.0f} % and {100 * found.shares[1]:.0f} % of the draws"
        whose = (
            f"chains {found.chains[0]} and {found.chains[1]}"
            if evidence.posterior.n_chains > 1
            else "the halves of the chain"
        )
        start = (
            f"{evidence.who} disagree on who is with whom: items {i} and {j} are together in "
            f"{shares} of {whose}{ari}. This is more than Monte Carlo error: "
        )
        return Answer(False, Message(start, longer, *_another(evidence.other), "."))
    return Answer(True, f"They agree on who is with whom{ari}.")


def _agreement(posterior: Posterior) -> str:
    """How similar typical partitions of two chains are, as a bracket; empty for one chain."""
    if posterior.n_chains == 1:
        return ""
    pairs = combinations(typical_draws(posterior.labels), 2)
    ari = float(np.mean([adjusted_rand_score(a, b) for a, b in pairs]))
    return f" (typical partitions of two chains: adjusted Rand index {ari:.2f})"


def _n_clusters(evidence: Evidence) -> Answer:
    """Do the chains agree on the number of clusters? This does not decide about convergence."""
    row, k = evidence.table["n_clusters"], evidence.posterior.n_clusters
    low, high = int(k.min()), int(k.max())
    if not row["assessable"]:
        return Answer(None, f"The number of clusters is {int(np.median(k))} in nearly all draws.")
    if row["rhat"] <= RHAT_LIMIT:
        agreed = f"agree on the number of clusters ({low} to {high}, R-hat {row['rhat']:.3f})"
        return Answer(True, f"They {agreed}.")
    size = _size_in_doubt(evidence.posterior)
    items = "item" if size == 1 else "items"
    return Answer(
        False,
        f"They differ on the number of clusters ({low} to {high}, R-hat {row['rhat']:.3f}), that "
        f"is, on whether clusters of up to {size} {items} stand alone.",
    )


def _size_in_doubt(posterior: Posterior) -> int:
    """The usual largest size of the clusters that only some chains have."""
    least = int(np.median(posterior.n_clusters, axis=1).min())
    draws = posterior.labels.reshape(-1, posterior.n_items)
    sizes = [np.sort(np.bincount(draw))[::-1] for draw in draws[:: max(1, len(draws) // 200)]]
    extra = [row[least] for row in sizes if len(row) > least]
    return int(np.quantile(extra, 0.9)) if extra else 1


def _nothing_varies(posterior: Posterior) -> str:
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


def _another(other: str) -> list[str | Action]:
    """Advice to try another sampler."""
    return [", or try ", setting("sampler", other) if other else "another sampler"]


def _described(name: str) -> str:
    """A quantity in words."""
    if name.startswith("share_of_"):
        count = name.split("_")[2]
        return (
            f"the size of the {f'{count} largest clusters' if count != '1' else 'largest cluster'}"
        )
    words = {
        "log_density": "the density",
        "log_posterior": "the log posterior",
        "n_clusters": "the number of clusters",
    }
    return words.get(name, name)

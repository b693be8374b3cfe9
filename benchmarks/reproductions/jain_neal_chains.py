"""Jain and Neal's data, samplers and chains, and what is measured on a chain."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bnpcluster._core.state import State
from bnpcluster.diagnostics import autocorrelation_time
from bnpcluster.likelihoods import Bernoulli
from bnpcluster.partitions import coclustering, point_estimate
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, JainNeal

COMPONENTS = ("11111", "00001", "10011", "00000", "11110")
"""Attributes with probability 0.95 (1) or 0.05 (0); the last one is repeated."""

EIGHT = "2 with 8 attributes"
THEIRS = (1, 2, 3)
N_ATTRIBUTES: dict[int | str, int] = {1: 6, 2: 15, 3: 18, EIGHT: 8}
"""Of their three Examples, and of one of ours, whose posterior is divided between 4 and 5."""
N, N_SHARES = 100, 5
N_ITERATIONS, BURN_IN = 2000, 500
N_REFERENCE, REFERENCE_BURN_IN = 10_000, 1000
CLOSE = 0.03  # mean difference of co-clustering probabilities from the reference
SAME_SHARES = 0.05  # largest difference of the five mean cumulative shares from the reference
BETAS = (1.0, 0.5)  # of the Beta priors: as stated, and another that fits their tables better
LARGE = 5  # items that make a cluster a component in our counts
ALIKE = [(20 * c, 20 * c + 1) for c in range(5)]  # pairs of one true component
NEAR = [(0, 40), (1, 41), (20, 40), (21, 41)]  # of two that differ in two attributes
# Their pair, items 13 and 42: of components 1 and 3, which the posterior may join. And another item
# of component 2, since it may join 2 and 3 as well.
JOINED = [(12, 41), (32, 41)]


def restricted(t: int, m: int, g: int) -> tuple[str, JainNeal]:
    """The sampler (t, m, g), and that name."""
    return f"({t},{m},{g})", JainNeal(n_restricted=t, n_moves=m, n_gibbs=g)


MAIN = {
    "Gibbs": Gibbs(),
    "simple split": JainNeal(n_restricted=None, n_gibbs=0),
    **dict(restricted(*s) for s in ((0, 1, 0), (0, 1, 1), (5, 1, 0), (5, 1, 1))),
}
SCANS = [(t, 1, 1) for t in (1, 3, 5, 10, 20, 100)]
MOVES = [(1, m, 1) for m in (2, 3, 4, 5)]
SWEEPS = [(1, 1, g) for g in (0, 2, 3, 5)]
VARIANTS = dict(restricted(*s) for s in SCANS + MOVES + SWEEPS)


@dataclass
class Run:
    """A chain, and what it cost."""

    labels: np.ndarray
    log_joint: np.ndarray
    counts: Counter  # of moves after the burn-in
    seconds: float  # per iteration


def simulate(example: int | str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A data set of an Example, and its true partition."""
    d = N_ATTRIBUTES[example]
    ones = np.array([[c == "1" for c in name.ljust(d, name[-1])] for name in COMPONENTS])
    truth = np.repeat(np.arange(5), N // 5)
    uniforms = np.random.default_rng(seed).random((N, d))
    return (uniforms < np.where(ones, 0.95, 0.05)[truth]).astype(float), truth


def sample(X, sampler, start, n_iterations: int, burn_in: int, seed: int, beta: float = 1.0) -> Run:
    """Run a chain; the clock (of this thread, not of the wall) runs in its steps only.

    Attributes have Beta(beta, beta) priors.
    """
    state = State(Bernoulli(a=beta, b=beta).bind(X), DirichletProcess(1.0), start)
    rng = np.random.default_rng(seed)
    run = Run(np.empty((n_iterations, len(X)), int), np.empty(n_iterations), Counter(), 0.0)
    for t in range(n_iterations):
        begin = time.thread_time()
        counts = sampler.step(state, rng)
        run.seconds += (time.thread_time() - begin) / n_iterations
        run.labels[t], run.log_joint[t] = state.labels, state.log_joint()
        if t >= burn_in:
            run.counts.update(counts)
    return run


def sizes(labels: np.ndarray) -> np.ndarray:
    """The sizes of the clusters of every draw, largest first."""
    counts = (labels[:, :, None] == np.arange(max(labels.max() + 1, N_SHARES))).sum(axis=1)
    return -np.sort(-counts, axis=1)


def components(labels: np.ndarray) -> np.ndarray:
    """The number of large clusters of every draw."""
    return (sizes(labels) >= LARGE).sum(axis=1)


def pair_times(labels: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """Autocorrelation times of the indicators that pairs share a cluster."""
    return [autocorrelation_time(labels[:, i] == labels[:, j]) for i, j in pairs]


def joined_time(labels: np.ndarray) -> list[float]:
    """The time of the pair that is nearest to sharing a cluster in half of the draws."""
    shares = [np.mean(labels[:, i] == labels[:, j]) for i, j in JOINED]
    return pair_times(labels, [JOINED[int(np.argmin(np.abs(np.array(shares) - 0.5)))]])


def figures(run: Run) -> dict[str, Any]:
    """Of one chain: costs, autocorrelation times, acceptance."""
    kept, counts = run.labels[BURN_IN:], run.counts
    accepted = counts["splits_accepted"] + counts["merges_accepted"]
    return {
        "microseconds": [1e6 * run.seconds],
        "share": [autocorrelation_time(sizes(kept)[:, 0])],
        "alike": pair_times(kept, ALIKE),
        "near": pair_times(kept, NEAR),
        "their pair": pair_times(kept, JOINED[:1]),
        "joined": joined_time(kept),
        "together": [np.mean(kept[:, i] == kept[:, j]) for i, j in JOINED],
        "percent": [100 * accepted / max(counts["splits"] + counts["merges"], 1)],
    }


@dataclass
class Reference:
    """What a long chain that starts at the true partition finds."""

    together: np.ndarray
    shares: np.ndarray  # of the 1 to 5 largest clusters, on average
    half_gap: float  # between its halves
    level: float  # of the log joint density: two standard deviations below its mean
    chances: list[float]  # of 3, 4 and 5 large clusters
    both: bool  # whether four and five are both frequent
    score: float  # adjusted Rand index of its estimate with the truth

    def summary(self) -> dict[str, Any]:
        """What the tables need of it."""
        return {name: getattr(self, name) for name in ("half_gap", "chances", "both", "score")}


def shares(labels: np.ndarray) -> np.ndarray:
    """The shares of the 1 to 5 largest clusters of every draw."""
    return sizes(labels)[:, :N_SHARES].cumsum(axis=1) / N


def often_both(labels: np.ndarray) -> bool:
    """Whether four and five large clusters both occur in at least 5 % of the draws."""
    k = components(labels)
    return bool(min(np.mean(k == 4), np.mean(k == 5)) >= 0.05)


def gap(one: np.ndarray, two: np.ndarray) -> float:
    """Mean absolute difference of two co-clustering matrices over the pairs of items."""
    return float(np.abs(one - two)[np.triu_indices(N, 1)].mean())


def find_reference(X, truth, seed: int) -> Reference:
    run = sample(X, JainNeal(n_moves=5), truth, N_REFERENCE, REFERENCE_BURN_IN, seed)
    kept, log_joint = run.labels[REFERENCE_BURN_IN:], run.log_joint[REFERENCE_BURN_IN:]
    halves = [coclustering(part) for part in np.array_split(kept, 2)]
    return Reference(
        (halves[0] + halves[1]) / 2,
        shares(kept).mean(axis=0),
        gap(*halves),
        log_joint.mean() - 2 * log_joint.std(),
        [np.mean(components(kept) == k) for k in (3, 4, 5)],
        often_both(kept),
        adjusted_rand_score(truth, point_estimate(kept[::30])),
    )


def claims(run: Run, reference: Reference, truth: np.ndarray) -> dict[str, Any]:
    """How right a chain is, and how soon."""
    kept = run.labels[BURN_IN:]
    high = np.flatnonzero(run.log_joint >= reference.level)
    distance = gap(coclustering(kept), reference.together)
    off = np.abs(shares(kept).mean(axis=0) - reference.shares).max()
    return {
        "gap": [distance],
        "right": [distance <= CLOSE],
        "shares right": [off <= SAME_SHARES],
        "score": [adjusted_rand_score(truth, point_estimate(kept[::5]))],
        "reached": [high[0] + 1 if len(high) else np.nan],
        "both": [often_both(kept)],
    }

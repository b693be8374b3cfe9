"""Chains of the experiments on adaptive reconfiguration moves, and what is measured on them."""

from __future__ import annotations

import copy
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.reproductions.jain_neal_chains import COMPONENTS, sizes
from bnpcluster._fitting.lengths import Asked, Lengths
from bnpcluster._fitting.rounds import Chain, run_chains
from bnpcluster._fitting.stop import Stop
from bnpcluster.diagnostics import autocorrelation_time
from bnpcluster.likelihoods import Relational
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import ARM, Gibbs, JainNeal

WARM_UP = 50  # Gibbs sweeps of every chain before anything else
SHORT = 40  # iterations from which the cost of one is found, after as many others
MOST = 40_000  # iterations of a chain that are kept
N_CHAINS = 8  # that share an archive; R-hat compares those of different restarts
ITEMS = (20 * np.arange(5)[:, None] + np.arange(3)).ravel()  # three of each planted cluster


class LearningSplitMerge(JainNeal):
    """Split-merge moves whose launches come from an archive that goes on learning (bSM)."""

    @property
    def learns_from(self) -> str | None:
        """All iterations so far, as in the paper; the package's own archive is fixed."""
        return "adaptive"


GIBBS, SM, BSM = "Gibbs", "SM", "bSM"
METHODS: dict[str, Any] = {
    GIBBS: Gibbs(),
    SM: JainNeal(n_restricted=5),
    "ARM": ARM(archive="adaptive"),
}
VARIANTS: dict[str, Any] = {
    GIBBS: Gibbs(),
    SM: JainNeal(n_restricted=5),
    BSM: LearningSplitMerge(n_restricted=5, launch="archive"),
    "sARM": ARM(archive="adaptive", variant="singletons"),
    "ARM": ARM(archive="adaptive"),
    "ARM, frozen": ARM(),
}
FOLDERS = {
    "NIPS": ("nips234", 234),
    "Hagmann": ("hagmann998", 998),
    "USAir": ("usair97", 332),
    "Caltech": ("facebook_caltech36", 769),
}


class Runs(NamedTuple):
    """Some chains of one method: a row each, one column per kept iteration."""

    log_joint: np.ndarray
    labels: np.ndarray
    counts: Counter
    cost: float  # processor seconds of an iteration of one chain

    @property
    def accepted(self) -> float:
        """Accepted moves in percent."""
        tried = sum(self.counts[name] for name in ("moves", "splits", "merges"))
        names = ("moves_accepted", "splits_accepted", "merges_accepted")
        return 100.0 * sum(self.counts[name] for name in names) / max(tried, 1)


def begin(bound: Any, n: int, n_chains: int, seed: int, sweeps: int = WARM_UP) -> list[Chain]:
    """Chains that begin at draws from the prior and have made their first sweeps."""
    prior = DirichletProcess(1.0)
    generators = [np.random.default_rng([seed, c]) for c in range(n_chains)]
    chains = [Chain(prior.sample(n, rng), prior, rng) for rng in generators]
    lengths = Lengths(Asked(1, sweeps - 1, 1, 1))
    chains = run_chains(chains, bound, Gibbs(), lengths, stop=Stop())
    if any(chain.learned is not None for chain in chains):
        raise ValueError("The paper's hyper-parameters are fixed: give the likelihood numbers.")
    return chains


def sample(
    bound: Any, chains: list[Chain], sampler: Any, n: int, n_before: int, thin: int | None = None
) -> Runs:
    """Go on with copies of chains for n iterations after some of warm-up.

    Every `thin`-th iteration is kept; by default as few as leave at most MOST.
    """
    chains = [Chain(c.labels.copy(), c.prior, copy.deepcopy(c.rng)) for c in chains]
    thin = thin or -(-n // MOST)
    lengths = Lengths(Asked(n // thin, n_before, thin, n // thin))
    since = time.process_time()
    chains = run_chains(chains, bound, sampler, lengths, stop=Stop())
    cost = (time.process_time() - since) / (lengths.schedule.n_iterations * len(chains))
    counts: Counter = sum((chain.counts for chain in chains), Counter())
    joint = np.array([[row["log_posterior"] for row in chain.traces] for chain in chains])
    return Runs(joint, np.array([chain.draws for chain in chains]), counts, cost)


def rhat(means: np.ndarray, variances: np.ndarray, n: int) -> np.ndarray:
    """The plain R-hat of Gelman and Rubin, not split, values not ranked.

    From the means and variances of n values each: chains in rows, of which those in one column are
    compared.
    """
    within, between = variances.mean(axis=0), means.var(axis=0, ddof=1)
    return np.sqrt((n - 1) / n + between / within)


def moments(log_joint: np.ndarray, first: int) -> dict[str, Any]:
    """Means and variances of every chain from an iteration on, which is all that R-hat needs."""
    kept = log_joint[:, first:]
    return {"means": kept.mean(axis=1), "variances": kept.var(axis=1, ddof=1), "n": kept.shape[1]}


def between_restarts(parts: list[dict[str, Any]]) -> np.ndarray:
    """R-hat of one chain of each restart, for all chains of a restart in turn."""
    means, variances = (np.array([part[k] for part in parts]) for k in ("means", "variances"))
    return rhat(means, variances, min(part["n"] for part in parts))


def network(folder: Path, name: str, scale: float) -> tuple[Any, int, int]:
    """Bound data of a network's vertices of highest degree; how many vertices and links."""
    place, n = FOLDERS[name]
    edges = np.genfromtxt(folder / place / "edges.csv.gz", delimiter=",", skip_header=1)
    i, j = edges[:, 0].astype(int), edges[:, 1].astype(int)
    A = scipy.sparse.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    A = ((A + A.T) > 0).astype(float).tocsr()
    degrees = np.asarray(A.sum(axis=1)).ravel()
    kept = np.sort(np.argsort(-degrees, kind="stable")[: round(scale * n)])
    A = A[kept][:, kept]
    return Relational().bind(A), len(kept), A.nnz // 2


def simulate(d: int, seed: int) -> np.ndarray:
    """One hundred items of the five components of Jain and Neal, with d attributes."""
    ones = np.array([[c == "1" for c in name.ljust(d, name[-1])] for name in COMPONENTS])
    uniforms = np.random.default_rng(seed).random((100, d))
    return (uniforms < np.repeat(np.where(ones, 0.95, 0.05), 20, axis=0)).astype(float)


def times(found: Runs) -> tuple[float, float]:
    """Autocorrelation times of the largest share, and the largest of those of pairs of items.

    Both are averages over the chains. The pairs are all 105 of 15 items; the indicator says whether
    they share a cluster. Chains whose trace is constant have no time.
    """
    shares, indicators = [], []
    for labels in found.labels:
        shares.append(autocorrelation_time(sizes(labels)[:, 0]))
        few = labels[:, ITEMS]
        pairs = [autocorrelation_time(few[:, i] == few[:, j]) for i in range(15) for j in range(i)]
        indicators.append(np.nan if np.isnan(pairs).all() else np.nanmax(pairs))
    return float(np.nanmean(shares)), float(np.nanmean(indicators))


def as_long(bound: Any, chains: list[Chain], sampler: Any, seconds: float) -> int:
    """As many iterations as take so many processor seconds per chain, and a multiple of four."""
    sample(bound, chains, sampler, 4, 4)  # compiles
    cost = sample(bound, chains, sampler, SHORT, SHORT).cost
    return 4 * max(10, round(seconds / cost / 4))

"""Data sets of the paper on particle Gibbs split-merge, and chains against the CPU clock."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import v_measure_score

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import log_predictive_all
from bnpcluster._core.state import State
from bnpcluster._fitting.rounds import BOUNDARY
from bnpcluster.likelihoods import Bernoulli, NormalInverseWishart
from bnpcluster.priors import DirichletProcess, FiniteDirichlet

N_TIMES, FIRST_TIME = 30, 1e-3


@dataclass
class Data:
    """Rows to fit and rows held out, and what they are modelled by."""

    X: np.ndarray
    held_out: np.ndarray
    truth: np.ndarray | None
    likelihood: Any
    prior: Any = field(default_factory=DirichletProcess)


@dataclass
class Trace:
    """One chain: seconds, mean held-out log density, V-measure, clusters; and where it ended."""

    rows: np.ndarray
    labels: np.ndarray
    values: dict[str, float]  # of the prior's parameters
    iterations: int

    def plain(self) -> dict[str, Any]:
        """What goes into the file of finished chains."""
        return asdict(self)

    @classmethod
    def read(cls, plain: dict[str, Any]) -> "Trace":
        """The chain from its line of the file."""
        arrays = {"rows": np.array(plain["rows"]), "labels": np.array(plain["labels"], np.int32)}
        return cls(**{**plain, **arrays})

    def state(self, data: Data, bound: Any) -> State:
        """Where the chain ended."""
        return State(bound, data.prior.at(**self.values), self.labels)


def part(X: np.ndarray, truth: np.ndarray | None, likelihood: Any, **others: Any) -> Data:
    """Hold out a tenth of the rows, always the same ones."""
    order = np.random.default_rng(0).permutation(len(X))
    test, train = np.split(order, [len(X) // 10])
    return Data(X[train], X[test], None if truth is None else truth[train], likelihood, **others)


def gaussian(X: np.ndarray, truth: np.ndarray | None, **others: Any) -> Data:
    """The prior of the paper."""
    d = X.shape[1]
    likelihood = NormalInverseWishart(mean=np.zeros(d), kappa=1.0, nu=d + 2.0, scale=1.0)
    return part(X, truth, likelihood, **others)


def standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def read(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1)


def labelled(path: Path, scale: bool) -> Data:
    table = read(path)
    X = table[:, :-1]
    return gaussian(
        standardised(X) if scale else X, np.unique(table[:, -1], return_inverse=True)[1]
    )


def binary(uninformative: float) -> Data:
    """5000 rows of 50 columns in 16 clusters of equal weight; a share of the columns is noise."""
    rng = np.random.default_rng(round(100 * uninformative))
    chance = rng.random((16, 50))
    chance[:, : int(50 * uninformative)] = 0.5
    truth = rng.integers(16, size=5000)
    return part(
        (rng.random((5000, 50)) < chance[truth]).astype(float), truth, Bernoulli(a=1.0, b=1.0)
    )


def circle() -> Data:
    """Four Gaussian clusters on a ring around a central one, number 0; 500 rows each."""
    angle = np.pi / 2 * np.arange(4)
    centres = np.vstack([np.zeros(2), 5.0 * np.column_stack([np.cos(angle), np.sin(angle)])])
    truth = np.repeat(np.arange(5), 500)
    X = centres[truth] + np.random.default_rng(1).normal(size=(2500, 2))
    return gaussian(standardised(X), truth, prior=FiniteDirichlet(5, 1.0))


def sources(folder: Path) -> dict[str, Callable[[], Data]]:
    """How to make each data set."""
    return {
        **{
            f"S{s}": lambda s=s: labelled(folder / f"s_sets/s{s}.csv.gz", True) for s in range(1, 5)
        },
        "C1": circle,
        "Ber-0.25": lambda: binary(0.25),
        "Ber-0.5": lambda: binary(0.5),
        "DIM064": lambda: labelled(folder / "dim_sets/dim064.csv.gz", False),
        "DIM128": lambda: labelled(folder / "dim_sets/dim128.csv.gz", False),
        "MOPSI": lambda: gaussian(
            standardised(read(folder / "mopsi_finland/mopsi_finland.csv.gz")), None
        ),
    }


@kernel
def log_densities(new, log_urn, scores, out):
    """log sum_k urn[k] f(row | slot k) of every row; the last slot is empty."""
    for i in range(len(out)):
        log_predictive_all(new, i, 0, len(log_urn), scores)
        top = -np.inf
        for k in range(len(log_urn)):
            scores[k] += log_urn[k]
            top = max(top, scores[k])
        total = 0.0
        for k in range(len(log_urn)):
            total += np.exp(scores[k] - top)
        out[i] = top + np.log(total)


def density(state: State, likelihood: Any, rows: np.ndarray) -> np.ndarray:
    """Log predictive density at some rows, given the partition."""
    out, log_urn = np.empty(len(rows)), state.prior.predictive(state.sizes)
    scores = np.empty(len(state.partition.sizes) + 8)
    log_densities(likelihood.rows(state.problem.likelihood, rows), log_urn, scores, out)
    return out


def measure(seconds: float, state: State, data: Data) -> tuple[float, ...]:
    """One row of a trace."""
    agreement = np.nan if data.truth is None else v_measure_score(data.truth, state.labels)
    held_out = density(state, data.likelihood, data.held_out).mean()
    return seconds, held_out, agreement, state.n_blocks


def trace(
    data: Data, bound: Any, sampler: Any, budget: float, seed: int, singletons: bool = False
) -> Trace:
    """Run a chain for `budget` CPU seconds; what is spent on measuring does not count."""
    n = len(data.X)
    state = State(bound, data.prior, np.arange(n) if singletons else np.zeros(n, int))
    # SplitMerge finds its number of moves; tables of anchors follow records of the clusters.
    state.adapting = True
    rng, seconds, iterations = np.random.default_rng(seed), 0.0, 0
    due = np.geomspace(FIRST_TIME, budget, N_TIMES)
    rows = [measure(0.0, state, data)]
    while seconds < budget:
        begin = time.thread_time()
        sampler.step(state, rng)
        if state.prior.sampled:
            state.set_prior(state.prior.update(state.sizes, n, rng))
        iterations += 1
        if iterations % BOUNDARY == 0:
            state.rebuild()
        seconds += time.thread_time() - begin
        if seconds >= due[0]:
            rows.append(measure(seconds, state, data))
            due = due[due > seconds]
            due = due if len(due) else np.array([np.inf])
    labels = state.labels.astype(np.int32)
    return Trace(np.array(rows), labels, dict(state.prior.values), iterations)


def compile_kernels(data: Data, bound: Any, sampler: Any) -> None:
    """Compile what a sampler needs, or load it, so that no chain spends time on this."""
    trace(data, bound, sampler, FIRST_TIME, 0)
    state = State(bound, data.prior, np.arange(len(data.X)) % 2)  # the first record: a table
    state.adapting = True
    sampler.step(state, np.random.default_rng(0))

"""Check that one step of a sampler leaves the exact posterior invariant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2

from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior
from bnpcluster.samplers import Sampler
from bnpcluster.samplers.archive import Archive
from bnpcluster.testing.enumeration import (
    ExactPosterior,
    enumerated,
    partition_numbers,
    with_absent,
)

FALSE_ALARM = 1e-3
"""Level of each of two independent tests. A check fails if both reject."""


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    """P-value of counts given their expectations; cells with expectations below 5 are pooled."""
    if observed[expected == 0].any():
        return 0.0  # an impossible state was reached
    small = expected < 5
    cells = np.append(observed[~small], observed[small].sum())
    means = np.append(expected[~small], expected[small].sum())
    if means[-1] < 5:  # the pooled cell is still too rare
        cells[-2] += cells[-1]
        means[-2] += means[-1]
        cells, means = cells[:-1], means[:-1]
    if len(cells) < 2:
        raise ValueError("Too few cells for a chi-square test: raise n_replicates.")
    return float(chi2.sf(((cells - means) ** 2 / means).sum(), len(cells) - 1))


def step_counts(
    sampler: Sampler, state: State, exact: ExactPosterior, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Count the partitions after one step from each of `size` exact draws of the posterior."""
    n = exact.partitions.shape[1]
    reached = np.empty((size, n), np.int32)
    starts = rng.choice(len(exact.partitions), size=size, p=exact.probabilities)
    for t, start in enumerate(starts):
        state.labels[:n] = exact.partitions[start]
        state.rebuild()
        sampler.step(state, rng)
        reached[t] = state.labels[:n]
    return np.bincount(partition_numbers(reached, exact), minlength=len(exact.partitions))


def check_sampler(
    sampler: Sampler,
    likelihood: Likelihood,
    prior: Prior,
    X: np.ndarray,
    *,
    n_replicates: int = 20_000,
    seed: int = 0,
    beta: float = 1.0,
    absent: int = 0,
) -> float:
    """Assert that one step of a sampler leaves the exact posterior invariant.

    Parameters
    ----------
    sampler : Sampler
    likelihood : Likelihood
    prior : Prior, at its current values
    X : ndarray of shape (n, n_features), n at most about 6
    n_replicates : int, default=20000
        Number of independent starts. If the first test rejects, a second test makes four times as
        many.
    seed : int, default=0
    beta : float, default=1.0
        Power of the likelihood in the target.
    absent : int, default=0
        Number of rows at the end that are left out.

    Returns
    -------
    p_value : float
        P-value of the test that did not reject.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Bernoulli
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.samplers import Gibbs
    >>> from bnpcluster.testing import check_sampler
    >>> X = np.array([[1, 1], [1, 0], [0, 0]])
    >>> check_sampler(Gibbs(), Bernoulli(), DirichletProcess(1.0), X, n_replicates=1000) > 0.001
    True
    """
    bound = likelihood.guessed().bind(np.asarray(X, float), 8)
    n = len(X) - absent
    exact = enumerated(bound, prior, n, beta)
    state = State(bound, prior, with_absent(exact.partitions[0], bound, n), beta=beta)
    state.archive = _some_archive(exact.partitions, bound, np.random.default_rng(seed))
    p_values = []
    for attempt, size in enumerate((n_replicates, 4 * n_replicates)):
        counts = step_counts(sampler, state, exact, size, np.random.default_rng([seed, attempt]))
        p_values.append(chi_square(counts, size * exact.probabilities))
        if p_values[-1] > FALSE_ALARM:
            return p_values[-1]
    raise AssertionError(
        f"{sampler!r} does not leave the posterior under {likelihood!r} and {prior!r} invariant: "
        f"p-values {p_values[0]:.1e} and {p_values[1]:.1e}."
    )


def _some_archive(partitions: np.ndarray, bound: Any, rng: np.random.Generator) -> Archive:
    """An archive with a few partitions of two chains, independent of the state."""
    n = partitions.shape[1]
    some = [with_absent(row, bound, n) for row in rng.choice(partitions, 8)]
    return Archive([some[:4], some[4:]], 0)

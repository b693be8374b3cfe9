"""Exact posteriors by enumeration, and the checks that every component must pass.

For up to about seven items all partitions can be listed, so the posterior is known exactly. A
sampler is right when it leaves it invariant: `check_sampler` starts from exact draws, applies one
step and compares. `check_likelihood` and `check_prior` hold the other components to their
contracts. They serve components of other packages just as well.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2

from bnpcluster import _contract
from bnpcluster._core.state import State
from bnpcluster.likelihoods import Likelihood
from bnpcluster.partitions.exhaustive import all_partitions
from bnpcluster.partitions.label_draws import canonical
from bnpcluster.priors import Prior
from bnpcluster.samplers import ParticleSampler, Sampler
from bnpcluster.samplers.archive import Archive

__all__ = [
    "ExactPosterior",
    "all_partitions",
    "check_likelihood",
    "check_particles",
    "check_prior",
    "check_sampler",
    "exact_posterior",
    "log_eppf",
]

FALSE_ALARM = 1e-3
"""Level of each of two independent tests, both of which must reject before a check fails."""


class ExactPosterior(NamedTuple):
    """The posterior over all partitions of a few items.

    Attributes
    ----------
    partitions : ndarray of shape (n_partitions, n_items)
    probabilities : ndarray of shape (n_partitions,)
    log_joint : ndarray of shape (n_partitions,): log p(data, partition)
    log_evidence : float: log p(data)
    """

    partitions: np.ndarray
    probabilities: np.ndarray
    log_joint: np.ndarray
    log_evidence: float

    def n_clusters_pmf(self) -> np.ndarray:
        """Probability of 1, 2, .., n clusters."""
        n = self.partitions.shape[1]
        clusters = self.partitions.max(axis=1)
        return np.bincount(clusters, weights=self.probabilities, minlength=n)

    def coclustering(self) -> np.ndarray:
        """Probability that two items share a cluster."""
        same = self.partitions[:, :, None] == self.partitions[:, None, :]
        return np.einsum("p,pij->ij", self.probabilities, same)


def log_eppf(prior: Prior, partitions: np.ndarray) -> np.ndarray:
    """log p(partition) of each row under a prior."""
    n = partitions.shape[1]
    log_v, log_w = prior.tables(n, n)
    sizes = np.array([np.bincount(row, minlength=n) for row in partitions])
    filled = np.where(sizes > 0, log_w[sizes], 0.0)
    return log_v[(sizes > 0).sum(axis=1)] + filled.sum(axis=1)


def exact_posterior(
    X: np.ndarray, likelihood: Likelihood, prior: Prior, *, beta: float = 1.0
) -> ExactPosterior:
    """Enumerate the posterior of the partition of at most eight rows.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    likelihood : Likelihood
    prior : Prior, at its current values
    beta : float, default=1.0
        Power of the likelihood.

    Returns
    -------
    ExactPosterior

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.testing import exact_posterior
    >>> X = np.array([[-1.0], [-0.9], [1.0]])
    >>> exact = exact_posterior(X, NormalInverseGamma(), DirichletProcess(1.0))
    >>> exact.probabilities.sum().round(9).tolist(), exact.n_clusters_pmf().shape
    (1.0, (3,))
    """
    return enumerated(likelihood.bind(np.asarray(X, float), 4), prior, len(X), beta)


def enumerated(bound: Any, prior: Prior, n: int, beta: float = 1.0) -> ExactPosterior:
    """The posterior of the partition of the first `n` rows of bound data; the rest is absent."""
    partitions = all_partitions(n)
    state = State(bound, prior, _with_absent(partitions[0], bound, n), beta=beta, capacity=n + 2)
    log_joint = np.zeros(len(partitions))
    for j, row in enumerate(partitions):
        state.labels[:n] = row
        state.rebuild()
        log_joint[j] = state.log_joint()
    log_evidence = float(logsumexp(log_joint))
    return ExactPosterior(partitions, np.exp(log_joint - log_evidence), log_joint, log_evidence)


def _with_absent(labels: np.ndarray, bound: Any, n: int) -> np.ndarray:
    """Labels of all rows, of which only the first n are present."""
    rows = bound[0] if not hasattr(bound, "n_items") else range(bound.n_items)
    return np.concatenate([labels, np.full(len(rows) - n, -1)])


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    """P-value of counts against expected ones; cells expected less than 5 times are pooled."""
    if observed[expected == 0].any():
        return 0.0  # an impossible state was reached
    small = expected < 5
    cells = np.append(observed[~small], observed[small].sum())
    means = np.append(expected[~small], expected[small].sum())
    if means[-1] < 5:  # what is left is too rare to be a cell of its own
        cells[-2] += cells[-1]
        means[-2] += means[-1]
        cells, means = cells[:-1], means[:-1]
    if len(cells) < 2:
        raise ValueError("Too few replicates, or too sharp a law, for a chi-square test.")
    return float(chi2.sf(((cells - means) ** 2 / means).sum(), len(cells) - 1))


def step_counts(
    sampler: Sampler, state: State, exact: ExactPosterior, size: int, rng: np.random.Generator
) -> np.ndarray:
    """How often each partition is reached by one step from `size` exact draws of the posterior."""
    n = exact.partitions.shape[1]
    reached = np.empty((size, n), np.int32)
    starts = rng.choice(len(exact.partitions), size=size, p=exact.probabilities)
    for t, start in enumerate(starts):
        state.labels[:n] = exact.partitions[start]
        state.rebuild()
        sampler.step(state, rng)
        reached[t] = state.labels[:n]
    return np.bincount(_numbers(reached, exact), minlength=len(exact.partitions))


def _numbers(labels: np.ndarray, exact: ExactPosterior) -> np.ndarray:
    """The number of each partition, however its blocks are labelled."""
    n = labels.shape[1]
    powers = (n + 1) ** np.arange(n)
    codes = exact.partitions @ powers
    order = np.argsort(codes)
    return order[np.searchsorted(codes[order], canonical(labels)[0] @ powers)]


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
        Independent starts; four times as many in the second test, made if the first one rejects.
    seed : int, default=0
    beta : float, default=1.0
        Power of the likelihood in the target.
    absent : int, default=0
        The last so many rows take no part.

    Returns
    -------
    p_value : float
        Of the test that did not reject.

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
    bound = likelihood.bind(np.asarray(X, float), 8)
    n = len(X) - absent
    exact = enumerated(bound, prior, n, beta)
    state = State(bound, prior, _with_absent(exact.partitions[0], bound, n), beta=beta)
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
    """A few partitions of two chains that have nothing to do with the state."""
    n = partitions.shape[1]
    some = [_with_absent(row, bound, n) for row in rng.choice(partitions, 8)]
    return Archive([some[:4], some[4:]], 0)


def check_particles(
    sampler: ParticleSampler,
    likelihood: Likelihood,
    prior: Prior,
    X: np.ndarray,
    *,
    error: float = 0.01,
    n_runs: int = 400,
    seed: int = 0,
) -> float:
    """Assert that a particle sampler estimates evidence and posterior without bias.

    Over independent runs the mean of the evidence, and of the evidence times the particles' weight
    of every partition, are those of the enumeration, to four standard errors.

    Parameters
    ----------
    sampler : ParticleSampler
        With few particles: every number of them is unbiased, and few ones are quick.
    likelihood : Likelihood
    prior : Prior, with fixed values
    X : ndarray of shape (n, n_features), n at most about 6
    error : float, default=0.01
        Runs are made until the standard error of the mean evidence is below this, relative to it.
    n_runs : int, default=400
        At least so many runs.
    seed : int, default=0

    Returns
    -------
    z_value : float
        The largest distance, in standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Bernoulli
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.samplers import UrnSMC
    >>> from bnpcluster.testing import check_particles
    >>> X = np.array([[1, 1], [1, 0], [0, 0]])
    >>> check_particles(UrnSMC(n_particles=8), Bernoulli(), DirichletProcess(1.0), X) < 4
    True
    """
    X = np.asarray(X, float)
    prior = sampler.checked(prior)
    exact = exact_posterior(X, likelihood, prior)
    bound = likelihood.bind(X, 8)
    z_values = []
    for attempt in (1, 2):  # the second one is twice as precise
        rng = np.random.default_rng([seed, attempt])
        size = error / attempt, n_runs * attempt**2
        masses = _masses(sampler, bound, prior, exact, size, rng)
        z_values.append(_worst(masses, exact.probabilities))
        z_value = max(map(abs, z_values[-1]))
        if z_value < 4.0:
            return z_value
    raise AssertionError(
        f"{sampler!r} is biased under {likelihood!r} and {prior!r}: evidence and worst partition "
        f"are off by {z_values} standard errors."
    )


def _masses(
    sampler: ParticleSampler,
    bound: Any,
    prior: Prior,
    exact: ExactPosterior,
    size: tuple[float, int],
    rng: np.random.Generator,
) -> np.ndarray:
    """By run, the evidence times the weight of each partition, over the exact evidence."""
    runs: list[np.ndarray] = []
    ratios: list[float] = []
    error, least = size
    # A sampler that is wrong may never become that precise.
    while len(runs) < least or (
        len(runs) < 100 * least and np.std(ratios) > error * np.mean(ratios) * math.sqrt(len(runs))
    ):
        run = sampler.run(bound, prior, exact.partitions.shape[1], rng)
        weights = np.exp(run.log_weight - logsumexp(run.log_weight))
        ratios.append(math.exp(run.log_evidence - exact.log_evidence))
        numbers = _numbers(run.labels, exact)
        weights *= ratios[-1]
        runs.append(np.bincount(numbers, weights=weights, minlength=len(exact.partitions)))
    return np.array(runs)


def _worst(masses: np.ndarray, probabilities: np.ndarray) -> tuple[float, float]:
    """Errors, in standard errors, of the evidence and of the worst of the common partitions."""
    total = masses.sum(axis=1)
    root = math.sqrt(len(masses))
    evidence = (total.mean() - 1.0) / (total.std() / root)
    common = (masses > 0).sum(axis=0) >= 100  # sums of the others are no normal variables
    if not common.any():
        return float(evidence), 0.0
    gaps = masses[:, common].mean(axis=0) - probabilities[common]
    z = gaps / (masses[:, common].std(axis=0) / root)
    return float(evidence), float(z[np.argmax(np.abs(z))])


def check_prior(prior: Prior, n: int = 6) -> float:
    """Assert that a prior is a law on partitions and that its urn weights belong to it.

    The tables sum to one over all partitions of 1 .. n items, and the urn weights are the ratios of
    the probabilities of partitions of m + 1 and of m items.

    Parameters
    ----------
    prior : Prior, at its current values
    n : int, default=6

    Returns
    -------
    gap : float
        The largest error of a probability.

    Examples
    --------
    >>> from bnpcluster.priors import DirichletProcess
    >>> from bnpcluster.testing import check_prior
    >>> check_prior(DirichletProcess(0.7)) < 1e-9
    True
    """
    largest = 0.0
    for m in range(1, n + 1):
        total = logsumexp(log_eppf(prior, all_partitions(m)))
        assert abs(total) < 1e-9, f"{prior!r}: the partitions of {m} items weigh {math.exp(total)}."
        largest = max(largest, abs(total))
    for row in all_partitions(n - 1):
        if log_eppf(prior, row[None])[0] == -np.inf:
            continue  # more blocks than the prior allows
        k = row.max() + 1
        longer = np.column_stack([np.tile(row, (k + 1, 1)), np.arange(k + 1)])
        ratios = log_eppf(prior, longer) - log_eppf(prior, row[None])
        gap = np.abs(np.exp(prior.predictive(np.bincount(row))) - np.exp(ratios)).max()
        assert gap < 1e-9, f"{prior!r}: urn weights at {row.tolist()} are off by {gap}."
        largest = max(largest, gap)
    return float(largest)


def check_likelihood(likelihood: Likelihood, X: np.ndarray, *, tolerance: float = 1e-8) -> None:
    """Assert that a likelihood keeps its contract on the rows of `X` (at least five).

    Predictives multiply to the marginal in any order; removing undoes adding; copies equal
    originals; the leave-one-out, all-slots, set and weight operations agree with the plain ones;
    room for more slots changes nothing.

    Parameters
    ----------
    likelihood : Likelihood
    X : ndarray of shape (n, n_features)
    tolerance : float, default=1e-8

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import NormalInverseGamma
    >>> from bnpcluster.testing import check_likelihood
    >>> check_likelihood(NormalInverseGamma(), np.random.default_rng(0).normal(size=(6, 2)))
    """
    _contract.check(likelihood, np.asarray(X, float), tolerance)

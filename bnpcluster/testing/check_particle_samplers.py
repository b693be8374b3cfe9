"""Check that particles estimate the evidence and the posterior without bias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior
from bnpcluster.samplers import ParticleSampler
from bnpcluster.testing.enumeration import ExactPosterior, exact_posterior, partition_numbers


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

    Over independent runs, the mean of the evidence, and the mean of the evidence times the weight
    of every partition, agree with the enumeration within four standard errors.

    Parameters
    ----------
    sampler : ParticleSampler
        It should have few particles: any number is unbiased, and few are fast.
    likelihood : Likelihood
    prior : Prior, with fixed values
    X : ndarray of shape (n, n_features), n at most about 6
    error : float, default=0.01
        Relative standard error of the mean evidence at which to stop making runs.
    n_runs : int, default=400
        Smallest number of runs.
    seed : int, default=0

    Returns
    -------
    z_value : float
        The largest difference, in standard errors.

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
    bound = likelihood.guessed().bind(X, 8)
    z_values = []
    for attempt in (1, 2):  # the second attempt is twice as precise
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
    """The evidence times the weight of each partition, over the exact evidence, by run."""
    runs: list[np.ndarray] = []
    ratios: list[float] = []
    error, least = size
    # The limit is for wrong samplers, which may never reach this precision.
    while len(runs) < least or (
        len(runs) < 100 * least and np.std(ratios) > error * np.mean(ratios) * math.sqrt(len(runs))
    ):
        run = sampler.run(bound, prior, exact.partitions.shape[1], rng)
        weights = np.exp(run.log_weight - logsumexp(run.log_weight))
        ratios.append(math.exp(run.log_evidence - exact.log_evidence))
        numbers = partition_numbers(run.labels, exact)
        weights *= ratios[-1]
        runs.append(np.bincount(numbers, weights=weights, minlength=len(exact.partitions)))
    return np.array(runs)


def _worst(masses: np.ndarray, probabilities: np.ndarray) -> tuple[float, float]:
    """Errors of the evidence and of the worst common partition, in standard errors."""
    total = masses.sum(axis=1)
    root = math.sqrt(len(masses))
    evidence = (total.mean() - 1.0) / (total.std() / root)
    common = (masses > 0).sum(axis=0) >= 100  # sums of the others are not normal
    if not common.any():
        return float(evidence), 0.0
    gaps = masses[:, common].mean(axis=0) - probabilities[common]
    z = gaps / (masses[:, common].std(axis=0) / root)
    return float(evidence), float(z[np.argmax(np.abs(z))])

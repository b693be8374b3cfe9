"""The base class of priors on partitions: two tables at fixed n, and updates of the parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bnpcluster._core.components import Component
from bnpcluster.priors.hyper_priors import TINY, Hyper, is_number, slice_step
from bnpcluster.priors.rising_factorials import log_ways

N_HYPER = 200  # draws from the hyper-priors, to average prior probabilities over


class PriorTables(NamedTuple):
    """The tables of p(z) = V[K] prod_b W[n_b] at fixed n, in logarithms.

    Attributes
    ----------
    log_v : ndarray, log V[k] for k = 0 .. k_max (entry 0 is unused, with any finite value)
    log_w : ndarray, log W[m] for m = 0 .. n (entry 0 is unused, too); W[1] = 1
    """

    log_v: np.ndarray
    log_w: np.ndarray


class Prior(Component):
    """Base class of Gibbs-type priors.

    A subclass stores its parameters unchanged in `__init__`, lists those that may have a
    hyper-prior in `hyper`, and defines `tables`, `predictive`, `log_eppf` and `validate`. `values`
    has the current values of these parameters; `at` gives the prior at other values.
    """

    hyper: dict[str, Hyper] = {}
    """The parameters that may be sampled."""

    update_every = 1
    """Iterations between two updates of the sampled parameters."""

    def __init__(self) -> None:
        pass

    @classmethod
    def examples(cls) -> list[Prior]:
        """Instances for the checks, with fixed parameters and with hyper-priors."""
        return [cls()]

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of the parameters that have a hyper-prior."""
        return tuple(self._pairs)

    @property
    def _pairs(self) -> dict[str, tuple[float, float]]:
        """The hyper-priors of the sampled parameters."""
        if "_known_pairs" in self.__dict__:
            return self.__dict__["_known_pairs"]
        names = [name for name in self.hyper if not is_number(getattr(self, name))]
        pairs = {name: self.hyper[name].pair(name, getattr(self, name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair is not None}

    @property
    def values(self) -> dict[str, float]:
        """The current value of every parameter in `hyper`."""
        if hasattr(self, "_values"):
            return dict(self._values)
        return {
            name: float(getattr(self, name)) if is_number(getattr(self, name)) else hyper.start
            for name, hyper in self.hyper.items()
        }

    def at(self, **values: float) -> Prior:
        """The same prior with other current values."""
        other = object.__new__(type(self))  # as copy.copy, at a third of the time
        known = {"_values": {**self.values, **values}, "_known_pairs": self._pairs}
        other.__dict__.update(self.__dict__, **known)
        return other

    @property
    def most_clusters(self) -> float:
        """The largest number of clusters that the prior allows, or infinity."""
        return np.inf

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Values of the sampled parameters, drawn from their hyper-priors."""
        return {name: self.hyper[name].draw(pair, rng) for name, pair in self._pairs.items()}

    def log_hyper_density(self) -> float:
        """Log density of the sampled parameters' current values under their hyper-priors."""
        values = self.values
        return sum(self.hyper[k].log_density(pair, values[k]) for k, pair in self._pairs.items())

    def validate(self) -> None:
        """Raise an error for the first invalid parameter."""
        for name, hyper in self.hyper.items():
            hyper.pair(name, getattr(self, name))
            hyper.check(name, getattr(self, name))

    def tables(self, n: int, k_max: int) -> PriorTables:
        """The two tables for n items and up to k_max blocks."""
        raise NotImplementedError(f"{type(self).__name__} must define tables(n, k_max).")

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """Log urn weights of the next item given the block sizes; the last one is for a new block.

        Their exponentials sum to one.
        """
        raise NotImplementedError(f"{type(self).__name__} must define predictive(sizes).")

    def draw_weights(self, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the population weights of the blocks, and last of all other blocks together.

        Relative to one another, the weights of the blocks have a Dirichlet distribution. The weight
        of all others has a Beta distribution with the first two moments that the urn implies. This
        is exact for a Dirichlet process, a Pitman-Yor process and finitely many components.
        """
        new = float(np.exp(self.predictive(sizes)[-1]))
        later = float(np.exp(self.predictive(np.append(sizes[:-1], sizes[-1] + 1))[-1]))
        others = 0.0
        if new > 0:
            total = later / max(new - later, 1e-12 * new)
            others = rng.beta(max(total * new, TINY), total * (1.0 - new))
        shares = rng.gamma(sizes - self.sigma_now)
        return np.append((1.0 - others) * shares / shares.sum(), others)

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes, at the current values."""
        log_v, log_w = self.tables(int(sizes.sum()), len(sizes))
        return float(log_v[len(sizes)] + log_w[sizes].sum())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Labels of n items, drawn from the prior item by item."""
        labels, sizes = np.zeros(n, np.intp), np.zeros(0, np.intp)
        for i, u in enumerate(rng.random(n)):
            weights = np.exp(self.predictive(sizes)).cumsum()
            k = min(int(np.searchsorted(weights, u * weights[-1], side="right")), len(sizes))
            if k == len(sizes):
                sizes = np.append(sizes, 0)
            sizes[k] += 1
            labels[i] = k
        return labels

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1} at the current values."""
        raise NotImplementedError(f"{type(self).__name__} must define sigma_now.")

    def n_clusters_pmf(self, n: int, k_max: int | None = None) -> np.ndarray:
        """Prior probability of 0, 1, .., k_max clusters among n items.

        Parameters
        ----------
        n : int
        k_max : int or None, default=None
            None: n, but at most 2000; larger numbers are omitted.

        Returns
        -------
        probabilities : ndarray of shape (k_max + 1,)
            Averaged over 200 draws from the hyper-priors, if any.
        """
        k_max = min(n, 2000) if k_max is None else min(k_max, n)
        rng = np.random.default_rng(0)
        ways: dict[float, np.ndarray] = {}
        total = np.zeros(k_max + 1)
        for _ in range(N_HYPER if self.sampled else 1):
            at = self.at(**self.draw(rng)) if self.sampled else self
            sigma = at.sigma_now
            if sigma not in ways:
                ways[sigma] = log_ways(n, k_max, sigma)
            total[1:] += np.exp(at.tables(n, k_max).log_v[1:] + ways[sigma][1:])
        return total / (N_HYPER if self.sampled else 1)

    def expected_clusters(self, n: int) -> float:
        """Prior expectation of the number of clusters among n items (at most 2000 of them)."""
        pmf = self.n_clusters_pmf(n)
        return float(pmf @ np.arange(len(pmf)) / pmf.sum())

    def update(self, sizes: np.ndarray, n: int, rng: np.random.Generator) -> Prior:
        """Redraw the sampled parameters in turn given the block sizes, by slice sampling.

        The target is the probability of the partition times the hyper-prior. The data do not enter,
        because they depend on these parameters only through the partition.
        """
        prior = self
        for name, pair in self._pairs.items():
            hyper = self.hyper[name]

            def log_density(
                x: float,
                prior: Prior = prior,
                name: str = name,
                hyper: Hyper = hyper,
                pair: tuple[float, float] = pair,
            ) -> float:
                at = prior.at(**{name: hyper.from_unconstrained(x)})
                return at.log_eppf(sizes) + hyper.log_density_unconstrained(pair, x)

            start = hyper.to_unconstrained(prior.values[name])
            x = slice_step(log_density, start, hyper.limits, rng)
            prior = prior.at(**{name: hyper.from_unconstrained(x)})
        return prior

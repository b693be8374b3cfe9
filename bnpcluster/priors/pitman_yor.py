"""The Pitman-Yor prior on partitions: many small clusters, with heavy-tailed sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import Message, parameter, shown
from bnpcluster._core.stable_distributions import log_polynomially_tilted
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.hyper_priors import RANGE, Hyper, is_number, solve_expected
from bnpcluster.priors.rising_factorials import log_rising, log_rising_table


class PitmanYor(Prior):
    """Pitman-Yor process: a new cluster opens with probability ``(alpha + k d) / (n + alpha)``.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration (often called theta). A fixed number must be greater than ``-discount``; a
        pair ``(shape, rate)`` is a Gamma hyper-prior; ``"auto"`` is ``(1.0, 0.1)``.
    discount : float or pair, default=0.25
        Discount `d`, 0 <= d < 1; 0 is the Dirichlet process. A pair ``(a, b)`` is a Beta
        hyper-prior.

    References
    ----------
    Teh, Y. W. (2006). A Bayesian interpretation of interpolated Kneser-Ney. Technical report
    TRA2/06, National University of Singapore (the auxiliary variables of `update`).

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import PitmanYor
    >>> prior = PitmanYor(alpha=1.0, discount=0.5)
    >>> np.exp(prior.predictive(np.array([1, 2]))).round(3).tolist()
    [0.125, 0.375, 0.5]
    """

    hyper = {"alpha": Hyper(1.0, "gamma", auto=(1.0, 0.1)), "discount": Hyper(0.25, "beta")}

    def __init__(self, alpha: Any = "auto", discount: Any = 0.25):
        self.alpha = alpha
        self.discount = discount

    @classmethod
    def examples(cls) -> list[Prior]:
        """Fixed values, one of them with a negative alpha, and hyper-priors on both."""
        return [cls(0.7, 0.4), cls(-0.2, 0.5), cls((2.0, 1.0), (2.0, 3.0))]

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        for name, hyper in self.hyper.items():
            hyper.pair(name, getattr(self, name))
        low, high = RANGE["beta"]
        discount, alpha = as_float(self.discount), as_float(self.alpha)
        if is_number(self.discount) and not (discount == 0 or low <= discount <= high):
            text = f" must be 0, or from {low:g} to {high:.8g}; got {shown(self.discount)}."
            raise ValueError(Message(parameter("discount"), text))
        least = -discount if is_number(self.discount) else 0.0
        low, high = RANGE["gamma"]
        if is_number(self.alpha) and not least + low <= alpha <= high:
            text = f" must be greater than {least:g}, by {low:g}, and at most {high:g}; got "
            raise ValueError(Message(parameter("alpha"), text, f"{shown(self.alpha)}."))

    @property
    def update_every(self) -> int:  # type: ignore[override]  # a constant of each instance
        """Every iteration, or every second one if the discount is sampled, which costs O(n)."""
        return 2 if "discount" in self.sampled else 1

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return self.values["discount"]

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] = sum_{i<k} log(alpha + i d) - log (alpha+1)_{n-1}, W[m] = (1-d)_{m-1}."""
        alpha, d = self.values["alpha"], self.values["discount"]
        log_v = np.zeros(k_max + 1)
        log_v[2:] = np.cumsum(np.log(alpha + d * np.arange(1, k_max)))
        return PriorTables(log_v - log_rising(alpha + 1.0, n - 1), log_rising_table(1.0 - d, n))

    @classmethod
    def from_expected_clusters(cls, k: float, n: int, discount: float = 0.25) -> PitmanYor:
        """The process with this discount and the fixed alpha that gives k expected clusters.

        Parameters
        ----------
        k : float
            Greater than the number for alpha = 0, and less than n.
        n : int
            Number of items.
        discount : float, default=0.25

        Returns
        -------
        PitmanYor

        Examples
        --------
        >>> from bnpcluster.priors import PitmanYor
        >>> prior = PitmanYor.from_expected_clusters(k=10, n=100, discount=0.25)
        >>> round(prior.expected_clusters(100), 6)
        10.0
        """
        alpha = solve_expected(lambda alpha: cls(alpha, discount).expected_clusters(n), k, n)
        return cls(alpha, discount)

    def expected_clusters(self, n: int) -> float:
        """Prior expectation of the number of clusters among n items."""
        alpha, d = self.values["alpha"], self.values["discount"]
        if self.sampled or d == 0.0 or alpha <= 0.0:
            return super().expected_clusters(n)
        ratio = np.log1p(d / (alpha + np.arange(n))).sum()  # log (alpha+d)_n / (alpha)_n
        return float(alpha / d * np.expm1(ratio))

    def log_total_mass(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Logs of draws of the total mass, with density t^-alpha f(t), f the d-stable density."""
        return log_polynomially_tilted(self.values["alpha"], self.values["discount"], size, rng)

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """(m - d) / (n + alpha) for a block of m items, (alpha + k d) / (n + alpha) for a new."""
        alpha, d = self.values["alpha"], self.values["discount"]
        if len(sizes) == 0:
            return np.zeros(1)
        new = alpha + d * len(sizes)
        return np.log(np.append(sizes - d, new) / (np.sum(sizes) + alpha))

    def update(self, sizes: np.ndarray, n: int, rng: np.random.Generator) -> Prior:
        """Redraw the sampled parameters given the block sizes, with auxiliary variables.

        Each factor alpha + i d or j - d of the partition's probability is a sum of two terms, one
        of which is drawn. Given these draws, alpha is Gamma and d is Beta (Teh 2006).
        """
        prior: Prior = self
        alpha, d = self.values["alpha"], self.values["discount"]
        k = np.arange(1, len(sizes))
        from_alpha = int((rng.random(len(k)) * (alpha + d * k) < alpha).sum())
        if "alpha" in self._pairs:
            shape, rate = self._pairs["alpha"]
            if n > 1:
                rate -= math.log(rng.beta(alpha + 1.0, n - 1.0))
            drawn = self.hyper["alpha"].draw((shape + from_alpha, rate), rng)
            prior = prior.at(alpha=drawn)
        if "discount" in self._pairs:
            a, b = self._pairs["discount"]
            j = np.concatenate([np.arange(1.0, m) for m in sizes])
            from_rest = int((rng.random(len(j)) * (j - d) >= j - 1.0).sum())
            pair = a + len(k) - from_alpha, b + from_rest
            prior = prior.at(discount=self.hyper["discount"].draw(pair, rng))
        return prior

"""Mixtures of finite mixtures: the number of components has a prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bnpcluster._core import messages
from bnpcluster._core.arguments import as_float
from bnpcluster._core.messages import Action, Message, parameter, shown
from bnpcluster.priors.base import Prior, PriorTables
from bnpcluster.priors.component_series import log_v
from bnpcluster.priors.hyper_priors import TINY, Hyper, is_number
from bnpcluster.priors.rising_factorials import log_rising_excess, log_rising_table

LEAST, MOST_RATE = 1e-6, 1e6  # what the series can hold
NAMED = {"gnedin": 0.5, "poisson": 1.0, "geometric": 0.1}


class MFM(Prior):
    """Mixture of finite mixtures: M components, M random, with Dirichlet(g, ..., g) weights.

    Parameters
    ----------
    gamma : float or pair, default=1.0
        Dirichlet weight of the components, `g`. A pair ``(shape, rate)`` is a Gamma hyper-prior.
    n_components_prior : str, (str, float) or array, default="gnedin"
        Prior of M = 1, 2, ...: ``("gnedin", c)`` with 0 < c < 1, very heavy-tailed;
        ``("poisson", rate)`` for M - 1; ``("geometric", p)``; or the probabilities of 1, 2, ..., as
        an array. The bare names mean ``c = 0.5``, ``rate = 1`` and ``p = 0.1``.

    References
    ----------
    Miller, J. W. and Harrison, M. T. (2018). Mixture models with a prior on the number of
    components. Journal of the American Statistical Association 113, 340-356.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.priors import MFM
    >>> prior = MFM(gamma=1.0, n_components_prior=("gnedin", 0.5))
    >>> np.exp(prior.predictive(np.array([3, 2, 1]))).round(4).tolist()
    [0.359, 0.2692, 0.1795, 0.1923]
    """

    hyper = {"gamma": Hyper(1.0, "gamma")}
    update_every = 16

    def __init__(self, gamma: Any = 1.0, n_components_prior: Any = "gnedin"):
        self.gamma = gamma
        self.n_components_prior = n_components_prior

    @classmethod
    def examples(cls) -> list[Prior]:
        """Every kind of prior of M, and a hyper-prior."""
        return [
            cls(),
            cls(0.6, ("gnedin", 0.7)),
            cls(0.8, ("poisson", 2.0)),
            cls(1.0, ("geometric", 0.3)),
            cls(0.7, [0.1, 0.2, 0.3, 0.4]),
            cls((2.0, 2.0), "poisson"),
        ]

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        super().validate()
        self._components_prior()

    def _components_prior(self) -> tuple[str, Any]:
        """Name and parameter of the prior of M; for an array, the logs of its entries."""
        given = self.n_components_prior
        if isinstance(given, str) and given in NAMED:
            return given, NAMED[given]
        if isinstance(given, tuple) and len(given) == 2 and given[0] in list(NAMED):
            name, value = given
            high = MOST_RATE if name == "poisson" else 1.0 - LEAST
            if not is_number(value) or not LEAST <= as_float(value) <= high:
                raise ValueError(
                    f"{name!r} needs a parameter between 0 and {math.ceil(high)}, from {LEAST:g} "
                    f"to {high:.8g}; got {shown(value)}."
                )
            return name, float(value)
        if isinstance(given, (list, tuple, np.ndarray)) and getattr(given, "ndim", 1) == 1:
            # Each is compared before it becomes a float: an integer may be too large for one.
            p = np.array([float(v) if is_number(v) and 0 <= v <= 1 else np.nan for v in given])
            if len(p) and abs(p.sum() - 1) < 1e-8:
                with np.errstate(divide="ignore"):
                    return "array", tuple(np.log(p / p.sum()))
        raise ValueError(
            Message(
                parameter("n_components_prior"),
                " must be 'gnedin', 'poisson' or 'geometric', a pair ",
                Action("(name, parameter)", "such as poisson,1.0"),
                ", or probabilities of 1, 2, ... that sum to one; got ",
                messages.given(given),
                ".",
            )
        )

    @property
    def most_clusters(self) -> float:
        """The largest possible number of components."""
        name, parameter = self._components_prior()
        return np.flatnonzero(np.isfinite(parameter))[-1] + 1 if name == "array" else np.inf

    @property
    def sigma_now(self) -> float:
        """The sigma of W[m] = (1 - sigma)_{m-1}."""
        return -self.values["gamma"]

    def tables(self, n: int, k_max: int) -> PriorTables:
        """Log V[k] by its series, log W[m] = log (g+1)_{m-1}."""
        g, values = self.values["gamma"], np.full(k_max + 1, -np.inf)
        k = np.arange(1, min(k_max, n, self.most_clusters) + 1, dtype=np.intp)
        values[0] = 0.0
        values[k] = log_v(n, tuple(k.tolist()), g, *self._components_prior())
        return PriorTables(values, log_rising_table(1.0 + g, n))

    def draw_components(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the number of components, as floats: Gnedin's prior is unbounded."""
        name, parameter = self._components_prior()
        if name == "array":
            return 1.0 + rng.choice(len(parameter), size=size, p=np.exp(parameter))
        if name == "poisson":
            return 1.0 + rng.poisson(parameter, size)
        # Gnedin's prior is geometric, with a success probability that is Beta(c, 1 - c).
        p = parameter if name == "geometric" else rng.beta(parameter, 1.0 - parameter, size)
        return np.ceil(np.log1p(-rng.random(size)) / np.log1p(-np.clip(p, TINY, 1.0 - 1e-16)))

    def predictive(self, sizes: np.ndarray) -> np.ndarray:
        """The ratios of V at n + 1 and at n, times m + g for a block of m items."""
        n, k = int(np.sum(sizes)), len(sizes)
        if n == 0:
            return np.zeros(1)
        g, components = self.values["gamma"], self._components_prior()
        now = log_v(n, (k,), g, *components)[0]
        then = log_v(n + 1, (k, k + 1), g, *components)
        return np.append(np.log(sizes + g) + then[0], then[1]) - now

    def log_eppf(self, sizes: np.ndarray) -> float:
        """Log p(partition) by its block sizes."""
        g, k = self.values["gamma"], len(sizes)
        log_w = log_rising_excess(np.array(1.0 + g), sizes - 1.0) + (sizes - 1) * math.log1p(g)
        now = log_v(int(sizes.sum()), (k,), g, *self._components_prior())[0]
        return float(now + log_w.sum())

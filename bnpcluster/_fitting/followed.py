"""What a fit follows from iteration to iteration, to tell when its chains are long enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.state import State
from bnpcluster.diagnostics.agreement import candidates, neighbour_pairs, togetherness

N_ROWS = 100
N_SHARES = 3


class Followed(NamedTuple):
    """The rows and the pairs that a fit follows; they depend on the data alone.

    Attributes
    ----------
    rows : ndarray of int
        Rows whose mean log density is followed; none for networks.
    pairs : ndarray of int, shape (n_pairs, 2)
        Pairs of near neighbours: whether they share a cluster is followed.
    """

    rows: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, X: Any, likelihood: Any) -> Followed:
        """What to follow in a fit of these data."""
        some = candidates(X.shape[0])
        if not likelihood.is_of_rows:
            return cls(some[:0], neighbour_pairs(some, None))
        rows = np.unique(np.linspace(0, X.shape[0] - 1, N_ROWS).round().astype(np.intp))
        return cls(rows, neighbour_pairs(some, likelihood.features(X[some])))

    def density(self, state: State) -> dict[str, float]:
        """The trace of the density, if it is followed."""
        return {"log_density": state.mean_log_density(self.rows)} if len(self.rows) else {}

    def of_labels(self, labels: np.ndarray) -> np.ndarray:
        """The shares of the largest clusters, then whether each pair is together."""
        sizes = np.sort(np.bincount(labels))[::-1]
        largest = np.ones(N_SHARES)
        largest[: len(sizes)] = sizes[:N_SHARES].cumsum() / len(labels)
        return np.append(largest, togetherness(labels, self.pairs))

    def of_state(self, state: State) -> np.ndarray:
        """The level and the parameters of the prior, then what is followed of the labels."""
        values = state.prior.values
        level = self.density(state).get("log_density")
        scalars = [
            state.log_posterior() if level is None else level,
            *(values[name] for name in state.prior.sampled),
        ]
        return np.append(scalars, self.of_labels(state.labels))

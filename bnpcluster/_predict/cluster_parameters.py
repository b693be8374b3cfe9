"""Parameters of clusters: their weights, means, covariances, rates or probabilities, as draws.

Given a draw of the partition, the parameters of every block are drawn from their posterior. What a
cluster of the point estimate is like under the draw is then an average over the rows of the
cluster: each row has the parameters of its own block. So no labels switch between draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core import arguments
from bnpcluster._fitting.fitted import Fitted, prior_of
from bnpcluster._predict.predictive import load, new_workspace, served
from bnpcluster.partitions.parameter_draws import ParameterDraws, each

MOST_DRAWS = 400  # by default, so many draws of the posterior get parameters


class ParameterSource:
    """What draws parameters: the record of a fit, and the draws that were asked for by default."""

    def __init__(self, fitted: Fitted, names: Any):
        self._fitted, self._names = fitted, names

    @property
    def items(self) -> NDArray[np.intp] | None:
        """Numbers of the rows that the items of the draws are, if rows were left out."""
        observed = self._fitted.observed
        return None if observed is None else observed.numbers

    @cached_property
    def default(self) -> ParameterDraws:
        """Draws of the parameters of the clusters, with the default settings."""
        return self.draws(MOST_DRAWS, 0)

    def draws(self, max_draws: int | None, random_state: Any) -> ParameterDraws:
        """Draws of the parameters of the clusters."""
        fitted = served(self._fitted, None)
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        posterior, labels = fitted.posterior, fitted.cluster_labels
        chosen = spaced(posterior.weights.shape, max_draws)
        found = [of_clusters(fitted, r, theta, labels) for r, theta in _drawn(fitted, chosen, rng)]
        weights = posterior.weights.ravel()[chosen].reshape(posterior.n_chains, -1)
        draws = {
            name: each(
                lambda *values: np.array(values).reshape(*weights.shape, *values[0].shape),
                *(one[name] for one in found),
            )
            for name in found[0]
        }
        return ParameterDraws(self._named(draws, 3), weights / weights.sum())

    def blocks(self, chain: int, draw: int, random_state: Any) -> dict[str, Any]:
        """Parameters of the blocks of one draw; the last weight is that of all other blocks."""
        fitted = served(self._fitted, None)
        rng = np.random.default_rng(arguments.seed_sequence(random_state))
        shape = fitted.posterior.weights.shape
        r = int(np.ravel_multi_index((chain, draw), shape))
        ((_, theta),) = _drawn(fitted, np.array([r]), rng)
        return self._named(theta, 1)

    def _named(self, draws: dict[str, Any], axis: int) -> dict[str, Any]:
        """Parameters with the constant columns that were left out, and with names of columns."""
        constants, names = self._fitted.constants, self._names
        result: dict[str, Any] = {}
        if constants is not None:
            names = constants.names(names)
        for name, values in draws.items():
            if isinstance(values, dict):
                result[name] = {j if names is None else names[j]: v for j, v in values.items()}
            else:
                result[name] = _with_constants(name, values, axis, constants)
        return result


def spaced(shape: tuple[int, int], most: int | None) -> NDArray[np.intp]:
    """Numbers of at most `most` draws, evenly spaced and as many in each chain."""
    n_chains, n_draws = shape
    if most is not None:
        wanted = max(arguments.count("max_draws", most, 1) // n_chains, 1)
        n_draws = min(n_draws, wanted)
    within = ((np.arange(n_draws) + 0.5) * (shape[1] / n_draws)).astype(np.intp)
    return (np.arange(n_chains)[:, None] * shape[1] + within).ravel()


def _drawn(
    fitted: Fitted, draws: NDArray[np.intp], rng: np.random.Generator
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Some draws, and the weights and the parameters of their blocks."""
    bound, partition = new_workspace(fitted)
    for r in draws:
        load(fitted, bound, partition, r)
        sizes = fitted.sizes(r)
        weights = prior_of(fitted.prior, fitted.posterior, r).draw_weights(sizes, rng)
        theta = fitted.likelihood.parameters(bound, np.arange(len(sizes)), rng)
        yield int(r), {"weights": weights, **theta}


def of_clusters(
    fitted: Fitted, r: int, theta: dict[str, Any], labels: NDArray[np.int64]
) -> dict[str, Any]:
    """Averages over the rows of every cluster of the parameters of their blocks.

    Where most rows are elsewhere, they are over the reference rows, which are in the first blocks.
    """
    blocks = fitted.posterior.labels.reshape(-1, fitted.posterior.n_items)[r]
    common = np.zeros((labels.max() + 1, blocks.max() + 1))
    np.add.at(common, (labels[labels >= 0], blocks[labels >= 0]), 1.0)
    share = common / np.maximum(common.sum(axis=1, keepdims=True), 1.0)
    n_blocks = common.shape[1]
    result: dict[str, Any] = {"weights": common / np.bincount(blocks) @ theta["weights"][:n_blocks]}
    theta = {name: each(lambda v: v[:n_blocks], values) for name, values in theta.items()}
    for name, values in theta.items():
        if name in ("covariances", "variances"):
            within = each(lambda v: np.tensordot(share, v, axes=1), values)
            between = each(_between_rows(share, values), theta["means"])
            result[name] = each(np.add, within, between)
        elif name != "weights":
            result[name] = each(lambda v: np.tensordot(share, v, axes=1), values)
    return result


def _between_rows(share: NDArray, spread: Any) -> Callable[[NDArray], NDArray[np.float64]]:
    """A function of means: their variances, or covariances, over the rows of every cluster."""

    def between(means: NDArray) -> NDArray[np.float64]:
        centred = means - np.tensordot(share, means, axes=1)[:, None]
        if isinstance(spread, dict) or spread.ndim == 2:
            return np.einsum("cb,cb...->c...", share, centred**2)
        return np.einsum("cb,cbi,cbj->cij", share, centred, centred)

    return between


def _with_constants(name: str, values: NDArray, axis: int, constants: Any) -> NDArray:
    """Means and covariances with the constant columns that were left out of the fit."""
    if constants is None or not len(constants.columns) or values.ndim == axis:
        return values
    kept, columns = constants.kept, constants.columns
    n = len(kept) + len(columns)
    result = np.zeros((*values.shape[:axis], *(n for _ in values.shape[axis:])))
    inside = np.ix_(*(kept for _ in values.shape[axis:]))
    result[(..., *inside)] = values
    if name == "means":
        result[..., columns] = constants.values
    return result

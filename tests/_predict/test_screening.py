"""New rows are screened by bounds, which leave out only what is negligible."""

import math

import numpy as np
import pytest

from bnpcluster._core.operations import NEGLIGIBLE, log_weights
from bnpcluster._core.screening import log_weights_of_row, new_screen, screen_rows
from bnpcluster._core.vectors import ROWS
from bnpcluster._fitting.fitted import Fitted, urn_weights
from bnpcluster._predict.kernels import load_draw
from bnpcluster._predict.predictive import new_workspace, predict
from bnpcluster.likelihoods import LIKELIHOODS, NormalInverseWishart
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess

EXAMPLES = [
    pytest.param(likelihood, X, id=f"{name}-{j}")
    for name, cls in LIKELIHOODS.items()
    for j, (likelihood, X) in enumerate(cls.examples(np.random.default_rng(7)))
]


def planted(d, n=300, n_clusters=12, spread=6.0):
    """Rows of clusters in d columns, correlated, and the clusters; small ones are among them."""
    rng = np.random.default_rng(d)
    labels = rng.choice(n_clusters, n, p=rng.dirichlet(np.ones(n_clusters)))
    labels = np.unique(labels, return_inverse=True)[1]
    mix = rng.normal(size=(d, d))
    X = spread * rng.normal(size=(n_clusters, d))[labels] + rng.normal(size=(n, d)) @ mix
    return X, labels


def loaded(likelihood, X, labels):
    """A fit of one draw, with bound data and a partition that hold the draw."""
    posterior = Posterior(labels[None, None])
    urn = urn_weights(DirichletProcess(1.0), posterior)
    fitted = Fitted(likelihood, likelihood.bind(X), posterior, urn, labels, X=X)
    bound, partition = new_workspace(fitted)
    load_draw(bound, partition, labels, urn[0])
    return fitted, bound, partition


def listed(count, partition):
    return dict(zip(partition.slots[:count].tolist(), partition.weights[:count], strict=True))


def check(likelihood, X, labels, rows):
    """Bounds are bounds, exact weights are listed, and all others are negligible."""
    _, bound, partition = loaded(likelihood, X, labels)
    new, screen = likelihood.rows(bound, rows), new_screen(len(partition.sizes))
    left_out = 0
    for start in range(0, len(rows), ROWS):
        stop = min(start + ROWS, len(rows))
        screen.bounds[:] = math.inf
        screen_rows(new, start, stop, partition, screen)
        for i in range(start, stop):
            full = listed(log_weights(new, i, -1, 1.0, math.inf, partition), partition)
            bounds = screen.bounds[:, i - start]
            for k in range(partition.n_blocks[0]):
                assert bounds[k] >= full[k] - 1e-9
            for slack in (3.0, NEGLIGIBLE, math.inf):
                some = listed(
                    log_weights_of_row(new, i, slack, partition, screen, i - start), partition
                )
                for k, weight in some.items():
                    assert weight == pytest.approx(full[k], rel=1e-9)
                for k in set(full) - set(some):
                    assert full[k] <= max(full.values()) - slack + 1e-9
                    left_out += 1
    return left_out


@pytest.mark.parametrize(("likelihood", "X"), EXAMPLES)
def test_every_likelihood_lists_what_matters(likelihood, X):
    check(likelihood, X, np.arange(len(X)) % 2, X)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 20])
def test_blocks_of_correlated_columns(d):
    X, labels = planted(d)
    rng = np.random.default_rng(0)
    rows = np.vstack([X[:70], 20.0 * rng.normal(size=(40, d)), np.full((1, d), 1e8)])
    assert check(NormalInverseWishart(), X, labels, rows) > 0


@pytest.mark.parametrize("d", [2, 5, 9])
def test_predictions_are_those_of_all_blocks(d):
    """Rows in clusters, between clusters and far from them, by one sum over all blocks."""
    X, labels = planted(d)
    fitted, bound, partition = loaded(NormalInverseWishart(), X, labels)
    rng = np.random.default_rng(1)
    rows = np.vstack([X[:70] + 0.1, 20.0 * rng.normal(size=(30, d)), np.full((1, d), 1e4)])
    new, found = fitted.likelihood.rows(bound, rows), predict(fitted, rows)
    for i in range(len(rows)):
        full = listed(log_weights(new, i, -1, 1.0, math.inf, partition), partition)
        logs = np.array([full[k] for k in range(labels.max() + 2)])
        density = np.exp(logs - logs.max())
        log_density = logs.max() + np.log(density.sum())
        assert found.log_density[i] == pytest.approx(log_density, abs=1e-10)
        assert found.novelty[i] == pytest.approx(density[-1] / density.sum(), abs=1e-12)
        own = np.exp(logs[:-1] - logs[:-1].max())
        np.testing.assert_allclose(found.membership[i], own / own.sum(), atol=1e-12)

"""Comparison of two fitted partitions of the same items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

PAIRS = 200  # pairs of draws that are compared
LEVEL = 0.9  # of the intervals


class Comparison(NamedTuple):
    """How far two models agree on who is with whom, by the adjusted Rand index.

    It is 1 for equal partitions, and 0 on average for partitions at random.

    Attributes
    ----------
    estimates : float
        Between the labels of the two models.
    mean, low, high : float
        Between a draw of one model and a draw of the other: the mean, and the interval of
        probability 0.9.
    within_a, within_b : float
        The mean between two draws of one model. If `mean` is about as large, the models differ no
        more than the draws of each.
    """

    estimates: float
    mean: float
    low: float
    high: float
    within_a: float
    within_b: float


def compare(model_a: Any, model_b: Any) -> Comparison:
    """Compare the partitions of two fitted models of the same rows, with their uncertainty.

    Parameters
    ----------
    model_a, model_b : fitted estimators
        Models of this package that were fitted on the same rows, in the same order.

    Returns
    -------
    Comparison
        A named tuple of adjusted Rand indices: ``estimates`` between the labels of the two models;
        ``mean``, ``low`` and ``high`` between a draw of one model and a draw of the other, with
        their interval of probability 0.9; ``within_a`` and ``within_b`` between two draws of one
        model. If ``mean`` is about as large as these, the models differ no more than the draws
        of each.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture, compare
    >>> X = np.repeat([[0.0], [9.0]], 20, axis=0) + np.random.default_rng(0).random((40, 1))
    >>> one, two = (DPMixture(random_state=seed).fit(X) for seed in (0, 1))
    >>> compare(one, two).estimates
    1.0
    """
    for model in (model_a, model_b):
        if not hasattr(model, "fit"):
            raise TypeError(
                f"compare needs two fitted models, got {type(model).__name__}: "
                "sklearn.metrics.adjusted_rand_score compares two arrays of labels."
            )
        check_is_fitted(model)
    if len(model_a.labels_) != len(model_b.labels_):
        raise ValueError(
            f"The models were fitted on {len(model_a.labels_)} and {len(model_b.labels_)} rows: "
            "fit both on the same rows, in the same order."
        )
    one, two = _draws(model_a), _draws(model_b)
    between = np.array([adjusted_rand_score(a, b) for a, b in zip(one, two, strict=True)])
    low, high = np.quantile(between, [0.5 * (1 - LEVEL), 0.5 * (1 + LEVEL)])
    return Comparison(
        estimates=float(adjusted_rand_score(model_a.labels_, model_b.labels_)),
        mean=float(between.mean()),
        low=float(low),
        high=float(high),
        within_a=_within(one),
        within_b=_within(two),
    )


def _draws(model: Any) -> np.ndarray:
    """Labels of all rows in some draws, chosen by their weights in random order."""
    posterior, fitted = model.posterior_, model._fitted
    rng = np.random.default_rng(0)
    weights = posterior.weights.ravel()
    # Systematic choice: as even as the weights allow. The order is random, so that pairs are.
    points = (rng.random() + np.arange(PAIRS)) / PAIRS * weights.sum()
    chosen = np.minimum(np.searchsorted(weights.cumsum(), points), len(weights) - 1)
    labels = posterior.labels.reshape(len(weights), -1)[rng.permutation(chosen)]
    return np.array([fitted.all_rows(row.astype(int)) for row in labels])


def _within(draws: np.ndarray) -> float:
    """The mean index between draws of one model."""
    pairs = zip(draws[::2], draws[1::2], strict=True)
    return float(np.mean([adjusted_rand_score(a, b) for a, b in pairs]))

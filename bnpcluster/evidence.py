"""Comparison of models by their evidence."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted


class BayesFactor(NamedTuple):
    """The logarithm of a Bayes factor, and its Monte Carlo error.

    Attributes
    ----------
    log : float
        log p(data | a) - log p(data | b), in nats; positive values favour a.
    standard_error : float
        Monte Carlo standard error of `log`.
    """

    log: float
    standard_error: float


def bayes_factor(model_a: Any, model_b: Any) -> BayesFactor:
    """How strongly the data favour one model over another.

    Parameters
    ----------
    model_a, model_b : fitted estimators with `log_evidence_`
        Fitted by samplers that estimate the evidence ("urn_smc", "annealed_smc", "auxiliary_smc"),
        on the same rows, in independent runs.

    Returns
    -------
    BayesFactor
        The logarithm, and its standard error.

    Notes
    -----
    The hyper-parameters of the likelihood must be those of the same model. Values of "auto" depend
    only on the data, so they are the same for the same data. This also means that the prior has
    seen the data: the Bayes factor compares models that share this guess. Give numbers to compare
    priors that were chosen beforehand. The evidence depends as much on the priors of the cluster
    parameters as on the prior of the partition.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture, MFMMixture, bayes_factor
    >>> X = np.random.default_rng(0).normal(size=(30, 1))
    >>> few = MFMMixture(sampler="urn_smc", n_particles=200, random_state=0).fit(X)
    >>> many = DPMixture(alpha=20.0, sampler="urn_smc", n_particles=200, random_state=1).fit(X)
    >>> bayes_factor(few, many).log > 3
    True
    """
    for model in (model_a, model_b):
        check_is_fitted(model)
        if not hasattr(model, "log_evidence_"):
            raise ValueError(
                f"{type(model).__name__} was fitted with sampler {model.sampler!r}, which does not "
                "estimate the evidence: use 'urn_smc', 'annealed_smc' or 'auxiliary_smc'."
            )
    rows_a, rows_b = model_a._fitted.X, model_b._fitted.X
    if not np.array_equal(rows_a, rows_b, equal_nan=True):
        raise ValueError("Both models must be fitted on the same rows, in the same order.")
    difference = model_a.log_evidence_ - model_b.log_evidence_
    error = math.hypot(model_a.log_evidence_se_, model_b.log_evidence_se_)
    return BayesFactor(difference, error)

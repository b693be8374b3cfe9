"""Tables of mutations and of their prevalences, for mixtures with `likelihood="pyclone"`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bnpcluster._core.arguments import number_between
from bnpcluster._core.partition import new_partition
from bnpcluster._core.state import grown_bound
from bnpcluster._estimators.mixture import Mixture
from bnpcluster._predict.kernels import add_posteriors, load_draw, set_overlap
from bnpcluster.likelihoods import PyClone
from bnpcluster.likelihoods.pyclone.tables import index_rows, warn_of_purity, wide
from bnpcluster.plotting.common import with_rest_last

__all__ = ["mutations", "prevalences"]


def mutations(table: Any, *, error_rate: float = 1e-3) -> Any:
    """One row per mutation, from a tidy table with one row per mutation and sample.

    Mixtures do this themselves. Use it to inspect their input, or to select, join and store rows.

    Parameters
    ----------
    table : data frame
        With the columns ``mutation_id, sample_id, ref_counts, alt_counts, normal_cn, major_cn,
        minor_cn, tumour_content``. A missing column ``tumour_content`` is taken to be 1, with a
        warning. A row without counts is a sample that lacks the mutation.
    error_rate : float, default=1e-3
        Sequencing error rate. A column ``error_rate``, if there is one, must have this value.

    Returns
    -------
    rows : data frame of the same kind
        Mutations in the order of first appearance, with six columns per sample. Entries are NaN
        where a sample lacks the mutation. Samples are sorted by name.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnpcluster.pyclone import mutations
    >>> counts = {"ref_counts": [60, 80, 90], "alt_counts": [40, 20, 10]}
    >>> copies = dict.fromkeys(["normal_cn"], [2] * 3)
    >>> copies |= dict.fromkeys(["major_cn", "minor_cn", "tumour_content"], [1] * 3)
    >>> keys = {"mutation_id": ["m1", "m1", "m2"], "sample_id": ["a", "b", "a"]}
    >>> mutations(pd.DataFrame({**keys, **counts, **copies}))[["a alt_counts", "b alt_counts"]]
       a alt_counts  b alt_counts
    0          40.0          20.0
    1          10.0           NaN
    """
    rows = wide(table, error_rate)
    warn_of_purity(table)
    return rows


def prevalences(model: Mixture, table: Any, *, level: float = 0.95) -> Any:
    """The table of a fit, with the posterior of each mutation in each sample.

    The prevalence of a mutation is that of its cluster, averaged over the draws of the clusters.

    Parameters
    ----------
    model : mixture
        Fitted to `table` with ``likelihood="pyclone"``.
    table : data frame
        Tidy table with one row per mutation and sample.
    level : float, default=0.95
        Probability of the credible intervals.

    Returns
    -------
    table : data frame of the same kind
        The given rows and columns, and ``cluster_id`` (as in `labels_`), ``cellular_prevalence``,
        ``cellular_prevalence_std``, ``cellular_prevalence_lower`` and ``_upper`` (the interval with
        equal tails), and ``cluster_assignment_prob``: the mean over draws of the share of the
        mutation's cluster that is in `cluster_id`. A mutation without any reads has the
        ``cluster_id`` -1, and NaN.

    Notes
    -----
    In a sample that lacks the mutation, the prevalence depends on the other mutations of its
    cluster. To get it, add a row with zero reads to the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.pyclone import prevalences
    >>> table = pd.DataFrame({"mutation_id": [f"m{i}" for i in range(8)], "sample_id": "a"})
    >>> table["ref_counts"] = [60, 62, 59, 61, 90, 88, 91, 89]
    >>> table["alt_counts"] = 100 - table["ref_counts"]
    >>> table = table.assign(normal_cn=2, major_cn=1, minor_cn=1, tumour_content=1.0)
    >>> model = DPMixture(likelihood="pyclone", random_state=0).fit(table)
    >>> found = prevalences(model, table)
    >>> found["cluster_id"].tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    >>> found["cellular_prevalence"].round(1).tolist()[::7]
    [0.8, 0.2]
    """
    check_is_fitted(model)
    likelihood = model._fitted.likelihood
    if not isinstance(likelihood, PyClone):
        raise TypeError(
            f"The model was fitted with {likelihood!r}: prevalences needs likelihood='pyclone'."
        )
    level = number_between("level", level, 0.0, 1.0)
    at, rows = index_rows(table), np.asarray(wide(table, likelihood.error_rate))
    if not np.array_equal(rows, model._fitted.all_rows(model._fitted.X, np.nan), equal_nan=True):
        raise ValueError(
            "table differs from the table of the fit: pass the one that the model was fitted to."
        )
    posterior, agreement = _posterior_averages(model)
    grid = np.linspace(0.0, 1.0, likelihood.n_grid)
    mean = posterior @ grid
    tail = (1.0 - level) / 2
    below = posterior.cumsum(axis=2)
    by_pair = {
        "cellular_prevalence": mean,
        "cellular_prevalence_std": np.sqrt(np.maximum(posterior @ grid**2 - mean**2, 0.0)),
        "cellular_prevalence_lower": grid[(below <= tail).sum(axis=2)],
        "cellular_prevalence_upper": grid[(below < 1.0 - tail).sum(axis=2)],
    }
    new = {"cluster_id": model.labels_[at.mutation]}
    new |= {name: values[at.mutation, at.sample] for name, values in by_pair.items()}
    new["cluster_assignment_prob"] = agreement[at.mutation]
    if hasattr(table, "assign"):
        return table.assign(**new)  # keeps the index of a pandas frame
    return type(table)({**{name: table[name] for name in table.columns}, **new})


def _posterior_averages(model: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Averages over the draws, by mutation: its posterior on the grid by sample, its agreement.

    Given a draw, the prevalence of a mutation is that of its block, whose posterior is known
    exactly. The agreement is the share of its block that is in its cluster of the point estimate.
    """
    fitted = model._fitted
    clusters = with_rest_last(fitted.cluster_labels)
    capacity, n = fitted.log_urn.shape[1], fitted.posterior.n_items
    bound, partition = grown_bound(fitted.bound, capacity), new_partition(n, capacity)
    overlap = np.zeros((capacity, int(clusters.max()) + 1))
    total = np.zeros((n, *bound.posterior.shape[1:]))
    agreement = np.zeros(n)
    labels, weights = fitted.posterior.labels.reshape(-1, n), fitted.posterior.weights.ravel()
    for r in np.flatnonzero(weights):
        load_draw(bound, partition, labels[r], fitted.log_urn[r])
        set_overlap(labels[r], clusters, overlap, partition.sizes)
        add_posteriors(bound, partition.labels, weights[r], total)
        agreement += weights[r] * overlap[labels[r], clusters]
    total = total[..., : bound.n_grid]
    total = total / total.sum(axis=2, keepdims=True)
    return fitted.all_rows(total, np.nan), fitted.all_rows(agreement, np.nan)

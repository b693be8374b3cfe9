"""Kernels of independent columns of categories, or of 0/1 values, with missing entries (NaN).

The categories of all columns have consecutive numbers, and an item is the list of its categories. A
missing entry is not in the list, adds nothing to the counts of its column, and has factor 1 in the
predictive. This integrates it out. A category of n of the m items observed in its column has the
weight log(prior + n) - log(total + m). See `terms` for the predictives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import add, clear, copy, log_marginal, padded, pool, remove
from bnpcluster.likelihoods.discrete.learned_concentrations import (
    ConcentrationPrior,
    register_learned,
)
from bnpcluster.likelihoods.discrete.terms import sums_terms
from bnpcluster.likelihoods.log_tables import (
    Table,
    log_at,
    log_gamma_at,
    retabulate,
    tabulate,
    tabulate_each,
)


@sums_terms
class ObservedTerms(NamedTuple):
    """Lists of observed categories, tables of the prior, and per slot counts and predictive."""

    start: np.ndarray
    terms: np.ndarray  # the observed categories of an item
    n_categories: np.ndarray  # by column
    first: np.ndarray  # by column: the number of its first category
    column: np.ndarray  # by category
    hyper: ConcentrationPrior
    prior: Table  # the prior count of every category
    total: Table  # its sum over the categories of a column
    size: np.ndarray  # by slot and column: observed entries
    counts: np.ndarray  # by slot and category
    weight: np.ndarray  # by category and slot
    bias: np.ndarray  # always zero, because every column has its own size
    weight_without: np.ndarray  # by slot and category
    bias_without: np.ndarray

    @property
    def slot_axis(self) -> dict[str, Any]:
        """The arrays that a chain owns, and the axis of their slots."""
        first = ("size", "counts", "bias", "weight_without", "bias_without")
        own = dict.fromkeys(("hyper", "prior", "total") if self.hyper.is_learned else ())
        return {**dict.fromkeys(first, 0), "weight": 1, **own}

    @property
    def n_items(self) -> int:
        """The number of rows."""
        return len(self.start) - 1


def observed_lists(codes, n_categories):
    """`start` and `terms` of rows of codes with NaN for missing entries."""
    observed = ~np.isnan(codes)
    first = np.cumsum(n_categories) - n_categories
    start = np.zeros(len(codes) + 1, np.intp)
    np.cumsum(observed.sum(axis=1), out=start[1:])
    return start, (codes + first)[observed].astype(np.uint32)


def bind_observed_terms(codes, n_categories, prior, hyper, capacity):
    """Rows of codes and `capacity` slots; `prior` has the prior counts of all categories."""
    n, d = codes.shape
    table = tabulate_each if hyper.is_learned else tabulate
    n_terms, width = len(prior), padded(capacity)
    first = np.cumsum(n_categories) - n_categories
    return ObservedTerms(
        *observed_lists(codes, n_categories),
        n_categories,
        first,
        np.repeat(np.arange(d), n_categories),
        hyper,
        table(prior, n + 2),
        table(np.add.reduceat(prior, first), n + 2),
        size=np.zeros((width, d), np.intp),
        counts=np.zeros((width, n_terms), np.int32),
        weight=np.zeros((n_terms, width)),
        bias=np.zeros(width),
        weight_without=np.zeros((width, n_terms)),
        bias_without=np.zeros(width),
    )


def put_concentrations(lik):
    """Make the tables those of the current concentrations."""
    retabulate(lik.prior, lik.hyper.prior_counts())
    retabulate(lik.total, lik.hyper.concentration * lik.n_categories)


register_learned(ObservedTerms, put_concentrations, lambda lik, k: (lik.counts[k], lik.size[k]))


def probabilities(bound, n_slots):
    """Probabilities of all categories in the first slots."""
    total = bound.total.base + bound.size[:n_slots]
    return (bound.prior.base + bound.counts[:n_slots]) / total[:, bound.column]


def draw_probabilities(bound, slots, rng):
    """Probabilities of all categories in some slots, drawn from their Dirichlet distributions."""
    # Gamma variables of small shape underflow, so they are drawn by their logarithms.
    shape = bound.prior.base + bound.counts[slots]
    logs = np.log(rng.gamma(shape + 1.0)) + np.log(rng.random(shape.shape)) / shape
    first = np.cumsum(bound.n_categories) - bound.n_categories
    column = np.repeat(np.arange(len(first)), bound.n_categories)
    shares = np.exp(logs - np.maximum.reduceat(logs, first, axis=1)[:, column])
    return shares / np.add.reduceat(shares, first, axis=1)[:, column]


def sample_terms(bound, k, rng):
    """One row of codes from the posterior predictive of slot k."""
    # One cumulative sum over the categories of all columns; each column is inverted in its part.
    ends = np.cumsum(bound.prior.base + bound.counts[k])
    last = np.cumsum(bound.n_categories) - 1
    first = last + 1 - bound.n_categories
    low = np.concatenate([[0.0], ends[last[:-1]]])
    points = low + rng.random(len(last)) * (ends[last] - low)
    return np.clip(np.searchsorted(ends, points, side="right"), first, last) - first * 1.0


@kernel
def refresh(lik, k, d):
    """Recompute the weights of the categories of column d in slot k."""
    m = lik.size[k, d]
    log_total = log_at(lik.total, d, m, m < lik.total.length)
    log_total_without = log_at(lik.total, d, m - 1, m < lik.total.length)
    for term in range(lik.first[d], lik.first[d] + lik.n_categories[d]):
        n = lik.counts[k, term]
        inside = n < lik.prior.length
        lik.weight[term, k] = log_at(lik.prior, term, n, inside) - log_total
        lik.weight_without[k, term] = log_at(lik.prior, term, n - 1, inside) - log_total_without


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    for p in range(lik.start[i], lik.start[i + 1]):
        d = lik.column[lik.terms[p]]
        lik.counts[k, lik.terms[p]] += sign
        lik.size[k, d] += sign
        refresh(lik, k, d)


@clear.register(ObservedTerms)
def _clear(lik, k):
    for term in range(len(lik.weight)):
        lik.counts[k, term] = 0
    for d in range(len(lik.first)):
        lik.size[k, d] = 0
        refresh(lik, k, d)


@add.register(ObservedTerms)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(ObservedTerms)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(ObservedTerms)
def _copy(lik, to, source):
    for term in range(len(lik.weight)):
        lik.counts[to, term] = lik.counts[source, term]
    for d in range(len(lik.first)):
        lik.size[to, d] = lik.size[source, d]
        refresh(lik, to, d)


@pool.register(ObservedTerms)
def _pool(lik, to, one, two, labels):
    for term in range(len(lik.weight)):
        lik.counts[to, term] = lik.counts[one, term] + lik.counts[two, term]
    for d in range(len(lik.first)):
        lik.size[to, d] = lik.size[one, d] + lik.size[two, d]
        refresh(lik, to, d)


@log_marginal.register(ObservedTerms)
def _log_marginal(lik, k):
    total = 0.0
    for d in range(len(lik.first)):
        m = lik.size[k, d]
        inside = m < lik.total.length
        total += log_gamma_at(lik.total, d, 0, inside) - log_gamma_at(lik.total, d, m, inside)
    for term in range(len(lik.weight)):
        n = lik.counts[k, term]
        inside = n < lik.prior.length
        total += log_gamma_at(lik.prior, term, n, inside)
        total -= log_gamma_at(lik.prior, term, 0, inside)
    return total

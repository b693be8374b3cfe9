"""Clusters of 0/1 data with independent columns: the beta-Bernoulli likelihood.

An item is the list of the columns in which it departs from the more common value. If s of the m
items of a block depart in column d, the log predictive of a listed column is that of an unlisted
one plus the weight log(a + s) - log(b + m - s). See `terms` for the predictives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.arguments import is_auto
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import Action
from bnpcluster._core.operations import add, clear, copy, log_marginal, padded, pool, remove
from bnpcluster.likelihoods.base import (
    Likelihood,
    check_observed,
    is_guess,
    mean_imputed,
    prior_counts,
)
from bnpcluster.likelihoods.discrete.learned_concentrations import (
    ConcentrationPrior,
    concentration_prior,
    register_learned,
)
from bnpcluster.likelihoods.discrete.missing_terms import (
    ObservedTerms,
    bind_observed_terms,
    draw_probabilities,
    observed_lists,
    probabilities,
    sample_terms,
)
from bnpcluster.likelihoods.discrete.terms import sums_terms, term_lists
from bnpcluster.likelihoods.discrete.whole_numbers import check_entries
from bnpcluster.likelihoods.log_tables import (
    Table,
    log_at,
    log_gamma_at,
    retabulate,
    sum_log_at,
    tabulate,
    tabulate_each,
)


class Bernoulli(Likelihood):
    """Clusters of 0/1 data whose columns are independent, each with its own probability of a 1.

    Per cluster and column ``probability ~ Beta(a, b)``, integrated out.

    Parameters
    ----------
    a, b : "auto", "data", float or array of shape (n_features,), default="auto"
        Prior counts of ones and zeros, for all columns or per column. ``"auto"``: learned, see
        Notes. ``"data"``: 1.0, so that all probabilities are equally likely. Smaller values prefer
        probabilities near 0 and 1.

    Notes
    -----
    ``log_marginal`` of m rows with s ones in a column is log B(a + s, b + m - s) - log B(a, b). The
    cost of a row is the number of its columns with the rarer value of the column.

    If both are ``"auto"``, both prior counts of a column have the same value c, one of 0.25, 0.5,
    1, ..., 64. It is sampled with the partition; its prior probability is in proportion to
    1 / c**2. Particle samplers keep the values of ``"data"``, except
    ``AnnealedSMC(path="temperature")``.

    NaN entries are integrated out exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Bernoulli
    >>> likelihood = Bernoulli(a=0.5, b=0.5)
    >>> bound = likelihood.bind(np.array([[0.0, 1.0], [1.0, 1.0]]))
    >>> bound.n_items
    2
    """

    has_density = False
    takes_nan = True
    per_column = ("a", "b")

    learnable = ("a", "b")

    def __init__(self, *, a: Any = "auto", b: Any = "auto"):
        self.a = a
        self.b = b

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Three columns with the defaults, and five with values that differ by column."""
        rows = [(rng.random((6, d)) < 0.7).astype(float) for d in (3, 5)]
        given = cls(a=[0.5, 1.0, 2.0, 1.0, 0.3], b=1.7)
        return [(cls(), rows[0]), (given, rows[1])]

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the 0/1 rows `X` for the kernels."""
        if np.isnan(X).any():
            return self.bind_observed(X, capacity)
        _check_binary(X)
        n, d = X.shape
        a, b, hyper = self._hyper_parameters(X)
        common = (X.mean(axis=0) > 0.5).astype(float)
        rare, rest = np.where(common, b, a), np.where(common, a, b)
        width, table = padded(capacity), tabulate_each if hyper.is_learned else tabulate
        return BernoulliSlots(
            *term_lists(X != common),
            common,
            hyper,
            table(rare, n + 2),
            table(rest, n + 2),
            table(a + b, n + 2),
            size=np.zeros(width, np.intp),
            counts=np.zeros((width, d), np.int32),
            weight=np.zeros((d, width)),
            bias=np.zeros(width),
            weight_without=np.zeros((width, d)),
            bias_without=np.zeros(width),
        )

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the 0/1 rows `X`, which may contain NaN, as two categories per column."""
        check_observed(X)
        _check_binary(X, ~np.isnan(X))
        a, b, hyper = self._hyper_parameters(X)
        prior = np.column_stack([b, a]).ravel()
        return bind_observed_terms(X, np.full(X.shape[1], 2), prior, hyper, capacity)

    def _hyper_parameters(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, ConcentrationPrior]:
        """The prior counts of ones and of zeros by column (learned: first values); hyper-priors."""
        d, is_learned = X.shape[1], is_auto(self.a) and is_auto(self.b)
        hyper = concentration_prior(np.full(d, 2), is_learned)
        given = (1.0 if is_guess(value) else value for value in (self.a, self.b))
        a, b = (prior_counts(n, v, d) for n, v in zip("ab", given, strict=True))
        return a, b, hyper

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name."""
        if bound.hyper.is_learned:
            values = bound.hyper.concentration if learned is None else learned
            return {"a": values, "b": values}
        given = {"a": self.a, "b": self.b}
        return {name: np.asarray(1.0 if is_guess(v) else v) for name, v in given.items()}

    def frozen(self, X: np.ndarray) -> Bernoulli:
        """The same likelihood with every "auto" replaced by its guess."""
        a, b = (1.0 if is_guess(value) else value for value in (self.a, self.b))
        return type(self)(a=a, b=b)

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        if isinstance(bound, ObservedTerms):
            _check_binary(X, ~np.isnan(X))
            start, terms = observed_lists(X, bound.n_categories)
            return bound._replace(start=start, terms=terms)
        _check_binary(X)
        start, terms = term_lists(X != bound.common)
        return bound._replace(start=start, terms=terms)

    def features(self, X: np.ndarray) -> np.ndarray:
        """The columns without scaling, which would give rare ones too much weight."""
        return mean_imputed(np.asarray(X, float))

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The probability of a 1 in every column in the first slots."""
        return probabilities(bound, n_slots)[:, 1::2]

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Probabilities of a 1 in some slots, drawn from the posterior."""
        if isinstance(bound, ObservedTerms):
            return {"probabilities": draw_probabilities(bound, slots, rng)[:, 1::2]}
        departs = bound.counts[slots]
        stays = bound.size[slots, None] - departs
        chance = rng.beta(bound.a.base + departs, bound.b.base + stays)
        return {"probabilities": np.where(bound.common, 1.0 - chance, chance)}

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        if isinstance(bound, ObservedTerms):
            return sample_terms(bound, k, rng)
        chance = (bound.a.base + bound.counts[k]) / (bound.ab.base + bound.size[k])
        departs = rng.random(len(chance)) < chance
        return np.where(departs, 1.0 - bound.common, bound.common)


def _check_binary(X: np.ndarray, observed: Any = True) -> None:
    remedy = Action(
        "threshold it, or use likelihood='categorical' for codes and 'poisson' for counts",
        "threshold it, leave it out with --columns, or use --likelihood categorical for codes and "
        "poisson for counts",
    )
    check_entries("Bernoulli needs 0/1 values", X, (X != 0) & (X != 1) & observed, remedy)


@sums_terms
class BernoulliSlots(NamedTuple):
    """Lists of departures, tables of the prior, and per slot the counts and the predictive."""

    start: np.ndarray
    terms: np.ndarray  # the columns in which an item departs
    common: np.ndarray  # the more common value of every column, 0 or 1
    hyper: ConcentrationPrior
    a: Table  # the prior count of departures
    b: Table  # the prior count of common values
    ab: Table  # a + b
    size: np.ndarray
    counts: np.ndarray  # departures by slot and column
    weight: np.ndarray  # by column and slot
    bias: np.ndarray
    weight_without: np.ndarray  # by slot and column
    bias_without: np.ndarray

    @property
    def slot_axis(self) -> dict[str, Any]:
        """The arrays that a chain owns, and the axis of their slots."""
        first = ("size", "counts", "bias", "weight_without", "bias_without")
        own = dict.fromkeys(("hyper", "a", "b", "ab") if self.hyper.is_learned else ())
        return {**dict.fromkeys(first, 0), "weight": 1, **own}

    @property
    def n_items(self) -> int:
        """The number of rows."""
        return len(self.start) - 1


def _put(lik: BernoulliSlots) -> None:
    """Make the tables those of the current concentrations."""
    for table in (lik.a, lik.b):
        retabulate(table, lik.hyper.concentration)
    retabulate(lik.ab, 2.0 * lik.hyper.concentration)


def _counts(lik: BernoulliSlots, k: slice) -> tuple[np.ndarray, np.ndarray]:
    """Zeros and ones by slot and column, and the sizes."""
    departs, size = lik.counts[k], np.broadcast_to(lik.size[k, None], lik.counts[k].shape)
    ones = np.where(lik.common, size - departs, departs)
    return np.stack([size - ones, ones], axis=2).reshape(len(ones), -1), size


register_learned(BernoulliSlots, _put, _counts)


@kernel
def refresh(lik, k):
    """Recompute the predictive of slot k from its counts."""
    m, counts, weight, weight_without = (
        lik.size[k],
        lik.counts[k],
        lik.weight,
        lik.weight_without[k],
    )
    inside = m < min(lik.a.length, lik.b.length)
    bias = bias_without = 0.0
    for d in range(len(counts)):
        s = counts[d]
        log_b = log_at(lik.b, d, m - s, inside)
        log_b_without = log_at(lik.b, d, m - s - 1, inside)
        weight[d, k] = log_at(lik.a, d, s, inside) - log_b
        weight_without[d] = log_at(lik.a, d, s - 1, inside) - log_b_without
        bias += log_b
        bias_without += log_b_without
    lik.bias[k] = bias - sum_log_at(lik.ab, m)
    lik.bias_without[k] = bias_without - sum_log_at(lik.ab, m - 1)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    counts = lik.counts[k]
    for p in range(lik.start[i], lik.start[i + 1]):
        counts[lik.terms[p]] += sign
    lik.size[k] += sign
    refresh(lik, k)


@clear.register(BernoulliSlots)
def _clear(lik, k):
    lik.size[k] = 0
    lik.counts[k, :] = 0
    refresh(lik, k)


@add.register(BernoulliSlots)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(BernoulliSlots)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(BernoulliSlots)
def _copy(lik, to, source):
    lik.size[to] = lik.size[source]
    for d in range(lik.counts.shape[1]):
        lik.counts[to, d] = lik.counts[source, d]
    refresh(lik, to)


@pool.register(BernoulliSlots)
def _pool(lik, to, one, two, labels):
    lik.size[to] = lik.size[one] + lik.size[two]
    for d in range(lik.counts.shape[1]):
        lik.counts[to, d] = lik.counts[one, d] + lik.counts[two, d]
    refresh(lik, to)


@log_marginal.register(BernoulliSlots)
def _log_marginal(lik, k):
    m, counts, total = lik.size[k], lik.counts[k], 0.0
    inside = m < min(lik.a.length, lik.b.length, lik.ab.length)
    for d in range(len(counts)):
        s = counts[d]
        total += log_gamma_at(lik.a, d, s, inside) - log_gamma_at(lik.a, d, 0, inside)
        total += log_gamma_at(lik.b, d, m - s, inside) - log_gamma_at(lik.b, d, 0, inside)
        total += log_gamma_at(lik.ab, d, 0, inside) - log_gamma_at(lik.ab, d, m, inside)
    return total

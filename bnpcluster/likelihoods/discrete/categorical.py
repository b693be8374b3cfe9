"""Clusters of categorical data with independent columns: the Dirichlet-categorical likelihood.

The categories of all columns have consecutive numbers, and an item is the list of its categories.
A category of n of the m items of a block has the weight log(concentration + n). The normaliser of a
column depends only on m. See `terms` for the predictives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core.arguments import is_auto
from bnpcluster._core.jit import kernel
from bnpcluster._core.messages import Action, ColumnsError
from bnpcluster._core.operations import add, clear, copy, log_marginal, padded, pool, remove
from bnpcluster.likelihoods.base import (
    Likelihood,
    check_observed,
    column_values,
    is_guess,
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
    put_concentrations,
    sample_terms,
)
from bnpcluster.likelihoods.discrete.terms import sums_terms
from bnpcluster.likelihoods.discrete.whole_numbers import check_entries, is_whole
from bnpcluster.likelihoods.log_tables import (
    Table,
    log_at,
    log_gamma_at,
    sum_log_at,
    tabulate,
    tabulate_each,
)

MOST = 1_000_000  # categories in all columns; with more, the tables of the slots take gigabytes
COMMONEST = 8  # categories of a column that k-means uses


class Categorical(Likelihood):
    """Clusters of categories coded 0, 1, 2, ..., with independent columns.

    Per cluster and column ``frequencies ~ Dirichlet(concentration, ..., concentration)``,
    integrated out.

    Parameters
    ----------
    concentration : "auto", "data", float or array of shape (n_features,), default="auto"
        Prior count of every category, for all columns or per column. ``"auto"``: learned, see
        Notes. ``"data"``: 1.0, so that all frequencies are equally likely. Smaller values prefer
        few categories per cluster.
    n_categories : "auto", int or array of int of shape (n_features,), default="auto"
        Number of categories of a column. ``"auto"``: one more than its largest code. Set it if
        new rows may contain categories that do not occur in the data.

    Notes
    -----
    A row with categories c_d has the predictive probability prod_d (concentration + n_d) /
    (concentration * n_categories_d + m) in a cluster of m rows, n_d of which have category c_d.

    With ``concentration="auto"``, the concentration of every column, one of 0.25, 0.5, 1, ..., 64,
    is sampled with the partition; the prior probability of c is in proportion to 1 / c**2. Particle
    samplers keep the values of ``"data"``.

    NaN entries are integrated out exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import Categorical
    >>> bound = Categorical(n_categories=[2, 4]).bind(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> bound.n_categories.tolist()
    [2, 4]
    """

    has_density = False
    takes_text = True
    takes_nan = True
    per_column = ("concentration", "n_categories")

    learnable = ("concentration",)

    def __init__(self, *, concentration: Any = "auto", n_categories: Any = "auto"):
        self.concentration = concentration
        self.n_categories = n_categories

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Two columns with the defaults, and five with values that differ by column."""
        rows = [rng.integers(0, [3, 2], size=(6, 2)), rng.integers(0, 3, size=(6, 5))]
        given = cls(concentration=[0.2, 1.0, 3.0, 0.5, 1.0], n_categories=[3, 4, 5, 3, 3])
        return [(cls(), rows[0].astype(float)), (given, rows[1].astype(float))]

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the codes `X` for the kernels."""
        if np.isnan(X).any():
            return self.bind_observed(X, capacity)
        n = len(X)
        n_categories = self._n_categories(X)
        n_terms, width = int(n_categories.sum()), padded(capacity)
        prior, total, hyper = self._hyper_parameters(X, n_categories)
        table = tabulate_each if hyper.is_learned else tabulate
        return CategoricalSlots(
            *_code_lists(X, n_categories),
            n_categories,
            hyper,
            table(prior, n + 2),
            table(total, n + 2),
            size=np.zeros(width, np.intp),
            counts=np.zeros((width, n_terms), np.int32),
            weight=np.zeros((n_terms, width)),
            bias=np.zeros(width),
            weight_without=np.zeros((width, n_terms)),
            bias_without=np.zeros(width),
        )

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the codes `X`, which may contain NaN."""
        check_observed(X)
        n_categories = self._n_categories(X)
        prior, _, hyper = self._hyper_parameters(X, n_categories)
        return bind_observed_terms(X, n_categories, prior, hyper, capacity)

    def _hyper_parameters(
        self, X: np.ndarray, n_categories: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, ConcentrationPrior]:
        """Prior counts of categories, their sums (learned: first values), and hyper-priors."""
        _check_known_categories(X, n_categories)
        hyper = concentration_prior(n_categories, is_auto(self.concentration))
        given = 1.0 if is_guess(self.concentration) else self.concentration
        concentration = prior_counts("concentration", given, X.shape[1])
        return np.repeat(concentration, n_categories), concentration * n_categories, hyper

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters in use, by name."""
        if bound.hyper.is_learned:
            return {"concentration": bound.hyper.concentration if learned is None else learned}
        given = 1.0 if is_guess(self.concentration) else self.concentration
        return {"concentration": np.asarray(given)}

    def frozen(self, X: np.ndarray) -> Categorical:
        """The same likelihood with every "auto" replaced by its value for `X`."""
        concentration = 1.0 if is_guess(self.concentration) else self.concentration
        return type(self)(concentration=concentration, n_categories=self._n_categories(X))

    def _n_categories(self, X: np.ndarray) -> np.ndarray:
        _check_codes(X, ~np.isnan(X))
        if is_auto(self.n_categories):
            highest = np.nanmax(X, axis=0)
        else:
            highest = column_values("n_categories", self.n_categories, X.shape[1], words="'auto'")
            highest = highest - 1
            if not is_whole(highest).all():
                raise ValueError(
                    "n_categories must be 'auto', a positive integer or one per column, "
                    f"got {self.n_categories!r}."
                )
        if (highest + 1).sum() > MOST:
            d = int(np.argmax(highest))
            raise ColumnsError(
                "Categorical needs codes 0, 1, 2, ..., but column ",
                [d],
                f" would have {highest[d] + 1:.0f} categories: drop identifiers, and encode the "
                "others without gaps, for example with sklearn's OrdinalEncoder.",
            )
        return highest.astype(np.intp) + 1

    def known(self, bound: Any, X: np.ndarray) -> np.ndarray:
        """The rows with NaN for codes from the number of categories on."""
        return np.where(bound.n_categories <= X, np.nan, X)

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        if isinstance(bound, ObservedTerms):
            _check_codes(X, ~np.isnan(X))
            _check_known_categories(X, bound.n_categories)
            start, terms = observed_lists(X, bound.n_categories)
        else:
            start, terms = _code_lists(X, bound.n_categories)
        return bound._replace(start=start, terms=terms)

    def features(self, X: np.ndarray) -> np.ndarray:
        """Indicators of the most common categories of every column."""
        indicators = []
        for column in X.T:
            values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            common = values[np.argsort(-counts, kind="stable")[:COMMONEST]]
            indicators.append(column[:, None] == common)
        return np.column_stack(indicators).astype(float)

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """The probability of every category in the first slots."""
        return probabilities(bound, n_slots)

    def n_expected(self, bound: Any, n_columns: int) -> int:
        """One number per category."""
        return int(bound.n_categories.sum())

    def filled(self, bound: Any, X: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """The rows of `X` with NaN replaced by the most probable category."""
        ends = np.cumsum(bound.n_categories)[:-1]
        best = [part.argmax(axis=1) for part in np.split(expected, ends, axis=1)]
        return np.where(np.isnan(X), np.column_stack(best), X)

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, dict[int, np.ndarray]]:
        """Probabilities of the categories of some slots by column, drawn from the posterior."""
        drawn = draw_probabilities(bound, slots, rng)
        by_column = np.split(drawn, np.cumsum(bound.n_categories)[:-1], axis=1)
        return {"probabilities": dict(enumerate(by_column))}

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        return sample_terms(bound, k, rng)


def _check_codes(X: np.ndarray, observed: Any = True) -> None:
    remedy = Action(
        "encode the categories, for example with sklearn's OrdinalEncoder",
        "write the categories as words",
    )
    check_entries("Categorical needs codes 0, 1, 2, ...", X, ~is_whole(X) & observed, remedy)


def _code_lists(X: np.ndarray, n_categories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`start` and `terms` of the rows."""
    _check_codes(X)
    _check_known_categories(X, n_categories)
    first = np.cumsum(n_categories) - n_categories
    start = np.arange(len(X) + 1) * X.shape[1]
    return start, (X + first).astype(np.uint32).ravel()


def _check_known_categories(X: np.ndarray, n_categories: np.ndarray) -> None:
    """Raise an error for a category beyond `n_categories`."""
    columns = np.flatnonzero((n_categories <= X).any(axis=0))
    if len(columns):
        d = int(columns[0])
        code = np.nanmax(X[:, d])
        raise ColumnsError(
            "Column ",
            [d],
            f" contains category {code:g}, but only 0 to {n_categories[d] - 1} are known: set "
            f"n_categories to at least {code + 1:g} for it, or handle_unknown='missing' for new "
            "rows.",
        )


@sums_terms
class CategoricalSlots(NamedTuple):
    """Lists of categories, tables of the prior, and per slot the counts and the predictive."""

    start: np.ndarray
    terms: np.ndarray  # the categories of an item, one per column
    n_categories: np.ndarray  # by column
    hyper: ConcentrationPrior
    prior: Table  # the concentration of every category
    total: Table  # its sum over the categories of a column
    size: np.ndarray
    counts: np.ndarray  # by slot and category
    weight: np.ndarray  # by category and slot
    bias: np.ndarray
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


register_learned(
    CategoricalSlots,
    put_concentrations,
    lambda lik, k: (
        lik.counts[k],
        np.broadcast_to(lik.size[k, None], (k.stop, len(lik.n_categories))),
    ),
)


@kernel(inline=True)
def refresh_term(lik, k, term):
    """Recompute the weights of one category in slot k."""
    n = lik.counts[k, term]
    inside = n < lik.prior.length
    lik.weight[term, k] = log_at(lik.prior, term, n, inside)
    lik.weight_without[k, term] = log_at(lik.prior, term, n - 1, inside)


@kernel(inline=True)
def resize(lik, k, m):
    """Set the size of slot k and the normalisers that depend on it."""
    lik.size[k] = m
    lik.bias[k] = -sum_log_at(lik.total, m)
    lik.bias_without[k] = -sum_log_at(lik.total, m - 1)


@kernel
def shift(lik, k, i, sign):
    """Add (sign 1) or remove (sign -1) item i."""
    resize(lik, k, lik.size[k] + sign)
    for p in range(lik.start[i], lik.start[i + 1]):
        term = lik.terms[p]
        lik.counts[k, term] += sign
        refresh_term(lik, k, term)


@clear.register(CategoricalSlots)
def _clear(lik, k):
    resize(lik, k, 0)
    for term in range(len(lik.weight)):
        lik.counts[k, term] = 0
        refresh_term(lik, k, term)


@add.register(CategoricalSlots)
def _add(lik, k, i):
    shift(lik, k, i, 1)


@remove.register(CategoricalSlots)
def _remove(lik, k, i):
    shift(lik, k, i, -1)


@copy.register(CategoricalSlots)
def _copy(lik, to, source):
    resize(lik, to, lik.size[source])
    for term in range(len(lik.weight)):
        lik.counts[to, term] = lik.counts[source, term]
        refresh_term(lik, to, term)


@pool.register(CategoricalSlots)
def _pool(lik, to, one, two, labels):
    resize(lik, to, lik.size[one] + lik.size[two])
    for term in range(len(lik.weight)):
        lik.counts[to, term] = lik.counts[one, term] + lik.counts[two, term]
        refresh_term(lik, to, term)


@log_marginal.register(CategoricalSlots)
def _log_marginal(lik, k):
    m, total = lik.size[k], 0.0
    for d in range(len(lik.total.base)):
        inside = m < lik.total.length
        total += log_gamma_at(lik.total, d, 0, inside) - log_gamma_at(lik.total, d, m, inside)
    for term in range(len(lik.weight)):
        n = lik.counts[k, term]
        if n > 0:
            inside = n < lik.prior.length
            total += log_gamma_at(lik.prior, term, n, inside)
            total -= log_gamma_at(lik.prior, term, 0, inside)
    return total

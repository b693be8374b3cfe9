"""Mixed columns: different likelihoods for different columns."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bnpcluster._core import arguments
from bnpcluster._core import operations as ops
from bnpcluster._core.messages import with_columns
from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.mixed.side_by_side import NEEDED, Pair

DEFAULTS = {"float": "nig", "int": "nig", "bool": "bernoulli", "text": "categorical"}
"""The likelihoods for "auto", by kind of column."""


class Columns(Likelihood):
    """Columns of different kinds, independent of one another within a cluster.

    Parameters
    ----------
    parts : list of (likelihood, columns), dict or "auto", default="auto"
        The likelihood of each column; every column must be in one part. A likelihood is a name or
        an object. Columns are an index, a name, a list of either, a slice, a boolean mask, or a
        callable that takes the data frame, such as scikit-learn's ``make_column_selector``.

        A dict has the columns (names or indices) as keys and their likelihoods as values. Columns
        with the same likelihood form one part.

        ``"auto"`` uses the types of the columns: ``"nig"`` for numbers, ``"bernoulli"`` for
        booleans and for integers that are all 0 or 1, ``"categorical"`` for text and categories.
        It cannot recognise counts and codes: specify their likelihoods.

    Notes
    -----
    The log density of a row is the sum over the parts. In categorical parts, text and categories
    of a data frame are encoded automatically, in the order of the sorted values. NaN is integrated
    out in all parts.

    In a grid search, the parameters of part j are ``likelihood__j__name`` if its likelihood is an
    object.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import DPMixture
    >>> from bnpcluster.likelihoods import Columns
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(np.repeat([-4, 4], 30)), np.repeat([0, 1], 30)])
    >>> likelihood = Columns([("nig", 0), ("bernoulli", 1)])
    >>> model = DPMixture(likelihood=likelihood, sampler="gibbs", random_state=0)
    >>> model.fit(X).n_clusters_
    2
    """

    _by_name: dict[str, type] = {}  # the registry, which contains this class
    _is_resolved = False  # whether parts are objects with numbers of columns

    def __init__(self, parts: Any = "auto"):
        self.parts = parts

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Two parts with alternating columns."""
        X = np.column_stack([rng.normal(size=6), rng.integers(2, size=6), rng.normal(size=6)])
        return [(cls([("nig", [0, 2]), ("bernoulli", 1)]), X)]

    @property
    def has_density(self) -> bool:  # type: ignore[override]
        """Whether all parts have a density."""
        return all(likelihood.has_density for likelihood in self._likelihoods())

    @property
    def takes_nan(self) -> bool:  # type: ignore[override]
        """Whether all parts accept NaN."""
        return all(likelihood.takes_nan for likelihood in self._likelihoods())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters; with `deep` also the likelihoods of the parts and their parameters.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep=False)
        if deep and isinstance(self.parts, (list, tuple)):
            for j, (likelihood, _) in enumerate(self.parts):
                params[str(j)] = likelihood
                if isinstance(likelihood, Likelihood):
                    params |= {f"{j}__{name}": v for name, v in likelihood.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Columns:
        """Set parameters; ``0="niw"`` the likelihood of part 0, ``0__kappa=1.0`` its kappa.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        for name in [name for name in params if name.isdigit() and name in self.get_params()]:
            parts = list(self.parts)
            parts[int(name)] = (params.pop(name), parts[int(name)][1])
            self.parts = parts
        return super().set_params(**params)

    @property
    def is_automatic(self) -> bool:
        """Whether the types of the columns determine their likelihoods."""
        return isinstance(self.parts, str) and self.parts == "auto"

    def resolved(
        self, names: Sequence[str] | None, kinds: Sequence[str], table: Any = None
    ) -> Columns:
        """The same likelihood with objects for names, and column numbers for columns.

        Parameters
        ----------
        names : sequence of str or None
            The names of the columns, if they have any.
        kinds : sequence of str
            "float", "int", "bool" or "text", by column.
        table : data frame, optional
            What callables get.

        Returns
        -------
        likelihood : Columns
        """
        d = len(kinds)
        parts = [
            (_as_likelihood(likelihood), column_numbers(key, names, d, table))
            for likelihood, key in self._parts_as_list(kinds)
        ]
        _check_covered([j for _, own in parts for j in own], names, d)
        for likelihood, own in parts:
            if not likelihood.is_of_rows:
                raise TypeError(f"{likelihood!r} is a likelihood for networks, not for columns.")
            if isinstance(likelihood, Columns):
                raise TypeError(
                    "Columns cannot be a part of Columns: give the likelihoods of its columns."
                )
            for j in own:
                if kinds[j] == "text" and not likelihood.takes_text:
                    raise ValueError(
                        f"Column {_column_name(j, names)} contains text, which "
                        f"{type(likelihood).__name__} does not accept: use 'categorical', or "
                        "convert the column to numbers."
                    )
        return self._with_resolved([part for part in parts if part[1]])

    def _with_resolved(self, parts: list[tuple[Likelihood, list[int]]]) -> Columns:
        """The same likelihood with parts that are objects and numbers, resolved once for a fit."""
        result = type(self)(parts)
        result._is_resolved = True
        return result

    def _parts_as_list(self, kinds: Sequence[str]) -> list[tuple[Any, Any]]:
        """The parts as a list, from any accepted form."""
        parts = self.parts
        if self.is_automatic:
            parts = {j: DEFAULTS[kind] for j, kind in enumerate(kinds)}
        if isinstance(parts, dict) and parts:
            grouped: dict[Any, tuple[Any, list]] = {}
            for key, likelihood in parts.items():
                same = likelihood if isinstance(likelihood, str) else id(likelihood)
                grouped.setdefault(same, (likelihood, []))[1].append(key)
            return list(grouped.values())
        if not isinstance(parts, (list, tuple)) or not parts:
            raise TypeError(
                "The parts of Columns must be 'auto', a list of (likelihood, columns), or a dict "
                f"of columns and likelihoods; got {parts!r}."
            )
        for part in parts:
            if not isinstance(part, (list, tuple)) or len(part) != 2:
                raise TypeError(f"A part of Columns must be (likelihood, columns), got {part!r}.")
        return list(parts)

    def _likelihoods(self) -> list[Likelihood]:
        if self._is_resolved:
            return [likelihood for likelihood, _ in self.parts]
        return [_as_likelihood(likelihood) for likelihood, _ in self._parts_as_list(list(DEFAULTS))]

    def _numbered_parts(self, n_columns: int) -> list[tuple[Likelihood, list[int]]]:
        """The parts, as likelihoods with the numbers of their columns."""
        return (self if self._is_resolved else self.resolved(None, ["float"] * n_columns)).parts

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the columns of all parts for the kernels."""
        bounds = []
        for likelihood, own in self._numbered_parts(X.shape[1]):
            with with_columns(own):
                bounds.append(likelihood.bind(X[:, own], capacity))
        return _nested_pairs(bounds, capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the columns of all parts, which may contain NaN."""
        bounds = []
        for likelihood, own in self._numbered_parts(X.shape[1]):
            with with_columns(own):
                bounds.append(likelihood.bind_observed(X[:, own], capacity))
        return _nested_pairs(bounds, capacity)

    def guessed(self) -> Columns:
        """The same likelihood with "data" instead of "auto" in all parts."""
        if not self._is_resolved:
            return clone(self)
        return self._with_resolved([(part.guessed(), own) for part, own in self.parts])

    @property
    def is_guessed(self) -> bool:
        """Whether a hyper-parameter of a part, or its hyper-prior, is a guess from the data."""
        return any(part.is_guessed for part in self._likelihoods())

    def hyper_parameters(self, bound: Any, learned: np.ndarray | None = None) -> dict[str, Any]:
        """The hyper-parameters of all parts, with the number of the part in their names."""
        found, done = {}, 0
        likelihoods = self._likelihoods()
        for j, (part, own) in enumerate(
            zip(likelihoods, parts_of(bound, len(likelihoods)), strict=True)
        ):
            values = ops.learned(own)
            draws = None
            if learned is not None and values is not None:
                draws = learned[:, done : done + len(values)]
                done += len(values)
            found.update({f"{k}_{j}": v for k, v in part.hyper_parameters(own, draws).items()})
        return found

    def frozen(self, X: np.ndarray) -> Columns:
        """The same likelihood with every "auto" replaced by its value for `X`."""
        parts = self._numbered_parts(X.shape[1])
        return self._with_resolved([(part.frozen(X[:, own]), own) for part, own in parts])

    def measured_columns(self, n_columns: int) -> np.ndarray:
        """The columns of the Gaussian parts."""
        parts = self._numbered_parts(n_columns)
        found = [np.array(own, np.intp)[part.measured_columns(len(own))] for part, own in parts]
        return np.sort(np.concatenate(found))

    def known(self, bound: Any, X: np.ndarray) -> np.ndarray:
        """The rows with NaN for new categories of all parts."""
        X, parts = X.copy(), self._numbered_parts(X.shape[1])
        for (part, own), b in zip(parts, parts_of(bound, len(parts)), strict=True):
            X[:, own] = part.known(b, X[:, own])
        return X

    def constant_columns(self, X: np.ndarray) -> np.ndarray:
        """The numbers that the parts give for their columns."""
        parts = self._numbered_parts(X.shape[1])
        found = [np.array(own)[part.constant_columns(X[:, own])] for part, own in parts]
        return np.sort(np.concatenate(found))

    def of_columns(self, columns: Sequence[int], n_columns: int) -> Columns:
        """The same likelihood for some of `n_columns` columns, without parts that have none."""
        new, parts = {j: position for position, j in enumerate(columns)}, []
        for part, own in self._numbered_parts(n_columns):
            inner = [position for position, j in enumerate(own) if j in new]
            if inner:
                numbers = [new[own[position]] for position in inner]
                parts.append((part.of_columns(inner, len(own)), numbers))
        return self._with_resolved(parts)

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        return _rows_of_parts(self._numbered_parts(X.shape[1]), bound, X)

    def serves(self, bound: Any, X: np.ndarray | None = None) -> bool:
        """Whether `rows` accepts the missing entries of `X` in all parts."""
        likelihoods = self._likelihoods()
        rows: list[Any] = [None] * len(likelihoods)
        if X is not None:
            rows = [X[:, own] for _, own in self._numbered_parts(X.shape[1])]
        each = zip(likelihoods, parts_of(bound, len(likelihoods)), rows, strict=True)
        return all(likelihood.serves(part, own) for likelihood, part, own in each)

    def imputing(self) -> Columns:
        """The same likelihood with all parts imputing."""
        each = zip(self._likelihoods(), self.parts, strict=True)
        return self._with_resolved([(part.imputing(), own) for part, (_, own) in each])

    def features(self, X: np.ndarray) -> np.ndarray:
        """The features of all parts, side by side."""
        parts = self._numbered_parts(X.shape[1])
        return np.column_stack([likelihood.features(X[:, own]) for likelihood, own in parts])

    def expected(
        self, bound: Any, new: Any, share: np.ndarray, items: np.ndarray | None = None
    ) -> np.ndarray:
        """The expected values of all parts, side by side."""
        likelihoods = self._likelihoods()
        bounds, news = (parts_of(both, len(likelihoods)) for both in (bound, new))
        each = zip(likelihoods, bounds, news, strict=True)
        return np.column_stack([part.expected(b, n, share, items) for part, b, n in each])

    def filled(self, bound: Any, X: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """The rows of `X` with NaN replaced by the expected values, part by part."""
        X, done = X.copy(), 0
        parts = self._numbered_parts(X.shape[1])
        for (likelihood, own), part in zip(parts, parts_of(bound, len(parts)), strict=True):
            width = likelihood.n_expected(part, len(own))
            X[:, own] = likelihood.filled(part, X[:, own], expected[:, done : done + width])
            done += width
        return X

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, dict[int, np.ndarray]]:
        """Parameters of all parts by number of the column; variances instead of covariances."""
        found: dict[str, dict[int, np.ndarray]] = {}
        likelihoods = self._likelihoods()
        bounds = parts_of(bound, len(likelihoods))
        for (part, own), b in zip(self.parts, bounds, strict=True):
            drawn = part.parameters(b, slots, rng)
            if "covariances" in drawn:
                drawn["variances"] = np.diagonal(drawn.pop("covariances"), axis1=1, axis2=2)
            for name, values in drawn.items():
                if not isinstance(values, dict):
                    values = {j: values[:, j] for j in range(len(own))}
                found.setdefault(name, {}).update({own[j]: v for j, v in values.items()})
        return {name: dict(sorted(by_column.items())) for name, by_column in found.items()}

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        likelihoods = self._likelihoods()
        bounds = parts_of(bound, len(likelihoods))
        values = [part.sample(b, k, rng) for part, b in zip(likelihoods, bounds, strict=True)]
        row = np.concatenate(values)
        order = [j for _, own in self._numbered_parts(len(row)) for j in own]
        row[order] = row.copy()
        return row


def _as_likelihood(likelihood: Any) -> Likelihood:
    return arguments.component("likelihood", likelihood, Columns._by_name, Likelihood)


def _nested_pairs(bounds: list[Any], capacity: int) -> Any:
    """Bound data of the parts as nested pairs."""
    for bound, name in itertools.product(bounds, NEEDED):
        if getattr(ops, name).find(type(bound)) is None:
            raise TypeError(
                f"Columns does not accept {type(bound).__name__}: it has no operation {name}."
            )
    last = bounds[-1]
    for part in reversed(bounds[:-1]):
        last = Pair(part, last, np.zeros(ops.padded(capacity)))
    return last


def parts_of(bound: Any, n_parts: int) -> list[Any]:
    """The bound data of the parts."""
    return [bound] if n_parts == 1 else [bound.first, *parts_of(bound.second, n_parts - 1)]


def _rows_of_parts(parts: list[tuple[Likelihood, list[int]]], bound: Any, X: np.ndarray) -> Any:
    likelihood, own = parts[0]
    with with_columns(own):
        first = likelihood.rows(bound if len(parts) == 1 else bound.first, X[:, own])
    if len(parts) == 1:
        return first
    return bound._replace(first=first, second=_rows_of_parts(parts[1:], bound.second, X))


def column_numbers(key: Any, names: Sequence[str] | None, d: int, table: Any = None) -> list[int]:
    """The numbers of the columns that `key` selects."""
    if callable(key):
        key = key(table)
    if isinstance(key, slice):
        start, stop = key.start, key.stop
        if isinstance(start, str):
            start = _column_number(start, names, d)
        if isinstance(stop, str):
            # Slices of names include their end, as in pandas.
            stop = _column_number(stop, names, d) + 1
        return list(range(d))[start : stop : key.step]
    if isinstance(key, (str, numbers.Integral)) and not isinstance(key, bool):
        return [_column_number(key, names, d)]
    if not isinstance(key, Iterable):
        raise TypeError(f"Select columns by index, name, list, slice or mask, got {key!r}.")
    keys = list(key)
    if keys and all(isinstance(k, (bool, np.bool_)) for k in keys):
        if len(keys) != d:
            raise ValueError(f"The mask of columns has {len(keys)} entries, but X has {d} columns.")
        return [j for j in range(d) if keys[j]]
    return [_column_number(k, names, d) for k in keys]


def _column_number(key: Any, names: Sequence[str] | None, d: int) -> int:
    if isinstance(key, str):
        if names is None:
            raise ValueError(
                f"Column {key!r} was selected, but X has no column names: use indices."
            )
        if key not in names:
            raise ValueError(arguments.unknown("column", key, names))
        return list(names).index(key)
    if isinstance(key, bool) or not isinstance(key, numbers.Integral):
        raise TypeError(f"Select columns by index, name, list, slice or mask, got {key!r}.")
    j = int(key)
    if not -d <= j < d:
        raise ValueError(f"Column {j} was selected, but X has {d} columns.")
    return j % d


def _check_covered(chosen: list[int], names: Sequence[str] | None, d: int) -> None:
    """Raise an error unless every column is in exactly one part."""
    times = np.bincount(np.array(chosen, int), minlength=d)
    for bad, what in (
        (times == 0, "no likelihood: name one, or drop the column"),
        (times > 1, "more than one likelihood: name one"),
    ):
        found = np.flatnonzero(bad)
        if len(found):
            named = ", ".join(_column_name(j, names) for j in found[:5])
            named += f", ... ({len(found)} in all)" if len(found) > 5 else ""
            of = f"Column {named} has" if len(found) == 1 else f"Each of the columns {named} has"
            raise ValueError(f"{of} {what}.")


def _column_name(j: int, names: Sequence[str] | None) -> str:
    return str(j) if names is None else repr(names[j])

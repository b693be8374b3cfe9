"""Mixed columns: a likelihood for some of the columns, another one for others."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bnpcluster._core import arguments
from bnpcluster._core import operations as ops
from bnpcluster.likelihoods.base import Likelihood
from bnpcluster.likelihoods.mixed.side_by_side import NEEDED, Pair

DEFAULTS = {"float": "nig", "int": "nig", "bool": "bernoulli", "text": "categorical"}
"""What "auto" stands for, by kind of column."""


class Columns(Likelihood):
    """Columns of different kinds, independent of one another within a cluster.

    Parameters
    ----------
    parts : list of (likelihood, columns), dict or "auto", default="auto"
        Which likelihood takes which columns; every column must be in one part. A likelihood is a
        name or an object; columns are an index, a name, a list of either, a slice, a boolean mask,
        or a callable that takes the data frame, such as scikit-learn's ``make_column_selector``.

        A dict has the columns (names or indices) as keys and their likelihoods as values; columns
        of the same likelihood form one part.

        ``"auto"`` goes by the types of the columns: ``"nig"`` for numbers, ``"bernoulli"`` for
        booleans and for integers that are all 0 or 1, ``"categorical"`` for text and categories.
        Counts and codes look like other integers: name them.

    Notes
    -----
    The log density of a row is the sum over the parts. Text and categories of a data frame are
    encoded inside, where a part is categorical; their order of codes is that of the sorted values.
    NaN is integrated out in all parts.

    The parameters of part j are ``likelihood__j__name`` in a grid search, if it was given as an
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

    _by_name: dict[str, type] = {}  # the registry, which lists this class, too

    def __init__(self, parts: Any = "auto"):
        self.parts = parts

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """Two parts whose columns take turns."""
        X = np.column_stack([rng.normal(size=6), rng.integers(2, size=6), rng.normal(size=6)])
        return [(cls([("nig", [0, 2]), ("bernoulli", 1)]), X)]

    @property
    def has_density(self) -> bool:  # type: ignore[override]
        """Whether all parts have one."""
        return all(law.has_density for law in self._laws())

    @property
    def takes_nan(self) -> bool:  # type: ignore[override]
        """Whether all parts do."""
        return all(law.takes_nan for law in self._laws())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters; with `deep` also the likelihoods of the parts, by number, and theirs.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep=False)
        if deep and isinstance(self.parts, (list, tuple)):
            for j, (law, _) in enumerate(self.parts):
                params[str(j)] = law
                if isinstance(law, Likelihood):
                    params |= {f"{j}__{name}": v for name, v in law.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Columns:
        """Set parameters; ``0="niw"`` replaces the likelihood of part 0, ``0__kappa=1.0`` its own.

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

    def resolved(
        self, names: Sequence[str] | None, kinds: Sequence[str], table: Any = None
    ) -> Columns:
        """The same with likelihood objects and lists of column numbers.

        Parameters
        ----------
        names : of the columns, if they have any
        kinds : "float", "int", "bool" or "text", by column
        table : what callables get
        """
        d = len(kinds)
        parts = [
            (_law(law), column_numbers(key, names, d, table)) for law, key in self._listed(kinds)
        ]
        _check_covered([j for _, own in parts for j in own], names, d)
        for law, own in parts:
            if not law.is_of_rows:
                raise TypeError(f"{law!r} is a law of networks, which have no columns.")
            for j in own:
                if kinds[j] == "text" and not law.takes_text:
                    raise ValueError(
                        f"Column {_name(j, names)} holds text, which {type(law).__name__} cannot "
                        "take: make it 'categorical', or turn it into numbers."
                    )
        return type(self)([part for part in parts if part[1]])

    def _listed(self, kinds: Sequence[str]) -> list[tuple[Any, Any]]:
        """The parts as a list, whatever they were given as."""
        parts = self.parts
        if isinstance(parts, str) and parts == "auto":
            parts = {j: DEFAULTS[kind] for j, kind in enumerate(kinds)}
        if isinstance(parts, dict):
            grouped: dict[Any, tuple[Any, list]] = {}
            for key, law in parts.items():
                same = law if isinstance(law, str) else id(law)
                grouped.setdefault(same, (law, []))[1].append(key)
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

    def _laws(self) -> list[Likelihood]:
        return [_law(law) for law, _ in self._listed(list(DEFAULTS))]

    def _split(self, n_columns: int) -> list[tuple[Likelihood, list[int]]]:
        """The likelihoods with the numbers of their columns."""
        return self.resolved(None, ["float"] * n_columns).parts

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Ready the columns of every part for the kernels."""
        bounds = []
        for law, own in self._split(X.shape[1]):
            with arguments.with_columns(own):
                bounds.append(law.bind(X[:, own], capacity))
        return _paired(bounds, capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Ready the columns of every part, of which entries may be NaN."""
        bounds = []
        for law, own in self._split(X.shape[1]):
            with arguments.with_columns(own):
                bounds.append(law.bind_observed(X[:, own], capacity))
        return _paired(bounds, capacity)

    def frozen(self, X: np.ndarray) -> Columns:
        """The same likelihood with every "auto" replaced by what it stands for at `X`."""
        parts = self._split(X.shape[1])
        return type(self)([(law.frozen(X[:, own]), own) for law, own in parts])

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        return _rows(self._split(X.shape[1]), bound, X)

    def serves(self, bound: Any, X: np.ndarray | None = None) -> bool:
        """Whether all parts do."""
        laws = self._laws()
        own = [None] * len(laws) if X is None else [X[:, j] for _, j in self._split(X.shape[1])]
        each = zip(laws, parts_of(bound, len(laws)), own, strict=True)
        return all(law.serves(part, rows) for law, part, rows in each)

    def imputing(self) -> Columns:
        """All parts do so."""
        return type(self)([(_law(law).imputing(), own) for law, own in self.parts])

    def features(self, X: np.ndarray) -> np.ndarray:
        """The features of all parts, side by side."""
        parts = self._split(X.shape[1])
        return np.column_stack([law.features(X[:, own]) for law, own in parts])

    def expected(
        self, bound: Any, new: Any, share: np.ndarray, items: np.ndarray | None = None
    ) -> np.ndarray:
        """What the parts expect, side by side."""
        laws = self._laws()
        each = zip(laws, parts_of(bound, len(laws)), parts_of(new, len(laws)), strict=True)
        return np.column_stack([law.expected(b, n, share, items) for law, b, n in each])

    def filled(self, bound: Any, X: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """The rows of `X`, filled in by every part."""
        X, done = X.copy(), 0
        parts = self._split(X.shape[1])
        for (law, own), part in zip(parts, parts_of(bound, len(parts)), strict=True):
            width = law.n_expected(part, len(own))
            X[:, own] = law.filled(part, X[:, own], expected[:, done : done + width])
            done += width
        return X

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        laws = self._laws()
        bounds = parts_of(bound, len(laws))
        values = [law.sample(b, k, rng) for law, b in zip(laws, bounds, strict=True)]
        row = np.concatenate(values)
        order = [j for _, own in self._split(len(row)) for j in own]
        row[order] = row.copy()
        return row


def _law(law: Any) -> Likelihood:
    return arguments.component("likelihood", law, Columns._by_name, Likelihood)


def _paired(bounds: list[Any], capacity: int) -> Any:
    """Bound data of the parts as nested pairs."""
    for bound, name in itertools.product(bounds, NEEDED):
        if getattr(ops, name).find(type(bound)) is None:
            raise TypeError(f"Columns cannot take {type(bound).__name__}: it has no {name}.")
    last = bounds[-1]
    for part in reversed(bounds[:-1]):
        last = Pair(part, last, np.zeros(ops.padded(capacity)))
    return last


def parts_of(bound: Any, n_parts: int) -> list[Any]:
    """The bound data of the parts."""
    return [bound] if n_parts == 1 else [bound.first, *parts_of(bound.second, n_parts - 1)]


def _rows(parts: list[tuple[Likelihood, list[int]]], bound: Any, X: np.ndarray) -> Any:
    law, own = parts[0]
    if len(parts) == 1:
        return law.rows(bound, X[:, own])
    first = law.rows(bound.first, X[:, own])
    return bound._replace(first=first, second=_rows(parts[1:], bound.second, X))


def column_numbers(key: Any, names: Sequence[str] | None, d: int, table: Any = None) -> list[int]:
    """The numbers of the columns that `key` selects."""
    if callable(key):
        key = key(table)
    if isinstance(key, slice):
        start, stop = key.start, key.stop
        if isinstance(start, str):
            start = _number(start, names, d)
        if isinstance(stop, str):
            stop = _number(stop, names, d) + 1  # slices of names include their end, as in pandas
        return list(range(d))[start : stop : key.step]
    if isinstance(key, (str, numbers.Integral)) and not isinstance(key, bool):
        return [_number(key, names, d)]
    if not isinstance(key, Iterable):
        raise TypeError(f"Columns are given by index, name, list, slice or mask, got {key!r}.")
    keys = list(key)
    if keys and all(isinstance(k, (bool, np.bool_)) for k in keys):
        if len(keys) != d:
            raise ValueError(f"A mask of columns has {len(keys)} entries for {d} columns.")
        return [j for j in range(d) if keys[j]]
    return [_number(k, names, d) for k in keys]


def _number(key: Any, names: Sequence[str] | None, d: int) -> int:
    if isinstance(key, str):
        if names is None:
            raise ValueError(f"Column {key!r} was asked for, but X has no column names.")
        if key not in names:
            raise ValueError(f"X has no column {key!r}; its columns: {', '.join(names)}.")
        return list(names).index(key)
    if isinstance(key, bool) or not isinstance(key, numbers.Integral):
        raise TypeError(f"Columns are given by index, name, list, slice or mask, got {key!r}.")
    j = int(key)
    if not -d <= j < d:
        raise ValueError(f"Column {j} was asked for, but X has {d} columns.")
    return j % d


def _check_covered(chosen: list[int], names: Sequence[str] | None, d: int) -> None:
    """Raise one sentence unless every column is in one part."""
    times = np.bincount(np.array(chosen, int), minlength=d)
    for bad, what in ((times == 0, "in no part"), (times > 1, "in more than one part")):
        if bad.any():
            many = ", ".join(_name(j, names) for j in np.flatnonzero(bad)[:5])
            raise ValueError(f"Every column must be in one part of Columns; {what}: {many}.")


def _name(j: int, names: Sequence[str] | None) -> str:
    return str(j) if names is None else repr(names[j])

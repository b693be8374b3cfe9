"""How mixtures read tables: as validated numbers, with the same encoding in the fit and later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from bnpcluster._core import arguments
from bnpcluster._core.containers import check_container, check_finite
from bnpcluster._core.messages import with_columns
from bnpcluster._estimators.column_names import said_of_columns
from bnpcluster._estimators.encoding import (
    ENCODED,
    NUMBERS,
    Encoding,
    FrameLike,
    check_dates,
    columns_and_names,
    is_frame,
    names_of_rows,
    unreadable,
    without_mask,
)
from bnpcluster._estimators.suspicious_columns import refuse_suspicious, warn_of_identifiers
from bnpcluster._fitting.constant_columns import Constants
from bnpcluster._fitting.empty_rows import ObservedRows
from bnpcluster._fitting.fitted import Fitted
from bnpcluster._fitting.wild_values import warn_of_wild_values
from bnpcluster.likelihoods import Columns, Likelihood
from bnpcluster.likelihoods.base import check_observed

UNKNOWN = {"error": False, "missing": True}
"""Whether new categories are missing, by value of `handle_unknown`."""


class ReadsRows:
    """The part of a mixture that reads tables."""

    handle_unknown: Any
    _fitted: Fitted
    _names: Callable[[], Any]

    def _read_rows(
        self, X: Any, likelihood: Likelihood
    ) -> tuple[np.ndarray, Likelihood, dict[str, Any]]:
        """The rows of a fit as validated numbers, their likelihood, and how they were read."""
        arguments.code("handle_unknown", self.handle_unknown, UNKNOWN)
        check_container(X)
        encoding, X = None, without_mask(X)
        row_names, frame = names_of_rows(X), FrameLike.of(X)
        if isinstance(likelihood, Columns):
            table = self._table(X, reset=True)
            encoding = Encoding(table)
            if likelihood.is_automatic:
                refuse_suspicious(*columns_and_names(table))
            likelihood = likelihood.resolved(encoding.names, encoding.kinds, X)
            X = self._numbers(encoding.encode(table), likelihood, True, encoded=True)
        else:
            check_dates(X)
            given, X = X, likelihood.table(X, None)
            if X is given:  # and not the reads of mutations, which have names of their own
                warn_of_identifiers(X)
            X = self._numbers(X, likelihood, True)
        with with_columns(self._names()):
            check_observed(X)
        constants = Constants.of(ObservedRows.of(X).cut(X), likelihood)
        if len(constants.columns):
            constants.warn(self._names())
            likelihood = likelihood.of_columns(constants.kept.tolist(), X.shape[1])
        rows, names = constants.cut(X), constants.names(self._names())
        observed = ObservedRows.of(rows)
        observed.check()
        observed.warn()
        rows = observed.cut(rows).copy()
        with with_columns(names):
            warn_of_wild_values(rows, likelihood, names)
        read = dict(encoding=encoding, constants=constants, observed=observed)
        return rows, likelihood, {**read, "row_names": row_names, "frame": frame}

    def _new_rows(self, X: Any) -> np.ndarray:
        """New rows as validated numbers, with the encoding and the columns of the fit."""
        rows = self._new_table(X)
        return self._fitted.constants.cut(rows)

    def _new_table(self, X: Any) -> np.ndarray:
        """New rows as validated numbers, with all columns."""
        check_is_fitted(self)
        unknown = arguments.code("handle_unknown", self.handle_unknown, UNKNOWN)
        check_container(X)
        likelihood, encoding = self._fitted.likelihood, self._fitted.encoding
        X = without_mask(X)
        if encoding is not None:
            X = encoding.encode(self._table(X, reset=False), unknown)
            rows = self._numbers(X, likelihood, False, encoded=True)
        else:
            check_dates(X)
            rows = self._numbers(likelihood.table(X, self._names()), likelihood, False)
        constants = self._fitted.constants
        constants.warn_of_changes(rows, self._names())
        if unknown:
            rows = rows.copy()  # those of a data frame may be read-only
            rows[:, constants.kept] = likelihood.known(self._fitted.bound, constants.cut(rows))
        return rows

    def _numbers(
        self, X: Any, likelihood: Likelihood, reset: bool, encoded: bool = False
    ) -> np.ndarray:
        """Rows as an array of floats. Raise an error if they contain text or unsupported NaN."""
        # Infinite values and few rows have errors of their own.
        settings: dict[str, Any] = {
            "dtype": np.float64,
            "ensure_min_samples": 1,
            "ensure_all_finite": False,
            "copy": True,
        }
        try:
            if encoded:
                rows = check_array(X, **settings, estimator=self)
            else:
                with said_of_columns(X, None if reset else self._names()):
                    rows = validate_data(self, X, reset=reset, **settings)
        except (ValueError, TypeError, OverflowError) as error:
            reason = unreadable(X, remedy=ENCODED if reset else NUMBERS)
            if not reason:
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(reason) from error
        check_finite(rows, self._names())
        if reset and len(rows) < 2:
            raise ValueError(
                "X has 1 sample: at least 2 rows are needed, because a single row has no clusters."
            )
        if not likelihood.takes_nan and np.isnan(rows).any():
            raise ValueError(
                f"Input X contains NaN, which {type(likelihood).__name__} cannot take. Remove "
                "the rows or columns with missing values, impute them first, for instance with "
                "sklearn's SimpleImputer, or use a likelihood that integrates them out, such as "
                "'nig'."
            )
        return rows

    def _table(self, X: Any, reset: bool) -> Any:
        """A table of mixed columns, after a check of their number and names."""
        with said_of_columns(X, None if reset else self._names()):
            validate_data(self, X, reset=reset, skip_check_array=True)
        check_dates(X)
        if is_frame(X):
            return X
        listed = isinstance(X, (list, tuple))
        return check_array(
            np.array(X, object) if listed else X, dtype=None, ensure_all_finite=False
        )

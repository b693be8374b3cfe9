"""A search says once what each of its fits would say."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from bnpcluster import DPMixture
from bnpcluster._core.messages import ColumnsWarning

X = np.random.default_rng(0).normal(size=(24, 2))
MODEL = DPMixture(n_draws=4, n_warmup=2, n_chains=2, random_state=0, likelihood="nig")


def said(work, kinds=(ConvergenceWarning, ColumnsWarning)):
    """The warnings of this package, as they would be printed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(w.message) for w in caught if issubclass(w.category, kinds)]


def test_a_grid_of_nine_says_it_once_and_the_refit_once():
    grid = {"alpha": [0.1, 1.0, 10.0], "max_draws": [4, 5, 6]}
    first, last = said(lambda: GridSearchCV(MODEL, grid, cv=3).fit(X))
    assert first.startswith("Some fits of this search have not converged")
    assert "continue_fit" not in first
    assert last.startswith("The chains have not converged")


def test_each_search_says_it():
    for _ in range(2):
        assert len(said(lambda: cross_val_score(MODEL, X, cv=3))) == 1


def test_constant_columns_are_named_once():
    data = np.column_stack([X, np.ones(24)])
    texts = said(lambda: cross_val_score(MODEL, data, cv=3))
    assert len(texts) == 2
    assert "Constant column 2 was left out" in texts[0]


def test_empty_rows_are_mentioned_once_and_without_the_numbers_of_a_fold():
    data = X.copy()
    data[[3, 20]] = np.nan

    def about_rows(work):
        return [text for text in said(work, (UserWarning,)) if "no value" in text]

    (text,) = about_rows(lambda: cross_val_score(MODEL, data, cv=3))
    assert text.startswith("Some rows have no value: the fits of this search leave them out")
    (text,) = about_rows(lambda: MODEL.fit(data))
    assert text.startswith("Rows 3, 20 (counted from 0) have no value: they are left out")


def test_fits_of_a_loop_each_say_it():
    assert len(said(lambda: [MODEL.fit(X) for _ in range(3)])) == 3


def test_other_processes_say_it_once_each(monkeypatch):
    """There, the stack ends with the fit and its score."""
    from bnpcluster._fitting import searches

    monkeypatch.setattr(searches, "said_elsewhere", set())
    scored = {"__name__": searches.SCORED[0], "is_new": searches.is_new}
    exec("def _fit_and_score(text):\n    return is_new(text)", scored)
    found = [scored["_fit_and_score"](text) for text in "aabba"]
    assert found == [True, False, True, False, False]
    assert [searches.is_new("a"), searches.is_new("a")] == [True, True]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs(backend):
    import joblib

    with joblib.parallel_config(backend):
        assert len(said(lambda: cross_val_score(MODEL, X, cv=3, n_jobs=2))) <= 2

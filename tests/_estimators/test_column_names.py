"""Columns of new rows that differ from those of the fit."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster._estimators.column_names import difference, said_of_columns

KNOWN = ["a", "b", "c"]


def of(*names):
    return difference(pd.DataFrame(np.zeros((2, len(names))), columns=names), KNOWN)


def test_every_difference_has_its_sentence():
    assert of(*KNOWN) == ""
    assert of("a", "c") == "X lacks column 'b' of the fit: add it, with NaN if unknown."
    assert of("c").startswith("X lacks columns 'a', 'b' of the fit: add them")
    assert of("a", "b", "c", "d").startswith("X has column 'd', which the fit did not have: pass")
    assert of("a", "c", "d") == (
        "X lacks column 'b' of the fit, and has column 'd' instead: rename them."
    )
    assert of("b", "a", "c").startswith("The columns of X are in another order")


def test_many_names_are_shortened():
    assert "'6', '7', '8', ... (9 in all)" in of(*KNOWN, *"456789", "10", "11", "12")


def test_tables_without_names_have_no_sentence():
    assert difference(np.zeros((2, 3)), KNOWN) == difference(pd.DataFrame({"a": [1]}), None) == ""
    assert difference(pd.DataFrame(np.zeros((2, 3))), KNOWN) == ""


def test_other_errors_are_left_alone():
    with pytest.raises(ValueError, match=r"^something$"):
        with said_of_columns(pd.DataFrame(columns=KNOWN), KNOWN):
            raise ValueError("something")

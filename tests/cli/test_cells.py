"""Cells as numbers, categories or missing values."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from bnpcluster.cli.cells import Marks, NotNumbers, as_codes, as_numbers, may_be_grouped

GERMAN = Marks(",", ".")


@pytest.mark.parametrize(
    ("marks", "cell", "number"),
    [
        (Marks(), " 1.5 ", 1.5),
        (Marks(), "-2e3", -2000.0),
        (Marks(), True, 1.0),
        (Marks(), Decimal("1.25"), 1.25),
        (Marks(","), "1,5", 1.5),
        (GERMAN, "1.234.567,5", 1234567.5),
        (GERMAN, "12,5e1", 125.0),
        (GERMAN, "-1.000", -1000.0),
        (Marks(thousands=","), "11,290", 11290.0),
        (Marks(thousands=","), "11,290.75", 11290.75),
        (Marks(thousands=","), "290", 290.0),
        (Marks(thousands=" "), "11\u202f290", 11290.0),
        (Marks(thousands="'"), "11\u2019290", 11290.0),
    ],
)
def test_numbers(marks, cell, number):
    assert marks.number(cell) == number


@pytest.mark.parametrize(
    ("marks", "cell"),
    [
        (Marks(), "1_000"),
        (Marks(), "1,5"),
        (Marks(), "11,290"),
        (Marks(","), "1.5"),
        (Marks(","), "1,5,5"),
        (Marks(thousands=","), "1,5"),
        (Marks(thousands=","), "1290,290"),
        (Marks(thousands=","), "1,2900"),
        (Marks(thousands=","), ",290"),
        (Marks(thousands=","), "0.290,111"),
        (GERMAN, "1.5"),
        (GERMAN, "1,234.5"),
        (Marks(), "red"),
        (Marks(), datetime.date(2026, 1, 31)),
    ],
)
def test_what_is_no_number(marks, cell):
    with pytest.raises((TypeError, ValueError)):
        marks.number(cell)


def test_missing_cells_are_words_or_numbers():
    marks = Marks.of(".", "", [["-999", "?"], ["Not Done"]])
    found = as_numbers("x", ["1", "-999", "-999.0", "?", "not done", "", "NA", None, "9"], marks)
    np.testing.assert_array_equal(found, [1.0, *[np.nan] * 7, 9.0])
    np.testing.assert_array_equal(as_numbers("x", [1, -999, 2.5], marks), [1.0, np.nan, 2.5])
    np.testing.assert_array_equal(as_codes(["b", "?", "a", "b"], marks)[0], [1.0, np.nan, 0.0, 1.0])
    with pytest.raises(NotNumbers, match=r"\('\?' in row 1\)"):
        as_numbers("x", ["?", "x"], Marks())


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("1,5", "add --decimal , if the comma marks decimals, or --thousands , if it groups"),
        ("11,290", "add --decimal , if the comma marks decimals, or --thousands , if it groups"),
        ("1,290.5", "add --thousands ,"),
        ("1.290,5", "add --thousands . --decimal ,"),
        ("1.290.000", "add --thousands . --decimal ,"),
        ("11 290", "add --thousands blank"),
        ("11'290", "add --thousands apostrophe"),
    ],
)
def test_marks_in_numbers_are_recognised(cell, advice):
    with pytest.raises(NotNumbers, match=r"in row 2\)") as caught:
        as_numbers("x", ["1", cell], Marks())
    assert advice in str(caught.value)
    assert "point" not in advice  # 11,290 is not 11.29
    given = advice.split("add ")[1].split(" if")[0].split(" to")[0].split()
    names = {"blank": " ", "apostrophe": "'"}
    options = {k: names.get(v, v) for k, v in zip(given[::2], given[1::2], strict=True)}
    marks = Marks(options.get("--decimal", "."), options.get("--thousands", ""))
    assert np.isfinite(marks.number(cell))  # the advice helps


def test_points_beside_decimal_commas_group_digits():
    with pytest.raises(NotNumbers, match=r"'1\.290' in row 2\): add --thousands \. to read"):
        as_numbers("x", ["1,5", "1.290"], Marks(","))


@pytest.mark.parametrize(
    ("cells", "grouped"),
    [
        (["900", "1.200", "NA", "11.000"], True),
        (["1.234", "1.235"], False),  # three decimals
        (["900", "1.5", "1.200"], False),
        (["900", "1200", "1.200"], False),
        (["900", "950"], False),
    ],
)
def test_points_that_may_group_digits(cells, grouped):
    assert may_be_grouped(cells, Marks()) == grouped
    assert not may_be_grouped(cells, Marks(",", "."))


def test_one_repeated_word_may_mark_missing_values():
    with pytest.raises(NotNumbers, match=r"'-' in 2 rows and numbers .* add --missing '-'"):
        as_numbers("x", ["1", "-", "2", "-", "3"], Marks())
    with pytest.raises(NotNumbers, match=r"contains text \('a' in row 2\)"):
        as_numbers("x", ["1", "a", "b", "2", "3"], Marks())

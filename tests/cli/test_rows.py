"""Which columns of a table are data, and how the rows are called."""

import numpy as np
import pytest

from bnpcluster.cli.cells import Marks
from bnpcluster.cli.rows import select_rows
from bnpcluster.cli.text_tables import Table
from tests.tools.shell import QUICK, columns_of, fit, refused


def test_a_first_column_without_a_name_names_the_rows(frame, tmp_path, capsys):
    frame.set_index("name").rename_axis(None).to_csv(tmp_path / "table.csv")
    _, folder = fit(tmp_path / "table.csv", *QUICK)
    assert columns_of(folder / "labels.csv")["row"][:2] == ["n00", "n01"]


def test_rows_without_names_are_counted_from_one(table, capsys):
    _, folder = fit(table, "--columns", "height,weight", *QUICK)
    assert columns_of(folder / "labels.csv")["row"] == [str(i) for i in range(1, 61)]


def test_a_comma_in_mixed_tables_makes_no_category(tmp_path, capsys):
    (tmp_path / "comma.csv").write_text("a;b\n1,5;x\n2,5;y\n")
    status, _ = fit(tmp_path / "comma.csv", "--likelihood", "columns")
    assert "has numbers with commas" in refused(capsys, status)


N = 20
SIZES = [round(3 + i % 5 + i / 100, 3) for i in range(N)]


def rows(columns, likelihood="niw", chosen=(), id_column=None, marks=None):
    given = {name: list(map(str, cells)) for name, cells in columns.items()}
    table = Table("table.csv", {"size": list(map(str, SIZES)), **given}, [])
    return select_rows(table, id_column, chosen, likelihood, marks or Marks())


PLANTS = [f"plant {i}" for i in range(N)]
DAYS = [f"2026-01-{i + 1:02d}" for i in range(N)]


@pytest.mark.parametrize("likelihood", ["niw", "nig", "columns", "categorical"])
@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("plant", PLANTS, "looks like an identifier (20 different values in 20 rows)"),
        ("plant_id", range(300, 500, 10), "looks like an identifier"),
        ("row", range(1, N + 1), "looks like an identifier"),
        ("day", DAYS, "contains dates or times as text ('2026-01-01')"),
        ("day", [f"{i + 1}.3.2026" for i in range(N)], "contains dates or times as text"),
    ],
    ids=["words", "id", "numbers", "dates", "german_dates"],
)
def test_identifiers_and_dates_are_left_out_with_one_sentence(likelihood, name, cells, reason):
    found = rows({name: cells}, likelihood)
    assert list(found.columns) == ["size"]
    assert len(found.notes) == 1
    assert found.notes[0].startswith(f"Column {name!r} {reason}")
    assert "is left out" in found.notes[0]
    assert "--id-column" in found.notes[0] and "--columns" in found.notes[0]


def test_several_columns_are_left_out_with_one_sentence():
    (note,) = rows({"plant": PLANTS, "day": DAYS}).notes
    assert note.startswith("Column 'plant' looks") and "column 'day' contains dates" in note
    assert "are left out" in note


def test_columns_that_are_named_are_taken():
    assert rows({"plant": PLANTS}, "columns", ["plant"]).words == {"plant": sorted(PLANTS)}
    assert list(rows({"row": range(N)}, chosen=["size", "row"]).columns) == ["size", "row"]
    with pytest.raises(ValueError, match=r"'day' contains dates .*convert it to numbers"):
        rows({"day": DAYS}, "columns", ["size", "day"])


@pytest.mark.parametrize(
    "cells",
    [["red", "blue"] * 10, [f"city {i % 8}" for i in range(N)], [1, 0] * 10, SIZES[::-1]],
    ids=["words", "cities", "coins", "sizes"],
)
def test_data_are_not_left_out(cells):
    found = rows({"x": cells}, "columns")
    assert list(found.columns) == ["size", "x"]
    assert found.notes == []


def test_a_column_of_names_is_no_data():
    found = rows({"plant": PLANTS}, id_column="plant")
    assert (found.name, list(found.ids), found.notes) == ("plant", PLANTS, [])


def test_all_columns_of_text_are_named_at_once():
    words = {"colour": ["red", "blue"] * 10, "kind": ["A", "B"] * 10}
    with pytest.raises(ValueError, match=r"Columns 'colour' .*'kind' .* contain text") as caught:
        rows({**words, "price": ["1,5"] * N})
    assert "'price' has numbers with commas" in str(caught.value)


def test_marks_apply_to_all_columns():
    marks = Marks.of(",", ".", [["-9"]])
    found = rows({"price": ["1.200,5", "-9"] * 10, "size": ["1"] * N}, marks=marks)
    assert found.columns["price"][0] == 1200.5
    assert np.isnan(found.columns["price"][1])


def test_points_that_may_group_digits_are_said():
    (note,) = rows({"price": ["900", "1.200", "2.000", "950"] * 5}).notes
    assert "Points in column 'price' were taken for decimal marks" in note
    assert "add --thousands . --decimal , if they group digits." in note


def test_lists_of_links_are_recognised():
    for names in (("from", "to"), ("Source", "Target"), ("node_1", "node_2")):
        table = Table("edges.csv", {name: ["1", "2"] for name in names}, [])
        with pytest.raises(ValueError, match=r"bnpcluster network edges\.csv"):
            select_rows(table, None, [], "niw", Marks())
        assert list(select_rows(table, None, names, "niw", Marks()).columns) == list(names)


def test_infinity_is_named():
    with pytest.raises(ValueError, match="infinity in column 'x', row 3"):
        rows({"x": [1, 2, "inf", *range(3, N)]})

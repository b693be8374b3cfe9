"""Tables of text: separators, headers, and what was assumed."""

import gzip

import pytest

from bnpcluster.cli.formats import read_table


def test_quoted_cells_and_blank_lines(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('name,"x, in cm"\n"a ""b""",1.5\n\nc,2\n')
    assert read_table(path).columns == {"name": ['a "b"', "c"], "x, in cm": ["1.5", "2"]}


def read(path, text, name="table.csv", **how):
    (path / name).write_text(text)
    return read_table(path / name, **how)


@pytest.mark.parametrize(
    ("name", "mark", "said"),
    [
        ("a.csv", ",", ""),
        ("a.tsv", "\t", ""),
        ("a.tab", "\t", ""),
        ("a.csv", ";", "semicolons"),
        ("a.tsv", ",", "commas"),
        ("a.csv", "|", "'|'"),
        ("a.csv", "\t", "tabs"),
        ("a.txt", "   ", "blanks"),
        ("a.txt", ",", "commas"),
    ],
)
def test_the_separator_is_found_and_said(name, mark, said, tmp_path):
    lines = [["plant", "height"], ["p 1" if mark != "   " else "p1", "1.5"], ["p2", "2.5"]]
    table = read(tmp_path, "\n".join(mark.join(line) for line in lines) + "\n", name)
    assert list(table.columns) == ["plant", "height"]
    assert table.columns["height"] == ["1.5", "2.5"]
    if said:
        assert f"{name} was read with" in table.notes[0] and said in table.notes[0]
    else:
        assert table.notes == []


def test_a_decimal_comma_is_no_separator(tmp_path):
    assert read(tmp_path, "a;b\n1,5;2,5\n3,5;4\n").columns == {
        "a": ["1,5", "3,5"],
        "b": ["2,5", "4"],
    }


def test_all_lines_tell_the_separator_and_not_the_first_alone(tmp_path):
    table = read(tmp_path, "height, cm;width, cm, wet\n1,5;2,5\n3,5;4,5\n")
    assert table.columns == {"height, cm": ["1,5", "3,5"], "width, cm, wet": ["2,5", "4,5"]}


def test_a_given_separator_is_used(tmp_path):
    table = read(tmp_path, "a:b\n1:2,5\n", separator=":")
    assert table == ("table.csv", {"a": ["1"], "b": ["2,5"]}, [])
    assert read(tmp_path, "a\n1\n").columns == {"a": ["1"]}  # a single column needs none


def test_a_first_line_with_numbers_is_data(tmp_path):
    table = read(tmp_path, "plant0,3.1,2.5\nplant1,4.1,2.0\n")
    assert list(table.columns) == ["column_1", "column_2", "column_3"]
    assert table.columns["column_1"] == ["plant0", "plant1"]
    assert "taken for data" in table.notes[0] and "--header yes" in table.notes[0]
    table = read(tmp_path, "plant0,3.1,2.5\nplant1,4.1,2.0\n", header="yes")
    assert (list(table.columns), table.notes) == (["plant0", "3.1", "2.5"], [])


@pytest.mark.parametrize("head", ["country,1990,2000", ",0,1"])
def test_years_and_numbers_from_zero_are_names(head, tmp_path):
    table = read(tmp_path, f"{head}\nx,3.1,2.5\ny,2.2,1.2\n")
    assert list(table.columns) == head.split(",")
    assert "names of the columns" in table.notes[0] and "--header no" in table.notes[0]
    table = read(tmp_path, f"{head}\nx,3.1,2.5\ny,2.2,1.2\n", header="no")
    assert table.columns["column_2"][0] == head.split(",")[1]


def test_names_of_rows_as_r_writes_them(tmp_path):
    table = read(tmp_path, "height,width\nr1,1.5,2.5\nr2,1.6,2.6\n")
    assert table.columns == {"": ["r1", "r2"], "height": ["1.5", "1.6"], "width": ["2.5", "2.6"]}
    assert "names of rows" in table.notes[0]


def test_an_empty_last_column_is_dropped(tmp_path):
    assert read(tmp_path, "a,b,\n1,2,\n").columns == {"a": ["1"], "b": ["2"]}
    with pytest.raises(ValueError, match=r"Column 3 of table\.csv has no name"):
        read(tmp_path, "a,b,\n1,2,3\n")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz"])
def test_compressed_tables(name, tmp_path):
    mark = "," if "csv" in name else "\t"
    (tmp_path / name).write_bytes(gzip.compress(f"a{mark}b\n1{mark}2\n".encode()))
    assert read_table(tmp_path / name) == (name, {"a": ["1"], "b": ["2"]}, [])


def test_lines_of_windows_and_long_files(tmp_path):
    text = "a,b\r\n" + "".join(f"{i},{i}\r\n" for i in range(200))
    assert read(tmp_path, text).columns["b"] == [str(i) for i in range(200)]
    with pytest.raises(ValueError, match=r"Line 203 of table.csv has 3 cells"):
        read(tmp_path, text + "7,7\r\n1,2,3\r\n")

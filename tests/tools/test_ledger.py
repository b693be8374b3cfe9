"""The files of results keep one row for each name, whoever writes."""

from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.tools.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    return ledger_in(tmp_path)


def ledger_in(folder):
    return Ledger(folder / "results.csv", ("key", "file", "breaks"), ("file", "breaks"))


def row(file, breaks="it", key="a"):
    return {"key": key, "file": file, "breaks": breaks}


def test_no_file_is_no_rows(ledger):
    assert ledger.rows() == {}


def test_rows_are_sorted_by_name(ledger):
    for file in "bca":
        ledger.put(row(file, breaks='a comma, and a "quote"'))
    lines = ledger.path.read_text().splitlines()
    assert lines[0] == "key,file,breaks"
    assert lines[1:] == [f'a,{file},"a comma, and a ""quote"""' for file in "abc"]
    assert ledger.rows()["a", 'a comma, and a "quote"'] == row("a", 'a comma, and a "quote"')


def test_a_row_replaces_the_one_of_its_name(ledger):
    for key in "ab":
        ledger.put(row("x", key=key))
    assert ledger.rows() == {("x", "it"): row("x", key="b")}


def test_rows_of_other_names_can_be_dropped(ledger):
    for file in "ab":
        ledger.put(row(file))
    ledger.keep({("a", "it"), ("c", "it")})
    assert ledger.rows() == {("a", "it"): row("a")}


def test_only_the_file_is_left_behind(ledger):
    ledger.put(row("a"))
    assert [path.name for path in ledger.path.parent.iterdir()] == ["results.csv"]


def put_many(folder, writer):
    for i in range(50):
        ledger_in(folder).put(row(f"{writer}-{i}"))


def test_two_writers_lose_no_row(ledger):
    folder = ledger.path.parent
    with ProcessPoolExecutor(2) as pool:
        for done in [pool.submit(put_many, folder, writer) for writer in "ab"]:
            done.result()
    assert len(ledger.rows()) == 100

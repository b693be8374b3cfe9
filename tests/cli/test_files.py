"""Files are written beside their place and then renamed."""

import csv
import errno
import re

import numpy as np
import pytest

from bnpcluster import DPMixture
from bnpcluster.cli.files import Folder
from bnpcluster.cli.results import FILES
from tests.tools.shell import QUICK, columns_of, fit, refused, run


def test_results_are_not_overwritten_unless_told_to(table, capsys):
    folder = table.parent / "results"
    folder.mkdir()
    (folder / "labels.csv").write_text("precious")
    (folder / "notes.txt").write_text("mine")
    options = ["--columns", "height", *QUICK, "--quiet"]
    status, _ = fit(table, *options)
    assert "already contains labels.csv" in refused(capsys, status)
    assert (folder / "labels.csv").read_text() == "precious"
    fit(table, *options, "--force")
    assert (folder / "labels.csv").read_text().startswith("row,cluster,probability\n1,")
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_said_before_the_fit(table, capsys, monkeypatch):
    monkeypatch.setattr(DPMixture, "fit", None)
    (table.parent / "file").write_text("")
    for out in ("file", "file/results"):
        status = run("fit", table, "--out", table.parent / out, "--columns", "height")
        message = refused(capsys, status)
        assert re.search(
            r"file.*: Not a directory|--out must name a folder, but .*file is", message
        )


def broken(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    folder = Folder(tmp_path)
    folder.write_text("labels.csv", "old")
    for write in (broken, lambda file: (file.write(b"half"), broken())):
        with pytest.raises(OSError, match=r"labels\.csv") as caught:
            folder.write("labels.csv", write)
        assert caught.value.filename == str(tmp_path / "labels.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["labels.csv"]
    assert (tmp_path / "labels.csv").read_text() == "old"


def test_a_file_is_complete_or_absent_at_any_moment(tmp_path):
    def write(file):
        file.write(b"new")
        file.flush()
        assert (tmp_path / "labels.csv").read_text() == "old"

    (tmp_path / "labels.csv").write_text("old")
    Folder(tmp_path).write("labels.csv", write)
    assert (tmp_path / "labels.csv").read_text() == "new"


def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    def write(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Folder(tmp_path).write("labels.csv", write)
    assert list(tmp_path.iterdir()) == []


def test_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    Folder(tmp_path).write_text("labels.csv", "")
    assert (tmp_path / "labels.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_force_replaces_a_link_and_not_what_it_leads_to(table, tmp_path, capsys):
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    folder = table.parent / "results"
    folder.mkdir()
    (folder / "labels.csv").symlink_to(precious)
    (folder / "report.html").symlink_to(tmp_path / "nowhere")
    options = ["--columns", "height", *QUICK, "--quiet"]
    assert "already contains labels.csv, report.html" in refused(capsys, fit(table, *options)[0])
    fit(table, *options, "--force")
    assert precious.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()
    assert not any((folder / name).is_symlink() for name in FILES)
    assert (folder / "labels.csv").read_text().startswith("row,cluster")


def test_a_folder_in_the_place_of_a_file_is_said_before_the_fit(table, capsys, monkeypatch):
    monkeypatch.setattr(DPMixture, "fit", None)
    (table.parent / "results" / "labels.csv").mkdir(parents=True)
    status, folder = fit(table, "--columns", "height", "--force")
    assert f"{folder / 'labels.csv'} is a folder" in refused(capsys, status)


@pytest.mark.parametrize("name", ["labels.csv", "clusters.csv", "report.html"])
def test_a_full_disk_names_the_file_and_keeps_the_draws(table, name, capsys, monkeypatch):
    write = Folder.write

    def some(folder, own, content):
        write(folder, own, broken if own == name else content)

    monkeypatch.setattr(Folder, "write", some)
    status, folder = fit(table, "--columns", "height", *QUICK, "--quiet")
    err = capsys.readouterr().err
    assert status == 2
    assert f"{folder / name}: No space left on device: free some space, or choose another" in err
    assert f"The draws were saved in {folder / 'draws.npz'}" in err
    assert np.load(folder / "draws.npz")["labels"].shape[:2] == (2, 20)
    assert not list(folder.glob(".*"))
    assert not (folder / name).exists()


def test_draws_are_saved_elsewhere_if_the_disk_is_full(table, tmp_path, capsys, monkeypatch):
    write, spare = Folder.write, tmp_path / "spare"
    spare.mkdir()

    def some(folder, own, content):
        write(folder, own, broken if folder.path.name == "results" else content)

    monkeypatch.setattr(Folder, "write", some)
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    status, folder = fit(table, "--columns", "height", *QUICK, "--quiet")
    err = capsys.readouterr().err
    assert status == 2
    (saved,) = spare.rglob("draws.npz")
    assert f"The draws were saved in {saved}" in err
    assert f"{folder / 'draws.npz'}: No space left" in err
    assert np.load(saved)["labels"].shape[:2] == (2, 20)
    assert not folder.exists()  # nothing is in it


@pytest.mark.parametrize(
    ("cell", "quoted"),
    [
        ("=1+1", "'=1+1"),
        ("+A1", "'+A1"),
        ("-cmd|x", "'-cmd|x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("-1.5", "-1.5"),
        ("+1e3", "+1e3"),
        ("a=1", "a=1"),
        ("'=1", "'=1"),
        ("", ""),
        (-1, "-1"),
    ],
)
def test_formulas_are_quoted_on_request(cell, quoted, tmp_path):
    for request in (False, True):
        Folder(tmp_path, request).write_table("x.csv", ["name"], [[cell]])
        with (tmp_path / "x.csv").open(newline="") as file:
            found = list(csv.reader(file))[1:]
        assert found == [[quoted if request else str(cell)]] or (cell == "" and not found[0][0])


def test_names_of_rows_and_columns_are_quoted(table, frame):
    frame["name"] = "=" + frame["name"]
    frame.rename(columns={"height": "@height"}).to_csv(table, index=False)
    for options, quote in (([], ""), (["--quote-formulas"], "'")):
        _, folder = fit(table, "--id-column", "name", *QUICK, "--force", *options)
        assert columns_of(folder / "labels.csv")["name"][0] == f"{quote}=n00"
        clusters = columns_of(folder / "clusters.csv")
        assert f"{quote}@height" in clusters
        assert clusters["typical_rows"][0].startswith(f"{quote}=n")
        assert set(columns_of(folder / "labels.csv")["cluster"]) <= {"0", "1", "2", "3", "-1"}

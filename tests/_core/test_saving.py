"""Files that cannot be written are answered in one sentence."""

import pytest

from bnpcluster._core.saving import file_to_write


def test_the_folder_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(file_to_write("page.html")) == "page.html"
    assert file_to_write(tmp_path / "page.html") == tmp_path / "page.html"
    with pytest.raises(FileNotFoundError) as caught:
        file_to_write("results/page.html")
    assert str(caught.value) == (
        "There is no folder 'results': create it first, or choose another one."
    )


def test_files_and_folders_are_told_apart(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file' is a file: name a folder"):
        file_to_write(tmp_path / "file" / "page.html")
    with pytest.raises(IsADirectoryError, match="is a folder: add the name of a file"):
        file_to_write(tmp_path)

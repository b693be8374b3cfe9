"""Damaged files of compiled code are compiled again, and nothing else changes."""

import logging

import numba
import numpy as np
import pytest

from bnpcluster._core import checked_files
from bnpcluster._core.checked_files import is_whole, sealed
from bnpcluster._core.jit import CheckedFiles


def damaged(contents, kind, rng):
    """A copy of a file with one kind of damage."""
    found, place = bytearray(contents), rng.integers(len(contents))
    if kind == "flipped bit":
        found[place] ^= 1 << rng.integers(8)
    elif kind == "other byte":
        found[place] = (found[place] + rng.integers(1, 256)) % 256
    elif kind == "cut":
        del found[place:]
    elif kind == "longer":
        found += rng.bytes(int(rng.integers(1, 40)))
    elif kind == "hole":
        found[place : place + 64] = bytes(len(found[place : place + 64]))
        if bytes(found) == contents:
            found[place] ^= 1
    return bytes(found)


KINDS = ("flipped bit", "other byte", "cut", "longer", "hole")


@pytest.fixture(autouse=True)
def nothing_mentioned(monkeypatch):
    monkeypatch.setattr(checked_files, "_mentioned", [])


def test_two_hundred_damages_are_found(tmp_path, caplog):
    rng = np.random.default_rng(20261120)
    value = {"code": rng.bytes(3000), "name": "kernel"}
    for number in range(200):
        files = CheckedFiles(str(tmp_path), f"k{number}", "stamp")
        files.save("signature", value)
        assert files.load("signature") == value
        victim = tmp_path / f"k{number}{('.nbi', '.1.nbc')[number % 2]}"
        victim.write_bytes(damaged(victim.read_bytes(), KINDS[number % 5], rng))
        assert files.load("signature") is None
        assert not victim.exists()
        files.save("signature", value)
        assert files.load("signature") == value
    assert len([r for r in caplog.records if "damaged" in r.message]) == 1


def test_a_kernel_with_a_damaged_file_gives_the_right_answer(tmp_path, monkeypatch):
    """With numba's own reader, such files end in an error or end the process."""
    rng = np.random.default_rng(3)
    for number in range(10):
        for file in tmp_path.glob("*.nb[ic]"):
            file.write_bytes(damaged(file.read_bytes(), KINDS[number % 5], rng))
        kernel = numba.njit(_thrice)
        kernel.enable_caching()
        kernel._cache._cache_file = CheckedFiles(str(tmp_path), "thrice", "stamp")
        kernel._cache._impl.locator._cache_path = str(tmp_path)
        assert kernel(number) == 3 * number
        assert kernel.stats.cache_hits[kernel.signatures[0]] == 0
    again = numba.njit(_thrice)
    again.enable_caching()
    again._cache._cache_file = CheckedFiles(str(tmp_path), "thrice", "stamp")
    assert again(5) == 15
    assert again.stats.cache_hits[again.signatures[0]] == 1


def _thrice(x):
    return 3 * x


def test_the_message_can_be_turned_off(tmp_path, caplog):
    file = tmp_path / "a.nbc"
    file.write_bytes(sealed(b"code")[:-1])
    with caplog.at_level(logging.ERROR, logger="bnpcluster"):
        assert not is_whole(file)
    assert not caplog.records


def test_a_missing_file_is_no_damage(tmp_path, caplog):
    assert not is_whole(tmp_path / "none.nbc")
    assert not caplog.records

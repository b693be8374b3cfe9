"""People who wait for a compilation are told, once."""

import pytest

from bnpcluster._core import announcement
from bnpcluster._core.announcement import MIXED, ONE_KIND, Announcement


class Clock:
    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(announcement, "time", found)
    monkeypatch.setattr(announcement, "is_watched", lambda: True)
    return found


def told(caplog):
    return [record.getMessage() for record in caplog.records]


def test_after_two_seconds_of_compilation_it_says_so_once(clock, caplog):
    one = Announcement()
    assert one.begin(1)
    clock.now += 1.5
    assert not one.begin(1)
    assert not told(caplog)
    clock.now += 0.6
    assert not one.begin(1)
    assert not one.begin(1)
    assert len(told(caplog)) == 1
    assert ONE_KIND in told(caplog)[0]


def test_only_the_time_of_compilation_counts(clock, caplog):
    one = Announcement()
    for _ in range(3):
        assert one.begin(3)
        clock.now += 0.9
        one.end()
        clock.now += 60.0  # the fit runs
    assert not told(caplog)
    one.begin(3)
    assert MIXED in told(caplog)[0]


def test_nothing_is_said_where_nobody_looks(clock, caplog, monkeypatch):
    monkeypatch.setattr(announcement, "is_watched", lambda: False)
    one = Announcement()
    one.begin(1)
    clock.now += 30.0
    one.begin(1)
    assert not told(caplog)


def test_a_redirected_stream_is_not_watched(monkeypatch, capsys):
    monkeypatch.delattr("sys.ps1", raising=False)
    assert not announcement.is_watched()
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    assert announcement.is_watched()

"""Shards share a list out; a rotating one goes through all of them."""

import argparse
from datetime import datetime, timedelta

import pytest

from tests.tools.shards import Shard, of_today, shard


@pytest.mark.parametrize("k", [1, 2, 7, 12])
@pytest.mark.parametrize("n", [0, 5, 745])
def test_everything_is_in_exactly_one_shard(n, k):
    parts = [shard(f"{i}/{k}").of(range(n)) for i in range(1, k + 1)]
    assert sorted(thing for part in parts for thing in part) == list(range(n))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_all_is_one_shard():
    assert Shard().of("abc") == list("abc")


def test_all_have_their_turn_in_as_many_days():
    first = datetime(2026, 3, 1)
    turns = [of_today(12, first + timedelta(days)) for days in range(12)]
    assert sorted(turns) == list(range(1, 13))


def test_today_is_a_shard():
    assert shard("today/12") == Shard(of_today(12), 12)
    assert shard("today/1") == Shard(1, 1)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "today/0", "-1/3", "1", "a/b", "today", "/"])
def test_other_words_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        shard(text)

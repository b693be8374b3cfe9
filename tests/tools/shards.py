"""A part of a long list, and the options of programs that work through one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Shard(NamedTuple):
    """Every k-th thing of a list, from the i-th on; i counts from 1."""

    i: int = 1
    k: int = 1

    def of(self, things: Sequence[T]) -> list[T]:
        """The things in this shard."""
        return list(things[self.i - 1 :: self.k])


def shard(text: str) -> Shard:
    """Read a shard such as 2/12, or today/12: another one every day, all of them in 12 days."""
    first, slash, last = text.partition("/")
    if not slash or not last.isdecimal() or not (first == "today" or first.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 2/12 or today/12")
    k = int(last)
    i = of_today(k) if first == "today" and k else int(first) if first != "today" else 0
    if not 1 <= i <= k:
        raise argparse.ArgumentTypeError(f"there is no shard {text}: they are 1/{k} to {k}/{k}")
    return Shard(i, k)


def of_today(k: int, today: datetime | None = None) -> int:
    """Which of k shards has its turn today, by the day of the year."""
    return ((today or datetime.now(UTC)).timetuple().tm_yday - 1) % k + 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what to run, and for how long."""
    parser.add_argument("--only", default="", metavar="TEXT", help="text in a name")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many run at once")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin none after M minutes")
    parser.add_argument("--shard", type=shard, default=Shard(), metavar="I/K", help="or today/K")
    parser.add_argument("--again", action="store_true", help="ignore stored results")
    parser.add_argument("--summary", action="store_true", help="run nothing: sum up the results")

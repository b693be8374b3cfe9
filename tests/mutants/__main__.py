"""Show that the tests catch plausible bugs.

Every mutant is made in a copy of the package and the tests, where its tests then run. It is caught
if one of them fails; if all pass it has survived. If they fail without it, too, they are broken; if
they cannot start, or its text is not in the file any more, the mutant is stale. Results are stored
in tests/mutants/results.csv and used as long as nothing they rest on changes. The exit status is 1
if a mutant with a result is not caught.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants import Mutant
from tests.mutants.catalogue import MUTANTS
from tests.mutants.results import SETTLED, key, ledger, name, summary
from tests.mutants.trials import Trials
from tests.tools.copies import Copies, Stopped, stop_on_sigterm
from tests.tools.digests import Sources
from tests.tools.shards import add_options

ROOT = Path(__file__).resolve().parents[2]


def main(
    words: Sequence[str] | None = None, root: Path = ROOT, mutants: Sequence[Mutant] = MUTANTS
) -> int:
    """Try the mutants that have no result and print a line for each; return the exit status."""
    parser = argparse.ArgumentParser(prog="bash run mutants", description=__doc__)
    add_options(parser)
    options = parser.parse_args(words)
    chosen = [m for m in mutants if options.only in ": ".join(name(m))]
    if not chosen:
        parser.error(f"no mutant has {options.only!r} in its file name or description")
    chosen = options.shard.of(chosen)
    keys = keys_of(chosen, root) if options.summary else try_in_copies(chosen, root, options)
    if not options.summary:
        ledger(root).keep({name(m) for m in mutants})
    text, well = summary(chosen, keys, ledger(root).rows())
    print(text)
    return int(not well)


def try_in_copies(
    chosen: list[Mutant], root: Path, options: argparse.Namespace
) -> dict[Mutant, str]:
    """Try the mutants whose outcome is not known, until the time is up; return the keys of all."""
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(root, Path(folder), options.jobs, options.minutes)
        keys = keys_of(chosen, copies.original)
        known = {} if options.again else ledger(root).rows()
        settled = {n: r["key"] for n, r in known.items() if r["outcome"] in SETTLED}
        missing = [m for m in chosen if settled.get(name(m)) != keys[m]]
        copies.each(in_order(missing), Trials(copies, ledger(root), keys).settle)
        return keys


def keys_of(mutants: list[Mutant], root: Path) -> dict[Mutant, str]:
    """The keys of mutants of a source tree."""
    sources = Sources(root)
    return {m: key(m, sources) for m in mutants}


def in_order(mutants: list[Mutant]) -> list[Mutant]:
    """Mutants of plain Python first; the others by test, so that machine code is used again."""
    return sorted(mutants, key=lambda m: (m.compiled, m.tests if m.compiled else ""))


if __name__ == "__main__":
    stop_on_sigterm()
    try:
        sys.exit(main())
    except (KeyboardInterrupt, Stopped):
        sys.exit("Stopped. What ran to its end is stored.")

"""The stored results of mutants, and which of them still hold.

`results.csv` has one row for each mutant. Its key is a digest of the mutant, of the package file it
edits, of its test files, of the files below `tests` that these import, directly or not, and of the
package files that these import by name. A result holds as long as its key is the same. The key does
not cover the rest of the package: `--again` ignores stored results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.mutants import Mutant
from tests.tools.digests import Sources
from tests.tools.ledger import Ledger, Row

COLUMNS = ("key", "file", "function", "breaks", "outcome", "seconds", "date")
CAUGHT, SURVIVED, BROKEN, STALE = "caught", "SURVIVED", "broken", "STALE"
SETTLED = (CAUGHT, SURVIVED)  # the others may change with files that their keys do not cover


def ledger(root: Path) -> Ledger:
    """The file of results of a source tree."""
    return Ledger(root / "tests" / "mutants" / "results.csv", COLUMNS, ("file", "breaks"))


def name(mutant: Mutant) -> tuple[str, str]:
    """What tells a mutant's row from others."""
    return mutant.file, mutant.breaks


def key(mutant: Mutant, sources: Sources) -> str:
    """The digest of all that a mutant's result rests on."""
    tests = [f"tests/{test.partition('::')[0]}" for test in mutant.tests.split()]
    files = {f"bnpcluster/{mutant.file}", *sources.of_tests(tests)}
    return sources.digest(files, *mutant._replace(breaks=""))


def row(mutant: Mutant, key: str, outcome: str, seconds: float) -> Row:
    """A row of the file."""
    today = datetime.now(UTC).date().isoformat()
    fields = (key, mutant.file, mutant.function, mutant.breaks, outcome, f"{seconds:.1f}", today)
    return dict(zip(COLUMNS, fields, strict=True))


def summary(
    mutants: Sequence[Mutant], keys: dict[Mutant, str], rows: dict[tuple[str, ...], Row]
) -> tuple[str, bool]:
    """How many of the mutants are caught, a line for each that is not, and whether all is well."""
    known = {m: rows[name(m)] for m in mutants if name(m) in rows}
    outcomes = {m: r["outcome"] for m, r in known.items() if r["key"] == keys[m]}
    count = Counter(outcomes.values())
    lines = [f"{o:8} {m.file}: {m.breaks}" for m, o in outcomes.items() if o != CAUGHT]
    lines.append(
        f"{len(mutants)} mutants, {len(outcomes)} with a result that holds: "
        + ", ".join(f"{count[o]} {o.lower()}" for o in (CAUGHT, SURVIVED, BROKEN, STALE))
        + f"; {len(mutants) - len(outcomes)} without, {len(known) - len(outcomes)} of them with "
        "one of older sources"
    )
    return "\n".join(lines), count[CAUGHT] == len(outcomes)

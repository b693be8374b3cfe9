"""The command line: `bnpcluster fit table.csv --out results/`."""

from __future__ import annotations

__all__ = ["main"]

TYPE_CHECKING = False  # type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `bnpcluster`. By default, those of the current process.

    Returns
    -------
    int
        0 on success, 2 after wrong usage or data, 3 if the chains disagree, 130 after Ctrl-C.

    Examples
    --------
    >>> from bnpcluster.cli import main
    >>> main(["fit", "no_such_table.csv", "--out", "results"])
    2
    """
    try:
        from bnpcluster.cli.entry import run
    except KeyboardInterrupt:
        return 130
    return run(arguments)

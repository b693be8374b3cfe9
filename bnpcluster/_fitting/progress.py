"""The progress of a fit: one bar over all chains, or lines of text where a bar cannot be drawn.

The process that runs the chains shows it after each round, so `n_jobs` changes nothing.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import Any

from bnpcluster._fitting.lengths import Lengths
from bnpcluster._fitting.rounds import Chain

LINES = 20  # number of lines that a fit prints instead of a bar
FORMAT = "{desc} |{bar}| {n_fmt}/{total_fmt}, {rate_noinv_fmt}{postfix}, {remaining} left"


class Progress:
    """Shows nothing."""

    def show(self, chains: list[Chain]) -> None:
        """Update after a round."""

    def close(self) -> None:
        """Finish the display."""


class Bar(Progress):
    """One bar of tqdm for the iterations of all chains."""

    def __init__(self, tqdm: type, chains: list[Chain], lengths: Lengths):
        self.lengths = lengths
        self.bar: Any = tqdm(
            desc=phase(chains, lengths),
            total=total_iterations(chains, lengths),
            initial=iterations_done(chains),
            unit="it",
            bar_format=FORMAT,
            dynamic_ncols=True,
            file=sys.stderr,
        )

    def show(self, chains: list[Chain]) -> None:
        """Update the bar; tqdm redraws it at intervals."""
        self.bar.total = total_iterations(chains, self.lengths)
        self.bar.set_description_str(phase(chains, self.lengths), refresh=False)
        self.bar.set_postfix_str(summary(chains), refresh=False)
        self.bar.update(iterations_done(chains) - self.bar.n)

    def close(self) -> None:
        """Close the bar, which stays visible."""
        self.bar.close()


class Lines(Progress):
    """Lines on the standard error stream, evenly spaced in iterations, and one at the end."""

    def __init__(self, chains: list[Chain], lengths: Lengths):
        self.lengths = lengths
        self.start = self.shown = iterations_done(chains)
        self.begin = time.monotonic()

    def show(self, chains: list[Chain]) -> None:
        """Print a line, if enough iterations have passed since the last one."""
        done, total = iterations_done(chains), total_iterations(chains, self.lengths)
        if LINES * (done - self.shown) < total and done < total:
            return
        self.shown = done
        rate = (done - self.start) / max(time.monotonic() - self.begin, 1e-9)
        left = f"{(total - done) / rate:.0f}" if rate > 0 else "?"
        most = "at most " if done < total and not self.lengths.is_fixed else ""
        print(
            f"bnpcluster: {phase(chains, self.lengths)}, {done}/{most}{total} iterations, "
            f"{rate:.0f} it/s, {summary(chains)}, {most}{left} s left",
            file=sys.stderr,
            flush=True,
        )


def progress_display(verbose: int, chains: list[Chain], lengths: Lengths) -> Progress:
    """The display of the progress of these chains."""
    if not verbose:
        return Progress()
    tqdm = find_tqdm() if can_draw_bars() else None
    return Bar(tqdm, chains, lengths) if tqdm else Lines(chains, lengths)


def can_draw_bars() -> bool:
    """Whether the standard error stream is a terminal or a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    in_notebook = shell is not None and "IPKernelApp" in shell.config
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty() and has_width())


def has_width() -> bool:
    """Whether the terminal reports a width: tqdm shows nothing if it has no columns."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (AttributeError, OSError):  # not a terminal of the system
        return True


def find_tqdm() -> type | None:
    """The tqdm class for a terminal or notebook, if tqdm is installed."""
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets, tqdm warns and shows the bar as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def total_iterations(chains: list[Chain], lengths: Lengths) -> int:
    """Iterations of all chains at the end of the fit; under automatic lengths, at most."""
    return len(chains) * lengths.schedule.n_iterations


def iterations_done(chains: list[Chain]) -> int:
    """Iterations of all chains so far."""
    return sum(chain.iteration for chain in chains)


def phase(chains: list[Chain], lengths: Lengths) -> str:
    """The phase of the slowest chain."""
    slowest = min(chain.iteration for chain in chains)
    return "warm-up" if slowest < lengths.schedule.n_warmup else "sampling"


def summary(chains: list[Chain]) -> str:
    """The ranges over chains of the number of clusters and of the log posterior density."""
    clusters = value_range([str(k) for k in sorted(int(c.labels.max()) + 1 for c in chains)])
    levels = value_range([f"{x:.0f}" for x in sorted(c.log_posterior for c in chains)])
    return f"K {clusters}, log p {levels}"


def value_range(values: list[str]) -> str:
    """The first and the last value, or a single one if they are equal."""
    return values[0] if values[0] == values[-1] else f"{values[0]}..{values[-1]}"

"""The tables of Jain and Neal's experiments, ours beside the printed figures."""

from typing import Any

import numpy as np

from benchmarks.reproductions.jain_neal_chains import (
    EIGHT,
    MAIN,
    N_ITERATIONS,
    SCANS,
    THEIRS,
    sample,
)
from benchmarks.reproductions.pages import Page

# Theirs, as printed.
SECONDS = {
    "Gibbs": (1.1, 1.5, 1.6),
    "simple split": (0.2, 0.4, 0.5),
    "(0,1,0)": (0.3, 0.7, 0.9),
    "(0,1,1)": (1.1, 1.9, 2.2),
    "(5,1,0)": (0.9, 1.9, 2.5),
    "(5,1,1)": (1.6, 3.2, 4.0),
}
TABLE_5 = {"Gibbs": (2.0, 0.9), "(0,1,1)": (2.1, 0.7), "(5,1,1)": (4.0, 0.7)}
TABLE_6 = {
    "(1,1,1)": (2.2, 57.4, 1.5),
    "(3,1,1)": (2.7, 40.5, 1.5),
    "(5,1,1)": (3.2, 31.9, 1.6),
    "(10,1,1)": (4.6, 26.7, 1.6),
    "(20,1,1)": (7.0, 24.2, 1.6),
    "(100,1,1)": (28.8, 18.4, 1.4),
    "(1,2,1)": (3.1, 48.0, 2.0),
    "(1,3,1)": (4.1, 19.5, 1.8),
    "(1,4,1)": (5.1, 19.2, 1.8),
    "(1,5,1)": (6.2, 17.6, 1.9),
    "(1,1,0)": (1.0, 165.8, 41.7),
    "(1,1,2)": (3.3, 63.5, 1.7),
    "(1,1,3)": (4.5, 35.9, 1.0),
    "(1,1,5)": (6.7, 35.3, 1.0),
}
TABLE_7 = dict(zip((f"({t},1,1)" for t, *_ in SCANS), (1.5, 3.1, 3.3, 4.1, 3.7, 4.3), strict=True))


def call_microseconds(sampler) -> float:
    """What an iteration costs where it has nothing to do: two items."""
    X = np.eye(2, 6)
    runs = [sample(X, sampler, np.zeros(2, int), N_ITERATIONS, 0, 0) for _ in range(3)]
    return 1e6 * min(run.seconds for run in runs)


def spread(rows: list[dict], key: str, digits: int = 1) -> str:
    """Mean over the data sets +- standard deviation [median]; how many traces are constant."""
    values = np.array([row[key] for row in rows], float)
    constant = int(np.isnan(values).sum())
    means = np.array([np.nanmean(v) for v in values if not np.isnan(v).all()])
    note = f" ({constant} of {values.size} constant)" if constant else ""
    if not len(means):
        return "all constant"
    text = f"{means.mean():.{digits}f} +- {means.std(ddof=min(1, len(means) - 1)):.{digits}f}"
    return f"{text} [{np.median(means):.{digits}f}]{note}"


def total(rows: list[dict], key: str) -> int:
    return int(sum(row[key][0] for row in rows))


def print_times(page: Page, results: dict) -> None:
    calls = {name: call_microseconds(sampler) for name, sampler in MAIN.items()}
    lines = []
    for name, theirs in SECONDS.items():
        line: list[Any] = [name]
        for example in THEIRS:
            rows, gibbs = results[example, name], results[example, "Gibbs"]
            ours, unit = (np.mean([r["microseconds"] for r in x]) for x in (rows, gibbs))
            seconds = theirs[example - 1]
            line += [
                spread(rows, "microseconds", 0),
                seconds,
                f"{ours / unit:.1f}",
                f"{(ours - calls[name]) / (unit - calls['Gibbs']):.1f}",
                f"{seconds / SECONDS['Gibbs'][example - 1]:.1f}",
            ]
        lines.append([*line, f"{calls[name]:.0f}"])
    columns = " | ".join(f"Ex. {e}: us | s | ratio | net | theirs" for e in THEIRS)
    page.table("Table 4", f"method | {columns} | two items: us", lines)


def print_autocorrelation(page: Page, results: dict) -> None:
    """Tables 5 to 7, under both priors of the attributes."""
    columns = [
        ("share", 1.0, "trace 1, Beta(1, 1)"),
        ("share", 0.5, "Beta(1/2, 1/2)"),
        (None, 0, "theirs"),
        ("their pair", 1.0, "pair 13, 42, Beta(1, 1)"),
        ("their pair", 0.5, "Beta(1/2, 1/2)"),
        (None, 1, "theirs"),
        ("joined", 1.0, "joined pair, Beta(1, 1)"),
        ("joined", 0.5, "Beta(1/2, 1/2)"),
    ]
    page.table("Table 5", *times(results, 1, TABLE_5, columns))
    printed = {name: values[1:] for name, values in TABLE_6.items()}
    page.table("Table 6", *times(results, 2, printed, columns))
    stated = [column for column in columns if column[1] != 0.5 or column[0] is None]
    page.table("Table 6, 8 attributes", *times(results, EIGHT, printed, stated))
    cases = {"Beta(1, 1)": (2, 1.0), "Beta(1/2, 1/2)": (2, 0.5), "8 attributes": (EIGHT, 1.0)}
    lines = [
        [k, *(spread(results[e, k, b], "percent", 2) for e, b in cases.values()), theirs]
        for k, theirs in TABLE_7.items()
    ]
    page.table("Table 7", " | ".join(["accepted, %", *cases, "theirs"]), lines)
    lines = [
        [example, f"Beta({b:g}, {b:g})", *together(results[example, name, b])]
        for example, name in ((1, "(5,1,1)"), (2, "(5,1,1)"), (EIGHT, "(5,1,1)"))
        for b in (1.0, 0.5)
        if (example, name, b) in results
    ]
    head = "Example | prior | items 13 and 42 | sets with 10 to 90 % | items 33 and 42"
    page.table("Together", f"{head} | sets with 10 to 90 %", lines)
    costs = [
        [name, *(spread(results[e, name, b], "microseconds", 0) for e, b in cases.values()), row[0]]
        for name, row in TABLE_6.items()
    ]
    page.table("Times", " | ".join(["us per iteration", *cases, "theirs, s"]), costs)


def together(rows: list[dict]) -> list[Any]:
    """How often two pairs of items share a cluster, and in how many sets now and then."""
    shares = np.array([row["together"] for row in rows])
    often = ((shares >= 0.1) & (shares <= 0.9)).sum(axis=0)
    means, medians = shares.mean(axis=0), np.median(shares, axis=0)
    return [
        cell
        for mean, median, count in zip(means, medians, often, strict=True)
        for cell in (f"{mean:.2f} [{median:.2f}]", count)
    ]


def times(results: dict, example: int | str, printed: dict, columns: list) -> tuple[str, list]:
    """Head and lines of a table of autocorrelation times, ours beside theirs."""
    lines = []
    for name, theirs in printed.items():
        cells = [
            theirs[number] if key is None else spread(results[example, name, number], key)
            for key, number, _ in columns
        ]
        lines.append([name, *cells])
    return " | ".join(["method", *(title for *_, title in columns)]), lines


def print_claims(page: Page, results: dict, references: dict) -> None:
    lines = []
    for (example, name), rows in results.items():
        if name not in MAIN:
            continue
        reached = np.array([row["reached"][0] for row in rows])
        never = int(np.isnan(reached).sum())
        soon = f"{np.nanmedian(reached):.0f}" if never < len(reached) else ""
        lines.append(
            [
                example,
                name,
                spread(rows, "gap", 3),
                total(rows, "right"),
                total(rows, "shares right"),
                spread(rows, "score", 2),
                len(rows) - never,
                soon,
                total(rows, "both"),
                spread(rows, "percent", 2) if name != "Gibbs" else "",
            ]
        )
    lines.sort(key=lambda line: str(line[0]))
    head = (
        "Example | method | gap | sets right | sets of right shares | ARI with truth | "
        "sets that reach the level | median iteration | sets in 4 and 5 | accepted, %"
    )
    page.table("Claims", head, lines)
    print_references(page, references)


def print_references(page: Page, references: dict) -> None:
    """The long chains that the others are compared with."""
    lines = []
    for example, found in references.items():
        scores, gaps = [r["score"] for r in found], [r["half_gap"] for r in found]
        chances = [f"{p:.2f}" for p in np.mean([r["chances"] for r in found], axis=0)]
        agreement = f"{np.mean(scores):.2f} +- {np.std(scores):.2f}"
        halves = f"{np.mean(gaps):.4f}, at most {max(gaps):.4f}"
        lines.append([example, agreement, halves, *chances, sum(r["both"] for r in found)])
    head = "Example | ARI with truth | gap between halves | three large clusters | four | five"
    page.table("References", f"{head} | sets in 4 and 5", lines)


def print_singletons(page: Page, stays: dict) -> None:
    """How long Gibbs from singletons keeps five components."""
    lines = [
        [example, f"Beta({beta:g}, {beta:g})", *stay_figures(rows)]
        for (example, beta), rows in sorted(stays.items())
    ]
    head = "Example | prior | sets that have five | first sweep with five | sweeps until they leave"
    page.table("Gibbs from singletons", f"{head} | sets that never leave", lines)


def stay_figures(rows: list[list[float]]) -> list[Any]:
    """How many sets have five large clusters, medians of when and how long, how many stay."""
    first, stay = np.array(rows).T
    has = ~np.isnan(first)
    long = np.where(np.isnan(stay), np.inf, stay)[has]
    middle = np.median(long) if has.any() else np.nan
    return [
        has.sum(),
        f"{np.nanmedian(first):.0f}",
        f"{middle:.0f}" if np.isfinite(middle) else f"more than {N_ITERATIONS}",
        np.isinf(long).sum(),
    ]

"""Tables, figures and the csv file of the reproduction of particle Gibbs split-merge."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproductions.pages import Page
from benchmarks.reproductions.pgsm_chains import FIRST_TIME, Data, Trace, density, labelled, sources
from bnpcluster._core.state import State

TIMES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the csv file, besides the end
CLOSE = 0.02  # nats per row from the best method

COLUMNS = {1: "held-out log density", 2: "V-measure", 3: "clusters"}

Panels = list[tuple[str, str, dict[str, Any]]]
"""Title, data set, methods by name."""


def curves(traces: list[Trace], times: np.ndarray, column: int) -> np.ndarray:
    """A column of every trace as it stood at some times, restart by restart."""
    found = [t.rows[np.searchsorted(t.rows[:, 0], times, side="right") - 1, column] for t in traces]
    return np.array(found)


def last(traces: list[Trace], column: int) -> np.ndarray:
    """Where the chains ended."""
    return np.array([t.rows[-1, column] for t in traces])


def best_of(traces: dict[str, list[Trace]]) -> float:
    """The final held-out density of the best method on a data set."""
    return max(float(np.median(last(found, 1))) for found in traces.values())


def seconds_to(traces: list[Trace], level: float) -> np.ndarray:
    """When each chain first reached a held-out density; infinity for never."""
    reached = [t.rows[t.rows[:, 1] >= level, 0] for t in traces]
    return np.array([r[0] if len(r) else np.inf for r in reached])


def span(values: np.ndarray, digits: int) -> str:
    """Median [least, largest]."""
    cells = [f"{v:.{digits}f}" for v in (np.median(values), values.min(), values.max())]
    return f"{cells[0]} [{cells[1]}, {cells[2]}]"


def line(name: str, method: str, traces: dict[str, list[Trace]]) -> list[Any]:
    """One line of a table."""
    found = traces[method]
    level = best_of(traces) - CLOSE
    reached = np.median(seconds_to(found, level))
    end = int(np.sum(last(found, 1) >= level))
    rate = np.median([t.iterations / t.rows[-1, 0] for t in found])
    agreement = span(last(found, 2), 3) if np.isfinite(last(found, 2)).all() else "no labels"
    return [
        name,
        method,
        span(last(found, 1), 3),
        agreement,
        span(last(found, 3), 0),
        f"{reached:.2g}" if np.isfinite(reached) else "not reached",
        f"{end}/{len(found)}",
        f"{rate:.0f}",
    ]


def print_tables(
    page: Page, figures: dict[str, Panels], everything: dict[str, dict[str, list[Trace]]]
) -> None:
    """One table in Markdown per figure."""
    head = (
        "panel | method | held-out log density | V-measure | clusters | seconds to within "
        f"{CLOSE} of the best | within it at the end | iterations per second"
    )
    for figure, panels in figures.items():
        rows = [
            line(title, method, everything[name])
            for title, name, methods in panels
            if name in everything
            for method in methods
        ]
        if rows:
            page.table(f"Figure {figure.replace('_', ', ')}", head, rows)


def print_middle(data: Data, traces: dict[str, list[Trace]]) -> None:
    """Clusters that hold at least a tenth of the central cluster of C1, and less of the others."""
    print("\nC1: chains by the number of clusters that model the middle\n")
    for method, found in traces.items():
        counts: list[int] = []
        for t in found:
            inside = np.bincount(t.labels[data.truth == 0], minlength=t.labels.max() + 1)
            share = inside / np.bincount(t.labels)
            counts.append(int(np.sum((inside >= 0.1 * inside.sum()) & (share > 0.5))))
        print(f"- {method}: {dict(sorted((k, counts.count(k)) for k in set(counts)))}")


def print_rejections(data: dict[str, Any], by_anchors: dict[str, Any]) -> None:
    """What becomes of the first moves of a chain, by the law of the anchors."""
    print("\nMoves of one chain from the single cluster\n")
    for name, n_moves in (("S1", 800), ("Ber-0.25", 60)):
        made = data[name]()
        for method, sampler in by_anchors.items():
            state = State(made.likelihood.bind(made.X), made.prior, np.zeros(len(made.X), int))
            state.adapting = True  # tables of anchors follow records
            rng, counts = np.random.default_rng(0), Counter()
            for _ in range(n_moves):
                counts.update(sampler.step(state, rng))
            print(
                f"- {name}, {method}: {counts['rejected']} of {n_moves} proposals rejected, "
                f"{counts['changed']} changed the partition, {state.n_blocks} clusters"
            )


def print_log_joint(data: dict[str, Any], everything: dict[str, dict[str, list[Trace]]]) -> None:
    """Log joint density of the final states on the DIM sets: median [least, largest]."""
    print("\nLog joint density at the end\n")
    for name in ("DIM064", "DIM128"):
        if name not in everything:
            continue
        made = data[name]()
        bound = made.likelihood.bind(made.X)
        for method, found in everything[name].items():
            ends = [t.state(made, bound).log_joint() for t in found]
            print(f"- {name}, {method}: {span(np.array(ends), 0)}")


def print_scaling(folder: Path) -> None:
    """Log joint density of coarse partitions and of the true one, by the scale of the columns."""
    head = "| data | columns | one cluster | 2 | 4 | 8 | the true 16 |"
    print(f"\nLog joint densities\n\n{head}\n{'|---' * 7}|")
    for name in ("dim064", "dim128"):
        for scale in (False, True):
            data = labelled(folder / f"dim_sets/{name}.csv.gz", scale)
            bound = data.likelihood.bind(data.X)
            pooled = [data.truth // size for size in (16, 8, 4, 2, 1)]
            cells = [f"{State(bound, data.prior, labels).log_joint():.0f}" for labels in pooled]
            columns = "standardised" if scale else "as they are"
            print(f"| {name.upper()} | {columns} | {' | '.join(cells)} |")


def write_csv(path: Path, everything: dict[str, dict[str, list[Trace]]]) -> None:
    """Medians over restarts at a few times and at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "data,method,restarts,seconds,held_out,held_out_low,held_out_high,v_measure,clusters"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head.split(","))
        for name, traces in everything.items():
            for method, found in traces.items():
                end = float(np.median(last(found, 0)))
                times = np.array([t for t in TIMES if t < end] + [np.inf])
                held_out, agreement, clusters = (curves(found, times, c) for c in (1, 2, 3))
                for j, t in enumerate(times):
                    low, middle, high = np.quantile(held_out[:, j], (0, 0.5, 1))
                    values = (middle, low, high, np.median(agreement[:, j]))
                    texts = ["" if np.isnan(v) else f"{v:.4f}" for v in values]
                    at, count = round(min(t, end), 2), np.median(clusters[:, j])
                    writer.writerow([name, method, len(found), at, *texts, f"{count:g}"])


def draw(figure: str, panels: Panels, everything: dict, folder: Path) -> None:
    """Held-out density and V-measure against CPU seconds: medians and quartiles."""
    from matplotlib.figure import Figure

    panels = [panel for panel in panels if panel[1] in everything]
    if not panels:
        return
    canvas = Figure(figsize=(8.4, 2.7 * len(panels) + 0.3), layout="constrained")
    grid = canvas.subplots(len(panels), 2, squeeze=False)
    for (title, name, methods), pair in zip(panels, grid, strict=True):
        traces = {m: everything[name][m] for m in methods}
        # Where there are no labels, the number of clusters is shown.
        agreement = 2 if np.isfinite(last(next(iter(traces.values())), 2)).all() else 3
        for axes, column in zip(pair, (1, agreement), strict=True):
            draw_panel(axes, traces, column)
            axes.set_title(f"{title}: {COLUMNS[column]}", fontsize="medium")
        if agreement == 3:
            pair[1].set_yscale("log")
        pair[0].legend(fontsize=6)
    canvas.supxlabel("CPU seconds", fontsize="medium")
    folder.mkdir(parents=True, exist_ok=True)
    canvas.savefig(folder / f"pgsm_{figure}.png", dpi=74, pil_kwargs={"optimize": True})


def draw_panel(axes: Any, traces: dict[str, list[Trace]], column: int) -> None:
    for method, found in traces.items():
        times = np.geomspace(2 * FIRST_TIME, np.median(last(found, 0)), 60)
        low, middle, high = np.quantile(curves(found, times, column), (0.25, 0.5, 0.75), axis=0)
        (drawn,) = axes.plot(times, middle, lw=1, label=method)
        axes.fill_between(times, low, high, color=drawn.get_color(), alpha=0.15, lw=0)
    axes.set_xscale("log")


def draw_maps(data: Data, traces: dict[str, list[Trace]], path: Path) -> None:
    """The predictive density of the last state of one chain per method, on a grid."""
    from matplotlib.figure import Figure

    bound = data.likelihood.bind(data.X)
    (x0, y0), (x1, y1) = data.X.min(axis=0) - 0.1, data.X.max(axis=0) + 0.1
    # Columns are latitude and longitude.
    lat, lon = np.meshgrid(np.linspace(x0, x1, 110), np.linspace(y0, y1, 80), indexing="ij")
    rows = np.column_stack([lat.ravel(), lon.ravel()])
    canvas = Figure(figsize=(9.5, 4.8), layout="constrained")
    axes = canvas.subplots(2, 5).ravel()
    for box in axes:
        box.set_axis_off()
    axes[0].plot(data.X[:, 1], data.X[:, 0], ",", color="black")
    axes[0].set(title="data", xlim=(y0, y1), ylim=(x0, x1))
    for box, (method, found) in zip(axes[1:], traces.items(), strict=False):
        state = found[0].state(data, bound)
        image = density(state, data.likelihood, rows).reshape(lat.shape)
        box.imshow(image, origin="lower", extent=(y0, y1, x0, x1), aspect="auto", vmin=-12, vmax=3)
        box.set_title(f"{method} ({state.n_blocks})", fontsize="small")
    canvas.savefig(path, dpi=80, pil_kwargs={"optimize": True})


def report(
    figures: dict[str, Panels],
    folder: Path,
    everything: dict,
    output: Path,
    page: Page,
) -> None:
    """Figures, the csv file and the tables."""
    data = sources(folder)
    for figure, panels in figures.items():
        draw(figure, panels, everything, output / "figures")
    if "MOPSI" in everything:
        draw_maps(data["MOPSI"](), everything["MOPSI"], output / "figures/pgsm_9_maps.png")
    if set(everything) == set(data):  # not after a partial run
        write_csv(output / "reproductions/pgsm.csv", everything)
    print_tables(page, figures, everything)
    if "C1" in everything:
        print_middle(data["C1"](), everything["C1"])
    print_scaling(folder)
    print_log_joint(data, everything)
    if "4" in figures:
        print_rejections(data, {title: m for title, _, m in figures["4"]}["Ber-0.5"])

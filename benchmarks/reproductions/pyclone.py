"""Figure 10 of the paper on particle Gibbs split-merge: 10,000 mutations under PyClone's law.

`python -m benchmarks.reproductions.pyclone [--budget 10] [--restarts 10] [--output DIR]` runs
Gibbs, SAMS and PGSM, pure and mixed, against the CPU clock, from one cluster, and prints a table in
Markdown; the figure needs matplotlib. Anchors of SAMS and PGSM are informed, by tables that are
made again at every record of the number of clusters. `--iterations 1000` runs particle Gibbs for
that many iterations instead, and prints the seconds.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import v_measure_score

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from benchmarks.reproductions.pgsm import pgsm, sams
from benchmarks.reproductions.pgsm_chains import Data, Trace, compile_kernels, part, trace
from benchmarks.reproductions.pgsm_report import curves, last, span
from bnpcluster._core.state import State
from bnpcluster._fitting.rounds import BOUNDARY
from bnpcluster.likelihoods import PyClone
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import PGSM, Gibbs, SplitMerge

HERE = Path(__file__).resolve().parents[2]
METHODS: dict[str, Any] = {
    "Gibbs": Gibbs(),
    "SAMS, pure": sams(),
    "SAMS, mixed": sams(n_gibbs=1),
    "PGSM, pure": pgsm(),
    "PGSM, mixed": pgsm(n_gibbs=1),
    "SplitMerge": SplitMerge(),
}
TIMED = {
    "the paper's settings": pgsm(n_gibbs=1),
    "PGSM(n_moves=1)": PGSM(n_moves=1),
    "PGSM()": PGSM(),
}
COPIES = [(1, 1), (2, 1), (2, 0), (1, 0)]  # major and minor, with the shares below
SHARES = [0.6, 0.2, 0.1, 0.1]
CONTENT, DEPTH, ERROR = 0.8, 1000, 1e-3


def simulated(n: int, n_clusters: int, depth: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Mutations of one tumour sample, and their clusters.

    Clusters are equally probable, their prevalences uniform; depths are Poisson; one to major_cn
    copies are mutated.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=n)
    phi = rng.uniform(0.05, 1.0, n_clusters)[truth]
    major, minor = np.array(COPIES)[rng.choice(len(COPIES), size=n, p=SHARES)].T
    total, mutated = major + minor, rng.integers(1, major + 1)
    chance = np.where(mutated == total, 1 - ERROR, mutated / total)
    normal = 2 * (1 - CONTENT) + 2 * CONTENT * (1 - phi)
    shown = normal * ERROR + CONTENT * phi * total * chance
    depths = rng.poisson(depth, n)
    alt = rng.binomial(depths, shown / (normal + CONTENT * phi * total))
    columns = [depths - alt, alt, np.full(n, 2), major, minor, np.full(n, CONTENT)]
    return np.column_stack(columns).astype(float), truth


def data() -> Data:
    """The rows of the reproduction, a tenth of them held out."""
    X, truth = simulated(10_000, 10, DEPTH, 0)
    return part(X, truth, PyClone())


def gather(given: Any) -> dict[str, list[Trace]]:
    """All traces; those that are missing are run, all methods in turn."""
    done, traces = Finished(given.finished), {}
    made = data()
    bound = made.likelihood.bind(made.X)

    def work(method: str, restart: int) -> dict[str, Any]:
        compile_kernels(made, bound, METHODS[method])
        chain = trace(made, bound, METHODS[method], given.budget, restart)
        seconds, held_out, agreement, clusters = chain.rows[-1]
        print(
            f"{method}, chain {restart + 1}: {held_out:.4f}, V {agreement:.3f}, "
            f"{clusters:.0f} clusters, {chain.iterations} iterations, {seconds:.2f} s",
            flush=True,
        )
        return chain.plain()

    for restart in range(given.restarts):
        for method, sampler in METHODS.items():
            key = (method, repr(sampler), given.budget, restart)
            plain = done.get(key, lambda m=method, r=restart: work(m, r))
            traces.setdefault(method, []).append(Trace.read(plain))
    return traces


def print_table(page: Page, traces: dict[str, list[Trace]]) -> None:
    """Where the chains ended: median [least, largest]."""
    rows = []
    for method, found in traces.items():
        rate = np.median([t.rows[-1, 0] / t.iterations for t in found])
        cells = [span(last(found, column), digits) for column, digits in ((1, 3), (2, 3), (3, 0))]
        rows.append([method, *cells, f"{1e3 * rate:.1f}"])
    head = "method | held-out log probability | V-measure | clusters | ms per iteration"
    page.table("Figure 10", head, rows)


def draw(traces: dict[str, list[Trace]], path: Path) -> None:
    """Every restart, and the median, against CPU time."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    end = min(t.rows[-1, 0] for found in traces.values() for t in found)
    times = np.geomspace(0.02, end, 60)
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey="row")
    for row, (column, label) in enumerate([(1, "held-out log probability"), (2, "V-measure")]):
        for ax, kind in zip(axes[row], ("pure", "mixed"), strict=True):
            for number, (method, found) in enumerate(traces.items()):
                if "," in method and kind not in method:
                    continue
                values, colour = curves(found, times, column), f"C{(number + 1) // 2}"
                ax.plot(times, np.median(values, axis=0), color=colour, label=method)
                ax.plot(times, values.T, color=colour, lw=0.4, alpha=0.5)
            ax.set_xscale("log")
        axes[row, 0].set_ylabel(label)
    ends = [np.median(last(found, 1)) for found in traces.values()]
    axes[0, 0].set_ylim(min(ends) - 0.2, max(ends) + 0.02)
    axes[1, 0].set_ylim(0.35)
    for ax in axes[0]:
        ax.legend(fontsize=8, loc="lower right")
    for ax in axes[1]:
        ax.set_xlabel("CPU seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def time_iterations(iterations: int) -> None:
    """A chain of particle Gibbs from one cluster to the end, per depth and setting; one process."""
    print("| depth | sampler | CPU s | wall s | clusters | V-measure |\n|---|---|---|---|---|---|")
    for depth in (DEPTH, 100):
        X, truth = simulated(10_000, 10, depth, 0)
        bound = PyClone().bind(X)
        for name, sampler in TIMED.items():
            walk(State(bound, DirichletProcess(), np.zeros(len(X), int)), sampler, 1)  # compiles
            state = State(bound, DirichletProcess(), np.zeros(len(X), int))
            cpu, wall = time.process_time(), time.perf_counter()
            walk(state, sampler, iterations)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            cells = f"{state.n_blocks} | {v_measure_score(truth, state.labels):.3f}"
            print(f"| {depth} | {name} | {cpu:.1f} | {wall:.1f} | {cells} |", flush=True)


def walk(state: State, sampler: Any, iterations: int) -> None:
    """What a fit does: the first half adapts, alpha is sampled, statistics are made anew."""
    rng = np.random.default_rng(0)
    for number in range(1, iterations + 1):
        state.adapting = number <= iterations // 2
        sampler.step(state, rng)
        state.set_prior(state.prior.update(state.sizes, len(state.labels), rng))
        if number % BOUNDARY == 0:
            state.rebuild()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=10.0, help="CPU seconds of a run")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--output", type=Path, default=HERE / "doc")
    parser.add_argument("--iterations", type=int, help="time particle Gibbs, and nothing else")
    finished.add_argument(parser, "pyclone")
    pages.add_argument(parser)
    given = parser.parse_args(arguments)
    if given.iterations:
        return time_iterations(given.iterations)
    begin = time.process_time()
    traces = gather(given)
    print_table(Page(given.page), traces)
    draw(traces, given.output / "figures/pyclone_10.png")
    print(f"\n{time.process_time() - begin:.0f} CPU seconds in all.")


if __name__ == "__main__":
    main()

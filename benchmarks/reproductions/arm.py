"""The experiments on adaptive reconfiguration moves, ours beside the printed figures.

`python -m benchmarks.reproductions.arm --data DIR [--parts four bernoulli networks variants chains]
[--restarts 4] [--sets 20] [--output DIR]` prints the tables in Markdown. DIR holds one folder with
an `edges.csv.gz` for each network. With `--output` it also draws the figures there (this needs
matplotlib).
"""

from __future__ import annotations

import argparse
import copy
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.reproductions.jain_neal import COMPONENTS, sizes, table
from bnpcluster._fitting.rounds import Chain, Schedule, Stop, run_chains
from bnpcluster.diagnostics import autocorrelation_time
from bnpcluster.likelihoods import Bernoulli, Relational
from bnpcluster.partitions import relabel
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import ARM, Gibbs, JainNeal
from bnpcluster.testing.enumeration import enumerated

WARM_UP = 50  # Gibbs sweeps of every chain before anything else
SHORT = 40  # iterations from which the cost of one is found, after as many others

GIBBS, SM, BSM = "Gibbs", "SM", "bSM"
METHODS: dict[str, Any] = {
    GIBBS: Gibbs(),
    SM: JainNeal(n_restricted=5),
    "ARM": ARM(archive="adaptive"),
}
VARIANTS: dict[str, Any] = {
    GIBBS: Gibbs(),
    SM: JainNeal(n_restricted=5),
    BSM: JainNeal(n_restricted=5, launch="archive"),
    "sARM": ARM(archive="adaptive", variant="singletons"),
    "ARM": ARM(archive="adaptive"),
    "ARM, frozen": ARM(),
}
FOLDERS = {
    "NIPS": ("nips234", 234),
    "Hagmann": ("hagmann998", 998),
    "USAir": ("usair97", 332),
    "Caltech": ("facebook_caltech36", 769),
}

# Theirs, as printed: what stands in brackets there is the spread, in units of the last digit.
TABLE_2 = {
    (1, GIBBS): ("116.5(939)", "91.6(889)", "2000"),
    (1, SM): ("27.8(122)", "23.2(103)", "6741(468)"),
    (1, "ARM"): ("14.9(77)", "13.6(71)", "6712(47)"),
    (2, GIBBS): ("165.4(1656)", "131.3(1359)", "2000"),
    (2, SM): ("27.9(149)", "26.4(149)", "6855(482)"),
    (2, "ARM"): ("8.5(50)", "9.2(49)", "6731(59)"),
    (3, GIBBS): ("88.9(1374)", "99.3(1327)", "2000"),
    (3, SM): ("19.3(171)", "30.4(254)", "7503(185)"),
    (3, "ARM"): ("10.8(125)", "14.7(140)", "6705(44)"),
}
TABLE_3 = {
    ("NIPS", 1.0): "20.46(1269) 2.50(153) 1.04(2) 25.40(1090) 3.24(272) 1.01",
    ("NIPS", 0.9): "23.28(765) 2.35(74) 1.00 22.17(764) 2.74(44) 1.00",
    ("NIPS", 0.8): "11.22(278) 2.75(111) 1.01 13.26(452) 2.89(160) 1.01(1)",
    ("Hagmann", 0.4): "15.46(1363) 4.24(181) 1.76(5) 15.96(1397) 4.39(237) 1.77(4)",
    ("Hagmann", 0.3): "9.96(678) 1.69(39) 1.06(7) 10.62(680) 1.81(46) 1.13(16)",
    ("Hagmann", 0.2): "3.78(239) 1.02(1) 1.01 4.54(229) 1.19(23) 1.02(1)",
    ("USAir", 0.9): "2.49(124) 1.30(29) 1.02(2) 2.72(100) 1.82(113) 1.01",
    ("USAir", 0.8): "2.41(107) 2.26(99) 1.00 2.45(113) 2.19(90) 1.00",
    ("USAir", 0.7): "1.04(3) 1.08(4) 1.02(2) 1.04(3) 1.12(8) 1.03(2)",
    ("Caltech", 0.8): "32.13(884) 2.98(101) 1.18(31) 23.65(1666) 2.37(154) 1.26(32)",
    ("Caltech", 0.7): "4.32(249) 2.97(144) 1.01(1) 9.42(940) 2.71(141) 1.04(3)",
    ("Caltech", 0.6): "8.49(462) 2.44(76) 1.01(1) 7.28(335) 2.56(82) 1.03(2)",
}
TABLE_4 = {
    ("NIPS", 1.0): "24.88(823) 2.43(97) 1.12(15) 2.41(277) 1.09(3)",
    ("Hagmann", 0.25): "2.86(88) 1.99(84) 1.65(40) 1.28(33) 1.08(9)",
    ("USAir", 0.8): "2.32(144) 1.94(105) 1.54(74) 1.60(102) 1.01(1)",
    ("Caltech", 0.7): "20.58(1396) 3.41(119) 1.71(119) 1.61(96) 1.11(9)",
}
TABLE_5 = {
    ("NIPS", 1.0): "0.48(3) 1.01(8) 1.37(14) 19.41(128)",
    ("Hagmann", 0.25): "0.14(1) 0.37(6) 1.08(27) 13.56(242)",
    ("USAir", 0.8): "0.04(2) 0.11(4) 0.35(5) 4.10(19)",
    ("Caltech", 0.7): "0.09(4) 0.32(8) 0.84(9) 6.82(43)",
}
SEVERAL = (2, 3, 4, 6, 8, 12, 16)  # chains, of figure 6


class Runs(NamedTuple):
    """Some chains of one method: a row each, one column per kept iteration."""

    log_joint: np.ndarray
    labels: np.ndarray
    counts: Counter
    cost: float  # processor seconds of an iteration of one chain

    @property
    def accepted(self) -> float:
        """Accepted moves in percent."""
        tried = sum(self.counts[name] for name in ("moves", "splits", "merges"))
        names = ("moves_accepted", "splits_accepted", "merges_accepted")
        return 100.0 * sum(self.counts[name] for name in names) / max(tried, 1)


def begin(bound: Any, n: int, n_chains: int, seed: int, sweeps: int = WARM_UP) -> list[Chain]:
    """Chains that begin at draws from the prior and have made their first sweeps."""
    prior = DirichletProcess(1.0)
    generators = [np.random.default_rng([seed, c]) for c in range(n_chains)]
    chains = [Chain(prior.sample(n, rng), prior, rng) for rng in generators]
    return run_chains(chains, bound, Gibbs(), Schedule(1, sweeps - 1, 1), stop=Stop())


def sample(bound: Any, chains: list[Chain], sampler: Any, n_kept: int, n_before: int) -> Runs:
    """Go on with copies of chains; iterations before the kept ones are warm-up."""
    chains = [Chain(c.labels.copy(), c.prior, copy.deepcopy(c.rng)) for c in chains]
    since = time.process_time()
    chains = run_chains(chains, bound, sampler, Schedule(n_kept, n_before, 1), stop=Stop())
    cost = (time.process_time() - since) / ((n_kept + n_before) * len(chains))
    counts: Counter = sum((chain.counts for chain in chains), Counter())
    joint = np.array([[row["log_posterior"] for row in chain.traces] for chain in chains])
    return Runs(joint, np.array([chain.draws for chain in chains]), counts, cost)


def iterations(bound: Any, chains: list[Chain], sampler: Any, sweeps: int, cost: float) -> int:
    """As many iterations as cost so many Gibbs sweeps, and a multiple of four."""
    if isinstance(sampler, Gibbs):
        return sweeps
    ratio = sample(bound, chains, sampler, SHORT, SHORT).cost / cost
    return 4 * max(10, round(sweeps / ratio / 4))


def rhat(log_joint: np.ndarray) -> float:
    """The plain R-hat of Gelman and Rubin: chains in rows, not split, values not ranked."""
    n = log_joint.shape[1]
    within = log_joint.var(axis=1, ddof=1).mean()
    between = log_joint.mean(axis=1).var(ddof=1)
    return float(np.sqrt((n - 1) / n + between / within))


def network(folder: Path, name: str, scale: float) -> tuple[Any, int, int]:
    """Bound data of a network's vertices of highest degree; how many vertices and links."""
    place, n = FOLDERS[name]
    edges = np.genfromtxt(folder / place / "edges.csv.gz", delimiter=",", skip_header=1)
    i, j = edges[:, 0].astype(int), edges[:, 1].astype(int)
    A = scipy.sparse.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    A = ((A + A.T) > 0).astype(float).tocsr()
    degrees = np.asarray(A.sum(axis=1)).ravel()
    kept = np.sort(np.argsort(-degrees, kind="stable")[: round(scale * n)])
    A = A[kept][:, kept]
    return Relational().bind(A), len(kept), A.nnz // 2


def four_vertices(output: Path | None, **_: Any) -> None:
    """Figure 3: how often 160,000 iterations visit each partition of a small graph."""
    A = np.zeros((4, 4))
    for i, j in ((0, 1), (0, 2), (0, 3), (2, 3)):
        A[i, j] = A[j, i] = 1.0
    bound = Relational().bind(A)
    exact = enumerated(bound, DirichletProcess(1.0), 4)
    names = ["".join(map(str, row)) for row in exact.partitions]
    index = {relabel(row).tobytes(): c for c, row in enumerate(exact.partitions)}
    shares = {"exact": exact.probabilities}
    for name, sampler in VARIANTS.items():
        found = sample(bound, begin(bound, 4, 4, 0), sampler, 40_000, 1_000)
        rows, times_seen = np.unique(found.labels.reshape(-1, 4), axis=0, return_counts=True)
        shares[name] = np.zeros(len(index))
        for row, count in zip(rows, times_seen / times_seen.sum(), strict=True):
            shares[name][index[relabel(row).tobytes()]] += count
    lines = [
        [name, *(f"{x:.4f}" for x in share), f"{np.abs(share - exact.probabilities).sum() / 2:.4f}"]
        for name, share in shares.items()
    ]
    table("Figure 3", " | ".join(["method", *names, "distance"]), lines)
    if output:
        axes, save = picture(output / "arm_four_vertices.png", 1)
        for c, (name, share) in enumerate(shares.items()):
            axes[0].bar(np.arange(15) + 0.12 * c, share, 0.12, label=name)
        axes[0].set(xticks=np.arange(15) + 0.36, ylabel="share of draws")
        axes[0].set_xticklabels(names, rotation=90)
        axes[0].set_ylim(0, 0.3)
        axes[0].legend(ncols=3, fontsize="small", loc="upper center")
        save()


def simulate(d: int, seed: int) -> np.ndarray:
    """One hundred items of the five components of Jain and Neal, with d attributes."""
    ones = np.array([[c == "1" for c in name.ljust(d, name[-1])] for name in COMPONENTS])
    uniforms = np.random.default_rng(seed).random((100, d))
    return (uniforms < np.repeat(np.where(ones, 0.95, 0.05), 20, axis=0)).astype(float)


def times(found: Runs) -> tuple[float, float]:
    """Autocorrelation times of the largest share and of indicators of pairs, over the chains.

    Of 15 items, 3 per component: for each the largest time of its pairs, and their mean. Chains
    whose trace is constant have no time.
    """
    items = (20 * np.arange(5)[:, None] + np.arange(3)).ravel()
    shares, indicators = [], []
    for labels in found.labels:
        shares.append(autocorrelation_time(sizes(labels)[:, 0]))
        few = labels[:, items]
        pairs = [
            [autocorrelation_time(few[:, i] == few[:, j]) for j in range(15)] for i in range(15)
        ]
        largest = [np.nanmax(row) for row in pairs if not np.isnan(row).all()]
        indicators.append(np.mean(largest) if largest else np.nan)
    return float(np.nanmean(shares)), float(np.nanmean(indicators))


def bernoulli(output: Path | None, sets: int, **_: Any) -> None:
    """Table 2, and figure 4: the share of the largest cluster in Example 2."""
    lines = []
    for example, d in ((1, 6), (2, 8), (3, 10)):
        found: dict[str, list] = {name: [] for name in METHODS}
        for seed in range(sets):
            bound = Bernoulli().bind(simulate(d, seed))
            chains, costs = begin(bound, 100, 8, seed), {}
            for name, sampler in METHODS.items():
                runs = sample(bound, chains, sampler, 2000, 0)
                costs[name] = runs.cost
                found[name].append((*times(runs), 2000 * runs.cost / costs[GIBBS]))
                if output and seed == 0 and example == 2:
                    draw_traces(name, runs, output)
        for name, rows in found.items():
            mean, spread = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
            ours = [f"{m:.1f} +- {s:.1f}" for m, s in zip(mean, spread, strict=True)]
            both = [x for pair in zip(ours, TABLE_2[example, name], strict=True) for x in pair]
            lines.append([example, name, *both])
    head = "Example | method | share | theirs | indicator | theirs | standardised | theirs"
    table("Table 2", head, lines)


def several(bound: Any, n: int, methods: dict, sweeps: int, restarts: int) -> dict[str, list[Runs]]:
    """Runs of every method that cost as much as so many sweeps; a quarter of them is warm-up."""
    found: dict[str, list[Runs]] = {name: [] for name in methods}
    lengths: dict[str, int] = {}
    for seed in range(restarts):
        chains = begin(bound, n, 8, seed)
        if not lengths:
            cost = sample(bound, chains, Gibbs(), SHORT, SHORT).cost
            lengths = {k: iterations(bound, chains, m, sweeps, cost) for k, m in methods.items()}
        for name, sampler in methods.items():
            t = lengths[name]
            found[name].append(sample(bound, chains, sampler, t - t // 4, t // 4))
    return found


def mean_and_spread(values: list[float], digits: int = 2) -> str:
    return f"{np.mean(values):.{digits}f} +- {np.std(values):.{digits}f}"


def halves(runs: list[Runs]) -> tuple[str, str]:
    """R-hat of the second half of all iterations, and of the second quarter alone."""
    third = [r.log_joint.shape[1] // 3 for r in runs]
    last = [rhat(r.log_joint[:, t:]) for r, t in zip(runs, third, strict=True)]
    early = [rhat(r.log_joint[:, :t]) for r, t in zip(runs, third, strict=True)]
    return mean_and_spread(last), mean_and_spread(early)


def networks(data: Path, restarts: int, **_: Any) -> None:
    """Table 3: R-hat of the log joint after 2,000 and 1,000 standardised iterations."""
    lines = []
    for (name, scale), theirs in TABLE_3.items():
        bound, n, n_links = network(data, name, scale)
        found = several(bound, n, METHODS, 2000, restarts)
        values = [halves(runs) for runs in found.values()]
        ours = [long for long, _ in values] + [short for _, short in values]
        both = [x for pair in zip(ours, theirs.split(), strict=True) for x in pair]
        lines.append([f"{name} {scale}: {n}, {n_links}", *both])
    head = " | ".join(f"{T}: {name} | theirs" for T in (2000, 1000) for name in METHODS)
    table("Table 3", f"network: vertices, links | {head}", lines)


def variants(data: Path, restarts: int, **_: Any) -> None:
    """Tables 4 and 5: R-hat after 1,000 standardised iterations, acceptance, of all variants."""
    first, second = [], []
    for (name, scale), theirs in TABLE_4.items():
        bound, n, _n_links = network(data, name, scale)
        found = several(bound, n, VARIANTS, 1000, restarts)
        printed = [*theirs.split(), ""]
        first.append([f"{name} {scale}"])
        for runs, value in zip(found.values(), printed, strict=True):
            first[-1] += [halves(runs)[0], value]
        printed = ["", *TABLE_5[name, scale].split(), ""]
        second.append([f"{name} {scale}"])
        for (method, runs), value in zip(found.items(), printed, strict=True):
            if method != GIBBS:
                second[-1] += [mean_and_spread([r.accepted for r in runs]), value]
    names = list(VARIANTS)
    table("Table 4", " | ".join(["network", *(f"{n} | theirs" for n in names)]), first)
    table("Table 5", " | ".join(["network", *(f"{n} | theirs" for n in names[1:])]), second)


def chains_together(data: Path, restarts: int, output: Path | None, **_: Any) -> None:
    """Figure 6: R-hat of ARM against the number of chains that share an archive."""
    lines = []
    for name, scale in (("NIPS", 1.0), ("USAir", 0.8)):
        bound, n, _n_links = network(data, name, scale)
        for n_chains in SEVERAL:
            row = [
                rhat(sample(bound, begin(bound, n, n_chains, s), METHODS["ARM"], 250, 250)[0])
                for s in range(restarts)
            ]
            lines.append([f"{name} {scale}", n_chains, mean_and_spread(row), np.mean(row)])
    table("Figure 6", "network | chains | R-hat after 500 iterations", [row[:3] for row in lines])
    if output:
        axes, save = picture(output / "arm_chains.png", 1)
        for name in ("NIPS 1.0", "USAir 0.8"):
            values = [row[3] for row in lines if row[0] == name]
            axes[0].plot(SEVERAL, values, "o-", label=name)
        axes[0].set(xlabel="chains", ylabel="R-hat after 500 iterations")
        axes[0].legend()
        save()


def traces(data: Path, output: Path | None, **_: Any) -> None:
    """Figure 5: the log joint density of eight chains against standardised iterations."""
    if not output:
        return
    scales = {"NIPS": 1.0, "USAir": 1.0, "Hagmann": 0.4, "Caltech": 0.6}
    axes, save = picture(output / "arm_traces.png", 4)
    for ax, (name, scale) in zip(axes, scales.items(), strict=True):
        bound, n, _n_links = network(data, name, scale)
        chains = begin(bound, n, 8, 0)
        cost = sample(bound, chains, Gibbs(), SHORT, SHORT).cost
        for (method, sampler), colour in zip(METHODS.items(), ("C0", "C1", "C3"), strict=True):
            length = iterations(bound, chains, sampler, 2000, cost)
            found = sample(bound, chains, sampler, length, 0)
            x = np.linspace(2000 / length, 2000, length)
            ax.semilogx(x, found.log_joint.T, color=colour, lw=0.5)
            ax.plot([], [], color=colour, label=method)
        low = np.quantile(found.log_joint, 0.001)
        ax.set(title=f"{name} {scale}: {n} vertices", ylim=(low - 300, None))
        ax.legend()
    axes[-1].figure.supxlabel("standardised iteration", fontsize="medium")
    save()


def draw_traces(name: str, found: Runs, output: Path) -> None:
    """Figure 4 for one method: the cumulative shares of the largest clusters of a chain."""
    axes, save = picture(output / f"arm_shares_{name.lower()}.png", 1)
    axes[0].plot(sizes(found.labels[0])[:, :5].cumsum(axis=1) / 100, lw=0.6)
    axes[0].set(title=name, xlabel="iteration", ylabel="share of the 1 to 5 largest", ylim=(0, 1))
    save()


def picture(path: Path, n_axes: int) -> tuple[list[Any], Callable[[], None]]:
    """Axes side by side, and what saves their figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * min(n_axes, 2), 3.2 * -(-n_axes // 2)), layout="constrained")
    axes = figure.subplots(-(-n_axes // 2), min(n_axes, 2), squeeze=False).ravel().tolist()
    path.parent.mkdir(parents=True, exist_ok=True)
    return axes, lambda: figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})


PARTS = {
    "four": four_vertices,
    "bernoulli": bernoulli,
    "networks": networks,
    "variants": variants,
    "chains": chains_together,
    "traces": traces,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the networks")
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--restarts", type=int, default=4, help="of the chains of a network")
    parser.add_argument("--sets", type=int, default=20, help="data sets per Example")
    parser.add_argument("--output", type=Path, help="folder for the figures")
    arguments = parser.parse_args()
    settings = {k: getattr(arguments, k) for k in ("data", "restarts", "sets", "output")}
    for part in arguments.parts:
        since = time.perf_counter()
        PARTS[part](**settings)
        print(f"\n{part}: {time.perf_counter() - since:.0f} s", flush=True)


if __name__ == "__main__":
    main()

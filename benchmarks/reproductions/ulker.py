"""Annealed SMC on three overlapping Gaussian components: Tables II and III and figure 1.

`python -m benchmarks.reproductions.ulker [--runs N] [--density FILE]`. Prints Markdown tables; with
`--density` writes the density estimates of all runs at kappa = 0.05 as a picture. The data of the
paper are not given, so ours are drawn from the parameters below.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import AnnealedSMC, UrnSMC

# Means, standard deviations, weights, seed. D-1 overlaps; its seed is the one of 0 to 9 whose data
# come nearest to the printed rows.
DATA = {
    "D-1": ((0.0, 2.5, 5.4), (1.0, 1.0, 1.0), (1 / 3, 1 / 3, 1 / 3), 4),
    "D-2": ((0.0, 4.0, 9.0), (0.7, 1.0, 1.5), (0.3, 0.4, 0.3), 3),
}
PRIOR = {"kappa": 0.003, "shape": 2.0, "scale": 1.0}  # the mean is that of the data
SAMPLERS = {
    "SMC-G": AnnealedSMC(n_particles=100, anneal=False),
    "SMC-A": AnnealedSMC(n_particles=100),
    "PF": UrnSMC(n_particles=1000),
}
CASES = [
    (0.05, "D-1", "SMC-G"),
    (0.05, "D-1", "SMC-A"),
    *[(0.5, data, name) for data in DATA for name in SAMPLERS],
]
SIZES = (200, 500, 1000)
# Theirs, as printed: numbers of components, in brackets what is taken for a variance.
PRINTED = {
    (0.05, "D-1", "SMC-G"): ("2.05 (0.002)", "2.54 (0.249)", "2.71 (0.255)"),
    (0.05, "D-1", "SMC-A"): ("2.13 (0.003)", "3.05 (0.012)", "3.07 (0.003)"),
    (0.5, "D-1", "SMC-G"): ("2.99 (0.037)", "3.58 (0.041)", "3.69 (0.035)"),
    (0.5, "D-1", "SMC-A"): ("3.00 (0.033)", "3.57 (0.025)", "3.65 (0.024)"),
    (0.5, "D-1", "PF"): ("2.95 (0.032)", "3.55 (0.226)", "3.69 (0.285)"),
    (0.5, "D-2", "SMC-G"): ("4.17 (0.039)", "4.57 (0.075)", "4.66 (0.126)"),
    (0.5, "D-2", "SMC-A"): ("4.16 (0.026)", "4.54 (0.081)", "4.65 (0.115)"),
    (0.5, "D-2", "PF"): ("4.16 (0.037)", "4.55 (0.145)", "4.76 (0.357)"),
}


def draw(name):
    means, deviations, weights, seed = DATA[name]
    rng = np.random.default_rng(seed)
    z = rng.choice(3, size=SIZES[-1], p=weights)
    return (np.array(means)[z] + np.array(deviations)[z] * rng.standard_normal(len(z)))[:, None]


def one_run(kappa, data, name, seed):
    """Numbers of components at each size, the evidence, and the labels of the heaviest particle."""
    X, sampler = draw(data), SAMPLERS[name]
    bound = NormalInverseGamma(mean=float(X.mean()), **PRIOR).bind(X)
    run, rows = None, []
    for n in SIZES:
        if run is None:
            run = sampler.run(bound, DirichletProcess(kappa), n, np.random.default_rng(seed))
        else:
            run = sampler.resume(run, bound, n)
        weights = np.exp(run.log_weight - run.log_weight.max())
        clusters = [len(np.unique(labels)) for labels in run.labels]
        rows.append(np.average(clusters, weights=weights))
    labels = run.labels[np.argmax(run.log_weight)]
    return {"clusters": rows, "log evidence": run.log_evidence, "labels": labels}


def summary(case, runs):
    """A line of the table: mean (variance) of the number of components over the runs."""
    counts = np.array([run["clusters"] for run in runs])
    log_z = np.array([run["log evidence"] for run in runs])
    cells = []
    for mean, variance, theirs in zip(counts.mean(0), counts.var(0), PRINTED[case], strict=True):
        cells += [f"{mean:.2f} ({variance:.3f})", theirs]
    mean = log_z.max() + np.log(np.mean(np.exp(log_z - log_z.max())))
    few = int((counts[:, -1] < 2.5).sum())
    return [*case, *cells, f"{mean:.2f} ({log_z.std():.2f})", few]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--density", type=Path)
    finished.add_argument(parser, "ulker")
    pages.add_argument(parser)
    arguments = parser.parse_args(arguments)
    done, kept = Finished(arguments.finished), {}
    for case in CASES:
        settings = (*case, DATA[case[1]], PRIOR)
        kept[case] = [
            done.get((*settings, r), lambda r=r, case=case: one_run(*case, r))
            for r in range(arguments.runs)
        ]
    columns = " | ".join(f"{n} | theirs" for n in SIZES)
    head = f"kappa | data | algorithm | {columns} | log evidence | runs at two or fewer"
    rows = [summary(case, runs) for case, runs in kept.items()]
    Page(arguments.page).table("Numbers of components", head, rows)
    if arguments.density:
        picture(kept, arguments.density)


def picture(kept, path):
    """Figure 1: the density estimate of every run's heaviest particle, kappa = 0.05."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    X = draw("D-1")[:, 0]
    grid = np.linspace(X.min() - 1, X.max() + 1, 300)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for axis, name in zip(axes, ("SMC-G", "SMC-A"), strict=True):
        for run in kept[0.05, "D-1", name]:
            values = density(X, np.array(run["labels"]), grid)
            axis.plot(grid, values, color="C0", alpha=0.15, lw=0.8)
        axis.hist(X, 60, density=True, color="0.85", zorder=0)
        axis.set_title(name)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def density(X, labels, grid):
    """The components at their posterior means, weighted by their sizes."""
    total = np.zeros(len(grid))
    for k in np.unique(labels):
        x = X[labels == k]
        variance = (PRIOR["scale"] + 0.5 * len(x) * x.var()) / (PRIOR["shape"] + 0.5 * len(x) - 1)
        total += len(x) * np.exp(-0.5 * (grid - x.mean()) ** 2 / variance) / np.sqrt(variance)
    return total / (len(X) * np.sqrt(2 * np.pi))


if __name__ == "__main__":
    main()

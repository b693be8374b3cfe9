"""Annealed SMC on three overlapping Gaussian components: Tables II and III and figure 1.

`python -m benchmarks.reproductions.ulker [--runs N] [--density FILE]`. Prints Markdown tables; with
`--density` writes the density estimates of all runs at kappa = 0.05 as a picture. The data of the
paper are not given, so ours are drawn from the parameters below.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed

from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import AnnealedSMC, UrnSMC

# Means, standard deviations, weights, seed. D-1 overlaps.
DATA = {
    "D-1": ((0.0, 2.6, 5.8), (1.0, 1.0, 1.0), (1 / 3, 1 / 3, 1 / 3), 2),
    "D-2": ((0.0, 4.0, 9.0), (0.7, 1.0, 1.5), (0.3, 0.4, 0.3), 3),
}
PRIOR = {"kappa": 0.001, "shape": 2.0, "scale": 1.0}  # the mean is that of the data
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


def draw(name):
    means, deviations, weights, seed = DATA[name]
    rng = np.random.default_rng(seed)
    z = rng.choice(3, size=SIZES[-1], p=weights)
    return (np.array(means)[z] + np.array(deviations)[z] * rng.standard_normal(len(z)))[:, None]


def one_run(kappa, data, name, seed):
    """Numbers of components at each size, the evidence, and the last particles."""
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
    return np.array(rows), run.log_evidence, labels, run.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--density")
    arguments = parser.parse_args()
    print("| kappa | data | algorithm | 200 | 500 | 1000 | log evidence | runs at two or fewer |")
    print("|---" * 8 + "|")
    kept = {}
    for case in CASES:
        done = Parallel(n_jobs=-1)(delayed(one_run)(*case, r) for r in range(arguments.runs))
        counts = np.array([row for row, *_ in done])
        log_z = np.array([z for _, z, *_ in done])
        cells = [f"{m:.2f} ({s:.3f})" for m, s in zip(counts.mean(0), counts.std(0), strict=True)]
        mean = log_z.max() + np.log(np.mean(np.exp(log_z - log_z.max())))
        few = int((counts[:, -1] < 2.5).sum())
        row = [*case, *cells, f"{mean:.2f} ({log_z.std():.2f})", few]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        kept[case] = [labels for _, _, labels, _ in done]
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
        for labels in kept[0.05, "D-1", name]:
            axis.plot(grid, density(X, labels, grid), color="C0", alpha=0.15, lw=0.8)
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

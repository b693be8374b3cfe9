"""Evidences of the galaxy data under three priors, by urn and auxiliary particle filters.

`python -m benchmarks.reproductions.lomeli PATH`, PATH a csv file with a header and the velocities
(in 1000 km/s) in its first column. Prints Markdown tables.
"""

import argparse
import time

import numpy as np

from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import MFM, NGG, PitmanYor
from bnpcluster.samplers import AuxiliarySMC, UrnSMC

PRIORS = {
    "PY(10, 0.5)": PitmanYor(10.0, 0.5),
    "NGG(20, 0.5)": NGG(20.0, 0.5),
    "MFM, Gnedin(0.5)": MFM(1.0, ("gnedin", 0.5)),
}
# Mean, kappa, shape and scale of the component parameters are not on the slides: a grid of them.
LIKELIHOODS = [
    (20.0, 0.04, 2.0, 1.0),
    (20.0, 0.01, 2.0, 1.0),
    (20.0, 0.01, 2.0, 0.25),
    (20.0, 0.001, 1.0, 1.0),
    (0.0, 0.01, 2.0, 1.0),
    (0.0, 1.0, 1.0, 1.0),
]
ALGORITHMS = {
    "urn, never resampled": UrnSMC(resample_threshold=0.0),
    "urn": UrnSMC(),
    "auxiliary, never resampled": AuxiliarySMC(resample_threshold=0.0),
    "auxiliary": AuxiliarySMC(),
}


def log_mean(log_z):
    """log of the mean of the evidences, and its standard error."""
    ratios = np.exp(log_z - log_z.max())
    error = ratios.std(ddof=1) / ratios.mean() / np.sqrt(len(ratios))
    return log_z.max() + np.log(ratios.mean()), error


def measure(X, likelihood, prior, sampler, n_particles, n_runs):
    """Log evidences of all runs, and the median seconds of a run."""
    mean, kappa, shape, scale = likelihood
    bound = NormalInverseGamma(mean=mean, kappa=kappa, shape=shape, scale=scale).bind(X)
    sampler.set_params(n_particles=n_particles)
    log_z, seconds = [], []
    for seed in range(n_runs):
        begin = time.process_time()
        run = sampler.run(bound, prior, len(X), np.random.default_rng([seed, 11]))
        seconds.append(time.process_time() - begin)
        log_z.append(run.log_evidence)
    return np.array(log_z), float(np.median(seconds))


def table(X, likelihood, n_particles, n_runs):
    """The slides' table: mean and deviation of the runs' log evidences, and log of their mean."""
    print("| model | algorithm | seconds | log evidence (deviation) | log of the mean (error) |")
    print("|---" * 5 + "|")
    best = {}
    for model, prior in PRIORS.items():
        for name, sampler in ALGORITHMS.items():
            log_z, seconds = measure(X, likelihood, prior, sampler, n_particles, n_runs)
            value, error = log_mean(log_z)
            print(
                f"| {model} | {name} | {seconds:.2f} | {log_z.mean():.3f} ({log_z.std(ddof=1):.2f})"
                f" | {value:.3f} ({error:.2f}) |",
                flush=True,
            )
            if model not in best or error < best[model][1]:
                best[model] = (value, error)
    return best


def gaps(best):
    """Log Bayes factors of the mixture with a random number of components."""
    finite = best["MFM, Gnedin(0.5)"]
    for model, other in best.items():
        if model != "MFM, Gnedin(0.5)":
            error = np.hypot(finite[1], other[1])
            print(
                f"log Bayes factor of MFM against {model}: {finite[0] - other[0]:.2f} ({error:.2f})"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--particles", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    velocity = np.loadtxt(arguments.path, delimiter=",", skiprows=1, ndmin=2)[:, :1]
    shuffled = np.random.default_rng(1).permutation(velocity)
    cases = [("sorted", velocity, LIKELIHOODS[0])]
    cases += [("shuffled", shuffled, likelihood) for likelihood in LIKELIHOODS]
    for order, X, likelihood in cases:
        names = zip(("mean", "kappa", "shape", "scale"), likelihood, strict=True)
        print(f"\nRows {order}; " + ", ".join(f"{name} {value:g}" for name, value in names) + "\n")
        gaps(table(X, likelihood, arguments.particles, arguments.runs))


if __name__ == "__main__":
    main()

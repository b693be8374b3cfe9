"""Evidences of the galaxy data under three priors, by urn and auxiliary particle filters.

`python -m benchmarks.reproductions.lomeli PATH`, PATH a csv file with a header and the velocities
(in 1000 km/s) in its first column. Prints Markdown tables. The slides do not say what tau of the
normalised generalised gamma process is: both readings are measured.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import MFM, NGG, PitmanYor
from bnpcluster.samplers import AuxiliarySMC, UrnSMC

PY, MASS, RATE, FINITE = (
    "PY(10, 0.5)",
    "NGG(20, 0.5)",
    "NGG.from_rate(20, 0.5)",
    "MFM, Gnedin(0.5)",
)
PRIORS = {
    PY: PitmanYor(10.0, 0.5),
    MASS: NGG(20.0, 0.5),
    RATE: NGG.from_rate(20.0, 0.5),
    FINITE: MFM(1.0, ("gnedin", 0.5)),
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
    return {"log evidences": log_z, "seconds": float(np.median(seconds))}


def table(page, title, measured):
    """The slides' table: mean and deviation of the runs' log evidences, and log of their mean."""
    rows, best = [], {}
    for (model, name), found in measured.items():
        log_z = np.array(found["log evidences"])
        value, error = log_mean(log_z)
        cell = f"{log_z.mean():.3f} ({log_z.std(ddof=1):.2f})"
        rows.append([model, name, f"{found['seconds']:.2f}", cell, f"{value:.3f} ({error:.2f})"])
        if model not in best or error < best[model][1]:
            best[model] = (value, error)
    head = "model | algorithm | seconds | log evidence (deviation) | log of the mean (error)"
    page.table(title, head, rows)
    return best


def gap(best, one, other):
    """A log Bayes factor and its error."""
    error = np.hypot(best[one][1], best[other][1])
    return f"{best[one][0] - best[other][0]:.2f} ({error:.2f})"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--particles", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    finished.add_argument(parser, "lomeli")
    pages.add_argument(parser)
    arguments = parser.parse_args(arguments)
    velocity = np.loadtxt(arguments.path, delimiter=",", skiprows=1, ndmin=2)[:, :1]
    shuffled = np.random.default_rng(1).permutation(velocity)
    done, page = Finished(arguments.finished), Page(arguments.page)
    cases = [("sorted", velocity, LIKELIHOODS[0])]
    cases += [("shuffled", shuffled, likelihood) for likelihood in LIKELIHOODS]
    factors = []
    length = (arguments.particles, arguments.runs)
    data = Path(arguments.path).name
    for order, X, likelihood in cases:
        measured = {
            (model, name): done.get(
                (data, order, likelihood, model, name, *length),
                lambda X=X, p=prior, s=sampler, f=likelihood: measure(X, f, p, s, *length),
            )
            for model, prior in PRIORS.items()
            for name, sampler in ALGORITHMS.items()
        }
        names = zip(("mean", "kappa", "shape", "scale"), likelihood, strict=True)
        title = f"Rows {order}; " + ", ".join(f"{name} {value:g}" for name, value in names)
        best = table(page, title, measured)
        pairs = ((MASS, PY), (RATE, PY), (FINITE, PY), (FINITE, MASS), (FINITE, RATE))
        factors.append([title, *(gap(best, *pair) for pair in pairs)])
    head = "rows, prior of the components | NGG, mass, to PY | NGG, rate, to PY | MFM to PY"
    page.table("Log Bayes factors", f"{head} | MFM to NGG, mass | MFM to NGG, rate", factors)


if __name__ == "__main__":
    main()

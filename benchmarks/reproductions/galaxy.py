"""Posterior of the number of clusters of the galaxy data under all priors.

`python -m benchmarks.reproductions.galaxy PATH`, PATH a csv file with a header and the velocities
(in 1000 km/s) in its first column. Prints a table in Markdown.
"""

import argparse
import warnings

import numpy as np

from benchmarks.reproductions import finished, pages
from benchmarks.reproductions.finished import Finished
from benchmarks.reproductions.pages import Page
from bnpcluster import BNPMixture
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.priors import MFM, NGG, DirichletProcess, FiniteDirichlet, PitmanYor

PRIORS = {
    "Dirichlet process, alpha = 1": DirichletProcess(1.0),
    "Dirichlet process, alpha ~ Gamma(1, 0.1)": DirichletProcess(),
    "Pitman-Yor, alpha = 1, d = 0.25": PitmanYor(1.0, 0.25),
    "Pitman-Yor, alpha = 10, d = 0.5 (Lomeli)": PitmanYor(10.0, 0.5),
    "NGG, tau = 1, sigma = 0.25": NGG(1.0, 0.25),
    "NGG, tau = 20, sigma = 0.5 (Lomeli)": NGG(20.0, 0.5),
    "MFM, g = 1, Gnedin(0.5) (Lomeli)": MFM(1.0, ("gnedin", 0.5)),
    "MFM, g = 1, M - 1 ~ Poisson(1)": MFM(1.0, ("poisson", 1.0)),
    "finite, 10 components, a = 1": FiniteDirichlet(10, 1.0),
}
K = range(2, 13)


def fit(velocity, prior):
    """The posterior of K under a prior, its mean under the prior, and R-hat."""
    # Means 20 +- 5, standard deviations about 1: vague, in the units of the data.
    likelihood = NormalInverseGamma(mean=20.0, kappa=0.04, shape=2.0, scale=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BNPMixture(
            prior=prior, likelihood=likelihood, n_draws=20_000, n_warmup=1000, random_state=0
        ).fit(velocity)
    return {
        "posterior": sorted((int(k), float(p)) for k, p in model.n_clusters_posterior_.items()),
        "before": prior.expected_clusters(len(velocity)),
        "rhat": model.diagnostics_.table["n_clusters"]["rhat"],
    }


def main(arguments=None):
    """Fit each prior with one likelihood; print the posterior and the prior mean of K."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    finished.add_argument(parser, "galaxy")
    pages.add_argument(parser)
    given = parser.parse_args(arguments)
    velocity = np.loadtxt(given.path, delimiter=",", skiprows=1, ndmin=2)[:, :1]
    done, rows = Finished(given.finished), []
    for name, prior in PRIORS.items():
        found = done.get((name, len(velocity)), lambda p=prior: fit(velocity, p))
        pmf = dict(found["posterior"])
        cells = [f"{pmf.get(k, 0.0):.2f}" for k in K]
        mean = sum(k * p for k, p in pmf.items())
        more = f"{sum(p for k, p in pmf.items() if k > max(K)):.2f}"
        before, rhat = f"{found['before']:.1f}", f"{found['rhat']:.3f}"
        rows.append([name, before, f"{mean:.2f}", *cells, more, rhat])
    head = " | ".join(["prior | E K prior | E K", *map(str, K), "more | R-hat of K"])
    Page(given.page).table("Galaxy", head, rows)


if __name__ == "__main__":
    main()

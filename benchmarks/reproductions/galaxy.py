"""Posterior of the number of clusters of the galaxy data under all priors.

`python -m benchmarks.reproductions.galaxy PATH`, PATH a csv file with a header and the velocities
(in 1000 km/s) in its first column. Prints a table in Markdown.
"""

import sys
import warnings

import numpy as np

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


def main():
    """Fit each prior with one likelihood; print the posterior and the prior mean of K."""
    velocity = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, ndmin=2)[:, :1]
    print("| prior | E K prior | E K | " + " | ".join(map(str, K)) + " | more | R-hat of K |")
    print("|---" * (len(K) + 5) + "|")
    for name, prior in PRIORS.items():
        # Means 20 +- 5, standard deviations about 1: vague, in the units of the data.
        likelihood = NormalInverseGamma(mean=20.0, kappa=0.04, shape=2.0, scale=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = BNPMixture(
                prior=prior, likelihood=likelihood, n_draws=20_000, n_warmup=1000, random_state=0
            ).fit(velocity)
        pmf = model.n_clusters_posterior_
        cells = [f"{pmf.get(k, 0.0):.2f}" for k in K]
        mean = sum(k * p for k, p in pmf.items())
        more = sum(p for k, p in pmf.items() if k > max(K))
        r_hat = model.diagnostics_.table["n_clusters"]["rhat"]
        print(
            f"| {name} | {prior.expected_clusters(82):.1f} | {mean:.2f} | {' | '.join(cells)} | "
            f"{more:.2f} | {r_hat:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

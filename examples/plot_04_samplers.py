"""
The same posterior by five samplers
===================================

All samplers draw from the same posterior. On two overlapping clusters in one, started from a single
cluster, they differ in how fast they converge.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bnpcluster import DPMixture
from bnpcluster.samplers import PGSM, SAMS

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [1.5, 0.0], [4.0, 3.0], [-3.0, 3.0]])
labels = rng.integers(4, size=400)
X = centres[labels] + rng.normal(scale=0.5, size=(400, 2))

# Short runs on purpose: the warning that some chains disagree is the point of the comparison.
warnings.simplefilter("ignore", ConvergenceWarning)
for sampler in ("split_merge", "gibbs", "jain_neal", SAMS(order="decisive"), PGSM(n_particles=10)):
    model = DPMixture(
        sampler=sampler, init="one", n_chains=2, n_warmup=100, n_draws=100, random_state=0
    ).fit(X)
    rhat = model.diagnostics_.table["log_posterior"]["rhat"]
    print(
        f"{sampler!s:24} {model.n_clusters_} clusters, score {model.score(X):.3f}, R-hat {rhat:.2f}"
    )

###############################################################################
# What the moves did is in ``sampler_stats_``, one number per chain.

print(model.sampler_stats_)

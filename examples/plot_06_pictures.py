"""
Pictures of a fit
=================

What was found, how sure it is, and whether to trust it, as pictures: the clusters, the predictive
density, who belongs together, how many clusters there are, and the chains.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from bnpcluster import DPMixture
from bnpcluster.plotting import (
    ClusterDisplay,
    CoclusteringDisplay,
    DensityDisplay,
    NumberOfClustersDisplay,
    TraceDisplay,
)

# %%
# Three groups, two of which touch.
rng = np.random.default_rng(0)
long = rng.normal(size=(120, 2)) @ [[1.0, 0.6], [0.0, 0.6]]
X = np.concatenate([long, rng.normal([3, 0], 0.6, (80, 2)), rng.normal([2, 3.5], 0.4, (40, 2))])
model = DPMixture(random_state=0).fit(X)
print(model.report())

# %%
# Rows are the paler the less sure their cluster is; around every contour of the density lies its
# credible band.
figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), layout="constrained")
ClusterDisplay.from_estimator(model, ax=axes[0, 0])
DensityDisplay.from_estimator(model, ax=axes[0, 1])
CoclusteringDisplay.from_estimator(model, ax=axes[0, 2])
NumberOfClustersDisplay.from_estimator(model, ax=axes[1, 0])
TraceDisplay.from_estimator(model, "log_posterior", ax=axes[1, 1])
TraceDisplay.from_estimator(model, "n_clusters", ax=axes[1, 2])

# %%
# The density of a single column, with its band.
column = DPMixture(random_state=0).fit(X[:, :1])
display = DensityDisplay.from_estimator(column)
widest = np.argmax(display.upper - display.lower)
print("the density is least sure at", round(float(display.grid[0][widest]), 2))

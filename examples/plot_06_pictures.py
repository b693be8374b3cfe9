"""
Pictures of a fit
=================

What was found, how sure it is, and whether to trust it: the clusters, what they are like, the
predictive density, who belongs together, how many clusters there are, and the chains.
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
    ProfileDisplay,
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
# From the top left: the rows, paler where their cluster is less sure; what the clusters are like;
# the density, with a band around the region that holds 95 % of it; who shares a cluster with whom;
# how many clusters there are; and the chains, which overlap and show no trend.
figure, axes = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
ClusterDisplay.from_estimator(model, ax=axes[0, 0])
ProfileDisplay.from_estimator(model, ax=axes[0, 1])
DensityDisplay.from_estimator(model, ax=axes[0, 2])
CoclusteringDisplay.from_estimator(model, ax=axes[1, 0])
NumberOfClustersDisplay.from_estimator(model, ax=axes[1, 1])
display = TraceDisplay.from_estimator(model, "log_posterior", ax=axes[1, 2])

# %%
# The density of a single column, with its band.
column = DPMixture(random_state=0).fit(X[:, :1])
display = DensityDisplay.from_estimator(column)
widest = np.argmax(display.upper - display.lower)
print("the density is least sure at", round(float(display.grid[0][widest]), 2))

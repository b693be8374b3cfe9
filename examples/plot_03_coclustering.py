"""
The co-clustering matrix as a picture
=====================================

The posterior probability that two rows share a cluster shows which clusters are certain and where
they blur into one another. The matrix is lazy: only the asked-for part is ever computed.
"""

# %%
import numpy as np

from bnpcluster import DPMixture
from bnpcluster.plotting import CoclusteringDisplay

rng = np.random.default_rng(2)
centres = np.repeat([[0, 0], [1.5, 0], [6, 0]], [40, 40, 30], axis=0)
X = centres + rng.normal(scale=0.6, size=centres.shape)

# %%
model = DPMixture(random_state=0).fit(X)
print("number of clusters:", model.n_clusters_posterior_)
print("rows 0 and 1 together with probability", round(model.coclustering_[0, 1], 3))
print("as a sparse matrix:", model.coclustering_.sparse(threshold=0.05).nnz, "entries")

# %%
# The rows are ordered by cluster, so that clusters are dark squares. If there are many rows, some
# are chosen evenly.
display = CoclusteringDisplay.from_estimator(model)

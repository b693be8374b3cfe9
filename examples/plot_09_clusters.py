"""
Components and clusters
=======================

A ring is no Gaussian cloud, so a mixture takes several components for it. Joined by their overlap,
they are one cluster. Small groups may be left without a cluster.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from bnpcluster import DPMixture
from bnpcluster.plotting import ClusterDisplay, MergeTreeDisplay

# %%
# A ring, a cloud, and six rows far from both.
rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 300)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) * 3 + rng.normal(scale=0.25, size=(300, 2))
X = np.vstack([ring, rng.normal([9, 0], 0.3, (80, 2)), rng.normal([6, 6], 0.5, (6, 2))])
model = DPMixture(merge=0.02, min_cluster_size=20, n_draws=2000, random_state=0).fit(X)
print(model.report())

# %%
# On the left, which components are joined at which overlap. Neighbours on the ring overlap, and
# nothing else does. On the right, the components and the clusters.
figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
MergeTreeDisplay.from_estimator(model, ax=axes[0])
ClusterDisplay.from_estimator(model, labels=model.component_labels_, ax=axes[1])
ClusterDisplay.from_estimator(model, ax=axes[2])
axes[1].set_title("components")
axes[2].set_title("clusters")

# %%
# New rows are in clusters, too; near the six rows, they are in none.
print(model.predict([[0.0, 3.0], [9.0, 0.0], [6.0, 6.0]]))

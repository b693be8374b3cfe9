"""
Clusters, how many, and how sure
================================

Fit a Dirichlet process mixture to points in the plane, print what was found, and draw it. Nothing
has to be said about the number of clusters.
"""

# %%
# Data: four clusters of different shapes and sizes.
import matplotlib.pyplot as plt
import numpy as np

from bnpcluster import DPMixture

rng = np.random.default_rng(1)
shapes = [
    (150, [0, 0], [1, 0.3]),
    (100, [4, 3], [0.4, 1.2]),
    (60, [-3, 4], [0.5, 0.5]),
    (40, [3, -3], [0.8, 0.2]),
]
X = np.concatenate([rng.normal(centre, spread, (n, 2)) for n, centre, spread in shapes])

# %%
# Fit, and read the report: the posterior of the number of clusters, and whether to trust it.
model = DPMixture(random_state=0).fit(X)
print(model.report())

# %%
# The clusters, and where a new point would most likely be none of them.
grid = np.stack(np.meshgrid(np.linspace(-6, 7, 80), np.linspace(-6, 8, 80)), axis=-1)
novelty = model.novelty(grid.reshape(-1, 2)).reshape(80, 80)
figure, axes = plt.subplots(figsize=(6, 5))
shading = axes.contourf(*np.moveaxis(grid, -1, 0), novelty, levels=10, cmap="Greys", alpha=0.6)
figure.colorbar(shading, label="probability of a new cluster")
axes.scatter(*X.T, c=model.labels_, cmap="tab10", s=12)
axes.set_title(f"{model.n_clusters_} clusters")
figure.savefig("quickstart.png", dpi=120)
print("The picture is in quickstart.png")

"""
Cells: transform, reduce, cluster
=================================

Markers of 1,500 cells, as in mass cytometry. The clusters of the model are Gaussian, so the markers
are transformed first. The same steps serve gene expression: normalise, take logarithms, and reduce
to some tens of principal components. With AnnData, pass ``adata.obsm["X_pca"]``.
"""

# %%
# Five kinds of cells, one of them rare.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from bnpcluster import DPMixture
from bnpcluster.plotting import ClusterDisplay

rng = np.random.default_rng(0)
kinds = rng.choice(5, size=1500, p=[0.45, 0.25, 0.2, 0.08, 0.02])
means = rng.gamma(1.0, 40.0, size=(5, 12))
markers = rng.gamma(4.0, means[kinds] / 4.0)

# %%
# Variances grow with the means, and arcsinh undoes that. Then a few principal components.
transformed = np.arcsinh(markers / 5)
reduction = PCA(5).fit(transformed)
reduced = reduction.transform(transformed)
model = DPMixture(random_state=0).fit(reduced)
print(model.report())

# %%
# Kinds and clusters: the model was not told the kinds.
print("agreement with the kinds:", round(adjusted_rand_score(kinds, model.labels_), 3))
print(
    "cluster by kind:",
    *[np.bincount(model.labels_[kinds == k], minlength=model.n_clusters_) for k in range(5)],
    sep="\n",
)
unsure = model.predict_proba(reduced).max(axis=1) < 0.8
print("cells between clusters:", unsure.sum())

# %%
# Left: the cells by principal components. Right: the markers of each cluster, as in any other
# program: labels belong to cells, so that you can go back to the markers.
figure, axes = plt.subplots(ncols=2, figsize=(12, 4.5), layout="constrained")
ClusterDisplay.from_estimator(model, columns=[0, 1], ax=axes[0])
profile = np.array([transformed[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)])
image = axes[1].imshow(profile, aspect="auto", cmap="viridis")
axes[1].set(xlabel="marker", ylabel="cluster", yticks=range(model.n_clusters_))
bar = figure.colorbar(image, ax=axes[1], label="mean of arcsinh(marker / 5)")

"""
What are my clusters?
=====================

A fit finds clusters of wines by their chemistry. What are these clusters? A table, parameters with
intervals, and a picture say it.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from bnpcluster import DPMixture
from bnpcluster.plotting import ProfileDisplay

wine = load_wine(as_frame=True)
columns = ["alcohol", "flavanoids", "color_intensity", "hue", "proline"]
X = wine.data[columns]
model = DPMixture(likelihood="nig", min_cluster_size=10, random_state=0).fit(X)
print(model.report())

# %%
# One table: sizes, shares with intervals, and the columns that tell a cluster apart from all
# others. The percentage says how much of the membership the column settles by itself.
table = model.describe()
print(table[["size", "share", "share_low", "share_high", "certainty"]].round(2))
for c, columns_that_tell in enumerate(table["told_by"]):
    print(f"cluster {c}: {columns_that_tell}")

# %%
# Means of the columns, with intervals of probability 0.9 for these rows.
parameters = model.posterior_.parameters()
low, high = parameters.interval("means", 0.9)
figure, axes = plt.subplots(ncols=5, figsize=(13, 2.6), layout="constrained", sharey=True)
for j, (name, ax) in enumerate(zip(columns, axes, strict=True)):
    centre = model.means_[:, j]
    reach = [centre - low[:, j], high[:, j] - centre]
    ax.errorbar(centre, np.arange(len(centre)), xerr=reach, fmt="o", capsize=4)
    ax.set(xlabel=name.replace("_", " "), ylim=(len(centre) - 0.5, -0.5))
axes[0].set(ylabel="cluster", yticks=range(len(model.means_)))

# %%
# All columns at once: how far clusters are from all wines together, in standard deviations. The
# columns that tell clusters apart come first.
display = ProfileDisplay.from_estimator(model)

# %%
# The model has not seen the cultivars. Here they are, against the clusters (-1: no large cluster).
for cultivar in range(3):
    labels, counts = np.unique(model.labels_[wine.target == cultivar], return_counts=True)
    print(f"cultivar {cultivar}:", dict(zip(labels.tolist(), counts.tolist(), strict=True)))

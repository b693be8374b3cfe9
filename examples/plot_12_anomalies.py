"""
Outliers, small clusters and novelty
====================================

Three questions that are easily confused: which rows are unusual, which groups are small, and which
new rows belong to no cluster that is known.
"""

# %%
# Two clouds, a small group, and two single rows far from all others.
import matplotlib.pyplot as plt
import numpy as np

from bnpcluster import DPMixture

rng = np.random.default_rng(0)
X = np.concatenate(
    [
        rng.normal([0, 0], 1.0, (150, 2)),
        rng.normal([8, 0], 1.0, (100, 2)),
        rng.normal([4, 9], 0.3, (4, 2)),
        [[4.0, 0.0], [-6.0, -6.0]],
    ]
)
model = DPMixture(min_cluster_size=10, random_state=0).fit(X)

# %%
# The score of a row is the probability that a row drawn from the model has a higher density. Rows
# of the fit are judged by all *other* rows.
scores = model.outlier_scores_
for i in np.argsort(-scores)[:5]:
    print(f"row {i} at {X[i].round(1)}: score {scores[i]:.3f}, cluster {model.labels_[i]}")
print("rows in no cluster of at least 10:", np.flatnonzero(model.labels_ == -1))

# %%
# New rows: unusual is not the same as new. Between the clouds, a row is unusual, but `novelty` is
# large only far from everything.
new = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0], [20.0, 20.0]])
for row, score, novelty in zip(new, model.outlier_score(new), model.novelty(new), strict=True):
    print(f"{row}: outlier score {score:.3f}, novelty {novelty:.3f}")

# %%
# Left: the scores of the rows. Right: scores and novelty over the plane.
grid = np.stack(np.meshgrid(np.linspace(-9, 13, 70), np.linspace(-9, 13, 70)), axis=-1)
flat = grid.reshape(-1, 2)
figure, axes = plt.subplots(ncols=3, figsize=(14, 4), layout="constrained", sharey=True)
points = axes[0].scatter(*X.T, c=scores, cmap="viridis", s=14, vmin=0, vmax=1)
figure.colorbar(points, ax=axes[0], label="outlier score")
for ax, values, name in (
    (axes[1], model.outlier_score(flat), "outlier score"),
    (axes[2], model.novelty(flat), "novelty"),
):
    shading = ax.contourf(*np.moveaxis(grid, -1, 0), values.reshape(70, 70), 10, cmap="Greys")
    figure.colorbar(shading, ax=ax, label=name)
    ax.scatter(*X.T, s=4, color="tab:blue")

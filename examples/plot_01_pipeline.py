"""
In a pipeline, scored on held-out data
======================================

The score of a mixture is the mean log posterior predictive density per row, so cross-validation
compares models without labels, and higher is better.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bnpcluster import DPMixture

X = load_wine().data  # 13 measurements of 178 wines
folds = KFold(3, shuffle=True, random_state=0)

# %%
# Full covariances against independent columns, on two principal components.
scores = {}
for likelihood in ("niw", "nig"):
    mixture = DPMixture(likelihood=likelihood, random_state=0)
    pipeline = make_pipeline(StandardScaler(), PCA(2), mixture)
    scores[likelihood] = cross_val_score(pipeline, X, cv=folds)
    print(f"{likelihood}: {np.mean(scores[likelihood]):.3f} +- {np.std(scores[likelihood]):.3f}")

# %%
figure, axes = plt.subplots(figsize=(5, 3))
axes.boxplot(list(scores.values()), tick_labels=list(scores))
axes.set_ylabel("held-out log density per row")
figure.tight_layout()

"""
Does alpha matter?
==================

By default alpha is sampled under a hyper-prior. Here it is fixed at a grid of values instead, and
held-out density says how much that matters: usually little.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from bnpcluster import DPMixture

rng = np.random.default_rng(0)
clouds = [([0, 0], 1.0, 60), ([5, 0], 0.6, 50), ([2, 5], 0.8, 40)]
X = np.concatenate([rng.normal(centre, spread, (n, 2)) for centre, spread, n in clouds])
folds = KFold(3, shuffle=True, random_state=0)

# %%
grid = {"alpha": [0.01, 0.1, 1.0, 10.0]}
search = GridSearchCV(DPMixture(random_state=0), grid, cv=folds).fit(X)
sampled = cross_val_score(DPMixture(random_state=0), X, cv=folds).mean()
print(f"best alpha: {search.best_params_['alpha']}, score {search.best_score_:.3f}")
print(f"alpha sampled: score {sampled:.3f}")
print(f"clusters at the best alpha: {search.best_estimator_.n_clusters_posterior_}")

# %%
figure, axes = plt.subplots(figsize=(5, 3))
axes.semilogx(grid["alpha"], search.cv_results_["mean_test_score"], "o-", label="alpha fixed")
axes.axhline(sampled, color="tab:orange", label="alpha sampled")
axes.set_xlabel("alpha")
axes.set_ylabel("held-out log density per row")
axes.legend()
figure.tight_layout()
assert np.isfinite(sampled)

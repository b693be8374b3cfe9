"""
Clusters of a network
=====================

The infinite relational model groups vertices by whom they link with, whether that is with one
another or with another group, and says how many groups there are. Pairs that were not observed can
be predicted.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from bnpcluster import InfiniteRelationalModel
from bnpcluster.plotting import AdjacencyDisplay


# %%
# Four groups: two close circles, and two whose members link with the other group alone.
def generated_network(n, rng):
    """Adjacency matrix and groups."""
    groups = rng.integers(4, size=n)
    chance = np.full((4, 4), 0.03)
    chance[0, 0] = chance[1, 1] = 0.5
    chance[2, 3] = chance[3, 2] = 0.4
    A = np.triu(rng.random((n, n)) < chance[np.ix_(groups, groups)], k=1).astype(float)
    return A + A.T, groups


rng = np.random.default_rng(0)
A, groups = generated_network(120, rng)

# %%
# A tenth of the pairs is hidden: NaN is "not known", which is something else than "no link".
pairs = np.column_stack(np.triu_indices(120, k=1))
hidden = pairs[rng.random(len(pairs)) < 0.1]
y = A[hidden[:, 0], hidden[:, 1]]
seen = A.copy()
seen[hidden[:, 0], hidden[:, 1]] = seen[hidden[:, 1], hidden[:, 0]] = np.nan

model = InfiniteRelationalModel(n_draws=200, n_warmup=200, random_state=0).fit(seen)
print(model.report())

# %%
# How good are the predictions for the hidden pairs?
print("area under the ROC curve:", round(roc_auc_score(y, model.predict_links(hidden)), 3))
print("mean log score:", round(model.score(hidden, y), 4))
print("without any groups:", round(float(np.mean(np.log(np.where(y, y.mean(), 1 - y.mean())))), 4))

# %%
# The matrix in the order of the clusters; hidden pairs are blue.
figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4.5))
AdjacencyDisplay.from_estimator(model, labels=np.zeros(120, int), ax=left)
AdjacencyDisplay.from_estimator(model, ax=right)
left.set_title("as given")
right.set_title("by cluster")
figure.tight_layout()

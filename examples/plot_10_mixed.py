"""
A table of mixed columns, with missing entries
==============================================

Measurements, counts, categories and yes/no answers in one table, some of them missing. Say for each
column what it is. Text stays text: categories keep their names in all results.
"""

# %%
# Three kinds of households. A tenth of the entries is missing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bnpcluster import DPMixture
from bnpcluster.plotting import ClusterDisplay, ProfileDisplay

rng = np.random.default_rng(3)
kind = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
homes = np.array(["flat", "house", "farm"])
table = pd.DataFrame(
    {
        "income": rng.normal(np.array([31.0, 62.0, 45.0])[kind], 6.0),
        "children": rng.poisson(np.array([0.3, 2.2, 1.0])[kind]).astype(float),
        "home": homes[np.where(rng.random(300) < 0.8, kind, rng.integers(0, 3, 300))],
        "has_dog": (rng.random(300) < np.array([0.1, 0.4, 0.9])[kind]).astype(float),
    }
)
table = table.mask(rng.random(table.shape) < 0.1)
print(table.head())

# %%
# Missing entries need no treatment: the model integrates over them.
likelihood = {
    "income": "nig",
    "children": "poisson",
    "home": "categorical",
    "has_dog": "bernoulli",
}
model = DPMixture(likelihood=likelihood, random_state=0).fit(table)
print(model.report())

# %%
# What the clusters are, and two columns by name. The points of a category are spread a little.
figure, axes = plt.subplots(ncols=2, figsize=(11, 4), layout="constrained")
ProfileDisplay.from_estimator(model, ax=axes[0])
display = ClusterDisplay.from_estimator(model, columns=["income", "home"], ax=axes[1])

# %%
# New rows may lack entries, too. On request, missing entries are filled in by posterior means.
new = pd.DataFrame({"income": [60, np.nan], "children": [2, np.nan], "home": [None, "farm"]})
new["has_dog"] = [np.nan, 1.0]
print(model.predict_proba(new).round(2))
print(model.impute(table).round(1)[table.isna().any(axis=1)].head())

# %%
# Rows drawn from the model look like the table.
print(model.sample(5, random_state=0).round(1))

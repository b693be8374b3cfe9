"""
Clusters of mutations
=====================

Reads of two samples of a tumour, at various copy numbers: mutations are clustered by the share of
tumour cells they are in, with an interval for each of them.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bnpcluster import DPMixture
from bnpcluster.pyclone import prevalences

CONTENT = 0.75
CLONES = np.array([[1.0, 1.0], [0.55, 0.15], [0.2, 0.75], [0.15, 0.0]])


# %%
# Share of reads that show a mutation in a share phi of the tumour cells: these have `total` copies
# of the locus, `mutated` of them mutated; other tumour cells have `without`, normal cells two.
def shown(phi, without, total, mutated):
    copies = 2 * (1 - CONTENT) + CONTENT * ((1 - phi) * without + phi * total)
    return max(CONTENT * phi * mutated / copies, 1e-3)


def generated_table(n, rng):
    """A tidy table, and the clones; which copies are mutated is not in the table."""
    clone, major = rng.integers(len(CLONES), size=n), rng.integers(1, 3, size=n)
    rows = []
    for i in range(n):
        total = major[i] + 1
        mutated = rng.integers(1, major[i] + 1)
        without = rng.choice([2, total]) if mutated == 1 else 2  # did the copies change before?
        for phi, sample in zip(CLONES[clone[i]], ["primary", "relapse"], strict=True):
            depth = rng.poisson(200)
            alt = rng.binomial(depth, shown(phi, without, total, mutated))
            rows.append([f"m{i}", sample, depth - alt, alt, 2, major[i], 1, CONTENT])
    names = "mutation_id sample_id ref_counts alt_counts normal_cn major_cn minor_cn tumour_content"
    return pd.DataFrame(rows, columns=names.split()), clone


rng = np.random.default_rng(2)
table, clone = generated_table(120, rng)

# %%
# Copy numbers blur the share of reads; a mixture sees through them.
model = DPMixture(likelihood="pyclone", random_state=0).fit(table)
print(model.report())
found = prevalences(model, table)
columns = ["cellular_prevalence", "cellular_prevalence_lower", "cellular_prevalence_upper"]
print(found.groupby(["cluster_id", "sample_id"])[columns].mean().round(2).to_string())

# %%
# Left: what was measured. Right: prevalences, with their intervals; crosses are the true clones.
figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 4.5))
share = (table["alt_counts"] / (table["alt_counts"] + table["ref_counts"])).to_numpy()
primary, relapse = (found[found["sample_id"] == name] for name in ("primary", "relapse"))
left.scatter(share[::2], share[1::2], c=model.labels_, cmap="tab10", s=14, vmax=9)
left.set(xlabel="share of reads, primary", ylabel="share of reads, relapse")
for k in range(model.n_clusters_):
    x, y = (f[f["cluster_id"] == k] for f in (primary, relapse))
    centre = [f["cellular_prevalence"].to_numpy() for f in (x, y)]
    reach = [np.abs(f[columns[1:]].to_numpy().T - f[columns[0]].to_numpy()).clip(0) for f in (x, y)]
    style = {"fmt": "o", "ms": 4, "lw": 0.5, "color": f"C{k}"}
    right.errorbar(*centre, xerr=reach[0], yerr=reach[1], **style)
right.plot(*CLONES.T, "kx", ms=9)
right.set(xlabel="prevalence, primary", ylabel="prevalence, relapse")
figure.tight_layout()

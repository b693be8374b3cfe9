"""Many clusters that overlap, half of them cut in two: can a sampler make them whole again?"""

import numpy as np

CUT = 50  # clusters, of 100


def crowded(n, n_clusters=100, spread=0.012, seed=0):
    """Rows of clusters on a square grid that overlap, standardised."""
    rng, side = np.random.default_rng(seed), int(np.ceil(np.sqrt(n_clusters)))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    centres = grid[:n_clusters] / side + rng.normal(0, 0.01, (n_clusters, 2))
    roots = rng.normal(0, spread, (n_clusters, 2, 2)) + 0.6 * spread * np.eye(2)
    y = rng.integers(n_clusters, size=n)
    X = centres[y] + np.einsum("nij,nj->ni", roots[y], rng.standard_normal((n, 2)))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def cut(X, y):
    """The clusters with every second one divided by a line through its mean."""
    rng, labels = np.random.default_rng(0), y.copy()
    for number in range(CUT):
        members, v = np.flatnonzero(y == 2 * number), rng.normal(size=2)
        far = (X[members] - X[members].mean(axis=0)) @ v > 0
        labels[members[far]] = 100 + number
    return labels


def whole(labels, y):
    """How many of the cut clusters are whole: one block has nine tenths of their rows."""
    return sum(
        np.bincount(labels[y == 2 * number]).max() > 0.9 * (y == 2 * number).sum()
        for number in range(CUT)
    )

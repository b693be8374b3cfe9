"""Small networks."""

import numpy as np

FIGURE_3 = np.zeros((4, 4))
for one, other in [(0, 1), (0, 2), (0, 3), (2, 3)]:
    FIGURE_3[one, other] = FIGURE_3[other, one] = 1.0


def network(n, directed, gaps, seed=0, p=0.3):
    """A random 0/1 matrix, with some unobserved pairs if `gaps`."""
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < p).astype(float)
    if gaps:
        A[rng.random((n, n)) < 0.2] = np.nan
    np.fill_diagonal(A, 0.0)
    return A if directed else np.triu(A) + np.triu(A).T

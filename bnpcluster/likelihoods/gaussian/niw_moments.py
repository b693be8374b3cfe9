"""Fill the empty slots of `niw_general` with all rows at once, by two passes over them."""

from __future__ import annotations

from bnpcluster._core.jit import kernel
from bnpcluster._core.loading import add_all
from bnpcluster.likelihoods.gaussian.niw_general import GeneralNIW, clear_slot, factorise, shift


@add_all.register(GeneralNIW)
def _add_all(lik, labels):
    X, size, mean, scatter, n_slots = lik.X, lik.size, lik.mean, lik.scatter, 0
    for i in range(len(labels)):
        k = labels[i]
        size[k] += 1
        n_slots = max(n_slots, k + 1)
        if size[k] == 1:
            mean[k] = 0.0  # the means of the rows alone, so far
        step = 1.0 / size[k]
        for a in range(X.shape[1]):
            mean[k, a] += step * (X[i, a] - mean[k, a])
    for i in range(len(labels)):
        k = labels[i]
        for a in range(X.shape[1]):
            gap = X[i, a] - mean[k, a]
            for b in range(a + 1):
                scatter[k, a, b] += gap * (X[i, b] - mean[k, b])
    for k in range(n_slots):
        if size[k] > 0 and with_prior_mean(lik, k):
            clear_slot(lik, k)
            for i in range(len(labels)):
                if labels[i] == k:
                    shift(lik, k, i, 1)


@kernel
def with_prior_mean(lik, k):
    """Turn the mean of the rows of slot k into that of the posterior; return whether S is flat."""
    m, r0, gap = lik.size[k], lik.prior[0], lik.work[0]
    for a in range(len(gap)):
        gap[a] = lik.mean[k, a] - lik.prior_mean[a]
        lik.mean[k, a] = lik.prior_mean[a] + m * gap[a] / (r0 + m)
        for b in range(a + 1):
            lik.scatter[k, a, b] += r0 * m / (r0 + m) * gap[a] * gap[b]
    return factorise(lik, k)

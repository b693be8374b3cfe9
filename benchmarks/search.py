"""The search for a point estimate against all partitions of 5 to 9 items: how often it misses.

The expected loss of a partition is a sum over its clusters, up to a constant. So a table over all
sets of items, made here without the package, gives that of every partition.
"""

import time
from collections import Counter
from functools import cache

import numpy as np

from bnpcluster.partitions import point_estimate
from bnpcluster.testing import all_partitions

SIZES = [5, 6, 7, 8, 9]
SHARES = [0.2, 0.25, 0.25, 0.2, 0.1]  # of the problems
AGREE = 1e-9


def measure(arguments):
    """Random problems at the default number of starts; prints each miss, and the counts."""
    rng = np.random.default_rng(20)
    misses, asked, worst, seconds = Counter(), Counter(), 0.0, 0.0
    masks = {n: _masks(listed(n)) for n in SIZES}
    for number in range(arguments.problems):
        n = int(rng.choice(SIZES, p=SHARES))
        name, draws, weights, loss, options = problem(rng, n)
        begin = time.process_time()
        estimate = point_estimate(draws, loss, weights=weights, **options)
        seconds += time.process_time() - begin
        gain = set_losses(draws, weights, loss, options.get("cost", 1.0))
        allowed = listed(n).max(axis=1) < options.get("max_clusters", n)
        assert estimate.max() < options.get("max_clusters", n)
        gap = gain[_masks(estimate[None])].sum() - gain[masks[n]].sum(axis=1)[allowed].min()
        asked.update(kinds(name, n, loss, options))
        if gap > AGREE:
            misses.update(kinds(name, n, loss, options))
            worst = max(worst, gap)
            print(f"missed {number}: n = {n}, {name}, {len(draws)} draws, {loss}, {options}")
    print(f"{misses['all']} of {asked['all']:,} problems missed, by {worst:.1e} at most")
    print(", ".join(f"{kind}: {misses[kind]} of {asked[kind]:,}" for kind in sorted(asked)))
    print(f"{1e3 * seconds / asked['all']:.1f} ms of the processor per estimate", flush=True)


def kinds(name, n, loss, options):
    """What a problem is counted under."""
    return ["all", name, f"n = {n}", loss, *(options or ["no options"])]


def problem(rng, n):
    """A kind of draws, the draws, their weights, a loss, and options of the estimate."""
    name = str(rng.choice(list(DRAWS)))
    draws = DRAWS[name](rng, n, int(2 * 100 ** rng.random()))
    # The cube of an exponential: a few draws may hold nearly all weight.
    weights = [None, rng.random(len(draws)), rng.exponential(size=len(draws)) ** 3]
    options = {}
    if rng.random() < 0.3:
        options["cost"] = float(rng.uniform(0.2, 1.8))
    if rng.random() < 0.3:
        options["max_clusters"] = int(rng.integers(1, n))
    return name, draws, weights[rng.integers(3)], str(rng.choice(["vi", "binder"])), options


@cache
def listed(n):
    """All partitions of n items."""
    return all_partitions(n)


def uniform_labels(rng, n, n_draws):
    """Diffuse, all with about as many clusters."""
    return rng.integers(rng.integers(2, n + 1), size=(n_draws, n))


def uniform_partitions(rng, n, n_draws):
    """As diffuse as can be."""
    partitions = listed(n)
    return partitions[rng.integers(len(partitions), size=n_draws)]


def urn(rng, n, n_draws):
    """From the prior of a Dirichlet process: many sizes, any number of clusters."""
    alpha, draws = rng.gamma(2.0), np.zeros((n_draws, n), dtype=int)
    for row in draws:
        for i in range(1, n):
            row[i] = i if rng.random() < alpha / (i + alpha) else row[rng.integers(i)]
    return draws


def concentrated(rng, n, n_draws):
    """Near one partition."""
    return _scattered(rng, rng.integers(rng.integers(1, n + 1), size=n), n_draws)


def of_several_modes(rng, n, n_draws):
    """Near two to four partitions, with any masses."""
    mode = rng.choice(4, p=rng.dirichlet([1.0] * 4), size=n_draws)
    draws = [_scattered(rng, rng.integers(n, size=n), n_draws) for _ in range(4)]
    return np.array(draws)[mode, np.arange(n_draws)]


def _scattered(rng, centre, n_draws):
    other = rng.integers(len(centre), size=(n_draws, len(centre)))
    return np.where(rng.random(other.shape) < 0.6 * rng.random(), other, centre)


DRAWS = {
    kind.__name__: kind
    for kind in (uniform_labels, uniform_partitions, urn, concentrated, of_several_modes)
}


def set_losses(draws, weights, loss, cost):
    """What each set of items (bit i: item i) adds to the expected loss as a cluster.

    (2 - c) f(m) - 2 sum_r w_r sum_b f(m_b), where m_b of the m items are in block b of draw r.
    """
    n = draws.shape[1]
    sets, sizes = np.arange(2**n), np.array([s.bit_count() for s in range(2**n)])
    f = sizes * np.log(np.maximum(sizes, 1)) / n if loss == "vi" else sizes * (sizes - 1) / 2
    weights = np.ones(len(draws)) if weights is None else weights
    blocks = _masks(draws)
    # Blocks of many draws are the same sets.
    shares = np.broadcast_to((weights / weights.sum())[:, None], blocks.shape)
    share_of = np.bincount(blocks.ravel(), shares.ravel(), minlength=2**n)
    common = sum(share_of[block] * f[sets & block] for block in np.flatnonzero(share_of))
    return (2.0 - cost) * f - 2.0 * common


def _masks(partitions):
    """The blocks of each partition as sets of items, 0 where there are fewer than n."""
    n = partitions.shape[1]
    bits = 1 << np.arange(n)
    return np.stack([((partitions == b) * bits).sum(axis=1) for b in range(n)], axis=1)

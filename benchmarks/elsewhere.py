"""Rows that are elsewhere: passes, rounds of a cluster, messages, a start from nothing, memory.

Processor time of one thread where nothing else is said. `--long` adds a fit of ten million rows.
"""

import pickle
import resource
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.blocked import CASES
from bnpcluster import DPMixture
from bnpcluster._fitting.rows_elsewhere import LocalRows
from bnpcluster.likelihoods import NormalInverseWishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Blocked
from bnpcluster.samplers.blocked.root import Root

TURNS = 5
ROUNDS = 40
BOUND = 20_000  # rows that a chain starts with


def measure(arguments):
    """Print what passes and rounds cost."""
    for name, n, d, k, spread, _ in CASES:
        passes(name, *clusters(n, d, k, spread))
    from_nothing()
    rounds()
    if arguments.long:
        ten_million()


def clusters(n, d, k, spread, kind=np.float32):
    """Gaussian clusters, and their labels."""
    rng = np.random.default_rng(0)
    centres, y = spread * rng.normal(size=(k, d)), rng.integers(k, size=n)
    return (centres[y] + rng.normal(size=(n, d))).astype(kind), y


def chain(X, y, rows):
    """The root of a chain that starts at the truth, after its first pass."""
    likelihood = NormalInverseWishart(mean=0.0, kappa=0.01, nu=X.shape[1] + 2.0, scale=1.0)
    bound, rng = likelihood.bind(X[:BOUND].astype(float)), np.random.default_rng(0)
    prior = DirichletProcess(1.0)
    root = Root(likelihood, bound, prior, y[:BOUND], n_items=len(X), n_scanned=2000)
    rows.prepare(likelihood, bound)
    root.receive(rows.pass_over([root.first(rng)])[0])
    root.receive(rows.pass_over([root.next(rng)])[0])
    return root, rng


def passes(name, X, y):
    """Nanoseconds per row of a pass, and of one that divides unions; bytes of messages."""
    rows = LocalRows(np.array_split(X, 4))
    root, rng = chain(X, y, rows)
    seconds = {"pass": [], "division": [], "root": []}
    sizes = {}
    for _ in range(TURNS):
        begin = time.process_time()
        plan = root.plan(rng)
        middle = time.process_time()
        if plan is not None:
            divided = rows.divide([plan])[0]
            seconds["division"].append(time.process_time() - middle)
            sizes["plan"] = len(pickle.dumps(plan))
            sizes["divided"] = len(pickle.dumps(divided))
            root.settle(divided, rng)
        sent = root.next(rng)
        spent = sum(part[-1] for part in (seconds["division"],) if plan is not None)
        seconds["root"].append(time.process_time() - begin - spent)
        begin = time.process_time()
        found = rows.pass_over([sent])[0]
        seconds["pass"].append(time.process_time() - begin)
        sizes["message"] = len(pickle.dumps(sent))
        sizes["found, four chunks"] = len(pickle.dumps(found))
        root.receive(found)
    cost = {part: 1e9 * np.median(times) / len(X) for part, times in seconds.items() if times}
    shown = ", ".join(f"{part} {value:.0f} ns/row" for part, value in cost.items())
    print(f"{name}, {len(X):,} rows, K = {root.n_blocks}: {shown}")
    print("    " + ", ".join(f"{part} {size / 1e3:.1f} kB" for part, size in sizes.items()))


def from_nothing():
    """A million rows of 100 clusters that overlap, beside a chain that started at the truth."""
    X, y = overlapping(1_000_000)
    settings = {"n_chains": 1, "n_draws": 1, "random_state": 0, "point_estimate": "map"}
    truth = DPMixture(sampler=Blocked(), init=y, n_warmup=40, **settings).fit(X)
    goal = float(truth.posterior_.log_posterior[0, 0])
    for n_warmup in (0, 10, 40):
        begin = time.process_time()
        model = DPMixture(sampler=Blocked(), n_warmup=n_warmup, **settings).fit(X)
        spent = time.process_time() - begin
        level = float(model.posterior_.log_posterior[0, 0]) - goal
        ari = adjusted_rand_score(y, model.posterior_.labels[0, 0])
        print(
            f"from nothing, {n_warmup} iterations: {spent:.1f} s, log joint {level:+.0f} beside a "
            f"chain from the truth, ARI {ari:.3f}"
        )


def overlapping(n, k=100, sd=0.012):
    """Clusters of many shapes about a grid."""
    rng, side = np.random.default_rng(0), int(np.sqrt(k))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    centres = grid / side + rng.normal(0, 0.01, (k, 2))
    shapes = rng.normal(0, sd, (k, 2, 2)) + 0.6 * sd * np.eye(2)
    y = rng.integers(0, k, n)
    X = centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((n, 2)))
    return (X - X.mean(0)) / X.std(0), y


def rounds():
    """Milliseconds of a round of dask beyond the pass: hardly any rows, two processes."""
    from dask import array
    from distributed import Client, LocalCluster

    from bnpcluster._fitting import dask_rows

    spent, run = [], dask_rows.DaskRows._run

    def timed(self, *arguments):
        begin = time.perf_counter()
        found = run(self, *arguments)
        spent.append(time.perf_counter() - begin)
        return found

    dask_rows.DaskRows._run = timed
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster):
        X = array.from_array(clusters(2000, 2, 6, 10.0)[0], chunks=(500, 2))
        settings = {"n_chains": 1, "n_draws": ROUNDS, "n_warmup": ROUNDS, "random_state": 0}
        DPMixture(**settings).fit(X)
    dask_rows.DaskRows._run = run
    found = 1e3 * np.array(spent[-2 * ROUNDS :])
    print(
        f"a round on two processes, 2,000 rows: median {np.median(found):.1f} ms, least "
        f"{found.min():.1f} ms; an iteration has two"
    )


def ten_million():
    """A fit of ten million rows by 2 columns on two processes: seconds and memory."""
    from dask import array
    from distributed import Client, LocalCluster

    def block(block_id=None):
        rng = np.random.default_rng(block_id[0])
        centres = np.random.default_rng(99).uniform(-16, 16, (20, 2))
        rows = centres[rng.integers(20, size=1_000_000)] + rng.normal(size=(1_000_000, 2))
        return rows.astype(np.float32)

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        chunks = ((1_000_000,) * 10, (2,))
        X = array.map_blocks(block, chunks=chunks, dtype=np.float32, meta=np.zeros((0, 0)))
        begin = time.perf_counter()
        model = DPMixture(n_chains=1, n_draws=150, n_warmup=150, random_state=0).fit(X)
        spent = time.perf_counter() - begin
        here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    total = (here + sum(peaks.values())) / 1e6
    print(
        f"10^7 rows, 300 iterations: {spent:.0f} s, K = {model.n_clusters_}, {total:.1f} GB in all"
    )

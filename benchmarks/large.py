"""A fit of a million rows with 200 kept draws, its predictions and summaries: time and memory."""

import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.scaling import blobs


def measure(arguments):
    """In a process of its own, so that the peak of memory is this fit's alone."""
    subprocess.run([sys.executable, "-W", "ignore", "-m", "benchmarks.large"], check=True)


def main():
    """Fit, predict, summarise."""
    from bnpcluster import DPMixture

    X, labels = blobs(1_000_000, 100)
    model = DPMixture(n_chains=2, n_draws=100, n_warmup=20, n_jobs=2, init=labels, random_state=0)
    report("before the fit", time.perf_counter())
    begin = time.perf_counter()
    model.fit(X)
    report(f"fit, 2 chains x 120 sweeps, K = {model.n_clusters_}", begin)
    begin = time.perf_counter()
    model.predict(X[:10_000])
    report("predict 10,000 rows", begin)
    begin = time.perf_counter()
    block = model.coclustering_[:100, ::1000]
    report(f"co-clustering of 100 rows with {block.shape[1]} others", begin)
    begin = time.perf_counter()
    print(model.report())
    report("report", begin)


def report(what, begin):
    """One line: seconds and peak memory so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what}: {time.perf_counter() - begin:.1f} s, peak memory {peak:.2f} GB", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()

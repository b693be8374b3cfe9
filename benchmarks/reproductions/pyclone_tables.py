"""Mutations whose clusters are known: V-measure and prevalence error, beside PyClone-VI's.

`python -m benchmarks.reproductions.pyclone_tables --data DIR [--pyclone-vi SOURCE] [--only NAME]`
prints a line in Markdown per table and program, and how far the two programs agree. DIR holds the
folders pyclone_vi, pyclone_mixing and pairtree_sims; SOURCE is a checkout of PyClone-VI, run as it
is, where one is given.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import v_measure_score

from benchmarks.reproductions import finished
from benchmarks.reproductions.finished import Finished
from bnpcluster import DPMixture
from bnpcluster.likelihoods import PyClone
from bnpcluster.pyclone import prevalences

COPIES = {"normal_cn": 2, "major_cn": 1, "minor_cn": 1}
SIMULATED = [
    "K3_S1_T200_M300",
    "K10_S3_T200_M100",
    "K10_S10_T50_M1000",
    "K30_S10_T200_M600",
    "K100_S30_T200_M1000",
]
KEYS = ["mutation_id", "sample_id"]
FOUND = ["cluster_id", "cellular_prevalence"]
N_GRID = 101


class Known(NamedTuple):
    """A table with its true clusters, and prevalences where they are known or follow from them."""

    table: pd.DataFrame
    cluster: str  # the column that says so; none where nothing is known
    density: str
    most_clusters: int  # what PyClone-VI is given
    restarts: int


def synthetic(folder: Path) -> Known:
    """PyClone-VI's own example: the true prevalences are in it."""
    return Known(pd.read_csv(folder / "pyclone_vi/synthetic.csv.gz"), "cluster", "binomial", 20, 10)


def mixing(folder: Path) -> Known:
    """Four genomes mixed in known parts; a cluster is the set of genomes that have the variant."""
    table = pd.read_csv(folder / "pyclone_mixing/mixing.csv.gz")
    return Known(table, "variant_cases", "beta_binomial", 20, 10)


def tracerx(folder: Path) -> Known:
    """Three regions of a lung tumour, at the settings of PyClone-VI's introduction."""
    table = pd.read_csv(folder / "pyclone_vi/tracerx_cruk0001.csv.gz")
    return Known(table, "", "beta_binomial", 40, 10)


def pairtree(folder: Path, name: str) -> Known:
    """Simulated diploid tumours; the prevalence of a true cluster is that of all its reads."""
    table = pd.read_csv(folder / f"pairtree_sims/sim_{name}_run1.csv.gz").assign(**COPIES)
    table["sample_id"] = "s" + table["sample_id"].astype(str).str.zfill(2)
    sums = table.groupby(["cluster", "sample_id"])[["ref_counts", "alt_counts"]].transform("sum")
    table["ccf"] = np.minimum(2 * sums["alt_counts"] / sums.sum(axis=1), 1.0)
    n_clusters = table["cluster"].nunique()
    return Known(table, "cluster", "binomial", 2 * n_clusters, 10 if len(table) < 5000 else 2)


def ours(known: Known, seconds: float | None) -> pd.DataFrame:
    """Our result in the columns of PyClone-VI's."""
    law = PyClone(density=known.density, n_grid=N_GRID)
    model = DPMixture(
        likelihood=law, n_chains=2, n_warmup=300, n_draws=300, max_time=seconds, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return prevalences(model.fit(known.table), known.table)


def theirs(known: Known, source: Path) -> pd.DataFrame:
    """The result of PyClone-VI."""
    sys.path.insert(0, str(source))
    from pyclone_vi import run

    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        into, fit, out = (f"{name}/{file}" for file in ("in.tsv", "fit.h5", "out.tsv"))
        known.table.to_csv(into, sep="\t", index=False)
        run.fit(
            into,
            fit,
            density=known.density.replace("_", "-"),
            num_clusters=known.most_clusters,
            num_grid_points=N_GRID,
            num_restarts=known.restarts,
            seed=0,
        )
        run.write_results_file(fit, out)
        return pd.read_csv(out, sep="\t")


def line(name: str, program: str, known: Known, found: pd.DataFrame, seconds: float) -> str:
    """One line of the table."""
    truth = known.table.columns.intersection([known.cluster, "ccf"])
    both = known.table[[*KEYS, *truth]].merge(found[[*KEYS, *FOUND]], on=KEYS)
    once = both.drop_duplicates("mutation_id")
    agreement = error = "unknown"
    if known.cluster:
        agreement = f"{v_measure_score(once[known.cluster], once['cluster_id']):.3f}"
    if "ccf" in both:
        error = f"{np.mean(np.abs(both['ccf'] - both['cellular_prevalence'])):.4f}"
    cells = [name, program, agreement, f"{once['cluster_id'].nunique()}", error]
    return "| " + " | ".join([*cells, f"{seconds:.1f}", f"{len(once)}"]) + " |"


def between(one: pd.DataFrame, two: pd.DataFrame) -> str:
    """How far two programs agree on the mutations that both have."""
    both = one[[*KEYS, *FOUND]].merge(two[[*KEYS, *FOUND]], on=KEYS)
    once = both.drop_duplicates("mutation_id")
    agreement = v_measure_score(once["cluster_id_x"], once["cluster_id_y"])
    gap = np.mean(np.abs(both["cellular_prevalence_x"] - both["cellular_prevalence_y"]))
    return f"V-measure {agreement:.3f}, mean difference of prevalences {gap:.4f}"


def measure(run: Any, known: Known) -> dict[str, Any]:
    """The result of a program, and its processor seconds."""
    begin = time.process_time()
    found = run(known)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "found": found[[*KEYS, *FOUND]].to_dict("list")}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pyclone-vi", type=Path)
    parser.add_argument("--only", default="", help="text in the name of a table")
    parser.add_argument("--seconds", type=float, help="of sampling, at most; no limit by default")
    finished.add_argument(parser, "pyclone_tables")
    given = parser.parse_args(arguments)
    done = Finished(given.finished)
    sources: dict[str, Any] = {"synthetic": synthetic, "mixing": mixing}
    sources["tracerx"] = tracerx
    sources |= {name: lambda folder, name=name: pairtree(folder, name) for name in SIMULATED}
    print("| table | program | V-measure | clusters | prevalence error | CPU seconds | mutations |")
    print("|---|---|---|---|---|---|---|")
    for name, source in sources.items():
        if given.only not in name:
            continue
        known = source(given.data)
        programs: dict[str, Any] = {"bnpcluster": lambda k: ours(k, given.seconds)}
        if given.pyclone_vi:
            programs["PyClone-VI"] = lambda k: theirs(k, given.pyclone_vi)
        results = []
        for program, run in programs.items():
            key = (name, program, given.seconds)
            row = done.get(key, lambda run=run, known=known: measure(run, known))
            results.append(pd.DataFrame(row["found"]))
            print(line(name, program, known, results[-1], row["seconds"]), flush=True)
        if len(results) == 2:
            print(f"{name}, the two programs: {between(*results)}", flush=True)


if __name__ == "__main__":
    main()

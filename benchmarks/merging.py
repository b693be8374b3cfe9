"""Costs of the point estimate and thresholds of joins, from the same draws of every set.

Every set is fitted once, with nothing but defaults. Its lines go to a CSV file, and a set whose
lines are there is not fitted again, so a run can resume.
"""

import csv
import re
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import defaults
from benchmarks.defaults_report import markdown
from bnpcluster import DPMixture
from bnpcluster._estimators.clusters import numbered, tree_of

COSTS = (1.0, 1.25, 1.5, 1.75)
THRESHOLDS = (None, 0.02, 0.05, 0.1, 0.2)
CLOSE = 0.005  # of ARI
RESAMPLES = 10_000
TAIL = 5  # per cent
BEGIN, END = "<!-- merging:begin -->", "<!-- merging:end -->"


class Line(NamedTuple):
    """The clusters of a set under a cost and a threshold, which is 0 without joins."""

    name: str
    cost: float
    threshold: float
    components: int
    clusters: int
    ari: float


def measure(arguments):
    """The sets of the benchmark of defaults; last the table."""
    sets = {
        name: path
        for name, path in defaults._sets(arguments.data).items()
        if path.parent.name == defaults.FOLDERS[0]
    }
    lines = read(arguments.merging)
    for name, path in sets.items():
        if name not in {line.name for line in lines}:
            found = _of_set(name, path)
            _append(arguments.merging, found)
            lines += found
            print(
                f"{name:14s} {found[0].components} components, ARI {found[0].ari:.3f}", flush=True
            )
    rows = table([line for line in lines if line.name in sets])
    print(*(" ".join(f"{cell:>12s}" for cell in row) for row in rows), sep="\n")
    if arguments.page:
        write(arguments.page, rows)


def _of_set(name, path):
    """One fit, and its clusters under all costs and thresholds."""
    data, found = defaults.split(name, path), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPMixture(random_state=0).fit(data.X)
    for cost in COSTS:
        estimate = model.posterior_.point_estimate("vi", cost=cost).astype(np.int64)
        tree = tree_of(model._fitted._replace(estimate=estimate))
        for threshold in THRESHOLDS:
            labels = numbered(tree.cut(threshold), estimate, None)[estimate]
            ari = adjusted_rand_score(data.y[data.known], labels[data.known])
            counts = int(estimate.max()) + 1, int(labels.max()) + 1
            found.append(Line(name, cost, threshold or 0.0, *counts, float(ari)))
    return found


def read(path):
    """The lines of a file of complete sets, if there is one."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = Line.__annotations__  # classes, which also read text
    return [Line(**{field: kinds[field](row[field]) for field in Line._fields}) for row in rows]


def _append(path, lines):
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Line._fields] * new + [list(line) for line in lines])


def table(lines):
    """Rows of text: every setting beside the estimate at cost 1 without joins."""
    names = sorted({line.name for line in lines})
    aris = {(line.name, line.cost, line.threshold): line.ari for line in lines}
    draw = np.random.default_rng(0).integers(len(names), size=(RESAMPLES, len(names)))
    rows = [
        ["cost", "merge", "mean ARI", "better", "worse", "equal", "mean change", f"lower {TAIL} %"]
    ]
    for cost in COSTS:
        for threshold in THRESHOLDS:
            own = np.array([aris[name, cost, threshold or 0.0] for name in names])
            change = own - np.array([aris[name, COSTS[0], 0.0] for name in names])
            low = np.percentile(change[draw].mean(axis=1), TAIL)
            better, worse = int(np.sum(change > CLOSE)), int(np.sum(change < -CLOSE))
            counts = [str(n) for n in (better, worse, len(names) - better - worse)]
            means = [f"{own.mean():.3f}", *counts, f"{change.mean():+.3f}", f"{low:+.3f}"]
            rows.append([f"{cost:g}", f"{threshold}", *means])
    return rows


def write(path, rows):
    """Put the table between the markers of a page."""
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path} has no lines {BEGIN} and {END}")
    block = "\n\n".join([BEGIN, markdown(rows), END])
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    path.write_text(pattern.sub(lambda _: block, text))

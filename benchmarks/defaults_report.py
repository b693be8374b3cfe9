"""Sentences and tables about the lines of the benchmark of defaults."""

import re

import numpy as np

TITLES = {
    "ours": "DPMixture",
    "bic": "lowest BIC",
    "variational": "variational",
    "hdbscan": "HDBSCAN",
}
PEERS = [method for method in TITLES if method != "ours"]
DENSITIES = ["bic", "variational"]  # the peers that have one
CLOSE = 0.01  # of ARI
WORSE = 0.05  # of held-out density
STABLE = 0.9  # of ARI
ALIKE, SAME = 0.95, 0.02  # of ARI and density, what a fit that has converged should reach
BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"


def printed(line):
    """A line as it is shown while the benchmark runs."""
    words = [] if line.density != line.density else [f"held-out {line.density:9.4f}"]
    words += [f"ARI {line.ari:.3f}", f"{line.clusters:.0f} clusters", f"{line.seconds:.2f} s"]
    if line.stability == line.stability:
        words.append(f"another seed {line.stability:.3f}")
    if line.method == "ours":
        words += [_verdict(line), f"chains agree {line.agreement:.3f}"]
        words.append(f"{line.warmup:.0f} + {line.draws:.0f} iterations")
    return f"{line.name:14s} {line.method:12s} {', '.join(words)}"


def _verdict(line):
    return "converged" if line.converged == 1 else "not converged"


def column(lines, names, method, field):
    """A value of every set that has a line of the method."""
    found = [getattr(lines[name, method], field) for name in names if (name, method) in lines]
    return np.array(found)


def summary(lines, sets, judged, baseline):
    """What is said of the sets: `judged` alone, but for the comparison with an earlier file."""
    aris = {TITLES[method]: column(lines, judged, method, "ari") for method in TITLES}
    means = [f"{title} {v.mean():.3f} ({len(v)} sets)" for title, v in aris.items() if len(v)]
    found = [f"mean ARI: {', '.join(means)}"] if means else []
    complete = [name for name in judged if all((name, method) in lines for method in TITLES)]
    if complete:
        found += _comparison(lines, complete)
    ours = [name for name in sets if (name, "ours") in lines]
    if common := [name for name in ours if (name, "ours") in baseline]:
        found += _progress(lines, baseline, common)
    return found


def _comparison(lines, names):
    """Ours beside the peers."""
    n = len(names)
    best = np.max([column(lines, names, m, "density") for m in DENSITIES], axis=0)
    ahead = column(lines, names, "ours", "density") - best
    aris = np.max([column(lines, names, m, "ari") for m in PEERS], axis=0)
    reached = column(lines, names, "ours", "ari") >= aris - CLOSE
    seconds = column(lines, names, "ours", "seconds")
    times = seconds / column(lines, names, "variational", "seconds")
    stable = {
        TITLES[m]: f"{np.sum(column(lines, names, m, 'stability') >= STABLE)} ({TITLES[m]})"
        for m in TITLES
    }
    ratios = [
        f"{np.median(seconds / column(lines, names, m, 'seconds')):.1f} times {TITLES[m]}"
        for m in PEERS
    ]
    sure = [lines[name, "ours"] for name in names if lines[name, "ours"].converged == 1]
    alike = [
        line
        for line in sure
        if line.stability >= ALIKE and abs(line.density - line.other_density) <= SAME
    ]
    return [
        f"held-out density at least the better of BIC and variational on {np.sum(ahead >= 0)} of "
        f"{n}, median difference {np.median(ahead):.4f}",
        f"ARI at least the best of the peers, within {CLOSE}, on {reached.sum()} of {n}",
        f"converged on {np.sum(column(lines, names, 'ours', 'converged') == 1)} of {n}, chains "
        f"agree {np.nanmean(column(lines, names, 'ours', 'agreement')):.3f} on average",
        f"of those called converged, {len(alike)} of {len(sure)} agree with a fit of another seed "
        f"(ARI at least {ALIKE}, density within {SAME})",
        f"labels of two seeds agree (ARI at least {STABLE}) on {', '.join(stable.values())}",
        f"median time: {', '.join(ratios)}; 90th percentile {np.quantile(times, 0.9):.1f} times "
        f"variational; {seconds.sum():.0f} s in all",
    ]


def _progress(lines, baseline, names):
    """Ours now beside ours of an earlier file."""
    before, now = (column(found, names, "ours", "density") for found in (baseline, lines))
    worse = [
        f"{name} ({now[i] - before[i]:.3f})"
        for i, name in enumerate(names)
        if not now[i] >= before[i] - WORSE
    ]
    before_ari, now_ari = (column(found, names, "ours", "ari") for found in (baseline, lines))
    return [
        f"since the baseline: held-out density worse by more than {WORSE} on {len(worse)} of "
        f"{len(names)}" + (f": {', '.join(worse)}" if worse else ""),
        f"since the baseline: better by more than {WORSE} on {np.sum(now > before + WORSE)}; mean "
        f"ARI {before_ari.mean():.3f} before, {now_ari.mean():.3f} now",
    ]


def single(lines, name, init):
    """What was found in data of one cluster or of none, over all seeds; empty if not measured."""
    found = [
        line
        for (key, method), line in lines.items()
        if method == init and key.rpartition("-s")[0] == name
    ]
    if not found:
        return ""
    clusters = np.array([line.clusters for line in found])
    return (
        f"one cluster in {np.sum(clusters == 1)} of {len(found)}, mean {clusters.mean():.1f}, "
        f"{np.mean([line.seconds for line in found]):.1f} s"
    )


def write(path, lines, sets, judged, families, starts):
    """Put the tables between the markers of a page."""
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path} has no lines {BEGIN} and {END}")
    parts = ["\n".join(f"- {sentence}" for sentence in summary(lines, sets, judged, {}))]
    parts.append(_table(lines, sets))
    if rows := _rows_of_single(lines, families, starts):
        parts.append(markdown([["data", *(f"from {init}" for init in starts)], *rows]))
    block = "\n\n".join([BEGIN, *parts, END])
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    path.write_text(pattern.sub(lambda _: block, text))


def _table(lines, sets):
    heads = [f"{title}: held-out, ARI, K, s, seed" for title in TITLES.values()]
    heads[-1] = f"{TITLES['hdbscan']}: ARI, K, s, seed"
    rows = [["set", "rows, columns", *heads, "chains agree"]]
    for name in sets:
        there = [lines[name, method] for method in TITLES if (name, method) in lines]
        if there:
            cells = [_cell(lines.get((name, method))) for method in TITLES]
            size = f"{there[0].rows:.0f}, {there[0].columns:.0f}"
            rows.append([name, size, *cells, _agreement(lines.get((name, "ours")))])
    return markdown(rows)


def _cell(line):
    if line is None:
        return ""
    words = [] if line.density != line.density else [f"{line.density:.3f}"]
    words += [f"{line.ari:.3f}", f"{line.clusters:.0f}", f"{line.seconds:.2f}"]
    return ", ".join([*words, f"{line.stability:.2f}"])


def _agreement(line):
    return "" if line is None else f"{line.agreement:.2f}, {_verdict(line)}"


def _rows_of_single(lines, families, starts):
    rows = [[name, *(single(lines, name, init) for init in starts)] for name in families]
    return [row for row in rows if any(row[1:])]


def markdown(rows):
    """A table whose first row is its head."""
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"|{'---|' * len(rows[0])}", *body])

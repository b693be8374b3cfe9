"""Microseconds of a split-merge move on the plane, beside a Gibbs sweep of the C++ yardstick."""

import time

import numpy as np

from benchmarks.yardstick import load, one_core, sweep_seconds, workshop
from bnpcluster import samplers
from bnpcluster._core.state import State
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import SAMS, Gibbs, JainNeal, SplitMerge

N_MOVES = 200
ALTERNATIONS = 5
REPEATS = 6  # per alternation
BURN = 50  # sweeps from the true labels


def measure(arguments):
    """Alternate our moves and the yardstick's sweeps on one core; print medians and ratios."""
    with workshop(arguments.yardstick, build=True) as folder, one_core():
        if folder is None:
            return
        case, rng = load(folder, "s1like"), np.random.default_rng(1)
        state = State(case.likelihood.bind(case.X), DirichletProcess(1.0), case.y)
        for _ in range(BURN):
            Gibbs().step(state, rng)
        settled, times = state.labels.copy(), {}
        for row in _rows():
            _seconds(state, settled, row, rng)  # compiles
        theirs = []
        for _ in range(ALTERNATIONS):
            theirs.append(sweep_seconds(folder, "s1like"))
            for row in _rows():
                several = [_seconds(state, settled, row, rng) for _ in range(REPEATS)]
                times.setdefault(row[0], []).extend(several)
        _print(times, float(np.median(theirs)))


def _rows():
    """What is measured: name, sampler, whether from one cluster, target in milliseconds."""
    rows = [
        ("SAMS, uniform, random order", SAMS(n_moves=N_MOVES, n_gibbs=0), False, 0.06),
        (
            "SAMS, uniform, decisive",
            SAMS(order="decisive", n_moves=N_MOVES, n_gibbs=0),
            False,
            None,
        ),
        ("JainNeal, five scans", JainNeal(n_moves=N_MOVES, n_gibbs=0), False, 0.3),
        ("SplitMerge", SplitMerge(n_moves=N_MOVES, n_gibbs=0), False, None),
        (
            "SplitMerge, uniform",
            SplitMerge(anchors="uniform", n_moves=N_MOVES, n_gibbs=0),
            False,
            None,
        ),
    ]
    if hasattr(samplers, "PGSM"):
        pgsm = samplers.PGSM
        rows += [
            ("PGSM, 20 particles, first move", pgsm(n_moves=1, n_gibbs=0), True, 15.0),
            ("PGSM, 20 particles", pgsm(n_moves=N_MOVES, n_gibbs=0), False, 0.3),
        ]
    return rows


def _seconds(state, settled, row, rng):
    """Seconds per move of one iteration, from one cluster or from the settled labels."""
    _, sampler, from_one, _ = row
    state.labels[:] = 0 if from_one else settled
    state.rebuild()
    state.scratch.clear()  # another sampler's plan
    # Of the processor: an iteration is long enough to be interrupted by other programs, of which
    # the median of the yardstick's much shorter sweeps sees nothing.
    begin = time.thread_time()
    sampler.step(state, rng)
    return (time.thread_time() - begin) / sampler.n_moves


def _print(times, sweep):
    print(f"one C++ Gibbs sweep: {1e3 * sweep:.3f} ms", flush=True)
    for name, _, _, target in _rows():
        ours = float(np.median(times[name]))
        goal = f"  target {target} ms" if target else ""
        print(
            f"{name:32s} {1e6 * ours:9.1f} us per move (fastest {1e6 * min(times[name]):.1f})  "
            f"{ours / sweep:7.3f} sweeps{goal}",
            flush=True,
        )

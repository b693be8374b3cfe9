"""How soon a sampler finds the right partition from one cluster, and whether it stays there.

Processor seconds of sampling, without evaluation, until the held-out mean log density of the
current state passes a bar; every sampler beside the others. With --long also long chains: one from
the truth, and tempered ones whose time in either of two families of states is known.
"""

import math
import time

import numpy as np

from benchmarks.yardstick import Case, load, one_core, vague, workshop
from bnpcluster import samplers
from bnpcluster._core.jit import kernel
from bnpcluster._core.operations import log_predictive_all
from bnpcluster._core.state import State
from bnpcluster._fitting.rounds import BOUNDARY
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import SAMS, Gibbs, JainNeal, SplitMerge

SEEDS = 8
BARS = {"s1like": (-1.80, -1.775), "dim64": (22.40,), "bern50": (-24.34,)}
WITHIN = 0.02  # nats of a chain that starts from the truth: the bar of the stripes
SECONDS = 4.0  # per seed
LONGER = {"stripes": 10.0, "PGSM": 5.0}
TARGETS = {
    ("s1like", "SplitMerge"): (0.1, 0.25),
    ("dim64", "SplitMerge"): (0.5,),
    ("bern50", "SplitMerge"): (0.15,),
    ("stripes", "SplitMerge"): (10.0,),
    ("s1like", "PGSM"): (None, 5.0),
}


def measure(arguments):
    """First passages of all samplers on all data; with --long the long chains."""
    with workshop(arguments.yardstick) as folder, one_core():
        if folder is None:
            return
        cases = [load(folder, name) for name in BARS] + [stripes()]
        for case in cases:
            bars = BARS.get(case.name) or (_settled(case) - WITHIN,)
            for sampler in contestants():
                _compare(case, bars, sampler, arguments.budget)
        if arguments.long:
            _stays(cases[0])
            for beta, target in ((0.965, 0.0), (0.97, 2.0)):
                _power(cases[0], beta, target)


def contestants():
    """The samplers that are compared."""
    found = [Gibbs(), JainNeal(), SAMS(), SAMS(order="decisive")]
    if hasattr(samplers, "PGSM"):
        found.append(samplers.PGSM())
    return [*found, SplitMerge()]


def stripes(n=3000, n_lines=6):
    """Rows on parallel oblique lines 25 times as long as they are wide, standardised."""
    rng = np.random.default_rng(20261101)
    y = rng.integers(n_lines, size=n)
    along, across = rng.normal(size=(2, n)) * [[1.0], [0.04]]
    across += 0.25 * y
    X = np.column_stack([along - across, along + across])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    out = np.arange(n) < n // 10
    return Case("stripes", X[~out], y[~out], X[out], y[out], vague(2))


class HeldOut:
    """The held-out log densities under the predictive of a chain's current state."""

    def __init__(self, case):
        self.case = case
        self.values = np.zeros(len(case.X_test))

    def __call__(self, state):
        """Their mean; `values` holds all of them."""
        new = self.case.likelihood.rows(state.problem.likelihood, self.case.X_test)
        log_densities(new, state.prior.predictive(state.sizes), state.partition.scores, self.values)
        return float(self.values.mean())


@kernel
def log_densities(new, log_urn, scores, out):
    """out[i] = log sum_k exp(log_urn[k]) f(item i | slot k), the empty slot last."""
    n_slots = len(log_urn)
    for i in range(len(out)):
        log_predictive_all(new, i, 0, n_slots, scores)
        top, total = -math.inf, 0.0
        for k in range(n_slots):
            top = max(top, log_urn[k] + scores[k])
        for k in range(n_slots):
            total += math.exp(log_urn[k] + scores[k] - top)
        out[i] = top + math.log(total)


def _start(case, labels, beta=1.0):
    state = State(case.likelihood.bind(case.X), DirichletProcess(1.0), labels, beta=beta)
    state.adapting = True
    return state


def _iterations(state, sampler, rng):
    """Run the chain; yield the seconds of sampling so far, after every iteration."""
    seconds, iteration = 0.0, 0
    while True:
        begin = time.thread_time()
        sampler.step(state, rng)
        iteration += 1
        if iteration % BOUNDARY == 0:
            state.rebuild()
        seconds += time.thread_time() - begin
        yield seconds


def _settled(case, n_iterations=300):
    """The held-out mean log density that a chain started from the truth settles at."""
    state, held_out, values = _start(case, case.y), HeldOut(case), []
    chain = _iterations(state, SplitMerge(), np.random.default_rng(0))
    for _ in range(n_iterations):
        next(chain)
        values.append(held_out(state))
    return float(np.mean(values[n_iterations // 3 :]))


def _compare(case, bars, sampler, budget):
    """One line on a sampler per bar."""
    name = type(sampler).__name__
    budget = budget or max(SECONDS, LONGER.get(name, 0.0), LONGER.get(case.name, 0.0))
    few = np.full(len(case.X), -1)
    few[:2] = 0
    sampler.step(_start(case, few), np.random.default_rng(0))  # compiles
    passages = [_passages(case, bars, sampler, budget, seed) for seed in range(SEEDS)]
    targets = TARGETS.get((case.name, name), (None,) * len(bars))
    for bar, target, times in zip(bars, targets, zip(*passages, strict=True), strict=True):
        seconds, iterations = zip(*times, strict=True)
        goal = f"  target {SEEDS} of {SEEDS}, {target:g} s" if target else ""
        print(
            f"{case.name:7s} > {bar:7.3f}  {sampler!r:23s} {np.isfinite(seconds).sum()} of {SEEDS} "
            f"in {budget:g} s: median {np.median(seconds):.3f} s, maximum {max(seconds):.3f} s "
            f"({np.median(iterations):.0f}, {max(iterations):.0f} iterations){goal}",
            flush=True,
        )


def _passages(case, bars, sampler, budget, seed):
    """Seconds and iterations until each bar is passed, infinite if it is not."""
    state, held_out = _start(case, np.zeros(len(case.X), int)), HeldOut(case)
    found = [(math.inf, math.inf)] * len(bars)
    chain = _iterations(state, sampler, np.random.default_rng(seed))
    for iteration, seconds in enumerate(chain, 1):
        value = held_out(state)
        for b, bar in enumerate(bars):
            if value > bar and seconds < found[b][0]:
                found[b] = seconds, iteration
        if seconds > budget or max(found)[0] < math.inf:
            return found


def apart(labels, y):
    """Whether the majorities of the true clusters 4 and 5 are in different blocks."""
    first, second = (np.bincount(labels[y == cluster]).argmax() for cluster in (4, 5))
    return bool(first != second)


def _stays(case, n_iterations=20_000, every=10):
    """Clusters 4 and 5 stay apart, and the averaged predictive is what it should be."""
    state, held_out = _start(case, case.y), HeldOut(case)
    state.adapting = False
    chain = _iterations(state, SplitMerge(n_moves=5), np.random.default_rng(0))
    total, together, counts = np.full(len(case.X_test), -math.inf), 0, []
    for iteration in range(n_iterations):
        seconds = next(chain)
        together += not apart(state.labels, case.y)
        counts.append(state.n_blocks)
        if iteration % every == 0:
            held_out(state)
            total = np.logaddexp(total, held_out.values)
    density = np.mean(total) - math.log(len(range(0, n_iterations, every)))
    print(
        f"stays: 4 and 5 together in {together} of {n_iterations} iterations (target 0), held-out "
        f"{density:.4f} (target -1.7655 +- .003), K {np.mean(counts):.2f}, {seconds:.0f} s",
        flush=True,
    )


def _power(case, beta, target, n_rounds=8000):
    """How often a tempered chain has clusters 4 and 5 apart, from either family of states."""
    sampler = SplitMerge(launches=["two_means"], n_restricted=2, anchors="uniform", n_moves=50)
    for start in ("together", "apart"):
        labels = np.where((case.y == 5) & (start == "together"), 4, case.y)
        state = _start(case, np.unique(labels, return_inverse=True)[1], beta)
        chain, seen = _iterations(state, sampler, np.random.default_rng(0)), []
        for _ in range(n_rounds + n_rounds // 10):
            seconds = next(chain)
            seen.append(apart(state.labels, case.y))
        kept = np.array(seen[n_rounds // 10 :])
        odds = math.log((kept.sum() + 0.5) / ((~kept).sum() + 0.5))
        print(
            f"power {beta}: log odds of 4 and 5 apart {odds:.2f} (target {target:.1f} +- .6), "
            f"{np.count_nonzero(np.diff(kept))} crossings, from {start}, {seconds:.0f} s",
            flush=True,
        )

"""The relational likelihood against sums over pairs of vertices, written down naively."""

import math

import numpy as np
import pytest
from mpmath import mp, workdps
from scipy.special import betaln, logsumexp
from sklearn.base import clone

from bnpcluster import DPMixture
from bnpcluster._core import operations as ops
from bnpcluster._core.jit import kernel
from bnpcluster._core.partition import new_partition
from bnpcluster._core.state import State, grown_bound
from bnpcluster.likelihoods import LIKELIHOODS, Relational
from bnpcluster.likelihoods.network.block_counts import log_beta, log_gamma_ratio
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers.gibbs import sweep
from bnpcluster.testing import all_partitions, exact_posterior
from tests.tools.brute_force_relational import BruteForceRelational
from tests.tools.networks import FIGURE_3, network

JITTED = hasattr(sweep, "py_func")
EXAMPLES = [
    pytest.param(likelihood, A, id=name)
    for name, (likelihood, A) in zip(
        ("plain", "directed", "gaps", "directed-gaps"),
        Relational.examples(np.random.default_rng(1)),
        strict=True,
    )
]


def factors(likelihood, A, labels):
    """log marginal of every pair of blocks, and its links and observed pairs."""
    a, b = likelihood.beta
    found = {}
    for i in range(len(A)):
        for j in range(len(A)):
            if i == j or labels[i] < 0 or labels[j] < 0 or np.isnan(A[i, j]):
                continue
            if likelihood.directed or i < j:
                k, other = labels[i], labels[j]
                key = (k, other) if likelihood.directed else (min(k, other), max(k, other))
                p, t = found.get(key, (0, 0))
                found[key] = (p + int(A[i, j]), t + 1)
    return {key: (betaln(a + p, b + t - p) - betaln(a, b), p, t) for key, (p, t) in found.items()}


def total(likelihood, A, labels, *slots):
    """Sum of the factors that touch one of the slots, each once; of all of them without slots."""
    found = factors(likelihood, A, labels).items()
    return sum(value for key, (value, _, _) in found if not slots or set(key) & set(slots))


def with_label(labels, i, k):
    changed = np.array(labels)
    changed[i] = k
    return changed


def predictive(likelihood, A, labels, k, i):
    """log probability of the links of i after it left its slot and joined k."""
    ahead = total(likelihood, A, with_label(labels, i, k))
    return ahead - total(likelihood, A, with_label(labels, i, -1))


def filled(likelihood, A, labels, capacity=8):
    bound = likelihood.bind(A, capacity)
    for i, k in enumerate(labels):
        if k >= 0:
            ops.add(bound, k, i)
    return bound


@kernel
def everything(lik, k, other, i, out):
    """All operations that return a number."""
    out[0] = ops.log_predictive(lik, k, i)
    out[1] = ops.log_marginal(lik, k)
    out[2] = ops.log_marginal_pair(lik, k, other)
    out[3] = ops.log_marginal_union(lik, k, other, len(lik.size) - 1, lik.slot_of)
    out[4] = ops.log_likelihood(lik, len(lik.size))


def expected(likelihood, A, labels, k, other, i):
    united = np.where(labels == other, k, labels)
    return [
        predictive(likelihood, A, labels, k, i),
        total(likelihood, A, labels, k),
        total(likelihood, A, labels, k, other),
        total(likelihood, A, united, k),
        total(likelihood, A, labels),
    ]


def assert_same_books(likelihood, A, bound, labels):
    """Counts and cached predictives are those of the labels; empty slots are zero."""
    sizes = np.bincount(labels[labels >= 0], minlength=len(bound.size))
    np.testing.assert_array_equal(bound.size, sizes)
    np.testing.assert_array_equal(bound.slot_of, labels)
    links, pairs = np.zeros((2, *bound.links.shape), int)
    for (k, other), (_, p, t) in factors(likelihood, A, labels).items():
        links[k, other], pairs[k, other] = p, t
        if not likelihood.directed:
            links[other, k], pairs[other, k] = p, t
    np.testing.assert_array_equal(bound.links, links)
    np.testing.assert_array_equal(bound.pairs, pairs)
    fresh = filled(likelihood, A, labels, len(bound.size))
    np.testing.assert_array_equal(bound.none, fresh.none)
    np.testing.assert_allclose(bound.total, bound.none.sum(axis=0), atol=1e-9)
    assert not bound.none[sizes == 0].any()
    assert not bound.none[:, sizes == 0].any()
    assert bound.extent[0] == (np.flatnonzero(sizes)[-1] + 1 if sizes.any() else 0)


@pytest.mark.parametrize(("likelihood", "A"), EXAMPLES)
def test_every_operation_by_hand(likelihood, A):
    """Whatever was done before, with the vertex in the slot, in another one or in none."""
    rng = np.random.default_rng(0)
    bound, labels, out = likelihood.bind(A, 8), np.full(6, -1), np.zeros(5)
    for step in range(300 if JITTED else 120):
        i, k = rng.integers(6), rng.integers(8)
        if labels[i] >= 0:
            (ops.remove, ops.withdraw)[step % 2](bound, labels[i], i)
            labels[i] = -1
        if rng.random() < 0.8:
            (ops.add, ops.restore)[step % 2](bound, k, i)
            labels[i] = k
        if step % 3 == 0:
            to = int(rng.choice(np.setdiff1d(np.arange(8), labels)))
            ops.rename(bound, to, k)
            labels[labels == k] = to
        if step % 17 == 0:
            ops.clear(bound, k)
            labels[labels == k] = -1
        assert_same_books(likelihood, A, bound, labels)
        k, other = rng.choice(8, size=2, replace=False)
        i = rng.integers(6)
        everything(bound, k, other, i, out)
        np.testing.assert_allclose(out, expected(likelihood, A, labels, k, other, i), atol=1e-9)


@pytest.mark.parametrize(("likelihood", "A"), EXAMPLES)
def test_predictives_of_all_slots(likelihood, A):
    labels = np.array([0, 2, 0, 1, -1, 1])
    bound, out = filled(likelihood, A, labels), np.zeros(8)
    for i in range(6):
        ops.log_predictive_all(bound, i, 0, 4, out)
        exact = [predictive(likelihood, A, labels, k, i) for k in range(4)]
        np.testing.assert_allclose(out[:4], exact, atol=1e-9)
        if labels[i] >= 0:
            found = ops.log_predictive_without(bound, labels[i], i)
            np.testing.assert_allclose(found, exact[labels[i]], atol=1e-9)


@kernel
def list_weights(lik, i, own, beta, slack, partition):
    return ops.log_weights(lik, i, own, beta, slack, partition)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_weights_of_many_slots(directed, gaps):
    """Also for a vertex that is alone, and with a slack; the reference comes first."""
    likelihood = Relational(beta=(0.6, 1.7), directed=directed)
    A = network(24, directed, gaps)
    labels = np.append(np.arange(22) % 5, [5, -1])
    bound, partition = filled(likelihood, A, labels), new_partition(24, 8)
    partition.n_blocks[0] = 6
    for i in (0, 1, 7, 13, 21, 22, 23):
        own = labels[i]
        partition.log_prior[:] = -0.1 * np.arange(8)
        partition.log_prior[5 if own == 5 else 2] = -math.inf
        for beta, slack in ((1.0, math.inf), (0.4, 3.0)):
            count = list_weights(bound, i, own, beta, slack, partition)
            found = dict(zip(partition.slots[:count], partition.weights[:count], strict=True))
            exact = {
                k: partition.log_prior[k] + beta * predictive(likelihood, A, labels, k, i)
                for k in range(7)
                if partition.log_prior[k] > -math.inf
            }
            reference = own if own in exact else 6
            assert next(iter(found)) == reference
            for k, weight in found.items():
                assert weight == pytest.approx(exact[k], abs=1e-9)
            for k in set(exact) - set(found):
                assert exact[k] <= exact[reference] - slack + 1e-9
        assert_same_books(likelihood, A, bound, labels)


def test_agrees_with_the_brute_force_model():
    """The model that the samplers are proved on, at all partitions of five vertices."""
    A = network(5, False, False, p=0.5)
    ours, theirs = (
        exact_posterior(A, model, DirichletProcess(0.8))
        for model in (Relational(), BruteForceRelational())
    )
    np.testing.assert_allclose(ours.log_joint, theirs.log_joint, atol=1e-11)


def test_the_published_posterior():
    """Four vertices and four links: golden numbers."""
    exact = exact_posterior(FIGURE_3, Relational(), DirichletProcess(1.0))
    assert exact.log_evidence == pytest.approx(-4.357366284831, abs=1e-11)
    golden = {
        (0, 0, 0, 0): 0.185836,
        (0, 1, 0, 0): 0.135506,
        (0, 1, 1, 1): 0.135506,
        (0, 1, 2, 2): 0.090337,
        (0, 1, 2, 3): 0.050815,
        (0, 0, 0, 1): 0.045169,
        (0, 0, 1, 0): 0.045169,
        (0, 1, 0, 2): 0.045169,
        (0, 1, 1, 2): 0.045169,
        (0, 1, 2, 0): 0.045169,
        (0, 1, 2, 1): 0.045169,
        (0, 1, 0, 1): 0.040652,
        (0, 1, 1, 0): 0.040652,
        (0, 0, 1, 1): 0.027101,
        (0, 0, 1, 2): 0.022584,
    }
    for row, p in zip(exact.partitions.tolist(), exact.probabilities, strict=True):
        assert p == pytest.approx(golden[tuple(row)], abs=5e-7)


@pytest.mark.parametrize("directed", [False, True])
def test_networks_sum_to_one(directed):
    """Under every partition of three vertices the probabilities of all networks sum to one."""
    places = [(i, j) for i in range(3) for j in range(3) if (i != j if directed else i < j)]
    likelihood = Relational(beta=(0.5, 1.4), directed=directed)
    for labels in all_partitions(3):
        values = []
        for code in range(2 ** len(places)):
            A = np.zeros((3, 3))
            for bit, (i, j) in enumerate(places):
                A[i, j] = code >> bit & 1
                A[j, i] = A[j, i] if directed else A[i, j]
            values.append(ops.log_likelihood(filled(likelihood, A, labels), 3))
        assert logsumexp(values) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_unobserved_pairs_are_summed_over(directed):
    A = network(6, directed, False, p=0.5)
    likelihood, labels = Relational(directed=directed), np.array([0, 0, 1, 1, 1, 2])
    values = []
    for state in (0.0, 1.0, np.nan):
        A[1, 4] = state
        A[4, 1] = A[4, 1] if directed else state
        values.append(ops.log_likelihood(filled(likelihood, A, labels), 3))
    assert logsumexp(values[:2]) == pytest.approx(values[2], abs=1e-12)


@kernel
def wander(lik, labels, items, slots):
    for step in range(len(items)):
        i, k = items[step], slots[step]
        ops.remove(lik, labels[i], i)
        ops.add(lik, k, i)
        labels[i] = k


@pytest.mark.parametrize("directed", [False, True])
def test_statistics_do_not_drift(directed):
    """After very many moves counts are exact, and the sums as good as new."""
    likelihood = Relational(directed=directed)
    A, rng = network(30, directed, True), np.random.default_rng(0)
    state = State(likelihood.bind(A), DirichletProcess(1.0), np.arange(30) % 4)
    lik, moves = state.problem.likelihood, 200_000 if JITTED else 200
    wander(lik, state.labels, rng.integers(30, size=moves), rng.integers(7, size=moves))
    assert_same_books(likelihood, A, lik, state.labels)


@pytest.mark.parametrize(("likelihood", "A"), EXAMPLES)
def test_more_room_changes_nothing(likelihood, A):
    paths = []
    for capacity in (2, 64):
        bound = likelihood.bind(A, 2)
        state = State(bound, DirichletProcess(3.0), np.zeros(6, int), capacity=capacity)
        rng, path = np.random.default_rng(3), []
        for _ in range(30):
            state.visit(sweep, rng)
            path.append((state.labels.tolist(), state.log_joint()))
        paths.append(path)
    assert paths[0] == paths[1]


def test_growing_copies_what_a_chain_owns():
    bound = Relational().bind(FIGURE_3, 2)
    own = grown_bound(bound, 24)
    assert own.links.shape == own.none.shape == (24, 24)
    assert own.met.shape == (1, 24)
    for name in bound.slot_axis:
        assert not np.shares_memory(getattr(own, name), getattr(bound, name))
    for name in set(bound._fields) - set(bound.slot_axis):
        assert getattr(own, name) is getattr(bound, name)


@pytest.mark.parametrize("x", [0.7, 63.0, 65.0, 1e5, 3e9])
@pytest.mark.parametrize("m", [1.0, 2.0, 17.0, 2e5, 1e8])
def test_ratios_of_gamma_functions(x, m):
    with workdps(40):
        exact = float(mp.loggamma(mp.mpf(x) + m) - mp.loggamma(mp.mpf(x)))
    assert log_gamma_ratio(x, m) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("p", "t"), [(3, 10), (0, 70_000), (12, 70_000), (69_999, 70_000), (10**6, 5 * 10**9)]
)
def test_marginals_beyond_the_tables(p, t):
    bound = Relational(beta=(0.4, 1.5)).bind(FIGURE_3)
    with workdps(40):
        a, b = mp.mpf(0.4), mp.mpf(1.5)
        exact = float(mp.log(mp.beta(a + p, b + t - p)) - mp.log(mp.beta(a, b)))
    assert log_beta(bound, p, t) == pytest.approx(exact, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("directed", [False, True])
def test_where_tables_end(directed, monkeypatch):
    """Short tables, and all the rest computed, give the same posterior."""
    A = network(5, directed, True)
    likelihood, prior = Relational(beta=(0.4, 1.5), directed=directed), DirichletProcess(1.0)
    whole = exact_posterior(A, likelihood, prior)
    monkeypatch.setattr("bnpcluster.likelihoods.log_tables.ACCURATE", 3)
    assert likelihood.bind(A).table.length == 3
    short = exact_posterior(A, likelihood, prior)
    np.testing.assert_allclose(short.log_joint, whole.log_joint, atol=1e-10)


@pytest.mark.parametrize("directed", [False, True])
def test_features_tell_groups_apart(directed):
    labels = np.arange(60) % 3
    rng = np.random.default_rng(0)
    A = (rng.random((60, 60)) < np.where(labels[:, None] == labels, 0.8, 0.05)).astype(float)
    np.fill_diagonal(A, 0.0)
    A = A if directed else np.triu(A) + np.triu(A).T
    features = Relational(directed=directed).features(A)
    assert features.shape == (60, 20 if directed else 10)
    centres = np.array([features[labels == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(features[:, None] - centres, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": 1.0}, "beta must be a pair"),
        ({"beta": (1.0, 0.0)}, "beta must be a pair"),
        ({"beta": (1.0, "x")}, "beta must be a pair"),
        ({"directed": "yes"}, "directed must be True or False"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Relational(**parameters).bind(FIGURE_3)


def test_clone_and_repr():
    for likelihood, _ in Relational.examples(np.random.default_rng(0)):
        assert repr(clone(likelihood)) == repr(likelihood)


def test_mixtures_refuse_it_in_one_sentence():
    assert Relational not in LIKELIHOODS.values()
    with pytest.raises(TypeError, match=r"Relational.*InfiniteRelationalModel"):
        DPMixture(likelihood=Relational()).fit(FIGURE_3)

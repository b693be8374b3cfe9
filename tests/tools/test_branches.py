"""The enumeration of branches against distributions known in closed form."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from tests.tools.branches import outcomes, transition_matrix


def invert(weights, u):
    """Index by inversion, as the kernels do it, but with no last resort."""
    u *= sum(weights)
    for c, weight in enumerate(weights):
        u -= weight
        if u < 0.0:
            return c
    return "beyond"


def shuffle(items, rng):
    items = list(items)
    for k in range(len(items) - 1, 0, -1):
        j = int(rng.random() * (k + 1))
        items[j], items[k] = items[k], items[j]
    return tuple(items)


def medley(rng):
    """All kinds of decisions, of which some depend on others."""
    u, e = rng.random(), rng.standard_exponential()
    c = invert([0.2, 3.0, 0.7], rng.random())
    if u < 0.3 or e > 1.2:
        c += int(5 * u)
    if -e < math.log(0.9) and u >= 0.25:
        return c, "far", 1.0 - u > 0.5
    return c, "near", e + 0.5 < c


def close(found, expected, tolerance=1e-14):
    assert found.keys() == expected.keys()
    for outcome, probability in expected.items():
        assert found[outcome] == pytest.approx(probability, rel=tolerance, abs=0.0), outcome


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [0.5, 0.25, 0.25],
        [3.0, 0.1, 0.0, 2.2],
        [0.1] * 10,
        [0.0, 0.3, 0.6, 0.0],
        [1e-200, 1.0],
    ],
)
def test_inversion_has_the_distribution_it_inverts(weights):
    total = sum(weights)
    expected = {c: weight / total for c, weight in enumerate(weights) if weight > 0.0}
    close(outcomes(lambda rng: invert(weights, rng.random())), expected, 1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 49, np.int64(10)])
def test_int_is_uniform_on_integers(n):
    close(outcomes(lambda rng: int(rng.random() * n)), {k: 1 / n for k in range(n)}, 1e-13)
    close(outcomes(lambda rng: int(n - n * rng.random())), {k: 1 / n for k in range(n)}, 1e-13)


def test_int_respects_what_is_known():
    def run(rng):
        u = rng.random()
        return (int(5 * u), int(5 * u)) if u > 0.5 else int(0.0 * u)

    close(outcomes(run), {0: 0.5, (2, 2): 0.1, (3, 3): 0.2, (4, 4): 0.2}, 1e-13)


def test_shuffle_gives_every_order_once():
    expected = dict.fromkeys(permutations("abcd"), 1 / 24)
    close(outcomes(lambda rng: shuffle("abcd", rng)), expected, 1e-13)


@pytest.mark.parametrize("level", [1e-300, 1e-9, 0.3, 5.0, 36.0, 700.0])
def test_exponential_thresholds(level):
    expected = {True: math.exp(-level), False: -math.expm1(-level)}
    close(outcomes(lambda rng: rng.standard_exponential() > level), expected)
    close(outcomes(lambda rng: level <= rng.standard_exponential()), expected)
    close(outcomes(lambda rng: -rng.standard_exponential() < -level), expected)
    close(outcomes(lambda rng: not -2 * rng.standard_exponential() >= -2 * level), expected)


def test_exponential_with_a_number_added():
    expected = {True: -math.expm1(-1.75), False: math.exp(-1.75)}
    close(outcomes(lambda rng: rng.standard_exponential() + 0.25 < 2.0), expected)
    close(outcomes(lambda rng: 0.25 + rng.standard_exponential() < 2.0), expected)
    close(outcomes(lambda rng: -2.0 < -0.25 - rng.standard_exponential()), expected)
    assert outcomes(lambda rng: rng.standard_exponential() + 2.0 < 1.0) == {False: 1.0}


@pytest.mark.parametrize("start", [0.0, 3.0, 690.0])
def test_exponential_forgets_its_past(start):
    def run(rng):
        e = rng.standard_exponential()
        return e > start and (e < start + 1.0, e < start + 2.0)

    found = outcomes(run)
    beyond = math.exp(-start)
    assert found[True, True] == pytest.approx(-math.expm1(-1.0) * beyond, rel=1e-12, abs=0.0)
    assert found[False, False] == pytest.approx(math.exp(-2.0) * beyond, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("number", [math.inf, -math.inf, 1e308, -1e308, 1000.0, math.nan])
def test_infinite_and_large_numbers_settle_comparisons(number):
    assert outcomes(lambda rng: -rng.standard_exponential() < number) == {-1.0 < number: 1.0}
    assert outcomes(lambda rng: rng.standard_exponential() > number) == {1.0 > number: 1.0}
    assert outcomes(lambda rng: rng.random() + number <= 2.0) == {1.0 + number <= 2.0: 1.0}
    assert outcomes(lambda rng: number >= rng.random()) == {number >= 0.5: 1.0}


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_decisions_do_not_branch(p):
    assert outcomes(lambda rng: rng.random() < p, branches=1) == {p == 1.0: 1.0}
    assert outcomes(lambda rng: p <= rng.random(), branches=1) == {p == 0.0: 1.0}
    assert outcomes(lambda rng: rng.standard_exponential() > 1000.0, branches=1) == {False: 1.0}


def test_a_variable_times_0_is_0():
    assert outcomes(lambda rng: 0.0 * rng.random() < 0.0) == {False: 1.0}
    assert outcomes(lambda rng: 0.0 >= 0.0 * rng.standard_exponential()) == {True: 1.0}
    assert outcomes(lambda rng: int(0.0 * rng.standard_exponential() + 2.0)) == {2: 1.0}


def test_affine_maps_compose():
    quarter = {True: 0.25, False: 0.75}
    close(outcomes(lambda rng: 2.0 * (rng.random() + 1.0) < 2.5), quarter)
    close(outcomes(lambda rng: -(rng.random() + 1.0) > -1.25), quarter)
    close(outcomes(lambda rng: 3.0 - (rng.random() + 1.0) > 1.75), quarter)
    close(outcomes(lambda rng: (3.0 - rng.random()) * -2.0 > -4.5), quarter)


def test_what_rounding_leaves_over_is_no_branch():
    def run(rng):
        u = rng.random()
        for c in range(10):
            u -= 0.1
            if u < 0.0:
                return c
        return "beyond"

    close(outcomes(run), dict.fromkeys(range(10), 0.1), 1e-14)


def test_unlikely_answers_are_kept():
    assert outcomes(lambda rng: rng.random() < 1.0 - 1e-12)[False] == pytest.approx(1e-12, rel=1e-3)
    assert outcomes(lambda rng: 1e-300 > rng.random())[True] == 1e-300


def test_products_too_small_for_a_float_are_left_out():
    def run(rng):
        e = rng.standard_exponential()
        return e > 740.0 and tuple(rng.random() < 0.5 for _ in range(12))

    found = outcomes(run)
    assert found[False] == 1.0
    assert all(probability > 0.0 for probability in found.values())


@pytest.mark.parametrize("order", [*permutations([0, 1, 2])])
def test_answers_about_one_variable_agree(order):
    levels = [0.1, 0.3, 0.9]  # 1 - (1 - level) is another number for two of them

    def run(rng):
        u, above = rng.random(), [None] * 3
        for k in order:
            above[k] = not u < levels[k]
            assert above[k] == (levels[k] <= u) == (1.0 - levels[k] >= 1.0 - u) == (-u < -levels[k])
        return sum(above) if sorted(above, reverse=True) == above else "contradiction"

    close(outcomes(run), {0: 0.1, 1: 0.2, 2: 0.6, 3: 0.1}, 1e-13)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, int])
def test_numbers_of_all_kinds_on_both_sides(kind):
    close(outcomes(lambda rng: kind(2) * rng.random() + kind(1) < kind(2)), {True: 0.5, False: 0.5})
    close(outcomes(lambda rng: kind(2) > kind(1) + rng.random() * kind(2)), {True: 0.5, False: 0.5})
    close(outcomes(lambda rng: kind(1) - 2 * rng.random() >= kind(0)), {True: 0.5, False: 0.5})
    close(outcomes(lambda rng: kind(0) <= 2 * rng.random() - kind(1)), {True: 0.5, False: 0.5})


def test_total_probability_is_1():
    assert sum(outcomes(medley).values()) == pytest.approx(1.0, abs=1e-12)
    assert sum(outcomes(lambda rng: (medley(rng), medley(rng))).values()) == pytest.approx(
        1.0, abs=1e-12
    )


def test_outcomes_agree_with_draws():
    exact, draws, rng = outcomes(medley), 20_000, np.random.default_rng(0)
    counts = Counter(medley(rng) for _ in range(draws))
    assert counts.keys() <= exact.keys()
    for outcome, p in exact.items():
        assert abs(counts[outcome] - draws * p) < 5.0 * math.sqrt(draws * p * (1.0 - p)) + 1.0


def reject(rng):
    """Count the draws that a loop without end may take."""
    count = 1
    while not rng.random() < 0.5:
        count += 1
    return count


def test_limits_end_a_rejection_loop():
    with pytest.raises(RuntimeError, match="more than 50 branches"):
        outcomes(reject, branches=50)
    with pytest.raises(RuntimeError, match="more than 20 decisions"):
        outcomes(reject, depth=20)
    with pytest.raises(RuntimeError, match="decisions"):
        outcomes(reject)
    with pytest.raises(RuntimeError, match="more than 1 decisions"):
        outcomes(lambda rng: (rng.random() < 0.5, rng.random() < 0.5), depth=1)
    assert len(outcomes(lambda rng: int(rng.random() * 50), branches=50, depth=1)) == 50


@pytest.mark.parametrize(
    "use",
    [
        lambda rng: math.log(rng.random()),
        lambda rng: math.floor(rng.random()),
        lambda rng: float(rng.random()),
        lambda rng: [0, 1][rng.random()],
        lambda rng: np.zeros(1).__setitem__(0, rng.random()),
        lambda rng: np.log(rng.random()),
        lambda rng: rng.random() < np.zeros(2),
        lambda rng: rng.random() < "a",
        lambda rng: rng.random() / 2.0,
        lambda rng: rng.random() ** 2,
        lambda rng: rng.random() * math.inf < 1.0,
        lambda rng: rng.random() == 0.5,
        lambda rng: rng.random() != 0.5,
        lambda rng: not rng.random(),
        lambda rng: rng.random(),
        lambda rng: int(rng.standard_exponential()),
        lambda rng: int(rng.random() - 0.5),
        lambda rng: rng.random() < rng.random(),
        lambda rng: rng.random() + rng.random(),
        lambda rng: rng.random() * rng.standard_exponential(),
    ],
)
def test_other_uses_are_refused(use):
    with pytest.raises(TypeError, match=r"random variable|ufuncs"):
        outcomes(use)


def test_other_draws_are_refused():
    with pytest.raises(AttributeError, match=r"rng\.integers cannot"):
        outcomes(lambda rng: rng.integers(3))


@pytest.mark.parametrize("later", [lambda rng: 0, lambda rng: int(1.5 + 0.1 * rng.random())])
def test_a_function_that_changes_is_noticed(later):
    kept = []

    def run(rng):
        kept.append(0)
        return rng.random() < 0.5 if len(kept) == 1 else later(rng)

    with pytest.raises(RuntimeError, match="differently when it is run again"):
        outcomes(run)


def test_a_choice_that_is_gone_is_noticed():
    sides = [3]

    def run(rng):
        outcome = int(rng.random() * sides[0])
        sides[0] = 2
        return outcome

    with pytest.raises(RuntimeError, match="differently when it is run again"):
        outcomes(run)


def test_transition_matrix_of_a_metropolis_step():
    target = np.array([0.1, 0.2, 0.3, 0.4])

    def step(state, rng):
        proposal = (state + (1 if rng.random() < 0.5 else -1)) % 4
        return (
            proposal
            if -rng.standard_exponential() < math.log(target[proposal] / target[state])
            else state
        )

    matrix = transition_matrix(range(4), step)
    np.testing.assert_allclose(matrix.sum(1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(matrix[3], [0.125, 0.0, 0.375, 0.5], rtol=1e-14)
    np.testing.assert_allclose(target @ matrix, target, rtol=1e-14)


def test_transition_matrix_names_a_state_it_does_not_know():
    with pytest.raises(ValueError, match="1 leads to 2, which is not"):
        transition_matrix([0, 1], lambda state, rng: state + (rng.random() < 0.5))
    with pytest.raises(RuntimeError, match="more than 1 branches"):
        transition_matrix([0, 1], lambda state, rng: rng.random() < 0.5, branches=1)

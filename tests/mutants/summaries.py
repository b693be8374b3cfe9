"""Bugs of the summaries of draws: modes, uncertainty, costs, caps, pairs and strips."""

from __future__ import annotations

from tests.mutants import Mutant

TESTS = "test_summaries.py::"
MODES = f"{TESTS}test_modes_of_a_mixture_are_found_with_their_masses"
WAVER = f"{TESTS}test_items_that_waver_each_for_itself_make_no_modes"
WEIGHTS = f"{TESTS}test_weights_are_the_masses_of_modes"
SHARES = f"{TESTS}test_uncertainty_is_the_expected_share_of_companions_that_differ"
COSTS = f"{TESTS}test_the_cost_weighs_separated_pairs_against_joined_ones"
CAP = f"{TESTS}test_a_cap_holds_when_even_a_single_draw_has_more_clusters"
PAIRS = f"{TESTS}test_pairs_are_the_entries_of_the_matrix"
STRIPS = f"{TESTS}test_strips_are_the_matrix_in_pieces"
GROUPS = "partitions/_modes.py"

SUMMARIES = [
    Mutant(
        GROUPS,
        "every combination of wavering items is a mode",
        "np.maximum.outer(within, within), overall)",
        "np.maximum.outer(within, within), 0.0)",
        WAVER,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "weights do not count",
        "float(own.sum() / mass.sum())",
        "0.5",
        WEIGHTS,
        compiled=True,
    ),
    Mutant(
        GROUPS, "modes in any order", "key=lambda mode: -mode.mass", "key=id", MODES, compiled=True
    ),
    Mutant(
        "_draws.py",
        "companions in the draw alone are not counted",
        "1.0 - m / (size + sizes[b] - m)",
        "1.0 - m / size",
        SHARES,
    ),
    Mutant(
        "_draws.py",
        "the costs of the two errors are exchanged",
        "(2.0 - cost) * joined + cost * separated",
        "cost * joined + (2.0 - cost) * separated",
        COSTS,
    ),
    Mutant(
        "partitions/_estimates.py",
        "a single draw is returned whatever the cap",
        "if len(rows) == 1 and ",
        "if len(rows) == 1 or ",
        CAP,
    ),
    Mutant(
        "_draws.py",
        "pairs ignore the weights",
        "out[p] += weight if labels[left[p]] == labels[right[p]] else 0.0",
        "out[p] += 1.0 if labels[left[p]] == labels[right[p]] else 0.0",
        PAIRS,
    ),
    Mutant(
        "partitions/_pairs.py",
        "strips forget the threshold",
        "strip[strip < threshold] = 0.0\n        yield",
        "pass\n        yield",
        STRIPS,
    ),
]

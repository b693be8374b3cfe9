"""Bugs of the summaries of draws: modes, uncertainty, costs, caps, pairs and strips."""

from __future__ import annotations

from tests.mutants import Mutant

TESTS = "partitions/test_multimodality.py::"
MODES = f"{TESTS}test_modes_of_a_mixture_are_found_with_their_masses"
WAVER = f"{TESTS}test_items_that_waver_each_for_itself_make_no_modes"
APART = f"{TESTS}test_partitions_one_item_apart_are_told_from_all_others"
NEAR = f"{TESTS}test_a_far_mode_hides_no_near_ones"
HEAVY = f"{TESTS}test_heavy_draws_are_no_modes_beside_others_of_their_kind"
WEIGHTS = f"{TESTS}test_weights_are_the_masses_of_modes"
SHARES = f"{TESTS}test_uncertainty_is_the_expected_share_of_companions_that_differ"
COSTS = f"{TESTS}test_the_cost_weighs_separated_pairs_against_joined_ones"
CAP = f"{TESTS}test_a_cap_holds_when_even_a_single_draw_has_more_clusters"
PAIRS = f"{TESTS}test_pairs_are_the_entries_of_the_matrix"
STRIPS = f"{TESTS}test_strips_are_the_matrix_in_pieces"
PARTITIONS = "partitions/test_estimates.py::"
LIMIT = f"{PARTITIONS}test_tables_have_a_limit_whatever_the_draws"
OPTIMUM = f"{PARTITIONS}test_the_estimate_is_the_optimum_of_all_partitions"
TIES = f"{PARTITIONS}test_of_equally_good_partitions_rounding_does_not_choose"
CHANGED = f"{PARTITIONS}test_sweeps_look_at_what_has_changed_and_move_the_same_items"
CAPS = f"{TESTS}test_costs_and_caps_keep_the_search_exact"
GROUPS = "partitions/multimodality.py"

SUMMARIES = [
    Mutant(
        "partitions/search.py",
        "Search.widen",
        "few draws have tables of any size",
        "LEAST_DRAWS if cells > MOST_CELLS else ",
        "",
        LIMIT,
    ),
    Mutant(
        "partitions/search.py",
        "Search.__init__",
        "the least number of draws has tables of any size",
        "self._fitting(n_rows + 1, n_draws)",
        "2**31 - 1",
        LIMIT,
    ),
    Mutant(
        GROUPS,
        "_chained",
        "every combination of wavering items is a mode",
        "near | (total / pairs <= overall * (1 + 1e-9))",
        "near",
        WAVER,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_chained",
        "a single item makes a mode",
        "near | (total / pairs <= overall * (1 + 1e-9))",
        "total / pairs <= overall * (1 + 1e-9)",
        WAVER,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_one_item_apart",
        "many items that change places are one",
        "tolist() == [1]",
        "tolist() != []",
        APART,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_chained",
        "chains are not looked at again",
        "found += _chained(own, near[np.ix_(links, links)], distance, count)",
        "found += [np.concatenate(own)]",
        NEAR,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_groups",
        "a heavy draw is near itself",
        "pairs = size * size - count * count",
        "pairs = size * size",
        HEAVY,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_systematic_sample",
        "draws count once whatever their weight",
        "return sample, count.astype(float)",
        "return sample, np.ones(len(count))",
        f"{TESTS}test_many_draws_of_little_weight_make_no_mode",
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "_mode",
        "weights do not count",
        "float(own.sum() / mass.sum())",
        "0.5",
        WEIGHTS,
        compiled=True,
    ),
    Mutant(
        GROUPS,
        "modes",
        "modes in any order",
        "key=lambda mode: -mode.mass",
        "key=id",
        MODES,
        compiled=True,
    ),
    Mutant(
        "partitions/label_draws.py",
        "_item_terms",
        "companions in the draw alone are not counted",
        "1.0 - m / (size + sizes[b] - m)",
        "1.0 - m / size",
        SHARES,
    ),
    Mutant(
        "partitions/label_draws.py",
        "_distances",
        "the costs of the two errors are exchanged",
        "(2.0 - cost) * joined + cost * separated",
        "cost * joined + (2.0 - cost) * separated",
        COSTS,
    ),
    Mutant(
        "partitions/estimates.py",
        "point_estimate",
        "a single draw is returned whatever the cap",
        "if len(rows) == 1 and ",
        "if len(rows) == 1 or ",
        CAP,
    ),
    Mutant(
        "partitions/label_draws.py",
        "_pair_agreements",
        "pairs ignore the weights",
        "out[p] += weight if labels[left[p]] == labels[right[p]] else 0.0",
        "out[p] += 1.0 if labels[left[p]] == labels[right[p]] else 0.0",
        PAIRS,
    ),
    Mutant(
        "partitions/coclustering_matrix.py",
        "_strips",
        "strips forget the threshold",
        "strip[strip < threshold] = 0.0\n        yield",
        "pass\n        yield",
        STRIPS,
    ),
    Mutant(
        "partitions/exhaustive.py",
        "_added_loss",
        "all draws weigh the same",
        "np.broadcast_to((weights / weights.sum())[:, None], blocks.shape)",
        "np.full(blocks.shape, 1 / len(draws))",
        OPTIMUM,
    ),
    Mutant(
        "partitions/exhaustive.py",
        "_added_loss",
        "both errors cost the same",
        "(2.0 - objective.cost) * f",
        "f.copy()",
        CAPS,
    ),
    Mutant(
        "partitions/exhaustive.py",
        "best_of_all",
        "few items have no cap",
        "partitions.max(axis=1) < objective.max_clusters",
        "partitions.max(axis=1) < n",
        CAPS,
    ),
    Mutant(
        "partitions/exhaustive.py",
        "",
        "rounding chooses among equally good partitions",
        "ROUNDING = 1e-12",
        "ROUNDING = 0.0",
        TIES,
    ),
    Mutant(
        "partitions/exhaustive.py",
        "",
        "few items are searched",
        "FEW_ITEMS = 10",
        "FEW_ITEMS = 9",
        f"{PARTITIONS}test_few_items_are_not_searched",
    ),
    Mutant(
        "partitions/search.py",
        "_change_count",
        "a cluster that changed is not looked at again",
        "    tables.changed[a] = tables.clock[0]\n",
        "",
        CHANGED,
    ),
    Mutant(
        "partitions/search.py",
        "_score_changed",
        "an item whose own cluster changed is not looked at in full",
        "if own < 0 or tables.changed[own] > since:",
        "if own < 0:",
        CHANGED,
    ),
    Mutant(
        "partitions/search.py",
        "_improve",
        "all clusters are looked at every time",
        "        tables.looked[i] = tables.clock[0]\n",
        "",
        CHANGED,
    ),
    Mutant(
        "partitions/search.py",
        "_score_changed",
        "clusters that changed score without their size",
        "score[a] = tables.joining[tables.sizes[a]] - 2.0 * total",
        "score[a] = tables.joining[0] - 2.0 * total",
        CHANGED,
    ),
]

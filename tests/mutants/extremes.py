"""Bugs that let an extreme row take the digits of other rows along."""

from __future__ import annotations

from tests.mutants import Mutant

GAUSSIAN = "likelihoods/gaussian/"
EXTREMES = f"{GAUSSIAN}test_extremes.py::"
TRACE = f"{EXTREMES}test_a_row_comes_and_goes_without_a_trace"
BLOCK = f"{EXTREMES}test_a_block_with_an_extreme_row_is_exact"
MEMBERS = f"{EXTREMES}test_members_are_scored_without_themselves"
UNION = f"{EXTREMES}test_a_union_with_an_extreme_row_is_exact"
ALIKE = f"{EXTREMES}test_a_far_row_among_its_like_is_subtracted"
LOADED = f"{EXTREMES}test_the_next_draw_is_loaded_with_all_digits"
KEPT = f"{EXTREMES}test_samplers_keep_the_digits_of_blocks"
EXACT = f"{EXTREMES}test_samplers_are_exact_with_an_extreme_row"
ANCHORS = (
    "samplers/split_merge/exact_kernel.py::test_moves_of_an_extreme_row_do_not_depend_on_rounding"
)
FLAT_TARGET = "samplers/split_merge/exact_kernel.py::test_an_extreme_row_is_like_any_at_beta_0"
MOVED = "samplers/smc/test_base.py::test_an_extreme_row_leaves_a_block_with_its_digits"

SUBTRACTED = [
    Mutant(
        f"{GAUSSIAN}{file}.py",
        "_outweighs",
        f"{family}: an extreme row is subtracted",
        old,
        new,
        TRACE,
    )
    for file, family, old, new in (
        ("niw_planar", "two columns", "determinant_without(lik, k, i) < LOST", "False"),
        ("niw_general_weights", "more columns", "determinant_without(lik, k, i) < LOST", "False"),
        ("niw_nested", "nested patterns", "return True", "return False"),
        ("nig_columns", "independent columns", "return True", "return False"),
        ("nig_missing", "missing entries", "return True", "return False"),
    )
]

LIKELIHOODS = [
    Mutant(
        f"{GAUSSIAN}niw_imputed.py",
        "",
        "imputed rows: an extreme row is subtracted",
        "*(ops.outweighs, ops.log_weights, log_weight_above)",
        "*(ops.log_weights, log_weight_above)",
        TRACE,
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "_outweighs",
        "only the first part can lose its digits",
        "ops.outweighs(lik.first, k, i) or ops.outweighs(lik.second, k, i)",
        "ops.outweighs(lik.first, k, i)",
        TRACE,
    ),
    Mutant(
        f"{GAUSSIAN}niw_nested.py",
        "_outweighs",
        "nested: only the columns before a level can lose their digits",
        "quadratics(lik, level, k, i)[1]",
        "quadratics(lik, level, k, i)[0]",
        TRACE,
    ),
    Mutant(
        f"{GAUSSIAN}niw_planar.py",
        "_outweighs",
        "two columns: every row has its block filled again",
        "determinant_without(lik, k, i) < LOST",
        "True",
        ALIKE,
    ),
    *(
        Mutant(
            f"{GAUSSIAN}{file}.py",
            "_log_predictive_without",
            f"{family}: the score of an extreme row has no digits",
            "rest < LOST",
            "rest < 0.0",
            BLOCK,
        )
        for file, family in (
            ("niw_planar", "two columns"),
            ("niw_general_weights", "more columns"),
            ("niw_nested", "nested patterns"),
            ("nig_columns", "independent columns"),
            ("nig_missing", "missing entries"),
        )
    ),
]

OPERATIONS = [
    Mutant(
        "_core/operations.py",
        "refill_without",
        "the slot keeps what it had",
        "    clear(lik, k)\n",
        "",
        TRACE,
    ),
    Mutant(
        "_core/operations.py",
        "refill_without",
        "the block that is filled again keeps the item",
        "labels[j] == own and j != i",
        "labels[j] == own",
        TRACE,
    ),
    Mutant(
        "_core/operations.py",
        "log_predictive_of_extreme",
        "an extreme item does not return to its slot",
        "    add(lik, k, i)\n",
        "",
        BLOCK,
    ),
    Mutant(
        "_core/operations.py",
        "take_out",
        "an extreme item is taken out by subtraction",
        "if outweighs(lik, k, i):",
        "if False:",
        TRACE,
    ),
    Mutant(
        "_core/operations.py",
        "log_predictive_of_member",
        "an extreme member has density zero",
        "if value == -math.inf:",
        "if False:",
        MEMBERS,
    ),
]

UNIONS = [
    Mutant(
        f"{GAUSSIAN}niw_planar.py",
        "_pool",
        "two columns: a union is summed up without digits",
        "if rest < FLAT * s11:",
        "if False:",
        UNION,
    ),
    Mutant(
        f"{GAUSSIAN}niw_general.py",
        "_pool",
        "more columns: a union is summed up without digits",
        "if pool_sums(lik, to, one, two):",
        "pool_sums(lik, to, one, two)\n    if False:",
        UNION,
    ),
    Mutant(
        f"{GAUSSIAN}niw_nested.py",
        "pool_levels",
        "nested: a union is summed up without digits",
        "if flat:",
        "if False:",
        UNION,
    ),
    Mutant(
        f"{GAUSSIAN}niw_general.py",
        "factorise",
        "only the last pivot may be flat",
        "flat |= square",
        "flat = square",
        UNION,
    ),
]

SAMPLERS = [
    Mutant(
        "samplers/split_merge/kernel.py",
        "scan",
        "a scan subtracts extreme items from their sides",
        "            if extreme:\n                refill",
        "            if False:\n                refill",
        f"{KEPT} {EXACT}",
        True,
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "scan",
        "a scan gives extreme items density zero",
        "            if extreme:\n                score",
        "            if False:\n                score",
        FLAT_TARGET,
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "refill_side",
        "an extreme item stays on its side",
        "if s != t and work.sides[s] == work.sides[t]:",
        "if work.sides[s] == work.sides[t]:",
        f"{KEPT} {EXACT}",
        True,
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "score_attachments",
        "the block of an extreme row is filled from the first one",
        "log_predictive_of_member(lik, k, i, partition.labels, k)",
        "log_predictive_of_member(lik, k, i, partition.labels, 0)",
        ANCHORS,
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "place_other",
        "an extreme row is compared with the rows of the first block",
        "log_predictive_of_member(lik, own, h, labels, own)",
        "log_predictive_of_member(lik, own, h, labels, 0)",
        "samplers/reconfiguration/exact_arm.py::test_a_move_is_in_detailed_balance[niw-extreme-full]",
    ),
    Mutant(
        "samplers/smc/population_gibbs.py",
        "gibbs_update",
        "items without a label are in the first block of a particle",
        "population.labels[p, :n]",
        "population.labels[p]",
        MOVED,
    ),
    Mutant(
        "_predict/kernels.py",
        "load_draw",
        "a slot gets the items of a draw before it loses those of the last",
        "            current[i] = -1\n",
        "            add(bound, np.intp(labels[i]), i)\n"
        "            partition.sizes[labels[i]] += 1\n"
        "            current[i] = labels[i]\n",
        LOADED,
    ),
]

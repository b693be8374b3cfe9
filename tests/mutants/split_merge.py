"""Bugs of the moves that split and merge."""

from __future__ import annotations

from tests.mutants import Mutant

EXACT = "samplers/exact_pairs.py::"
BALANCE = f"{EXACT}test_a_move_is_in_detailed_balance"
SCANS = f"{EXACT}test_restricted_scans_keep_the_balance_of_given_anchors"
GOLDEN = f"{EXACT}test_probabilities_of_one_move_are_those_of_an_independent_program"
RELATIONAL = f"{EXACT}test_a_likelihood_that_does_not_factorise_is_in_detailed_balance"
THRESHOLD = f"{EXACT}test_threshold_anchors_are_in_balance_whatever_the_threshold[nig-py-0.5]"
PAIRS = "samplers/test_pairs.py::"
BOOKS = f"{PAIRS}test_moves_keep_the_books"
ROOM = f"{PAIRS}test_room_and_the_length_of_kernel_calls_change_nothing"
HOW_MANY = f"{PAIRS}test_as_many_moves_as_cost_one_sweep"
FROZEN = f"{PAIRS}test_the_number_of_moves_depends_on_the_seed_alone_and_is_frozen_after_warm_up"
TWO_MEANS = f"{PAIRS}test_two_means_are_those_of_numpy"
HARD = f"{PAIRS}test_hard_launch_parts_coins_by_what_they_show"
CONTRACT = "likelihoods/test_all.py::test_contract"
NIW = f"{CONTRACT}[niw-0] {CONTRACT}[niw-1] {CONTRACT}[niw-2]"

SPLIT_MERGE = [
    Mutant(
        "samplers/split_merge/kernel.py",
        "the ratio lacks V",
        "value = log_v[n_blocks + 1] - log_v[n_blocks] + log_w[m_1]",
        "value = log_w[m_1]",
        f"{BALANCE}[sams-uniform-random-ngg]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the ratio is not tempered",
        "problem.beta * (pair - union)",
        "(pair - union)",
        f"{BALANCE}[jain_neal-0-tempered]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "V of a merge is taken at the wrong number of blocks",
        "log_rho(problem, k - 1,",
        "log_rho(problem, k,",
        f"{BALANCE}[jain_neal-0-py]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the law of the anchors is forgotten after a split",
        "ratio + log_law(law, problem, partition, work, k + 1, k + 2)",
        "ratio",
        f"{BALANCE}[sams-balanced-random-absent]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the law of the anchors is forgotten in merges",
        "bound = log_law(law, problem, partition, work, union_slot, union_slot) - log_h",
        "bound = 0.0",
        f"{BALANCE}[sams-balanced-random-absent]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the floor of a merge is inverted",
        "floor = log_u - bound",
        "floor = bound - log_u",
        f"{GOLDEN}[sams]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "merges are given up that might be accepted",
        "if floor >= 0.0:",
        "if floor >= -0.5:",
        f"{BALANCE}[sams-uniform-random-ngg]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "a merge is accepted that has fallen below its floor",
        "accepted = log_q > floor",
        "accepted = True",
        f"{GOLDEN}[sams]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "too few slots are asked for",
        "ROOM = 6",
        "ROOM = 3",
        f"{ROOM}[sams-cluster]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the size of the first side is left behind",
        "    sizes[k + 1] = 0\n",
        "",
        f"{BOOKS}[sams-planar]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the new block's statistics are lost",
        "        rename(lik, k, k + 2)\n",
        "",
        f"{BOOKS}[sams-planar]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "items are not put back after a rejection",
        "            restore(lik, labels[items[t]], items[t])\n",
        "            pass\n",
        f"{BOOKS}[sams-relational]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "items are in their real block and in the proposed one at once",
        "        withdraw(lik, labels[items[t]], items[t])\n",
        "        pass\n",
        f"{RELATIONAL}[sams-decisive]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "it is not kept how many items are placed",
        "            work.numbers[2] = t + 1\n",
        "            pass\n",
        f"{RELATIONAL}[sams-decisive]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "the launch depends on how the items are divided now",
        "launch(lik, work, kind, n, union, k + 1, rng)",
        "launch(lik, work, kind, n, labels[items[0]], k + 1, rng)",
        f"{BALANCE}[whitened-five] {BALANCE}[whitened-py-space]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "always the first launch of the list",
        "plan.launches[int(rng.random() * len(plan.launches))]",
        "plan.launches[0]",
        f"{EXACT}test_each_move_draws_one_of_the_launches",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "intermediate scans of a merge retrace the labels, too",
        "splitting or left > 0",
        "splitting",
        f"{SCANS}[nig-py-jain_neal-1-anchors0]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "a forced pass goes to the wrong side",
        "(other == one + int(labels[h] == second))",
        "(other != one + int(labels[h] == second))",
        f"{GOLDEN}[sams]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "a scan compares an item with itself",
        "- beta * log_predictive_without(lik, own, h)",
        "- beta * log_predictive(lik, own, h)",
        f"{GOLDEN}[jain_neal-0]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "a scan leaves the side an item comes from as large as it was",
        "            sizes[own] -= 1\n",
        "",
        f"{GOLDEN}[jain_neal-0]",
    ),
    Mutant(
        "samplers/split_merge/kernel.py",
        "a scan forgets which side an item is on",
        "            sides[t] = to - one\n",
        "",
        f"{GOLDEN}[sams]",
    ),
    Mutant(
        "samplers/split_merge/orders.py",
        "the random order is a cyclic one",
        "(t - first + 1)",
        "(t - first)",
        f"{PAIRS}test_random_order_is_uniform_on_orders",
    ),
    Mutant(
        "samplers/split_merge/orders.py",
        "what is decisive depends on how the items are divided now",
        "range(one, one + first)",
        "range(2)",
        f"{BALANCE}[sams-balanced-decisive-five]",
    ),
    Mutant(
        "samplers/split_merge/orders.py",
        "the least decisive come first",
        "keys[t] = low - high",
        "keys[t] = high - low",
        f"{PAIRS}test_decisive_rows_come_first",
    ),
    Mutant(
        "samplers/split_merge/orders.py",
        "the smaller child is taken",
        "keys[child + 1] > keys[child]",
        "keys[child + 1] < keys[child]",
        f"{PAIRS}test_heap_sort_sorts",
    ),
    Mutant(
        "samplers/split_merge/anchors.py",
        "one block alone is drawn from half the time",
        "(1.0 if n_blocks == 1 else 0.5)",
        "0.5",
        f"{BALANCE}[sams-balanced-random-absent]",
    ),
    Mutant(
        "samplers/split_merge/anchors.py",
        "pairs of blocks that are gone are kept",
        "        pairs -= sizes[work.old[t]]",
        "        pairs -= 0.0 * sizes[work.old[t]]",
        f"{BALANCE}[sams-balanced-random-absent]",
    ),
    Mutant(
        "samplers/split_merge/anchors.py",
        "a changed state has as many blocks as before",
        "    n_blocks += work.numbers[1] - work.numbers[0]\n",
        "",
        f"{BALANCE}[sams-balanced-random-absent]",
    ),
    Mutant(
        "samplers/split_merge/anchors.py",
        "rejection may find the excluded item",
        "            if labels[i] == k and i != excluded:\n                return i",
        "            if labels[i] == k:\n                return i",
        f"{PAIRS}test_a_member_of_a_block_is_any_other_with_the_same_probability",
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "cluster: the share of the own block is forgotten",
        "blocks * (m - 1.0)",
        "(m - 1.0)",
        f"{BALANCE}[sams-cluster-random-ngg]",
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "cluster: a lonely first anchor might have stayed in its block",
        "share = 1.0 if m == 1 else 1.0 - 1.0 / blocks",
        "share = 1.0 - 1.0 / blocks",
        f"{BALANCE}[sams-cluster-random-ngg]",
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "a changed state shows blocks that are gone",
        "            return -1\n    return position",
        "            return position\n    return position",
        f"{BALANCE}[sams-cluster-random-ngg]",
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "threshold: the number of blocks that pass is forgotten",
        "math.log(passed * (",
        "math.log((",
        f"{BALANCE}[sams-threshold-random-gnedin]",
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "threshold: blocks that do not pass are taken to pass",
        "if partition.weights[position_of(partition, work, other)] == 0.0:",
        "if False:",
        THRESHOLD,
    ),
    Mutant(
        "samplers/split_merge/informed_anchors.py",
        "threshold: none passes where none is good",
        "min(LEAST, top)",
        "LEAST",
        f"{EXACT}test_threshold_anchors_are_in_balance_whatever_the_threshold[nig-py-0.9]",
    ),
    Mutant(
        "samplers/split_merge/launches.py",
        "2-means begins with the sides of the last move",
        "2 if left == ROUNDS else n",
        "n",
        f"{TWO_MEANS}[planar]",
    ),
    Mutant(
        "samplers/split_merge/launches.py",
        "distances are plain ones",
        "            whiten(lik, union, direction)\n",
        "            pass\n",
        f"{TWO_MEANS}[planar]",
    ),
    Mutant(
        "samplers/split_merge/launches.py",
        "the hard launch piles up its rounds",
        "        for side in range(2):\n            clear(lik, one + side)\n",
        "",
        HARD,
    ),
    Mutant(
        "samplers/split_merge/base.py",
        "the number of moves is tuned after warm-up, too",
        'if not state.adapting or self.n_moves != "auto":',
        'if self.n_moves != "auto":',
        f"{FROZEN}[sams]",
    ),
    Mutant(
        "samplers/split_merge/base.py",
        "the cost is that of all moves",
        "passes * work / n_moves",
        "passes * work",
        HOW_MANY,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "a checkpoint lacks the tuning",
        '        tuning=meta["tuning"],\n',
        "",
        f"{PAIRS}test_tuning_survives_an_interruption",
    ),
    Mutant(
        "_fitting/rounds.py",
        "a chain forgets its tuning between rounds",
        "    state.tuning = chain.tuning\n",
        "",
        f"{PAIRS}test_tuning_survives_an_interruption",
    ),
    Mutant(
        "samplers/split_merge/jain_neal.py",
        "no scan at all is one scan",
        "-1 if self.n_restricted is None",
        "0 if self.n_restricted is None",
        f"{EXACT}test_a_simple_random_split_is_accepted_by_the_ratio_of_posteriors",
    ),
    Mutant(
        "likelihoods/gaussian/niw_planar.py",
        "a union has the prior's scatter twice",
        " - prior_scale[0, 0] + r2",
        " + r2",
        NIW,
    ),
    Mutant(
        "likelihoods/gaussian/niw_general.py",
        "a union has the prior's scatter twice",
        "lik.scatter[two, a, b] - lik.prior_scale[a, b]",
        "lik.scatter[two, a, b]",
        NIW,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "a union has the prior's rate twice",
        "lik.rate[d, two] - lik.prior_scale[d]",
        "lik.rate[d, two]",
        f"{CONTRACT}[nig-0]",
    ),
    Mutant(
        "likelihoods/discrete/bernoulli.py",
        "a union has the counts of one block",
        "lik.counts[one, d] + lik.counts[two, d]",
        "lik.counts[one, d]",
        f"{CONTRACT}[bernoulli-0]",
    ),
    Mutant(
        "likelihoods/discrete/categorical.py",
        "a union has the size of one block",
        "lik.size[one] + lik.size[two])",
        "lik.size[one])",
        f"{CONTRACT}[categorical-0]",
    ),
    Mutant(
        "likelihoods/discrete/gamma_poisson.py",
        "a union has the totals of one block",
        "lik.total[one, d] + lik.total[two, d]",
        "lik.total[one, d]",
        f"{CONTRACT}[poisson-0]",
    ),
]

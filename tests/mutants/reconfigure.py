"""Bugs of adaptive reconfiguration moves and of the archives they learn from."""

from __future__ import annotations

from tests.mutants import Mutant

EXACT = "samplers/exact_arm.py::"
BALANCE = f"{EXACT}test_a_move_is_in_detailed_balance"
FORCED = f"{EXACT}test_a_forced_pass_finds_the_one_way_and_its_probability"
GOLDEN = f"{EXACT}test_probabilities_of_passes_are_those_of_an_independent_program"
REACHED = f"{EXACT}test_as_many_partitions_are_reached_as_an_independent_program_reaches"
ARM = "samplers/test_arm.py::"
INVARIANCE = "samplers/test_all.py::test_invariance_for_every_example"
RESUMES = f"{ARM}test_a_stopped_fit_resumes_bit_for_bit"
HISTORIES = f"{ARM}test_archives_are_frozen_after_warm_up_grow_or_are_not_there"

RECONFIGURE = [
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the last item of a block may leave it to others",
        "if m == 1 or work.at_home[home] > 1:",
        "if True:",
        f"{FORCED}[bernoulli-dp-full] {BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "nobody counts who has left a block",
        "            work.at_home[home] -= 1\n",
        "",
        f"{BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the way there is forgotten",
        "before + log_t",
        "before",
        f"{BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the ratio of targets is forgotten",
        "floor = log_u - state.log_joint() + before + log_t",
        "floor = log_u + log_t",
        f"{BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the way back is forgotten",
        "back = travel(*told, True, floor) if floor < 0.0 else -math.inf",
        "back = 0.0",
        f"{BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the ratio is that of the passes, not of the target",
        "floor = log_u - state.log_joint()",
        "floor = log_u - float(log_joint(passing, state.partition))",
        f"{BALANCE}[bernoulli-finite-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the first item of a part is placed a second time",
        "(plan.whole_parts and work.lengths[h] > 0)",
        "False",
        f"{FORCED}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "parts are placed the smallest first",
        "t - float(work.lengths[work.heads[t]])",
        "t + float(work.lengths[work.heads[t]])",
        f"{GOLDEN} {REACHED}",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "parts of both blocks are one",
        "key = 2 * r[h] + int(work.origin[h] == b_j)",
        "key = 2 * r[h]",
        f"{FORCED}[bernoulli-dp-full] {GOLDEN}",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "parts are placed as if the data were not tempered",
        "problem.beta * gain",
        "gain",
        f"{EXACT}test_parts_are_placed_in_proportion_to_the_target",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "a new block for a part costs nothing",
        "log_w[m] + problem.log_v[n_blocks + 1] - problem.log_v[n_blocks]",
        "log_w[m]",
        f"{GOLDEN} {EXACT}test_parts_are_placed_in_proportion_to_the_target",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "the anchors' company does not come along in a merge",
        "if h != i and work.origin[h] == b_j and r[h] == r[j]:",
        "if h == j and h != i:",
        f"{BALANCE}[bernoulli-dp-full] {GOLDEN}",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "a forced pass opens a block where outsiders make one",
        "guide = work.settled[block] if work.settled[block] >= 0 else work.outsider[block]",
        "guide = work.settled[block]",
        f"{FORCED}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "a forced pass does not look where it has come",
        "if forced and not arrived(partition, order, work):",
        "if False:",
        f"{FORCED}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "what is left of a rejected move stays",
        "state.labels[:] = end if accepted else start",
        "state.labels[:] = end",
        f"{BALANCE}[bernoulli-dp-full]",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "after a lack of room the state is another one",
        "        state.labels[:] = start\n        state.enlarge()",
        "        state.enlarge()",
        f"{ARM}test_room_changes_nothing",
    ),
    Mutant(
        "samplers/reconfiguration/kernel.py",
        "passes stop where the prior allows no more blocks",
        "state.problem._replace(log_v=unbounded(state.problem.log_v))",
        "state.problem",
        f"{INVARIANCE}[nig-finite-arm-0] {INVARIANCE}[bernoulli-finite-arm-0]",
    ),
    Mutant(
        "samplers/archive.py",
        "the state itself is one of the two states",
        "disagreement(pair[0][items], pair[1][items], rng)",
        "disagreement(state.labels[items], pair[1][items], rng)",
        f"{ARM}test_what_a_move_is_told_does_not_depend_on_the_state",
    ),
    Mutant(
        "samplers/archive.py",
        "the two items need not be apart in the other state",
        "rank -= int((one[j] == one[i]) != (two[j] == two[i]))",
        "rank -= int(one[j] == one[i])",
        f"{ARM}test_disagreements_are_drawn_alike_and_the_refinement_is_common",
    ),
    Mutant(
        "samplers/archive.py",
        "parts of different blocks of one state are one",
        "if seen[b] != a + 1:",
        "if seen[b] == 0:",
        f"{ARM}test_disagreements_are_drawn_alike_and_the_refinement_is_common",
    ),
    Mutant(
        "samplers/archive.py",
        "items that agree on all pairs but with themselves are drawn as often as others",
        "weight = in_one[one[i]] + in_two[two[i]] - 2 * common[refinement[i]]",
        "weight = total // n",
        f"{ARM}test_disagreements_are_drawn_alike_and_the_refinement_is_common",
    ),
    Mutant(
        "samplers/archive.py",
        "the second state is always of the first chain",
        "self._state(int(rng.integers(total)))",
        "self._state(int(rng.integers(len(self.histories[0]))))",
        f"{ARM}test_one_of_two_states_is_the_chain_s_own",
    ),
    Mutant(
        "samplers/split_merge/launches.py",
        "the launch looks at the labels",
        "if r[items[t]] == r[items[0]]:",
        "if r[items[t]] == r[items[0]] and sides[t] == 0:",
        f"{EXACT}test_restricted_gibbs_from_an_archive_is_in_detailed_balance",
    ),
    Mutant(
        "_fitting/rounds.py",
        "a frozen archive grows on",
        '(sampler.learns_from == "frozen" and warm_up)',
        'sampler.learns_from == "frozen"',
        HISTORIES,
    ),
    Mutant(
        "_fitting/rounds.py",
        "chains that learn resume from places apart",
        "if chain.iteration % BOUNDARY == 0 and sampler.learns_from is None:",
        "if chain.iteration % BOUNDARY == 0:",
        RESUMES,
    ),
    Mutant(
        "_fitting/rounds.py",
        "a history grows without end",
        "now // 2 or t % spacing(now)",
        "now // 2",
        f"{ARM}test_a_history_is_bounded_and_evenly_spaced",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "histories are not saved",
        "stacked(list(place.history.values()), len(place.labels))",
        "stacked([place.labels] * len(place.history), len(place.labels))",
        f"{RESUMES} {ARM}test_a_fit_that_dies_resumes_with_its_archive",
    ),
]

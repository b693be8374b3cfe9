"""Bugs in automatic lengths, in what they follow, and in the verdict."""

from tests.mutants import Mutant

LENGTHS = "_fitting/test_lengths.py::"
AGREEMENT = "diagnostics/test_agreement.py::"
CHAINS = "diagnostics/test_chains.py::"

MUTANTS = [
    Mutant(
        "_fitting/lengths.py",
        "Lengths._judge_warmup",
        "warm-up never gives up",
        "<= 1 or self._has_stalled(PATIENCE)",
        "<= 1",
        f"{LENGTHS}test_chains_apart_end_when_rounds_bring_nothing",
    ),
    Mutant(
        "_fitting/lengths.py",
        "Lengths._judge_draws",
        "sampling gives up before there are enough draws",
        "self._has_stalled(LONG_PATIENCE)",
        "self._has_stalled(1)",
        f"{LENGTHS}test_chains_apart_end_when_rounds_bring_nothing",
    ),
    Mutant(
        "diagnostics/standards.py",
        "shortfall",
        "a quick count of effective draws ends a fit",
        ", ESS_WANTED / ess]",
        "]",
        "diagnostics/test_standards.py",
    ),
    Mutant(
        "_fitting/lengths.py",
        "Lengths._is_hopeless",
        "one bad round ends sampling",
        "self._shortfalls[-PATIENCE:]",
        "self._shortfalls[-1:] * PATIENCE",
        f"{LENGTHS}test_chains_far_apart_end_soon_unless_many_more_draws_are_allowed",
    ),
    Mutant(
        "_fitting/lengths.py",
        "Lengths._is_hopeless",
        "what is out of reach does not depend on the draws that are allowed",
        "HOPELESS * self._most_draws",
        "HOPELESS * 1000",
        f"{LENGTHS}test_chains_far_apart_end_soon_unless_many_more_draws_are_allowed",
    ),
    Mutant(
        "_fitting/lengths.py",
        "Lengths._end_of_round",
        "thinned rounds have fewer draws",
        "ROUND * schedule.thin",
        "ROUND",
        f"{LENGTHS}test_thinned_rounds_have_as_many_draws",
    ),
    Mutant(
        "_fitting/lengths.py",
        "Lengths.judge",
        "only the last round of a resumed fit is judged",
        "        while (until := self.next_end())",
        "        self._judged = max(self._judged, done - ROUND)\n"
        "        while (until := self.next_end())",
        f"{LENGTHS}test_what_is_judged_at_once_is_judged_as_round_by_round",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "frozen",
        "what was followed during warm-up is not saved",
        "stacked(chain.early[: snapshot.n_early], 0)",
        "stacked([], 0)",
        f"{LENGTHS}test_a_stopped_fit_resumes_with_the_same_lengths",
    ),
    Mutant(
        "_core/state.py",
        "mean_log_density",
        "the only block cannot take another row",
        "    if n_blocks == 1:",
        "    if n_blocks == 0:",
        f"{LENGTHS}test_the_density_that_is_followed_is_that_of_a_further_row",
    ),
    Mutant(
        "_core/state.py",
        "mean_log_density",
        "the weights of the density do not sum to one",
        "total / len(items) - math.log(weight)",
        "total / len(items)",
        f"{LENGTHS}test_the_density_that_is_followed_is_that_of_a_further_row",
    ),
    Mutant(
        "diagnostics/agreement.py",
        "_variance_of_means",
        "draws of a pair count as independent",
        "np.maximum(2.0 * total - 1.0, 1.0)",
        "1.0",
        f"{AGREEMENT}test_slow_chains_have_larger_errors_and_stuck_ones_none",
    ),
    Mutant(
        "diagnostics/agreement.py",
        "largest_difference",
        "differences are not less their errors",
        "np.abs(mean[c] - mean[d]) - error",
        "np.abs(mean[c] - mean[d])",
        f"{AGREEMENT}test_a_difference_is_measured_less_two_standard_errors",
    ),
    Mutant(
        "diagnostics/agreement.py",
        "_near",
        "pairs are any items",
        "squares - 2.0 * (points[left] @ points.T)",
        "squares + 0.0 * (points[left] @ points.T)",
        f"{AGREEMENT}test_pairs_are_near_neighbours_and_depend_on_the_data_alone",
    ),
    Mutant(
        "diagnostics/verdict.py",
        "judge",
        "pairs decide nothing",
        'decisive = [answers["density"], answers["pairs"]]',
        'decisive = [answers["density"]]',
        f"{CHAINS}test_chains_stuck_on_partitions_of_equal_sizes_are_noticed",
    ),
    Mutant(
        "diagnostics/verdict.py",
        "judge",
        "a single chain may have converged",
        "    if alone:\n        return None, Message(text, *ALONE), answers\n",
        "",
        f"{CHAINS}test_a_single_chain_is_compared_with_itself",
    ),
]

"""Bugs of particle samplers, of the laws they draw from, and of the evidence."""

from __future__ import annotations

from tests.mutants import Mutant

SMC = "samplers/test_smc.py::"
BOOKS = f"{SMC}test_particles_keep_the_books"
URN_BOOKS = f"{BOOKS}[prior0-urn]"
HOLES = f"{SMC}test_filled_holes_leave_the_books_right"
MOVED_BOOKS = f"{BOOKS}[prior0-annealed]"
UNBIASED = f"{SMC}test_every_example_is_unbiased[nig-py-urn_smc-1]"
ANNEALED = f"{SMC}test_every_example_is_unbiased[nig-py-annealed_smc-2]"
TEMPERED = f"{SMC}test_every_example_is_unbiased[nig-py-annealed_smc-4]"
STICKS = f"{SMC}test_every_prior_is_served_without_bias[mfm-1-auxiliary_smc]"
INHERIT = f"{SMC}test_particles_inherit_the_weights_of_their_clusters"
REDRAWN = f"{SMC}test_redrawn_items_follow_their_full_conditional"
LATER = f"{SMC}test_items_that_come_later_change_nothing"
ROOM = f"{SMC}test_neither_room_nor_short_calls_change_a_run"
PARENTS = f"{SMC}test_parents_are_drawn_in_proportion_to_weight"
FIT = "test_smc_fit.py::"
STABLE = "test_stable.py::"
POPULATION = "samplers/smc/population.py"
SHARED = "samplers/smc/base.py"
RESAMPLING = "samplers/smc/resampling.py"
MOVES = "samplers/smc/population_gibbs.py"

SMC_MUTANTS = [
    Mutant(
        POPULATION,
        "an item is put into a block that others keep without it",
        "    if s == 0 or population.taken[s] < population.holders[s]:",
        "    if s == 0:",
        URN_BOOKS,
    ),
    Mutant(
        POPULATION,
        "every particle copies the block",
        "    if t > 0:\n        return t\n",
        "",
        URN_BOOKS,
    ),
    Mutant(
        POPULATION,
        "who leaves a shared block still holds it",
        "            if not opens:\n                population.holders[s] -= 1\n",
        "",
        URN_BOOKS,
    ),
    Mutant(
        POPULATION,
        "copies are remembered for the next item",
        "        population.child[s] = 0\n        population.taken[s] = 0\n",
        "        population.taken[s] = 0\n",
        URN_BOOKS,
    ),
    Mutant(
        POPULATION,
        "labels are not inherited",
        "            labels[p, i] = labels[a, i]\n",
        "            pass\n",
        URN_BOOKS,
    ),
    Mutant(
        POPULATION,
        "sizes stay behind when holes are filled",
        "        holders[hole], sizes[hole] = holders[last], sizes[last]\n",
        "        holders[hole] = holders[last]\n",
        HOLES,
    ),
    Mutant(
        POPULATION,
        "particles keep the old numbers of moved slots",
        "                population.blocks[p, j] = moved[population.blocks[p, j]]\n",
        "                pass\n",
        HOLES,
    ),
    Mutant(
        POPULATION,
        "scores are not taken relative to the highest",
        "                top = max(top, score[population.blocks[p, j]])\n",
        "                top = min(top, score[population.blocks[p, j]])\n",
        UNBIASED,
    ),
    Mutant(
        POPULATION,
        "room for blocks is not watched",
        "    return population.numbers[MOST] + 1 > population.blocks.shape[1]",
        "    return population.numbers[MOST] > population.blocks.shape[1]",
        ROOM,
    ),
    Mutant(
        POPULATION,
        "the joint density forgets W",
        "log_marginal(lik, s) + log_w[population.sizes[s]]",
        "log_marginal(lik, s)",
        f"{SMC}test_the_joint_density_of_particles_is_that_of_their_labels",
    ),
    Mutant(
        SHARED,
        "the mean weight is lost when particles are drawn anew",
        "    population.log_z[0] += log_mean\n",
        "",
        UNBIASED,
    ),
    Mutant(
        SHARED,
        "weights live on after resampling",
        "        population.log_weight[p] = 0.0\n",
        "        pass\n",
        UNBIASED,
    ),
    Mutant(
        RESAMPLING,
        "the weights are summed, not averaged",
        "    return top + math.log(total / n), ",
        "    return top + math.log(total), ",
        UNBIASED,
    ),
    Mutant(
        SHARED,
        "particles are drawn anew while they are all well",
        "scale_weights(population)[1] < threshold",
        "scale_weights(population)[1] > threshold",
        f"{SMC}test_the_threshold_says_when_particles_are_drawn_anew",
    ),
    Mutant(
        RESAMPLING,
        "independent points are not spread over the rest of the line",
        "-rng.standard_exponential() / (n - i)",
        "-rng.standard_exponential() / n",
        f"{PARENTS}[multinomial]",
    ),
    Mutant(
        RESAMPLING,
        "all strata share their height",
        "        if scheme == STRATIFIED:\n            height = rng.random()\n",
        "",
        f"{SMC}test_schemes_differ_in_how_counts_vary_together[stratified]",
    ),
    Mutant(
        RESAMPLING,
        "survivors are counted twice",
        "            parent[p] = p\n            count[p] -= 1\n",
        "            parent[p] = p\n",
        f"{SMC}test_survivors_stay_in_their_places",
    ),
    Mutant(
        SHARED,
        "the variance forgets that lines may meet by chance",
        " * (n / (n - 1)) ** (n_resampled + 1)",
        "",
        f"{SMC}test_the_variance_from_one_run_is_unbiased",
        compiled=True,
    ),
    Mutant(
        "samplers/smc/urn.py",
        "the urn forgets sigma",
        "return (size - law.sigma) * law.join[step, n_blocks]",
        "return size * law.join[step, n_blocks]",
        f"{UNBIASED} {SMC}test_every_prior_is_served_without_bias[py-0-urn_smc]",
    ),
    Mutant(
        "samplers/smc/urn.py",
        "opening and joining are exchanged",
        "for then in (log_v[1:, :-1], log_v[1:, 1:])",
        "for then in (log_v[1:, 1:], log_v[1:, :-1])",
        f"{SMC}test_urn_weights_are_the_predictive_of_the_prior",
    ),
    Mutant(
        "samplers/smc/urn.py",
        "the recursion counts one item too many",
        "np.maximum(n - prior.sigma_now",
        "np.maximum(n + 1 - prior.sigma_now",
        f"{SMC}test_rows_of_the_table_by_recursion_are_those_of_the_prior",
    ),
    Mutant(
        "samplers/smc/auxiliary.py",
        "the mass that is left is not inherited",
        "    law.log_mass[p] = law.log_mass[parent]\n",
        "",
        INHERIT,
    ),
    Mutant(
        "samplers/smc/auxiliary.py",
        "the number of components is not inherited",
        "    law.components[p] = law.components[parent]\n",
        "",
        INHERIT,
    ),
    Mutant(
        "samplers/smc/auxiliary.py",
        "a jump does not reduce the mass",
        "    law.log_mass[p] += log_left\n",
        "",
        INHERIT,
    ),
    Mutant(
        "samplers/smc/auxiliary.py",
        "sticks are not size-biased",
        "rng.standard_gamma(1.0 + law.gamma)",
        "rng.standard_gamma(law.gamma)",
        STICKS,
    ),
    Mutant(
        "samplers/smc/auxiliary.py",
        "a stick leaves nothing to the last component",
        "    rest = law.components[p] - n_blocks - 1.0\n",
        "    rest = law.components[p] - n_blocks - 2.0\n",
        f"{SMC}test_every_prior_is_served_without_bias[finite-1-auxiliary_smc]",
        compiled=True,
    ),
    Mutant(
        "samplers/smc/annealed.py",
        "weights do not follow the annealed prior",
        "        self.population.log_weight[:] += self.log_ratio(then)\n",
        "",
        ANNEALED,
    ),
    Mutant(
        "samplers/smc/annealed.py",
        "the target is not corrected for at the end",
        "super().outcome(correction)",
        "super().outcome()",
        ANNEALED,
    ),
    Mutant(
        "samplers/smc/annealed.py",
        "the correction stays in the running weights",
        "        run = super().outcome(correction)\n",
        "        self.population.log_weight[:] += correction\n        run = super().outcome()\n",
        LATER,
    ),
    Mutant(
        "samplers/smc/annealed.py",
        "the run goes on under the target itself",
        "        self.prior = annealed\n",
        "",
        LATER,
    ),
    Mutant(
        MOVES,
        "an item counts itself in its block",
        "weights[j] = math.log(size - 1 - sigma)",
        "weights[j] = math.log(size - sigma)",
        REDRAWN,
    ),
    Mutant(
        MOVES,
        "the block of an item alone counts in V",
        "    others = n_blocks - 1 if alone else n_blocks\n",
        "    others = n_blocks\n",
        REDRAWN,
    ),
    Mutant(
        MOVES,
        "a shared block is changed for all its holders",
        "    if population.holders[s] == 1:\n        return s\n",
        "    return s\n",
        MOVED_BOOKS,
    ),
    Mutant(
        MOVES,
        "labels of the last block are not changed",
        "        if labels[h] == last:\n            labels[h] = j\n",
        "        pass\n",
        MOVED_BOOKS,
    ),
    Mutant(
        MOVES,
        "an item is in its old block, too",
        "        remove(lik, s, i)\n",
        "",
        MOVED_BOOKS,
    ),
    Mutant(
        "samplers/smc/tempering.py",
        "the power is counted from zero",
        "        increments = (beta - self.beta) * log_f\n",
        "        increments = beta * log_f\n",
        TEMPERED,
    ),
    Mutant(
        "samplers/smc/tempering.py",
        "powers grow by twice what the effective size allows",
        "                if ess_share((middle - self.beta) * log_f) >= share\n",
        "                if ess_share(0.5 * (middle - self.beta) * log_f) >= share\n",
        f"{SMC}test_adaptive_temperatures_keep_the_effective_size",
    ),
    Mutant(
        "samplers/smc/tempering.py",
        "hyper-parameters stay with the place, not with the particle",
        "        state.set_prior(prior)\n",
        "        pass\n",
        f"{SMC}test_an_assigned_state_is_the_one_it_copies",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the closed form lacks a factor",
        "return -math.log1p(2.0 * math.exp",
        "return -math.log1p(math.exp",
        f"{STABLE}test_size_biased_jumps_have_their_density[0.5-0.3]",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the last rejection is left out",
        "        if math.log(1.0 - rng.random()) < s * log_ratio - log_one_plus_exp(s * log_y):\n"
        "            return log_left\n",
        "        return log_left\n",
        f"{STABLE}test_size_biased_jumps_have_their_density[0.75-0.7]",
        compiled=True,
    ),
    Mutant(
        "_core/stable_distributions.py",
        "u is not weighed by G z^s + 1",
        "log_p = log_one_plus_exp(log_g + s * log_z) - math.exp",
        "log_p = -math.exp",
        f"{STABLE}test_size_biased_jumps_have_their_density",
        compiled=True,
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the gamma variable has another shape",
        "return math.log(rng.standard_gamma(2.0 - s)) + ",
        "return math.log(rng.standard_gamma(1.0 - s)) + ",
        f"{STABLE}test_size_biased_jumps_have_their_density[0.75-0.7]",
        compiled=True,
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the tilt is off by one in the gamma variable",
        "rng.gamma(1 + w, size=size)",
        "rng.gamma(w, size=size)",
        f"{STABLE}test_polynomially_tilted_draws_of_one_half_are_inverse_gamma[0.4]",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the angle is not tilted",
        "    a = (1 - s) / s\n    w = theta * a\n    u = _angles(w, s, size, rng)\n",
        "    a = (1 - s) / s\n    w = theta * a\n    u = open_uniform(size, rng)\n",
        f"{STABLE}test_polynomially_tilted_draws_of_one_half_are_inverse_gamma[3.0]",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "negative tilts divide by the jump",
        "before - np.log(kept)",
        "before - np.log(jump)",
        f"{STABLE}test_polynomially_tilted_draws_of_one_half_are_inverse_gamma[-0.3]",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "the summands are not scaled",
        "log_stable(s, size, rng) - math.log(m) / s",
        "log_stable(s, size, rng)",
        f"{STABLE}test_exponentially_tilted_draws_of_one_half_are_inverse_gaussian[4.5]",
    ),
    Mutant(
        "priors/mfm.py",
        "Gnedin's law has its parameters exchanged",
        "rng.beta(parameter, 1.0 - parameter, size)",
        "rng.beta(1.0 - parameter, parameter, size)",
        "priors/test_families.py::test_drawn_numbers_of_components_follow_their_prior",
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "runs weigh the same whatever their evidence",
        "    log_weight += np.array([[run.log_evidence] for run in runs])\n",
        "",
        f"{FIT}test_a_weight_is_a_share_of_the_evidence_of_its_run",
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "logarithms of evidences are averaged",
        "return float(top + np.log(mean)), error",
        "return float(np.mean(log_z)), error",
        f"{FIT}test_evidences_are_averaged_not_their_logarithms",
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "the standard error is that of one run",
        " / (mean * math.sqrt(len(runs)))",
        " / mean",
        f"{FIT}test_evidences_are_averaged_not_their_logarithms",
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "hyper-parameters follow every batch",
        "    bound = model._frozen.bind(everything)\n",
        "    bound = model._likelihood.bind(everything)\n",
        f"{FIT}test_hyper_parameters_freeze_at_the_first_batch",
    ),
    Mutant(
        "diagnostics/runs.py",
        "ancestors of different runs are taken for the same",
        "(origins + n * np.arange(n_runs)[:, None]).ravel()",
        "origins.ravel()",
        f"{FIT}test_diagnostics_count_draws_and_lines",
    ),
]

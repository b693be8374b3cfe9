"""Bugs of learned hyper-parameters that particles carry."""

from __future__ import annotations

from tests.mutants import Mutant

TEMPERING = "samplers/smc/tempering.py"
RUNS = "_fitting/smc_runs.py"
SMC = "samplers/smc/test_learned.py::"
RESAMPLED = f"{SMC}test_one_column[NormalInverseGamma-resampled]"
OWN = f"{SMC}test_each_particle_has_the_values_of_its_traces_and_its_density"
DRAWS = "likelihoods/test_draw_learned.py::"
MATRICES = f"{DRAWS}test_covariances[planar]"
COLUMNS = f"{DRAWS}test_variances[bind_columns]"
HOT_ONLY = f"{DRAWS}test_what_moves_at_temperature_one_only_is_not_drawn"
FITS = "_fitting/test_learned.py::"

LEARNED_PARTICLES = [
    Mutant(
        TEMPERING,
        "Tempered.advance_to",
        "resampling forgets the learned values",
        "set_state(state, *particle)",
        "set_state(state, particle.labels, particle.prior)",
        RESAMPLED,
        compiled=True,
    ),
    Mutant(
        TEMPERING,
        "_draw_state",
        "learned values start at the guess",
        "if learned is not None:",
        "if False:",
        RESAMPLED,
        compiled=True,
    ),
    Mutant(
        TEMPERING,
        "Tempered._move_state",
        "learned values do not move",
        "            state.move_learned(self.rng)\n",
        "            pass\n",
        f"{SMC}test_all_particles_move_their_values",
    ),
    Mutant(
        TEMPERING,
        "Tempered._outcome",
        "all particles have the values of the first",
        "[s.learned for s in states]",
        "[states[0].learned for s in states]",
        OWN,
    ),
    Mutant(
        TEMPERING,
        "Tempered._outcome",
        "the density of learned values is left out",
        "s.log_posterior()",
        "s.log_joint() + s.prior.log_hyper_density()",
        OWN,
    ),
    Mutant(
        TEMPERING,
        "_values",
        "learned values have no traces",
        "{**values, **state.traces_learned()}",
        "values",
        f"{FITS}test_particles_report_their_values",
    ),
    Mutant(
        RUNS,
        "_make_outcome",
        "a fit forgets the learned values of particles",
        "        learned=_learned(runs),\n",
        "",
        f"{FITS}test_each_particle_predicts_with_its_own_values[niw_plane]",
    ),
    Mutant(
        RUNS,
        "bind",
        "values are learned that no particle carries",
        "if sampler.carries_learned:",
        "if True:",
        f"{FITS}test_particles_need_fixed_values",
    ),
    Mutant(
        "likelihoods/base.py",
        "Likelihood.is_guessed",
        "a hyper-prior centred at the guess has seen no data",
        ' or getattr(v, "is_guessed", False)',
        "",
        f"{FITS}test_a_hyper_prior_from_the_data_gets_a_caution",
    ),
    Mutant(
        "likelihoods/gaussian/learned_covariance.py",
        "draw",
        "all columns of a drawn M have the same degrees of freedom",
        "hyper.df[0] - np.arange(d)",
        "np.full(d, hyper.df[0])",
        MATRICES,
    ),
    Mutant(
        "likelihoods/gaussian/learned_covariance.py",
        "draw",
        "a drawn M has uncorrelated columns",
        "root = np.linalg.cholesky(np.linalg.inv(hyper.inverse_guess))",
        "root = np.diag(np.diag(hyper.inverse_guess) ** -0.5)",
        MATRICES,
    ),
    Mutant(
        "likelihoods/gaussian/learned_grid.py",
        "draw_from_prior",
        "values on the grid are drawn with equal probability",
        "p=1.0 / (grid * (1.0 / grid).sum())",
        "p=None",
        MATRICES,
    ),
    Mutant(
        "likelihoods/gaussian/learned_variances.py",
        "draw",
        "drawn variances have another mean",
        "hyper.guess / weight",
        "hyper.guess",
        COLUMNS,
    ),
    Mutant(
        "likelihoods/gaussian/learned_variances.py",
        "draw",
        "a drawn kappa forgets its rate",
        "rng.gamma(hyper.kappa[0]) / hyper.kappa[1]",
        "rng.gamma(hyper.kappa[0])",
        COLUMNS,
    ),
    Mutant(
        "likelihoods/discrete/learned_concentrations.py",
        "register_learned.draw_learned",
        "large concentrations are drawn too often",
        "lik.hyper.grid**-FAVOUR",
        "lik.hyper.grid**-1.0",
        f"{DRAWS}test_concentrations",
    ),
    Mutant(
        "likelihoods/discrete/learned_rates.py",
        "draw",
        "drawn rates have the inverse of their mean",
        "hyper.guess / WEIGHT",
        "WEIGHT / hyper.guess",
        f"{DRAWS}test_rates",
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "_draw_learned",
        "a part that moves at temperature one only is carried",
        "any(values is None for values in drawn)",
        "all(values is None for values in drawn)",
        HOT_ONLY,
    ),
    Mutant(
        "likelihoods/gaussian/niw_learned.py",
        "register_learned.draw_learned",
        "values are drawn that move at temperature one only",
        "if completes or not lik.hyper.is_learned:",
        "if not lik.hyper.is_learned:",
        HOT_ONLY,
    ),
]

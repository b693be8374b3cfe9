"""Bugs of marginal, conditional and random densities, and of what verdicts advise."""

from __future__ import annotations

from tests.mutants import Mutant

OWN = "test_densities.py::"
WHOLE = f"{OWN}test_the_marginal_of_all_columns_is_the_predictive_density"
PRODUCT = f"{OWN}test_marginal_times_conditional_is_the_predictive_density"
LINE = f"{OWN}test_densities_of_one_column_integrate_to_one_and_to_their_means"
PLANE = f"{OWN}test_densities_of_two_columns_integrate_to_one_and_to_their_means"
DRAWS = f"{OWN}test_samples_of_one_column_have_their_density"
SPREAD = f"{OWN}test_columns_of_a_block_share_their_spread_only_with_a_full_covariance"
PIECES = f"{OWN}test_rows_and_given_values_are_taken_piece_by_piece"
NO_MEAN = f"{OWN}test_there_is_no_mean_with_too_few_degrees_of_freedom"
REPEAT = f"{OWN}test_samples_repeat_and_come_in_no_order_of_draws"
BLOCKS = "likelihoods/gaussian/block_distributions.py"
RANDOM = "test_random_densities.py::"
REVEALED = f"{RANDOM}test_drawn_parameters_have_the_law_that_two_new_rows_reveal"
URN = f"{RANDOM}test_drawn_weights_have_the_moments_of_the_urn"
AVERAGE = f"{RANDOM}test_random_densities_average_to_those_of_their_draw"
PICTURES = "test_plotting.py::"
DIAGNOSTICS = "test_diagnostics.py::"
NETWORK = f"{DIAGNOSTICS}test_a_network_is_advised_a_sampler_that_serves_networks"
PARTICLES = f"{DIAGNOSTICS}test_particles_are_advised_what_their_sampler_has"

SUMMED = f"{RANDOM}test_random_densities_of_a_column_are_those_of_all_without_the_others"
BY_DRAW = f"{RANDOM}test_densities_of_columns_by_draw_average_to_the_marginal_density"
CHOSEN = f"{PICTURES}test_one_or_two_columns_of_many_have_their_marginal_density"

DENSITIES = [
    Mutant(
        "densities.py",
        "random densities of a column are those of the first",
        "prior_of(prior, fitted.posterior, r), laws.among(columns)",
        "prior_of(prior, fitted.posterior, r), laws.among(list(range(len(columns))))",
        SUMMED,
    ),
    Mutant(
        "densities.py",
        "densities by draw take the units of the data for their own",
        "V, result = unit.inside(X), ",
        "V, result = X, ",
        BY_DRAW,
    ),
    Mutant(
        "plotting/density_display.py",
        "the axes of chosen columns are those of the first",
        "data = estimator._X[:, shown]",
        "data = estimator._X[:, : len(shown)]",
        CHOSEN,
    ),
    Mutant(
        BLOCKS,
        "factors of some columns have pivots of any sign",
        "        upper *= np.sign(np.diagonal(upper, axis1=1, axis2=2))[:, :, None]\n",
        "",
        WHOLE,
    ),
    Mutant(
        BLOCKS,
        "columns keep the factor of the first ones",
        "self.root[:, columns].swapaxes(1, 2), mode",
        "self.root[:, : len(columns)].swapaxes(1, 2), mode",
        WHOLE,
    ),
    Mutant(
        BLOCKS,
        "degrees of freedom forget the columns",
        "0.5 * (self.df + d) * np.log1p(spread)",
        "0.5 * (self.df + self.mean.shape[1]) * np.log1p(spread)",
        PRODUCT,
    ),
    Mutant(
        BLOCKS,
        "the mean given columns ignores them",
        "self.mean[:, a:] + shift, np.nan",
        "self.mean[:, a:] + 0 * shift, np.nan",
        LINE,
    ),
    Mutant(
        BLOCKS,
        "there is a mean without degrees of freedom",
        "(self.df + a)[:, None] > 1",
        "(self.df + a)[:, None] > 0",
        NO_MEAN,
    ),
    Mutant(
        BLOCKS,
        "given columns add no degrees of freedom to means",
        "(self.df + a)[:, None] > 1",
        "self.df[:, None] > 1",
        NO_MEAN,
    ),
    Mutant(
        BLOCKS,
        "columns have a mean without degrees of freedom",
        "np.where(self.df > 1, self.mean, np.nan)[:, V",
        "np.where(self.df > 0, self.mean, np.nan)[:, V",
        NO_MEAN,
    ),
    Mutant(
        BLOCKS,
        "samples given far values are as sure as others",
        "size = (1 + spread) * (own.r + 1)",
        "size = (own.r + 1)",
        DRAWS,
    ),
    Mutant(
        BLOCKS,
        "samples forget what given columns add to degrees of freedom",
        "rng.chisquare(own.df + a)",
        "rng.chisquare(own.df)",
        DRAWS,
    ),
    Mutant(
        BLOCKS,
        "samples take the mean for known",
        "(own.r + 1) / (own.r * rng",
        "1 / (rng",
        DRAWS,
    ),
    Mutant(
        BLOCKS,
        "columns of a row share their spread",
        "(r * rng.chisquare(df))\n        return mean + root",
        "(r * rng.chisquare(df[:, :1]))\n        return mean + root",
        SPREAD,
    ),
    Mutant(
        BLOCKS,
        "substitution forgets earlier columns",
        "        z[..., a] -= (z[..., :a] * root[:, a, :a]).sum(axis=-1)\n",
        "",
        WHOLE,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "blocks have degrees of freedom for one column",
        "bound.prior[1] + m - d + 1, mean, root",
        "bound.prior[1] + m, mean, root",
        WHOLE,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "the degrees of freedom of columns are their shape",
        "2.0 * bound.prior[1] + m, mean, root",
        "bound.prior[1] + m / 2, mean, root",
        WHOLE,
    ),
    Mutant(
        "densities.py",
        "conditional densities are joint ones",
        "joint - self._log_density(self._values) - np",
        "joint - np",
        PRODUCT,
    ),
    Mutant(
        "densities.py",
        "densities are in internal units",
        " - np.log(self._inner.scale).sum()",
        "",
        WHOLE,
    ),
    Mutant(
        "densities.py",
        "given values are not brought to internal units",
        "self._values = self._outer.inside(np.atleast_2d(values))",
        "self._values = np.atleast_2d(values)",
        PRODUCT,
    ),
    Mutant(
        "densities.py",
        "draws all weigh the same",
        "np.log(self._weights[r]) + log_urn",
        "np.log(1 / len(draws)) + log_urn",
        WHOLE,
    ),
    Mutant(
        "densities.py",
        "draws count in a mean whatever the given values say",
        "mean += np.exp(own - total)[:, None] * step",
        "mean += step * self._weights[0]",
        LINE,
    ),
    Mutant(
        "densities.py",
        "blocks count in a mean whatever the given values say",
        "share = np.exp(level - own[:, None])",
        "share = np.full(level.shape, 1 / level.shape[1])",
        LINE,
    ),
    Mutant(
        "densities.py",
        "draws are chosen whatever the given values say",
        "counts = rng.multinomial(n, (chance / chance.sum(axis=0)).T)",
        "counts = rng.multinomial(n, np.full(chance.T.shape, 1 / len(chance)))",
        DRAWS,
    ),
    Mutant(
        "densities.py",
        "blocks are chosen evenly",
        "reached = np.exp(level - level.max(axis=1, keepdims=True))",
        "reached = np.exp(0 * level)",
        DRAWS,
    ),
    Mutant(
        "densities.py",
        "samples stand in the order of draws",
        "mixed = rng.permutation(n * len(V))",
        "mixed = np.arange(n * len(V))",
        REPEAT,
    ),
    Mutant(
        "densities.py",
        "samples go to other rows",
        "order = mixed[np.argsort(np.concatenate(which)[mixed], kind",
        "order = mixed[np.argsort(np.concatenate(which), kind",
        PIECES,
    ),
    Mutant(
        "densities.py",
        "the last rows of a piece have no density",
        "part = slice(start, start + size)\n            for",
        "part = slice(start, start + size - 1)\n            for",
        PIECES,
    ),
    Mutant(
        "densities.py",
        "given and wanted columns change places",
        "self._order = [*given, *columns]",
        "self._order = [*columns, *given]",
        f"{PRODUCT} {PLANE}",
    ),
    Mutant(
        "_estimators/base.py",
        "the sampler in use is advised",
        "for name in OTHERS if SAMPLERS[name] is not type(self._sampler)]",
        "for name in OTHERS]",
        f"{DIAGNOSTICS}test_a_mixture_is_advised_a_sampler_it_does_not_use {NETWORK}",
    ),
    Mutant(
        "_estimators/base.py",
        "a sampler is advised that does not serve the model",
        "for name in others if serves(SAMPLERS[name], self._bound)",
        "for name in others",
        NETWORK,
    ),
    Mutant(
        "_estimators/base.py",
        "verdicts advise no sampler by name",
        "diagnose(self.posterior_, other=self._other())",
        "diagnose(self.posterior_)",
        f"{DIAGNOSTICS}test_a_mixture_is_advised_a_sampler_it_does_not_use",
    ),
    Mutant(
        "samplers/smc/annealed.py",
        "annealed particles are advised what their path has not",
        """'n_moves' if self.path == 'temperature' else 'block_size'""",
        """'n_moves' if self.path == 'items' else 'block_size'""",
        PARTICLES,
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "runs that disagree hear of no sampler",
        "posterior.weights, origins, model._sampler.remedy",
        "posterior.weights, origins",
        "test_smc_fit.py::test_runs_that_disagree_are_reported",
    ),
    Mutant(
        "diagnostics/chains.py",
        "what is not assessable is a dash",
        'else [name, "not assessable"]',
        'else [name, "-"]',
        f"{DIAGNOSTICS}test_text_and_html_show_every_scalar_and_sum_up_the_pairs",
    ),
    Mutant(
        BLOCKS,
        "all pivots of a covariance have the same degrees of freedom",
        "self.df[:, None] + np.arange(d)",
        "self.df[:, None] + np.zeros(d)",
        REVEALED,
    ),
    Mutant(
        BLOCKS,
        "pivots of a covariance come in the wrong order",
        "self.df[:, None] + np.arange(d)",
        "self.df[:, None] + np.arange(d)[::-1]",
        REVEALED,
    ),
    Mutant(
        BLOCKS,
        "covariances are drawn as diagonal as their mean",
        "G = np.tril(rng.standard_normal((n_blocks, d, d)), -1)",
        "G = np.zeros((n_blocks, d, d))",
        REVEALED,
    ),
    Mutant(
        BLOCKS,
        "the mean of columns is taken for known",
        "G * (V[:, None] - self.mean) / self.root - shift",
        "G * (V[:, None] - self.mean) / self.root",
        REVEALED,
    ),
    Mutant(
        BLOCKS,
        "a drawn mean is as wide as a row",
        "shift = rng.standard_normal((n_blocks, d)) / np.sqrt(self.r)[:, None]",
        "shift = rng.standard_normal((n_blocks, d))",
        REVEALED,
    ),
    Mutant(
        BLOCKS,
        "drawn densities have the determinant of the mean",
        "pivots = np.diagonal(G, axis1=1, axis2=2) / np.diagonal",
        "pivots = 1 / np.diagonal",
        REVEALED,
    ),
    Mutant(
        "priors/base.py",
        "weights of blocks forget the discount",
        "rng.gamma(sizes - self.sigma_now)",
        "rng.gamma(sizes)",
        URN,
    ),
    Mutant(
        "priors/base.py",
        "the weight of other clusters does not vary",
        "others = rng.beta(max(total * new, TINY), total * (1.0 - new))",
        "others = new",
        URN,
    ),
    Mutant(
        "priors/base.py",
        "the weight of other clusters varies as before the data",
        "others = rng.beta(max(total * new, TINY), total * (1.0 - new))",
        "others = rng.beta(new, 1.0 - new)",
        URN,
    ),
    Mutant(
        "densities.py",
        "random densities all have the parameters of the prior's values",
        "at, laws = prior_of(prior, fitted.posterior, r), ",
        "at, laws = prior, ",
        f"{RANDOM}test_random_weights_have_the_parameters_of_their_draw",
    ),
    Mutant(
        "densities.py",
        "other clusters are drawn from the prior, as a single one",
        "            logs[:, -1] = laws.at(np.array([-1])).log_density(V)[:, 0]\n",
        "            pass\n",
        f"{RANDOM}test_rows_of_other_clusters_enter_by_their_mean",
    ),
    Mutant(
        "densities.py",
        "random densities are in internal units",
        "reduce(np.log(weights) + logs, axis=1)\n    return result - np.log(unit.scale).sum()",
        "reduce(np.log(weights) + logs, axis=1)\n    return result",
        AVERAGE,
    ),
    Mutant(
        "plotting/density_display.py",
        "posterior bands are those of draws",
        'if bands == "draws":\n        if columns',
        "if True:\n        if columns",
        f"{PICTURES}test_posterior_bands_are_wider_than_those_of_draws_and_repeat",
    ),
    Mutant(
        "plotting/density_display.py",
        "every piece of the points has parameters of its own",
        "np.random.default_rng(seed), columns",
        "np.random.default_rng(seed.spawn(1)[0]), columns",
        f"{PICTURES}test_bands_are_computed_piece_by_piece",
    ),
]

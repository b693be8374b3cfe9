"""Bugs in the parameters of clusters."""

from tests.mutants import Mutant

FILE = "_predict/cluster_parameters.py"
TESTS = "_predict/test_cluster_parameters.py::"
AVERAGE = f"{TESTS}test_a_cluster_has_the_average_of_its_rows"
WISHART = f"{TESTS}test_a_block_is_normal_inverse_wishart"
WIDTH = f"{TESTS}test_intervals_have_width_even_for_certain_clusters"

MUTANTS = [
    Mutant(
        FILE,
        "of_clusters",
        "spread within blocks alone",
        "each(np.add, within, between)",
        "within",
        AVERAGE,
    ),
    Mutant(
        FILE,
        "of_clusters",
        "every block that meets a cluster counts the same",
        "np.add.at(common, (labels[labels >= 0], blocks[labels >= 0]), 1.0)",
        "common[labels[labels >= 0], blocks[labels >= 0]] = 1.0",
        AVERAGE,
    ),
    Mutant(
        FILE,
        "of_clusters",
        "a cluster has the whole weight of its blocks",
        "common / np.bincount(blocks) @",
        "(common > 0) @",
        AVERAGE,
    ),
    Mutant(
        "likelihoods/gaussian/block_distributions.py",
        "WishartBlocks.draw",
        "too few degrees of freedom",
        "self.df[:, None] + np.arange(d)",
        "self.df[:, None] - np.arange(d)",
        WISHART,
    ),
    Mutant(
        "likelihoods/gaussian/block_distributions.py",
        "WishartBlocks.draw",
        "the mean has the covariance of one row",
        "/ np.sqrt(self.r)[:, None, None]\n        return self.mean",
        "\n        return self.mean",
        WISHART,
    ),
    Mutant(
        "likelihoods/gaussian/block_distributions.py",
        "ColumnBlocks.draw",
        "expected means instead of draws",
        "self.mean + deviation * shift",
        "self.mean + 0.0 * shift",
        WIDTH,
    ),
    Mutant(
        "partitions/parameter_draws.py",
        "ParameterDraws.mean",
        "draws count the same",
        "w = self.draw_weights",
        "w = np.full_like(self.draw_weights, 1.0 / self.draw_weights.size)",
        f"{TESTS}test_quantiles_and_means_follow_the_weights_of_the_draws",
    ),
    Mutant(
        "likelihoods/discrete/bernoulli.py",
        "Bernoulli.parameters",
        "the probability of the common value",
        "np.where(bound.common, 1.0 - chance, chance)",
        "chance",
        f"{TESTS}test_rates_probabilities_and_categories_of_a_block",
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "_log_predictive_of_member",
        "the second part does not count",
        "return first + ops.log_predictive_of_member(lik.second, k, i, labels, own)",
        "return first",
        "likelihoods/mixed/test_columns.py",
    ),
]

LEFT = "_predict/test_leave_one_out.py::"
RATIO = f"{LEFT}test_the_density_given_the_others_is_a_ratio_of_evidences"
TOLD = "_estimators/test_described.py::"

MUTANTS += [
    Mutant(
        "_predict/leave_one_out.py",
        "given_others",
        "the plain mean of the density over draws",
        "np.log(weights.sum()) - logsumexp(-logs, b=weights[:, None], axis=0)",
        "logsumexp(logs, b=weights[:, None], axis=0) - np.log(weights.sum())",
        RATIO,
    ),
    Mutant(
        "_predict/leave_one_out.py",
        "weights_without",
        "the row still counts in its own block",
        "sizes - (np.arange(n_blocks) == b)",
        "sizes - 0 * (np.arange(n_blocks) == b)",
        RATIO + f" {LEFT}test_a_row_alone_leaves_one_block_fewer",
    ),
    Mutant(
        "_predict/kernels.py",
        "write_left_out",
        "the row is judged in the block that it chose",
        "total += math.exp(partition.weights[c] - top)",
        "total += math.exp(partition.weights[c] - top) * (partition.slots[c] == own)",
        RATIO,
    ),
    Mutant(
        "_predict/leave_one_out.py",
        "strangeness",
        "the share of draws with a lower density",
        '1.0 - np.searchsorted(heights, log_density[own], side="right") / len(rows)',
        'np.searchsorted(heights, log_density[own], side="right") / len(rows)',
        f"{LEFT}test_strangeness_is_a_tail_of_the_predictive",
    ),
    Mutant(
        "_estimators/columns_of_clusters.py",
        "_told_by_normal",
        "a column is judged by values of the first cluster",
        'np.einsum("k,m,kmc->c", w,',
        'np.einsum("k,m,kmc->c", np.eye(len(w))[0],',
        f"{TOLD}test_what_a_normal_column_tells",
    ),
    Mutant(
        "_estimators/description.py",
        "Description.telling",
        "every cluster has a telling column",
        " if told[j] >= LEAST_TOLD",
        "",
        f"{TOLD}test_the_table_names_the_planted_columns",
    ),
]

"""Bugs of pages, of drawn tables, and of comparisons between fits."""

from tests.mutants import Mutant

PAGE = "_estimators/test_page.py::"
ESCAPED = f"{PAGE}test_all_text_is_escaped"
MIXTURE = "_estimators/test_mixture.py::"
COMPARISON = "test_comparison.py::"
NUMBERED = f"{COMPARISON}test_numbers_follow_earlier_labels"
PRIOR = "_predict/test_prior_predictive.py::"
LINKS = "_predict/test_links.py::"
ALL_PAIRS = f"{LINKS}test_means_are_those_of_all_pairs"

LINKED = [
    Mutant(
        "_predict/links.py",
        "Average.__call__",
        "a vertex makes a pair with itself",
        "        total -= np.diag(self._common @ np.diag(of_blocks))\n",
        "",
        f"{ALL_PAIRS}[undirected]",
    ),
    Mutant(
        "_predict/links.py",
        "Counts.draw",
        "intervals have no width",
        "rng.beta(beta[0] + self.links, beta[1] + self.others)",
        "self.mean(beta)",
        f"{LINKS}test_intervals_are_those_of_the_beta_posterior[directed]",
    ),
]

PAGES = [
    Mutant(
        "_estimators/table.py",
        "Table.to_html",
        "names of columns are code",
        "<tr><th>{html.escape(name)}</th>",
        "<tr><th>{name}</th>",
        ESCAPED,
        compiled=True,
    ),
    Mutant(
        "_estimators/table.py",
        "Table.to_html",
        "categories and names of rows are code",
        "html.escape(_cell(v))",
        "_cell(v)",
        ESCAPED,
        compiled=True,
    ),
    Mutant(
        "_estimators/report.py",
        "Report.to_html",
        "lines of the report are code",
        "html.escape(value)",
        "value",
        ESCAPED,
        compiled=True,
    ),
    Mutant(
        "_estimators/page.py",
        "_displays",
        "particles have a trace",
        'if not hasattr(model, "log_evidence_"):',
        "if True:",
        f"{PAGE}test_particles_have_no_trace_on_their_page",
        compiled=True,
    ),
]

DRAWN = [
    Mutant(
        "_estimators/encoding.py",
        "FrameLike.stacked",
        "chains and draws change places in frames",
        "sets.reshape(-1, sets.shape[-1])",
        "sets.swapaxes(0, 1).reshape(-1, sets.shape[-1])",
        f"{MIXTURE}test_samples_by_draw_are_the_same_in_frames_and_arrays",
        compiled=True,
    ),
    Mutant(
        "_estimators/encoding.py",
        "_holds",
        "samples are cut to the type of their column",
        "return bool(((values >= room.min) & (values <= room.max)).all())",
        "return True",
        f"{MIXTURE}test_samples_that_a_type_of_column_has_no_room_for_are_not_cut",
    ),
    Mutant(
        "_estimators/encoding.py",
        "FrameLike.filled",
        "categories are codes",
        "values = encoding.decode(j, values)",
        "pass",
        f"{MIXTURE}test_samples_are_frames_like_that_of_the_fit",
        compiled=True,
    ),
    Mutant(
        "_predict/predictive.py",
        "sample_by_draw",
        "the draws share the rows",
        "np.full(n_draws, n)",
        "np.full(n_draws, n) * np.eye(n_draws, dtype=int)[0] * n_draws",
        "_predict/test_predictive.py::test_samples_by_draw_come_from_the_predictive_of_their_draw",
        compiled=True,
    ),
    Mutant(
        "_predict/prior_predictive.py",
        "sample_prior",
        "hyper-parameters stay as guessed",
        "set_learned(bound, values)",
        "pass",
        f"{PRIOR}test_learned_rates_differ_between_the_sets",
        compiled=True,
    ),
    Mutant(
        "_predict/prior_predictive.py",
        "sample_prior",
        "all rows are in one cluster",
        "z = own.sample(n_rows, rng)",
        "z = 0 * own.sample(n_rows, rng)",
        f"{PRIOR}test_two_rows_share_a_cluster_as_often_as_the_prior_says",
        compiled=True,
    ),
    Mutant(
        "_predict/prior_predictive.py",
        "_fill",
        "variances are taken for standard deviations",
        "np.sqrt(variance[z])",
        "variance[z]",
        f"{PRIOR}test_values_spread_by_their_standard_deviation",
        compiled=True,
    ),
    Mutant(
        "_predict/prior_predictive.py",
        "_fill",
        "categories are one too low",
        "< rng.random((len(z), 1))).sum(axis=1)",
        "< rng.random((len(z), 1))).sum(axis=1).clip(1) - 1",
        f"{PRIOR}test_counts_binary_values_and_categories",
        compiled=True,
    ),
]

COMPARED = [
    Mutant(
        "_estimators/clusters.py",
        "aligned",
        "clusters are matched to share as few rows as they can",
        "linear_sum_assignment(-common)",
        "linear_sum_assignment(common)",
        NUMBERED,
    ),
    Mutant(
        "_estimators/clusters.py",
        "aligned",
        "rows in no cluster count",
        "both = (labels >= 0) & (earlier >= 0)",
        "both = labels >= 0",
        NUMBERED,
    ),
    Mutant(
        "_estimators/clusters.py",
        "aligned",
        "clusters that share no row are matched",
        "if common[k, c] > 0}",
        "}",
        NUMBERED,
    ),
    Mutant(
        "_estimators/base.py",
        "Sampled.align",
        "parameters keep the old numbers",
        "self._fitted.posterior._attach(None)",
        "pass",
        f"{COMPARISON}test_everything_follows_the_new_numbers",
        compiled=True,
    ),
    Mutant(
        "comparison.py",
        "compare",
        "a model is compared with itself",
        "one, two = _draws(model_a), _draws(model_b)",
        "one, two = _draws(model_a), _draws(model_a)",
        f"{COMPARISON}test_partitions_that_have_nothing_to_do_with_each_other_do_not_agree",
        compiled=True,
    ),
    Mutant(
        "comparison.py",
        "_within",
        "a draw is compared with itself",
        "zip(draws[::2], draws[1::2], strict=True)",
        "zip(draws[::2], draws[::2], strict=True)",
        f"{COMPARISON}test_draws_of_one_model_differ_as_much_as_they_do",
    ),
    Mutant(
        "comparison.py",
        "_draws",
        "draws take part regardless of their weights",
        "weights.cumsum(), points",
        "np.arange(1, len(weights) + 1) / len(weights) * weights.sum(), points",
        f"{COMPARISON}test_draws_take_part_by_their_weights",
    ),
]

MUTANTS = [*PAGES, *DRAWN, *COMPARED]

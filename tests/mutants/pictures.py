"""Bugs of pictures and of the progress of fits."""

from __future__ import annotations

from tests.mutants import Mutant

PICTURES = "plotting/test_common.py::"
CERTAINTY = f"{PICTURES}test_certainty_is_the_mean_coclustering_with_the_own_cluster"
PAIRS = f"{PICTURES}test_a_coclustering_picture_shows_every_pair_by_cluster"
BLOCKS = f"{PICTURES}test_groups_within_a_cluster_show_as_blocks"
THINNED = f"{PICTURES}test_many_rows_are_thinned_and_nothing_large_is_made"
EVENLY = f"{PICTURES}test_rows_are_chosen_evenly_and_once"
QUANTILES = f"{PICTURES}test_quantiles_follow_the_weights"
REGIONS = f"{PICTURES}test_contours_hold_their_share_of_a_normal_density"
CROSSED = f"{PICTURES}test_bands_of_contours_lie_where_draws_cross_them"
NUMBERS = f"{PICTURES}test_numbers_of_clusters_of_any_draws"
CLUSTERS = "plotting/test_cluster_display.py::"
MANY = f"{CLUSTERS}test_many_clusters_differ_in_colour_or_marker"
COORDINATES = "plotting/test_cluster_coordinates.py::"
COUNTS = f"{PICTURES}test_counts_have_probabilities_at_whole_numbers"
WHOLE = f"{PICTURES}test_traces_of_whole_numbers_are_points_side_by_side"
SINGLE = "_predict/test_predictive.py::test_densities_of_single_draws_average_to_the_predictive"
PROGRESS = "_fitting/test_progress.py::"
FEW = f"{PROGRESS}test_lines_are_few"
PACE = f"{PROGRESS}test_time_left_is_by_the_pace_since_the_start"
SHARED = f"{PROGRESS}test_what_all_chains_share_is_said_once"
BAR = f"{PROGRESS}test_a_terminal_shows_one_bar_of_all_chains[threading-2]"
STOPPED = f"{PROGRESS}test_the_bar_of_a_fit_that_was_stopped_stays_where_it_was"
NARROW = f"{PROGRESS}test_a_terminal_without_a_width_gets_lines"
GO_ON = f"{PROGRESS}test_chains_that_go_on_start_where_they_are"
NOTEBOOK = f"{PROGRESS}test_a_notebook_shows_a_bar"
WITHOUT = f"{PROGRESS}test_there_are_lines_without_tqdm"
LINES = f"{PROGRESS}test_lines_go_to_the_error_stream_where_there_is_no_terminal"

DISPLAYS = [
    Mutant(
        "partitions/memberships.py",
        "certainty",
        "certainty ignores the weights of draws",
        "result += weight * np.bincount(cell)[cell]",
        "result += np.bincount(cell)[cell] / len(flat)",
        CERTAINTY,
    ),
    Mutant(
        "partitions/memberships.py",
        "certainty",
        "certainty counts the whole block",
        "cell = row.astype(np.intp) * n_clusters + labels",
        "cell = row.astype(np.intp)",
        CERTAINTY,
    ),
    Mutant(
        "plotting/common.py",
        "evenly_spaced",
        "chosen rows leave out the end",
        "* (n / size)).astype",
        "* (n // size)).astype",
        EVENLY,
    ),
    Mutant(
        "_core/sorting.py",
        "weighted_quantile",
        "quantiles ignore weights",
        "reached = np.cumsum(weights[order], axis=0)",
        "reached = np.cumsum(np.ones(order.shape), axis=0)",
        QUANTILES,
    ),
    Mutant(
        "plotting/coclustering_display.py",
        "_order_by_similarity",
        "loose rows come first",
        'linkage(distance, "average"))[::-1]]',
        'linkage(distance, "average"))]',
        PAIRS,
    ),
    Mutant(
        "plotting/coclustering_display.py",
        "_order_by_similarity",
        "groups within a cluster are mixed",
        "inside = inside[leaves_list",
        "_ = inside[leaves_list",
        BLOCKS,
    ),
    Mutant(
        "plotting/coclustering_display.py",
        "CoclusteringDisplay.from_posterior",
        "clusters are not kept together",
        'np.argsort(z, kind="stable")[evenly_spaced(',
        "np.arange(len(z))[evenly_spaced(",
        THINNED,
    ),
    Mutant(
        "plotting/coclustering_display.py",
        "CoclusteringDisplay.from_posterior",
        "rows are not thinned",
        "[evenly_spaced(len(z), n_rows)]",
        "[evenly_spaced(len(z), 200)]",
        THINNED,
    ),
    Mutant(
        "plotting/coclustering_display.py",
        "CoclusteringDisplay.plot",
        "a thinned picture has the scale of the rows shown",
        "n = int(self.boundaries[-1])",
        "n = len(self.order)",
        THINNED,
    ),
    Mutant(
        "plotting/n_clusters_display.py",
        "_range",
        "probabilities stand one number too low",
        "pmf.get(int(k), 0.0)",
        "pmf.get(int(k) + 1, 0.0)",
        NUMBERS,
    ),
    Mutant(
        "plotting/trace_display.py",
        "TraceDisplay.plot",
        "chains of whole numbers hide one another",
        "/ n_chains * whole",
        "/ n_chains * 0",
        WHOLE,
        compiled=True,
    ),
    Mutant(
        "plotting/cluster_display.py",
        "ClusterDisplay._plot_cluster",
        "the thirteenth cluster looks like the first",
        "MARKERS[k // len(MANY_COLOURS) % len(MARKERS)]",
        "MARKERS[0]",
        MANY,
    ),
    Mutant(
        "plotting/cluster_display.py",
        "ClusterDisplay.plot",
        "colours repeat and nothing tells the clusters apart",
        "if n_clusters > len(MANY_COLOURS) and not one_column:",
        "if n_clusters > 36 and not one_column:",
        f"{CLUSTERS}test_more_clusters_than_colours_are_numbered_at_their_centres",
    ),
    Mutant(
        "plotting/common.py",
        "legend_beside",
        "the legend is beyond the edge of a figure without a layout",
        "0.78 * box.width",
        "box.width",
        f"{CLUSTERS}test_the_legend_names_all_clusters_and_covers_no_point",
    ),
    Mutant(
        "plotting/cluster_coordinates.py",
        "_principal_components",
        "components depend on the codes of categories",
        "j in categories",
        "False",
        f"{COORDINATES}test_components_do_not_depend_on_the_codes_of_categories",
    ),
    Mutant(
        "plotting/cluster_coordinates.py",
        "_scaled",
        "rare categories count less than others",
        "(one - share) / np.sqrt(share)",
        "one - share",
        f"{COORDINATES}test_categories_enter_as_in_factor_analysis_of_mixed_data",
    ),
    Mutant(
        "plotting/profile_display.py",
        "_differences",
        "units are those within clusters",
        "within + (centre - whole) ** 2",
        "within + 0.0 * centre",
        "plotting/test_profile_display.py::test_values_are_in_standard_deviations_of_all_rows",
        compiled=True,
    ),
    Mutant(
        "plotting/density_display.py",
        "region_heights",
        "contours ignore the size of cells",
        "mass = np.cumsum((density * cells).ravel()[order])",
        "mass = np.arange(density.size) * 1.0",
        REGIONS,
    ),
    Mutant(
        "plotting/density_display.py",
        "DensityDisplay._plot_map",
        "the band of a contour is everything above its lower end",
        "np.minimum(height - self.lower, self.upper - height) / height",
        "(self.upper - height) / height",
        CROSSED,
    ),
    Mutant(
        "plotting/density_display.py",
        "_axes",
        "counts are shown between whole numbers",
        "axes[-1] = np.arange(low, high + 1)",
        "axes[-1] = np.linspace(low, high, n_points)",
        COUNTS,
        compiled=True,
    ),
    Mutant(
        "_predict/predictive.py",
        "load",
        "densities of single draws all have the urn of the first",
        "load_draw(bound, partition, labels, fitted.log_urn[r])",
        "load_draw(bound, partition, labels, fitted.log_urn[0])",
        SINGLE,
    ),
    Mutant(
        "_fitting/progress.py",
        "Lines.show",
        "every round prints a line",
        "if LINES * (done - self.shown) < total and done < total:",
        "if False:",
        FEW,
    ),
    Mutant(
        "_fitting/progress.py",
        "Lines.show",
        "the last line is missing",
        "< total and done < total:",
        "< total or done == total:",
        FEW,
    ),
    Mutant(
        "_fitting/progress.py",
        "Lines.show",
        "the pace counts iterations of an earlier run",
        "rate = (done - self.start) /",
        "rate = done /",
        PACE,
    ),
    Mutant(
        "_fitting/progress.py",
        "summary",
        "numbers of clusters are ordered as text",
        "[str(k) for k in sorted(int(c.labels.max()) + 1 for c in chains)]",
        "sorted(str(int(c.labels.max()) + 1) for c in chains)",
        SHARED,
    ),
    Mutant(
        "_fitting/progress.py",
        "total_iterations",
        "the bar counts one chain",
        "return len(chains) * lengths.schedule.n_iterations",
        "return lengths.schedule.n_iterations",
        BAR,
        compiled=True,
    ),
    Mutant(
        "_fitting/progress.py",
        "iterations_done",
        "the bar moves with the first chain",
        "return sum(chain.iteration for chain in chains)",
        "return chains[0].iteration",
        BAR,
        compiled=True,
    ),
    Mutant(
        "_fitting/progress.py",
        "Bar.close",
        "the bar of a fit that was stopped jumps to the end",
        "        self.bar.close()\n",
        "        self.bar.update(self.bar.total - self.bar.n)\n        self.bar.close()\n",
        STOPPED,
        compiled=True,
    ),
    Mutant(
        "_fitting/progress.py",
        "has_width",
        "a terminal without a width shows nothing",
        ".columns > 0",
        ".columns >= 0",
        NARROW,
    ),
    Mutant(
        "_fitting/progress.py",
        "Bar.__init__",
        "a bar of chains that go on starts at nothing",
        "initial=iterations_done(chains),",
        "initial=0,",
        GO_ON,
        compiled=True,
    ),
    Mutant(
        "_fitting/progress.py",
        "can_draw_bars",
        "notebooks are not known",
        "return in_notebook or (",
        "return (",
        NOTEBOOK,
    ),
    Mutant(
        "_fitting/progress.py",
        "find_tqdm",
        "a missing tqdm is an error",
        "except ImportError:",
        "except ZeroDivisionError:",
        WITHOUT,
    ),
    Mutant(
        "_fitting/rounds.py",
        "end_round",
        "the log posterior is not known after a round",
        "    chain.log_posterior = state.log_posterior()\n",
        "",
        LINES,
        compiled=True,
    ),
]

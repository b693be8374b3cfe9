"""Bugs of the way from components to clusters, and of rows without values."""

from __future__ import annotations

from tests.mutants import Mutant

MERGING = "partitions/test_merging.py::"
CLUSTERS = "_estimators/test_clusters.py::"
EMPTY = "_fitting/test_empty_rows.py::"
TREE = "plotting/test_merge_tree_display.py::"
LOOP = f"{MERGING}test_the_joins_are_those_of_a_plain_loop"
OTHERS = f"{EMPTY}test_all_other_results_are_those_without_them"

JOINS = [
    Mutant(
        "partitions/merging.py",
        "_overlaps",
        "an overlap counts errors in one direction only",
        "np.maximum(moved, moved.T)",
        "np.minimum(moved, moved.T)",
        f"{MERGING}test_an_overlap_counts_the_errors_in_both_directions",
    ),
    Mutant(
        "partitions/merging.py",
        "_overlaps",
        "errors are shares of the rows that are assigned, not of those that are there",
        "np.where(total > 0, total, 1.0)",
        "np.where(total > 0, total, 1.0)[:, None]",
        LOOP,
    ),
    Mutant(
        "partitions/merging.py",
        "merge_tree",
        "memberships of joined components are not added",
        "        tau[:, a] += tau[:, b]\n",
        "",
        LOOP,
    ),
    Mutant(
        "partitions/merging.py",
        "merge_tree",
        "the joined cluster keeps the number of a component",
        "        nodes[a] = n + j\n",
        "",
        LOOP,
    ),
    Mutant(
        "partitions/merging.py",
        "MergeTree.cut",
        "a join exactly at the threshold is not made",
        "self.levels >= threshold",
        "self.levels > threshold",
        f"{MERGING}test_the_cap_goes_on_with_the_joins",
    ),
    Mutant(
        "partitions/merging.py",
        "MergeTree.cut",
        "joins after one below the threshold count",
        "self.levels >= threshold",
        "self.overlaps >= threshold",
        f"{MERGING}test_a_cut_stops_at_the_first_overlap_below_the_threshold",
    ),
    Mutant(
        "partitions/merging.py",
        "MergeTree.cut",
        "the cap undoes joins",
        "max(n_joins, n - max_clusters)",
        "n - max_clusters",
        f"{MERGING}test_the_cap_goes_on_with_the_joins",
    ),
    Mutant(
        "partitions/merging.py",
        "merge_tree",
        "rows do not count by their weights",
        "as_weights(weights, len(tau))",
        "as_weights(None, len(tau))",
        f"{MERGING}test_weights_are_repeated_rows",
    ),
]

FROM_COMPONENTS = [
    Mutant(
        "_estimators/clusters.py",
        "numbered",
        "small clusters are those of few components",
        "np.bincount(labels)[clusters] < smallest",
        "np.bincount(clusters)[clusters] < smallest",
        f"{CLUSTERS}test_clusters_are_numbered_by_size_then_first_row",
    ),
    Mutant(
        "_estimators/clusters.py",
        "numbered",
        "a cluster of just the smallest size is dissolved",
        "[clusters] < smallest",
        "[clusters] <= smallest",
        f"{CLUSTERS}test_clusters_are_numbered_by_size_then_first_row",
    ),
    Mutant(
        "_estimators/clusters.py",
        "assigned",
        "rows that are probably in no cluster get one",
        "membership.sum(axis=1) < 0.5",
        "membership.sum(axis=1) < 0.0",
        f"{CLUSTERS}test_a_row_is_in_no_cluster_if_that_is_more_probable_than_not",
    ),
    Mutant(
        "_estimators/clusters.py",
        "of_clusters",
        "predictions are of components",
        "if fitted.clusters is None:",
        "if True:",
        f"{CLUSTERS}test_memberships_of_clusters_are_sums",
    ),
    Mutant(
        "_estimators/clusters.py",
        "chosen_rows",
        "small components are seldom looked at",
        "np.maximum(wanted, FEWEST_ROWS)",
        "np.maximum(wanted, 1)",
        f"{CLUSTERS}test_rows_for_the_tree_are_some_of_every_component",
    ),
    Mutant(
        "_estimators/base.py",
        "Sampled._with_clusters",
        "the tree is computed in every fit",
        "if level is not None or (most is not None and len(groups) > most):",
        "if True:",
        f"{CLUSTERS}test_by_default_components_are_clusters",
    ),
    Mutant(
        "_estimators/base.py",
        "Sampled._estimate",
        "the cost has no effect",
        "point_estimate(loss, cost=cost)",
        "point_estimate(loss)",
        f"{CLUSTERS}test_a_cost_gives_fewer_components",
    ),
    Mutant(
        "_estimators/base.py",
        "",
        "another threshold is another checkpoint",
        '    "merge",\n',
        "",
        f"{CLUSTERS}test_an_estimate_from_a_checkpoint_may_be_joined_otherwise",
    ),
    Mutant(
        "_estimators/cluster_lines.py",
        "_probability_of_block",
        "a cluster that has further rows stands alone",
        "== len(items)",
        ">= len(items)",
        "_estimators/test_cluster_lines.py",
    ),
    Mutant(
        "_estimators/cluster_lines.py",
        "notes",
        "the reason is that of too many clusters",
        "if n == likely:",
        "if n <= likely:",
        "_estimators/test_cluster_lines.py",
    ),
]

WITHOUT_VALUES = [
    Mutant(
        "_fitting/empty_rows.py",
        "ObservedRows.followed_by",
        "rows of a later batch are counted from 0",
        "self.n_rows + later.numbers",
        "later.numbers",
        f"{EMPTY}test_batches_count_their_rows_on",
    ),
    Mutant(
        "_fitting/empty_rows.py",
        "ObservedRows.cut_labels",
        "initial labels are those of the first rows",
        "labels[..., self.numbers] if has_all",
        "labels[..., : len(self.numbers)] if has_all",
        f"{EMPTY}test_initial_labels_are_of_all_rows",
    ),
    Mutant(
        "_fitting/empty_rows.py",
        "without_values",
        "rows with a hole are left out",
        "np.isnan(X).all(axis=1)",
        "np.isnan(X).any(axis=1)",
        OTHERS,
    ),
    Mutant(
        "_estimators/reading.py",
        "ReadsRows._read_rows",
        "constants are found among all rows, and rows without values stay",
        "rows = observed.cut(rows).copy()",
        "rows = rows.copy()",
        OTHERS,
    ),
    Mutant(
        "_estimators/mixture.py",
        "Mixture.predict",
        "rows without values are predicted",
        "np.where(without_values(rows), -1, np.concatenate(labels))",
        "np.concatenate(labels)",
        f"{EMPTY}test_predict_agrees_with_labels",
    ),
    Mutant(
        "_estimators/encoding.py",
        "Encoding.__init__",
        "rows without values change the kinds of columns",
        "        columns = _without_empty_rows(columns)\n",
        "",
        f"{EMPTY}test_frames_of_mixed_columns_keep_their_kinds",
    ),
    Mutant(
        "_estimators/mixture.py",
        "Mixture._filled",
        "rows of the fit are imputed as new ones",
        "(observed.numbers, members)",
        "(observed.numbers, None)",
        f"{EMPTY}test_imputed_rows_are_in_the_order_of_the_table",
    ),
]

SHOWN = [
    Mutant(
        "plotting/merge_tree_display.py",
        "MergeTreeDisplay._cluster_of_nodes",
        "joins between clusters have the colour of one",
        "own[a] if own[a] == own[b] else -1",
        "own[a]",
        f"{TREE}test_joins_within_a_cluster_have_its_colour",
    ),
    Mutant(
        "plotting/merge_tree_display.py",
        "MergeTreeDisplay._positions",
        "lines meet at overlaps that go back and forth",
        "self.tree.levels",
        "self.tree.overlaps[::-1]",
        f"{TREE}test_lines_meet_at_the_overlap_of_their_join",
    ),
    Mutant(
        "plotting/common.py",
        "with_rest_last",
        "rows in no cluster belong to the last one",
        "labels.max() + 1",
        "labels.max()",
        f"{TREE}test_rows_in_no_cluster_are_last_in_the_matrix",
    ),
    Mutant(
        "cli/results.py",
        "write_labels",
        "the probability of rows in no cluster is a cluster's",
        "shares[:, : model.n_clusters_]",
        "shares",
        "cli/test_clusters_and_gaps.py::test_clusters_of_components_and_rows_in_none",
    ),
]

"""Bugs of the infinite relational model outside the kernels."""

from __future__ import annotations

from tests.mutants import Mutant

LIKELIHOOD = "likelihoods/network/test_stochastic_blocks.py::"
HAND = f"{LIKELIHOOD}test_every_operation_by_hand"
MATRICES = "likelihoods/network/test_adjacency.py::"
MESSAGES = f"{MATRICES}test_bad_matrices_get_one_sentence"
ESTIMATOR = "test_relational.py::"
AVERAGES = f"{ESTIMATOR}test_predictions_are_averages_over_draws"
PAIRS = f"{ESTIMATOR}test_bad_pairs_get_one_sentence"
PICTURE = f"{ESTIMATOR}test_the_picture_shows_every_pair_by_cluster"
SHARES = f"{ESTIMATOR}test_large_networks_are_shown_as_shares_per_cell"
GRAPH = "likelihoods/network/adjacency.py"

NETWORKS = [
    Mutant(
        "likelihoods/network/adjacency.py",
        "_sparse",
        "weights pass for links",
        "~unobserved & (values != 0) & (values != 1)",
        "~unobserved & (values < 0)",
        MESSAGES,
    ),
    Mutant(
        "likelihoods/network/adjacency.py",
        "_sparse",
        "links of a vertex with itself are dropped in silence",
        "    if len(loops):\n",
        "    if len(loops) > 99:\n",
        MESSAGES,
    ),
    Mutant(
        GRAPH,
        "_pair_codes",
        "NaN in one direction alone passes for symmetric",
        "np.where(np.isnan(graph.data), 2, 1)",
        "np.where(np.isnan(graph.data), 1, 1)",
        MESSAGES,
    ),
    Mutant(
        "likelihoods/network/adjacency.py",
        "_sparse",
        "an unobserved diagonal counts",
        "kept = (rows != columns) & (values != 0)",
        "kept = values != 0",
        f"{MATRICES}test_a_diagonal_of_zeros_or_nan_means_nothing",
    ),
    Mutant(
        GRAPH,
        "_pairs",
        "every undirected link is listed twice",
        "    if not directed:\n        kept &= entries.row < entries.col\n",
        "",
        HAND,
    ),
    Mutant(
        GRAPH,
        "neighbours",
        "links that enter are listed for the wrong end",
        "np.concatenate([pairs, pairs[:, ::-1] + first_entering])",
        "np.concatenate([pairs, pairs + first_entering])",
        HAND,
    ),
    Mutant(
        "_predict/links.py",
        "Counts.of",
        "a pair of vertices of a block counts in both orders",
        "            pairs -= np.diag(sizes * (sizes - 1) // 2)\n",
        "            pass\n",
        f"{AVERAGES}[False]",
    ),
    Mutant(
        "_predict/links.py",
        "Counts.of",
        "predictions take unobserved pairs for pairs without a link",
        "        pairs -= _between(z, graph.unobserved, len(sizes), graph.directed)\n",
        "",
        f"{AVERAGES}[False]",
    ),
    Mutant(
        "_predict/links.py",
        "Counts.mean",
        "predictions forget the prior",
        "/ (sum(beta) + self.links",
        "/ (2 * beta[0] + self.links",
        f"{AVERAGES}[True]",
    ),
    Mutant(
        "_predict/links.py",
        "_between",
        "links within a block are counted twice",
        "counts + counts.T - np.diag(np.diag(counts))",
        "counts + counts.T",
        f"{AVERAGES}[False]",
    ),
    Mutant(
        "_predict/links.py",
        "link_chances",
        "predictions run against the direction of links",
        "chance[z[ends[0]], z[ends[1]]]",
        "chance[z[ends[1]], z[ends[0]]]",
        f"{ESTIMATOR}test_predictions_are_averages_over_draws[True]",
    ),
    Mutant(
        "_predict/links.py",
        "link_chances",
        "draws are added up, not averaged",
        "chances += weight * chance",
        "chances += chance",
        f"{AVERAGES}[False]",
    ),
    Mutant(
        "relational.py",
        "InfiniteRelationalModel.score",
        "the score takes links for their absence",
        "np.where(found == 1, np.log(chances), np.log1p(-chances))",
        "np.where(found == 0, np.log(chances), np.log1p(-chances))",
        f"{AVERAGES}[False]",
    ),
    Mutant(
        "relational.py",
        "_as_pairs",
        "pairs beyond the last vertex are taken",
        "array.max() >= n:",
        "array.max() > n:",
        PAIRS,
    ),
    Mutant(
        "relational.py",
        "InfiniteRelationalModel._check_sampler",
        "samplers are not asked what they need",
        "if not can_sample(type(sampler), bound):",
        "if False:",
        f"{ESTIMATOR}test_samplers_that_do_not_serve_name_those_that_do[pgsm]",
    ),
    Mutant(
        "relational.py",
        "InfiniteRelationalModel._prior",
        "the prior of the model ignores alpha",
        "DirichletProcess(alpha=self.alpha)",
        "DirichletProcess(alpha=1.0)",
        f"{ESTIMATOR}test_alpha_is_fixed_or_sampled",
    ),
    Mutant(
        "plotting/adjacency_display.py",
        "_density",
        "vertices are not ordered by cluster",
        'position[np.argsort(labels, kind="stable")] = np.arange(n)',
        "position[:] = np.arange(n)",
        PICTURE,
    ),
    Mutant(
        "plotting/adjacency_display.py",
        "_density",
        "cells count unobserved pairs",
        "np.outer(width, width) - np.diag(width) - gaps",
        "np.outer(width, width) - np.diag(width)",
        SHARES,
    ),
    Mutant(
        "plotting/adjacency_display.py",
        "_density",
        "unobserved pairs look like pairs without a link",
        "    density[(observed == 0) & (gaps > 0)] = np.nan\n",
        "",
        PICTURE,
    ),
]

"""Bugs of missing entries in nested patterns, which are integrated out."""

from __future__ import annotations

from tests.mutants import Mutant

NESTED = "likelihoods/test_niw_nested.py::"
RATIOS = f"{NESTED}test_predictives_are_ratios_of_integrals"
MARGINALS = f"{NESTED}test_the_marginal_of_every_block_is_the_integral"
CONTRACT = f"{NESTED}test_contract"
PATTERNS = f"{NESTED}test_patterns_are_nested_or_not"
DRAWN = f"{NESTED}test_rows_that_lack_other_entries_are_judged_with_drawn_ones"
NEW = f"{NESTED}test_new_rows_are_filled_in_and_judged_as_if_they_were_in_the_fit"
MEANS = f"{NESTED}test_rows_of_the_fit_are_filled_in_with_posterior_means"
SAMPLED = f"{NESTED}test_sampled_rows_follow_the_regressions"
PLACES = f"{NESTED}test_sampled_columns_stand_where_they_were"
JOINT = f"{NESTED}test_drawn_entries_have_their_joint_law"
MIXED = f"{NESTED}test_mixed_columns_integrate_in_one_part_and_impute_in_another"
MANY = f"{NESTED}test_many_levels_are_integrated_on_request"
QUESTIONS = f"{NESTED}test_fits_keep_no_entries_and_answer_all_questions"

NESTED_HOLES = [
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "degrees of freedom are those of all columns",
        "df = lik.prior[1] + m + 1.0 - lik.X.shape[1]",
        "df = lik.prior[1] + m + 1.0",
        RATIOS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "a level's predictive forgets the columns before it",
        "math.log(1.0 + before * scale)",
        "math.log(1.0)",
        RATIOS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "leave-one-out: the earlier columns are scaled forward",
        "before * r / (r - 1.0)",
        "before * r / (r + 1.0)",
        RATIOS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "leave-one-out: the size counts the row",
        "lik.norm_predictive[level, m - 1]",
        "lik.norm_predictive[level, m]",
        RATIOS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "a marginal's denominator has the power of its numerator",
        "(df + lik.ends[level]) * (after -",
        "(df + lik.ends[level + 1]) * (after -",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "rows count in levels that they lack",
        "for level in range(lik.n_levels[i]):\n        if sign > 0:",
        "for level in range(len(lik.size)):\n        if sign > 0:",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "a union keeps the pivots of before",
        "labels)\n        refresh(lik, level, to)",
        "labels)",
        CONTRACT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "a copy keeps its pivots",
        "        lik.log_pivots[level, to] = lik.log_pivots[level, source]\n",
        "",
        CONTRACT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "pivots are those of all leading columns",
        "range(lik.ends[level], lik.ends[level + 1]):\n        total -=",
        "range(lik.ends[level + 1]):\n        total -=",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "slots are left out before they are seen to be low",
        "if log_prior + beta * total < floor:",
        "if log_prior + beta * total < floor + 3.0:",
        CONTRACT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "columns with most holes come first",
        "np.argsort(holes.sum(axis=0)",
        "np.argsort(-holes.sum(axis=0)",
        PATTERNS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "all patterns are taken for nested",
        "(seen == first).all() and ",
        "",
        PATTERNS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "new rows may end within a level",
        " and (nested.ends[found] == n_seen).all()",
        "",
        DRAWN,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "the prior scale is not reordered",
        "scale = scale[np.ix_(order, order)]",
        "scale = scale + 0.0",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "the prior mean is not reordered",
        "mean[order],",
        "mean,",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_nested.py",
        "new rows have no predictive in an empty slot",
        "    fill_empty(other._replace",
        "    id(other._replace",
        NEW,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "imputed means do not look at the observed entries",
        "gap[a] = -dot(inv_chol, k, a, a, gap) / inv_chol[k, a, a]",
        "gap[a] = 0.0",
        MEANS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "imputed means stand in the order of the levels",
        "out[i, lik.order[a]]",
        "out[i, a]",
        MEANS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "later levels do not see what earlier ones filled in",
        "x = lik.X[i, a] if a < seen else lik.work[1, a]",
        "x = lik.X[i, a] if a < seen else mean[k, a]",
        MEANS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "sampled rows have heavier tails",
        "rng.chisquare(df + start))\n        x",
        "rng.chisquare(df))\n        x",
        SAMPLED,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "the spread of a sample does not follow from the earlier columns",
        "(y[:start] ** 2).sum()",
        "0.0",
        SAMPLED,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "sampled columns stand in the order of the levels",
        "return x[np.argsort(bound.order)]",
        "return x",
        PLACES,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "all pivots of a drawn covariance have the same degrees of freedom",
        "rng.chisquare(df + np.arange(stop))",
        "rng.chisquare(np.full(stop, df))",
        JOINT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "drawn regressions have exact means",
        "rng.standard_normal(stop) / np.sqrt(r)",
        "np.zeros(stop)",
        JOINT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "drawn entries do not look at the observed ones",
        "            z[:start] = np.linalg.solve(",
        "            z[:start] += 0.0 * np.linalg.solve(",
        JOINT,
    ),
    Mutant(
        "likelihoods/gaussian/niw_regressions.py",
        "drawn entries stand in the order of the levels",
        "Z[:, back][np.isnan(lik.X[:, back])]",
        "Z[np.isnan(lik.X)]",
        JOINT,
    ),
    Mutant(
        "_predict/predictive.py",
        "the same question has other answers",
        "rng = np.random.default_rng(0)\n    bound, partition",
        "rng = np.random.default_rng()\n    bound, partition",
        DRAWN,
    ),
    Mutant(
        "_predict/predictive.py",
        "entries are drawn from empty blocks",
        "        fill(bound, partition, row, fitted.log_urn[r])\n        latent",
        "        latent",
        DRAWN,
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "entries of the second part are forgotten",
        "_joined(first, ops.draw_latent(lik.second, labels, rng))",
        "first",
        MIXED,
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "one part that serves is enough",
        "all(law.serves(",
        "any(law.serves(",
        MIXED,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "tables of leading columns have all degrees of freedom",
        "nu - len(scale) + end",
        "nu",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "tables are those of the first columns",
        "own = nested.order[:end]",
        "own = np.arange(end)",
        MARGINALS,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "eight levels are too many",
        "<= MOST_LEVELS + 1",
        "<= MOST_LEVELS",
        MANY,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "complete rows among holed ones are filled in",
        "if not isinstance(new, GeneralNIW)",
        "if True",
        MIXED,
    ),
    Mutant(
        "likelihoods/gaussian/niw.py",
        "a frozen likelihood imputes what was integrated out",
        '"impute" if moved else "integrate"',
        '"integrate" if moved else "impute"',
        MANY,
    ),
    Mutant(
        "_estimators/mixture.py",
        "all patterns are served",
        "served = self._likelihood.serves(fitted.bound, X)",
        "served = True",
        QUESTIONS,
    ),
]

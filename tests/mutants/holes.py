"""Bugs of missing entries, of their imputation, and of mixed columns."""

from __future__ import annotations

from tests.mutants import Mutant

HOLES = "likelihoods/test_holes.py::"
BY_COLUMN = f"{HOLES}test_a_column_is_the_complete_one_of_the_rows_that_have_it"
CONTRACT = f"{HOLES}test_contract"
PLAIN = f"{HOLES}test_without_holes_nothing_changes"
NIW = "likelihoods/test_niw_holes.py::"
REDRAW = f"{NIW}test_a_redraw_is_the_transform_of_its_normals_and_chi_squares"
NEW_ROWS = f"{NIW}test_new_rows_have_the_marginal_student_t"
STATISTICS = f"{NIW}test_statistics_are_those_of_the_completed_rows"
SAVED = f"{NIW}test_chains_go_on_bit_by_bit_from_where_they_were_saved"
DRAWS = f"{NIW}test_predictions_use_the_missing_entries_of_every_draw"
MIXED = "test_columns.py::"
IMPUTE = "test_impute.py::"

MISSING = [
    Mutant(
        "likelihoods/gaussian/nig_missing.py",
        "a missing entry counts as an item of its column",
        "        lik.size[d, k] += sign\n        refresh(lik, k, d)",
        "        for e in range(len(lik.mean)):\n            lik.size[e, k] += sign\n"
        "        refresh(lik, k, d)",
        f"{BY_COLUMN}[nig-3]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_missing.py",
        "the units of all columns count for every entry",
        "total -= m * lik.log_unit[d] +",
        "total -= m * lik.log_unit.sum() +",
        f"{BY_COLUMN}[nig-3]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_missing.py",
        "leave-one-out: a power too many",
        "(lik.half_df[d, k] - 1.0) * math.log(rest)",
        "lik.half_df[d, k] * math.log(rest)",
        f"{CONTRACT}[nig-3]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_missing.py",
        "a bound that is none",
        "half_df[k] * (2.0 * t / (2.0 + t))",
        "half_df[k] * t",
        f"{HOLES}test_weights_of_many_slots",
    ),
    Mutant(
        "likelihoods/gaussian/nig_missing.py",
        "pooled sizes are those of one part",
        "        lik.size[d, to] = lik.size[d, one] + lik.size[d, two]\n",
        "        lik.size[d, to] = lik.size[d, one]\n",
        f"{CONTRACT}[nig-3]",
    ),
    Mutant(
        "likelihoods/discrete/missing_terms.py",
        "leave-one-out: the size counts the item",
        "log_at(lik.total, d, m - 1, m < lik.total.length)",
        "log_at(lik.total, d, m, m < lik.total.length)",
        f"{CONTRACT}[categorical]",
    ),
    Mutant(
        "likelihoods/discrete/missing_terms.py",
        "sizes are those of the first column",
        "    m = lik.size[k, d]\n    log_total",
        "    m = lik.size[k, 0]\n    log_total",
        f"{CONTRACT}[bernoulli]",
    ),
    Mutant(
        "likelihoods/discrete/missing_terms.py",
        "terms of an item begin where its row does, not after those before it",
        "np.cumsum(observed.sum(axis=1), out=start[1:])",
        "start[1:] = np.arange(1, len(codes) + 1) * codes.shape[1]",
        f"{BY_COLUMN}[bernoulli]",
    ),
    Mutant(
        "likelihoods/discrete/bernoulli.py",
        "the prior's counts of ones and zeros change places",
        "np.column_stack([b, a]).ravel()",
        "np.column_stack([a, b]).ravel()",
        f"{PLAIN}[bernoulli]",
    ),
    Mutant(
        "likelihoods/discrete/missing_counts.py",
        "leave-one-out: the size counts the item",
        "log_count(lik, d, size[d] - 1, total[d] - y, y)",
        "log_count(lik, d, size[d], total[d] - y, y)",
        f"{CONTRACT}[poisson]",
    ),
    Mutant(
        "likelihoods/discrete/missing_counts.py",
        "log y! of missing entries is that of a one",
        "np.where(observed, X, 0.0)",
        "np.where(observed, X, 2.0)",
        f"{BY_COLUMN}[poisson]",
    ),
    Mutant(
        "likelihoods/discrete/poisson.py",
        "the automatic rate divides by all rows",
        "np.maximum(observed_mean(X), 1 / n)",
        "np.maximum(np.nansum(X, axis=0) / len(X), 1 / n)",
        f"{HOLES}test_automatic_values_rest_on_the_observed_entries",
    ),
    Mutant(
        "likelihoods/gaussian/units.py",
        "chance neighbours of rows with holes are believed",
        "        near *= cloud / _near(np.where(holes, np.nan, _cloud(*Z.shape)))\n",
        "        pass\n",
        f"{HOLES}test_automatic_values_rest_on_the_observed_entries",
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "a redraw does not look at the observed entries",
        "            for b in range(a + 1):\n                x += C[a, b] * y[b]",
        "            for b in range(p, a + 1):\n                x += C[a, b] * y[b]",
        REDRAW,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "a redraw sees the row itself in its cluster",
        "        _remove(lik, k, i)\n        r = lik.prior[0] + lik.size[k]\n",
        "        r = lik.prior[0] + lik.size[k] - 1\n",
        f"{REDRAW} {STATISTICS}",
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "the spread of a redraw does not follow from the observed entries",
        "(r + 1.0) / r + factorise(lik, k, h))",
        "(r + 1.0) / r + 0.0 * factorise(lik, k, h))",
        REDRAW,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "degrees of freedom lack the observed entries",
        "others - d + 1 + lik.n_observed",
        "others - d + 1",
        REDRAW,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "the density in an empty slot is that of the old entries",
        "        lik.log_empty[i] = _predictive(lik, empty, i)\n",
        "",
        STATISTICS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "new rows: the scales of missing columns count",
        "np.where(np.isnan(Z), 0.0, np.log(bound.unit)).sum(axis=1)",
        "np.log(bound.unit).sum() + np.zeros(len(Z))",
        NEW_ROWS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "new rows: degrees of freedom of all columns",
        "        value -= math.log(lik.factor[a, a])\n",
        "        value -= 2.0 * math.log(lik.factor[a, a])\n",
        NEW_ROWS,
    ),
    Mutant(
        "likelihoods/gaussian/niw_imputed.py",
        "chains share one array of missing entries",
        'own = {"X": (), "log_empty": (), "factor": ()}',
        'own = {"log_empty": (), "factor": ()}',
        f"{NIW}test_results_do_not_depend_on_jobs_and_continue {SAVED}",
    ),
    Mutant(
        "_fitting/rounds.py",
        "missing entries are not taken up where a chain was saved",
        "        state.set_latent(chain.latent)\n",
        "        pass\n",
        SAVED,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "missing entries are not saved",
        "np.zeros(0) if place.latent is None else place.latent",
        "np.zeros(0)",
        SAVED,
    ),
    Mutant(
        "_fitting/rounds.py",
        "missing entries never move",
        "    state.move_latent(chain.rng)\n",
        "",
        SAVED,
    ),
    Mutant(
        "_predict/predictive.py",
        "all draws are predicted with one draw's missing entries",
        "        set_latent(bound, fitted.latent[draw])\n",
        "        set_latent(bound, fitted.latent[0])\n",
        DRAWS,
    ),
    Mutant(
        "_predict/predictive.py",
        "slots keep what they held under the last draw's entries",
        "        partition.labels[:] = -1\n",
        "",
        DRAWS,
    ),
    Mutant(
        "_predict/imputation.py",
        "new rows: all draws count alike",
        "share = weights[r] * np.exp(share - higher[:, None])",
        "share = weights[r] * np.exp(share - higher[:, None])\n"
        "        share = weights[r] * share / share.sum(axis=1, keepdims=True)",
        f"{IMPUTE}test_new_rows_against_enumeration",
    ),
    Mutant(
        "_predict/imputation.py",
        "rows of the fit are taken for new ones",
        "items = None if members is None else members[holed]",
        "items = None",
        f"{IMPUTE}test_rows_of_the_fit_against_enumeration",
    ),
    Mutant(
        "_predict/imputation.py",
        "rows are looked up by their place among those with holes",
        "members[holed]",
        "members[: len(holed)]",
        f"{IMPUTE}test_rows_of_the_fit_against_enumeration",
    ),
    Mutant(
        "likelihoods/discrete/categorical.py",
        "the least probable category is filled in",
        "part.argmax(axis=1)",
        "part.argmin(axis=1)",
        f"{IMPUTE}test_new_rows_against_enumeration",
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "parts are filled in from one another's means",
        "            done += width\n",
        "            done += len(own)\n",
        f"{IMPUTE}test_mixed_columns_against_enumeration",
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "the second part has no say where the item may stay",
        "return first + ops.log_predictive_without(lik.second, k, i)",
        "return first",
        f"{MIXED}test_the_density_is_the_product_of_the_parts",
    ),
    Mutant(
        "likelihoods/mixed/side_by_side.py",
        "coordinates of the second part are numbered on",
        "ops.coordinate(lik.second, i, d - n_first)",
        "ops.coordinate(lik.second, i, 0)",
        f"{MIXED}test_coordinates_are_those_of_the_parts",
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "sampled columns stand in the order of the parts",
        "        row[order] = row.copy()\n",
        "",
        f"{MIXED}test_a_single_part_may_reorder_columns",
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "slices of names lack their end",
        "stop = _number(stop, names, d) + 1 ",
        "stop = _number(stop, names, d) ",
        f"{MIXED}test_columns_are_chosen_in_many_ways",
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "columns in no part go unnoticed",
        '((times == 0, "in no part"), (times > 1, "in more than one part"))',
        '((times > 1, "in more than one part"),)',
        f"{MIXED}test_bad_parts_get_one_sentence",
    ),
    Mutant(
        "_estimators/encoding.py",
        "categories are numbered as they come",
        "sorted(values, key=lambda v: (type(v).__name__, v))",
        "list(dict.fromkeys(np.asarray(column, object)[~_missing(column)].tolist()))",
        f"{MIXED}test_arrays_of_objects_and_lists {MIXED}test_a_frame_is_its_codes",
    ),
    Mutant(
        "_estimators/mixture.py",
        "rows with holes meet slots of complete data",
        "            fitted = fitted._replace(bound=self._likelihood.bind_observed(self._X))\n",
        "            pass\n",
        f"{MIXED}test_rows_may_lack_entries_in_prediction_alone",
    ),
    Mutant(
        "_estimators/mixture.py",
        "every likelihood is said to take NaN",
        'getattr(likelihood, "takes_nan", False)',
        "likelihood",
        f"{MIXED}test_tags_are_truthful",
    ),
    Mutant(
        "_core/state.py",
        "parts of bound data share their slots among chains",
        "            changed[name] = grown_bound(old, capacity)\n",
        "            changed[name] = old\n",
        "likelihoods/test_all.py::test_growing_copies_what_a_chain_owns",
    ),
]

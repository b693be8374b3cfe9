"""Bugs of the columns that a fit leaves out because they are constant."""

from __future__ import annotations

from tests.mutants import Mutant

FILE = "_fitting/constant_columns.py"
MIXTURE = "_estimators/mixture.py"
READING = "_estimators/reading.py"
COLUMNS = "likelihoods/mixed/columns.py"
TESTS = "_fitting/test_constant_columns.py::"
SAME = f"{TESTS}test_a_fit_is_that_of_the_other_columns"
NAMED = f"{TESTS}test_the_warning_names_the_columns"
ROUNDED = f"{TESTS}test_columns_are_constant_up_to_rounding_and_missing_entries"
CUT = f"{TESTS}test_hyper_parameters_by_column_are_cut"
EVERY = f"{TESTS}test_hyper_parameters_of_every_likelihood_can_be_cut"
PARTS = f"{TESTS}test_parts_of_mixed_columns"
OTHERS = f"{TESTS}test_other_likelihoods_model_constant_columns"
NEW = f"{TESTS}test_new_rows_may_vary_and_the_column_is_ignored_with_one_warning"
FILLED = f"{TESTS}test_samples_and_imputed_rows_have_all_columns"
FRAMES = f"{TESTS}test_imputed_data_frames"
DENSITIES = f"{TESTS}test_marginal_and_conditional_densities_use_numbers_of_all_columns"
BY_NAME = f"{TESTS}test_marginal_densities_by_name"
REPORT = f"{TESTS}test_the_report_says_which_columns_the_density_covers"
REFUSED = f"{TESTS}test_a_table_of_constants_is_refused"
ERRORS = f"{TESTS}test_errors_name_columns_of_the_whole_table"
BATCHES = f"{TESTS}test_partial_fit_uses_the_columns_of_the_first_batch"
CONTINUED = f"{TESTS}test_continued_and_warm_fits"
PICTURES = f"{TESTS}test_pictures_show_the_columns_by_their_numbers"
SHELL = "cli/test_clustering.py::test_constant_columns_are_left_out_by_name"

LEFT_OUT = [
    Mutant(
        FILE,
        "Constants.of",
        "a table of constants is left without columns",
        "if len(columns) == X.shape[1]:",
        "if False:",
        REFUSED,
    ),
    Mutant(
        FILE,
        "Constants.of",
        "a constant with missing entries is missing",
        "np.nanmin(X[:, columns], axis=0)",
        "X[:, columns].min(axis=0)",
        f"{ROUNDED} {FRAMES}",
    ),
    Mutant(
        FILE,
        "Constants.restored",
        "constants take the place of observed entries",
        "np.where(np.isnan(own), self.values, own)",
        "self.values",
        FILLED,
    ),
    Mutant(
        FILE,
        "Constants.restored",
        "modelled columns come first",
        "result[:, self.kept], result[:, self.columns] = rows, self.values",
        "result[:, : len(self.kept)], result[:, len(self.kept) :] = rows, self.values",
        FILLED,
    ),
    Mutant(
        FILE,
        "Constants.names",
        "columns are called like the first ones of the table",
        "for j in self.kept]",
        "for j in range(len(self.kept))]",
        ERRORS,
    ),
    Mutant(
        FILE,
        "Constants.warn_of_changes",
        "all columns that were left out are said to vary",
        "self.columns[~are_equal(low, high).all(axis=0)]",
        "self.columns",
        NEW,
    ),
    Mutant(
        FILE,
        "Constants.warn_of_changes",
        "a column varies if all its entries do",
        "self.columns[~are_equal(low, high).all(axis=0)]",
        "self.columns[~are_equal(low, high).any(axis=0)]",
        NEW,
    ),
    Mutant(
        FILE,
        "Constants.warn_of_changes",
        "missing entries of new rows vary",
        "np.fmin(own, self.values), np.fmax(own, self.values)",
        "np.minimum(own, self.values), np.maximum(own, self.values)",
        f"{TESTS}test_mixed_tables",
    ),
    Mutant(
        FILE,
        "warn_of_columns",
        "all columns are named, however many",
        "columns[:SHOWN].tolist()",
        "columns.tolist()",
        NAMED,
    ),
    Mutant(
        FILE,
        "warn_of_columns",
        "columns are named by number, though they have names",
        "warning if names is None else warning.renamed(names)",
        "warning",
        NAMED,
    ),
    Mutant(
        FILE,
        "warn_at_caller",
        "a warning points into the package",
        "stacklevel=level",
        "stacklevel=2",
        NAMED,
    ),
    Mutant(
        FILE,
        "listed",
        "the report lists all columns",
        "columns[:SHOWN]]",
        "columns]",
        REPORT,
    ),
    Mutant(
        "likelihoods/base.py",
        "_of_columns",
        "the first entries of hyper-parameters are kept",
        "np.ix_(*[columns] * given.ndim)",
        "np.ix_(*[range(len(columns))] * given.ndim)",
        f"{CUT} {EVERY}",
    ),
    Mutant(
        "likelihoods/base.py",
        "_of_columns",
        "hyper-parameters of a wrong length are cut somehow",
        "if given.shape not in ((), (n_columns,), (n_columns, n_columns)):",
        "if False:",
        CUT,
    ),
    Mutant(
        "likelihoods/base.py",
        "Likelihood.constant_columns",
        "no likelihood models constant columns",
        "return np.zeros(0, np.intp)",
        "return np.flatnonzero(np.nanmin(X, axis=0) == np.nanmax(X, axis=0))",
        OTHERS,
    ),
    Mutant(
        COLUMNS,
        "Columns.constant_columns",
        "parts number their own columns",
        "np.array(own)[part.constant_columns(X[:, own])]",
        "part.constant_columns(X[:, own])",
        PARTS,
    ),
    Mutant(
        COLUMNS,
        "Columns.of_columns",
        "a part without columns stays",
        "            if inner:\n",
        "            if True:\n",
        PARTS,
    ),
    Mutant(
        COLUMNS,
        "Columns.of_columns",
        "parts keep the numbers of the whole table",
        "[new[own[position]] for position in inner]",
        "[own[position] for position in inner]",
        PARTS,
    ),
    Mutant(
        COLUMNS,
        "Columns.of_columns",
        "parts keep hyper-parameters of columns that were left out",
        "(part.of_columns(inner, len(own)), numbers)",
        "(part, numbers)",
        f"{TESTS}test_the_parts_of_columns_keep_their_parameters",
    ),
    Mutant(
        COLUMNS,
        "_rows_of_parts",
        "errors about new rows number the columns of a part",
        "    with with_columns(own):\n",
        "    with with_columns(None):\n",
        ERRORS,
    ),
    Mutant(
        READING,
        "ReadsRows._read_rows",
        "the likelihood has the hyper-parameters of all columns",
        "likelihood = likelihood.of_columns(constants.kept.tolist(), X.shape[1])",
        "pass",
        CUT,
    ),
    Mutant(
        READING,
        "ReadsRows._read_rows",
        "constant columns are left out in silence",
        "            constants.warn(self._names())\n",
        "",
        NAMED,
    ),
    Mutant(
        READING,
        "ReadsRows._new_table",
        "constant columns of new rows may vary in silence",
        "        constants.warn_of_changes(rows, self._names())\n",
        "",
        NEW,
    ),
    Mutant(
        READING,
        "ReadsRows._numbers",
        "a single row can be clustered",
        "if reset and len(rows) < 2:",
        "if reset and len(rows) < 1:",
        f"{TESTS}test_a_single_row_is_refused",
    ),
    Mutant(
        MIXTURE,
        "Mixture.impute",
        "imputed frames lack constants",
        "return with_values(X, table, filled, self._fitted.encoding)",
        "return with_values(X, constants.restored(rows), filled, self._fitted.encoding)",
        FRAMES,
    ),
    Mutant(
        MIXTURE,
        "Mixture.sample",
        "samples lack constants",
        "fitted.constants.restored(sample(fitted, n, rng))",
        "sample(fitted, n, rng)",
        FILLED,
    ),
    Mutant(
        MIXTURE,
        "Mixture.partial_fit",
        "later batches forget which columns were left out",
        '"observed": observed, "row_names": None',
        '"observed": observed, "row_names": None, "constants": None',
        BATCHES,
    ),
    Mutant(
        "_estimators/base.py",
        "Sampled.continue_fit",
        "continued fits forget which columns were left out",
        "**fitted.reading",
        '**{**fitted.reading, "constants": None}',
        CONTINUED,
    ),
    Mutant(
        "_estimators/base.py",
        "Sampled.continue_fit",
        "continued fits forget how to read mixed columns",
        "**fitted.reading",
        '**{**fitted.reading, "encoding": None}',
        CONTINUED,
    ),
    Mutant(
        "_predict/named_columns.py",
        "column_numbers",
        "numbers of the table are those of the model",
        "[kept.index(j) for j in chosen]",
        "chosen",
        DENSITIES,
    ),
    Mutant(
        "_predict/named_columns.py",
        "names_of_model",
        "densities call columns like the first ones of the table",
        "for j in fitted.columns]",
        "for j in range(len(fitted.columns))]",
        f"{DENSITIES} {BY_NAME}",
    ),
    Mutant(
        "plotting/density_display.py",
        "DensityDisplay.from_estimator",
        "axes are called like the first columns of the table",
        "for j in estimator._fitted.columns[shown])",
        "for j in shown)",
        PICTURES,
    ),
    Mutant(
        "plotting/cluster_display.py",
        "ClusterDisplay.from_estimator",
        "a constant column is a coordinate",
        "X, names = X[:, kept], [names[j] for j in kept]",
        "pass",
        PICTURES,
    ),
    Mutant(
        "cli/models.py",
        "print_warnings",
        "the command line names columns by number",
        "w.renamed(names) if isinstance(w, ColumnsWarning) else w",
        "w",
        SHELL,
    ),
    Mutant(
        "cli/clustering.py",
        "fit",
        "the report of the command line names columns by number",
        "with_names(model, rows)",
        "model",
        SHELL,
    ),
]

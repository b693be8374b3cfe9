"""Bugs of the command line, of what it reads and of what it writes."""

from __future__ import annotations

from tests.mutants import Mutant

CLI = "cli/test_clustering.py::"
SAME = f"{CLI}test_labels_probabilities_and_draws_are_those_of_the_estimator"
DISAGREES = f"{CLI}test_disagreement_is_an_exit_status_and_a_sentence"
INTERRUPTED = "cli/test_interrupts.py::test_an_interrupt_leaves_what_was_drawn"
SHARES = "cli/test_results.py::test_probabilities_are_mean_shares_of_blocks"
FORMATS = "cli/test_formats.py::test_all_formats_give_the_same_labels"
TABLES = f"{CLI}test_bad_tables"
OPTIONS = "cli/test_models.py::test_bad_options"
WORDS = f"{CLI}test_words_are_categories"
MUTATIONS = "cli/test_mutations.py::test_mutations_are_clustered_by_prevalence"
KEPT = "cli/test_files.py::test_results_are_not_overwritten_unless_told_to"

COMMAND_LINE = [
    Mutant(
        "cli/models.py",
        "finish",
        "chains that disagree leave no trace in the exit status",
        "return DISAGREE if doubtful else DONE",
        "return DONE",
        DISAGREES,
    ),
    Mutant(
        "cli/models.py",
        "finish",
        "an interrupted run passes for a full one",
        "if model.interrupted_:",
        "if False:",
        INTERRUPTED,
    ),
    Mutant(
        "cli/models.py",
        "_settings",
        "the seed is not used",
        '"random_state": seed',
        '"random_state": None',
        SAME,
    ),
    Mutant(
        "cli/checks.py",
        "_check_prior",
        "parameters of other priors are dropped in silence",
        "name not in own",
        "False",
        OPTIONS,
    ),
    Mutant(
        "cli/models.py",
        "shows_progress",
        "progress is shown to files and pipes",
        "and sys.stderr.isatty()",
        "",
        SAME,
    ),
    Mutant(
        "cli/files.py",
        "prepared",
        "the folder is looked at after the fit",
        "    _check_folder(path, names, force)\n",
        "",
        f"{KEPT} cli/test_files.py::test_a_folder_that_cannot_be_made_is_said_before_the_fit",
    ),
    Mutant(
        "cli/files.py",
        "_check_folder",
        "results are overwritten",
        "if existing and not force:",
        "if False:",
        KEPT,
    ),
    Mutant(
        "partitions/memberships.py",
        "membership",
        "draws do not count by their weights",
        "result += (weight * counts",
        "result += (1.0 * counts",
        SHARES,
    ),
    Mutant(
        "partitions/memberships.py",
        "membership",
        "shares are of clusters, not of blocks",
        "counts.sum(axis=1, keepdims=True)",
        "counts.sum(axis=0, keepdims=True)",
        SHARES,
    ),
    Mutant(
        "cli/results.py",
        "write_labels",
        "the probability is that of the likeliest cluster, not of the row's own",
        "shares[np.arange(len(shares)), labels]",
        "shares[np.arange(len(shares)), 0]",
        SAME,
    ),
    Mutant(
        "cli/values.py",
        "",
        "semicolons do not separate",
        '"semicolon": ";", ',
        "",
        FORMATS,
    ),
    Mutant(
        "cli/text_tables.py",
        "_opened",
        "the mark of UTF-8 is read as text",
        "utf-8-sig",
        "utf-8",
        FORMATS,
    ),
    Mutant(
        "cli/text_tables.py",
        "_columns",
        "lines of other lengths pass for blank ones",
        "        if len(row) != len(names):",
        "        if not row:",
        TABLES,
    ),
    Mutant(
        "cli/rows.py",
        "_like_data",
        "the column of names is clustered by, too",
        "[name for name in table.columns if name != id_column]",
        "list(table.columns)",
        "cli/test_rows.py::test_a_column_of_names_is_no_data",
    ),
    Mutant(
        "cli/clustering.py",
        "with_names",
        "clusters are described by codes, not by words",
        "model._named(names, categories, ",
        "model._named(names, {}, ",
        WORDS,
    ),
    Mutant(
        "_estimators/page.py",
        "_pictures",
        "the report loads pictures from elsewhere",
        "data:image/png;base64,",
        "pictures/",
        "cli/test_results.py::test_the_report_is_one_page_with_pictures",
    ),
    Mutant(
        "cli/mutations.py",
        "pyclone",
        "the settings of the reads are dropped",
        "if name in SETTINGS}",
        "if False}",
        MUTATIONS,
    ),
    Mutant(
        "cli/frames.py",
        "Frame.__len__",
        "rows of a frame are counted as columns",
        "return len(next(iter(self._columns.values())))",
        "return len(self._columns)",
        MUTATIONS,
    ),
    Mutant(
        "cli/models.py",
        "fit_model",
        "columns are called by numbers",
        "with_columns(names or None)",
        "with_columns(None)",
        TABLES,
    ),
    Mutant(
        "cli/models.py",
        "print_warnings",
        "advice is in Python",
        "map(in_shell_words, renamed)",
        "map(str, renamed)",
        DISAGREES,
    ),
    Mutant(
        "cli/results.py",
        "write_results",
        "the page advises in Python",
        "named.report().in_shell_words()",
        "named.report()",
        DISAGREES,
    ),
    Mutant(
        "cli/cells.py",
        "",
        "a comma makes text",
        'r"(\\d*,\\d+([eE]',
        'r"(\\d*;\\d+([eE]',
        TABLES,
    ),
    Mutant(
        "likelihoods/pyclone/tables.py",
        "wide",
        "mutations are called by numbers",
        "check_reads(out.transpose(2, 0, 1), at.mutations.tolist(), at.samples.tolist())",
        "pass",
        "cli/test_mutations.py::test_bad_reads",
    ),
]

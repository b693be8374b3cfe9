"""Bugs of the command line, of what it reads and of what it writes."""

from __future__ import annotations

from tests.mutants import Mutant

CLI = "cli/test_commands.py::"
SAME = f"{CLI}test_labels_probabilities_and_draws_are_those_of_the_estimator"
DISAGREES = f"{CLI}test_disagreement_is_an_exit_status_and_a_sentence"
INTERRUPTED = f"{CLI}test_an_interrupt_leaves_what_was_drawn"
SHARES = f"{CLI}test_probabilities_are_mean_shares_of_blocks"
FORMATS = f"{CLI}test_all_formats_give_the_same_labels"
TABLES = f"{CLI}test_bad_tables"
OPTIONS = f"{CLI}test_bad_options"
WORDS = f"{CLI}test_words_are_categories"
MUTATIONS = f"{CLI}test_mutations_are_clustered_by_prevalence"
KEPT = f"{CLI}test_results_are_not_overwritten_unless_told_to"

COMMAND_LINE = [
    Mutant(
        "cli/commands.py",
        "_exit_status",
        "chains that disagree leave no trace in the exit status",
        "return DISAGREE if doubtful else DONE",
        "return DONE",
        DISAGREES,
    ),
    Mutant(
        "cli/commands.py",
        "_exit_status",
        "an interrupted run passes for a full one",
        "if model.interrupted_:",
        "if False:",
        INTERRUPTED,
    ),
    Mutant(
        "cli/commands.py",
        "build_model",
        "the seed is not used",
        "random_state=seed",
        "random_state=None",
        SAME,
    ),
    Mutant(
        "cli/commands.py",
        "build_model",
        "parameters of other priors are dropped in silence",
        "if foreign:",
        "if False:",
        OPTIONS,
    ),
    Mutant(
        "cli/commands.py",
        "build_model",
        "--quiet is not quiet",
        "verbose=int(not options.quiet)",
        "verbose=1",
        DISAGREES,
    ),
    Mutant(
        "cli/commands.py",
        "fit",
        "the folder is looked at after the fit",
        "    write.prepare_folder(options.out, write.FILES, options.force)\n",
        "",
        f"{KEPT} {CLI}test_a_folder_that_cannot_be_made_is_said_before_the_fit",
    ),
    Mutant(
        "cli/write.py",
        "prepare_folder",
        "results are overwritten",
        "if existing and not force:",
        "if False:",
        KEPT,
    ),
    Mutant(
        "plotting/common.py",
        "membership",
        "draws do not count by their weights",
        "result += (weight * counts",
        "result += (1.0 * counts",
        SHARES,
    ),
    Mutant(
        "plotting/common.py",
        "membership",
        "shares are of clusters, not of blocks",
        "counts.sum(axis=1, keepdims=True)",
        "counts.sum(axis=0, keepdims=True)",
        SHARES,
    ),
    Mutant(
        "cli/write.py",
        "write_results",
        "the probability is that of the likeliest cluster, not of the row's own",
        "shares[np.arange(len(shares)), labels]",
        "shares[np.arange(len(shares)), 0]",
        SAME,
    ),
    Mutant(
        "cli/read.py", "_lines", "semicolons do not separate", 'max(",;\\t"', 'max(",\\t"', FORMATS
    ),
    Mutant(
        "cli/read.py",
        "_read_text",
        "the mark of UTF-8 is read as text",
        "utf-8-sig",
        "utf-8",
        FORMATS,
    ),
    Mutant(
        "cli/read.py",
        "_lines.rows",
        "lines of other lengths pass for blank ones",
        "            if row and len(row) != len(names):",
        "            if False:",
        TABLES,
    ),
    Mutant(
        "cli/read.py",
        "select_rows",
        "the column of names is clustered by, too",
        "[name for name in table if name != id_column]",
        "list(table)",
        FORMATS,
    ),
    Mutant(
        "cli/page.py",
        "_typical",
        "codes are averaged",
        "    if words is None:",
        "    if True:",
        WORDS,
    ),
    Mutant(
        "cli/page.py",
        "_pictures",
        "the report loads pictures from elsewhere",
        "data:image/png;base64,",
        "pictures/",
        f"{CLI}test_the_report_is_one_page_with_pictures",
    ),
    Mutant(
        "cli/commands.py",
        "pyclone",
        "the settings of the reads are dropped",
        "if name in READS})",
        "if False})",
        MUTATIONS,
    ),
    Mutant(
        "cli/commands.py",
        "pyclone",
        "all samples have the prevalences of one",
        "at.mutation, at.sample == s",
        "at.mutation, at.sample == 0",
        MUTATIONS,
    ),
    Mutant(
        "cli/write.py",
        "aligned",
        "prevalences are given to other mutations",
        "result[index[chosen]] = values[chosen]",
        "result[index[chosen]] = values[chosen][::-1]",
        MUTATIONS,
    ),
    Mutant(
        "cli/read.py",
        "Frame.__len__",
        "rows of a frame are counted as columns",
        "return len(next(iter(self._columns.values())))",
        "return len(self._columns)",
        MUTATIONS,
    ),
    Mutant(
        "cli/commands.py",
        "fit",
        "columns are called by numbers",
        "with_columns(names)",
        "with_columns(None)",
        TABLES,
    ),
    Mutant(
        "cli/commands.py",
        "_fit_model",
        "advice is in Python",
        "map(in_shell_words, said)",
        "map(str, said)",
        DISAGREES,
    ),
    Mutant(
        "cli/page.py",
        "html_page",
        "the page advises in Python",
        "model.report().in_shell_words().to_html()",
        "model.report().to_html()",
        DISAGREES,
    ),
    Mutant(
        "cli/read.py",
        "_number_error",
        "a comma makes text",
        'cell.replace(",", ".", 1)',
        "cell",
        TABLES,
    ),
    Mutant(
        "likelihoods/pyclone/tables.py",
        "wide",
        "mutations are called by numbers",
        "check_reads(out.transpose(2, 0, 1), at.mutations.tolist(), at.samples.tolist())",
        "pass",
        f"{CLI}test_bad_reads",
    ),
]

"""Bugs of what a newcomer meets: messages, interrupts, tables of mutations, fits of few rows."""

from __future__ import annotations

from tests.mutants import Mutant

MESSAGES = "test_messages.py::"
FITS = "test_mixtures.py::"
TABLES = "test_pyclone.py::"

FIRST_HOUR = [
    Mutant(
        "samplers/split_merge/base.py",
        "few rows get no more moves than many",
        "enough = max(state.n_items, self.few // (n_columns or DISCRETE))",
        "enough = state.n_items",
        "samplers/test_pairs.py::test_few_items_get_as_many_moves_as_cost_an_iteration",
    ),
    Mutant(
        "samplers/split_merge/base.py",
        "columns cost nothing",
        "self.few // (n_columns or DISCRETE)",
        "self.few",
        "samplers/test_pairs.py::test_few_items_get_as_many_moves_as_cost_an_iteration",
    ),
    Mutant(
        "_core/arguments.py",
        "all columns are called like the first",
        "repr(names[int(digits)])",
        "repr(names[0])",
        f"{MESSAGES}test_columns_of_parts_are_called_by_their_own_numbers",
    ),
    Mutant(
        "_core/arguments.py",
        "columns without a name have one",
        "if int(digits) < len(names) else digits",
        "if int(digits) < 99 else digits",
        f"{MESSAGES}test_numbers_of_columns_that_have_no_name_are_left_alone",
    ),
    Mutant(
        "_estimators/encoding.py",
        "dates are numbers",
        "if kind.startswith(",
        "if False and kind.startswith(",
        f"{MESSAGES}test_columns_of_frames_are_called_by_their_names",
    ),
    Mutant(
        "_estimators/base.py",
        "Ctrl-C after sampling loses the draws",
        "with interruptible(stop):  # what was drawn is not lost to a Ctrl-C that comes now",
        "if stop:",
        f"{FITS}test_an_interrupt_after_sampling_loses_nothing",
    ),
    Mutant(
        "_estimators/base.py",
        "chains go on with another thinning than that of the fit",
        "Schedule(more, iteration, self._thin)",
        "Schedule(more, iteration, self.thin)",
        f"{FITS}test_continue_fit_goes_on_with_what_was_fitted",
    ),
    Mutant(
        "_estimators/report.py",
        "the report names a sampler that was set later",
        "sampler {model._sampler!r}",
        "sampler {model.sampler!r}",
        f"{FITS}test_continue_fit_goes_on_with_what_was_fitted",
    ),
    Mutant(
        "_estimators/report.py",
        "an estimate that no draw resembles is not worth a note",
        "if model.n_clusters_ <= max(model.n_clusters_posterior_):",
        "if model.n_clusters_ > 0:",
        f"{FITS}test_report_notes_an_estimate_that_no_draw_resembles",
    ),
    Mutant(
        "_fitting/smc_runs.py",
        "a run that cannot tell its error has none",
        "math.sqrt(variance) if variance > 0 else math.nan",
        "math.sqrt(max(variance, 0.0))",
        "test_smc_fit.py::test_evidences_are_averaged_not_their_logarithms",
    ),
    Mutant(
        "diagnostics/chains.py",
        "some chain is always said to be apart",
        "alone = rhat[c] < RHAT_LIMIT and sorted(rhat)[1] >= RHAT_LIMIT",
        "alone = True",
        "test_diagnostics.py::test_the_verdict_names_a_chain_that_is_apart_from_all_others",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "parts of a checkpoint need not fit one another",
        "                    check_sound(chains, n_items, n_chains)\n",
        "                    pass\n",
        "test_survival.py::test_a_checkpoint_whose_parts_do_not_fit_is_refused",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "some chains of a checkpoint are enough",
        "len(chains) != n_chains",
        "len(chains) > n_chains",
        "test_survival.py::test_a_checkpoint_whose_parts_do_not_fit_is_refused",
    ),
    Mutant(
        "likelihoods/pyclone/tables.py",
        "rows without counts are no missing samples",
        "    out.transpose(0, 2, 1)[np.isnan(out[:, :2]).all(axis=1)] = np.nan\n",
        "",
        f"{TABLES}test_reads_that_were_not_counted_are_a_missing_sample",
    ),
    Mutant(
        "likelihoods/pyclone/tables.py",
        "samples that a table lacks have no reads",
        "nothing = np.full(len(at.mutations), np.nan)",
        "nothing = np.zeros(len(at.mutations))",
        f"{TABLES}test_new_mutations_may_lack_a_sample_altogether",
    ),
    Mutant(
        "likelihoods/pyclone/tables.py",
        "what has no name is called nan",
        "if key is None or key != key",
        "if key is None",
        f"{TABLES}test_every_row_names_its_mutation_and_sample",
    ),
    Mutant(
        "cli/read.py",
        "coins are measured",
        '"bernoulli" if coins else "nig"',
        '"nig"',
        "test_cli.py::test_mixed_tables_are_clustered_by_words_coins_and_numbers",
    ),
    Mutant(
        "cli/read.py",
        "numbers with a comma are words",
        'if "comma" in str(error):',
        'if "comma" == str(error):',
        "test_cli.py::test_a_comma_in_mixed_tables_makes_no_category",
    ),
    Mutant(
        "cli/commands.py",
        "error rates are text",
        '(*COLUMNS, "error_rate")',
        "COLUMNS",
        "test_cli.py::test_an_error_rate_in_a_table_is_a_number",
    ),
]

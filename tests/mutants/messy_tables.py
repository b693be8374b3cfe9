"""Bugs of what is read, refused and said about messy tables."""

from __future__ import annotations

from tests.mutants import Mutant

DATA = "_estimators/test_mistakes_data.py::"
READING = "_estimators/test_reading.py::"
CONTENTS = "_fitting/test_checkpoint_contents.py::"
SUSPICIOUS = "_estimators/test_suspicious_columns.py::"
ENTRIES = "partitions/test_lazy_coclustering.py::test_indices_are_those_of_numpy"


def plain(file: str, function: str, breaks: str, old: str, new: str, tests: str) -> Mutant:
    """A mutant of code that is not compiled."""
    return Mutant(file, function, breaks, old, new, tests)


MESSY_TABLES = [
    plain(
        "_core/containers.py",
        "check_finite",
        "the row of an infinite cell is that of its column",
        "i, j = infinite[0].tolist()",
        "j, i = infinite[0].tolist()",
        f"{DATA}test_tables",
    ),
    plain(
        "_core/containers.py",
        "_check_rows",
        "ragged rows are left to numpy",
        "if length != lengths[0]]",
        "if length is None]",
        f"{DATA}test_tables",
    ),
    plain(
        "_core/containers.py",
        "_check_names",
        "columns may have the same name",
        "if times > 1]",
        "if times > 2]",
        f"{DATA}test_tables",
    ),
    plain(
        "_core/odd_cells.py",
        "no_number",
        "cells that are no numbers have no sentence",
        "_first_reason(columns, names, name, _about_no_number)",
        '""',
        "_estimators/test_mistakes_data.py::test_tables",
    ),
    plain(
        "_core/odd_cells.py",
        "is_missing",
        "what pandas calls NA is a value",
        'type(value).__name__ == "NAType"',
        "False",
        f"{SUSPICIOUS}test_identifiers",
    ),
    plain(
        "_estimators/suspicious_columns.py",
        "warn_of_identifiers",
        "every run of whole numbers is an identifier",
        "if not _is_called_identifier(name):",
        "if False:",
        f"{SUSPICIOUS}test_measurements_with_an_identifier_get_a_warning",
    ),
    plain(
        "_fitting/lengths.py",
        "were_cut",
        "chains that ended by themselves are told to raise max_draws",
        "automatic and n_draws >= max_draws",
        "automatic",
        "_fitting/test_lengths.py::test_advice_is_about_what_ended_the_chains",
    ),
    plain(
        "_estimators/suspicious_columns.py",
        "_judge_text",
        "categories that occur twice are identifiers",
        "different <= len(words) / 2",
        "different <= len(words) / 20",
        f"{SUSPICIOUS}test_data",
    ),
    plain(
        "_estimators/suspicious_columns.py",
        "_judge_integers",
        "names of columns say nothing",
        "if _is_called_identifier(name) or max",
        "if max",
        f"{SUSPICIOUS}test_integers_that_are_called_identifiers",
    ),
    plain(
        "_estimators/reading.py",
        "ReadsRows._read_rows",
        "likelihoods that were named do not keep a column",
        "if likelihood.is_automatic:",
        "if True:",
        f"{READING}test_an_explicit_likelihood_keeps_a_column_that_looks_like_an_identifier",
    ),
    plain(
        "_estimators/reading.py",
        "ReadsRows._new_table",
        "new codes are an error in any case",
        "likelihood.known(self._fitted.bound, constants.cut(rows))",
        "constants.cut(rows)",
        f"{READING}test_new_codes_are_missing_on_request",
    ),
    plain(
        "_estimators/encoding.py",
        "Encoding._codes",
        "new words are always missing",
        "elif not unknown:",
        "elif False:",
        f"{READING}test_new_categories_are_missing_on_request",
    ),
    plain(
        "likelihoods/mixed/columns.py",
        "Columns.known",
        "new codes of mixed columns are an error in any case",
        "X[:, own] = part.known(b, X[:, own])",
        "part.known(b, X[:, own])",
        f"{READING}test_codes_of_parts_are_known_by_part",
    ),
    plain(
        "_estimators/base.py",
        "Sampled._unchanged_by_errors",
        "a refit that fails spoils the earlier fit",
        "                self.__dict__.update(before)\n",
        "",
        f"{READING}test_a_refit_that_fails_keeps_the_earlier_fit",
    ),
    plain(
        "_estimators/base.py",
        "Sampled.__getattr__",
        "the reason for a missing method stays hidden",
        "raise error.__cause__ from None",
        "raise",
        "_estimators/test_mistakes_calls.py::test_attributes",
    ),
    plain(
        "_fitting/searches.py",
        "is_new",
        "each fit of a search warns",
        "    known.add(text)\n",
        "",
        "_fitting/test_searches.py::test_a_grid_of_nine_says_it_once_and_the_refit_once",
    ),
    plain(
        "_fitting/searches.py",
        "_said_before",
        "a second search is silent",
        "return said.setdefault(owner, set())",
        "return said_elsewhere",
        "_fitting/test_searches.py::test_each_search_says_it",
    ),
    plain(
        "_fitting/checkpoint_contents.py",
        "check_labels",
        "labels of a checkpoint may have gaps",
        "bool(np.bincount(row.astype(np.intp)).all())",
        "True",
        f"{CONTENTS}test_foreign_labels",
    ),
    plain(
        "_fitting/checkpoint_contents.py",
        "check_labels",
        "labels of a checkpoint may be negative",
        "0 <= row.min() and row.max()",
        "row.max()",
        f"{CONTENTS}test_foreign_labels",
    ),
    plain(
        "_fitting/checkpoint_contents.py",
        "_is_count",
        "iterations of a checkpoint may be fractions",
        "return isinstance(value, int) and",
        "return isinstance(value, (int, float)) and",
        f"{CONTENTS}test_foreign_values",
    ),
    plain(
        "_fitting/rounds.py",
        "run_chains",
        "lost workers lose the chains at home",
        "                after_loss(chains)\n",
        "",
        "_fitting/test_checkpoint.py::"
        "test_a_dead_scheduler_is_an_error_of_one_sentence_and_its_chains_are_saved",
    ),
    plain(
        "_fitting/wild_values.py",
        "check_reach",
        "rows of 1e300 are added to particles",
        "if len(beyond):",
        "if False:",
        "_fitting/test_wild_values.py::test_new_rows_out_of_all_reach_are_refused",
    ),
    plain(
        "partitions/lazy_coclustering.py",
        "LazyCoclustering.__getitem__",
        "two index arrays make a block",
        "return self._paired(rows, columns)",
        "return self._paired(np.reshape(rows, (-1, 1)), columns)",
        ENTRIES,
    ),
    plain(
        "_estimators/digits.py",
        "short",
        "-999.7 is -1000",
        "rounded_up = abs(x) < 10**digits",
        "rounded_up = False",
        "_estimators/test_digits.py",
    ),
    plain(
        "_estimators/column_names.py",
        "difference",
        "further columns of new rows have no sentence",
        "    if extra:\n",
        "    if False:\n",
        "_estimators/test_column_names.py",
    ),
    plain(
        "_core/components.py",
        "_parameters",
        "classes without a constructor take any parameter",
        "return [], True",
        "return None, False",
        "_core/test_components.py",
    ),
    plain(
        "_predict/leave_one_out.py",
        "strangeness",
        "rows without any value are not strange",
        "result[own] = np.nan",
        "result[own] = 0.0",
        "_predict/test_leave_one_out.py::test_strangeness_is_a_tail_of_the_predictive",
    ),
    plain(
        "diagnostics/verdict.py",
        "Evidence.enough",
        "the advised number of draws is that of further ones",
        "n_draws = self.posterior.n_draws + more",
        "n_draws = more",
        "diagnostics/test_chains.py::test_the_command_line_advises_the_option_that_counts",
    ),
]

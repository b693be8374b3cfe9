"""Bugs of what keeps the house in order: cached code, messages, the record of a fit."""

from __future__ import annotations

from tests.mutants import Mutant

JIT = "_core/test_jit.py::"
SOURCES = "_core/test_sources.py::"
NAMES = f"{SOURCES}test_names_lead_to_the_files_that_define_them"
MESSAGES = "_core/test_messages.py::"
RULES = "package/test_architecture.py::"
ONCE = f"{RULES}test_a_component_is_resolved_once_per_fit"

HOUSE = [
    Mutant(
        "_core/jit.py",
        "sources_of_class",
        "files that register an operation for another class do not count",
        "if cls in operation.implementations:",
        "if False:",
        f"{JIT}test_a_file_that_registers_an_operation_for_another_class_counts",
        compiled=True,
    ),
    Mutant(
        "_core/jit.py",
        "reach",
        "the classes in a signature do not count",
        "found |= known",
        "pass",
        f"{JIT}test_outside_likelihoods_are_cached_until_their_file_changes",
        compiled=True,
    ),
    Mutant(
        "_core/jit.py",
        "_enter",
        "calls within compilations go unseen",
        "ENTERED is not None and _COMPILING",
        "False",
        f"{JIT}test_what_enters_a_compilation_is_recorded",
        compiled=True,
    ),
    Mutant(
        "_core/jit.py",
        "prune",
        "older versions stay on disk",
        "if old or gone or",
        "if gone or",
        f"{JIT}test_an_edit_recompiles_what_can_reach_it_and_removes_what_is_stale",
        compiled=True,
    ),
    Mutant(
        "_core/jit.py",
        "prune",
        "files of functions that are gone stay on disk",
        "not in kernels)",
        "in [])",
        f"{JIT}test_an_edit_recompiles_what_can_reach_it_and_removes_what_is_stale",
        compiled=True,
    ),
    Mutant(
        "_core/sources.py",
        "closure",
        "what is imported by what is imported does not count",
        "waiting.append(new)",
        "pass",
        NAMES,
    ),
    Mutant(
        "_core/sources.py",
        "_definers",
        "names that come with a star are not found",
        'elif entry.name == "*":',
        "elif False:",
        NAMES,
    ),
    Mutant(
        "_core/sources.py",
        "_file_of",
        "installed packages count",
        "return file if own or not any(",
        "return file if True or not any(",
        NAMES,
    ),
    Mutant(
        "_core/sources.py",
        "digest",
        "a file counts as often as it is named",
        "set(files)",
        "list(files)",
        f"{SOURCES}test_the_order_of_files_changes_no_digest",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "digest_of_code",
        "checkpoints do not depend on prior and sampler",
        "*map(type, components)",
        "",
        f"{SOURCES}test_the_digest_of_a_fit_follows_its_components",
    ),
    Mutant(
        "_core/messages.py",
        "in_shell_words",
        "errors are said in the words of Python",
        "message = message.args[0]",
        "message = str(message)",
        f"{MESSAGES}test_errors_and_warnings_keep_the_words_of_the_shell",
    ),
    Mutant(
        "_core/messages.py",
        "Message.__new__",
        "messages within messages forget the shell",
        "map(in_shell_words, parts)",
        "text",
        f"{MESSAGES}test_messages_are_made_of_messages_and_survive_pickling",
    ),
    Mutant(
        "_core/messages.py",
        "setting",
        "options are called like parameters",
        "{parameter(name).shell} {value}",
        "--{name} {value}",
        f"{MESSAGES}test_actions_have_words_for_python_and_for_the_shell",
    ),
    Mutant(
        "likelihoods/network/adjacency.py",
        "as_graph",
        "a network is parsed again",
        "if isinstance(A, Graph):",
        "if False:",
        f"{RULES}test_a_network_is_parsed_once_per_fit",
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "Columns._likelihoods",
        "parts are resolved again",
        "if self._is_resolved:",
        "if False:",
        ONCE,
    ),
    Mutant(
        "likelihoods/mixed/columns.py",
        "Columns._numbered_parts",
        "columns are numbered again",
        "self if self._is_resolved else",
        "self if False else",
        ONCE,
    ),
    Mutant(
        "evidence.py",
        "bayes_factor",
        "models of other rows are compared",
        "(rows_a != rows_b).any()",
        "False",
        "_fitting/test_smc_runs.py::test_bayes_factors_need_evidences_of_the_same_rows",
    ),
    Mutant(
        "likelihoods/gaussian/niw_general.py",
        "_log_weight_bound",
        "the bound reads a third column of two",
        "if len(lik.prior_mean) < 3:",
        "if False:",
        "likelihoods/gaussian/test_niw_imputed.py::test_complete_rows_of_two_columns_have_no_bound",
    ),
    Mutant(
        "_core/stable_distributions.py",
        "log_level",
        "a bound that underflows accepts everything",
        "math.log(level) + log_one + log_one_plus_exp(log_other - log_one)",
        "-math.inf + 0.0 * math.log(0.0 * level)",
        "_core/test_stable_distributions.py::test_masses_of_any_magnitude_give_shares[0.8]",
    ),
]

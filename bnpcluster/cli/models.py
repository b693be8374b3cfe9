"""Make the model that the options describe, and fit it."""

from __future__ import annotations

import secrets
import sys
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from bnpcluster._core.messages import ColumnsWarning, in_shell_words, with_columns
from bnpcluster._estimators.base import Sampled
from bnpcluster._estimators.mixture import Mixture
from bnpcluster.cli.files import Folder
from bnpcluster.cli.results import write_results
from bnpcluster.cli.rows import Rows
from bnpcluster.cli.usage import DISAGREE, DONE, INTERRUPTED, print_message, print_result
from bnpcluster.cli.values import parse_value
from bnpcluster.likelihoods import LIKELIHOODS
from bnpcluster.mixtures import PRESETS
from bnpcluster.relational import InfiniteRelationalModel


def build_model(options: SimpleNamespace) -> Mixture:
    """The mixture that the options describe."""
    model = PRESETS[options.prior]
    settings = _settings(options, model)
    if hasattr(options, "hyper"):
        pairs = (text.partition("=") for text in options.hyper)
        values = {name: parse_value(value) for name, _, value in pairs}
        settings["likelihood"] = LIKELIHOODS[getattr(options, "likelihood", "niw")](**values)
    return model(**settings)


def build_network_model(options: SimpleNamespace) -> InfiniteRelationalModel:
    """The model of a network that the options describe."""
    return InfiniteRelationalModel(**_settings(options, InfiniteRelationalModel))


def _settings(options: SimpleNamespace, model: Any) -> dict[str, Any]:
    """The parameters of a model among the options."""
    known = model._get_param_names()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    settings = {name: value for name, value in vars(options).items() if name in known}
    return {**settings, "random_state": seed, "verbose": int(shows_progress(options.quiet))}


def shows_progress(quiet: bool) -> bool:
    """Whether to show progress: only to somebody who looks at a terminal."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


def fit_model(model: Any, X: Any, names: Sequence[str] = ()) -> bool:
    """Fit a model, print its warnings, and return whether one is about convergence."""
    with warnings.catch_warnings(record=True) as caught, with_columns(names or None):
        warnings.simplefilter("default")
        model.fit(X)
    print_warnings([warning.message for warning in caught], names)
    return any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def print_warnings(said: Sequence[Any], names: Sequence[str] = ()) -> None:
    """Print warnings in words of the shell, each once."""
    renamed = [w.renamed(names) if isinstance(w, ColumnsWarning) else w for w in said]
    for sentence in dict.fromkeys(map(in_shell_words, renamed)):
        print_message(sentence)


def finish(
    options: SimpleNamespace,
    folder: Folder,
    model: Sampled,
    named: Any,
    rows: Rows,
    files: Sequence[str],
    doubtful: bool,
) -> int:
    """Write the files, print the report, and return the exit status."""
    facts = {"table": options.table, "seed": str(model.random_state)}
    write_results(folder, model, named, rows, facts)
    if not options.quiet:
        print_result(f"{named.report().in_shell_words()}\n\nIn {options.out}: {', '.join(files)}")
    if model.interrupted_:
        return INTERRUPTED
    return DISAGREE if doubtful else DONE

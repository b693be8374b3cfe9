"""The command line: `bnpcluster fit table.csv --out results/`."""

from __future__ import annotations

import argparse
import secrets
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bnpcluster._core.descriptions import parameters
from bnpcluster._core.messages import in_shell_words, with_columns
from bnpcluster._estimators.mixture import Mixture
from bnpcluster._version import __version__
from bnpcluster.cli import read, write
from bnpcluster.likelihoods import LIKELIHOODS, PyClone
from bnpcluster.likelihoods.pyclone.tables import COLUMNS, index_rows
from bnpcluster.mixtures import PRESETS, BNPMixture
from bnpcluster.priors import PRIORS
from bnpcluster.pyclone import prevalences
from bnpcluster.samplers import SAMPLERS

DONE, WRONG, DISAGREE, INTERRUPTED = 0, 2, 3, 130
EXIT_STATUS = """\
exit status:
  0    the files are written, and nothing speaks against the result
  2    wrong usage, data or output folder, said in one sentence
  3    the files are written, but the chains disagree or were too short, as the report says
  130  interrupted by Ctrl-C; what had been drawn by then is written
"""
MUTATIONS = "mutations.tsv"
OF_ROWS = [name for name in LIKELIHOODS if name != "pyclone"]
CODED = {"categorical": "all", "columns": "text"}
"""Which columns of a table may hold words, by likelihood."""
EXAMPLES = {"n_components_prior": ": gnedin, poisson,1.0 or geometric,0.1"}
"""What a parameter of a prior looks like at the command line, where that is not a number."""
READS = {
    "n_grid": (int, "points of the grid of prevalences (101)"),
    "density": (str, "binomial or beta_binomial; binomial by default"),
    "genotypes": (str, "which are probable, given the copy numbers (major_copy_number)"),
    "error_rate": (float, "chance that a read shows the wrong allele (0.001)"),
    "precision": (float, "of the beta-binomial law; the smaller, the more scatter (200)"),
}


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say it, and leave."""
        self.exit(WRONG, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `bnpcluster`; those of the process by default.

    Returns
    -------
    int
        0 if all is well, 2 after wrong usage or data, 3 if the chains disagree, 130 after Ctrl-C.

    Examples
    --------
    >>> from bnpcluster.cli import main
    >>> main(["fit", "no_such_table.csv", "--out", "results"])
    2
    """
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except KeyboardInterrupt:
        say("interrupted before everything could be written.")
        return INTERRUPTED
    except OSError as error:
        say(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (ImportError, TypeError, ValueError) as error:
        say(" ".join(in_shell_words(error).split()))
    return WRONG


def say(sentence: str) -> None:
    """Print a sentence to the standard error stream."""
    print(f"bnpcluster: {sentence}", file=sys.stderr, flush=True)


def parser() -> Parser:
    """The commands and their options."""
    result = Parser(
        prog="bnpcluster",
        description="Bayesian nonparametric clustering of the rows of a table.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--version", action="version", version=__version__)
    commands = result.add_subparsers(required=True, metavar="COMMAND")
    command = _add_command(commands, "fit", "cluster the rows of a table", fit)
    group = command.add_argument_group("data")
    group.add_argument(
        "--id-column", default=None, metavar="NAME", help="names of the rows; not clustered"
    )
    group.add_argument(
        "--columns", default=None, metavar="A,B,...", help="columns to cluster by; all by default"
    )
    group.add_argument(
        "--likelihood", metavar="NAME", help=f"{', '.join(OF_ROWS)} (mixed); niw by default"
    )
    command = _add_command(commands, "pyclone", "cluster mutations by their prevalence", pyclone)
    group = command.add_argument_group("reads")
    for name, (kind, text) in READS.items():
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="VALUE", help=text)
    return result


def _add_command(commands: Any, name: str, text: str, run: Callable) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=text,
        description=f"{text.capitalize()}: labels, probabilities, draws and a report.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,  # what is not said is left to the model
    )
    command.set_defaults(command=run)
    _add_files(command)
    _add_model(command)
    _add_run(command)
    return command


def _add_files(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("files")
    group.add_argument(
        "table", type=Path, help="CSV, TSV or Parquet; the first line names the columns"
    )
    group.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where the results go"
    )
    group.add_argument(
        "--force", action="store_true", default=False, help="replace results that are there"
    )


def _add_model(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("model")
    group.add_argument(
        "--prior", default="dp", metavar="NAME", help=f"{', '.join(PRIORS)}; dp by default"
    )
    for name, text in prior_parameters().items():
        group.add_argument(f"--{name.replace('_', '-')}", type=value, metavar="VALUE", help=text)
    group.add_argument("--point-estimate", metavar="NAME", help="vi, binder or map; vi by default")


def _add_run(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("run")
    group.add_argument(
        "--sampler", metavar="NAME", help=f"{', '.join(SAMPLERS)}; split_merge by default"
    )
    counts = {
        "particles": "of samplers that have them",
        "draws": "kept draws per chain (500)",
        "warmup": "iterations before them (500)",
        "chains": "independent chains (4)",
    }
    for name, text in counts.items():
        group.add_argument(f"--{name}", dest=f"n_{name}", type=int, metavar="N", help=text)
    group.add_argument("--thin", type=int, metavar="N", help="iterations per kept draw (1)")
    group.add_argument(
        "--jobs", dest="n_jobs", type=int, metavar="N", help="chains at once; changes no result"
    )
    group.add_argument("--init", metavar="NAME", help="where chains start (auto)")
    group.add_argument(
        "--seed", type=int, default=None, metavar="N", help="makes the run repeatable"
    )
    group.add_argument(
        "--max-time", type=float, metavar="SECONDS", help="of sampling; what is drawn then is kept"
    )
    group.add_argument(
        "--checkpoint", metavar="FOLDER", help="keeps the chains; the same command and --seed go on"
    )
    group.add_argument(
        "--quiet", action="store_true", default=False, help="neither progress nor summary"
    )


def value(text: str) -> Any:
    """A number, a word, or a tuple of them: `0.5`, `auto`, `1,0.1`."""
    parts = tuple(_number_or_word(part.strip()) for part in text.split(","))
    return parts[0] if len(parts) == 1 else parts


def _number_or_word(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def fit(options: argparse.Namespace) -> int:
    """Cluster the rows of a table."""
    model = build(options)
    chosen = [name.strip() for name in options.columns.split(",")] if options.columns else []
    if model.likelihood == "pyclone":
        raise ValueError("mutations have a command of their own, bnpcluster pyclone.")
    coded = CODED.get(model.likelihood, "none")
    table = read.read_table(options.table)
    rows = read.chosen_rows(table, options.table.name, options.id_column, chosen, coded)
    if model.likelihood == "columns":
        model.set_params(likelihood=read.likelihoods(rows))
    write.prepare(options.out, write.FILES, options.force)
    with with_columns(list(rows.columns)):
        doubtful = _fitted(model, np.column_stack(list(rows.columns.values())))
    _written(options, model, rows)
    return _status(model, doubtful)


def pyclone(options: argparse.Namespace) -> int:
    """Cluster the mutations of a tidy table of read counts."""
    law = PyClone(**{name: v for name, v in vars(options).items() if name in READS})
    if "precision" in options and law.density != "beta_binomial":
        raise ValueError("--precision is of --density beta_binomial; binomial reads have none.")
    model = build(options).set_params(likelihood=law)
    table = read.Frame.of(read.read_table(options.table), (*COLUMNS, "error_rate"))
    index_rows(table)  # whether it names mutations and samples
    write.prepare(options.out, (*write.FILES, MUTATIONS), options.force)
    doubtful = _fitted(model, table)
    found = prevalences(model, table)
    write.write_csv(options.out / MUTATIONS, found.columns, found.rows(), "\t")
    at = index_rows(table)
    means = {
        f"prevalence in {sample}": write.spread(
            found["cellular_prevalence"], at.mutation, at.sample == s
        )
        for s, sample in enumerate(at.samples)
    }
    rows = read.Rows("mutation_id", at.mutations.tolist(), means, {})
    _written(options, model, rows, MUTATIONS)
    return _status(model, doubtful)


def _fitted(model: Mixture, X: Any) -> bool:
    """Fit, and say in a sentence each what the model warns of; whether it doubts its chains."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model.fit(X)
    for sentence in dict.fromkeys(in_shell_words(warning.message) for warning in caught):
        say(sentence)
    return any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _status(model: Mixture, doubtful: bool) -> int:
    """The exit status of a fit whose files are written."""
    if model.interrupted_:
        return INTERRUPTED
    return DISAGREE if doubtful else DONE


def _written(options: argparse.Namespace, model: Mixture, rows: read.Rows, *more: str) -> None:
    """Write the files, and print the report."""
    facts = {"table": options.table.name, "seed": str(model.random_state)}
    write.write(options.out, model, rows, facts)
    if not options.quiet:
        print(model.report().in_shell_words())
        names = ", ".join([*write.FILES, *more])
        print(f"\nSeed {model.random_state}. In {options.out}: {names}")


def build(options: argparse.Namespace) -> Mixture:
    """The model that the options describe."""
    seed = secrets.randbits(32) if options.seed is None else options.seed
    if options.prior not in PRIORS:
        raise ValueError(f"Unknown prior {options.prior!r}. Available: {', '.join(PRIORS)}.")
    model, own = PRESETS.get(options.prior, BNPMixture), PRIORS[options.prior]._get_param_names()
    given = vars(options)
    of_priors = {name: given[name] for name in prior_parameters() if name in given}
    foreign = [name for name in of_priors if name not in own]
    if foreign:
        raise ValueError(f"--{foreign[0].replace('_', '-')} is no parameter of {options.prior}.")
    settings = {name: v for name, v in given.items() if name in model._get_param_names()}
    if model is BNPMixture:  # a prior without a mixture of its own
        settings["prior"] = PRIORS[options.prior](**of_priors)
    return model(**settings, random_state=seed, verbose=int(not options.quiet))


def prior_parameters() -> dict[str, str]:
    """The parameters of all priors, with a help text."""
    found: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for name, cls in PRIORS.items():
        for parameter, sentence in parameters(cls).items():
            found.setdefault(parameter, []).append(name)
            said.setdefault(parameter, sentence + EXAMPLES.get(parameter, ""))
    return {name: f"{said[name]} ({', '.join(priors)})" for name, priors in found.items()}

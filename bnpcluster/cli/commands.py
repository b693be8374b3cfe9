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
from bnpcluster._core.messages import ColumnsWarning, in_shell_words, with_columns
from bnpcluster._estimators.mixture import Mixture
from bnpcluster._version import __version__
from bnpcluster.cli import read, write
from bnpcluster.cli.page import with_names
from bnpcluster.likelihoods import LIKELIHOODS, Likelihood, PyClone
from bnpcluster.likelihoods.pyclone.tables import COLUMNS, index_rows
from bnpcluster.mixtures import PRESETS, BNPMixture
from bnpcluster.priors import PRIORS
from bnpcluster.pyclone import prevalences
from bnpcluster.samplers import SAMPLERS

DONE, WRONG, DISAGREE, INTERRUPTED = 0, 2, 3, 130
EXIT_STATUS = """\
exit status:
  0    the files were written, and no problem was found
  2    wrong usage, data or output folder; one sentence says what is wrong
  3    the files were written, but the chains disagree or were too short; see the report
  130  interrupted by Ctrl-C; the draws made so far were written
"""
MUTATIONS = "mutations.tsv"
ROW_LIKELIHOODS = [name for name in LIKELIHOODS if name != "pyclone"]
WORD_COLUMNS = {"categorical": "all", "columns": "text"}
"""Which columns of a table may contain words, by likelihood."""
EXAMPLES = {"n_components_prior": ": gnedin, poisson,1.0 or geometric,0.1"}
"""How to write a parameter of a prior on the command line if it is not a number."""
READS = {
    "n_grid": (int, "number of grid points for the prevalence (101)"),
    "density": (str, "binomial or beta_binomial; binomial by default"),
    "genotypes": (str, "which genotypes to consider, given the copy numbers (major_copy_number)"),
    "error_rate": (float, "probability that a read shows the wrong allele (0.001)"),
    "precision": (float, "precision of beta_binomial; smaller values allow more scatter (200)"),
}


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        self.exit(WRONG, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `bnpcluster`. By default, those of the current process.

    Returns
    -------
    int
        0 on success, 2 after wrong usage or data, 3 if the chains disagree, 130 after Ctrl-C.

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
        print_message("interrupted before all files were written.")
        return INTERRUPTED
    except OSError as error:
        print_message(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (ImportError, TypeError, ValueError) as error:
        print_message(" ".join(in_shell_words(error).split()))
    return WRONG


def print_message(sentence: str) -> None:
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
        "--id-column",
        default=None,
        metavar="NAME",
        help="column with the names of the rows; not clustered",
    )
    group.add_argument(
        "--columns", default=None, metavar="A,B,...", help="columns to cluster by (all)"
    )
    group.add_argument(
        "--likelihood", metavar="NAME", help=f"{', '.join(ROW_LIKELIHOODS)} (mixed); niw by default"
    )
    group.add_argument(
        "--hyper",
        action="append",
        metavar="NAME=VALUE",
        help="hyper-parameter of the likelihood: auto (learned where possible), data (a guess from "
        "the data), a number, or shape,rate of a gamma hyper-prior; may be repeated",
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
        argument_default=argparse.SUPPRESS,  # the model has the defaults
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
        "--out", type=Path, required=True, metavar="FOLDER", help="folder for the results"
    )
    group.add_argument(
        "--force", action="store_true", default=False, help="replace existing results"
    )


def _add_model(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("model")
    group.add_argument(
        "--prior", default="dp", metavar="NAME", help=f"{', '.join(PRIORS)}; dp by default"
    )
    for name, text in prior_parameters().items():
        group.add_argument(
            f"--{name.replace('_', '-')}", type=parse_value, metavar="VALUE", help=text
        )
    _add_clusters(command.add_argument_group("clusters"))


def _add_clusters(group: Any) -> None:
    add = group.add_argument
    add(
        "--point-estimate",
        type=parse_value,
        metavar="NAME",
        help="vi, binder or map; with a cost of separating rows, such as vi,1.5 (the default): "
        "above 1, there are fewer clusters",
    )
    add(
        "--merge",
        type=parse_value,
        metavar="OVERLAP",
        help="join components that overlap by at least this to clusters: a number between 0 and 1, "
        "or auto (0.05)",
    )
    add("--max-clusters", type=int, metavar="N", help="join components until there are at most N")
    add("--min-cluster-size", type=int, metavar="N", help="rows of smaller clusters get label -1")


def _length(text: str) -> int | str:
    """A number of iterations, or "auto"."""
    try:
        return "auto" if text == "auto" else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor auto") from error


def _add_run(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("run")
    group.add_argument(
        "--sampler", metavar="NAME", help=f"{', '.join(SAMPLERS)}; split_merge by default"
    )
    lengths = {
        "draws": "kept draws per chain, or auto (the default): until the chains agree",
        "warmup": "discarded iterations at the start of each chain, or auto (the default)",
    }
    for name, text in lengths.items():
        group.add_argument(f"--{name}", dest=f"n_{name}", type=_length, metavar="N", help=text)
    counts = {
        "particles": "number of particles, for samplers that have them",
        "chains": "number of independent chains (4)",
    }
    for name, text in counts.items():
        group.add_argument(f"--{name}", dest=f"n_{name}", type=int, metavar="N", help=text)
    group.add_argument(
        "--max-draws", type=int, metavar="N", help="most draws per chain under auto (1000)"
    )
    group.add_argument("--thin", type=int, metavar="N", help="iterations per kept draw (1)")
    group.add_argument(
        "--jobs",
        dest="n_jobs",
        type=int,
        metavar="N",
        help="chains that run in parallel; no result depends on it",
    )
    group.add_argument("--init", metavar="NAME", help="how chains are initialised (auto)")
    group.add_argument(
        "--seed", type=int, default=None, metavar="N", help="makes the run reproducible"
    )
    group.add_argument(
        "--max-time",
        type=float,
        metavar="SECONDS",
        help="time limit for sampling; the draws made until then are kept",
    )
    group.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="folder to save the chains in; the same command with the same --seed resumes",
    )
    group.add_argument(
        "--quiet", action="store_true", default=False, help="print no progress and no summary"
    )


def with_hyper(name: Any, given: list[str]) -> Likelihood:
    """The likelihood with the hyper-parameters of the options --hyper."""
    if name not in ROW_LIKELIHOODS or name == "columns":
        raise ValueError("--hyper needs a --likelihood other than columns.")
    cls, values = LIKELIHOODS[name], {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or key not in cls.learnable:
            raise ValueError(
                f"--hyper {text}: write NAME=VALUE with one of {', '.join(cls.learnable)}."
            )
        values[key] = parse_value(value)
    return cls(**values)


def parse_value(text: str) -> Any:
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
    model = build_model(options)
    chosen = [name.strip() for name in options.columns.split(",")] if options.columns else []
    if model.likelihood == "pyclone":
        raise ValueError("This command does not cluster mutations: use bnpcluster pyclone.")
    coded = WORD_COLUMNS.get(model.likelihood, "none")
    table = read.read_table(options.table)
    rows = read.select_rows(table, options.table.name, options.id_column, chosen, coded)
    if model.likelihood == "columns":
        model.set_params(likelihood=read.column_likelihoods(rows))
    if "hyper" in options:
        model.set_params(likelihood=with_hyper(model.likelihood, options.hyper))
    write.prepare_folder(options.out, write.FILES, options.force)
    names = list(rows.columns)
    with with_columns(names):
        doubtful = _fit_model(model, np.column_stack(list(rows.columns.values())), names)
    _save_and_print(options, with_names(model, names), rows)
    return _exit_status(model, doubtful)


def pyclone(options: argparse.Namespace) -> int:
    """Cluster the mutations of a tidy table of read counts."""
    likelihood = PyClone(**{name: v for name, v in vars(options).items() if name in READS})
    if "precision" in options and likelihood.density != "beta_binomial":
        raise ValueError(
            "--precision applies only to beta_binomial reads: add --density beta_binomial."
        )
    model = build_model(options).set_params(likelihood=likelihood)
    table = read.Frame.of(read.read_table(options.table), (*COLUMNS, "error_rate"))
    index_rows(table)  # raises an error if mutations or samples are not named
    write.prepare_folder(options.out, (*write.FILES, MUTATIONS), options.force)
    doubtful = _fit_model(model, table)
    found = prevalences(model, table)
    write.write_csv(options.out / MUTATIONS, found.columns, found.rows(), "\t")
    at = index_rows(table)
    means = {
        f"prevalence in {sample}": write.aligned(
            found["cellular_prevalence"], at.mutation, at.sample == s
        )
        for s, sample in enumerate(at.samples)
    }
    rows = read.Rows("mutation_id", at.mutations.tolist(), means, {})
    _save_and_print(options, model, rows, MUTATIONS)
    return _exit_status(model, doubtful)


def _fit_model(model: Mixture, X: Any, names: Sequence[str] = ()) -> bool:
    """Fit the model, print its warnings, and return whether one is about convergence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model.fit(X)
    said = [warning.message for warning in caught]
    said = [w.renamed(names) if isinstance(w, ColumnsWarning) else w for w in said]
    for sentence in dict.fromkeys(map(in_shell_words, said)):
        print_message(sentence)
    return any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _exit_status(model: Mixture, doubtful: bool) -> int:
    """The exit status after the files of a fit were written."""
    if model.interrupted_:
        return INTERRUPTED
    return DISAGREE if doubtful else DONE


def _save_and_print(
    options: argparse.Namespace, model: Mixture, rows: read.Rows, *more: str
) -> None:
    """Write the files and print the report."""
    facts = {"table": options.table.name, "seed": str(model.random_state)}
    write.write_results(options.out, model, rows, facts)
    if not options.quiet:
        print(model.report().in_shell_words())
        names = ", ".join([*write.FILES, *more])
        print(f"\nSeed {model.random_state}. In {options.out}: {names}")


def build_model(options: argparse.Namespace) -> Mixture:
    """The model that the options describe."""
    seed = secrets.randbits(32) if options.seed is None else options.seed
    if options.prior not in PRIORS:
        raise ValueError(f"Unknown prior {options.prior!r}. Available: {', '.join(PRIORS)}.")
    model, own = PRESETS.get(options.prior, BNPMixture), PRIORS[options.prior]._get_param_names()
    given = vars(options)
    given_to_prior = {name: given[name] for name in prior_parameters() if name in given}
    foreign = [name for name in given_to_prior if name not in own]
    if foreign:
        raise ValueError(
            f"--{foreign[0].replace('_', '-')} is not a parameter of prior {options.prior!r}."
        )
    settings = {name: v for name, v in given.items() if name in model._get_param_names()}
    if model is BNPMixture:  # there is no preset for this prior
        settings["prior"] = PRIORS[options.prior](**given_to_prior)
    return model(**settings, random_state=seed, verbose=int(not options.quiet))


def prior_parameters() -> dict[str, str]:
    """The parameters of all priors, with their help texts."""
    users: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name, cls in PRIORS.items():
        for parameter, sentence in parameters(cls).items():
            users.setdefault(parameter, []).append(name)
            texts.setdefault(parameter, sentence + EXAMPLES.get(parameter, ""))
    return {name: f"{texts[name]} ({', '.join(priors)})" for name, priors in users.items()}

"""The commands and their options."""

from __future__ import annotations

from bnpcluster.cli import names, values
from bnpcluster.cli.usage import Command, Option

DESCRIPTION = "Bayesian nonparametric clustering: a table in, files out."
TABLE = "CSV, TSV (also .gz), Parquet or .h5ad; the first line of text names the columns"

OUT = Option("--out", "folder for the results", "FOLDER", values.path)
FORCE = Option("--force", "replace existing results", default=False)
QUOTE = Option(
    "--quote-formulas",
    "put a quote before text that begins with =, +, - or @, which spreadsheets take for a formula",
    default=False,
)
QUIET = Option("--quiet", "print no progress and no summary", default=False)
READING = [
    Option(
        "--sep",
        "what separates columns: a character, or comma, semicolon, tab, pipe or blanks (found out)",
        "MARK",
        values.separator,
        None,
    ),
    Option("--decimal", "the decimal mark of numbers (a point)", "MARK", values.mark, "."),
    Option("--thousands", "the mark between groups of digits (none)", "MARK", values.mark, ""),
    Option(
        "--missing",
        "further words or numbers that mark a missing value, such as -999 or ?; may be repeated",
        "WORD,...",
        values.several,
        [],
        is_list=True,
    ),
    Option(
        "--header",
        "yes or no: whether the first line names the columns (found out)",
        "WORD",
        values.one_of("header", ("yes", "no")),
        None,
    ),
]
ID_COLUMN = Option(
    "--id-column", "column with the names of the rows; not clustered", "NAME", default=None
)
SAVE = Option("--save-model", "write model.joblib, for bnpcluster predict", default=False)
ROWS = [
    ID_COLUMN,
    Option("--columns", "columns to cluster by (all)", "A,B,...", values.listed, []),
    Option(
        "--likelihood",
        f"{', '.join(names.LIKELIHOODS)} (mixed); niw by default",
        "NAME",
    ),
    Option(
        "--hyper",
        "hyper-parameter of the likelihood: auto (learned where possible), data (a guess from "
        "the data), a number, or shape,rate of a gamma hyper-prior; may be repeated",
        "NAME=VALUE",
        is_list=True,
    ),
]
PRIOR = [
    Option(
        "--prior",
        f"{', '.join(names.PRIORS)}; dp by default",
        "NAME",
        values.one_of("prior", tuple(names.PRIORS)),
        "dp",
    ),
    *(
        Option(f"--{name.replace('_', '-')}", text, "VALUE", values.anything)
        for name, text in names.prior_parameters().items()
    ),
]
ESTIMATE = Option(
    "--point-estimate",
    "vi, binder or map; with a cost of separating rows, such as vi,1.5: above 1, there are fewer "
    "clusters",
    "NAME",
    values.anything,
)
SMALLEST = Option(
    "--min-cluster-size", "rows of smaller clusters get label -1", "N", values.count(1)
)
CLUSTERS = [
    ESTIMATE,
    Option(
        "--merge",
        "join components that overlap by at least this to clusters: a number between 0 and 1, or "
        "auto (0.05)",
        "OVERLAP",
        values.overlap,
    ),
    Option("--max-clusters", "join components until there are at most N", "N", values.count(1)),
    SMALLEST,
]
READS = [
    Option("--n-grid", "number of grid points for the prevalence (101)", "N", values.count(2)),
    Option(
        "--density",
        "binomial or beta_binomial; binomial by default",
        "NAME",
        values.one_of("density", ("binomial", "beta_binomial")),
    ),
    Option(
        "--genotypes",
        "which genotypes to consider, given the copy numbers (major_copy_number)",
        "NAME",
    ),
    Option(
        "--error-rate",
        "probability that a read shows the wrong allele (0.001)",
        "VALUE",
        values.number,
    ),
    Option(
        "--precision",
        "precision of beta_binomial; smaller values allow more scatter (200)",
        "VALUE",
        values.positive,
    ),
]
PARTICLES = Option(
    "--particles",
    "number of particles, for samplers that have them",
    "N",
    values.count(1),
    field="n_particles",
)
LINKS = [
    Option("--from", "column of the first ends of links (found by name)", "NAME", field="start"),
    Option("--to", "column of the second ends of links (found by name)", "NAME", field="end"),
    Option(
        "--weight",
        "column with 1 for a link and 0 for a pair that was observed not to link; empty: unknown",
        "NAME",
    ),
    Option("--threshold", "take weights of at least this for links", "X", values.number),
    Option("--directed", "links have a direction", default=False),
]
NETWORK = [
    Option(
        "--alpha", "concentration: larger values expect more clusters", "VALUE", values.anything
    ),
    Option("--beta", "the beta prior of the chance of a link (1,1)", "A,B", values.anything),
]


def _lengths(samplers: tuple[str, ...]) -> list[Option]:
    """The options about how many chains there are, and how long."""
    return [
        Option(
            "--draws",
            "kept draws per chain, or auto (the default): until the chains agree",
            "N",
            values.count(1, "auto"),
            field="n_draws",
        ),
        Option(
            "--warmup",
            "discarded iterations at the start of each chain, or auto (the default)",
            "N",
            values.count(0, "auto"),
            field="n_warmup",
        ),
        *([PARTICLES] if samplers == names.SAMPLERS else []),
        Option(
            "--chains", "number of independent chains (4)", "N", values.count(1), field="n_chains"
        ),
        Option("--max-draws", "most draws per chain under auto (1000)", "N", values.count(1)),
        Option("--thin", "iterations per kept draw (1)", "N", values.count(1)),
    ]


def running(samplers: tuple[str, ...], starts: tuple[str, ...], default: str) -> list[Option]:
    """The options of a run."""
    return [
        Option(
            "--sampler",
            f"{', '.join(samplers)}; {default} by default",
            "NAME",
            values.one_of("sampler", samplers),
        ),
        *_lengths(samplers),
        Option(
            "--jobs",
            "chains that run in parallel (1), or -1 for all processors; no result depends on it",
            "N",
            values.jobs,
            field="n_jobs",
        ),
        Option(
            "--init",
            f"how chains start: {', '.join(starts)}; auto by default",
            "NAME",
            values.one_of("init", starts),
        ),
        Option("--seed", "makes the run reproducible", "N", values.seed, None),
        Option(
            "--max-time",
            "time limit for sampling; the draws made until then are kept",
            "SECONDS",
            values.positive,
        ),
        Option(
            "--checkpoint",
            "folder to save the chains in; the same command with the same --seed resumes",
            "FOLDER",
            values.path,
        ),
        QUIET,
    ]


FILES = [OUT, FORCE, QUOTE]
RUN = running(names.SAMPLERS, names.STARTS, "split_merge")
COMMANDS = {
    "fit": Command(
        "cluster the rows of a table: labels, probabilities, draws and a report",
        {"table": TABLE},
        {
            "files": [*FILES, SAVE],
            "reading": READING,
            "data": ROWS,
            "model": PRIOR,
            "clusters": CLUSTERS,
            "run": RUN,
        },
        "bnpcluster.cli.clustering:fit",
    ),
    "predict": Command(
        "find the clusters of new rows, with a model that fit --save-model wrote",
        {
            "model": "model.joblib, or the folder that it is in; only open models that you trust, "
            "because such a file can run any program",
            "table": TABLE,
        },
        {"files": FILES, "reading": READING, "data": [ID_COLUMN], "run": [QUIET]},
        "bnpcluster.cli.prediction:predict",
    ),
    "network": Command(
        "cluster the vertices of a network, given as a list of links",
        {"table": "a list of links: two columns with the ends, such as from and to"},
        {
            "files": FILES,
            "reading": READING,
            "links": LINKS,
            "model": NETWORK,
            "clusters": [ESTIMATE, SMALLEST],
            "run": running(names.NETWORK_SAMPLERS, names.NETWORK_STARTS, "arm_sams"),
        },
        "bnpcluster.cli.network:network",
    ),
    "pyclone": Command(
        "cluster mutations by the share of tumour cells that carry them",
        {"table": "tidy table of read counts: one row per mutation and sample"},
        {
            "files": FILES,
            "reading": READING,
            "reads": READS,
            "model": PRIOR,
            "clusters": CLUSTERS,
            "run": RUN,
        },
        "bnpcluster.cli.mutations:pyclone",
    ),
    "compile": Command(
        "compile the code of fits beforehand, for a new machine or an image of a container",
        {},
        {
            "kinds": [
                Option(
                    "--likelihood",
                    f"{', '.join(names.LIKELIHOODS)} (all of them), with and without missing "
                    "cells; of mixed columns, the commonest combination; may be repeated",
                    "NAME",
                    values.one_of("likelihood", names.LIKELIHOODS),
                    [],
                    is_list=True,
                ),
                Option(
                    "--sampler",
                    f"{', '.join(names.SAMPLERS)} (split_merge); may be repeated",
                    "NAME",
                    values.one_of("sampler", names.SAMPLERS),
                    [],
                    is_list=True,
                ),
            ],
            "run": [
                Option(
                    "--jobs",
                    "fits at a time (-1: all processors)",
                    "N",
                    values.jobs,
                    -1,
                    field="n_jobs",
                ),
                QUIET,
            ],
        },
        "bnpcluster.cli.preparation:prepare",
    ),
}
"""The commands, in the order of the help."""

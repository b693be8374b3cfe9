"""The parts of the docstrings that the estimators share."""

from __future__ import annotations

import textwrap
from typing import TypeVar

from bnpcluster._core.descriptions import names
from bnpcluster.likelihoods import LIKELIHOODS
from bnpcluster.samplers import SAMPLERS

Class = TypeVar("Class", bound=type)

CHAINS = {name: cls for name, cls in SAMPLERS.items() if not cls.weighted}
PARTICLES = {name: cls for name, cls in SAMPLERS.items() if cls.weighted}


def described(parameter: str, *sentences: str) -> str:
    """The entry of a parameter, its text filled to lines."""
    text = textwrap.fill(" ".join(sentences), 92, initial_indent="    ", subsequent_indent="    ")
    return f"{parameter}\n{text}\n"


MODEL = (
    described(
        'likelihood : str or Likelihood, default="niw"',
        f"Distribution of the data within a cluster: {names(LIKELIHOODS)}; a dict of columns and",
        "their likelihoods; or an object from `bnpcluster.likelihoods`. All of them take NaN.",
    )
    + described(
        'handle_unknown : {"error", "missing"}, default="error"',
        "What to do with a category in new rows that did not occur in the fit: raise an error, or",
        "take it for a missing value. In a search with cross-validation, ``'missing'`` keeps a",
        "rare category from making scores NaN.",
    )
    + described(
        'sampler : str or Sampler, default="split_merge"',
        f"For chains {names(CHAINS)}; for weighted particles {names(PARTICLES)}; or an object from",
        "`bnpcluster.samplers`.",
    )
    + described(
        "n_particles : int or None, default=None",
        "Shortcut for the number of particles, for samplers that have them.",
    )
)

LENGTHS = """n_draws : int or "auto", default="auto"
    Kept draws per chain. ``"auto"``: until the chains agree and there are enough effective draws,
    at most `max_draws`; fewer if the last rounds brought no improvement. Samplers with weighted
    particles ignore `n_draws`, `n_warmup`, `thin`, `max_draws` and `init`: each run makes one
    pass.
n_warmup : int or "auto", default="auto"
    Iterations discarded before the first draw. ``"auto"``: until the chains look stationary, at
    most half of `max_draws`.
thin : int, default=1
    Iterations per kept draw.
max_draws : int, default=1000
    The largest number of kept draws per chain under ``n_draws="auto"``.
n_chains : int, default=4
    Number of independent chains, or of runs of weighted particles.
n_jobs : int or None, default=None
    Number of chains that run in parallel. No result depends on it.
"""

INIT = """init : str or array of int, default="auto"
    Where chains start: ``"one"`` (a single cluster), ``"singletons"``, ``"prior"`` (a draw from
    the prior), ``"kmeans"``, labels of shape (n_samples,) or (n_chains, n_samples), or
    ``"auto"``: k-means with too many centres, a different number in each chain. With the sampler
    "blocked" and at least 40,000 rows: clusters of 20,000 random rows, to which the others go.
"""

POINT = """point_estimate : {"vi", "binder", "map"} or pair, default=("vi", 1.25)
    What `component_labels_` minimises: the expected variation of information, the expected Binder
    loss, or (``"map"``) the draw with the highest joint density. A pair such as ``("vi", 1.5)``
    adds the cost of separating two rows that belong together, above 0 and below 2; joining two
    that do not costs 2 minus this. A larger cost gives fewer components. A name alone has cost 1.
"""
POINT_OF_NETWORKS = POINT.replace('default=("vi", 1.25)', 'default="vi"')

MERGING = """merge : None, "auto" or float, default=None
    Whether to join components that overlap to clusters. With a number between 0 and 1, components
    are joined as long as a row of one of them is assigned to the other with at least this
    probability (see `bnpcluster.partitions.merge_tree`). ``"auto"`` is 0.05. The probabilities are
    estimated from at most some 2,000 rows of the fit.
max_clusters : int or None, default=None
    Largest number of clusters. Components are joined, those that overlap most first, until there
    are no more. This follows `merge`.
"""

SMALL = """min_cluster_size : int or None, default=None
    Smaller clusters are dissolved, after all joins: their rows have the label -1.
"""

PREDICTION = """max_prediction_draws : int or None, default=200
    Predictions for rows average at most so many draws, evenly spaced. None means all draws.
    `prediction_errors` tells the Monte Carlo error. It can be set after the fit, too.
"""

REST = """max_time : float or None, default=None
    Seconds of sampling after which chains stop and keep their draws.
checkpoint : path or None, default=None
    A directory where the chains are saved during the fit. A later identical fit resumes there.
warm_start : bool, default=False
    Start from the last states of the previous fit, if the number of rows is the same.
random_state : None, int, RandomState or Generator, default=None
    The same integer gives bit-identical draws, for any `n_jobs`.
verbose : int, default=0
    1 shows progress on the standard error stream. In terminals and notebooks this is a bar over
    all chains, if tqdm is installed (the extra ``progress``); otherwise a line now and then.
    Samplers with particles print a line after each run.
"""

ATTRIBUTES = """Attributes
----------
labels_ : ndarray of shape (n_samples,)
    Clusters, numbered from 0, largest first. -1 for rows in no cluster: those without any value
    and, with `min_cluster_size`, those in no large cluster.
component_labels_ : ndarray of shape (n_samples,)
    The point estimate: components, numbered in the same way. Every cluster consists of whole
    components; by default, each component is a cluster.
n_clusters_ : int
    Number of clusters in `labels_`.
n_clusters_posterior_ : dict
    Posterior probability of every number of components.
coclustering_ : LazyCoclustering
    Posterior probability that two rows share a component. Index it like an array, or call
    `.sparse(threshold)`; nothing of size n x n is stored.
posterior_ : Posterior
    The draws and their summaries, which are about components.
diagnostics_ : Diagnostics or RunDiagnostics
    For chains, R-hat, effective sample sizes and a verdict; for particles, their effective number
    and the evidence of each run.
converged_ : bool or None
    Whether the chains agree (None: it cannot be determined).
log_evidence_, log_evidence_se_ : float
    Only with weighted particles: log p(data), from the mean of the runs' unbiased estimates, and
    its Monte Carlo standard error. With few runs the error is widened by Student's t, so that plus
    or minus two of it cover about 95 %. NaN for a single run, unless it never resampled. Caution:
    under ``"auto"`` and ``"data"`` the hyper-parameters of the likelihood, or the centres of their
    hyper-priors, are guessed from the data. Such evidences compare models with the same guess, and
    are not marginal likelihoods under a prior that was chosen beforehand.
interrupted_ : bool
    Whether Ctrl-C stopped the sampling.
sampler_stats_ : dict
    Counts of moves, iterations and seconds per chain.
n_iter_ : int
    Iterations of each chain.
n_features_in_ : int
    Number of columns of X.
feature_names_in_ : ndarray
    Names of the columns, if X had names.
"""

OF_ROWS = """merge_tree_ : MergeTree
    How overlapping components are joined, down to a single cluster. It is computed at every access
    unless `merge` or `max_clusters` needed it in the fit.
observed_rows_ : ndarray of int
    Numbers of the rows with at least one value. Other rows are left out of the fit, with a warning,
    so `posterior_` and `coclustering_` are about the rows listed here.
reference_rows_ : ndarray of int
    Only after a fit of a dask collection: numbers of the random rows that `posterior_`,
    `coclustering_` and `component_labels_` are about.
"""


def documented(cls: Class) -> Class:
    """Insert the shared parts into the docstring of an estimator."""
    parts = {
        "parameters": MODEL + LENGTHS + INIT + POINT + MERGING + SMALL + PREDICTION + REST,
        "lengths": LENGTHS,
        "rest": POINT_OF_NETWORKS + SMALL + REST,
        "attributes": ATTRIBUTES + OF_ROWS,
        "network_attributes": ATTRIBUTES,
    }
    doc = cls.__doc__ or ""  # empty under python -OO
    for name, text in parts.items():
        indented = text.strip().replace("\n", "\n    ").replace("\n    \n", "\n\n")
        doc = doc.replace("{" + name + "}", indented)
    cls.__doc__ = doc
    return cls

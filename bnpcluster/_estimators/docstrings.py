"""The parts of the docstrings that the estimators share, each stated once."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)

MODEL = """likelihood : str or Likelihood, default="niw"
    Law of the data within a cluster: ``"niw"`` (Gaussian, full covariance), ``"nig"``
    (Gaussian, independent columns), ``"bernoulli"`` (0/1), ``"categorical"`` (integer codes),
    ``"poisson"`` (counts), ``"pyclone"`` (tables of mutations), ``"columns"`` (mixed columns, by
    their types), a dict of columns and their likelihoods, or an object from
    `bnpcluster.likelihoods`. All of them take NaN.
sampler : str or Sampler, default="split_merge"
    ``"split_merge"``, ``"gibbs"``, ``"jain_neal"``, ``"sams"``, ``"pgsm"`` or ``"arm"``; with
    weighted particles ``"urn_smc"``, ``"annealed_smc"`` or ``"auxiliary_smc"``; or an object from
    `bnpcluster.samplers`.
n_particles : int or None, default=None
    Shortcut for the particles of samplers that have them.
"""

LENGTHS = """n_draws : int, default=500
    Kept draws per chain. Samplers with weighted particles ignore this and the next two, and
    `init`: each run makes one pass.
n_warmup : int, default=500
    Iterations discarded before them.
thin : int, default=1
    Iterations per kept draw.
n_chains : int, default=4
    Chains, or runs of weighted particles, independent of one another.
n_jobs : int or None, default=None
    How many chains run at once. No result depends on it.
"""

INIT = """init : str or array of int, default="auto"
    Where chains start: ``"one"`` (a single cluster), ``"singletons"``, ``"prior"`` (a draw from
    the prior), ``"kmeans"``, labels of shape (n_samples,) or (n_chains, n_samples), or
    ``"auto"``: k-means with too many centres, a different number of them per chain.
"""

REST = """point_estimate : {"vi", "binder", "map"}, default="vi"
    What `labels_` minimises: the expected variation of information, the expected Binder
    loss, or (``"map"``) the draw with the highest joint density.
max_time : float or None, default=None
    Seconds of sampling after which chains stop and keep what they have.
checkpoint : path or None, default=None
    A directory where the chains are saved as they go; a later identical fit resumes there.
warm_start : bool, default=False
    Start from the last states of the previous fit, if it had as many rows.
random_state : None, int, RandomState or Generator, default=None
    The same integer gives bit-identical draws, for any `n_jobs`.
verbose : int, default=0
    1 shows progress on the standard error stream: a bar over all chains in terminals and
    notebooks, if tqdm is installed (the extra ``progress``), and else a line now and then;
    of samplers with particles, a line after each run.
"""

ATTRIBUTES = """Attributes
----------
labels_ : ndarray of shape (n_samples,)
    The point estimate: clusters numbered from 0, the largest first.
n_clusters_ : int
    Clusters in `labels_`.
n_clusters_posterior_ : dict
    Posterior probability of every number of clusters.
coclustering_ : LazyCoclustering
    Posterior probability that two rows share a cluster: index it like an array, or ask for
    `.sparse(threshold)`; nothing of size n x n is stored.
posterior_ : Posterior
    The draws, and what one asks of them.
diagnostics_ : Diagnostics or RunDiagnostics
    R-hat, effective sample sizes, a verdict; of particles, their worth and the runs' evidences.
converged_ : bool or None
    Whether the chains agree (None: it cannot be told).
log_evidence_, log_evidence_se_ : float
    With weighted particles alone: log p(data), from the mean of the runs' unbiased estimates, and
    its Monte Carlo standard error.
interrupted_ : bool
    Whether Ctrl-C ended the sampling.
sampler_stats_ : dict
    Counts of moves, iterations and seconds per chain.
n_iter_ : int
    Iterations of each chain.
n_features_in_ : int
feature_names_in_ : ndarray, if X had column names
"""


def documented(cls: Class) -> Class:
    """Fill the shared parts into the docstring of an estimator."""
    parts = {
        "parameters": MODEL + LENGTHS + INIT + REST,
        "lengths": LENGTHS,
        "rest": REST,
        "attributes": ATTRIBUTES,
    }
    doc = cls.__doc__ or ""  # empty under python -OO
    for name, text in parts.items():
        indented = text.strip().replace("\n", "\n    ").replace("\n    \n", "\n\n")
        doc = doc.replace("{" + name + "}", indented)
    cls.__doc__ = doc
    return cls

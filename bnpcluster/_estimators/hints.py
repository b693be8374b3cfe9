"""Hints for parameters and attributes that other packages have and that have other names here."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

from bnpcluster._core.components import check_names, near_name

FIXED = (
    "The number of clusters is inferred. FiniteDirichletMixture has a fixed number of components, "
    "and max_clusters is an upper bound of the number of clusters"
)
PARAMETERS = {
    "n_components": FIXED,
    "n_clusters": FIXED,
    "k": FIXED,
    "seed": "random_state",
    "n_iter": "n_draws",
    "max_iter": "n_draws",
    "n_samples": "n_draws",
    "num_samples": "n_draws",
    "draws": "n_draws",
    "samples": "n_draws",
    "burn_in": "n_warmup",
    "burnin": "n_warmup",
    "tune": "n_warmup",
    "warmup": "n_warmup",
    "num_warmup": "n_warmup",
    "thinning": "thin",
    "chains": "n_chains",
    "num_chains": "n_chains",
    "n_init": "n_chains",
    "cores": "n_jobs",
    "init_params": "init",
    "metric": "likelihood",
    "loss": "point_estimate",
    "min_samples": "min_cluster_size",
    "covariance_type": (
        "Use likelihood='nig' for diagonal covariances and likelihood='niw' for full ones"
    ),
    "concentration": "alpha",
    "gamma": "alpha",
    "weight_concentration_prior": "alpha",
    "prior": "BNPMixture takes every prior. The other mixtures have the one of their name",
    "discount": "PitmanYorMixture has a discount",
    "sigma": "NGGMixture has it",
    "tau": "NGGMixture has it",
}
"""Names of parameters here, or sentences, by name elsewhere."""

SCORES = "score(X) is the mean log density of rows, for instance of held-out ones"
ATTRIBUTES = {
    "cluster_centers_": "use means_",
    "centers_": "use means_",
    "subcluster_centers_": "use means_",
    "precisions_": "use covariances_",
    "n_components_": "use n_clusters_",
    "n_clusters": "use n_clusters_",
    "labels": "use labels_",
    "responsibilities_": "use predict_proba(X)",
    "membership_": "use predict_proba(X)",
    "inertia_": SCORES,
    "lower_bound_": SCORES,
    "bic": SCORES,
    "aic": SCORES,
    "loglikelihood": SCORES,
    "decision_function": "use outlier_score(X), or score_samples(X)",
    "plot": "use the displays of bnpcluster.plotting",
    "summary": "use report() or describe()",
    "feature_names_in_": "X had no column names in the fit",
}
NEEDS_PARTICLES = (
    "the sampler of this fit runs chains, which do not estimate the evidence. Fit with a particle "
    "sampler, such as sampler='annealed_smc'"
)
ATTRIBUTES |= dict.fromkeys(("log_evidence_", "log_evidence_se_"), NEEDS_PARTICLES)

NO_ROWS = "a network has no new rows. Use predict_links for pairs of vertices"
SIZES = "use describe(), which has the size of each cluster"
OF_NETWORKS = dict.fromkeys(("predict", "predict_proba", "transform", "score_samples"), NO_ROWS) | {
    "means_": "use link_probabilities_",
    "rates_": "use link_probabilities_",
    "probabilities_": "use link_probabilities_",
    "weights_": SIZES,
    "sample": "use predict_links for the probabilities of links",
}
"""Hints for what mixtures have and networks have not."""


def check_parameters(cls: type, args: tuple, kwargs: dict[str, Any]) -> None:
    """Raise an error for unknown parameters, and for parameters without names."""
    check_names(cls, args, kwargs, _hint)


def _hint(name: str, names: list[str]) -> str:
    hint = PARAMETERS.get(name, "")
    if hint.isidentifier():
        return f": use {hint}." if hint in names else "."
    if hint:
        return f". {hint}."
    return near_name(name, names)


def missing_attribute(model: Any, name: str) -> AttributeError:
    """The error for an attribute that a model does not have."""
    kind = type(model).__name__
    is_fitted = "_fitted" in vars(model)
    if name.endswith("_") and not name.startswith("_") and not is_fitted:
        return NotFittedError(f"This {kind} is not fitted yet: call fit first, then use {name}.")
    hint = ATTRIBUTES.get(name)
    if hasattr(type(model), "predict_links"):
        hint = OF_NETWORKS.get(name, hint)
    text = f"{kind!r} object has no attribute {name!r}"
    if hint is not None:
        return AttributeError(f"{text}: {hint}.")
    return AttributeError(text, name=name, obj=model)  # Python suggests a similar name

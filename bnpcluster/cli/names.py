"""Names that options take, so that help and most errors come without loading compiled code.

A test compares them with the registries and with the parameters of the estimators.
"""

from __future__ import annotations

LIKELIHOODS = ("niw", "nig", "bernoulli", "categorical", "poisson", "columns")
"""The likelihoods of rows; mutations have a command of their own."""
SAMPLERS = (
    "split_merge",
    "gibbs",
    "blocked",
    "jain_neal",
    "sams",
    "pgsm",
    "arm",
    "arm_sams",
    "urn_smc",
    "annealed_smc",
    "auxiliary_smc",
)
NETWORK_SAMPLERS = ("arm_sams", "gibbs", "jain_neal", "sams", "arm")
STARTS = ("auto", "one", "singletons", "prior", "kmeans")
NETWORK_STARTS = ("auto", "one", "singletons", "prior")
PRIORS: dict[str, dict[str, str]] = {
    "dp": {"alpha": "concentration: larger values expect more clusters"},
    "py": {
        "alpha": "concentration: larger values expect more clusters",
        "discount": "from 0 to below 1: larger values expect more small clusters",
    },
    "ngg": {"sigma": "between 0 and 1", "tau": "total mass, positive"},
    "mfm": {
        "gamma": "Dirichlet weight of the components",
        "n_components_prior": "of their number: gnedin, poisson,1.0 or geometric,0.1",
    },
    "finite": {
        "concentration": "Dirichlet weight of the components",
        "n_components": "number of components",
    },
}
"""The parameters of the priors, and what they are."""
HYPER: dict[str, tuple[str, ...]] = {
    "niw": ("mean", "kappa", "nu", "scale"),
    "nig": ("mean", "kappa", "shape", "scale"),
    "bernoulli": ("a", "b"),
    "categorical": ("concentration",),
    "poisson": ("shape", "rate"),
}
"""The hyper-parameters of the likelihoods."""


def prior_parameters() -> dict[str, str]:
    """The parameters of all priors, with help texts that name the priors."""
    users: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name, own in PRIORS.items():
        for parameter, text in own.items():
            users.setdefault(parameter, []).append(name)
            texts.setdefault(parameter, text)
    return {name: f"{texts[name]} ({', '.join(priors)})" for name, priors in users.items()}

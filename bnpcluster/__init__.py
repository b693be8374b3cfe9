"""Bayesian nonparametric clustering that behaves like scikit-learn.

=========================  =========================================================
`DPMixture`                Dirichlet process mixture
`PitmanYorMixture`         with more small clusters
`NGGMixture`               likewise, by normalised generalised gamma processes
`MFMMixture`               with a finite, unknown number of components
`FiniteDirichletMixture`   with a given number of components
`BNPMixture`               with any prior on partitions
`InfiniteRelationalModel`  clusters of the vertices of a network
`bayes_factor`             two models compared by their evidences
`compare`                  two partitions compared, with their uncertainty
`bnpcluster.likelihoods`   distributions of the data within a cluster
`bnpcluster.priors`        priors on partitions
`bnpcluster.samplers`      how the posterior is sampled
`bnpcluster.posterior`     the draws, and what one asks of them
`bnpcluster.partitions`    point estimates and losses, on label draws of any program
`bnpcluster.diagnostics`   whether the draws can be trusted
`bnpcluster.plotting`      pictures
`bnpcluster.extending`     base classes and operations, for components of your own
`bnpcluster.testing`       exact posteriors by enumeration; checks of components
=========================  =========================================================
"""

from __future__ import annotations

# Names are imported at their first use: compiled code takes a second to load, and the command line
# must answer at once. Type checkers know this name, so that the module typing need not be loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bnpcluster import densities as densities
    from bnpcluster import diagnostics as diagnostics
    from bnpcluster import evidence as evidence
    from bnpcluster import extending as extending
    from bnpcluster import likelihoods as likelihoods
    from bnpcluster import mixtures as mixtures
    from bnpcluster import partitions as partitions
    from bnpcluster import plotting as plotting
    from bnpcluster import posterior as posterior
    from bnpcluster import priors as priors
    from bnpcluster import pyclone as pyclone
    from bnpcluster import relational as relational
    from bnpcluster import samplers as samplers
    from bnpcluster import testing as testing
    from bnpcluster._version import __version__
    from bnpcluster.comparison import compare
    from bnpcluster.evidence import bayes_factor
    from bnpcluster.mixtures import (
        BNPMixture,
        DPMixture,
        FiniteDirichletMixture,
        MFMMixture,
        NGGMixture,
        PitmanYorMixture,
    )
    from bnpcluster.relational import InfiniteRelationalModel

__all__ = [
    "BNPMixture",
    "DPMixture",
    "FiniteDirichletMixture",
    "InfiniteRelationalModel",
    "MFMMixture",
    "NGGMixture",
    "PitmanYorMixture",
    "__version__",
    "bayes_factor",
    "compare",
]

_HOMES = {
    "BNPMixture": "mixtures",
    "DPMixture": "mixtures",
    "FiniteDirichletMixture": "mixtures",
    "InfiniteRelationalModel": "relational",
    "MFMMixture": "mixtures",
    "NGGMixture": "mixtures",
    "PitmanYorMixture": "mixtures",
    "__version__": "_version",
    "bayes_factor": "evidence",
    "compare": "comparison",
}
_MODULES = (
    "densities",
    "diagnostics",
    "evidence",
    "extending",
    "likelihoods",
    "mixtures",
    "partitions",
    "plotting",
    "posterior",
    "priors",
    "pyclone",
    "relational",
    "samplers",
    "testing",
)


def __getattr__(name: str) -> Any:
    """Import a public name or module at its first use."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"bnpcluster.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'bnpcluster' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bnpcluster.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names and modules, imported or not."""
    return sorted({*globals(), *_HOMES, *_MODULES})

"""Checks of options that need no compiled code, so that their errors come at once."""

from __future__ import annotations

from types import SimpleNamespace

from bnpcluster._core.suggestions import nearest, unknown
from bnpcluster.cli.names import HYPER, LIKELIHOODS, PRIORS, prior_parameters

WITH_PARTICLES = ("pgsm", "urn_smc", "annealed_smc", "auxiliary_smc")


def check_options(options: SimpleNamespace) -> None:
    """Raise an error if options do not fit one another."""
    _check_likelihood(options)
    _check_prior(options)
    sampler = getattr(options, "sampler", "split_merge")
    if hasattr(options, "n_particles") and sampler not in WITH_PARTICLES:
        raise ValueError(
            f"--particles {options.n_particles} was given, but sampler {sampler!r} has no "
            "particles: leave out --particles, or choose --sampler urn_smc."
        )
    if options.sep is not None and options.sep in (options.decimal, options.thousands):
        other = "--decimal" if options.sep == options.decimal else "--thousands"
        raise ValueError(f"--sep and {other} are both {options.sep!r}.")


def _check_prior(options: SimpleNamespace) -> None:
    own = PRIORS[options.prior]
    for name in prior_parameters():
        if hasattr(options, name) and name not in own:
            users = [prior for prior, parameters in PRIORS.items() if name in parameters]
            raise ValueError(
                f"--{name.replace('_', '-')} is not a parameter of prior {options.prior!r}, but of "
                f"{' and '.join(map(repr, users))}: add --prior {users[0]}."
            )


def _check_likelihood(options: SimpleNamespace) -> None:
    name = getattr(options, "likelihood", "niw")
    if name == "pyclone":
        raise ValueError("This command does not cluster mutations: use bnpcluster pyclone.")
    if name not in LIKELIHOODS:
        raise ValueError(unknown("likelihood", name, LIKELIHOODS))
    for text in getattr(options, "hyper", []):
        if name not in HYPER:
            raise ValueError(f"--hyper {text} needs a --likelihood other than {name}.")
        key, equals, _ = text.partition("=")
        if not equals or key not in HYPER[name]:
            near = nearest(key, HYPER[name])
            hint = f" Did you mean {near!r}?" if near and near != key else ""
            raise ValueError(
                f"--hyper {text}: write NAME=VALUE with one of {', '.join(HYPER[name])}.{hint}"
            )

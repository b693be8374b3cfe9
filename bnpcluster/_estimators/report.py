"""The report of a fit: results, uncertainty and diagnostics."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bnpcluster._core.containers import as_array
from bnpcluster._core.messages import Action, Message, in_shell_words, parameter, setting
from bnpcluster._core.saving import file_to_write
from bnpcluster._estimators.cluster_lines import describe_clusters, notes
from bnpcluster._estimators.digits import count, short
from bnpcluster._estimators.page import html_page
from bnpcluster._version import __version__
from bnpcluster.diagnostics import Diagnostics
from bnpcluster.diagnostics.runs import RunDiagnostics
from bnpcluster.priors.hyper_priors import is_number


@dataclass(frozen=True, repr=False)
class Report:
    """Results and diagnostics of a fit. `print` shows text, and a notebook shows HTML.

    Attributes
    ----------
    found : dict of str to str
        The model and the results, by name.
    diagnostics : Diagnostics
        R-hat, effective sample sizes, and the verdict.
    model : estimator
        The fitted model that the report is about.
    """

    found: dict[str, str]
    diagnostics: Diagnostics | RunDiagnostics
    model: Any = field(default=None, compare=False)

    @classmethod
    def of(cls, model: Any) -> Report:
        """The report of a fitted model."""
        posterior = model.posterior_
        found = {
            "model": f"{type(model).__name__}, {model._describe_likelihood()}, "
            f"sampler {model._fitted.sampler!r}",
            "prior": _describe_prior(model._fitted.prior),
            **model._describe_data(),
            **(
                _describe_runs(model)
                if hasattr(model, "log_evidence_")
                else _describe_chains(model)
            ),
            **describe_clusters(model),
            **model._describe_each_cluster(),
            **{
                name: f"{short(np.average(trace, weights=posterior.weights))} "
                f"(90 % interval {_interval(trace, posterior.weights)})"
                for name, trace in posterior.traces.items()
                if name not in ("n_clusters", "log_posterior", *model._learned_traces())
            },
            **_describe_fixed_prior(model),
            **model._describe_hyper_parameters(),
            **model._describe_quality(),
            **notes(model),
            "seed": _describe_seed(model.random_state),
            "version": f"bnpcluster {__version__}",
        }
        return cls(found, model.diagnostics_, model)

    def in_shell_words(self) -> Report:
        """The same report, with advice for the command line."""
        verdict = in_shell_words(self.diagnostics.verdict)
        found = {name: in_shell_words(text) for name, text in self.found.items()}
        return Report(found, replace(self.diagnostics, verdict=verdict), self.model)

    def __str__(self) -> str:
        width = max(map(len, self.found))
        lines = [f"{name:>{width}}  {value}" for name, value in self.found.items()]
        return "\n".join([*lines, "", str(self.diagnostics)])

    def __repr__(self) -> str:
        return str(self)

    def to_html(self) -> str:
        """The report as an HTML fragment, which a notebook shows.

        Returns
        -------
        html : str
            A table and the diagnostics.
        """
        rows = "".join(
            f"<tr><th style='text-align:right'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self.found.items()
        )
        return f"<table>{rows}</table>{self.diagnostics._repr_html_()}"

    def _repr_html_(self) -> str:
        return self.to_html()

    def save(self, path: Any) -> Path:
        """Save the report as one self-contained HTML page, with a table and pictures.

        Parameters
        ----------
        path : str or path-like
            Where to write the page; the name ends in .html. A file of that name is replaced.

        Returns
        -------
        path : pathlib.Path
            The file.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> from bnpcluster import DPMixture
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = DPMixture(random_state=0).fit(X)
        >>> with TemporaryDirectory() as folder:
        ...     page = model.report().save(f"{folder}/clusters.html").read_text(encoding="utf-8")
        >>> page.startswith("<!DOCTYPE html>"), "1 cluster" in page
        (True, True)
        """
        file = Path(path).expanduser()
        if file.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"The report is a page of HTML: end its name in .html, got {path!r}.")
        file_to_write(file)
        file.write_text(html_page(self.model, self), encoding="utf-8")
        return file


def _describe_seed(random_state: Any) -> str:
    """Whether the fit can be repeated, and how."""
    if random_state is None:
        return "none, so another fit gives other draws"
    if isinstance(random_state, (int, np.integer)):
        return Message(setting("random_state", int(random_state)))
    return f"a {type(random_state).__name__} object"


def _describe_prior(prior: Any) -> str:
    """The prior of partitions, with the values or hyper-priors of its parameters."""
    described = [type(prior).__name__]
    for name, given in prior.get_params(deep=False).items():
        hyper = prior.hyper.get(name)
        pair = None if hyper is None else hyper.pair(name, given)
        if pair is not None:
            a, b = ("shape", "rate") if hyper.distribution == "gamma" else ("a", "b")
            kind = hyper.distribution.capitalize()
            described.append(f"{name} ~ {kind}({a} {pair[0]:g}, {b} {pair[1]:g})")
        else:
            value = prior.values.get(name, given)
            described.append(f"{name} = {value:g}" if is_number(value) else f"{name} = {value!r}")
    return ", ".join(described)


def _describe_chains(model: Any) -> dict[str, str]:
    """Where the chains started, and how many draws there are."""
    posterior = model.posterior_
    return {
        "starts": "all chains started from the same partition, so their agreement proves little"
        if has_one_start(model.init)
        else (
            Message(setting("init", model.init)) if isinstance(model.init, str) else "init=array"
        ),
        "draws": f"{count(posterior.n_chains, 'chain')} of {posterior.n_draws}, "
        f"{max(model.sampler_stats_['seconds']):.1f} s of sampling per chain"
        + (", interrupted" if model.interrupted_ else ""),
    }


def _describe_runs(model: Any) -> dict[str, str]:
    """The number of particles, and the evidence."""
    posterior = model.posterior_
    return {
        "particles": f"{count(posterior.n_chains, 'run')} of {posterior.n_draws}, "
        f"{max(model.sampler_stats_['seconds']):.1f} s per run"
        + (", interrupted" if model.interrupted_ else ""),
        "log evidence": Message(f"{model.log_evidence_:.3f} (", *_standard_error(model), ")"),
    }


def _standard_error(model: Any) -> list[str | Action]:
    """The standard error of the evidence, or how to get one."""
    if model.log_evidence_se_ >= 0:
        return [f"standard error {model.log_evidence_se_:.3f}"]
    return ["a single run gives no standard error: set ", parameter("n_chains"), " to 2 or more"]


def _describe_fixed_prior(model: Any) -> dict[str, str]:
    """The parameters of the prior that were not sampled."""
    prior, traces = model._fitted.prior, model.posterior_.traces
    found = {}
    for name in prior.hyper:
        if name not in traces:
            is_auto = getattr(model, name, None) == "auto"
            also = " ('auto' without moves of the particles; chains sample it)" if is_auto else ""
            found[name] = f"{prior.values[name]:.4g}, fixed{also}"
    return found


def has_one_start(init: Any) -> bool:
    """Whether all chains start from the same partition."""
    return init in ("one", "singletons") if isinstance(init, str) else as_array(init).ndim == 1


def _interval(trace: np.ndarray, weights: np.ndarray) -> str:
    order = np.argsort(trace, axis=None)
    edges = np.cumsum(weights.ravel()[order])
    low, high = trace.ravel()[order][np.searchsorted(edges, [0.05, 0.95])]
    return f"{short(low)} to {short(high)}"

"""Check every value of the chains in a checkpoint: its type, its range, and that all agree.

A checksum tells damage, but not a file that something else has written. Without these checks, its
values would give wrong draws.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bnpcluster._core.operations import latent, learned
from bnpcluster._core.state import State
from bnpcluster._fitting.rounds import Chain
from bnpcluster.priors import Prior
from bnpcluster.samplers.split_merge.frozen_anchors import read_table

ALWAYS = ("n_clusters", "log_posterior")


def check_chains(
    chains: list[Chain],
    prior: Prior,
    n_items: int,
    n_chains: int,
    bound: Any = None,
    *,
    has_all: bool = True,
) -> None:
    """Raise a ValueError that says what cannot be, if there is anything.

    Without `bound`, the sizes of latent and learned values are not checked. `has_all` says whether
    the labels are those of all rows.
    """
    _must(len(chains) == n_chains, f"{len(chains)} chains instead of {n_chains}")
    most = prior.most_clusters
    for chain in chains:
        for name, rows in _labels_of(chain).items():
            for row in rows:
                check_labels(row, n_items, most, name)
        _check_counters(chain)
        _check_traces(chain, prior, has_all)
        _check_values(chain)
        _check_prior(chain.prior)
        if chain.guide is not None:
            _must(_is_finite(chain.guide), "the table of the sampler is not finite")
            read_table(chain.guide, n_items)
    names = [sorted(chain.traces[0]) for chain in chains if chain.traces]
    _must(all(own == names[0] for own in names), "the chains have different traces")
    if bound is not None:
        _check_fit(chains, bound)


def _labels_of(chain: Chain) -> dict[str, list[np.ndarray]]:
    rows = {"labels": [chain.labels], "draws": chain.draws}
    return {**rows, "history": list(chain.history.values())}


def check_labels(row: Any, n_items: int, most: float, name: str) -> None:
    """Raise an error unless `row` has a label for each item, from 0 on without gaps."""
    is_row = isinstance(row, np.ndarray) and row.shape == (n_items,) and row.dtype.kind in "iu"
    _must(is_row, f"{name} do not describe {n_items} items")
    _must(0 <= row.min() and row.max() < min(n_items, most), f"{name} are out of range")
    _must(bool(np.bincount(row.astype(np.intp)).all()), f"{name} have gaps")


def _check_counters(chain: Chain) -> None:
    _must(_is_count(chain.iteration), f"iteration is {chain.iteration!r}")
    _must(len(chain.traces) == len(chain.draws), "draws and traces do not agree")
    _must(len(chain.draws) <= max(chain.iteration, 1), "there are more draws than iterations")
    _must(len(chain.early) <= chain.iteration, "more iterations were followed than there are")
    _must(_is_number(chain.seconds) and chain.seconds >= 0, f"seconds are {chain.seconds!r}")
    counts, tuning = chain.counts.values(), chain.tuning.values()
    _must(all(_is_number(v) and v >= 0 for v in counts), "counts are not positive numbers")
    _must(all(map(_is_number, tuning)), "the tuning of the sampler is not made of numbers")
    times = list(chain.history)
    _must(all(_is_count(t) and t <= chain.iteration for t in times), "the history is out of range")


def _check_traces(chain: Chain, prior: Prior, has_all: bool) -> None:
    names = {*chain.traces[0]} if chain.traces else set()
    _must(not names or names >= {*ALWAYS, *prior.sampled}, "traces are missing")
    for trace, draw in zip(chain.traces, chain.draws, strict=True):
        _must(set(trace) == names, "the draws have different traces")
        _must(all(map(_is_number, trace.values())), "a trace contains something else than numbers")
        others = trace["n_clusters"] - int(draw.max()) - 1
        _must(others == 0 or (not has_all and others > 0), "a trace does not describe its draw")


def _check_values(chain: Chain) -> None:
    """Check the latent and learned values, and what was followed during warm-up."""
    for name in ("latent", "learned"):
        current, drawn = getattr(chain, name), getattr(chain, f"{name}_draws")
        _must(current is None or _is_finite(current), f"{name} values are not finite")
        wanted = 0 if current is None else len(chain.draws)
        _must(len(drawn) == wanted, f"draws and {name} values do not agree")
        is_same = all(_is_finite(row) and row.shape == current.shape for row in drawn)
        _must(is_same, f"{name} values of draws are wrong")
    _must(all(map(_is_finite, chain.early)), "what was followed is not finite")


def _check_prior(prior: Prior) -> None:
    for name, value in prior.values.items():
        _must(_is_number(value), f"{name} is {value!r}")
    _must(math.isfinite(prior.log_hyper_density()), "hyper-parameters of the prior are impossible")


def _check_fit(chains: list[Chain], bound: Any) -> None:
    """Check that the current states of the chains have a density for these data."""
    for chain in chains:
        for name, own in (("latent", latent(bound)), ("learned", learned(bound))):
            found = getattr(chain, name)
            size = None if own is None or not own.size else own.shape
            _must((None if found is None else found.shape) == size, f"{name} values do not fit")
        state = State(bound, chain.prior, chain.labels)
        if chain.learned is not None:
            state.set_learned(chain.learned)
        if chain.latent is not None:
            state.set_latent(chain.latent)
        _must(math.isfinite(state.log_posterior()), "a state is impossible")


def _must(holds: Any, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_number(value: Any) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return known and abs(value) < 1e300 and math.isfinite(value)


def _is_finite(array: Any) -> bool:
    known = isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim == 1
    return known and bool(np.isfinite(array).all())

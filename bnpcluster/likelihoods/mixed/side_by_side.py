"""Kernels of two likelihoods side by side, with different columns, independent given the partition.

Every operation calls the operations of the two parts and adds their log densities. A part may be a
pair itself, for more than two parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bnpcluster._core import operations as ops

NEEDED = (
    "clear",
    "add",
    "remove",
    "copy",
    "pool",
    "log_predictive",
    "log_predictive_without",
    "log_predictive_all",
    "log_marginal",
)
"""Operations that both parts must have."""


class Pair(NamedTuple):
    """Bound data of two likelihoods for the same items."""

    first: Any
    second: Any
    scores: np.ndarray  # scratch, by slot

    @property
    def slot_axis(self):
        """The arrays a chain owns, with the axis of their slots; None: see the part."""
        return {"first": None, "second": None, "scores": 0}

    @property
    def n_items(self):
        """The number of rows."""
        return n_items(self.first)


def n_items(bound):
    """The number of items in bound data of rows."""
    return bound.n_items if hasattr(bound, "n_items") else len(bound[0])


@ops.clear.register(Pair)
def _clear(lik, k):
    ops.clear(lik.first, k)
    ops.clear(lik.second, k)


@ops.add.register(Pair)
def _add(lik, k, i):
    ops.add(lik.first, k, i)
    ops.add(lik.second, k, i)


@ops.remove.register(Pair)
def _remove(lik, k, i):
    ops.remove(lik.first, k, i)
    ops.remove(lik.second, k, i)


@ops.copy.register(Pair)
def _copy(lik, to, source):
    ops.copy(lik.first, to, source)
    ops.copy(lik.second, to, source)


@ops.pool.register(Pair)
def _pool(lik, to, one, two, labels):
    ops.pool(lik.first, to, one, two, labels)
    ops.pool(lik.second, to, one, two, labels)


@ops.log_predictive.register(Pair)
def _log_predictive(lik, k, i):
    return ops.log_predictive(lik.first, k, i) + ops.log_predictive(lik.second, k, i)


@ops.log_predictive_without.register(Pair)
def _log_predictive_without(lik, k, i):
    first = ops.log_predictive_without(lik.first, k, i)
    return first + ops.log_predictive_without(lik.second, k, i)


@ops.log_predictive_of_member.register(Pair)
def _log_predictive_of_member(lik, k, i, labels, own):
    first = ops.log_predictive_of_member(lik.first, k, i, labels, own)
    return first + ops.log_predictive_of_member(lik.second, k, i, labels, own)


@ops.outweighs.register(Pair)
def _outweighs(lik, k, i):
    return ops.outweighs(lik.first, k, i) or ops.outweighs(lik.second, k, i)


@ops.log_predictive_all.register(Pair)
def _log_predictive_all(lik, i, start, stop, out):
    ops.log_predictive_all(lik.first, i, start, stop, out)
    ops.log_predictive_all(lik.second, i, start, stop, lik.scores)
    for k in range(start, stop):
        out[k] += lik.scores[k]


@ops.log_marginal.register(Pair)
def _log_marginal(lik, k):
    return ops.log_marginal(lik.first, k) + ops.log_marginal(lik.second, k)


@ops.latent.register(Pair)
def _latent(lik):
    return _concatenated(ops.latent(lik.first), ops.latent(lik.second))


@ops.draw_latent.register(Pair)
def _draw_latent(lik, labels, rng):
    first = ops.draw_latent(lik.first, labels, rng)
    return _concatenated(first, ops.draw_latent(lik.second, labels, rng))


def _concatenated(*parts):
    values = [v for v in parts if v is not None]
    return np.concatenate(values) if values else None


@ops.set_latent.register(Pair)
def _set_latent(lik, values):
    first = ops.latent(lik.first)
    n_first = 0 if first is None else len(first)
    ops.set_latent(lik.first, values[:n_first])
    ops.set_latent(lik.second, values[n_first:])


@ops.move_latent.register(Pair)
def _move_latent(lik, labels, rng):
    ops.move_latent(lik.first, labels, rng)
    ops.move_latent(lik.second, labels, rng)


@ops.learned.register(Pair)
def _learned(lik):
    return _concatenated(ops.learned(lik.first), ops.learned(lik.second))


@ops.set_learned.register(Pair)
def _set_learned(lik, values):
    first = ops.learned(lik.first)
    n_first = 0 if first is None else len(first)
    if n_first:
        ops.set_learned(lik.first, values[:n_first])
    if n_first < len(values):
        ops.set_learned(lik.second, values[n_first:])


@ops.move_learned.register(Pair)
def _move_learned(lik, labels, beta, rng):
    done = True
    for part in (lik.first, lik.second):
        if ops.learned(part) is not None:
            done = bool(ops.move_learned(part, labels, beta, rng)) and done
    return done


@ops.draw_learned.register(Pair)
def _draw_learned(lik, rng):
    parts = [part for part in (lik.first, lik.second) if ops.learned(part) is not None]
    drawn = [ops.draw_learned(part, rng) for part in parts]
    return None if any(values is None for values in drawn) else _concatenated(*drawn)


@ops.log_learned.register(Pair)
def _log_learned(lik):
    return ops.log_learned(lik.first) + ops.log_learned(lik.second)


@ops.traces_learned.register(Pair)
def _traces_learned(lik):
    first = {f"{name}_0": value for name, value in ops.traces_learned(lik.first).items()}
    second = ops.traces_learned(lik.second)
    if not isinstance(lik.second, Pair):
        return {**first, **{f"{name}_1": value for name, value in second.items()}}
    for name, value in second.items():
        base, number = name.rsplit("_", 1)
        first[f"{base}_{int(number) + 1}"] = value
    return first


@ops.renew_rows.register(Pair)
def _renew_rows(lik):
    ops.renew_rows(lik.first)
    ops.renew_rows(lik.second)


@ops.n_coordinates.register(Pair)
def _n_coordinates(lik):
    return ops.n_coordinates(lik.first) + ops.n_coordinates(lik.second)


@ops.coordinate.register(Pair)
def _coordinate(lik, i, d):
    n_first = ops.n_coordinates(lik.first)
    if d < n_first:
        return ops.coordinate(lik.first, i, d)
    return ops.coordinate(lik.second, i, d - n_first)


@ops.whiten.register(Pair)
def _whiten(lik, k, v):
    n_first = ops.n_coordinates(lik.first)
    ops.whiten(lik.first, k, v[:n_first])
    ops.whiten(lik.second, k, v[n_first:])

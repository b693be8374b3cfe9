"""Parameters of blocks of two likelihoods side by side: both parts have their own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bnpcluster._core import parameter_operations as ops
from bnpcluster.likelihoods.mixed.side_by_side import Pair


class PairParameters(NamedTuple):
    """The parameters of both parts."""

    first: Any
    second: Any


class PairSums(NamedTuple):
    """The sums of both parts."""

    first: Any
    second: Any


class PairScratch(NamedTuple):
    """The scratch space of both parts."""

    first: Any
    second: Any


@ops.draw_parameters.register(Pair)
def _draw_parameters(lik, n_blocks, rng):
    first = ops.draw_parameters(lik.first, n_blocks, rng)
    return PairParameters(first, ops.draw_parameters(lik.second, n_blocks, rng))


@ops.log_density.register(Pair)
def _log_density(lik, parameters, k, i):
    first = ops.log_density(lik.first, parameters.first, k, i)
    return first + ops.log_density(lik.second, parameters.second, k, i)


@ops.log_density_of_parameters.register(Pair)
def _log_density_of_parameters(lik, slot, parameters, k):
    first = ops.log_density_of_parameters(lik.first, slot, parameters.first, k)
    return first + ops.log_density_of_parameters(lik.second, slot, parameters.second, k)


@ops.new_sums.register(Pair)
def _new_sums(lik, n_blocks):
    return PairSums(ops.new_sums(lik.first, n_blocks), ops.new_sums(lik.second, n_blocks))


@ops.add_row.register(Pair)
def _add_row(lik, parameters, sums, k, i):
    ops.add_row(lik.first, parameters.first, sums.first, k, i)
    ops.add_row(lik.second, parameters.second, sums.second, k, i)


@ops.put_sums.register(Pair)
def _put_sums(lik, slot, parameters, sums, k, m):
    first = ops.put_sums(lik.first, slot, parameters.first, sums.first, k, m)
    return ops.put_sums(lik.second, slot, parameters.second, sums.second, k, m) and first


@ops.add_rows.register(Pair)
def _add_rows(lik, parameters, sums, tile, labels, scratch):
    ops.add_rows(lik.first, parameters.first, sums.first, tile, labels, scratch.first)
    ops.add_rows(lik.second, parameters.second, sums.second, tile, labels, scratch.second)


@ops.add_log_densities.register(Pair)
def _add_log_densities(lik, parameters, tile, blocks, slack, scratch, scores):
    # What one part loses, the other may win back: neither may leave out anything.
    one, two = parameters.first, parameters.second
    ops.add_log_densities(lik.first, one, tile, blocks, math.inf, scratch.first, scores)
    ops.add_log_densities(lik.second, two, tile, blocks, math.inf, scratch.second, scores)


@ops.new_scratch.register(Pair)
def _new_scratch(lik, n_blocks):
    return PairScratch(*(ops.new_scratch(part, n_blocks) for part in (lik.first, lik.second)))

"""The exact distribution of the outcome of a random function, by enumeration of its branches.

A kernel decides by comparing uniform and exponential variables with numbers. Here the variables
are objects that know only the interval they lie in. A comparison the interval does not settle is a
decision: the function goes on with one answer, and is run again from its beginning with each of the
others. The probability of an answer is that of its part of the interval, given the interval.
Nothing is sampled; a use of a variable that cannot be followed so raises TypeError.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

# Ends of intervals that are nearer than their own rounding errors are one end. Without it,
# inversion over weights that sum to 1 - 1e-16 would visit what follows the last one.
ROUNDING = 1e-15


def outcomes(
    run: Callable[[Any], Hashable], *, branches: int = 2_000_000, depth: int = 1_000
) -> dict[Hashable, float]:
    """Exact distribution of what `run(rng)` returns, by outcome.

    Parameters
    ----------
    run
        Function that draws with `rng.random()` and `rng.standard_exponential()` only, and, given
        the same answers to its comparisons, does the same at every call.
    branches
        Most executions of `run` before giving up.
    depth
        Most decisions in one of them.

    Examples
    --------
    >>> outcomes(lambda rng: rng.random() < 0.25)
    {True: 0.25, False: 0.75}
    """
    found: dict[Hashable, float] = {}
    pending: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    done = 0
    while pending:
        if done == branches:
            raise RuntimeError(f"The function has more than {branches} branches.")
        done += 1
        branch = Branch(pending, *pending.pop(), depth)
        outcome = run(branch)
        branch.end()
        if branch.probability > 0.0:  # 0: the product of many small factors
            found[outcome] = found.get(outcome, 0.0) + branch.probability
    return found


def transition_matrix(
    states: Sequence[Hashable], step: Callable[[Any, Any], Hashable], **limits: int
) -> np.ndarray:
    """Matrix of P(step(states[i], rng) = states[j]); `limits` are those of `outcomes`."""
    column = {state: j for j, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for outcome, probability in outcomes(lambda rng, s=state: step(s, rng), **limits).items():
            if outcome not in column:
                raise ValueError(f"{state} leads to {outcome}, which is not among the states.")
            matrix[i, column[outcome]] = probability
    return matrix


class Branch:
    """The generator of one execution: repeats given decisions, then takes the first answers.

    The other answers to new decisions are put on the list `pending`, which all executions share.
    """

    def __init__(self, pending: list, decisions: tuple[int, ...], probability: float, depth: int):
        self.pending, self.probability, self.depth = pending, probability, depth
        self.decisions = list(decisions)
        self.repeated, self.given = 0, len(decisions)

    def random(self) -> Value:
        return Value(Uniform(self, 0.0, 1.0), 1.0, 0.0)

    def standard_exponential(self) -> Value:
        return Value(Exponential(self, 0.0, math.inf), 1.0, 0.0)

    def __getattr__(self, name: str):
        raise AttributeError(f"The branches of rng.{name} cannot be enumerated.")

    def decide(self, variable: Variable, ends: list[float], parts: list[int]) -> int:
        """One of `parts`, where part j is the interval from ends[j] to ends[j + 1]."""
        if self.repeated < self.given:
            part = self.decisions[self.repeated]
            self.repeated += 1
            if part not in parts:
                raise RuntimeError(DIFFERS)
            return part
        if len(self.decisions) == self.depth:
            raise RuntimeError(f"The function takes more than {self.depth} decisions.")
        ways = [(j, self.probability * variable.share(ends[j], ends[j + 1])) for j in parts]
        first, *others = [way for way in ways if way[1] > 0.0] or ways[:1]
        for j, probability in others:
            self.pending.append(((*self.decisions, j), probability))
        self.decisions.append(first[0])
        self.probability = first[1]
        return first[0]

    def end(self) -> None:
        if self.repeated < self.given:
            raise RuntimeError(DIFFERS)


DIFFERS = (
    "The function behaves differently when it is run again: does it alter what it starts from?"
)


class Variable:
    """A random variable known to lie between `low` and `high`."""

    __slots__ = ("branch", "high", "low")

    def __init__(self, branch: Branch, low: float, high: float):
        self.branch, self.low, self.high = branch, low, high

    def part(self, cuts: list[float]) -> int:
        """How many of the ascending `cuts` lie below the variable; remembers the answer."""
        ends = [self.low, *cuts, self.high]
        parts = [j for j in range(len(cuts) + 1) if ends[j] < ends[j + 1]]
        j = parts[0] if len(parts) == 1 else self.branch.decide(self, ends, parts)
        self.low, self.high = ends[j], ends[j + 1]
        return j

    def cut(self, at: float, error: float) -> float:
        """The number `at`, known up to `error`, as a cut of the interval."""
        if at <= self.low or (at < self.high and at - self.low <= error):
            return self.low
        return self.high if at >= self.high or self.high - at <= error else at

    def share(self, low: float, high: float) -> float:
        """Probability of a part of the interval, given the interval."""
        raise NotImplementedError


class Uniform(Variable):
    __slots__ = ()

    def share(self, low: float, high: float) -> float:
        return (high - low) / (self.high - self.low)


class Exponential(Variable):
    __slots__ = ()

    def share(self, low: float, high: float) -> float:
        # Relative to self.low, since exponentials have no memory: nothing cancels in the tail.
        part, whole = math.expm1(low - high), math.expm1(self.low - self.high)
        return math.exp(self.low - low) * part / whole


def _refuse(self, *_):
    raise TypeError(
        "A random variable may only be shifted, scaled, compared with numbers and, if bounded, "
        "truncated by int(): branches of other uses cannot be enumerated."
    )


def _number(x: Any) -> float:
    if isinstance(x, float | int | np.floating | np.integer):
        return float(x)
    if isinstance(x, Value):
        raise TypeError("Branches on two random variables at once cannot be enumerated.")
    raise TypeError(f"A random variable meets a {type(x).__name__}, which is not a number.")


class Value:
    """scale * variable + shift; all values made from a variable share it."""

    __slots__ = ("scale", "shift", "variable")
    __array_ufunc__ = None  # so that numpy's scalars leave the operation to this class

    def __init__(self, variable: Variable, scale: float, shift: float):
        self.variable, self.scale, self.shift = variable, scale, shift

    def __add__(self, other) -> Value:
        return Value(self.variable, self.scale, self.shift + _number(other))

    def __sub__(self, other) -> Value:
        return Value(self.variable, self.scale, self.shift - _number(other))

    def __rsub__(self, other) -> Value:
        return Value(self.variable, -self.scale, _number(other) - self.shift)

    def __mul__(self, other) -> Value:
        factor = _number(other)
        if not math.isfinite(self.scale * factor):
            raise TypeError(f"A random variable cannot be multiplied by {factor}.")
        return Value(self.variable, self.scale * factor, self.shift * factor)

    def __neg__(self) -> Value:
        return Value(self.variable, -self.scale, -self.shift)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other) -> bool:
        return self._compare(operator.lt, _number(other))

    def __le__(self, other) -> bool:
        return self._compare(operator.le, _number(other))

    def __gt__(self, other) -> bool:
        return self._compare(operator.gt, _number(other))

    def __ge__(self, other) -> bool:
        return self._compare(operator.ge, _number(other))

    def __int__(self) -> int:
        if self.scale == 0.0:
            return int(self.shift)
        v = self.variable
        low, high = sorted((self.scale * v.low + self.shift, self.scale * v.high + self.shift))
        if low < 0.0 or high == math.inf:
            _refuse(self)
        first = math.floor(low)
        return first + self._count_below(range(first + 1, math.floor(high) + 1))

    def _compare(self, relation: Callable, number: float) -> bool:
        if self.scale == 0.0 or not math.isfinite(self.shift):
            return relation(self.shift, number)
        if not math.isfinite(number):
            return relation(0.0, number)  # as any finite value; false for nan
        # Whether equality counts does not matter: it has probability 0.
        return relation(self._count_below([number]), 0.5)

    def _count_below(self, numbers: Sequence[float]) -> int:
        """How many of the ascending numbers lie below the value."""
        shift, scale, v = self.shift, self.scale, self.variable
        unit = ROUNDING / abs(scale)
        cuts = [v.cut((x - shift) / scale, unit * (abs(x) + abs(shift))) for x in numbers]
        return v.part(cuts) if scale > 0.0 else len(cuts) - v.part(cuts[::-1])

    __float__ = __index__ = __bool__ = __eq__ = __ne__ = __hash__ = __abs__ = __pos__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __pow__ = __rpow__ = __divmod__ = __rdivmod__ = _refuse
    __round__ = __trunc__ = __floor__ = __ceil__ = _refuse

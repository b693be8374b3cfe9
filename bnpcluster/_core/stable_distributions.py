"""Positive stable distributions: total masses, tilted or not, and size-biased jumps.

S of index s in (0, 1) has E exp(-l S) = exp(-l^s). Let U be uniform on (0, pi), E standard
exponential and A(u) = (sin(s u)^s sin((1-s) u)^(1-s) / sin u)^(1/(1-s)), which increases from
A(0) = (1-s) s^(s/(1-s)). Then S = (A(U) / E)^a with a = (1-s)/s has this distribution (Kanter).
The functions work with log masses, because masses overflow for small s.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.jit import kernel

NEAR_ONE = 1 - 1e-12  # times pi, the largest angle with positive sines


def log_zolotarev(u: NDArray, s: float) -> NDArray:
    """log A(u)"""
    parts = s * np.log(np.sin(s * u)) + (1 - s) * np.log(np.sin((1 - s) * u))
    return (parts - np.log(np.sin(u))) / (1 - s)


def log_lowest(s: float) -> float:
    """log A(0)"""
    return math.log(1 - s) + s / (1 - s) * math.log(s)


def open_uniform(size: int, rng: np.random.Generator) -> NDArray:
    """Uniforms on (0, pi), without both ends."""
    return np.pi * NEAR_ONE * (1 - rng.random(size))


def log_stable(s: float, size: int, rng: np.random.Generator) -> NDArray:
    """Draws of log S."""
    u = open_uniform(size, rng)
    return (1 - s) / s * (log_zolotarev(u, s) - np.log(rng.standard_exponential(size)))


def log_polynomially_tilted(theta: float, s: float, size: int, rng: np.random.Generator) -> NDArray:
    """Draws of log T, T with density proportional to t^-theta f_s(t), theta > -s.

    For theta > 0, T = (A(u) / G)^a with u of density A(u)^-w, w = theta a, and G ~ Gamma(1 + w).
    For theta < 0, T = T' / (1 - V) with T' of theta + s and V ~ Beta(1 - s, theta + s): the mass
    before the first size-biased jump is the jump plus the mass after it.
    """
    if theta == 0.0:
        return log_stable(s, size, rng)
    if theta < 0.0:
        before = log_polynomially_tilted(theta + s, s, size, rng)
        # 1 - V is Beta(theta + s, 1 - s), from Gammas, whose logs do not underflow.
        kept, jump = (_log_gamma(shape, size, rng) for shape in (theta + s, 1 - s))
        return before - kept + np.logaddexp(kept, jump)
    a = (1 - s) / s
    w = theta * a
    u = _angles(w, s, size, rng)
    return a * (log_zolotarev(u, s) - np.log(rng.gamma(1 + w, size=size)))


def _log_gamma(shape: float, size: int, rng: np.random.Generator) -> NDArray:
    """Logs of Gamma variables: Gamma(a) is Gamma(a + 1) U^(1/a)."""
    return np.log(rng.gamma(shape + 1, size=size)) - rng.standard_exponential(size) / shape


def _angles(w: float, s: float, size: int, rng: np.random.Generator) -> NDArray:
    """Draws of u with density proportional to A(u)^-w on (0, pi).

    By rejection: A(u) >= A(0) exp(s u^2 / 2), so a half-normal or a uniform density is an envelope.
    """
    found: NDArray = np.empty(0)
    spread = 1.0 / math.sqrt(w * s)
    while len(found) < size:
        log_envelope = np.zeros(size)
        if spread > 1.5:
            u = open_uniform(size, rng)
        else:
            u = np.abs(spread * rng.standard_normal(size))
            u = u[(u > 0) & (u < np.pi)]
            log_envelope = -0.5 * w * s * u**2
        log_p = -w * (log_zolotarev(u, s) - log_lowest(s)) - log_envelope
        found = np.append(found, u[np.log(1 - rng.random(len(u))) < log_p])
    return found[:size]


def log_exponentially_tilted(tau: float, s: float, size: int, rng: np.random.Generator) -> NDArray:
    """Draws of log T, T with density exp(tau - tau^(1/s) t) f_s(t).

    For a small tau, T is the sum of m = ceil(tau) independent variables S m^(-1/s), each with the
    same tilt. Rejection accepts each of them with probability at least 1 / e.
    """
    if tau > 2.0:
        return _log_strongly_tilted(tau, s, size, rng)
    m = math.ceil(tau)
    total = np.full(size, -np.inf)
    for _ in range(m):
        found: NDArray = np.empty(0)
        while len(found) < size:
            log_t = log_stable(s, size, rng) - math.log(m) / s
            with np.errstate(over="ignore"):  # masses that overflow are rejected
                tilt = np.exp(math.log(tau) / s + log_t)
            found = np.append(found, log_t[np.log(1 - rng.random(size)) < -tilt])
        total = np.logaddexp(total, found[:size])
    return total


def _log_strongly_tilted(tau: float, s: float, size: int, rng: np.random.Generator) -> NDArray:
    """The same for tau > 2, by rejection.

    T = (A(u) / (r y))^a with r = r(u) = tau a^s A(u)^(1-s), where u and y have a density
    proportional to r exp(-r h(y)), h(y) = y + y^-a / a. Its least value is h(1) = 1 / (1-s), and
    r >= r0 (1 + s (1-s) u^2 / 2) with r0 = r(0) = (1-s) tau. Proposals are y from a density
    proportional to exp(-r0 h(y)) and a normal or a uniform u.
    """
    a, r0 = (1 - s) / s, (1 - s) * tau
    spread = math.sqrt(2.0 / (tau * s * (1 - s)))
    found: NDArray = np.empty(0)
    while len(found) < size:
        y = _balanced(r0, a, size, rng)
        u = open_uniform(len(y), rng)
        log_envelope = np.zeros(len(y))
        if spread < 1.5:
            u = np.abs(spread * rng.standard_normal(len(y)))
            log_envelope = -0.5 * (u / spread) ** 2
        inside = (u > 0) & (u < np.pi * NEAR_ONE)
        y, u, log_envelope = y[inside], u[inside], log_envelope[inside]
        log_a = log_zolotarev(u, s)
        log_more = (1 - s) * (log_a - log_lowest(s))  # log r / r0
        with np.errstate(over="ignore"):
            log_p = log_more - np.expm1(log_more) * (drop(y, r0, a) + tau)
        accepted = np.log(1 - rng.random(len(u))) < log_p - log_envelope
        log_t = a * (log_a - math.log(r0) - log_more - np.log(y))
        found = np.append(found, log_t[accepted])
    return found[:size]


def _balanced(r0: float, a: float, size: int, rng: np.random.Generator) -> NDArray:
    """Proposals y, most of `size`, of density proportional to exp(-r0 h(y)); see above.

    Its logarithm is concave, with the mode 1: the envelope is flat where it is less than 1 below
    its maximum, and follows the tangents beyond.
    """
    low, high = (_where_one_below(r0, a, sign) for sign in (-1.0, 1.0))
    fall = r0 * (1.0 - high ** (-a - 1.0))
    rise = r0 * math.expm1(min(-(a + 1.0) * math.log(low), 700.0))
    areas = np.array([high - low, math.exp(-1.0) / fall, math.exp(-1.0) / rise])
    piece = rng.choice(3, size=size, p=areas / areas.sum())
    beyond = rng.standard_exponential(size)
    y = np.where(piece == 1, high + beyond / fall, low - beyond / rise)
    y = np.where(piece == 0, low + (high - low) * rng.random(size), y)
    inside = y > 0
    y = np.where(inside, y, 1.0)
    log_p = np.where(piece == 0, 0.0, 1.0 + beyond) - drop(y, r0, a)
    return y[inside & (np.log(1 - rng.random(size)) < log_p)]


def drop(y: Any, r0: float, a: float) -> Any:
    """r0 (h(y) - h(1))"""
    return r0 * (y - 1.0 + np.expm1(-a * np.log(y)) / a)


def _where_one_below(r0: float, a: float, sign: float) -> float:
    """The y below (sign -1) or above 1 where `drop` is 1; at least e^-700."""
    near, far = 0.0, 1e-9
    while drop(math.exp(sign * far), r0, a) < 1.0 and far < 700.0:
        far = min(2.0 * far, 700.0)
    for _ in range(60):
        middle = 0.5 * (near + far)
        if drop(math.exp(sign * middle), r0, a) < 1.0:
            near = middle
        else:
            far = middle
    return math.exp(sign * near)


@kernel
def log_zolotarev_at(u, s):
    """log A(u)"""
    value = s * math.log(math.sin(s * u)) + (1 - s) * math.log(math.sin((1 - s) * u))
    return (value - math.log(math.sin(u))) / (1 - s)


@kernel
def log_share_left(log_v, s, rng):
    """log(1 - x / v) of a size-biased jump x from the remaining mass v.

    x has density proportional to x^-s f_s(v - x) on (0, v). At s = 1/2 it is
    2 v^2 Z^2 / (1 + 2 v Z^2) for a standard normal Z. Otherwise, with x = v (1 - (1 + y)^-a) and
    z = v^(-1/a) A(u), the joint density of u and y is a product whose factors have envelopes.
    """
    if s == 0.5:
        z = rng.standard_normal()
        return -math.log1p(2.0 * math.exp(min(log_v, 700.0)) * z * z)
    a = (1.0 - s) / s
    while True:
        log_z = log_level(-log_v / a, s, rng)
        log_y = log_gamma_mixture(log_z, s, rng) - log_z
        log_left = -a * log_one_plus_exp(log_y)
        log_ratio = log_y - log_one_minus_exp(log_left) - math.log(max(1.0, 1.0 / a))
        if math.log(1.0 - rng.random()) < s * log_ratio - log_one_plus_exp(s * log_y):
            return log_left


@kernel
def log_level(log_x0, s, rng):
    """log of z = x0 A(u), u with density prop exp(-z) (G z^s + 1) on (0, pi), G = Gamma(1 - s).

    Since A(u) >= A(0) (1 + s u^2 / 2), exp(-z / 2) has a half-normal envelope, or a flat one if
    that is too wide. exp(-z / 2) (G z^s + 1) is bounded.
    """
    log_g = math.lgamma(1.0 - s)
    z0 = math.exp(min(log_x0 + log_zolotarev_at(1e-9, s), 700.0))
    worst = max(z0, 2.0 * s)
    log_one, log_other = -0.5 * z0, log_g + s * math.log(worst) - 0.5 * worst
    bound = math.exp(log_one) + math.exp(log_other)
    flat = z0 * s * math.pi**2 <= 4.0
    while True:
        log_envelope = -0.5 * z0
        if flat:
            u = math.pi * (1.0 - rng.random()) * NEAR_ONE
        else:
            u = abs(rng.standard_normal()) * math.sqrt(2.0 / (z0 * s))
            if not 0.0 < u < math.pi * NEAR_ONE:
                continue
            log_envelope -= 0.25 * z0 * s * u * u
        log_z = log_x0 + log_zolotarev_at(u, s)
        log_p = log_one_plus_exp(log_g + s * log_z) - math.exp(min(log_z, 700.0)) - log_envelope
        level = 1.0 - rng.random()
        if level * bound > 0.0:
            log_threshold = math.log(level * bound)
        else:  # the bound underflows
            log_threshold = math.log(level) + log_one + log_one_plus_exp(log_other - log_one)
        if log_threshold < log_p:
            return log_z


@kernel
def log_gamma_mixture(log_z, s, rng):
    """log of a Gamma(1 - s) or an exponential variable, with odds G z^s to 1."""
    odds = math.exp(min(math.lgamma(1.0 - s) + s * log_z, 700.0))
    if rng.random() * (odds + 1.0) < odds:
        # Gamma(1 - s) is Gamma(2 - s) U^(1/(1-s)). Its draws may underflow, their logs do not.
        return math.log(rng.standard_gamma(2.0 - s)) + math.log(1.0 - rng.random()) / (1.0 - s)
    return math.log(rng.standard_exponential())


@kernel
def log_one_plus_exp(x):
    """log(1 + exp(x))"""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@kernel
def log_one_minus_exp(x):
    """log(1 - exp(x)) for x < 0"""
    return math.log(-math.expm1(min(x, -1e-300)))

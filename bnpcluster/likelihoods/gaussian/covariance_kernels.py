"""Kernels of one update of the learned hyper-parameters of full covariances.

Every block has the inverse R of the Cholesky factor of its S, as the slots have it, for the scale
matrix Psi at the start of the update. For another scale matrix Psi + D, the new S is
R^-1 (I + R D R') R^-T. The matrix I + R D R' is well conditioned even where S is not, because of an
extreme row. So all determinants and solutions use its Cholesky factor.
"""

from __future__ import annotations

import math

from bnpcluster._core.jit import kernel
from bnpcluster.likelihoods.gaussian.learned_grid import WINDOW, draw_from_window, window_of

STEP = 0.5  # standard deviation of the moves of log M in one direction
WIDE = 1.0  # and of log kappa
DIRECTIONS = 8  # of such moves in a round, times columns
COLUMNS, MOST_ROUNDS = 16, 4  # so many rounds of an update, times columns; and at most
# Data with ties have moves of M beside the draws. They take half of the time, so of MOST_ROUNDS
# rounds only the last one has them. With more columns there are fewer rounds, and all have them.


@kernel
def update_covariance(hyper, prior, prior_mean, blocks, beta, rng):
    """Update `hyper.expected` and `prior`, which has kappa and nu."""
    d = len(hyper.floor)
    hyper.numbers[0] = multiplier(prior[1], d)  # of the scale matrix in the blocks
    copy_matrix(hyper.start, hyper.expected, 1.0)
    # With few columns, several rounds cost hardly more than the preparations around them.
    n_rounds = min(max(COLUMNS // d, 1), MOST_ROUNDS)
    for r in range(n_rounds):
        if len(hyper.grid) > 0:
            draw_nu(hyper, prior, blocks, beta, rng)
        if len(hyper.df) > 0:
            if beta == 1.0:
                draw_expected(hyper, prior, blocks, rng)
            tied = len(hyper.ties) > 0 and (r + 1 == n_rounds or n_rounds < MOST_ROUNDS)
            if beta != 1.0 or tied:
                move_expected(hyper, prior, blocks, beta, rng)
    if len(hyper.kappa) > 0:
        move_kappa(hyper, prior, prior_mean, blocks, beta, rng)


@kernel
def copy_matrix(to, source, factor):
    """to = factor * source"""
    for a in range(len(to)):
        for b in range(len(to)):
            to[a, b] = factor * source[a, b]


@kernel
def multiplier(nu, d):
    """The c of the scale matrix c (M + F)."""
    return max(nu - d - 1.0, 1.0)


@kernel
def set_change(hyper, c, expected):
    """Set `hyper.change` to c (expected + F) less the scale matrix in the blocks."""
    change, old = hyper.change, hyper.numbers[0]
    for a in range(len(change)):
        for b in range(len(change)):
            change[a, b] = c * expected[a, b] - old * hyper.start[a, b]
        change[a, a] += (c - old) * hyper.floor[a]


@kernel(inline=True, reassociate=True)
def dot(A, a, B, b, stop):
    """A[a, :stop] . B[b, :stop]"""
    total = 0.0
    for c in range(stop):
        total += A[a, c] * B[b, c]
    return total


@kernel
def whiten_change(hyper, R):
    """Set `hyper.whitened` to R D R'."""
    for a in range(len(R)):
        for c in range(len(R)):
            hyper.half[a, c] = dot(R, a, hyper.change, c, a + 1)
        for b in range(a + 1):
            hyper.whitened[a, b] = dot(hyper.half, a, R, b, b + 1)


@kernel
def factorise(A, one, C):
    """Fill the lower triangle of C with the Cholesky factor of A, plus `one` times the identity.

    Return the log determinant; -inf if the matrix is not positive definite.
    """
    log_det = 0.0
    for a in range(len(A)):
        for b in range(a):
            C[a, b] = (A[a, b] - dot(C, a, C, b, b)) / C[b, b]
        square = one + A[a, a] - dot(C, a, C, a, a)
        if not square > 0.0:
            return -math.inf
        C[a, a] = math.sqrt(square)
        log_det += math.log(square)
    return log_det


@kernel
def divide(C, R, out):
    """out = C^-1 R for lower triangular C and R; out may be R."""
    for a in range(len(C)):
        for b in range(a + 1):
            out[a, b] = R[a, b]
        for c in range(a):
            for b in range(c + 1):
                out[a, b] -= C[a, c] * out[c, b]
        for b in range(a + 1):
            out[a, b] /= C[a, a]


@kernel
def invert_factor(A, C, R):
    """Divide R by the Cholesky factor of A, which is written to C; the lower triangles alone."""
    factorise(A, 0.0, C)
    divide(C, R, R)


@kernel
def log_det_change(hyper, R):
    """log |I + R D R'|, whose Cholesky factor is then in `hyper.factor`; or -inf."""
    whiten_change(hyper, R)
    return factorise(hyper.whitened, 1.0, hyper.factor)


@kernel
def add_wishart(C, R, df, factor, hyper, out, rng):
    """Add factor times a draw from Wishart(df, (C R^-1 R^-T C')^-1) to the lower triangle of out.

    C and R are lower triangular. With Q = C^-1 R and Bartlett's A, the draw is (A' Q)' (A' Q).
    """
    d, Q, V, A = len(C), hyper.half, hyper.proposed, hyper.random
    divide(C, R, Q)
    for a in range(d):
        for b in range(d):
            V[a, b] = 0.0
            A[a, b] = rng.standard_normal() if b < a else 0.0
        A[a, a] = math.sqrt(rng.chisquare(df - a))
    for a in range(d):
        for j in range(a + 1):
            for b in range(a + 1):
                V[j, b] += A[a, j] * Q[a, b]
    for j in range(d):
        for a in range(d):
            for b in range(a + 1):
                out[a, b] += factor * V[j, a] * V[j, b]


@kernel
def log_det_expected(hyper, expected, floor):
    """log |M + floor * F|, or -inf."""
    for a in range(len(expected)):
        for b in range(a + 1):
            hyper.half[a, b] = expected[a, b]
        hyper.half[a, a] += floor * hyper.floor[a]
    return factorise(hyper.half, 0.0, hyper.factor)


@kernel
def log_multigamma(df, d):
    """log Gamma_d(df / 2), up to a constant that depends on d."""
    total = 0.0
    for i in range(d):
        total += math.lgamma(0.5 * (df - i))
    return total


@kernel
def draw_nu(hyper, prior, blocks, beta, rng):
    """Draw nu from a part of the grid given M, with the covariances integrated out."""
    d, grid, log_p, old = len(hyper.floor), hyper.grid, hyper.log_p, hyper.numbers[0]
    moved, A = hyper.precision, hyper.half
    first = window_of(grid, prior[1] - d - 1.0, rng)
    start, stop = max(first, 0), min(first + WINDOW, len(grid))
    log_det = log_det_expected(hyper, hyper.expected, 1.0)
    for g in range(start, stop):
        nu = grid[g] + d + 1.0
        of_block = 0.5 * nu * (d * math.log(max(grid[g], 1.0)) + log_det) - log_multigamma(nu, d)
        log_p[g] = len(blocks.size) * of_block
    for k in range(len(blocks.size)):
        n = blocks.size[k]
        # R D R' is linear in c: its value at the old c, and R (M + F) R' times the change of c.
        set_change(hyper, old, hyper.expected)
        whiten_change(hyper, blocks.inv_chol[k])
        copy_matrix(moved, hyper.whitened, 1.0)
        for a in range(d):
            for b in range(d):
                hyper.change[a, b] = hyper.expected[a, b]
            hyper.change[a, a] += hyper.floor[a]
        whiten_change(hyper, blocks.inv_chol[k])
        for g in range(start, stop):
            c, nu = max(grid[g], 1.0), grid[g] + d + 1.0
            for a in range(d):
                for b in range(a + 1):
                    A[a, b] = moved[a, b] + (c - old) * hyper.whitened[a, b]
            own = blocks.log_det[k] + factorise(A, 1.0, hyper.factor)
            log_p[g] += log_multigamma(nu + n, d) - 0.5 * (nu + n) * own
    for g in range(start, stop):
        log_p[g] *= beta
    prior[1] = draw_from_window(grid, log_p, start, stop, rng) + d + 1.0


@kernel
def draw_expected(hyper, prior, blocks, rng):
    """Draw the precisions of the blocks, then M given these: a proposal if F is not zero."""
    d, nu, H = len(hyper.floor), prior[1], hyper.precision
    c, n_blocks = multiplier(nu, d), len(blocks.size)
    set_change(hyper, c, hyper.expected)
    copy_matrix(H, hyper.inverse_guess, 1.0)
    for k in range(n_blocks):
        log_det_change(hyper, blocks.inv_chol[k])
        add_wishart(hyper.factor, blocks.inv_chol[k], nu + blocks.size[k], c, hyper, H, rng)
    factorise(H, 0.0, hyper.factor)
    set_identity(hyper.whitened)
    copy_matrix(H, H, 0.0)
    df = hyper.df[0] + n_blocks * nu
    add_wishart(hyper.factor, hyper.whitened, df, 1.0, hyper, H, rng)
    for a in range(d):
        for b in range(a + 1):
            hyper.proposed[a, b] = hyper.proposed[b, a] = H[a, b]
    log_det = log_det_expected(hyper, hyper.proposed, 0.0)
    if not log_det > -math.inf:  # singular to working precision
        return
    log_ratio = log_det_expected(hyper, hyper.proposed, 1.0) - log_det
    log_ratio -= log_det_expected(hyper, hyper.expected, 1.0)
    log_ratio += log_det_expected(hyper, hyper.expected, 0.0)
    if math.log(1.0 - rng.random()) <= 0.5 * n_blocks * nu * log_ratio:
        copy_matrix(hyper.expected, hyper.proposed, 1.0)


@kernel
def move_expected(hyper, prior, blocks, beta, rng):
    """Metropolis moves of M with the covariances integrated out, along random directions."""
    d, c = len(hyper.floor), multiplier(prior[1], len(hyper.floor))
    set_change(hyper, c, hyper.expected)
    for k in range(len(blocks.size)):
        log_det_change(hyper, blocks.inv_chol[k])
        divide(hyper.factor, blocks.inv_chol[k], blocks.moved[k])
    set_identity(hyper.proposed)
    log_det_expected(hyper, hyper.expected, 1.0)
    divide(hyper.factor, hyper.proposed, hyper.proposed)
    set_identity(hyper.random)
    factorise(hyper.expected, 0.0, hyper.random)
    for _ in range(DIRECTIONS * d):
        stretch(hyper, prior, blocks, beta, rng)


@kernel
def set_identity(A):
    """Make A the identity."""
    copy_matrix(A, A, 0.0)
    for a in range(len(A)):
        A[a, a] = 1.0


@kernel
def stretch(hyper, prior, blocks, beta, rng):
    """Propose M + g a a' for a = A w, M = A A', a random unit vector w and g = e^(2t) - 1.

    The proposal is symmetric in the measure |M|^(-(d + 1) / 2) dM. `hyper.random` is A,
    `hyper.proposed` the inverse factor of M + F, `blocks.moved` those of the blocks.
    """
    d, nu, A, w, a = len(hyper.floor), prior[1], hyper.random, hyper.half[0], hyper.whitened[0]
    t, c, length = STEP * rng.standard_normal(), multiplier(nu, d), 0.0
    for j in range(d):
        w[j] = rng.standard_normal()
        length += w[j] * w[j]
    for j in range(d):
        w[j] /= math.sqrt(length)
    for i in range(d):
        a[i] = 0.0
        for j in range(d):
            a[i] += A[i, j] * w[j]
    g, log_ratio = math.expm1(2.0 * t), hyper.df[0] * t
    for i in range(d):
        for j in range(d):
            log_ratio -= 0.5 * g * a[i] * hyper.inverse_guess[i, j] * a[j]
    marginal = len(blocks.size) * nu * math.log1p(g * square(hyper.proposed, a))
    for k in range(len(blocks.size)):
        marginal -= (nu + blocks.size[k]) * math.log1p(g * c * square(blocks.moved[k], a))
    if not math.log(1.0 - rng.random()) < log_ratio + 0.5 * beta * marginal:
        return
    for i in range(d):
        for j in range(d):
            A[i, j] += math.expm1(t) * a[i] * w[j]
        for j in range(i + 1):  # M stays symmetric to the last bit, as a resumed chain reads it
            hyper.expected[i, j] += g * a[i] * a[j]
            hyper.expected[j, i] = hyper.expected[i, j]
    stretch_factor(hyper, hyper.proposed, a, g)
    for k in range(len(blocks.size)):
        stretch_factor(hyper, blocks.moved[k], a, g * c)


@kernel
def square(R, a):
    """|R a|^2 for a lower triangular R."""
    total = 0.0
    for i in range(len(R)):
        value = 0.0
        for j in range(i + 1):
            value += R[i, j] * a[j]
        total += value * value
    return total


@kernel
def stretch_factor(hyper, R, a, g):
    """R becomes C^-1 R with the Cholesky factor C of I + g z z', where z = R a.

    C[i, j] = g z[i] z[j] / sqrt(t[i] t[i - 1]) below the diagonal and sqrt(t[i] / t[i - 1]) on it,
    where t[i] is 1 plus g times the sum of the first squares.
    """
    z, total, before = hyper.factor[0], hyper.precision[0], 1.0
    for i in range(len(R)):
        z[i], total[i] = 0.0, 0.0
        for j in range(i + 1):
            z[i] += R[i, j] * a[j]
    for i in range(len(R)):
        after = before + g * z[i] * z[i]
        diagonal, weight = math.sqrt(after / before), z[i] / math.sqrt(after * before)
        for b in range(i + 1):
            R[i, b] = (R[i, b] - g * z[i] * total[b]) / diagonal
            total[b] += weight * R[i, b]
        before = after


@kernel
def move_kappa(hyper, prior, prior_mean, blocks, beta, rng):
    """A Metropolis move of log kappa, with means and covariances integrated out."""
    d, old, nu, z = len(hyper.floor), prior[0], prior[1], hyper.random
    new = old * math.exp(WIDE * rng.standard_normal())
    set_change(hyper, multiplier(nu, d), hyper.expected)
    total = 0.0
    for k in range(len(blocks.size)):
        n, square = blocks.size[k], 0.0
        log_det_change(hyper, blocks.inv_chol[k])
        for a in range(d):  # z = C^-1 R (mean of the rows - prior mean)
            value = 0.0
            for b in range(a + 1):
                gap = (blocks.mean[k, b] - prior_mean[b]) * (old + n) / n
                value += blocks.inv_chol[k, a, b] * gap
            for b in range(a):
                value -= hyper.factor[a, b] * z[b, 0]
            z[a, 0] = value / hyper.factor[a, a]
            square += z[a, 0] * z[a, 0]
        change = new * n / (new + n) - old * n / (old + n)
        total += 0.5 * d * math.log(new * (old + n) / (old * (new + n)))
        total -= 0.5 * (nu + n) * math.log(max(1.0 + change * square, 1e-300))
    log_prior = hyper.kappa[0] * math.log(new / old) - hyper.kappa[1] * (new - old)  # of log kappa
    if math.log(1.0 - rng.random()) < log_prior + beta * total:
        prior[0] = new

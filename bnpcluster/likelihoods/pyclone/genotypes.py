"""PyClone's model of read counts, given the prevalence of a mutation and the copy numbers.

A sample is a mixture of normal cells (a share 1 - t), tumour cells without the mutation and tumour
cells with it. The prevalence phi is the share of the tumour cells that have the mutation. The
genotypes of the three kinds of cells are unknown, with a prior that depends on the copy numbers. A
genotype of c copies, n of them mutated, shows the variant in a share n / c of its reads. Because of
sequencing errors, this share is e if n = 0 and 1 - e if n = c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, logsumexp, xlog1py, xlogy

COLUMNS = ("ref_counts", "alt_counts", "normal_cn", "major_cn", "minor_cn", "tumour_content")
"""The data of a mutation in a sample, in the order of the columns of rows."""

CHUNK = 4096  # rows whose terms are computed together

# Two genotypes, of tumour cells without and with the mutation: the copies of the first, none of
# them mutated, then the copies of the second and the number of mutated ones.
State = tuple[int, int, int]


def _with_late_mutation(states: list[State], normal: int, total: int) -> list[State]:
    """Add the state in which the mutation came after the change of the copy number."""
    return states if total == normal else [*states, (total, total, 1)]


def _major(normal: int, major: int, minor: int) -> list[State]:
    total = major + minor
    states = [(normal, total, b) for b in range(1, major + 1)]
    return _with_late_mutation(states, normal, total)


def _parental(normal: int, major: int, minor: int) -> list[State]:
    total = major + minor
    states = [(normal, total, b) for b in sorted({1, minor, major} - {0})]
    return _with_late_mutation(states, normal, total)


def _total(normal: int, major: int, minor: int) -> list[State]:
    total = major + minor
    return [(c, total, b) for c, b in product(sorted({normal, total}), range(1, total + 1))]


GENOTYPES: dict[str, Callable[[int, int, int], list[State]]] = {
    "major_copy_number": _major,
    "parental_copy_number": _parental,
    "total_copy_number": _total,
    "no_zygosity": lambda normal, major, minor: [(normal, major + minor, 1)],
    "AB": lambda normal, major, minor: [(2, 2, 1)],
    "BB": lambda normal, major, minor: [(2, 2, 2)],
}
"""The states, which are equally probable a priori, given the copy numbers."""

DIPLOID = ("AB", "BB")  # whatever the given copy numbers are


class ReadModel(NamedTuple):
    """The distribution of reads, by the settings of the likelihood."""

    n_grid: int
    genotypes: str
    error_rate: float
    precision: float | None  # of the beta-binomial distribution; None for the binomial

    @property
    def grid(self) -> np.ndarray:
        """The grid of prevalences."""
        return np.linspace(0.0, 1.0, self.n_grid)

    def chances(self, reads: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Probability that a read shows the variant, as an array (row, phi, state).

        All rows have the copy numbers of the first row.
        """
        normal, major, minor = reads[0, 2:5].astype(int)
        states = np.array(GENOTYPES[self.genotypes](normal, major, minor), float)
        without, copies, mutated = states.T
        if self.genotypes in DIPLOID:
            normal = 2
        e, t, phi = self.error_rate, reads[:, 5, None, None], phi[:, None]
        variant = np.where(mutated == copies, 1.0 - e, mutated / copies)
        # Copies of the three kinds of cells.
        n, r, v = (1.0 - t) * normal, t * (1.0 - phi) * without, t * phi * copies
        return (n * e + r * e + v * variant) / (n + r + v)

    def log_terms(self, reads: np.ndarray) -> np.ndarray:
        """Log probability of the variant reads given the depth, as an array (row, point)."""
        out = np.empty((len(reads), self.n_grid))
        for some in _groups_of_equal_copies(reads):
            out[some] = self._log_terms(reads[some])
        return out

    def _log_terms(self, reads: np.ndarray) -> np.ndarray:
        """`log_terms` for rows of equal copy numbers."""
        chance = self.chances(reads, self.grid)
        depth = reads[:, 0] + reads[:, 1]
        b, rest = reads[:, 1, None, None], reads[:, 0, None, None]
        if self.precision is None:
            log_f = xlogy(b, chance) + xlog1py(rest, -chance)
        else:
            one, zero = self.precision * chance, self.precision * (1.0 - chance)
            log_f = betaln(b + one, rest + zero) - betaln(one, zero)
        choose = gammaln(depth + 1) - gammaln(reads[:, 1] + 1) - gammaln(reads[:, 0] + 1)
        return choose[:, None] + logsumexp(log_f, axis=2) - np.log(chance.shape[2])


def _groups_of_equal_copies(reads: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of rows with equal copy numbers, at most CHUNK at a time."""
    _, group = np.unique(reads[:, 2:5], axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        for start in range(0, len(rows), CHUNK):
            yield rows[start : start + CHUNK]

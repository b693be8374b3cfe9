"""Clusters of mutations of equal prevalence: PyClone's likelihood for read counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster.likelihoods.base import Likelihood, number_above
from bnpcluster.likelihoods.pyclone.genotypes import COLUMNS, GENOTYPES, ReadModel
from bnpcluster.likelihoods.pyclone.kernels import Reads, bind_reads, reads_of
from bnpcluster.likelihoods.pyclone.tables import as_reads, is_tidy, warn_of_purity, wide

DENSITIES = ("binomial", "beta_binomial")
LOWEST_RATE = 1e-9  # of errors e; below this, 1 - e loses its digits


class PyClone(Likelihood):
    """Clusters of mutations with the same prevalence among the tumour cells, in every sample.

    Per cluster and sample, the prevalence is uniform on a grid from 0 to 1, integrated out. Given
    the prevalence, the number of variant reads is binomial or beta-binomial. The unknown genotypes
    of the cells are averaged over a prior that depends on the copy numbers.

    Parameters
    ----------
    n_grid : int, default=101
        Number of points of the grid of prevalences.
    density : {"binomial", "beta_binomial"}, default="binomial"
        Distribution of the variant reads given the depth. Real reads are often overdispersed, which
        suits "beta_binomial".
    genotypes : str, default="major_copy_number"
        The possible genotypes, which are equally probable. ``"major_copy_number"``: 1 to `major_cn`
        copies of the mutation, or one copy if it came after the change of the copy number.
        ``"parental_copy_number"``: `major_cn`, `minor_cn` or 1 copies, or one copy after the
        change. ``"total_copy_number"``: any number of copies, before or after the change.
        ``"no_zygosity"``: one copy. ``"AB"``, ``"BB"``: two copies of the locus, one or both of
        them mutated.
    error_rate : float, default=1e-3
        Probability that a read shows the wrong allele, from 1e-9 to 0.5.
    precision : float, default=200.0
        Sum of the two parameters of the beta-binomial distribution. Smaller values give more
        overdispersion.

    Notes
    -----
    Mixtures with this likelihood accept a tidy data frame with a row per mutation and sample, as
    PyClone-VI does. Its columns are ``mutation_id, sample_id, ref_counts, alt_counts, normal_cn,
    major_cn, minor_cn, tumour_content`` (1 if there is no such column). An item is a mutation, in
    the order of first appearance. Missing samples of a mutation are ignored. Arrays have a row per
    mutation and the last six of these columns for each sample, all NaN if the sample is missing.

    New rows from `sample` have the depth and copy numbers of a random mutation of the data.

    References
    ----------
    Roth, A. et al. (2014). PyClone: statistical inference of clonal population structure in cancer.
    Nature Methods 11, 396-398.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster.likelihoods import PyClone
    >>> reads = np.array([[38, 12, 2, 2, 1, 0.8], [40, 30, 2, 2, 0, 0.8]])
    >>> PyClone().bind(reads).n_items
    2
    """

    has_density = False
    takes_nan = True

    def __init__(
        self,
        *,
        n_grid: int = 101,
        density: str = "binomial",
        genotypes: str = "major_copy_number",
        error_rate: float = 1e-3,
        precision: float = 200.0,
    ):
        self.n_grid = n_grid
        self.density = density
        self.genotypes = genotypes
        self.error_rate = error_rate
        self.precision = precision

    @classmethod
    def examples(cls, rng: np.random.Generator) -> list[tuple[Likelihood, np.ndarray]]:
        """One sample with the defaults, and three samples with missing mutations."""
        one = _some_reads(6, 1, rng)
        three = _some_reads(6, 3, rng)
        three[1, :6] = three[3, 6:] = np.nan
        given = cls(n_grid=30, density="beta_binomial", genotypes="total_copy_number", precision=9)
        return [(cls(), one), (given, three)]

    def _read_model(self) -> ReadModel:
        """The distribution of reads; raise an error if a parameter is invalid."""
        if isinstance(self.n_grid, bool) or not isinstance(self.n_grid, (int, np.integer)):
            raise TypeError(f"n_grid must be an integer, got {self.n_grid!r}.")
        if self.n_grid < 2:
            raise ValueError(f"n_grid must be at least 2, got {self.n_grid}.")
        for name, value, known in (
            ("density", self.density, DENSITIES),
            ("genotypes", self.genotypes, tuple(GENOTYPES)),
        ):
            if not isinstance(value, str) or value not in known:
                names = ", ".join(map(repr, known))
                raise ValueError(f"{name} must be one of {names}; got {value!r}.")
        error_rate = number_above("error_rate", self.error_rate, LOWEST_RATE, "a number")
        if error_rate >= 0.5:
            raise ValueError(f"error_rate must be below 0.5, got {error_rate!r}.")
        precision = number_above("precision", self.precision, allowed="a number")
        spread = precision if self.density == "beta_binomial" else None
        return ReadModel(int(self.n_grid), self.genotypes, error_rate, spread)

    def table(self, X: Any, known: Any = None) -> Any:
        """Convert a tidy table, with one row per mutation and sample, to one row per mutation."""
        if not is_tidy(X):
            return X
        rows = wide(X, self.error_rate, known)
        if known is None:
            warn_of_purity(X)
        return rows

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Prepare the mutations `X` for the kernels."""
        return bind_reads(self._reads(X), int(self.n_grid), capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """The same as `bind`, which always allows missing samples."""
        return self.bind(X, capacity)

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """Raise an error: without a depth, the reads of a missing sample are undefined."""
        raise TypeError(
            "The reads of missing samples cannot be imputed: use bnpcluster.pyclone.prevalences "
            "for the prevalence of mutations there."
        )

    def rows(self, bound: Any, X: np.ndarray) -> Any:
        """The same slots with other data: item i is now row i of `X`."""
        return bound._replace(**self._reads(X)._asdict())

    def _reads(self, X: np.ndarray) -> Reads:
        model, reads = self._read_model(), as_reads(X)
        seen = ~np.isnan(reads[..., 0])
        distinct, inverse = np.unique(reads[seen], axis=0, return_inverse=True)
        kind = np.full(seen.shape, -1)
        kind[seen] = inverse
        return reads_of(distinct, kind, model.log_terms(distinct))

    def features(self, X: np.ndarray) -> np.ndarray:
        """Expected prevalences given the reads; missing samples have the mean of the sample."""
        bound = self._reads(X)
        weights = bound.terms[:, : self.n_grid] / bound.terms.sum(axis=1, keepdims=True)
        seen = bound.kind >= 0
        prevalence = np.where(
            seen, np.append(weights @ self._read_model().grid, 0.0)[bound.kind], 0.0
        )
        mean = prevalence.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        return np.where(seen, prevalence, mean)

    def parameters(
        self, bound: Any, slots: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Prevalences of some slots in each sample, drawn from the posterior on the grid."""
        reached = bound.posterior[slots, :, : self.n_grid].cumsum(axis=2)
        points = rng.random(reached.shape[:2])[..., None] * reached[..., -1:]
        chosen = np.minimum((reached < points).sum(axis=2), self.n_grid - 1)
        return {"prevalences": self._read_model().grid[chosen]}

    def sample(self, bound: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """One new row from the posterior predictive of slot k."""
        model, row = self._read_model(), np.full((bound.kind.shape[1], len(COLUMNS)), np.nan)
        for s, r in enumerate(bound.kind[rng.integers(bound.n_items)]):
            if r >= 0:
                phi = rng.choice(model.grid, p=bound.posterior[k, s, : model.n_grid])
                row[s] = bound.distinct[r]
                chance = rng.choice(model.chances(row[s : s + 1], np.array([phi])).ravel())
                if model.precision is not None:
                    chance = rng.beta(model.precision * chance, model.precision * (1.0 - chance))
                depth = row[s, 0] + row[s, 1]
                row[s, 1] = rng.binomial(int(depth), chance)
                row[s, 0] = depth - row[s, 1]
        return row.ravel()


def _some_reads(n: int, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """A few mutations of two prevalences, at low depth and various copy numbers."""
    reads = np.empty((n, n_samples, len(COLUMNS)))
    depth = rng.integers(5, 30, size=(n, n_samples))
    phi = np.where(np.arange(n) % 2, 0.9, 0.2)[:, None]
    reads[..., 1] = rng.binomial(depth, phi / 2)
    reads[..., 0] = depth - reads[..., 1]
    reads[..., 2:5] = np.array([[2, 1, 1], [2, 2, 1], [1, 2, 0]])[rng.integers(3, size=depth.shape)]
    reads[..., 5] = 0.8
    return reads.reshape(n, -1)

"""Clusters of mutations of equal prevalence: PyClone's likelihood for read counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnpcluster.likelihoods.base import Likelihood, number_above
from bnpcluster.likelihoods.pyclone.genotypes import COLUMNS, GENOTYPES, ReadModel
from bnpcluster.likelihoods.pyclone.kernels import Reads, bind_reads, reads_of
from bnpcluster.likelihoods.pyclone.tables import as_reads, is_tidy, warn_of_purity, wide

DENSITIES = ("binomial", "beta_binomial")
LOWEST_RATE = 1e-9  # of errors; 1 - e soon loses its digits below it


class PyClone(Likelihood):
    """Clusters of mutations that are in the same share of the tumour cells, sample by sample.

    Per cluster and sample the prevalence is uniform on a grid from 0 to 1, integrated out. Given
    the prevalence, reads that show the variant are binomial or beta-binomial; the genotypes of
    cells, which nobody knows, are averaged over a prior that follows from the copy numbers.

    Parameters
    ----------
    n_grid : int, default=101
        Points of the grid of prevalences.
    density : {"binomial", "beta_binomial"}, default="binomial"
        Law of the variant reads given the depth. Real reads scatter more than binomial ones do.
    genotypes : str, default="major_copy_number"
        Which genotypes are (equally) probable. ``"major_copy_number"``: 1 to `major_cn` copies of
        the mutation, or it came after the copy number changed, and there is one.
        ``"parental_copy_number"``: `major_cn`, `minor_cn` or 1 copies, or it came after.
        ``"total_copy_number"``: any number of copies, before or after. ``"no_zygosity"``: one
        copy. ``"AB"``, ``"BB"``: two copies of the locus, one or both of them mutated.
    error_rate : float, default=1e-3
        Chance that a read shows the wrong allele, from 1e-9 to 0.5.
    precision : float, default=200.0
        Sum of the two parameters of the beta-binomial law: the smaller, the more scatter.

    Notes
    -----
    Mixtures with this likelihood take a tidy data frame with a row per mutation and sample and the
    columns ``mutation_id, sample_id, ref_counts, alt_counts, normal_cn, major_cn, minor_cn,
    tumour_content`` (1 if there is no such column), as PyClone-VI does. An item is a mutation, in
    the order of first appearance. A sample that lacks a mutation says nothing of it. Arrays have a
    row per mutation and the last six of these columns for each sample, all NaN where one lacks it.

    New rows by `sample` have the depth and copy numbers of a random mutation of the data.

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
        """One sample at the defaults, and three samples that lack some of the mutations."""
        one = _some_reads(6, 1, rng)
        three = _some_reads(6, 3, rng)
        three[1, :6] = three[3, 6:] = np.nan
        given = cls(n_grid=30, density="beta_binomial", genotypes="total_copy_number", precision=9)
        return [(cls(), one), (given, three)]

    def _read_model(self) -> ReadModel:
        """The settings, if they make sense."""
        if isinstance(self.n_grid, bool) or not isinstance(self.n_grid, (int, np.integer)):
            raise TypeError(f"n_grid must be an integer, got {self.n_grid!r}.")
        if self.n_grid < 2:
            raise ValueError(f"n_grid must be at least 2, got {self.n_grid}.")
        for name, value, known in (
            ("density", self.density, DENSITIES),
            ("genotypes", self.genotypes, tuple(GENOTYPES)),
        ):
            if value not in known:
                names = ", ".join(map(repr, known))
                raise ValueError(f"{name} must be one of {names}; got {value!r}.")
        error_rate = number_above("error_rate", self.error_rate, LOWEST_RATE)
        if error_rate >= 0.5:
            raise ValueError(f"error_rate must be below 0.5, got {error_rate!r}.")
        precision = number_above("precision", self.precision)
        spread = precision if self.density == "beta_binomial" else None
        return ReadModel(int(self.n_grid), self.genotypes, error_rate, spread)

    def table(self, X: Any, known: Any = None) -> Any:
        """One row per mutation, if `X` is a tidy table with one per mutation and sample."""
        if not is_tidy(X):
            return X
        rows = wide(X, self.error_rate, known)
        if known is None:
            warn_of_purity(X)
        return rows

    def bind(self, X: np.ndarray, capacity: int = 16) -> Any:
        """Ready the mutations `X` for the kernels."""
        return bind_reads(self._reads(X), int(self.n_grid), capacity)

    def bind_observed(self, X: np.ndarray, capacity: int = 16) -> Any:
        """What `bind` returns: missing samples are always allowed."""
        return self.bind(X, capacity)

    def means(self, bound: Any, n_slots: int) -> np.ndarray:
        """Refuses: the reads of a sample that was not taken have no meaning without its depth."""
        raise TypeError(
            "The reads of missing samples cannot be imputed; bnpcluster.pyclone.prevalences says "
            "what is known of mutations there."
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
        """Expected prevalence by each sample's own reads; the mean of the others if it has none."""
        bound = self._reads(X)
        weights = bound.terms[:, : self.n_grid] / bound.terms.sum(axis=1, keepdims=True)
        seen = bound.kind >= 0
        prevalence = np.where(
            seen, np.append(weights @ self._read_model().grid, 0.0)[bound.kind], 0.0
        )
        mean = prevalence.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        return np.where(seen, prevalence, mean)

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

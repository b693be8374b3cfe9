"""The infinite relational model: cluster the vertices of a network by their links."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bnpcluster._core.components import nearest
from bnpcluster._estimators.base import Sampled
from bnpcluster._estimators.columns_of_clusters import LEVEL
from bnpcluster._estimators.description import first_lines, typical_rows
from bnpcluster._estimators.docstrings import documented
from bnpcluster._estimators.encoding import names_of_rows, unreadable
from bnpcluster._estimators.network_description import NetworkDescription
from bnpcluster._predict.links import cluster_links, link_chances
from bnpcluster.likelihoods import Likelihood, Relational
from bnpcluster.likelihoods.network.adjacency import Graph, as_graph, check_matrix
from bnpcluster.partitions.memberships import own_membership
from bnpcluster.priors import DirichletProcess, Prior
from bnpcluster.samplers import SAMPLERS, Sampler
from bnpcluster.samplers.base import can_sample

DEFAULT_SAMPLER = "arm_sams"
ONLY_LINKS = "it must contain only 0 and 1, and NaN for unobserved pairs"


@documented
class InfiniteRelationalModel(Sampled):
    """Infinite relational model: cluster vertices that have links with the same clusters.

    Each pair of clusters has its own probability of a link. The model is a stochastic block model
    that infers the number of clusters. Unobserved pairs are not part of the likelihood. You can
    predict them with `predict_links`.

    Parameters
    ----------
    alpha : float, pair or "auto", default="auto"
        Concentration of the Dirichlet process prior on partitions. Larger values favour more
        clusters. A number is fixed. A pair ``(shape, rate)`` is a Gamma hyper-prior, and alpha is
        sampled. ``"auto"`` means ``(1.0, 0.1)``.
    beta : (float, float), default=(1.0, 1.0)
        Parameters of the Beta prior on the probability of a link, for each pair of clusters.
    directed : bool, default=False
        Whether ``A[i, j]``, a link from i to j, may differ from ``A[j, i]``.
    sampler : str or Sampler, default="arm_sams"
        ``"arm_sams"``, ``"arm"``, ``"gibbs"``, ``"jain_neal"`` or ``"sams"``, or such an object
        from `bnpcluster.samplers`. Other samplers need clusters that are independent of one another
        and raise an error.
    {lengths}
    init : str or array of int, default="auto"
        Where chains start: ``"one"`` (a single cluster), ``"singletons"``, ``"prior"`` (a draw from
        the prior), labels of shape (n_vertices,) or (n_chains, n_vertices), or ``"auto"``: k-means
        of the leading singular vectors of `A`, with too many centres. The number of centres differs
        between chains.
    {rest}

    {network_attributes}

    References
    ----------
    Kemp, C., Tenenbaum, J. B., Griffiths, T. L., Yamada, T. and Ueda, N. (2006). Learning systems
    of concepts with an infinite relational model. AAAI 21, 381-388.

    Examples
    --------
    >>> import numpy as np
    >>> from bnpcluster import InfiniteRelationalModel
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1, 2], 12)
    >>> chance = np.where(groups[:, None] == groups, 0.8, 0.2)
    >>> A = np.triu(rng.random((36, 36)) < chance, k=1).astype(float)
    >>> A += A.T
    >>> model = InfiniteRelationalModel(n_draws=1000, n_warmup=200, random_state=0).fit(A)
    >>> model.n_clusters_
    3
    >>> model.predict_links([[0, 1]]) > model.predict_links([[0, 35]])
    array([ True])
    """

    _items = "vertices"
    _inits = ("auto", "one", "singletons", "prior")

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        beta: Any = (1.0, 1.0),
        directed: bool = False,
        sampler: Any = DEFAULT_SAMPLER,
        n_draws: int | str = "auto",
        n_warmup: int | str = "auto",
        thin: int = 1,
        max_draws: int = 1000,
        n_chains: int = 4,
        n_jobs: int | None = None,
        init: Any = "auto",
        point_estimate: Any = "vi",
        min_cluster_size: int | None = None,
        max_time: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _prior(self) -> Prior:
        return DirichletProcess(alpha=self.alpha)

    def _likelihood(self) -> Likelihood:
        return Relational(beta=self.beta, directed=self.directed)

    def fit(self, A: Any, y: Any = None) -> InfiniteRelationalModel:
        """Sample the posterior of the partition of the vertices of a network.

        Parameters
        ----------
        A : array-like or sparse matrix of shape (n_vertices, n_vertices)
            The adjacency matrix. 1 is a link, 0 is no link, and NaN is an unobserved pair. In a
            sparse matrix, only entries stored as NaN are unobserved. The matrix must be symmetric
            unless ``directed=True``. The diagonal must be zero or NaN, because self-links are not
            modelled.
        y : None
            Ignored; present for the interface of scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        with self._unchanged_by_errors():
            graph, names = self._read_network(A), names_of_rows(A)
            outcome = self._run_chains(graph, self._components(), self.init)
            return self._adopt(outcome, row_names=names)

    def _read_network(self, A: Any) -> Graph:
        """The network of an adjacency matrix, after all checks."""
        Relational(beta=self.beta, directed=self.directed).validate()
        check_matrix(A)
        settings: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False}
        try:
            A = validate_data(self, A, dtype=np.float64, **settings)
        except (ValueError, TypeError) as error:
            reason = unreadable(A, "A", ONLY_LINKS)
            if not reason:
                raise
            raise ValueError(reason) from error
        return as_graph(A, self.directed)

    def _check_sampler(self, sampler: Sampler, bound: Any, likelihood: Likelihood) -> None:
        if not can_sample(type(sampler), bound):
            names = [repr(name) for name, cls in SAMPLERS.items() if can_sample(cls, bound)]
            raise TypeError(
                f"{type(sampler).__name__} needs clusters that are independent of one another, "
                f"but those of a network are not: use {', '.join(names[:-1])} or {names[-1]}."
            )

    def _describe_data(self) -> dict[str, str]:
        graph = self._fitted.X
        n, n_links, n_gaps = graph.n_vertices, len(graph.links), len(graph.unobserved)
        n_pairs = graph.n_pairs - n_gaps
        data = f"{n} vertices, {n_links} links, {n_links / max(n_pairs, 1):.3g} of the pairs"
        return {"data": data + (f"; {n_gaps} pairs unobserved" if n_gaps else "")}

    def predict_links(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Posterior probability of a link for each pair of vertices.

        Parameters
        ----------
        pairs : array-like of int or str, shape (n_pairs, 2)
            Pairs of vertices, observed or not: their numbers, or their names if the fit had a data
            frame. In a directed network, a link goes from the first vertex to the second.

        Returns
        -------
        probabilities : ndarray of shape (n_pairs,)
            The probability of a link between the clusters of the two vertices, averaged over draws.
            It depends on all observed pairs, including the predicted pair if that was observed.
            Evaluate predictions on pairs that were NaN in the fit, for instance with
            ``sklearn.metrics.roc_auc_score(y, model.predict_links(pairs))``.
        """
        check_is_fitted(self)
        numbers = _numbered(pairs, self._fitted.row_names)
        ends = _as_pairs(numbers, self.posterior_.n_items).T
        return link_chances(self._fitted, ends)

    @property
    def link_probabilities_(self) -> NDArray[np.float64]:
        """Posterior means of the probabilities of links between clusters, (n_clusters, n_clusters).

        They are averages over the pairs of vertices of two clusters. Rows are where links start.
        Within a cluster of a single vertex there is no pair, so the entry is NaN.
        """
        check_is_fitted(self)
        return cluster_links(self._fitted, LEVEL).mean

    def describe(self) -> Any:
        """Describe each cluster: its size, and how often its vertices link with each cluster.

        Returns
        -------
        table : pandas.DataFrame
            One row per cluster. Without pandas, a small table with the same columns, which prints.
            They are

            - ``size``: the number of its vertices;
            - ``certainty``: how surely its vertices belong to it, on average;
            - ``typical_vertices``: names or numbers of those that belong to it most surely;
            - ``links_within``: the probability of a link between two of its vertices, with the
              interval ``links_within_low`` to ``links_within_high`` of posterior probability 0.9;
            - ``links_to_0``, ``links_to_1`` and so on: the probability of a link to a vertex of
              that cluster.

        Examples
        --------
        >>> import numpy as np
        >>> from bnpcluster import InfiniteRelationalModel
        >>> groups = np.repeat([0, 1], 10)
        >>> A = (groups[:, None] == groups).astype(float) - np.eye(20)
        >>> model = InfiniteRelationalModel(random_state=0).fit(A)
        >>> table = model.describe()
        >>> list(table["size"]), [round(float(p), 1) for p in table["links_within"]]
        ([10, 10], [1.0, 1.0])
        """
        return self._description(with_rows=True).table().to_pandas()

    def _description(self, with_rows: bool = False) -> NetworkDescription:
        """What each cluster is; `with_rows` as for tables of rows."""
        check_is_fitted(self)
        fitted, labels = self._fitted, self._fitted.cluster_labels
        inside = labels >= 0
        sure = np.where(inside, own_membership(self.posterior_, labels), 0.0)
        sizes = np.bincount(labels[inside])
        return NetworkDescription(
            sizes=sizes,
            certainty=np.bincount(labels[inside], weights=sure[inside]) / sizes,
            links=cluster_links(fitted, LEVEL),
            typical=typical_rows(labels, sure, fitted.row_names),
        )

    def _describe_each_cluster(self) -> dict[str, str]:
        return first_lines(self._description().lines())

    def _named(self, vertices: Sequence[Any]) -> Self:
        """A copy for reports, in which the vertices have names."""
        model = copy.copy(self)
        model._fitted = self._fitted._replace(row_names=list(vertices))
        return model

    def score(self, pairs: ArrayLike, y: ArrayLike) -> float:
        """Mean log probability of the outcomes of some pairs. Higher is better.

        Parameters
        ----------
        pairs : array-like of int or str, shape (n_pairs, 2)
            Pairs that were NaN in the fit; see `predict_links`.
        y : array-like of shape (n_pairs,)
            The outcomes: 1 is a link, 0 is no link.

        Returns
        -------
        score : float
            The mean log probability.
        """
        chances, found = self.predict_links(pairs), np.asarray(y)
        if found.shape != chances.shape:
            raise ValueError(
                f"y must contain 0 or 1 for each of the {len(chances)} pairs, got shape "
                f"{found.shape}."
            )
        if not np.isin(found, (0, 1)).all():
            raise ValueError(f"y must contain only 0 and 1, got {np.unique(found)[:5].tolist()}.")
        return float(np.mean(np.where(found == 1, np.log(chances), np.log1p(-chances))))


def _numbered(pairs: ArrayLike, names: list | None) -> NDArray:
    """Pairs of names of vertices as pairs of their numbers; other pairs as they are."""
    array = np.asarray(pairs)
    if names is None or array.dtype.kind not in "UTO" or array.ndim != 2:
        return array
    numbers = {name: i for i, name in enumerate(names)}
    if len(numbers) < len(names):  # names that stand for several vertices name none
        return array
    flat = array.ravel().tolist()
    for name in flat:
        if name not in numbers:
            near = nearest(str(name), [str(known) for known in numbers])
            raise ValueError(
                f"The fit had no vertex {name!r}" + (f". Did you mean {near!r}?" if near else ".")
            )
    return np.array([numbers[name] for name in flat]).reshape(array.shape)


def _as_pairs(pairs: ArrayLike, n: int) -> NDArray:
    """Pairs as an integer array. Raise an error if they are not pairs of different vertices."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu" or not len(array):
        raise ValueError(
            "pairs must contain the numbers of two vertices per row, as integers of shape "
            f"(n_pairs, 2), got {array.dtype} of shape {array.shape}."
        )
    if array.min() < 0 or array.max() >= n:
        raise ValueError(f"pairs must contain numbers from 0 to {n - 1}, the vertices of the fit.")
    if (array[:, 0] == array[:, 1]).any():
        raise ValueError(
            "pairs must contain two different vertices, because self-links are not modelled."
        )
    return array

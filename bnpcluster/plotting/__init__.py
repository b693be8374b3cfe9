"""Pictures of fitted models, in the manner of scikit-learn's Display objects.

==========================  ================================================================
`CoclusteringDisplay`       probabilities that rows share a cluster, as a matrix
`NumberOfClustersDisplay`   probabilities of the number of clusters, posterior and prior
`TraceDisplay`              a quantity along the chains
`DensityDisplay`            the predictive density of one or two columns, with credible bands
`ClusterDisplay`            the rows, coloured by cluster
`AdjacencyDisplay`          a network, its vertices ordered by cluster
==========================  ================================================================

Each is made by `from_estimator` (some also from a `Posterior`, or from label draws of any program),
keeps what it shows as attributes, and can be drawn again by `plot`. matplotlib is imported when a
picture is drawn, and not before.
"""

from bnpcluster.plotting.adjacency_display import AdjacencyDisplay
from bnpcluster.plotting.cluster_display import ClusterDisplay
from bnpcluster.plotting.coclustering_display import CoclusteringDisplay
from bnpcluster.plotting.density_display import DensityDisplay
from bnpcluster.plotting.n_clusters_display import NumberOfClustersDisplay
from bnpcluster.plotting.trace_display import TraceDisplay

__all__ = [
    "AdjacencyDisplay",
    "ClusterDisplay",
    "CoclusteringDisplay",
    "DensityDisplay",
    "NumberOfClustersDisplay",
    "TraceDisplay",
]

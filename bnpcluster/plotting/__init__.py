"""Plots of fitted models, as scikit-learn's Display objects.

==========================  ================================================================
`CoclusteringDisplay`       probabilities that rows share a cluster, as a matrix
`NumberOfClustersDisplay`   probabilities of the number of clusters, posterior and prior
`TraceDisplay`              a quantity along the chains
`DensityDisplay`            the predictive density of one or two columns, with credible bands
`ClusterDisplay`            the rows, coloured by cluster
`ProfileDisplay`            what clusters are like, column by column
`MergeTreeDisplay`          which components overlap, and are joined to clusters
`AdjacencyDisplay`          a network, its vertices ordered by cluster
==========================  ================================================================

Create a display with `from_estimator`. Some also accept a `Posterior`, or label draws of any
program. The data of the picture are attributes; `plot` draws it again. matplotlib is imported only
when a picture is drawn.
"""

from bnpcluster.plotting.adjacency_display import AdjacencyDisplay
from bnpcluster.plotting.cluster_display import ClusterDisplay
from bnpcluster.plotting.coclustering_display import CoclusteringDisplay
from bnpcluster.plotting.density_display import DensityDisplay
from bnpcluster.plotting.merge_tree_display import MergeTreeDisplay
from bnpcluster.plotting.n_clusters_display import NumberOfClustersDisplay
from bnpcluster.plotting.profile_display import ProfileDisplay
from bnpcluster.plotting.trace_display import TraceDisplay

__all__ = [
    "AdjacencyDisplay",
    "ClusterDisplay",
    "CoclusteringDisplay",
    "DensityDisplay",
    "MergeTreeDisplay",
    "NumberOfClustersDisplay",
    "ProfileDisplay",
    "TraceDisplay",
]

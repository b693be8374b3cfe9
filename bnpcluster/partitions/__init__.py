"""Summaries of draws of a partition. The draws may come from any program.

`draws` is an array of integer labels, (draws, items) or (chains, draws, items). Only equality of
labels within a draw matters: they need not be consecutive nor mean the same in two draws.

`point_estimate`            one partition that represents the draws
`credible_ball`             how far the draws are from it, and the partitions on the edge
`item_uncertainty`          how certain the cluster of each item is
`modes`                     the few partitions around which the draws concentrate, and their masses
`coclustering`              how often two items are together; `coclustering_strips` in parts
`merge_tree`                overlapping components, joined to clusters one after another
`expected_loss`, `binder_loss`, `variation_of_information`, `relabel`
"""

from bnpcluster.partitions.balls import CredibleBall, credible_ball
from bnpcluster.partitions.coclustering_matrix import coclustering, coclustering_strips
from bnpcluster.partitions.estimates import point_estimate
from bnpcluster.partitions.losses import (
    binder_loss,
    expected_loss,
    relabel,
    variation_of_information,
)
from bnpcluster.partitions.merging import MergeTree, merge_tree
from bnpcluster.partitions.multimodality import Mode, modes
from bnpcluster.partitions.uncertainty import item_uncertainty

__all__ = [
    "CredibleBall",
    "MergeTree",
    "Mode",
    "binder_loss",
    "coclustering",
    "coclustering_strips",
    "credible_ball",
    "expected_loss",
    "item_uncertainty",
    "merge_tree",
    "modes",
    "point_estimate",
    "relabel",
    "variation_of_information",
]

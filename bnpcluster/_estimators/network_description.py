"""The table that says what each cluster of a network is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnpcluster._estimators.table import Table
from bnpcluster._predict.links import ClusterLinks


class NetworkDescription(NamedTuple):
    """What each cluster of a network is.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of vertices, by cluster.
    certainty : ndarray
        How surely the vertices of a cluster belong to it, on average.
    links : ClusterLinks
        Probabilities of links between clusters.
    typical : list of list
        Names or numbers of the vertices of each cluster that belong to it most surely.
    """

    sizes: NDArray[np.intp]
    certainty: NDArray[np.float64]
    links: ClusterLinks
    typical: list[list]

    def table(self) -> Table:
        """One row per cluster."""
        links = self.links
        found: dict[str, list] = {
            "size": self.sizes.tolist(),
            "certainty": self.certainty.tolist(),
            "typical_vertices": [", ".join(map(str, some)) for some in self.typical],
            "links_within": np.diag(links.mean).tolist(),
            "links_within_low": np.diag(links.low).tolist(),
            "links_within_high": np.diag(links.high).tolist(),
        }
        for c in range(len(self.sizes)):
            found[f"links_to_{c}"] = links.mean[:, c].tolist()
        return Table("cluster", list(range(len(self.sizes))), found)

    def lines(self) -> dict[str, str]:
        """One line per cluster, for a report."""
        return {f"cluster {c}": self._line(c) for c in range(len(self.sizes))}

    def _line(self, c: int) -> str:
        size, links = self.sizes[c], self.links
        parts = [
            f"{size} {'vertex' if size == 1 else 'vertices'}, certainty {self.certainty[c]:.2f}"
        ]
        if size > 1:
            parts.append(
                f"links within {links.mean[c, c]:.2f} "
                f"({links.low[c, c]:.2f} to {links.high[c, c]:.2f})"
            )
        others = np.delete(np.arange(len(self.sizes)), c)
        if len(others):
            most = int(others[np.argmax(links.mean[c, others])])
            parts.append(f"elsewhere most with cluster {most}, {links.mean[c, most]:.2f}")
        return "; ".join(parts)

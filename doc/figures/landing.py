"""Draw the picture of the landing page, `landing.png`: `python doc/figures/landing.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bnpcluster import DPMixture
from bnpcluster.plotting import ClusterDisplay, NumberOfClustersDisplay, ProfileDisplay


def generated_table() -> pd.DataFrame:
    """Three kinds of flowers that do not exist, with counts and colours."""
    rng = np.random.default_rng(2)
    kind = np.repeat([0, 1, 2], [90, 60, 40])
    colours = np.array(["white", "yellow", "red"])
    return pd.DataFrame(
        {
            "petal length": rng.normal(np.array([3.0, 5.0, 5.6])[kind], 0.5),
            "petal width": rng.normal(np.array([1.0, 1.4, 2.3])[kind], 0.25),
            "seeds": rng.poisson(np.array([12, 5, 20])[kind]),
            "colour": colours[np.where(rng.random(190) < 0.8, kind, rng.integers(0, 3, 190))],
        }
    )


def draw(path: Path) -> None:
    """Fit the table, and draw what was found."""
    likelihood = {
        "petal length": "nig",
        "petal width": "nig",
        "seeds": "poisson",
        "colour": "categorical",
    }
    model = DPMixture(likelihood=likelihood, random_state=0).fit(generated_table())
    figure, axes = plt.subplots(
        ncols=3, figsize=(14, 4), layout="constrained", width_ratios=[1, 1.1, 0.8]
    )
    ClusterDisplay.from_estimator(model, columns=["petal length", "petal width"], ax=axes[0])
    ProfileDisplay.from_estimator(model, ax=axes[1])
    NumberOfClustersDisplay.from_estimator(model, ax=axes[2])
    for ax, title in zip(
        axes, ("which rows", "what they are like", "how many clusters"), strict=True
    ):
        ax.set_title(title)
    figure.savefig(path, dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".png"))

"""The figures of the experiments on adaptive reconfiguration moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproductions.jain_neal_chains import sizes


def draw_four_vertices(shares: dict[str, np.ndarray], names: list[str], output: Path) -> None:
    """Figure 3: the share of draws of every partition."""
    axes, save = picture(output / "arm_four_vertices.png", 1)
    for c, (name, share) in enumerate(shares.items()):
        axes[0].bar(np.arange(15) + 0.12 * c, share, 0.12, label=name)
    axes[0].set(xticks=np.arange(15) + 0.36, ylabel="share of draws")
    axes[0].set_xticklabels(names, rotation=90)
    axes[0].set_ylim(0, 0.3)
    axes[0].legend(ncols=3, fontsize="small", loc="upper center")
    save()


def draw_shares(name: str, found: Any, output: Path) -> None:
    """Figure 4 for one method: the cumulative shares of the largest clusters of a chain."""
    axes, save = picture(output / f"arm_shares_{name.lower()}.png", 1)
    axes[0].plot(sizes(found.labels[0])[:, :5].cumsum(axis=1) / 100, lw=0.6)
    axes[0].set(title=name, xlabel="iteration", ylabel="share of the 1 to 5 largest", ylim=(0, 1))
    save()


def draw_traces(found: dict[str, dict], lengths: dict[str, int], output: Path) -> None:
    """Figure 5: the log joint density of every chain."""
    axes, save = picture(output / "arm_traces.png", len(found))
    for ax, (title, methods) in zip(axes, found.items(), strict=True):
        unit = methods["Gibbs"]["cost"]
        values = {name: np.array(chains["log joint"]) for name, chains in methods.items()}
        for (name, value), colour in zip(values.items(), ("C0", "C1", "C3"), strict=True):
            end = lengths[name] * methods[name]["cost"] / unit
            x = np.linspace(end / value.shape[1], end, value.shape[1])
            ax.semilogx(x, value.T, color=colour, lw=0.5)
            ax.plot([], [], color=colour, label=name)
        ax.set(title=title)
        ax.legend()
    axes[-1].figure.supxlabel("standardised iteration", fontsize="medium")
    save()


def draw_chains(numbers: Sequence[int], means: dict[str, list[float]], output: Path) -> None:
    """Figure 6a: R-hat against the number of chains."""
    axes, save = picture(output / "arm_chains.png", 1)
    for name, values in means.items():
        axes[0].plot(numbers, values, "o-", label=name)
    axes[0].set(xlabel="chains", ylabel="R-hat after 500 iterations")
    axes[0].legend()
    save()


def picture(path: Path, n_axes: int) -> tuple[list[Any], Callable[[], None]]:
    """Axes side by side, and what saves their figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * min(n_axes, 2), 3.2 * -(-n_axes // 2)), layout="constrained")
    axes = figure.subplots(-(-n_axes // 2), min(n_axes, 2), squeeze=False).ravel().tolist()
    path.parent.mkdir(parents=True, exist_ok=True)
    return axes, lambda: figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})

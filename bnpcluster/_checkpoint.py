"""Chains on disk: one npz file, replaced in one step, of arrays and JSON text; never a pickle."""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from bnpcluster.chains import Chain, Place
from bnpcluster.priors import Prior

EVERY = 10.0  # seconds between two saves


def frozen(chain: Chain, place: Place | None = None) -> dict[str, np.ndarray]:
    """A chain as arrays, where it stands or at an earlier place; `thawed` is its inverse."""
    place = place or chain.place()
    meta = {
        "generator": place.generator,
        "values": place.prior.values,
        "iteration": place.iteration,
        "traces": chain.traces[: place.n_draws],
        "counts": dict(place.counts),
        "tuning": place.tuning,
        "seconds": chain.seconds,
        "remembered": list(place.history),
    }
    return {
        "meta": np.array(json.dumps(meta)),
        "labels": place.labels,
        "latent": np.zeros(0) if place.latent is None else place.latent,
        "latent_draws": stacked(chain.latent_draws[: place.n_draws], 0),
        "draws": stacked(chain.draws[: place.n_draws], len(place.labels)),
        "history": stacked(list(place.history.values()), len(place.labels)),
    }


def stacked(rows: list[np.ndarray], n: int) -> np.ndarray:
    """Rows of labels as one array, also if there are none."""
    return np.array(rows) if rows else np.zeros((0, n), np.uint8)


def thawed(arrays: dict[str, np.ndarray], prior: Prior) -> Chain:
    """The chain that `frozen` described, under the same prior."""
    meta = json.loads(str(arrays["meta"]))
    generator = np.random.default_rng(0)
    generator.bit_generator.state = meta["generator"]
    # A parameter that is fixed now has its own value, whatever it was before.
    values = {name: value for name, value in meta["values"].items() if name in prior.sampled}
    return Chain(
        labels=arrays["labels"],
        prior=prior.at(**values),
        rng=generator,
        iteration=meta["iteration"],
        draws=list(arrays["draws"]),
        latent=arrays["latent"] if arrays["latent"].size else None,
        latent_draws=list(arrays["latent_draws"]),
        traces=meta["traces"],
        counts=Counter(meta["counts"]),
        tuning=meta["tuning"],
        history=dict(zip(meta["remembered"], arrays["history"], strict=True)),
        seconds=meta["seconds"],
    )


class Checkpoint:
    """Where the chains of one fit are saved: a file named after the data and the parameters."""

    def __init__(self, directory: Any, identity: Any):
        if not isinstance(directory, (str, os.PathLike)) or not str(directory):
            raise TypeError(f"checkpoint must be None or a directory, got {directory!r}.")
        folder = Path(directory).expanduser()
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"checkpoint must be a directory, but {str(folder)!r} is a file.")
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"bnpcluster-{joblib.hash(identity)}.npz"
        self.saved = time.monotonic()

    def load(self, prior: Prior) -> list[Chain] | None:
        """The chains as they were last saved, or None."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                names = ("meta", "labels", "draws", "history", "latent", "latent_draws")
                return [
                    thawed({name: file[f"{name}_{c}"] for name in names}, prior)
                    for c in range(int(file["n_chains"]))
                ]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} cannot be read ({error}); it was left as it "
                "is. Move it away to start afresh."
            ) from error

    def save(self, chains: list[Chain], force: bool = False) -> None:
        """Save the chains if the last time is long enough ago, or `force`.

        Chains that were stopped in between are saved at their last boundaries, from where they will
        go on as if they had not been stopped.
        """
        if not force and time.monotonic() - self.saved < EVERY:
            return
        arrays: dict[str, Any] = {"n_chains": np.array(len(chains))}
        finished = all(chain.finished for chain in chains)
        for c, chain in enumerate(chains):
            place = None if finished else chain.boundary
            arrays.update({f"{name}_{c}": array for name, array in frozen(chain, place).items()})
        temporary = self.path.with_suffix(".tmp")
        try:
            with temporary.open("wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)
        self.saved = time.monotonic()

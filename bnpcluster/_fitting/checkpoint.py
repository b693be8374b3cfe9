"""Chains on disk: one npz file, replaced in one step, of arrays and JSON text; never a pickle."""

from __future__ import annotations

import json
import os
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
import numpy as np

from bnpcluster._core.jit import closure_of, sources_of_class
from bnpcluster._core.sources import digest
from bnpcluster._fitting.initial_labels import initial_labels
from bnpcluster._fitting.rounds import Chain, Snapshot, run_chains
from bnpcluster.priors import Prior

FORMAT = 1
MEMBERS = ("meta", "labels", "draws", "history", "latent", "latent_draws")
EVERY = 10.0  # seconds between two saves, at least
SHORT = 0.1  # seconds; if a save takes longer, EVERY grows in proportion: a hundredth of the time


def frozen(chain: Chain, place: Snapshot | None = None) -> dict[str, np.ndarray]:
    """A chain as arrays, where it stands or at an earlier place; `thawed` is its inverse."""
    place = place or chain.snapshot()
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


def digest_of_code(bound: Any, components: Iterable[Any]) -> str:
    """A digest of the sources that decide the draws: the loop of the chains and its components."""
    known = [closure_of(thing) for thing in (run_chains, initial_labels, *map(type, components))]
    known += [sources_of_class(cls) for cls in classes_of(bound)]
    return digest(file for files in known if files is not None for file in files)


def classes_of(bound: Any) -> Iterator[type]:
    """The classes of bound data, at any depth."""
    yield type(bound)
    for part in bound:
        if isinstance(part, tuple):
            yield from classes_of(part)


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


def check_sound(chains: list[Chain], n_items: int, n_chains: int) -> None:
    """Raise an error if the parts of the chains do not fit one another."""
    if len(chains) != n_chains:
        raise ValueError(f"{len(chains)} chains instead of {n_chains}")
    for chain in chains:
        rows = [chain.labels, *chain.draws, *chain.history.values()]
        if any(row.shape != (n_items,) or row.dtype.kind not in "iu" for row in rows):
            raise ValueError(f"labels are not of {n_items} items")
        if not isinstance(chain.iteration, int) or len(chain.traces) != len(chain.draws):
            raise ValueError("iterations, draws and traces do not agree")


class Checkpoint:
    """Where the chains of one fit are saved: a file named after the data and the parameters."""

    def __init__(self, directory: Any, identity: Any):
        self.identity = joblib.hash(identity)
        self.path = usable(directory) / f"bnpcluster-{self.identity}.npz"
        # A name of our own: the same fit may run a second time, now or after this one was killed.
        self.temporary = self.path.with_name(f"{self.path.stem}-{uuid4().hex}.tmp")
        self.saved, self.seconds = time.monotonic(), 0.0  # when, and how long it took
        self.warned = False
        self.tidy()

    def load(self, prior: Prior, n_items: int, n_chains: int) -> list[Chain] | None:
        """The chains as they were last saved, or None."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                reason = self.refused(about)
                chains = [] if reason else [thawed(c, prior) for c in members(file, about)]
                if not reason:
                    check_sound(chains, n_items, n_chains)
        # Anything may be in a spoilt file, and zipfile, numpy and json have many ways to say so.
        except Exception as error:
            reason = f"cannot be read ({type(error).__name__}: {error})"
        if reason:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} {reason}: it was left as it is; move it away "
                "to start afresh."
            )
        return chains

    def refused(self, about: dict[str, Any]) -> str:
        """Why a file that can be read does not serve, if so."""
        if about["format"] != FORMAT:
            return f"has format {about['format']}, and this version of bnpcluster reads {FORMAT}"
        if about["identity"] != self.identity:
            return "belongs to another fit, of other data or parameters"
        return ""

    def save(self, chains: list[Chain], force: bool = False) -> None:
        """Save the chains if the last time is long enough ago, or `force`.

        Chains that were stopped in between are saved at their last boundaries, from where they will
        go on as if they had not been stopped. What cannot be saved stops no fit: its draws are
        worth more.
        """
        begin = time.monotonic()
        # All draws are written each time: where that takes long, it is done less often.
        if not force and begin - self.saved < EVERY * max(1.0, self.seconds / SHORT):
            return
        try:
            self.replace(chains)
        except OSError as error:
            if not self.warned:
                warnings.warn(
                    f"The checkpoint {str(self.path)!r} could not be saved ({error}): the fit goes "
                    "on, will try again, and leaves what was saved before as it is.",
                    stacklevel=2,
                )
            self.warned = True
        self.saved = time.monotonic()
        self.seconds = self.saved - begin

    def replace(self, chains: list[Chain]) -> None:
        """Write another file, and give it the name of the old one in one step."""
        try:
            with self.temporary.open("wb") as file:
                with zipfile.ZipFile(file, "w") as archive:
                    self.write(archive, chains)
                file.flush()
                os.fsync(file.fileno())
            self.temporary.replace(self.path)
        finally:
            discard(self.temporary)

    def write(self, archive: zipfile.ZipFile, chains: list[Chain]) -> None:
        """Write what `load` reads, one chain after the other: a second copy of all may not fit."""
        about = {"format": FORMAT, "identity": self.identity, "n_chains": len(chains)}
        put(archive, "about", np.array(json.dumps(about)))
        finished = all(chain.finished for chain in chains)
        for c, chain in enumerate(chains):
            place = None if finished else chain.boundary
            for name, array in frozen(chain, place).items():
                put(archive, f"{name}_{c}", array)

    def tidy(self) -> None:
        """Remove what fits that were killed while they saved have left behind."""
        for left in self.path.parent.glob(f"{self.path.stem}-*.tmp"):
            discard(left)


def usable(directory: Any) -> Path:
    """The directory, made if need be; one sentence if nothing could be saved there."""
    if not isinstance(directory, (str, os.PathLike)) or not str(directory):
        raise TypeError(f"checkpoint must be None or a directory, got {directory!r}.")
    folder = Path(directory).expanduser()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"checkpoint must be a directory, but {str(folder)!r} is a file.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"The directory of checkpoint cannot be made: {error}.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"checkpoint must be a directory to write to, but {str(folder)!r} is not.")
    return folder


def members(file: Any, about: dict[str, Any]) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of each chain in a file."""
    for c in range(about["n_chains"]):
        yield {name: file[f"{name}_{c}"] for name in MEMBERS}


def put(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    """Write an array as `numpy.savez` does."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def discard(file: Path) -> None:
    """Remove a file, if that is possible."""
    with suppress(OSError):
        file.unlink(missing_ok=True)

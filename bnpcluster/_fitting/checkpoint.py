"""Save chains to disk, in an npz file of arrays and JSON text without pickles."""

from __future__ import annotations

import json
import os
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
import numpy as np

from bnpcluster._core.jit import closure_of, sources_of_class
from bnpcluster._core.messages import shown
from bnpcluster._core.sources import digest
from bnpcluster._fitting.checkpoint_contents import check_chains
from bnpcluster._fitting.initial_labels import initial_labels
from bnpcluster._fitting.rounds import Chain, Snapshot, run_chains
from bnpcluster.priors import Prior

FORMAT = 4
VALUES = ("latent", "latent_draws", "learned", "learned_draws", "early", "guide")
MEMBERS = ("meta", "labels", "draws", "history", *VALUES)
EVERY = 10.0  # least number of seconds between two saves
SHORT = 0.1  # if a save takes more seconds, EVERY grows in proportion, to 1 % of the time


def frozen(chain: Chain, snapshot: Snapshot | None = None) -> dict[str, np.ndarray]:
    """A chain as arrays, now or at an earlier snapshot; `thawed` is the inverse."""
    snapshot = snapshot or chain.snapshot()
    meta = {
        "generator": snapshot.generator,
        "values": snapshot.prior.values,
        "iteration": snapshot.iteration,
        "traces": chain.traces[: snapshot.n_draws],
        "counts": dict(snapshot.counts),
        "tuning": snapshot.tuning,
        "seconds": chain.seconds,
        "remembered": list(snapshot.history),
    }
    return {
        "meta": np.array(json.dumps(meta)),
        "labels": snapshot.labels,
        "latent": np.zeros(0) if snapshot.latent is None else snapshot.latent,
        "latent_draws": stacked(chain.latent_draws[: snapshot.n_draws], 0),
        "learned": np.zeros(0) if snapshot.learned is None else snapshot.learned,
        "guide": np.zeros(0) if snapshot.guide is None else snapshot.guide,
        "learned_draws": stacked(chain.learned_draws[: snapshot.n_draws], 0),
        "early": stacked(chain.early[: snapshot.n_early], 0),
        "draws": stacked(chain.draws[: snapshot.n_draws], len(snapshot.labels)),
        "history": stacked(list(snapshot.history.values()), len(snapshot.labels)),
    }


def digest_of_code(bound: Any, components: Iterable[Any]) -> str:
    """A digest of the sources that the draws depend on: the loop over chains and the components."""
    known = [closure_of(thing) for thing in (run_chains, initial_labels, *map(type, components))]
    known += [sources_of_class(cls) for cls in classes_of(bound)]
    return digest(file for files in known if files is not None for file in files)


def classes_of(bound: Any) -> Iterator[type]:
    """The classes of bound data, nested ones included."""
    yield type(bound)
    for part in bound:
        if isinstance(part, tuple):
            yield from classes_of(part)


def stacked(rows: list[np.ndarray], n: int) -> np.ndarray:
    """Rows of labels as one array, even if there are no rows."""
    return np.array(rows) if rows else np.zeros((0, n), np.uint8)


def thawed(arrays: dict[str, np.ndarray], prior: Prior) -> Chain:
    """The chain that `frozen` stored, under the same prior."""
    meta = json.loads(str(arrays["meta"]))
    generator = np.random.default_rng(0)
    generator.bit_generator.state = checked_generator(meta["generator"])
    # A parameter that is fixed now keeps its value; a stored value is ignored.
    values = {name: value for name, value in meta["values"].items() if name in prior.sampled}
    return Chain(
        labels=arrays["labels"],
        prior=prior.at(**values),
        rng=generator,
        iteration=meta["iteration"],
        draws=list(arrays["draws"]),
        latent=arrays["latent"] if arrays["latent"].size else None,
        latent_draws=list(arrays["latent_draws"]),
        learned=arrays["learned"] if arrays["learned"].size else None,
        learned_draws=list(arrays["learned_draws"]),
        guide=arrays["guide"] if arrays["guide"].size else None,
        early=list(arrays["early"]),
        traces=meta["traces"],
        counts=Counter(meta["counts"]),
        tuning=meta["tuning"],
        history=dict(zip(meta["remembered"], arrays["history"], strict=True)),
        seconds=meta["seconds"],
    )


def checked_generator(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a generator; an error if its numbers are none that it can reach."""
    numbers = state["state"]["state"], state["state"]["inc"]
    if not all(type(n) is int and 0 <= n < 2**128 for n in numbers) or numbers[1] % 2 == 0:
        raise ValueError("the state of the random generator is out of range")
    return state


class Checkpoint:
    """The file that stores the chains of one fit, named after the data and the parameters."""

    format: int | str = FORMAT

    def __init__(self, directory: Any, identity: Any):
        self.identity = joblib.hash(identity)
        self.path = usable_directory(directory) / f"bnpcluster-{self.identity}.npz"
        # The name is unique: the same fit may run a second time, now or after this one is killed.
        self.temporary = self.path.with_name(f"{self.path.stem}-{uuid4().hex}.tmp")
        self.saved, self.seconds = time.monotonic(), 0.0  # time of the last save, and its duration
        self.warned = False
        self.remove_leftovers()

    def load(
        self, prior: Prior, n_items: int, n_chains: int, bound: Any = None
    ) -> list[Chain] | None:
        """The chains as last saved, checked against the bound data; None if there is no file."""

        def chains_in(file: Any, about: dict[str, Any]) -> list[Chain]:
            chains = [thawed(arrays, prior) for arrays in chain_arrays(file, about)]
            check_chains(chains, prior, n_items, n_chains, bound)
            return chains

        return self.read(chains_in)

    def read(self, content: Callable[[Any, dict[str, Any]], Any]) -> Any:
        """What a function finds in the file, and in what it says about itself; None without one."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                reason = self.mismatch(about)
                found = None if reason else content(file, about)
        # A damaged file makes zipfile, numpy and json raise many kinds of errors.
        except Exception as error:
            reason = f"cannot be read ({type(error).__name__}: {error})"
        if reason:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} {reason}. It was not changed; move it away to "
                "start a new fit."
            )
        return found

    def mismatch(self, about: dict[str, Any]) -> str:
        """Why a readable file cannot be used; empty if it can."""
        if about["format"] != self.format:
            return (
                f"has format {about['format']}, but this version of bnpcluster reads "
                f"format {self.format}"
            )
        if about["identity"] != self.identity:
            return "belongs to a fit with other data or parameters"
        return ""

    def save(self, chains: list[Any], force: bool = False) -> None:
        """Save the chains if the last save is long enough ago, or if `force` is true.

        Chains that were stopped between boundaries are saved at their last boundary. From there
        they continue as if they had not been stopped. An error while saving does not stop the fit.
        """
        begin = time.monotonic()
        # Each save writes all draws. If that takes long, save less often.
        if not force and begin - self.saved < EVERY * max(1.0, self.seconds / SHORT):
            return
        try:
            self.replace(chains)
        except OSError as error:
            if not self.warned:
                warnings.warn(
                    f"The checkpoint {str(self.path)!r} could not be saved ({error}). The fit "
                    "continues and will try again; the last save was not changed.",
                    stacklevel=2,
                )
            self.warned = True
        self.saved = time.monotonic()
        self.seconds = self.saved - begin

    def replace(self, chains: list[Any]) -> None:
        """Write a new file, then rename it to the old one in one atomic step."""
        try:
            with self.temporary.open("wb") as file:
                with zipfile.ZipFile(file, "w") as archive:
                    self.write(archive, chains)
                file.flush()
                os.fsync(file.fileno())
            self.temporary.replace(self.path)
        finally:
            remove_file(self.temporary)

    def write(self, archive: zipfile.ZipFile, chains: list[Any]) -> None:
        """Write the chains one by one, because a second copy of all may not fit into memory."""
        about = {"format": self.format, "identity": self.identity, "n_chains": len(chains)}
        write_array(archive, "about", np.array(json.dumps(about)))
        finished = all(chain.finished for chain in chains)
        for c, chain in enumerate(chains):
            snapshot = None if finished else chain.boundary
            for name, array in frozen(chain, snapshot).items():
                write_array(archive, f"{name}_{c}", array)

    def remove_leftovers(self) -> None:
        """Remove temporary files of fits that were killed during a save."""
        for left in self.path.parent.glob(f"{self.path.stem}-*.tmp"):
            remove_file(left)


def usable_directory(directory: Any) -> Path:
    """The directory, created if necessary. Raise an error if it is not writable."""
    if not isinstance(directory, (str, os.PathLike)) or not str(directory):
        raise TypeError(f"checkpoint must be None or a directory, got {directory!r}.")
    if "\0" in str(directory):
        raise ValueError(f"checkpoint must not contain a zero byte, got {str(directory)!r}.")
    try:
        folder = Path(directory).expanduser()
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"checkpoint must be a directory, but {str(folder)!r} is a file.")
        folder.mkdir(parents=True, exist_ok=True)
    # A name may be too long or have a zero byte, a home may be unknown, a disk read-only.
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise ValueError(
            f"The checkpoint directory {shown(str(directory))} could not be created: {reason}."
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(
            f"checkpoint must be a writable directory, but {str(folder)!r} is not writable."
        )
    return folder


def chain_arrays(file: Any, about: dict[str, Any]) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of each chain in a file."""
    for c in range(about["n_chains"]):
        yield {name: file[f"{name}_{c}"] for name in MEMBERS}


def write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    """Write an array as `numpy.savez` does."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def remove_file(file: Path) -> None:
    """Remove a file; ignore errors."""
    with suppress(OSError):
        file.unlink(missing_ok=True)

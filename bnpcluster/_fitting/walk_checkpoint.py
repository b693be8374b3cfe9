"""Save chains whose rows are elsewhere: their messages and draws, but no rows.

A chain continues from what it sent last: the same pass is made again, and finds the same.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnpcluster._core.parameter_operations import draw_parameters
from bnpcluster._core.slots import copied_slots
from bnpcluster._core.state import State
from bnpcluster._fitting.block_draws import BlockDraw
from bnpcluster._fitting.checkpoint import (
    MEMBERS,
    Checkpoint,
    digest_of_code,
    frozen,
    thawed,
    write_array,
)
from bnpcluster._fitting.checkpoint_contents import check_chains
from bnpcluster._fitting.fitted import Task
from bnpcluster._fitting.walks import Sample, Walk, new_root
from bnpcluster.samplers.blocked.assignment import Message
from bnpcluster.samplers.blocked.elsewhere import Sent

FORMAT = "elsewhere 1"
BLOCKS = ("sent", "draws_of_blocks")


class WalkCheckpoint(Checkpoint):
    """The file of a fit, named after the random rows, the parameters and the code.

    Parameters
    ----------
    directory : path
    identity : object
        The parameters of the fit.
    task : Task
    sample : Sample
    chunks : tuple of int
        The numbers of rows of the chunks.
    """

    format = FORMAT

    def __init__(
        self, directory: Any, identity: Any, task: Task, sample: Sample, chunks: tuple[int, ...]
    ):
        code = digest_of_code(sample.bound, (task.likelihood, task.prior, task.sampler))
        super().__init__(directory, (identity, sample.rows, sample.numbers, chunks, code))
        self.task, self.sample, self.n_rows = task, sample, sum(chunks)

    def write(self, archive: zipfile.ZipFile, chains: list[Any]) -> None:
        """Write the chains one by one."""
        about = {"format": self.format, "identity": self.identity, "n_chains": len(chains)}
        write_array(archive, "about", np.array(json.dumps(about)))
        for c, walk in enumerate(chains):
            for name, array in frozen(walk.chain).items():
                write_array(archive, f"{name}_{c}", array)
            assert walk.root.sent is not None
            trees = {"sent": walk.root.sent, "draws_of_blocks": tuple(walk.draws)}
            for name, tree in trees.items():
                content, shapes = packed(tree)
                write_array(archive, f"{name}_{c}", content)
                write_array(archive, f"{name}_shapes_{c}", np.array(json.dumps(shapes)))

    def walks(self, n_scanned: int) -> list[Walk] | None:
        """The chains as last saved, before the pass that they sent last; None if there are none."""
        found: list[Walk] | None = self.read(partial(self._walks, n_scanned))
        return found

    def _walks(self, n_scanned: int, file: Any, about: dict[str, Any]) -> list[Walk]:
        """The chains in a file."""
        task, n_chains, walks = self.task, about["n_chains"], []
        bound = task.likelihood.rows(self.sample.bound, task.X)
        for c in range(n_chains):
            chain = thawed({name: file[f"{name}_{c}"] for name in MEMBERS}, task.prior)
            root = new_root(chain, bound, task, self.n_rows, n_scanned)
            walks.append(Walk(root, chain, self.sample))
        chains, n_items = [walk.chain for walk in walks], len(task.X)
        check_chains(chains, task.prior, n_items, task.n_chains, has_all=False)
        for c, walk in enumerate(walks):
            root = walk.root
            template = templates(root)
            for name in BLOCKS:
                shapes = json.loads(str(file[f"{name}_shapes_{c}"]))
                content = Packed(file[f"{name}_{c}"], shapes)
                if name == "sent":
                    root.sent = content.like(template[0])
                    check_sent(root.sent)
                else:
                    walk.draws = [content.like(template[1]) for _ in walk.chain.draws]
            for draw in walk.draws:
                check_draw(draw, self.n_rows)
        return walks


def templates(root: State) -> tuple[Sent, BlockDraw]:
    """A message and a draw of the same form as those in a file."""
    parameters = draw_parameters(root.problem.likelihood, root.n_blocks, np.random.default_rng(0))
    none = np.zeros(0, np.uint64)
    message = Message(none, none, none, parameters)
    slots = copied_slots(root.problem.likelihood, np.zeros(1, np.intp))
    sent = Sent(message, none, np.uint64(0), np.uint64(0), none)
    return sent, BlockDraw(message, none, slots, none)


def leaves(tree: Any) -> Iterator[NDArray]:
    """The arrays of nested tuples and dicts, in a fixed order."""
    if isinstance(tree, dict):
        for name in sorted(tree):
            yield from leaves(tree[name])
    elif isinstance(tree, tuple):
        for part in tree:
            yield from leaves(part)
    else:
        yield np.asarray(tree)


def packed(tree: Any) -> tuple[NDArray[np.uint8], list]:
    """The contents of all arrays in a row, and their types and shapes."""
    found = [np.ascontiguousarray(array) for array in leaves(tree)]
    content = b"".join(array.tobytes() for array in found)
    shapes = [[array.dtype.str, list(np.shape(array))] for array in leaves(tree)]
    return np.frombuffer(content, np.uint8), shapes


class Packed:
    """Reads arrays one after another from what `packed` returns."""

    def __init__(self, content: NDArray[np.uint8], shapes: list):
        self._content, self._shapes, self._at = content.tobytes(), iter(shapes), 0

    def like(self, template: Any) -> Any:
        """Nested tuples and dicts like `template`, with the next arrays."""
        if isinstance(template, dict):
            return {name: self.like(template[name]) for name in sorted(template)}
        if isinstance(template, tuple):
            return type(template)(*(self.like(part) for part in template))
        kind, shape = next(self._shapes)
        dtype, size = np.dtype(kind), math.prod(shape)
        if dtype.kind not in "fiu" or any(length < 0 for length in shape):
            raise ValueError("an array has a wrong type or shape")
        array = np.frombuffer(self._content, dtype, size, self._at).reshape(shape).copy()
        self._at += size * dtype.itemsize
        return array if shape else array[()]


def check_sent(sent: Sent) -> None:
    """Raise an error if a message cannot have been sent."""
    n_blocks = len(sent.message.leaders)
    same = len(sent.message.log_weights) >= n_blocks > 0 == (len(sent.some_below) - n_blocks)
    keys = sent.message.key.shape == sent.next_key.shape == (2,)
    kinds = {array.dtype.kind for array in (sent.message.leaders, sent.next_key, sent.some_below)}
    if not (same and keys and kinds == {"u"} and are_finite(sent.message.parameters)):
        raise ValueError("a message is impossible")


def check_draw(draw: BlockDraw, n_rows: int) -> None:
    """Raise an error if a draw is impossible."""
    n_blocks = len(draw.sizes)
    sizes = draw.sizes.dtype.kind == "i" and draw.sizes.sum() == n_rows and draw.sizes.min() > 0
    order = np.array_equal(np.sort(draw.order), np.arange(n_blocks))
    if not (sizes and order and are_finite(draw.slots)):
        raise ValueError("the blocks of a draw are impossible")


def are_finite(tree: Any) -> bool:
    """Whether all numbers are finite."""
    return all(bool(np.isfinite(array).all()) for array in leaves(tree))

"""Data that tasks in other processes share: sent once, then only referred to by a key."""

from __future__ import annotations

import pickle
from concurrent.futures import CancelledError
from functools import cached_property
from typing import Any
from uuid import uuid4

KEPT = 2  # contents that a worker process keeps, for fits that run at the same time
RECEIVED: dict[str, Any] = {}  # what this process has received, by key


def lost_workers(error: BaseException, is_saved: bool) -> RuntimeError | None:
    """The error for workers, or their scheduler, that were lost; None for other errors."""
    package = type(error).__module__.partition(".")[0]
    if package not in ("distributed", "dask") and not isinstance(error, CancelledError):
        return None
    remedy = "set checkpoint to a directory, so that a fit can resume after this"
    if is_saved:
        remedy = "the last complete round is in the checkpoint, from where the same fit resumes"
    return RuntimeError(
        f"The workers or their scheduler were lost ({type(error).__name__}): {remedy}."
    )


class SharedData:
    """An object to pass to tasks, with any backend of joblib.

    A pickle of it includes the content until `sent` is True, and only the key after that. Then
    `content` is None in a process that has not received an earlier copy.
    """

    def __init__(self, content: Any, key: str | None = None):
        self.content = content
        self.key = uuid4().hex if key is None else key
        self.sent = False

    @cached_property
    def packed(self) -> bytes:
        """The pickled content, made once for all tasks and workers."""
        # As bytes: joblib would make large arrays read-only, which would recompile all kernels.
        return pickle.dumps(self.content, protocol=pickle.HIGHEST_PROTOCOL)

    def __sizeof__(self) -> int:
        """The size by which dask decides what to send to workers separately from the tasks."""
        return object.__sizeof__(self) + (0 if self.sent else len(self.packed))

    def __reduce__(self) -> tuple:
        return receive, (self.key, None if self.sent else self.packed)


def receive(key: str, packed: bytes | None) -> SharedData:
    """Unpickle shared data; with their content, they can be sent on to other workers."""
    content = RECEIVED.get(key)
    if content is None and packed is not None:
        content = RECEIVED[key] = pickle.loads(packed)
        for old in list(RECEIVED)[:-KEPT]:
            RECEIVED.pop(old, None)
    data = SharedData(content, key)
    if packed is None:
        data.sent = True
    else:
        data.__dict__["packed"] = packed
    return data

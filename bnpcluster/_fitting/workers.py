"""Data that tasks in other processes share: sent there once, and only named from then on."""

from __future__ import annotations

import pickle
from functools import cached_property
from typing import Any
from uuid import uuid4

KEPT = 2  # contents that a worker process keeps, for the fits that may run on it at the same time
RECEIVED: dict[str, Any] = {}  # what this process has received, by key


class SharedData:
    """An object to pass to tasks, whatever the backend of joblib.

    In the process that made it, it is just a box. Pickled, it carries its content until it is
    `sent`, and its key after that: `content` is then None where no earlier copy has arrived.
    """

    def __init__(self, content: Any, key: str | None = None):
        self.content = content
        self.key = uuid4().hex if key is None else key
        self.sent = False

    @cached_property
    def packed(self) -> bytes:
        """The pickled content, made once for all tasks and workers."""
        # As bytes, for joblib would make large arrays read-only, which compiles all kernels anew.
        return pickle.dumps(self.content, protocol=pickle.HIGHEST_PROTOCOL)

    def __sizeof__(self) -> int:
        """By their size dask tells objects that it sends to the workers beside the tasks."""
        return object.__sizeof__(self) + (0 if self.sent else len(self.packed))

    def __reduce__(self) -> tuple:
        return receive, (self.key, None if self.sent else self.packed)


def receive(key: str, packed: bytes | None) -> SharedData:
    """A data that arrives; a full one may be sent on to other workers."""
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

"""Files of compiled code end in a checksum, so that a damaged one is never run."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger("bnpcluster.compilation")
SIZE = 16  # bytes of a checksum

_mentioned: list[Path] = []  # the damaged file that this process has mentioned, if any


def sealed(contents: bytes) -> bytes:
    """Contents with their checksum at the end, where a reader of pickles does not look."""
    return contents + _checksum(contents)


def is_whole(path: Path) -> bool:
    """Whether a file exists and its checksum fits. A damaged one is removed and mentioned once."""
    try:
        found = path.read_bytes()
    except OSError:
        return False
    if len(found) > SIZE and found[-SIZE:] == _checksum(found[:-SIZE]):
        return True
    with suppress(OSError):
        path.unlink()
    if not _mentioned:
        _mentioned.append(path)
        logger.warning(
            "bnpcluster: a file of compiled code was damaged (%s). It is compiled again.", path
        )
    return False


def _checksum(contents: bytes) -> bytes:
    return hashlib.blake2b(contents, digest_size=SIZE).digest()

"""How files of a run folder are opened: regular files alone.

A folder comes from anywhere. A named pipe in it would be waited for without end, a device read
without end, and a socket cannot be opened at all. Each of them is refused by name, before and
after it is opened, so that nothing can change places in between.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO, Final

from .errors import HistoryUnreadable

DOCUMENT_BYTES: Final = 64 * 1024 * 1024

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path, *, buffering: int = -1) -> BinaryIO:
    """A file for reading; `HistoryUnreadable` if it is no regular file, `OSError` as `open`."""
    _refuse(path, os.stat(path).st_mode)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _refuse(path, os.fstat(descriptor).st_mode)
        return open(descriptor, "rb", buffering=buffering)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path) -> bytes:
    """All that is in a regular file."""
    with open_regular(path) as file:
        return file.read()


def read_document(path: Path) -> bytes:
    """All that is in a file which people could read; one larger than `DOCUMENT_BYTES` is none."""
    with open_regular(path) as file:
        found = file.read(DOCUMENT_BYTES + 1)
    if len(found) > DOCUMENT_BYTES:
        raise HistoryUnreadable(f"{path} is larger than {DOCUMENT_BYTES} bytes")
    return found


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a document; `HistoryUnreadable` whatever else is there."""
    try:
        found = json.loads(read_document(path))
    except OSError as cause:
        raise HistoryUnreadable(f"{path} cannot be read: {cause.strerror}") from None
    except (ValueError, RecursionError) as cause:
        raise HistoryUnreadable(f"{path} is not JSON: {str(cause)[:120]}") from None
    if not isinstance(found, dict):
        raise HistoryUnreadable(f"{path} is not a JSON object")
    return found


def _refuse(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((word for is_one, word in _KINDS if is_one(mode)), "something else")
    raise HistoryUnreadable(
        f"{path} is no file but {kind}: what a run recorded is read from regular files"
    )

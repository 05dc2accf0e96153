"""The run folder.

    RUN/
      header.json          what was run: one line, written first, never changed
      shards/NAME.jsonl    one file per writer, append-only
      history.jsonl        the sealed history; absent until `seal()`

`Run.create` makes the folder and its header, `Run.shard` hands a writer its own file, and
`Run.seal` merges the files (see `seal`). Any process may open the same folder and add shards of
its own; names are checked, so no writer reaches outside.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any, Final

from .errors import RunFolderError
from .files import read_document
from .lines import BadLine, Event, decode, encode
from .schema import FORMAT, line_fault
from .seal import Sealed, seal_shards
from .shards import ShardWriter

HEADER_FILE: Final = "header.json"
HISTORY_FILE: Final = "history.jsonl"
SHARDS_FOLDER: Final = "shards"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def writer_name(name: str) -> str:
    """The name itself if it can name a shard, else `RunFolderError`."""
    if not _NAME.fullmatch(name):
        raise RunFolderError(
            f"{name[:60]!r} cannot name a writer: letters, digits, dot, dash and underscore, "
            "starting with a letter or digit, at most 100 characters"
        )
    return name


class Run:
    """One run on disk: its header, its shards, and in the end its history."""

    def __init__(self, folder: Path, header: Event) -> None:
        """For `create` and `open`; both leave a checked header behind."""
        self.folder = folder
        self.header = header
        taken = sum(1 for _ in (folder / SHARDS_FOLDER).glob("*.jsonl"))
        self._slots = itertools.count(taken)

    @classmethod
    def create(cls, folder: Path | str, **fields: Any) -> Run:
        """Make a new run folder; `run`, `sut` and `world` are needed, other fields are kept."""
        folder = Path(folder)
        header: Event = {"kind": "header", "format": FORMAT, **fields}
        if (fault := line_fault(header)) is not None:
            raise RunFolderError(f"the run header is not sound: {fault}")
        try:
            line = encode(header)
        except BadLine as cause:
            raise RunFolderError(f"the run header is not sound: {cause}") from None
        if (folder / HEADER_FILE).exists():
            raise RunFolderError(f"{folder} already holds a run; choose another folder")
        try:
            (folder / SHARDS_FOLDER).mkdir(parents=True, exist_ok=True)
            fresh = folder / (HEADER_FILE + ".tmp")
            fresh.write_bytes(line)
            os.replace(fresh, folder / HEADER_FILE)
        except OSError as cause:
            raise RunFolderError(f"cannot make a run in {folder}: {cause.strerror}") from cause
        return cls(folder, header)

    @classmethod
    def open(cls, folder: Path | str) -> Run:
        """A run made before, by this process or another."""
        folder = Path(folder)
        try:
            line = read_document(folder / HEADER_FILE)
        except OSError as cause:
            raise RunFolderError(
                f"{folder} is not a run folder: {HEADER_FILE}: {cause.strerror}"
            ) from cause
        try:
            header = decode(line)
            fault = line_fault(header)
        except BadLine as cause:
            fault = str(cause)
        if fault is not None:
            raise RunFolderError(f"{folder / HEADER_FILE}: {fault}")
        return cls(folder, header)

    @property
    def history(self) -> Path:
        """Where the sealed history is, or will be."""
        return self.folder / HISTORY_FILE

    def next_slot(self) -> int:
        """A number that no other world of this run has; worlds may be recorded side by side."""
        return next(self._slots)

    def shard(self, name: str, clock: str, *, mortal: bool = False) -> ShardWriter:
        """A new shard for one writer; every name is used once."""
        path = self.folder / SHARDS_FOLDER / f"{writer_name(name)}.jsonl"
        return ShardWriter(path, clock=clock, mortal=mortal)

    def seal(self) -> Sealed:
        """Merge the shards into `history.jsonl`. Sealing again gives the same bytes."""
        return seal_shards(self.folder / SHARDS_FOLDER, self.header, self.history)

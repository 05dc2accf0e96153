"""Where histories lie: in a file, in a folder of runs, below a prefix of an object store.

    history.jsonl, etcd_000.log      one history, in any form that can be imported
    runs/7                           one run; if it was cut short it is sealed first, as incomplete
    runs                             every run below it; what lies inside a run is not looked into
    s3://bucket/prefix?endpoint=…    the same on S3 (`reference_impl.live.object_store` says more)

An object is brought to disk piece by piece, so memory does not grow with it. What a source is
called never shows the keys of a store.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from .errors import HistoryUnreadable
from .history import History
from .importers import import_history
from .reader import read_history
from .run import HEADER_FILE, HISTORY_FILE, Run

_PIECE_BYTES: Final = 4 * 1024 * 1024
_OF_A_RUN: Final = (HEADER_FILE, HISTORY_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One history somewhere: `name` is for people, `address` and `key` say how to get it."""

    name: str
    address: str
    key: str | None = None

    @property
    def bytes_on_disk(self) -> int | None:
        """How large it is, other files of its run included; None if it is not on this disk."""
        if self.key is not None:
            return None
        path = Path(self.address)
        parts = path.rglob("*.jsonl") if path.is_dir() else [path]
        return sum(part.stat().st_size for part in parts if part.is_file())

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[History]:
        """The history, readable until the block ends; an object is kept in `scratch` meanwhile."""
        if self.key is None:
            path = Path(self.address)
            yield import_history(sealed_history(path) if path.is_dir() else path)
            return
        with tempfile.TemporaryDirectory(prefix="fetched-", dir=scratch) as folder:
            path = Path(folder) / PurePosixPath(self.key).name
            with path.open("wb") as file:
                file.writelines(_pieces(self.address, self.key))
            history = import_history(path)
            history.name = self.name
            yield history


def sealed_history(folder: Path) -> Path:
    """The history file of a run folder; a run that was cut short is sealed first."""
    run = Run.open(folder)
    if not run.history.exists():
        run.seal()
    told = read_history(run.history).header
    if any(told.get(name) != run.header.get(name) for name in ("run", "sut", "seed", "started")):
        raise HistoryUnreadable(f"{run.history} is not the history of the run in {folder}")
    return run.history


def find_sources(where: str) -> list[Source]:
    """Every history there, in order of their names; `HistoryUnreadable` if there is none."""
    if "://" in where:
        found = _in_store(where)
    else:
        path = Path(where)
        if not path.exists():
            raise HistoryUnreadable(f"there is no history and no run at {where}")
        found = _in_folder(path) if path.is_dir() else [Source(name=where, address=where)]
    if not found:
        name = where.partition("?")[0]
        raise HistoryUnreadable(
            f"{name} holds no run: no {HEADER_FILE} and no {HISTORY_FILE} is below it"
        )
    return sorted(found, key=lambda source: source.name)


def _in_folder(top: Path) -> list[Source]:
    found: list[Source] = []
    for folder, below, files in os.walk(top):
        if any(name in files for name in _OF_A_RUN):
            below.clear()
            where = folder if HEADER_FILE in files else os.path.join(folder, HISTORY_FILE)
            found.append(Source(name=folder, address=where))
    return found


def _in_store(url: str) -> list[Source]:
    """Objects have no folders, but runs that were copied there have kept their names."""
    parts = urlsplit(url)
    plain = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    keys = asyncio.run(_keys(url))
    if parts.path.strip("/") and not keys:
        # The address may name the history itself, or the file of somebody else.
        parent, _, last = parts.path.strip("/").rpartition("/")
        store = parts._replace(path=f"/{parent}" if parent else "").geturl()
        named = [key for key in asyncio.run(_keys(store)) if key == last]
        return [Source(name=plain, address=store, key=key) for key in named]
    return [
        Source(name=f"{plain}/{folder}".removesuffix("/."), address=url, key=key)
        for folder, key in _runs_among(keys)
    ]


def _runs_among(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The runs among objects: their folder, and the key of their history, there or not."""
    paths = [PurePosixPath(key) for key in keys]
    folders = {path.parent for path in paths if path.name in _OF_A_RUN}
    for folder in sorted(folders):
        if folders.isdisjoint(folder.parents):
            yield str(folder), str(folder / HISTORY_FILE)


async def _keys(url: str) -> list[str]:
    from reference_impl.live.object_store import open_object_store
    from reference_impl.ports.object_store import StoreError

    name = url.partition("?")[0]
    try:
        store = open_object_store(url)
        return [found.key for found in await store.list()]
    except ValueError as cause:
        raise HistoryUnreadable(f"{name}: {cause}") from None
    except StoreError as cause:
        raise HistoryUnreadable(f"cannot list {name}: {cause}") from None


def _pieces(url: str, key: str) -> Iterator[bytes]:
    from reference_impl.live.object_store import open_object_store
    from reference_impl.ports.object_store import ObjectNotFound, StoreError

    name = f"{url.partition('?')[0]}/{key}"
    store = open_object_store(url)
    try:
        size = asyncio.run(store.head(key)).size
        for start in range(0, size, _PIECE_BYTES):
            yield asyncio.run(store.get_range(key, start, _PIECE_BYTES))
    except ObjectNotFound:
        raise HistoryUnreadable(f"there is no {name}: the run was not sealed") from None
    except StoreError as cause:
        raise HistoryUnreadable(f"cannot read {name}: {cause}") from None

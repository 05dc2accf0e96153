"""The object-store port on obstore: in memory, in a folder, on S3.

    open_object_store("memory:")                     gone with the object
    open_object_store("/var/objects")                a folder; `file:///var/objects` is the same
    open_object_store("s3://bucket/prefix?endpoint=http://127.0.0.1:9000&region=eu-central-1")

What S3 needs beyond that is taken from the query (`access_key_id`, `secret_access_key`,
`session_token`, by `%` where a sign means something in a URL) or else from the usual variables of
the environment (`AWS_ACCESS_KEY_ID`, …).

Whatever obstore raises ends in the port's tree, as ``StoreUnavailable`` unless the store has said
something definite. Two things it cannot see through: a bucket that is not there, asked for an
object, answers as if only the object were missing; and a folder keeps its objects over a crash of
the process, but is not synced against a loss of power.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, MemoryStore, S3Store

from reference_impl.ports.object_store import (
    AlreadyExists,
    InvalidRange,
    ObjectInfo,
    ObjectNotFound,
    StoreUnavailable,
    check_key,
)

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig, S3Config

_S3_SETTINGS = ("access_key_id", "endpoint", "region", "secret_access_key", "session_token")
_PREFIX_BYTES = 100  # with the longest key it stays below the 1024 bytes that S3 takes
_FAILURES = (BaseError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client of S3 tries; no call takes longer than `retry_s` and `request_s`."""

    connect_s: float = 2.0
    request_s: float = 10.0  # one try, with all bytes there and back
    retries: int = 3
    retry_s: float = 10.0  # after that no further try is begun


_USUAL = Patience()


def open_object_store(url: str, patience: Patience = _USUAL) -> ObstoreObjectStore:
    """The store behind an address; a ValueError if it is none. Nothing is asked of it yet."""
    if url == "memory:":
        return ObstoreObjectStore(MemoryStore())
    if url.startswith("s3://"):
        return ObstoreObjectStore(s3_store(url, patience))
    path = url
    if url.startswith("file:"):
        parts = urlsplit(url)
        path = unquote(parts.path) if parts.netloc in ("", "localhost") else ""
    if not path or "://" in path:
        raise ValueError(f"not an object store: {url!r}; it is `memory:`, a folder or `s3://…`")
    return FolderObjectStore(LocalStore(Path(path).absolute(), mkdir=True))


class ObstoreObjectStore:
    """An ObjectStore on one of obstore's, under the very keys."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """Store an object whole; AlreadyExists if it must be new and is not."""
        check_key(key)
        mode: Literal["create", "overwrite"] = "create" if if_absent else "overwrite"
        with _translated():
            try:
                # Never in parts: those of an upload that was cut off would stay, unseen and paid.
                await obstore.put_async(
                    self._store, self._path(key), data, mode=mode, use_multipart=False
                )
            except AlreadyExistsError:
                if not if_absent:
                    raise
                raise AlreadyExists(key) from None

    async def get(self, key: str) -> bytes:
        """The whole object."""
        check_key(key)
        with _translated(looking_for=key):
            found = await obstore.get_async(self._store, self._path(key))
            return (await found.bytes_async()).to_bytes()

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """Up to that many bytes from there; fewer at the end of the object."""
        check_key(key)
        if start < 0 or count <= 0:
            raise InvalidRange(f"{key}: {count} bytes from {start}")
        try:
            with _translated(looking_for=key):
                found = await obstore.get_range_async(
                    self._store, self._path(key), start=start, length=count
                )
                return found.to_bytes()
        except (ObjectNotFound, StoreUnavailable) as error:
            # obstore has no error of its own for a range that is not there, only words; and
            # SeaweedFS says "not found" of an empty object if there are others below its key.
            if isinstance(error, StoreUnavailable) and "range" not in str(error).lower():
                raise
            size = (await self.head(key)).size
            if start < size:
                raise
            raise InvalidRange(f"{key}: {size} bytes, none from {start}") from None

    async def head(self, key: str) -> ObjectInfo:
        """How large it is."""
        check_key(key)
        with _translated(looking_for=key):
            found = await obstore.head_async(self._store, self._path(key))
        return ObjectInfo(key=key, size=found["size"])

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """All objects whose key begins so, in order of their keys."""
        # obstore lists what is below a folder; a prefix may end in the middle of a name.
        folder = prefix.rpartition("/")[0]
        try:
            check_key(f"{folder}/x" if folder else "x")
        except ValueError:
            return ()  # no key can begin so
        with _translated():
            found = await obstore.list(self._store, self._folder(folder)).collect_async()
        objects = ((self._key(one["path"]), one["size"]) for one in found)
        # Text sorts by code point, which is the order of its UTF-8 bytes.
        return tuple(
            ObjectInfo(key=key, size=size)
            for key, size in sorted(objects)
            if key and key.startswith(prefix)
        )

    async def delete(self, keys: Sequence[str]) -> None:
        """Take objects away; keys that are not there do not matter."""
        for key in keys:
            check_key(key)
        if keys:
            with _translated():
                await self._delete([self._path(key) for key in dict.fromkeys(keys)])

    async def close(self) -> None:
        """Nothing to do: connections end with the last use of the store."""

    # How a key is named in the store.

    def _path(self, key: str) -> str:
        return key

    def _folder(self, folder: str) -> str:
        return folder

    def _key(self, path: str) -> str:
        """The other way round; the empty text for what is no object of ours."""
        return path

    async def _delete(self, paths: Sequence[str]) -> None:
        await obstore.delete_async(self._store, paths)


class FolderObjectStore(ObstoreObjectStore):
    """An ObjectStore of files: the object `wal/7` is the file `wal/7.object`.

    By its ending a file is never taken for a folder, so `wal` and `wal/7` can both be objects, as
    they can be elsewhere. A folder whose name has that ending gets a dot more.
    """

    _ENDING = ".object"
    _LIKE_AN_OBJECT = re.compile(r"\.object\.*$")

    def _path(self, key: str) -> str:
        folder, slash, name = key.rpartition("/")
        return f"{self._folder(folder)}{slash}{name}{self._ENDING}"

    def _folder(self, folder: str) -> str:
        names = folder.split("/")
        return "/".join(f"{name}." if self._LIKE_AN_OBJECT.search(name) else name for name in names)

    def _key(self, path: str) -> str:
        folder, slash, name = path.rpartition("/")
        if not name.endswith(self._ENDING):
            return ""
        names = folder.split("/")
        plain = [name[:-1] if self._LIKE_AN_OBJECT.search(name) else name for name in names]
        return f"{'/'.join(plain)}{slash}{name.removesuffix(self._ENDING)}"

    async def _delete(self, paths: Sequence[str]) -> None:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                await obstore.delete_async(self._store, path)


@contextlib.contextmanager
def _translated(looking_for: str | None = None) -> Iterator[None]:
    """Say what obstore says in the words of the port."""
    try:
        yield
    except _FAILURES as error:
        if looking_for is not None and isinstance(error, FileNotFoundError):
            raise ObjectNotFound(looking_for) from None
        # The first line says it; the others are obstore's own insides.
        raise StoreUnavailable(str(error).partition("\n")[0]) from error


def s3_store(url: str, patience: Patience = _USUAL) -> S3Store:
    """obstore's client of a bucket; a ValueError if the address is none."""
    parts = urlsplit(url)
    prefix = parts.path.strip("/")
    if not parts.netloc:
        raise ValueError("an address of S3 names a bucket: `s3://bucket`")
    if prefix:
        check_key(prefix)
    if len(prefix.encode()) > _PREFIX_BYTES:
        raise ValueError(f"a prefix of more than {_PREFIX_BYTES} bytes: {prefix!r}")
    settings = dict(parse_qsl(parts.query.replace("+", "%2B"), strict_parsing=bool(parts.query)))
    unknown = [name for name in settings if name not in _S3_SETTINGS]
    if unknown:
        raise ValueError(f"not a setting of S3: {', '.join(unknown)}; use {_S3_SETTINGS}")
    config: S3Config = {**settings}  # type: ignore[typeddict-item]  # the names were checked
    client: ClientConfig = {
        "allow_http": settings.get("endpoint", "").startswith("http://"),
        "connect_timeout": timedelta(seconds=patience.connect_s),
        "timeout": timedelta(seconds=patience.request_s),
    }
    retry: RetryConfig = {
        "max_retries": patience.retries,
        "retry_timeout": timedelta(seconds=patience.retry_s),
    }
    return S3Store(
        parts.netloc,
        prefix=prefix or None,
        config=config,
        client_options=client,
        retry_config=retry,
    )

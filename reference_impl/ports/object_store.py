"""The object-store port: whole objects under keys, as S3 has them.

A put makes the whole object visible at once or not at all, and is seen by every get and list that
starts after it returned. Keys are text without a leading `/`; listings are in the order of their
UTF-8 bytes.

Failures are definite or not. ``StoreUnavailable`` promises nothing: a put may have happened. The
others promise that nothing changed, with one exception that every S3 client knows: a put with
``if_absent`` whose first try got through and lost its reply finds its own object there, and says
``AlreadyExists``.

    StoreError
    ├── ObjectNotFound      no such key
    ├── AlreadyExists       a put with `if_absent` found the key taken
    ├── InvalidRange        a range that starts at or beyond the end, or is empty
    └── StoreUnavailable    no answer, or one that says nothing: the call may have happened
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reference_impl.ports.effects import Gate, Passage, Trouble


class StoreError(Exception):
    """A call of the object store that did not do what was asked."""


class ObjectNotFound(StoreError):
    """No object has that key."""


class AlreadyExists(StoreError):
    """An object has that key already."""


class InvalidRange(StoreError):
    """The object has no bytes there."""


class StoreUnavailable(StoreError):
    """Nobody knows whether the call happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectInfo:
    """A key and how many bytes it holds."""

    key: str
    size: int


class ObjectStore(Protocol):
    """What a node may ask of the object store."""

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """Store an object whole; AlreadyExists if it must be new and is not."""
        ...

    async def get(self, key: str) -> bytes:
        """The whole object."""
        ...

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """Up to that many bytes from there; fewer at the end of the object."""
        ...

    async def head(self, key: str) -> ObjectInfo:
        """How large it is."""
        ...

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """All objects whose key begins so, in order of their keys."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Take objects away; keys that are not there do not matter."""
        ...

    async def close(self) -> None:
        """Let go of connections; calling it twice is harmless."""
        ...


_KEY_BYTES = 900  # S3 takes 1024, of which a store's own prefix may need some
_NAME_BYTES = 240  # what a file can be called, with room for what stores add to it
_NEVER = {*map(chr, range(32)), "\x7f", "\\", "\ufffe", "\uffff"}


def check_key(key: str) -> None:
    """Refuse what is no key; every store refuses the same, with a ValueError.

    A key is one name or several with `/` between them. A name is neither empty nor `.` nor `..` and
    at most 240 bytes of UTF-8; all of it is at most 900. What some store would change or could not
    list is refused too: control characters of ASCII, backslashes, and U+FFFE and U+FFFF.
    """
    try:
        sizes = [len(name.encode()) for name in key.split("/")]
    except UnicodeEncodeError:
        sizes = [0]
    if (
        not all(0 < size <= _NAME_BYTES for size in sizes)
        or sum(sizes) + len(sizes) - 1 > _KEY_BYTES
        or any(name in (".", "..") for name in key.split("/"))
        or not _NEVER.isdisjoint(key)
    ):
        raise ValueError(f"not a key of an object: {key!r}")


def _unavailable(trouble: Trouble) -> StoreUnavailable:
    return StoreUnavailable(f"the object store gave no answer ({trouble})")


class GatedObjectStore:
    """A store where every call is an effect: it all happens elsewhere."""

    def __init__(self, inner: ObjectStore, gate: Gate) -> None:
        self._inner = inner
        self._passage = Passage(gate, "object_store", _unavailable)
        self.close = inner.close

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """An effect: `put`, or `put_if_absent`."""
        call = "put_if_absent" if if_absent else "put"
        do = self._inner.put
        await self._passage.run(
            call, lambda: do(key, data, if_absent=if_absent), key=key, bytes=len(data)
        )

    async def get(self, key: str) -> bytes:
        """An effect: `get`."""
        return await self._passage.run("get", lambda: self._inner.get(key), key=key)

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """An effect: `get_range`."""
        do = self._inner.get_range
        return await self._passage.run(
            "get_range", lambda: do(key, start, count), key=key, start=start, count=count
        )

    async def head(self, key: str) -> ObjectInfo:
        """An effect: `head`."""
        return await self._passage.run("head", lambda: self._inner.head(key), key=key)

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """An effect: `list`."""
        return await self._passage.run("list", lambda: self._inner.list(prefix), prefix=prefix)

    async def delete(self, keys: Sequence[str]) -> None:
        """An effect: `delete`."""
        await self._passage.run("delete", lambda: self._inner.delete(keys), keys=[*keys])

"""The simulated object store: whole objects in memory, and objects that have come to harm.

The port's calls never suspend and never fail for want of an answer: that is the business of the
gate in front of it. A store is one for all nodes and outlives them. What the lab may do to an
object:

    vanish()    it is gone, though nobody deleted it
    tear()      only its beginning is left
    corrupt()   one bit has turned over; its size is what it was
    mend()      it is what it was

Each gives back a ``Damage``, which counts the answers that came out differently for it: a `get`
that found nothing, a range across the place where the object was torn, a listing with the wrong
size. An answer that is the same with and without the damage is no evidence of it. Whoever puts or
deletes the object ends that; so does the next damage to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from harness.simulation.bell import Bell
from reference_impl.ports.object_store import (
    AlreadyExists,
    InvalidRange,
    ObjectInfo,
    ObjectNotFound,
    check_key,
)

Rows = list[list[object]]
View = Callable[[bytes], object]  # what an answer shows of an object


class Harm(Enum):
    """What was done to an object."""

    VANISHED = "vanished"
    TORN = "torn"
    CORRUPT = "corrupt"


@dataclass(slots=True, kw_only=True)
class Damage:
    """Harm done to one object, and how many answers have differed for it since."""

    harm: Harm
    key: str
    before: bytes
    after: bytes | None
    reads: int = 0
    bell: Bell = field(default_factory=Bell, compare=False)  # one more differs


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """How many answers each harm has changed, ever."""

    reads_missed: int = 0
    reads_torn: int = 0
    reads_corrupt: int = 0


class SimObjectStore:
    """An ObjectStore in memory."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._objects: dict[str, bytes] = {}
        self._damaged: dict[str, Damage] = {}
        self.damages: list[Damage] = []

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """Store an object whole; AlreadyExists if it must be new and is not."""
        check_key(key)
        if if_absent:
            self._look(key, _presence)
            if key in self._objects:
                raise AlreadyExists(key)
        self._damaged.pop(key, None)
        self._objects[key] = bytes(data)

    async def get(self, key: str) -> bytes:
        """The whole object."""
        check_key(key)
        self._look(key, bytes)
        return self._found(key)

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """Up to that many bytes from there; fewer at the end of the object."""
        check_key(key)
        if start < 0 or count <= 0:
            raise InvalidRange(f"{key}: {count} bytes from {start}")
        self._look(key, lambda data: data[start : start + count])
        data = self._found(key)
        if start >= len(data):
            raise InvalidRange(f"{key}: {len(data)} bytes, none from {start}")
        return data[start : start + count]

    async def head(self, key: str) -> ObjectInfo:
        """How large it is."""
        check_key(key)
        self._look(key, len)
        return ObjectInfo(key=key, size=len(self._found(key)))

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """All objects whose key begins so, in order of their keys."""
        for key in self._damaged:
            if key.startswith(prefix):
                self._look(key, len)
        # Text sorts by code point, which is the order of its UTF-8 bytes.
        return tuple(
            ObjectInfo(key=key, size=len(data))
            for key, data in sorted(self._objects.items())
            if key.startswith(prefix)
        )

    async def delete(self, keys: Sequence[str]) -> None:
        """Take objects away; keys that are not there do not matter."""
        for key in keys:
            check_key(key)
        for key in keys:
            self._damaged.pop(key, None)
            self._objects.pop(key, None)

    async def close(self) -> None:
        """Nothing to let go of."""

    @property
    def counts(self) -> StoreCounts:
        """How many answers each harm has changed, ever."""
        return StoreCounts(
            reads_missed=self._reads(Harm.VANISHED),
            reads_torn=self._reads(Harm.TORN),
            reads_corrupt=self._reads(Harm.CORRUPT),
        )

    def contents(self) -> dict[str, bytes]:
        """Every object, in order of their keys."""
        return dict(sorted(self._objects.items()))

    def rows(self) -> Rows:
        """Key and size of every object, in order of their keys, for a probe."""
        return [[key, len(data)] for key, data in self.contents().items()]

    def vanish(self, key: str) -> Damage:
        """The object is gone."""
        return self._harm(Harm.VANISHED, key, None)

    def tear(self, key: str) -> Damage:
        """Only the beginning is left, anything from no byte to all but one."""
        data = self._at_hand(key, least=1)
        return self._harm(Harm.TORN, key, data[: self._rng.randrange(len(data))])

    def corrupt(self, key: str) -> Damage:
        """One bit is another."""
        data = bytearray(self._at_hand(key, least=1))
        data[self._rng.randrange(len(data))] ^= 1 << self._rng.randrange(8)
        return self._harm(Harm.CORRUPT, key, bytes(data))

    def mend(self, damage: Damage) -> None:
        """The object is what it was, unless it was put, deleted or damaged since."""
        if self._damaged.get(damage.key) is damage:
            del self._damaged[damage.key]
            self._objects[damage.key] = damage.before

    def _harm(self, harm: Harm, key: str, after: bytes | None) -> Damage:
        damage = Damage(harm=harm, key=key, before=self._at_hand(key), after=after)
        self.damages.append(damage)
        self._damaged[key] = damage
        if after is None:
            del self._objects[key]
        else:
            self._objects[key] = after
        return damage

    def _at_hand(self, key: str, least: int = 0) -> bytes:
        data = self._objects.get(key)
        if data is None or len(data) < least:
            raise LookupError(f"no object to damage: {key}")
        return data

    def _look(self, key: str, view: View) -> None:
        """Somebody is about to be shown this much of an object."""
        damage = self._damaged.get(key)
        if damage is None:
            return
        if damage.after is None or view(damage.before) != view(damage.after):
            damage.reads += 1
            damage.bell.ring()

    def _found(self, key: str) -> bytes:
        try:
            return self._objects[key]
        except KeyError:
            raise ObjectNotFound(key) from None

    def _reads(self, harm: Harm) -> int:
        return sum(damage.reads for damage in self.damages if damage.harm is harm)


def _presence(data: bytes) -> bool:
    return True

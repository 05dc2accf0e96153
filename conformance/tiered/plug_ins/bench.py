"""What a case is played on: a storage manager on a store that can fail, metadata managers of two
brokers, a folder; and how the end of a call is told.

    ok, or what came      not found     RemoteResourceNotFoundException
    dropped               not known     NotInitialised: this manager has not been told of it
    unavailable           failed        any other RemoteStorageException
    refused               ValueError: no store and no topic was asked
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from uuid import UUID

from conformance.tiered.plug_ins.managers import ORDERS, InMemory, Managers
from reference_impl.live.disk import FileDisk
from reference_impl.log.decisions import EpochEntry
from reference_impl.ports import Ports
from reference_impl.ports.object_store import ObjectInfo, ObjectStore, StoreUnavailable
from reference_impl.tiered.metadata import (
    EventDropped,
    MetadataUnavailable,
    NotInitialised,
    RemoteLogMetadataManager,
)
from reference_impl.tiered.object_storage import ObjectStorageManager
from reference_impl.tiered.segments import (
    PartitionDeleteState,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
)
from reference_impl.tiered.storage import (
    LogSegmentData,
    RemoteResourceNotFoundException,
    RemoteStorageException,
)

STARTED_AT = 1000
_NAMED: tuple[tuple[type[Exception], str], ...] = (
    (RemoteResourceNotFoundException, "not found"),
    (EventDropped, "dropped"),
    (NotInitialised, "not known"),
    (MetadataUnavailable, "unavailable"),
    (RemoteStorageException, "failed"),
    (ValueError, "refused"),
)


class FailingStore:
    """A store that answers nothing while it is `down`, and fails after `puts` more objects."""

    def __init__(self, inner: ObjectStore) -> None:
        self._inner = inner
        self.down = False
        self.puts: int | None = None

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """One object less that can be put."""
        if self.puts is not None:
            self.puts -= 1
        self._check(self.puts is not None and self.puts < 0)
        await self._inner.put(key, data, if_absent=if_absent)

    async def get(self, key: str) -> bytes:
        """As the store has it."""
        self._check()
        return await self._inner.get(key)

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """As the store has it."""
        self._check()
        return await self._inner.get_range(key, start, count)

    async def head(self, key: str) -> ObjectInfo:
        """As the store has it."""
        self._check()
        return await self._inner.head(key)

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """All keys, also while it is down: the lab looks from outside."""
        return await self._inner.list(prefix)

    async def delete(self, keys: Sequence[str]) -> None:
        """As the store does it."""
        self._check()
        await self._inner.delete(keys)

    async def close(self) -> None:
        """Nothing is held."""

    def _check(self, fails: bool = False) -> None:
        if self.down or fails:
            raise StoreUnavailable("the store is out of order")


class MetadataBench:
    """The metadata managers of a case, and what is published through that of broker 1."""

    def __init__(self, managers: Managers) -> None:
        self.partition = managers.partition
        self.published = managers.published
        self._of = managers.of
        self._managers: dict[int, RemoteLogMetadataManager] = {}

    async def manager(self, broker: int = 1, *, told: bool = True) -> RemoteLogMetadataManager:
        """The metadata manager of a broker; it has a replica of the partition, if `told`, and
        knows then what is known of it."""
        if broker not in self._managers:
            self._managers[broker] = self._of(broker)
            if told:
                await self.tell(self._managers[broker])
        return self._managers[broker]

    async def tell(self, manager: RemoteLogMetadataManager, *, leads: bool = True) -> None:
        """Its broker leads or follows the partition."""
        sides = ([self.partition], []) if leads else ([], [self.partition])
        manager.on_partition_leadership_changes(*sides)
        await manager.caught_up(self.partition)

    # ── publishing ───────────────────────────────────────────────────────────────────────────────

    async def begins(self, number: int, **more: Any) -> None:
        """A copy begins."""
        manager = await self.manager()
        await manager.add_remote_log_segment_metadata(segment(number, self.partition, **more))

    async def becomes(self, number: int, state: int, **more: Any) -> None:
        """A segment is in a later state."""
        manager, event = await self.manager(), update(number, state, self.partition, **more)
        await manager.update_remote_log_segment_metadata(event)

    async def copied(self, number: int, **more: Any) -> None:
        """A copy begins and is finished."""
        await self.begins(number, **more)
        await self.becomes(number, 1, epoch=more.get("epoch", 0), at=more.get("at", STARTED_AT) + 1)

    async def deletion(self, state: int) -> None:
        """The deletion of the partition has come so far."""
        await (await self.manager()).put_remote_partition_delete_metadata(
            RemotePartitionDeleteMetadata(
                partition=self.partition,
                epoch=0,
                event_timestamp_ms=STARTED_AT,
                state=PartitionDeleteState(state),
            )
        )

    async def state_of(self, number: int) -> str:
        """The state in which a segment is listed; `-` if it is not."""
        listed = (await self.manager()).list_remote_log_segments(self.partition)
        found = [one for one in listed if one.segment_id.id == UUID(int=number)]
        return str(int(found[0].state)) if found else "-"


class Bench(MetadataBench):
    """Everything of a case, made for it alone; its metadata is in memory."""

    def __init__(self, store: ObjectStore, folder: Path) -> None:
        super().__init__(InMemory())
        self.store = FailingStore(store)
        self.storage = ObjectStorageManager(cast(Ports, SimpleNamespace(object_store=self.store)))
        self.disk = FileDisk(folder)
        self.folder = folder

    async def parts(self) -> str:
        """The names of the objects in the store, without what comes before them."""
        found = await self.store.list()
        return " ".join(sorted(one.key.rpartition("/")[2] for one in found))


def segment(
    number: int,
    partition: TopicIdPartition = ORDERS,
    *,
    first: int = 0,
    last: int = 9,
    epoch: int = 0,
    epochs: Sequence[tuple[int, int]] = (),
    at: int = STARTED_AT,
    size: int = 100,
    state: int = 0,
) -> RemoteLogSegmentMetadata:
    """What is known of a segment; ``number`` stands for its id."""
    return RemoteLogSegmentMetadata(
        segment_id=RemoteLogSegmentId(partition, UUID(int=number)),
        start_offset=first,
        end_offset=last,
        leader_epoch=epoch,
        max_timestamp_ms=at - 1,
        event_timestamp_ms=at,
        segment_leader_epochs=tuple(EpochEntry(*one) for one in epochs or ((epoch, first),)),
        segment_size_bytes=size,
        state=SegmentState(state),
    )


def update(
    number: int,
    state: int,
    partition: TopicIdPartition = ORDERS,
    *,
    epoch: int = 0,
    at: int = STARTED_AT + 1,
) -> RemoteLogSegmentMetadataUpdate:
    """A later state of a segment."""
    return RemoteLogSegmentMetadataUpdate(
        segment_id=RemoteLogSegmentId(partition, UUID(int=number)),
        leader_epoch=epoch,
        event_timestamp_ms=at,
        state=SegmentState(state),
    )


def data_of(content: bytes, *, transactions: bytes | None = b"transactions") -> LogSegmentData:
    """A segment whose indexes are their names."""
    return LogSegmentData(
        segment=content,
        offset_index=b"offsets",
        time_index=b"times",
        producer_snapshot=b"producers",
        leader_epochs=b"epochs",
        transaction_index=transactions,
    )


Case = Callable[[Bench], Awaitable[str]]
MetadataCase = Callable[[MetadataBench], Awaitable[str]]
B = TypeVar("B", bound=MetadataBench)


async def outcome(asked: Awaitable[object]) -> str:
    """How a call ended."""
    try:
        answer = await asked
    except tuple(kind for kind, _ in _NAMED) as error:
        return next(name for kind, name in _NAMED if isinstance(error, kind))
    return answer.decode() if isinstance(answer, bytes) else "ok"


LATE = "broke: TimeoutError"
PATIENCE_S, AFTERWARDS_S = 20.0, 1.0


async def played(case: Callable[[B], Awaitable[str]], bench: B, limit_s: float = PATIENCE_S) -> str:
    """What a case came to; what breaks it is told by its name."""
    try:
        async with asyncio.timeout(limit_s):
            return await case(bench)
    except Exception as error:  # of whatever kind: the judge says what it is worth
        named = [name for kind, name in _NAMED if isinstance(error, kind)]
        return named[0] if named else f"broke: {type(error).__name__}"

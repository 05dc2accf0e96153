"""Which offsets are kept no longer: those of topics that were deleted, and those that are too old.

An offset is kept for `offsets.retention.minutes` after it was committed, or until the time that an
old client said. Within an open transaction nothing expires. A group without offsets is forgotten
when its partition is looked at next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from reference_impl.coordinators.offset_records import (
    NO_EXPIRY,
    NO_TOPIC_ID,
    OffsetKey,
    OffsetValue,
)
from reference_impl.coordinators.offset_state import OffsetState
from reference_impl.decisions import decision


class Retention(NamedTuple):
    """Times in milliseconds."""

    keep_ms: int
    check_interval_ms: int


class DeletedTopic(NamedTuple):
    """A topic that is no more."""

    name: str
    topic_id: UUID


@decision("offset-expired")
def offset_expired(value: OffsetValue, now_ms: int, keep_ms: int) -> bool:
    """Whether an offset is too old; a time that its client said counts more than the broker's."""
    if value.expire_ms != NO_EXPIRY:
        return now_ms >= value.expire_ms
    return now_ms - value.commit_ms >= keep_ms


@decision("gone-with-its-topic")
def gone_with_its_topic(stored: UUID, deleted: UUID) -> bool:
    """Whether an offset under the name of a deleted topic is of that one; within transactions
    clients do not say which."""
    return stored in (NO_TOPIC_ID, deleted)


def expired(state: OffsetState, now_ms: int, keep_ms: int) -> list[OffsetKey]:
    """The offsets that are too old, and that no open transaction is about to replace."""
    return [
        key
        for key, stored in state.committed.items()
        if offset_expired(stored.value, now_ms, keep_ms) and not state.is_pending(key)
    ]


def of_deleted(state: OffsetState, topics: Iterable[DeletedTopic]) -> list[OffsetKey]:
    """The offsets that go with their topics, also those of open transactions."""
    ids = {one.name: one.topic_id for one in topics}
    found: dict[OffsetKey, None] = {}
    for offsets in (state.committed, *state.pending.values()):
        for key, stored in offsets.items():
            if key.topic in ids and gone_with_its_topic(stored.value.topic_id, ids[key.topic]):
                found[key] = None
    return list(found)

"""The offsets of one partition of ``__consumer_offsets``, as its log says: a replay of its records.

What is committed outside of a transaction counts at once. What a transaction commits is *pending*
under its producer's id until its marker comes: then it counts, or is gone. The same replay serves
who has just appended a record, and who reads the whole log when leadership begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from reference_impl.coordinators.offset_records import NO_TOPIC_ID, OffsetKey, OffsetValue
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode

NO_PRODUCER_ID = -1
NO_OFFSET = -1
FIRST_WITH_NO_GROUP = 9
"""From this version of OffsetCommit on a group that is not there is called so."""


class Stored(NamedTuple):
    """An offset, and where in the log the record lies that says so."""

    record_offset: int
    value: OffsetValue


class Committer(NamedTuple):
    """Who commits, as the request says."""

    generation: int = -1
    member_id: str = ""
    instance_id: str | None = None


class Fetched(NamedTuple):
    """What is told of a partition."""

    error: ErrorCode = ErrorCode.none
    value: OffsetValue = OffsetValue(NO_OFFSET)


@decision("may-commit-offsets")
def may_commit(known: bool, committer: Committer, transactional: bool, version: int) -> ErrorCode:
    """No group has members yet, so a client that names a generation is none.

    Without a generation a commit is for a group that manages no members, which begins with it; a
    member's name alone makes no difference. ``known``: the group has been committed for before.
    """
    if committer.generation < 0:
        return ErrorCode.none
    if known:
        return ErrorCode.unknown_member_id
    if transactional or version < FIRST_WITH_NO_GROUP:
        return ErrorCode.illegal_generation
    return ErrorCode.group_id_not_found


@decision("metadata-fits")
def metadata_fits(metadata: str | None, most: int) -> bool:
    """What a client adds to an offset, in characters of Java (UTF-16), is bounded."""
    return metadata is None or len(metadata.encode("utf-16-be", "surrogatepass")) // 2 <= most


@decision("pending-offset-counts")
def pending_offset_counts(known: Stored | None, pending: Stored) -> bool:
    """Of an offset within a transaction and one outside, the later record counts, whichever marker
    came when."""
    return known is None or pending.record_offset > known.record_offset


@decision("same-topic")
def same_topic(stored: UUID, asked: UUID) -> bool:
    """An offset is that of a topic with this id, as far as ids are known."""
    return NO_TOPIC_ID in (stored, asked) or stored == asked


@decision("topic-is-gone")
def topic_is_gone(stored: UUID, exists: bool) -> bool:
    """An offset of a topic that was deleted is not told, also if another one has its name."""
    return stored != NO_TOPIC_ID and not exists


@decision("fetched-offset")
def fetched(stored: Stored | None, pending: bool, require_stable: bool, asked: UUID) -> Fetched:
    """What a group is told: who wants stable offsets has to wait for open transactions."""
    if require_stable and pending:
        return Fetched(ErrorCode.unstable_offset_commit)
    if stored is None or not same_topic(stored.value.topic_id, asked):
        return Fetched()
    return Fetched(value=stored.value)


class OffsetState:
    """See the module."""

    def __init__(self) -> None:
        self.committed: dict[OffsetKey, Stored] = {}
        self.pending: dict[int, dict[OffsetKey, Stored]] = {}
        self._groups: dict[str, None] = {}

    def knows(self, group: str) -> bool:
        """Whether the group was ever committed for."""
        return group in self._groups

    def begin(self, group: str) -> None:
        """A group was committed for, if only with what could not be kept: it is there from now on,
        though the log does not say so."""
        self._groups[group] = None

    def forget_groups(self) -> None:
        """Groups without offsets, also pending ones, are there no more."""
        stores = (self.committed, *self.pending.values())
        used = {key.group for offsets in stores for key in offsets}
        self._groups = {group: None for group in self._groups if group in used}

    def of_group(self, group: str) -> list[OffsetKey]:
        """All partitions that a group has offsets of."""
        return [key for key in self.committed if key.group == group]

    def is_pending(self, key: OffsetKey) -> bool:
        """Whether an open transaction has an offset for it."""
        return any(key in offsets for offsets in self.pending.values())

    def fetch(self, key: OffsetKey, *, require_stable: bool, topic_id: UUID) -> Fetched:
        """What is told of a partition."""
        return fetched(self.committed.get(key), self.is_pending(key), require_stable, topic_id)

    def deletable(self, keys: Iterable[OffsetKey]) -> list[OffsetKey]:
        """Those that a record has to take away."""
        return [key for key in keys if key in self.committed or self.is_pending(key)]

    def replay(
        self, record_offset: int, producer_id: int, key: OffsetKey, value: OffsetValue | None
    ) -> None:
        """A record of an offset is in the log; None takes it away, pending ones too."""
        if value is None:
            self.committed.pop(key, None)
            for offsets in self.pending.values():
                offsets.pop(key, None)
            return
        self._groups[key.group] = None
        stored = Stored(record_offset, value)
        if producer_id == NO_PRODUCER_ID:
            self.committed[key] = stored
        else:
            self.pending.setdefault(producer_id, {})[key] = stored

    def replay_marker(self, producer_id: int, committed: bool) -> None:
        """A producer's transaction has ended."""
        for key, stored in self.pending.pop(producer_id, {}).items():
            if committed and pending_offset_counts(self.committed.get(key), stored):
                self.committed[key] = stored

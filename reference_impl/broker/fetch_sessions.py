"""Fetch sessions (KIP-227): a consumer names its partitions once and then only what changes.

    session 0, epoch 0      a full fetch that would like a session
    session s, epoch 0      the same; the session s ends
    session s, epoch −1     a full fetch without one; the session s ends
    session s, epoch e      only what changed since the fetch before; e counts up, 1 follows 2^31−1

A cache holds a bounded number of sessions. A new one takes the place of one that was not used for a
while, or of a smaller one that has lived long enough; else the fetch is answered without a session.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from reference_impl.broker.decisions import LARGEST_EPOCH, next_session_epoch, session_tells
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.ports import Clock, Rng

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

NO_SESSION = 0
INITIAL_EPOCH, FINAL_EPOCH = 0, -1
SHARDS = 8
"""Kafka divides the ids of sessions among so many caches."""


def in_a_shard(session_id: int) -> bool:
    """Whether there is a cache for an id; Kafka fails where there is none."""
    of_each = LARGEST_EPOCH // SHARDS
    return -of_each < session_id < of_each * SHARDS


class Place(NamedTuple):
    """A partition as a request names it: by id, or by name in old versions."""

    topic_id: UUID
    topic: str | None
    partition: int


@dataclass(slots=True)
class Cached:
    """A partition of a session: what was asked last, and what the client was told."""

    request: FetchRequest.FetchPartition
    high_watermark: int = -1
    log_start_offset: int = -1

    def must_tell(self, data: FetchResponse.PartitionData) -> bool:
        """Whether the client does not know yet; notes that it will."""
        news = session_tells(
            bool(data.records),
            data.high_watermark != self.high_watermark,
            data.log_start_offset != self.log_start_offset,
            data.preferred_read_replica >= 0
            or data.error_code != 0
            or data.diverging_epoch.epoch >= 0,
        )
        # After an error everything is told again, once it has gone.
        self.high_watermark = -1 if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return news


@dataclass(slots=True)
class Session:
    """What one client fetches."""

    session_id: int
    uses_ids: bool
    privileged: bool
    created_ns: int
    used_ns: int
    partitions: dict[Place, Cached]
    epoch: int = 1

    def evictable(self, now_ns: int, after_ns: int, *, by_privileged: bool) -> bool:
        """Whether a newcomer of that kind may take its place, if it is large enough."""
        old = now_ns - self.created_ns > after_ns
        return old or (by_privileged and not self.privileged)


@dataclass(slots=True)
class Fetching:
    """One fetch: the partitions it means, and the session it belongs to."""

    partitions: dict[Place, FetchRequest.FetchPartition]
    error: ErrorCode = ErrorCode.none
    session: Session | None = None
    wants_session: bool = False
    uses_ids: bool = False
    privileged: bool = False


@dataclass(slots=True)
class FetchSessions:
    """The sessions of a broker."""

    clock: Clock
    rng: Rng
    slots: int = 1000
    evict_after_ms: int = 120_000
    _sessions: dict[int, Session] = field(default_factory=dict)

    def begin(
        self,
        *,
        session_id: int,
        epoch: int,
        uses_ids: bool,
        privileged: bool,
        partitions: dict[Place, FetchRequest.FetchPartition],
        forgotten: list[Place],
    ) -> Fetching:
        """What a request means, with what its session remembers."""
        if not in_a_shard(session_id):
            raise KafkaError(ErrorCode.unknown_server_error)
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            wants = epoch == INITIAL_EPOCH
            return Fetching(
                partitions, wants_session=wants, uses_ids=uses_ids, privileged=privileged
            )
        session = self._sessions.get(session_id)
        if session is None:
            return Fetching({}, error=ErrorCode.fetch_session_id_not_found)
        if session.epoch != epoch:
            return Fetching({}, error=ErrorCode.invalid_fetch_session_epoch)
        if session.uses_ids != uses_ids:
            return Fetching({}, error=ErrorCode.fetch_session_topic_id_error)
        _update(session, partitions, forgotten)
        if not session.partitions:
            del self._sessions[session_id]
            return Fetching(partitions)
        session.used_ns = self.clock.monotonic_ns()
        session.epoch = next_session_epoch(session.epoch)
        asked = {place: cached.request for place, cached in session.partitions.items()}
        return Fetching(asked, session=session)

    def end(
        self,
        fetching: Fetching,
        answers: dict[Place, FetchResponse.PartitionData],
        asked_epoch: int,
    ) -> tuple[ErrorCode, int, dict[Place, FetchResponse.PartitionData]]:
        """The error, the session id and the partitions to answer with."""
        session = fetching.session
        if fetching.error is not ErrorCode.none:
            return fetching.error, NO_SESSION, {}
        if session is None:
            session_id = self._create(fetching, answers) if fetching.wants_session else NO_SESSION
            return ErrorCode.none, session_id, answers
        if session.epoch != next_session_epoch(asked_epoch):
            return ErrorCode.invalid_fetch_session_epoch, session.session_id, {}
        told = {}
        for place, data in answers.items():
            cached = session.partitions.get(place)
            if cached is not None and cached.must_tell(data):
                told[place] = data
                if data.records:  # to the end, so that the others have their turn
                    session.partitions[place] = session.partitions.pop(place)
        return ErrorCode.none, session.session_id, told

    def _create(self, fetching: Fetching, answers: dict[Place, FetchResponse.PartitionData]) -> int:
        if len(self._sessions) >= self.slots and not self._evict(fetching, len(answers)):
            return NO_SESSION
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = 1 + self.rng.randrange(LARGEST_EPOCH // SHARDS * SHARDS - 1)
        now = self.clock.monotonic_ns()
        cached = {}
        for place, data in answers.items():
            cached[place] = Cached(fetching.partitions[place])
            cached[place].must_tell(data)
        self._sessions[session_id] = Session(
            session_id, fetching.uses_ids, fetching.privileged, now, now, cached
        )
        return session_id

    def _evict(self, fetching: Fetching, size: int) -> bool:
        now, after = self.clock.monotonic_ns(), self.evict_after_ms * 1_000_000
        if not self._sessions:
            return False
        oldest = min(self._sessions.values(), key=lambda one: (one.used_ns, one.session_id))
        if now - oldest.used_ns > after:
            del self._sessions[oldest.session_id]
            return True
        candidates = [
            one
            for one in self._sessions.values()
            if one.evictable(now, after, by_privileged=fetching.privileged)
        ]
        if not candidates:
            return False
        least = min(
            candidates, key=lambda one: (one.privileged, len(one.partitions), one.session_id)
        )
        if (fetching.privileged, size) < (least.privileged, len(least.partitions)):
            return False
        del self._sessions[least.session_id]
        return True


def _update(
    session: Session,
    partitions: dict[Place, FetchRequest.FetchPartition],
    forgotten: list[Place],
) -> None:
    for place, request in partitions.items():
        cached = session.partitions.get(place)
        if cached is None:
            session.partitions[place] = Cached(request)
        else:
            cached.request = request
    for place in forgotten:
        session.partitions.pop(place, None)

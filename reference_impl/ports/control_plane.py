"""The control-plane port: one typed request and one typed answer per call, over many partitions.

One register per partition holds the boundary B0 of a diskless partition. A request asks the same of
several partitions, each by topic id and index. Its answer has one entry per partition, in the order
of the request: how it ended there, and the state stored after the call, so that a refused caller
learns the boundary it has to live with. Each partition is judged by itself; a partition that occurs
twice is asked twice, in that order.

Errors fall in two kinds. A *definite* one promises that nothing changed. An *indefinite* one
promises nothing: the call may or may not have happened, the stored state is not known, and the
answer's state is None rather than a value somebody might believe. A call that fails as a whole
answers every partition so; it raises nothing.

A call is one transaction over all its partitions, or several where a plan says so; each is an
effect that passes the gate of its node on its own. **Lock order**: a transaction locks the rows of
its partitions by topic id, then by partition, both ascending, before it looks at any of them, and
never another row after that. So calls that overlap wait for each other and cannot deadlock.

Topics have names where people and histories see them: ``CreateLogs`` tells the name of a topic id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast
from uuid import UUID

UNDEFINED = -1  # a boundary, epoch or reset epoch that is not set

# Above the largest boundary a suffix still has room to grow within a signed 64-bit offset.
MAX_OFFSET = 2**62
MAX_INT = 2**31 - 1
MAX_SHORT = 2**15 - 1


class BoundaryError(StrEnum):
    """How a call ended on a partition. Names are Kafka's where Kafka has one."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    BOUNDARY_MISMATCH = "BOUNDARY_MISMATCH"
    PRODUCER_STATE_MISMATCH = "PRODUCER_STATE_MISMATCH"
    SUFFIX_NOT_EMPTY = "SUFFIX_NOT_EMPTY"
    BOUNDARY_UNSET = "BOUNDARY_UNSET"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    INVALID_REQUEST = "INVALID_REQUEST"
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"

    @property
    def definite(self) -> bool:
        """True if the caller knows whether the call took effect."""
        return self not in (BoundaryError.REQUEST_TIMED_OUT, BoundaryError.KAFKA_STORAGE_ERROR)


class Seed(NamedTuple):
    """One batch of one producer in the classic prefix; a JSON array of six on the wire."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    base_offset: int
    timestamp_ms: int


def canonical(entries: tuple[Seed, ...]) -> tuple[Seed, ...]:
    """Seeds as the set they are: sorted, each row once."""
    return tuple(sorted(dict.fromkeys(entries)))


# --- what is asked of a partition ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicIdPartition:
    """A partition, by the id of its topic and its index; what is asked of it comes with it."""

    topic_id: UUID
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogToCreate(TopicIdPartition):
    """A log, and what its topic is called."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryToInitialize(TopicIdPartition):
    """A boundary and the producer state that goes with it, by the leader of an epoch."""

    boundary: int
    leader_epoch: int
    entries: tuple[Seed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryToSet(TopicIdPartition):
    """A boundary alone; UNDEFINED takes the stored one away."""

    boundary: int
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerStateToSeed(TopicIdPartition):
    """Producer state ahead of its boundary."""

    entries: tuple[Seed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochToRegister(TopicIdPartition):
    """The epoch of a new leader."""

    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchToCommit(TopicIdPartition):
    """A batch that wants offsets."""

    record_count: int


# --- what is answered for a partition -----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAnswer:
    """How a call ended on one partition. The state is None exactly when the error is indefinite.

    ``message`` is for people: it explains a failure and takes no part in comparisons.
    """

    error: BoundaryError
    boundary: int | None
    epoch: int | None
    reset_epoch: int | None
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducersAnswer(PartitionAnswer):
    """With the seeds, unless it failed."""

    seeds: tuple[Seed, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer(PartitionAnswer):
    """With the offset of the batch's first record, unless it failed."""

    base_offset: int | None = None


# --- the calls ----------------------------------------------------------------------------------

Asked = TypeVar("Asked", bound=TopicIdPartition)
Answered = TypeVar("Answered", bound=PartitionAnswer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[Answered]):
    """One entry per partition, in the order of the request."""

    one: ClassVar[type[PartitionAnswer]] = PartitionAnswer

    partitions: tuple[Answered, ...]


AnswerT = TypeVar("AnswerT", bound=Answer[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[Asked, AnswerT]):
    """One call: what it is called in traces and on the wire, and what is asked of whom."""

    f: ClassVar[str]
    asks: ClassVar[type[TopicIdPartition]]
    answer: ClassVar[type[Answer[Any]]]

    partitions: tuple[Asked, ...]

    def answered(self, partitions: Sequence[PartitionAnswer]) -> AnswerT:
        """The answer of this call that has these entries."""
        return cast(AnswerT, self.answer(partitions=tuple(partitions)))

    def unknown(self, error: BoundaryError, message: str) -> AnswerT:
        """The answer of a call that may or may not have happened."""
        nothing = self.answer.one(
            error=error, boundary=None, epoch=None, reset_epoch=None, message=message
        )
        return self.answered([nothing] * len(self.partitions))


class CreateLogsAnswer(Answer[PartitionAnswer]):
    """The state of each log, new or not."""

    __slots__ = ()


class CreateLogs(Request[LogToCreate, CreateLogsAnswer]):
    """Make logs known; one that is there already stays as it is."""

    __slots__ = ()
    f, asks, answer = "create_log", LogToCreate, CreateLogsAnswer


class InitializeDisklessMigrationAnswer(Answer[PartitionAnswer]):
    """The state of each log, with the boundary that is stored."""

    __slots__ = ()


class InitializeDisklessMigration(Request[BoundaryToInitialize, InitializeDisklessMigrationAnswer]):
    """Store producer state and boundary together."""

    __slots__ = ()
    f = "initialize_diskless_migration"
    asks, answer = BoundaryToInitialize, InitializeDisklessMigrationAnswer


class SetDisklessLogStartOffsetAnswer(Answer[PartitionAnswer]):
    """The state of each log, with the boundary that is stored."""

    __slots__ = ()


class SetDisklessLogStartOffset(Request[BoundaryToSet, SetDisklessLogStartOffsetAnswer]):
    """Store a boundary without touching the seeds, or take one away."""

    __slots__ = ()
    f = "set_diskless_log_start_offset"
    asks, answer = BoundaryToSet, SetDisklessLogStartOffsetAnswer


class GetDisklessLogStartOffsetAnswer(Answer[PartitionAnswer]):
    """The state of each log, all from one snapshot."""

    __slots__ = ()


class GetDisklessLogStartOffset(Request[TopicIdPartition, GetDisklessLogStartOffsetAnswer]):
    """Read boundaries."""

    __slots__ = ()
    f = "get_diskless_log_start_offset"
    asks, answer = TopicIdPartition, GetDisklessLogStartOffsetAnswer


class SeedProducerStateAnswer(Answer[PartitionAnswer]):
    """The state of each log."""

    __slots__ = ()


class SeedProducerState(Request[ProducerStateToSeed, SeedProducerStateAnswer]):
    """Store producer state ahead of the boundary."""

    __slots__ = ()
    f, asks, answer = "seed_producer_state", ProducerStateToSeed, SeedProducerStateAnswer


class RegisterLeaderEpochAnswer(Answer[PartitionAnswer]):
    """The state of each log, with the epoch in force."""

    __slots__ = ()


class RegisterLeaderEpoch(Request[EpochToRegister, RegisterLeaderEpochAnswer]):
    """Fence older leaders off."""

    __slots__ = ()
    f, asks, answer = "register_leader_epoch", EpochToRegister, RegisterLeaderEpochAnswer


class DescribeProducersAnswer(Answer[ProducersAnswer]):
    """The state of each log with its seeds, all from one snapshot."""

    __slots__ = ()
    one = ProducersAnswer


class DescribeProducers(Request[TopicIdPartition, DescribeProducersAnswer]):
    """Read producer state."""

    __slots__ = ()
    f, asks, answer = "describe_producers", TopicIdPartition, DescribeProducersAnswer


class CommitBatchesAnswer(Answer[BatchAnswer]):
    """The state of each log with the offset its batch got."""

    __slots__ = ()
    one = BatchAnswer


class CommitBatches(Request[BatchToCommit, CommitBatchesAnswer]):
    """Give batches their offsets."""

    __slots__ = ()
    f, asks, answer = "commit_batch", BatchToCommit, CommitBatchesAnswer


AnyRequest = Request[Any, Any]


class ControlPlane(Protocol):
    """What a broker, a simulator or a workload may ask of a control plane."""

    async def call(self, request: Request[Any, AnswerT]) -> AnswerT:
        """Carry out one call; a failing control plane answers too, it does not raise."""
        ...

    async def close(self) -> None:
        """Let go of connections; calling it twice is harmless."""
        ...

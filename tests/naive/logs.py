"""What a naive checker looks at: operations, appends and reads of each partition, as plain lists.

Nothing here knows of tables, views or the expressions of the catalogue. A rule is a function from a
`Log` to its `Case`s (`cases`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

Event = dict[str, Any]


class Timed(Protocol):
    """What has a beginning and perhaps an end, by one clock."""

    clock: str
    began: int
    ended: int | None


@dataclass(slots=True, kw_only=True)
class Op:
    """One operation: what was asked and what was answered."""

    index: int
    f: str
    type: str
    clock: str
    began: int
    ended: int | None
    answered: int | None
    node: int | None
    asked: Event
    answer: Event

    @property
    def ok(self) -> bool:
        return self.type == "ok"


@dataclass(slots=True, kw_only=True)
class Append:
    """One send over all its attempts."""

    index: int
    clock: str
    began: int
    records: list[tuple[Any, int | None, Any]]
    acks: int
    producer: list[int] | None
    transaction: str | None
    attempts: list[Op] = field(default_factory=list)
    ended: int | None = None  # when it was acknowledged first
    offset: int | None = None  # which was given to its first record then

    @property
    def acknowledged(self) -> list[Op]:
        return [one for one in self.attempts if one.ok]

    @property
    def failed(self) -> bool:
        return all(one.type == "fail" for one in self.attempts)

    @property
    def durable(self) -> int | None:
        """The offset, if the acknowledgement says that all in-sync replicas have it."""
        return self.offset if self.acks == -1 else None

    @property
    def idempotent(self) -> bool:
        producers = [one.asked.get("producer") for one in self.attempts]
        same = all(one == producers[0] for one in producers)
        return self.producer is not None and self.producer[0] >= 0 and same

    def repeats(self, other: Append) -> bool:
        """Whether a broker takes one for the other: same producer, epoch, sequence and size."""
        same = self.producer == other.producer and len(self.records) == len(other.records)
        return self.idempotent and other.idempotent and same

    @property
    def once(self) -> bool:
        """Whether the log may hold it once at most."""
        return self.idempotent or self._tried_once

    @property
    def repeated(self) -> bool:
        """Whether an idempotent producer sent it more than once."""
        return self.idempotent and not self._tried_once

    @property
    def _tried_once(self) -> bool:
        return len(self.attempts) == 1 and self.attempts[0].asked.get("attempt", 1) == 1


@dataclass(slots=True, kw_only=True)
class Read:
    """One record in the answer to a fetch."""

    op: Op
    offset: int
    value: Any
    timestamp: int | None
    epoch: int | None
    key: Any

    @property
    def described(self) -> bool:
        """Whether the reader tells more of the record than its value."""
        return self.key is not None or self.timestamp is not None

    @property
    def committed(self) -> bool:
        return isolation(self.op) == "read_committed"


def isolation(op: Op) -> str:
    """Kafka's own default where none was recorded."""
    return op.asked.get("isolation") or "read_uncommitted"


@dataclass(slots=True, kw_only=True)
class Window:
    """The time during which a fault was in force, and the assumption that it breaks, if any."""

    fault: str
    target: str
    assumption: str | None
    clock: str
    since: int
    until: int | None


@dataclass(slots=True, kw_only=True)
class Phase:
    """What a stretch of the run is for, and how long what is waited for in it may take."""

    name: str
    clock: str
    began: int
    ended: int | None
    since_ns: int
    until_ns: int | None
    bound_ns: int | None


@dataclass(slots=True, kw_only=True)
class Log:
    """Everything that a history says about one partition."""

    ops: list[Op] = field(default_factory=list)
    appends: list[Append] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    nodes: list[Event] = field(default_factory=list)  # lines that say which nodes run
    transactions: list[Op] = field(default_factory=list)
    everywhere: list[Log] = field(default_factory=list)
    adrift: set[Any] = field(default_factory=set)  # values sent to a partition that is not known

    def of(self, *fs: str) -> list[Op]:
        """Operations that were answered ok."""
        return [op for op in self.ops if op.f in fs and op.ok]

    def by_value(self) -> dict[Any, tuple[Append, int]]:
        """Who sent a value, and as which of its records; values sent twice are nobody's."""
        found: dict[Any, tuple[Append, int]] = {}
        twice = set()
        for append in self.appends:
            for position, (value, _, _) in enumerate(append.records):
                if value in found:
                    twice.add(value)
                found[value] = (append, position)
        return {
            value: one for value, one in found.items() if value is not None and value not in twice
        }

    def has_twin(self, append: Append) -> bool:
        """Whether a broker took this send for another, or the other way round."""
        return append.producer is not None and any(
            one is not append
            and one.producer == append.producer
            and one.offset == append.offset
            and one.repeats(append)
            for one in self.appends
        )

    def by_offset(self) -> dict[int, list[Read]]:
        found: dict[int, list[Read]] = defaultdict(list)
        for read in self.reads:
            found[read.offset].append(read)
        return found

    def durable_records(self) -> Iterator[tuple[int, Append, int]]:
        """Offset, append and position of every record that was acknowledged by all in sync.

        What repeats the batch of another send is answered with the offset of that one.
        """
        for append in self.appends:
            if (base := append.durable) is not None and not self.has_twin(append):
                for position in range(len(append.records)):
                    yield base + position, append, position

    def places(self) -> Iterator[tuple[int, Append, int, tuple[Timed, ...]]]:
        """Where each record stands: by its acknowledgement, else wherever it was read.

        An acknowledgement of the leader alone promises nothing, so only reads tell.
        """
        for offset, append, position in self.durable_records():
            yield offset, append, position, (append,)
        writers = self.by_value()
        told = set()
        for read in self.reads:
            writer, position = writers.get(read.value, (None, 0))
            if writer is None or writer.durable is not None:
                continue
            if (id(writer), position, read.offset) not in told:
                told.add((id(writer), position, read.offset))
                yield read.offset, writer, position, (writer, read.op)

    def possible_start(self, at: Op) -> float:
        """The highest offset at which the log may have started when this was answered."""
        highest: float = 0
        end = at.answered if at.answered is not None else at.began
        deletes = [op for op in self.ops if op.f == "delete_records" and op.type != "fail"]
        for op in deletes:
            if op.clock != at.clock or op.began < end:
                asked = op.asked["offset"]
                highest = max(highest, asked if asked >= 0 else told_start(op, float("inf")))
        for op in self.ops:
            start = told_start(op, -1)
            later = op.clock == at.clock and op.began > end
            explained = any(one.began > end and one.asked["offset"] >= start for one in deletes)
            if not (later and explained):
                highest = max(highest, start)
        return highest


def told_start(op: Op, default: float) -> float:
    """The log start that an answer names, or the default."""
    if not op.ok:
        return default
    if op.f == "list_offsets":
        return op.answer.get("offset", default) if op.asked.get("timestamp") == -2 else default
    start = op.answer.get("log_start_offset")
    return default if start is None or start < 0 else start


def epoch_of(op: Op) -> int | None:
    """The leader epoch in which a node answered: named in the request or with the latest offset."""
    epoch = op.asked.get("leader_epoch")
    if epoch is None and op.f == "list_offsets" and op.asked.get("timestamp") == -1:
        epoch = op.answer.get("leader_epoch")
    return None if epoch is None or epoch < 0 else int(epoch)


def before(first: Timed, second: Timed) -> bool:
    """Whether the first was over when the second began; unknown across clocks."""
    return first.clock == second.clock and first.ended is not None and first.ended < second.began

"""What a history of requests says about its logs, as something that can be changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from spark_checkers.synthetic.drafts import Draft, Operation

Place = tuple[str, int]
Record = list[Any]
T = TypeVar("T")

OFFSET, VALUE, TIMESTAMP, EPOCH, KEY = range(5)


def picked(random: Random, choices: Iterable[T]) -> T | None:
    """One of them, if there is one."""
    found = list(choices)
    return random.choice(found) if found else None


def place_of(operation: Operation) -> Place:
    """The partition an operation is about."""
    return operation.invoke["topic"], operation.invoke["partition"]


@dataclass(frozen=True, slots=True)
class Send:
    """What an application meant to append once, with all its attempts."""

    attempts: list[Operation]

    @property
    def first(self) -> Operation:
        """The attempt under whose number a send is known."""
        return self.attempts[0]

    @property
    def acknowledged(self) -> Operation:
        """The attempt that was answered ok."""
        return next(attempt for attempt in self.attempts if attempt.ok)

    @property
    def place(self) -> Place:
        return place_of(self.first)

    @property
    def base(self) -> int:
        """The offset it was told."""
        return int(self.acknowledged.completion["offset"])

    @property
    def size(self) -> int:
        return len(self.first.invoke["records"])

    @property
    def offsets(self) -> range:
        return range(self.base, self.base + self.size)

    @property
    def producer(self) -> list[int] | None:
        found: list[int] | None = self.first.invoke.get("producer")
        return found

    @property
    def transaction(self) -> str | None:
        found: str | None = self.first.invoke.get("transaction")
        return found

    @property
    def once(self) -> bool:
        """Whether it can be in the log once at most."""
        return self.producer is not None or len(self.attempts) == 1

    def told(self, offset: int) -> None:
        """It was told another offset."""
        self.acknowledged.completion["offset"] = offset


def kept_sends(draft: Draft) -> list[Send]:
    """The sends that were acknowledged with an offset by all in-sync replicas."""
    attempts: dict[str, list[Operation]] = {}
    for operation in sorted(draft.operations, key=lambda one: int(one.invoke["time"])):
        if operation.f == "produce":
            attempts.setdefault(operation.invoke["send"], []).append(operation)
    return [
        Send(found)
        for found in attempts.values()
        if found[0].invoke["acks"] == -1
        and any(one.ok and "offset" in one.completion for one in found)
    ]


def fetches(draft: Draft, place: Place | None = None) -> list[Operation]:
    """The answered fetches, of one partition or all, in order of their answers."""
    found = [one for one in draft.of("fetch") if place in (None, place_of(one))]
    return sorted(found, key=lambda one: int(one.completion["time"]))


def records(operation: Operation) -> list[Record]:
    """The records in an answer."""
    found: list[Record] = operation.completion["records"]
    return found


def readers(draft: Draft, place: Place, offset: int) -> Iterator[tuple[Operation, Record]]:
    """Who read an offset, and what."""
    for operation in fetches(draft, place):
        for record in records(operation):
            if record[OFFSET] == offset:
                yield operation, record


def seen_by(draft: Draft, place: Place, offset: int) -> list[Operation]:
    """Who read an offset."""
    return [operation for operation, _ in readers(draft, place, offset)]


def greatest_start(draft: Draft, place: Place) -> int:
    """The highest log start that a fetch was told: what is not below it was there all the time."""
    return max(int(one.completion["log_start_offset"]) for one in fetches(draft, place))


def last_fetch(draft: Draft, random: Random) -> Operation | None:
    """The last fetch of some partition that has records; nothing was asked of it afterwards."""
    ends = {place_of(one): one for one in fetches(draft)}
    return picked(random, (one for one in ends.values() if records(one)))


def committed(operation: Operation) -> bool:
    """Whether it reads committed records only."""
    return bool(operation.invoke["isolation"] == "read_committed")


def replica_of(operation: Operation) -> tuple[Place, int, int] | None:
    """The replica and epoch that answered, if the request names the epoch."""
    epoch = operation.invoke.get("leader_epoch")
    return None if epoch is None else (place_of(operation), operation.invoke["node"], epoch)


def extend(operation: Operation, record: Record) -> None:
    """The answer goes one record further, and so do the ends that it names."""
    records(operation).append(record)
    end = record[OFFSET] + 1
    answer = operation.completion
    answer["high_watermark"] = max(answer["high_watermark"], end)
    if committed(operation):
        answer["last_stable_offset"] = max(answer["last_stable_offset"], end)


def exchange(draft: Draft, place: Place, sources: dict[int, int]) -> None:
    """At each offset all readers find the record of its source; epochs stay with the offsets."""
    contents: dict[int, Record] = {}
    for operation in fetches(draft, place):
        for record in records(operation):
            contents.setdefault(record[OFFSET], list(record))
    for operation in fetches(draft, place):
        for record in records(operation):
            offset = int(record[OFFSET])
            source = contents.get(sources.get(offset, offset))
            if source is not None:
                record[:] = [offset, *source[VALUE:EPOCH], record[EPOCH], *source[KEY:]]


def known_before(draft: Draft, operation: Operation) -> list[Record]:
    """What was read before a question and was not deleted until long after it."""
    place = place_of(operation)
    found = fetches(draft, place)
    last = max((int(one.invoke["time"]) for one in found), default=0)
    if last <= operation.completion["time"] or committed(operation):
        return []
    before = [one for one in found if one.precedes(operation) and not committed(one)]
    start = greatest_start(draft, place)
    return [record for one in before for record in records(one) if record[OFFSET] >= start]


def stamps_gone(draft: Draft, operation: Operation) -> list[int]:
    """The timestamps of what was read of a log and deleted at some time."""
    place = place_of(operation)
    start = greatest_start(draft, place)
    read = [record for one in fetches(draft, place) for record in records(one)]
    return [record[TIMESTAMP] for record in read if record[OFFSET] < start]

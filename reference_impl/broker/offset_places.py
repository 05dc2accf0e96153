"""The partitions that requests about offsets name: which of them exist, and how they are answered.

Partitions that do not exist are refused by the broker that is asked; all others get an answer from
the coordinator of their group. An answer lists what was refused first, each topic once, and puts
what the coordinator says behind it; where nothing was refused it is the coordinator's as it is,
with a topic as often as the request had it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from reference_impl.coordinators.offset_records import NO_TOPIC_ID
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import Image


class Committed(Protocol):
    """A partition in a request that commits."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class Place(NamedTuple):
    """A topic, as it is answered for."""

    name: str
    topic_id: UUID = NO_TOPIC_ID


class Asked(NamedTuple):
    """A partition, and what is to be committed for it."""

    place: Place
    partition: int
    offset: int = -1
    leader_epoch: int = -1
    metadata: str | None = None

    @staticmethod
    def of(place: Place, one: Committed) -> Asked:
        """As a request says it."""
        return Asked(
            place,
            one.partition_index,
            one.committed_offset,
            one.committed_leader_epoch,
            one.committed_metadata,
        )


AskedTopic = tuple[Place, list[Asked]]
ToldTopic = tuple[Place, list[tuple[int, ErrorCode]]]


def existing(
    image: Image, topics: Iterable[AskedTopic], *, by_id: bool = False
) -> tuple[list[AskedTopic], list[ToldTopic]]:
    """The partitions that exist, by the entries of the request; and what the others are told."""
    found: list[AskedTopic] = []
    refused: list[ToldTopic] = []
    for place, partitions in topics:
        unknown = ErrorCode.unknown_topic_or_partition
        if by_id and not place.name:
            unknown = ErrorCode.unknown_topic_id
        there = [
            one for one in partitions if image.partition(place.name, one.partition) is not None
        ]
        missing = [(one.partition, unknown) for one in partitions if one not in there]
        if missing or place.name not in image.topics:
            refused.append((place, missing))
        if there:
            found.append((place, there))
    return found, refused


def told(topics: Iterable[AskedTopic], codes: Iterable[ErrorCode]) -> list[ToldTopic]:
    """What the coordinator says, partition by partition."""
    left = iter(codes)
    return [
        (place, [(one.partition, next(left)) for one in partitions]) for place, partitions in topics
    ]


@decision("merged-offset-answers")
def merged(refused: Sequence[ToldTopic], coordinated: Sequence[ToldTopic]) -> list[ToldTopic]:
    """One answer of both, see the module."""
    if not refused:
        return list(coordinated)
    topics: dict[Place, list[tuple[int, ErrorCode]]] = {}
    for place, partitions in (*refused, *coordinated):
        topics.setdefault(place, []).extend(partitions)
    return list(topics.items())

"""Which partition of the metadata topic has the events of a user partition.

Two functions: the document's, by name (C-17), and Apache Kafka's, by topic id (C-32). Which one a
topic was filled with cannot be seen from it, so it is fixed when the topic is made.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference_impl.decisions import decision
from reference_impl.tiered.segments import TopicIdPartition

_MASK: Final = 0xFFFFFFFF
_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_R: Final = 24

Partitioner = Callable[[TopicIdPartition, int], int]


def murmur2(data: bytes) -> int:
    """The hash of Kafka's default partitioner, as a signed number of 32 bits."""
    h = _SEED ^ len(data)
    whole = len(data) & ~3
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = k * _M & _MASK
        k = (k ^ k >> _R) * _M & _MASK
        h = h * _M & _MASK ^ k
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return _signed(h ^ h >> 15)


def to_positive(number: int) -> int:
    """Without its sign bit; this is not its absolute value."""
    return number & 0x7FFFFFFF


@decision("tiered-metadata-partition", rules=("TS-083",))
def metadata_partition(topic: str, partition: int, partitions: int) -> int:
    """By the name of the user partition alone: all ids that ever had the name share one."""
    return to_positive(murmur2(f"{topic}-{partition}".encode())) % partitions


def by_name(partition: TopicIdPartition, partitions: int) -> int:
    """The document's function (C-17)."""
    return metadata_partition(partition.topic, partition.partition, partitions)


def by_id(partition: TopicIdPartition, partitions: int) -> int:
    """Apache Kafka's function (C-32): Java's hash of the id's two halves and the number."""
    low, high = partition.topic_id.int & (1 << 64) - 1, partition.topic_id.int >> 64
    h = 1
    for number in (low ^ low >> 32, high ^ high >> 32, partition.partition):
        h = 31 * h + number & _MASK
    return to_positive(murmur2(h.to_bytes(4, "big"))) % partitions


PARTITIONERS: Final[Mapping[str, Partitioner]] = MappingProxyType(
    {"name": by_name, "kafka4": by_id}
)


def _signed(number: int) -> int:
    return number - (1 << 32) if number & 1 << 31 else number

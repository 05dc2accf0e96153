"""Which arguments suit a call: the form of what is asked of one partition.

A partition that is asked for something out of range is answered INVALID_REQUEST, by itself. What
the design demands is decided in ``boundary``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reference_impl.ports.control_plane import (
    MAX_INT,
    MAX_OFFSET,
    MAX_SHORT,
    UNDEFINED,
    AnyRequest,
    BatchToCommit,
    BoundaryToInitialize,
    BoundaryToSet,
    CommitBatches,
    CreateLogs,
    DescribeProducers,
    EpochToRegister,
    GetDisklessLogStartOffset,
    InitializeDisklessMigration,
    LogToCreate,
    RegisterLeaderEpoch,
    Seed,
    SeedProducerState,
    SetDisklessLogStartOffset,
    TopicIdPartition,
)

CALLS: Mapping[str, type[AnyRequest]] = MappingProxyType(
    {
        call.f: call
        for call in (
            CreateLogs,
            InitializeDisklessMigration,
            SetDisklessLogStartOffset,
            GetDisklessLogStartOffset,
            SeedProducerState,
            RegisterLeaderEpoch,
            DescribeProducers,
            CommitBatches,
        )
    }
)

Range = tuple[int, int]

_PARTITIONS: Range = (0, MAX_INT)
_EPOCHS: Range = (0, MAX_INT)
_SEEDS: Mapping[str, Range] = MappingProxyType(
    {
        "producer_id": (0, MAX_OFFSET),
        "producer_epoch": (0, MAX_SHORT),
        "base_sequence": (0, MAX_INT),
        "last_sequence": (0, MAX_INT),
        "base_offset": (0, MAX_OFFSET),
        "timestamp_ms": (-1, MAX_OFFSET),
    }
)
_NUMBERS: Mapping[type[TopicIdPartition], Mapping[str, Range]] = MappingProxyType(
    {
        BoundaryToInitialize: {"boundary": (0, MAX_OFFSET), "leader_epoch": _EPOCHS},
        BoundaryToSet: {"boundary": (UNDEFINED, MAX_OFFSET), "leader_epoch": _EPOCHS},
        EpochToRegister: {"leader_epoch": _EPOCHS},
        BatchToCommit: {"record_count": (1, MAX_INT)},
    }
)


def can_exist(asked: TopicIdPartition) -> bool:
    """Whether there could be a partition with this index at all."""
    return _PARTITIONS[0] <= asked.partition <= _PARTITIONS[1]


def problem_with(asked: TopicIdPartition) -> str | None:
    """Why the arguments do not suit the call, in one sentence; None if they do."""
    if not can_exist(asked):
        return _not_in("partition", asked.partition, _PARTITIONS)
    if isinstance(asked, LogToCreate) and not (asked.topic and _storable(asked.topic)):
        return f"topic {asked.topic!r} is empty or not plain text"
    for name, legal in _NUMBERS.get(type(asked), {}).items():
        value: int | None = getattr(asked, name)
        if value is not None and not legal[0] <= value <= legal[1]:
            return _not_in(name, value, legal)
    entries: tuple[Seed, ...] = getattr(asked, "entries", ())
    for seed in entries:
        for (name, legal), value in zip(_SEEDS.items(), seed, strict=True):
            if not legal[0] <= value <= legal[1]:
                return _not_in(f"{name} of an entry", value, legal)
    return None


def _not_in(name: str, value: int, legal: Range) -> str:
    return f"{name} is {value}, which is not in {legal[0]}..{legal[1]}"


def _storable(text: str) -> bool:
    # PostgreSQL stores neither NUL nor lone surrogates; memory must not take what it would refuse.
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)

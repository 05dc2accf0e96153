"""Checkpoint files of a broker: one number per partition, in Kafka's own text format.

    0                 the version of the format
    2                 how many lines follow
    orders 0 1042     topic, partition, offset
    orders 1 998

A file that cannot be read is as good as none: what it held can be found out from the logs, only
more slowly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from reference_impl.log.checkpoints import CorruptCheckpoint, read_checkpoint, write_checkpoint
from reference_impl.ports import Disk

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

Offsets = dict[tuple[str, int], int]


def marker_of(broker_epoch: int) -> bytes:
    """What a broker leaves behind that has closed its logs, with the epoch it had."""
    return json.dumps({"version": 0, "brokerEpoch": broker_epoch}).encode()


def epoch_in(marker: bytes | None) -> int:
    """The epoch in such a marker; −1 if there is none, or none that can be read."""
    try:
        return int(json.loads(marker or b"")["brokerEpoch"])
    except (ValueError, KeyError, TypeError):
        return -1


async def write_offsets(disk: Disk, name: str, offsets: Mapping[tuple[str, int], int]) -> None:
    """Replace a checkpoint file."""
    lines = [f"{topic} {index} {offset}" for (topic, index), offset in offsets.items()]
    await write_checkpoint(disk, name, lines)


async def read_offsets(disk: Disk, name: str) -> Offsets:
    """What a checkpoint file says; nothing if it is missing or damaged."""
    try:
        found = [line.rsplit(" ", 2) for line in await read_checkpoint(disk, name) or ()]
        return {(topic, int(index)): int(offset) for topic, index, offset in found}
    except (CorruptCheckpoint, ValueError):
        return {}

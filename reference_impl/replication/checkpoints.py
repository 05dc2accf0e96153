"""Checkpoint files of a broker: one number per partition, in Kafka's own text format.

    0                 the version of the format
    2                 how many lines follow
    orders 0 1042     topic, partition, offset
    orders 1 998

A file that cannot be read is as good as none: what it held can be found out from the logs, only
more slowly.

``Checkpoints`` keeps them true to the logs: one that is not open yet keeps what was found of it,
and nothing is said of a log that is gone once another may have taken its name.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

from reference_impl.log.checkpoints import CorruptCheckpoint, read_checkpoint, write_checkpoint
from reference_impl.log.log import Log
from reference_impl.ports import Disk

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

Where = tuple[str, int]  # topic and partition
Offsets = dict[Where, int]

_OFFSETS: dict[str, Callable[[Log], int]] = {
    HIGH_WATERMARKS: lambda log: log.high_watermark,
    RECOVERY_POINTS: lambda log: log.recovery_point,
    LOG_STARTS: lambda log: log.log_start_offset,
}


class Checkpoints:
    """The checkpoint files of one broker, and the logs they are about."""

    def __init__(self, disk: Disk, logs: Callable[[], Mapping[Where, Log]]) -> None:
        self._disk = disk
        self._logs = logs  # those that are open
        self._found: dict[str, Offsets] = {name: {} for name in _OFFSETS}
        self._named: set[Where] = set()  # what the files may speak of
        self._turn = asyncio.Lock()

    async def load(self) -> None:
        """Read what the last life of the broker wrote."""
        for name in _OFFSETS:
            self._found[name] = await read_offsets(self._disk, name)
            self._named.update(self._found[name])

    def found(self, where: Where) -> dict[str, int]:
        """What the files said of a log that is not open yet, by their names; else 0."""
        return {name: offsets.get(where, 0) for name, offsets in self._found.items()}

    def opened(self, where: Where) -> None:
        """The log speaks for itself from now on."""
        for offsets in self._found.values():
            offsets.pop(where, None)

    async def forget(self, where: Where) -> None:
        """Say nothing of a log that is gone, for good, before another one takes its name."""
        self.opened(where)
        if where in self._named:
            await self.write()

    async def write(self) -> None:
        """Write down how the logs are; of those that are not open yet, what was found."""
        async with self._turn:
            logs = self._logs()
            now = {
                name: self._found[name] | {where: offset_of(log) for where, log in logs.items()}
                for name, offset_of in _OFFSETS.items()
            }
            named = set().union(*now.values())
            self._named |= named
            for name, offsets in now.items():
                await write_offsets(self._disk, name, offsets)
            self._named = named


def marker_of(broker_epoch: int) -> bytes:
    """What a broker leaves behind that has closed its logs, with the epoch it had."""
    return json.dumps({"version": 0, "brokerEpoch": broker_epoch}).encode()


def epoch_in(marker: bytes | None) -> int:
    """The epoch in such a marker; −1 if there is none, or none that can be read."""
    try:
        return int(json.loads(marker or b"")["brokerEpoch"])
    except (ValueError, KeyError, TypeError):
        return -1


async def write_offsets(disk: Disk, name: str, offsets: Mapping[Where, int]) -> None:
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

"""The log of transactions between two leader epochs of the same broker."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from reference_impl.coordinators.transaction_log import Led, write
from reference_impl.coordinators.transactions import Transaction
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.partitions.logical import LogicalPartition

TRANSACTION = Transaction(transactional_id="x", producer_id=1, timeout_ms=1000)


class Appends:
    """Takes note of the epochs in which something is to be appended, and refuses it."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    async def append(self, *_: Any, leader_epoch: int, **__: Any) -> None:
        self.seen.append(leader_epoch)
        raise KafkaError(ErrorCode.not_enough_replicas)


def _written_while_read(*, epoch_ends: bool) -> tuple[ErrorCode, list[int]]:
    """A write that begins while the log is read: what it is told, and when it was appended."""

    async def played() -> tuple[ErrorCode, list[int]]:
        partition, turn = Appends(), asyncio.Lock()
        led = current = Led(index=0, epoch=1, turn=turn)
        async with turn:
            writing = asyncio.ensure_future(
                write(
                    cast(LogicalPartition, partition),
                    led,
                    lambda one: one is current,
                    "x",
                    TRANSACTION,
                    now_ms=0,
                    timeout_s=1.0,
                )
            )
            await asyncio.sleep(0)
            assert not partition.seen
            if epoch_ends:
                current = Led(index=0, epoch=2, turn=turn)
        return await writing, partition.seen

    return asyncio.run(played())


def test_what_an_epoch_decided_is_not_appended_once_the_next_has_read_the_log() -> None:
    assert _written_while_read(epoch_ends=True) == (ErrorCode.not_coordinator, [])


def test_a_write_waits_for_who_reads_the_log_and_is_appended_in_its_epoch_alone() -> None:
    assert _written_while_read(epoch_ends=False) == (ErrorCode.coordinator_not_available, [1])

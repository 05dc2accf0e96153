"""A follower in the simulation, and a leader that answers it from a script."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from uuid import UUID

from harness.simulation.disk import SimDisk
from harness.simulation.simulation import Simulation
from reference_impl.kafka.apis import FETCH, LIST_OFFSETS, Api
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.message import Message
from reference_impl.kafka.records import build_batch
from reference_impl.log import Log, LogConfig
from reference_impl.metadata.image import PartitionState
from reference_impl.replication.fetcher import Fetcher, FetcherSettings, KeptElsewhere, RemoteAux
from reference_impl.replication.partition import BrokerContext, Partition

TOPIC_ID = UUID(int=7)
LEADER, FOLLOWER = 1, 2


class LoopClock:
    """The time of the loop, which is the simulation's."""

    def now_ms(self) -> int:
        return self.monotonic_ns() // 1_000_000

    def monotonic_ns(self) -> int:
        return int(asyncio.get_running_loop().time() * 1_000_000_000)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ScriptedLeader:
    """The logs of its partitions: ``[start, end)`` of one-record batches, all of them committed.

    A partition in ``errors`` answers a fetch below its ``local`` start with that error; one in
    ``held`` does not answer ListOffsets before the event.
    """

    def __init__(self, *ends: int) -> None:
        self.ends = list(ends)
        self.starts = [0 for _ in ends]
        self.local = [0 for _ in ends]
        self.errors = [ErrorCode.offset_out_of_range for _ in ends]
        self.held: dict[int, asyncio.Event] = {}
        self.fetched: list[list[tuple[int, int]]] = [[] for _ in ends]  # offset and last epoch
        self.listed: list[tuple[int, int]] = []  # partition and timestamp
        self.list_error = ErrorCode.none
        self.epoch = 1

    async def ask(self, api: Api, version: int, message: Message, *, timeout_s: float) -> Message:
        await asyncio.sleep(0.1)
        return self._fetch(message) if api is FETCH else await self._list_offsets(message)

    def abort(self) -> None:
        """There is no connection."""

    def _fetch(self, message: Message) -> Message:
        found = [self._part(asked) for topic in message.topics for asked in topic.partitions]
        response: Message = FETCH.response(
            responses=[FETCH.response.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=found)]
        )
        return response

    def _part(self, asked: Message) -> Message:
        index, offset = asked.partition, asked.fetch_offset
        self.fetched[index].append((offset, asked.last_fetched_epoch))
        end = self.ends[index]
        answer = FETCH.response.PartitionData(
            partition_index=index, high_watermark=end, log_start_offset=self.starts[index]
        )
        if offset < self.local[index] or offset > end:
            answer.error_code = self.errors[index]
        else:
            answer.records = b"".join(map(self.batch, range(offset, end)))
        result: Message = answer
        return result

    def batch(self, offset: int) -> bytes:
        return build_batch([(0, None, b"%d" % offset)], base_offset=offset, leader_epoch=self.epoch)

    async def _list_offsets(self, message: Message) -> Message:
        (topic,) = message.topics
        (asked,) = topic.partitions
        index = asked.partition_index
        self.listed.append((index, asked.timestamp))
        if index in self.held:
            await self.held[index].wait()
        known = {-1: self.ends[index], -2: self.starts[index], -4: self.local[index]}
        one = LIST_OFFSETS.response.ListOffsetsPartitionResponse(
            partition_index=index,
            offset=known[asked.timestamp],
            leader_epoch=self.epoch,
            error_code=self.list_error,
        )
        response: Message = LIST_OFFSETS.response(
            topics=[LIST_OFFSETS.response.ListOffsetsTopicResponse(name="t", partitions=[one])]
        )
        return response


class Follower:
    """A broker's partitions that follow the scripted leader."""

    def __init__(self, leader: ScriptedLeader) -> None:
        self.leader = leader
        self.partitions: list[Partition] = []
        self.remote_aux: RemoteAux | None = None
        self.boundary: int | None = None
        self.fetcher: Fetcher

    async def start(self, *ends: int) -> None:
        """Copies of one partition each, up to these ends, in the leader's first epoch."""
        disk = SimDisk(random.Random(0))
        around = BrokerContext(
            broker_id=FOLLOWER, clock=LoopClock(), brokers={}, proposals=Nobody(), max_lag_ms=1
        )
        for index, end in enumerate(ends):
            log = await Log.open(
                disk, f"t-{index}", config=LogConfig(), clock=LoopClock(), clean=False
            )
            for offset in range(end):
                await log.append_as_follower(self.leader.batch(offset))
            partition = Partition(
                topic="t", topic_id=TOPIC_ID, index=index, log=log, surroundings=around
            )
            self.partitions.append(partition)
        self.fetcher = Fetcher(
            peer=self.leader,  # type: ignore[arg-type]
            connect=lambda: self.leader,  # type: ignore[arg-type, return-value]
            settings=FetcherSettings(broker_id=FOLLOWER),
            clock=LoopClock(),
            partitions=lambda: [one for one in self.partitions if one.state.leader == LEADER],
            broker_epoch=lambda: 1,
            elsewhere=KeptElsewhere(
                remote_aux=self.remote_aux, boundary_of=lambda _: self.boundary
            ),
        )
        for partition in self.partitions:
            await self.take(partition, epoch=1)

    async def take(self, partition: Partition, *, epoch: int, leader: int = LEADER) -> None:
        """The controller has decided."""
        replicas = (LEADER, FOLLOWER)
        state = PartitionState(
            replicas=replicas, isr=(), leader=leader, leader_epoch=epoch, partition_epoch=epoch
        )
        await partition.take(state)
        self.fetcher.roles_changed()

    def ends(self) -> list[int]:
        return [one.log.log_end_offset for one in self.partitions]


class Nobody:
    def propose(self, partition: Partition) -> None:
        raise AssertionError("a follower proposes nothing")


def following(
    leader: ScriptedLeader,
    ends: tuple[int, ...],
    scenario: Callable[[Follower], Coroutine[Any, Any, None]],
    *,
    remote_aux: RemoteAux | None = None,
    boundary: int | None = None,
) -> None:
    """Play the scenario while partitions that reach so far follow the leader."""

    async def play() -> None:
        follower = Follower(leader)
        follower.remote_aux, follower.boundary = remote_aux, boundary
        await follower.start(*ends)
        loop = asyncio.get_running_loop().create_task(follower.fetcher.run())
        await scenario(follower)
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop

    with Simulation(seed=1) as sim:
        sim.run(play())

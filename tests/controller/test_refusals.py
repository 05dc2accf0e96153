"""A broker that cannot lead a partition says so, and the controller elects another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import pytest
from brokers_and_controller import Client, with_brokers
from one_controller import AT, Lab, played

from reference_impl.controller.decisions import accept_directory, directory_is_lost, isr_without
from reference_impl.kafka import apis
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import PartitionState
from reference_impl.replication.partition import Partition
from reference_impl.replication.refusals import LeadershipRefusals, Refusal

LOST, UNASSIGNED, SOME = UUID(int=2), UUID(int=1), UUID(int=4711)


async def say(
    lab: Lab,
    broker: int,
    directory: UUID,
    topic: UUID | str,
    partition: int = 0,
    epoch: int | None = None,
) -> Any:
    """AssignReplicasToDirs by a broker for one partition."""
    request = apis.ASSIGN_REPLICAS_TO_DIRS.request
    known = topic if isinstance(topic, UUID) else (await lab.image()).topics[topic].topic_id
    entry = request.TopicData(
        topic_id=known, partitions=[request.PartitionData(partition_index=partition)]
    )
    return await lab.ask(
        apis.ASSIGN_REPLICAS_TO_DIRS,
        broker_id=broker,
        broker_epoch=lab.epochs[broker] if epoch is None else epoch,
        directories=[request.DirectoryData(id_=directory, topics=[entry])],
    )


def error_of(answer: Any) -> int:
    code: int = answer.directories[0].topics[0].partitions[0].error_code
    return code


def test_a_leader_that_lost_a_partition_is_replaced_and_leaves_the_isr() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        await lab.create("t", (1, 2, 3), (1, 2, 3))
        assert error_of(await say(lab, 1, LOST, "t")) == 0
        state = await lab.state("t")
        assert (state.leader, state.isr, state.leader_epoch) == (2, (2, 3), 1)
        other = await lab.state("t", 1)
        assert (other.leader, other.isr, other.leader_epoch) == (1, (1, 2, 3), 0)

    played(scenario)


def test_without_another_replica_in_sync_nobody_leads() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        await lab.alter_isr(1, "t", await lab.state("t"), [member(1)])
        await say(lab, 1, LOST, "t")
        state = await lab.state("t")
        assert (state.leader, state.isr, state.elr) == (-1, (), (1,))

    played(scenario)


def test_an_unclean_leader_is_elected_only_where_the_topic_says_so() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2), unclean_leader_election_enable="true")
        await lab.alter_isr(1, "t", await lab.state("t"), [member(1)])
        await say(lab, 1, LOST, "t")
        assert (await lab.state("t")).leader == 2

    played(scenario)


def test_a_broker_that_refused_may_lead_again_in_a_later_epoch() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("t", (1,))
        await say(lab, 1, LOST, "t")
        assert (await lab.state("t")).leader == -1
        await say(lab, 1, SOME, "t")
        state = await lab.state("t")
        assert (state.leader, state.isr, state.leader_epoch) == (1, (1,), 2)

    played(scenario)


@pytest.mark.parametrize("directory", [UNASSIGNED, SOME])
def test_any_other_directory_changes_nothing(directory: UUID) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        before = await lab.state("t")
        assert error_of(await say(lab, 1, directory, "t")) == 0
        assert await lab.state("t") == before

    played(scenario)


def test_what_a_broker_may_not_speak_of_is_refused() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1,))
        said = {
            "another's": error_of(await say(lab, 2, LOST, "t")),
            "no such partition": error_of(await say(lab, 1, LOST, "t", partition=5)),
            "no such topic": error_of(await say(lab, 1, LOST, UUID(int=99))),
            "another life": (await say(lab, 1, LOST, "t", epoch=10_000)).error_code,
        }
        assert said == {
            "another's": ErrorCode.not_leader_or_follower,
            "no such partition": ErrorCode.unknown_topic_or_partition,
            "no such topic": ErrorCode.unknown_topic_id,
            "another life": ErrorCode.stale_broker_epoch,
        }
        assert (await lab.state("t")).leader == 1

    played(scenario)


def member(broker: int) -> Any:
    return apis.ALTER_PARTITION.request.BrokerState(broker_id=broker, broker_epoch=-1)


# The broker's side.


@dataclass
class Led:
    """A partition, as far as a refusal looks at it."""

    topic_id: UUID
    state: PartitionState
    index: int = 0
    leads: bool = True


class LoopClock:
    """The simulation's time; only sleeping matters here."""

    def now_ms(self) -> int:
        raise NotImplementedError

    def monotonic_ns(self) -> int:
        raise NotImplementedError

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def led(lab: Lab) -> Led:
    await lab.up(1, 2)
    await lab.create("t", (1, 2))
    image = await lab.image()
    return Led(topic_id=image.topics["t"].topic_id, state=image.topics["t"].partitions[0])


async def refuse(
    lab: Lab, partition: Led, leader_epoch: int, *wrong_broker_epochs: int
) -> tuple[bool, dict[tuple[UUID, int], Refusal]]:
    """Broker 1 refuses; these are what it takes for its own epoch before it has learned it."""
    epochs = [*wrong_broker_epochs]
    peer = Peer(lab.sim.lab, AT, "broker-1")
    refusals = LeadershipRefusals(
        controller=peer,
        broker_id=1,
        broker_epoch=lambda: epochs.pop(0) if epochs else lab.epochs[1],
        clock=LoopClock(),
    )
    told = await refusals.refuse_to_lead(cast("Partition", partition), leader_epoch, "a gap")
    await peer.close()
    return told, refusals.last


def test_a_refusal_is_repeated_until_the_controller_has_answered() -> None:
    async def scenario(lab: Lab) -> None:
        partition = await led(lab)
        told, last = await refuse(lab, partition, partition.state.leader_epoch, 77, 78)
        assert told
        assert (await lab.state("t")).leader == 2
        assert last == {(partition.topic_id, 0): Refusal(leader_epoch=0, why="a gap")}

    played(scenario)


def test_nothing_is_refused_in_a_later_epoch() -> None:
    async def scenario(lab: Lab) -> None:
        partition = await led(lab)
        epoch = partition.state.leader_epoch
        assert not (await refuse(lab, partition, epoch - 1))[0]
        partition.leads = False
        assert not (await refuse(lab, partition, epoch))[0]
        assert (await lab.state("t")).leader == 1

    played(scenario)


def test_brokers_hear_of_it_and_who_refused_follows_and_is_in_sync_again() -> None:
    async def scenario(client: Client) -> None:
        lab = Lab(client.sim)
        await lab.create("t", (1, 2, 3))
        await client.until(lambda seen: led_by(seen, 1))
        lab.epochs[1] = (await lab.image()).brokers[1].broker_epoch
        await say(lab, 1, LOST, "t")
        await client.until(lambda seen: led_by(seen, 2))
        await client.until(lambda seen: sorted(seen.topics[0].partitions[0].isr_nodes) == [1, 2, 3])
        await lab.peer.close()

    with_brokers(3, scenario)


def led_by(seen: Any, broker: int) -> bool:
    return bool(seen.topics) and seen.topics[0].partitions[0].leader_id == broker


# The choices.


def test_only_one_reserved_directory_is_lost() -> None:
    assert [each for each in range(5) if directory_is_lost(UUID(int=each))] == [2]


@pytest.mark.parametrize(
    ("replicas", "code"),
    [
        (None, ErrorCode.unknown_topic_or_partition),
        ((2, 3), ErrorCode.not_leader_or_follower),
        ((2, 1), ErrorCode.none),
    ],
)
def test_a_broker_speaks_of_its_own_replicas(
    replicas: tuple[int, ...] | None, code: ErrorCode
) -> None:
    assert accept_directory(1, replicas) is code


@pytest.mark.parametrize(("isr", "left"), [((1, 2), (2,)), ((2, 3), (2, 3)), ((1,), ())])
def test_an_isr_goes_on_without_who_cannot_lead(
    isr: tuple[int, ...], left: tuple[int, ...]
) -> None:
    assert isr_without(1, isr) == left

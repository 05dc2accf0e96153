"""Participants hear events in order, by themselves, and may refuse to lead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import (
    CannotLead,
    Configured,
    Deleted,
    Event,
    Participants,
    RoleChanged,
    Started,
)
from reference_impl.partitions.views import Role

LEADS = RoleChanged(role=Role.LEADER, leader_epoch=1)
FOLLOWS = RoleChanged(role=Role.FOLLOWER, leader_epoch=2)
LEADS_AGAIN = RoleChanged(role=Role.LEADER, leader_epoch=3)


def partition(topic: str) -> LogicalPartition:
    return LogicalPartition(topic=topic, topic_id=UUID(int=1), index=0, broker_id=1)


class Listener:
    """Notes what it hears; each event of a topic in ``slow`` waits until it is let go."""

    def __init__(self, *slow: str, refuses: bool = False) -> None:
        self.heard: list[tuple[str, Event]] = []
        self.go = asyncio.Event()
        self._slow = slow
        self._refuses = refuses

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        self.heard.append((partition.topic, event))
        if partition.topic in self._slow:
            await self.go.wait()
        if self._refuses and isinstance(event, RoleChanged) and event.role is Role.LEADER:
            raise CannotLead("a gap")

    def of(self, topic: str) -> list[Event]:
        return [event for name, event in self.heard if name == topic]


class Refusals:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, str]] = []

    async def __call__(self, one: LogicalPartition, leader_epoch: int, why: str) -> None:
        self.seen.append((one.topic, leader_epoch, why))


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await scenario()

    asyncio.run(bounded())


def test_events_of_a_partition_come_in_order() -> None:
    async def scenario() -> None:
        listener, one = Listener(), partition("a")
        participants = Participants([listener], Refusals())
        for event in (Started(), LEADS, Configured(values=())):
            participants.tell(one, event)
        await participants.settled()
        assert listener.of("a") == [Started(), LEADS, Configured(values=())]

    run(scenario)


def test_a_slow_partition_holds_up_no_other() -> None:
    async def scenario() -> None:
        listener = Listener("slow")
        participants = Participants([listener], Refusals())
        slow, quick = partition("slow"), partition("quick")
        for one in (slow, quick):
            participants.tell(one, Started())
            participants.tell(one, LEADS)
        while listener.of("quick") != [Started(), LEADS]:
            await asyncio.sleep(0)
        assert listener.of("slow") == [Started()]
        listener.go.set()
        await participants.settled()
        assert listener.of("slow") == [Started(), LEADS]

    run(scenario)


def test_a_slow_participant_holds_up_no_other() -> None:
    async def scenario() -> None:
        slow, quick, one = Listener("a"), Listener(), partition("a")
        participants = Participants([slow, quick], Refusals())
        participants.tell(one, Started())
        participants.tell(one, LEADS)
        while quick.of("a") != [Started(), LEADS]:
            await asyncio.sleep(0)
        assert slow.of("a") == [Started()]
        await participants.stop()

    run(scenario)


def test_of_roles_that_pass_while_nobody_listens_only_the_last_is_told() -> None:
    async def scenario() -> None:
        listener, one = Listener("a"), partition("a")
        participants = Participants([listener], Refusals())
        participants.tell(one, Started())
        await asyncio.sleep(0)
        for event in (LEADS, FOLLOWS, Configured(values=()), LEADS_AGAIN):
            participants.tell(one, event)
        listener.go.set()
        await participants.settled()
        assert listener.of("a") == [Started(), Configured(values=()), LEADS_AGAIN]

    run(scenario)


def test_after_a_deletion_nothing_else_is_told() -> None:
    async def scenario() -> None:
        listener, one = Listener("a"), partition("a")
        participants = Participants([listener], Refusals())
        participants.tell(one, Started())
        await asyncio.sleep(0)
        for event in (LEADS, Configured(values=()), Deleted()):
            participants.tell(one, event)
        listener.go.set()
        await participants.settled()
        assert listener.of("a") == [Started(), Deleted()]

    run(scenario)


def test_who_cannot_lead_is_held_back_in_that_epoch_and_the_controller_hears_of_it() -> None:
    async def scenario() -> None:
        listener, one, refusals = Listener(refuses=True), partition("a"), Refusals()
        participants = Participants([listener], refusals)
        participants.tell(one, LEADS)
        participants.tell(one, FOLLOWS)
        await participants.settled()
        assert one.refused_epoch == -1
        participants.tell(one, LEADS_AGAIN)
        await participants.settled()
        assert one.refused_epoch == LEADS_AGAIN.leader_epoch
        assert refusals.seen == [("a", LEADS_AGAIN.leader_epoch, "a gap")]

    run(scenario)

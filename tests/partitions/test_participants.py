"""Participants hear events in order, by themselves, and may fail or refuse to lead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest

from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import (
    CannotLead,
    Configured,
    Deleted,
    Event,
    Participant,
    Participants,
    RoleChanged,
    Started,
    Stopped,
)
from reference_impl.partitions.views import Role
from reference_impl.ports import Ports
from tests.ports.sim_node_benches import sim_node

pytestmark = pytest.mark.sim

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


class Failing(Listener):
    """Fails so often at these kinds of events in topic ``a``; notes when it heard them."""

    def __init__(self, *kinds: type[Event], times: int) -> None:
        super().__init__()
        self.at: list[float] = []
        self.before_failing: Callable[[], object] = lambda: None
        self._kinds = kinds
        self._times = times

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        await super().hear(partition, event)
        if partition.topic == "a":
            self.before_failing()
            self.at.append(round(asyncio.get_running_loop().time(), 2))
            if isinstance(event, self._kinds) and self._times:
                self._times -= 1
                raise OSError("the disk is full")


class Refusals:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, str]] = []

    async def __call__(self, one: LogicalPartition, leader_epoch: int, why: str) -> None:
        self.seen.append((one.topic, leader_epoch, why))


@dataclass
class Bench:
    """One simulated node: its clock, and what it logged."""

    ports: Ports
    lines: list[str] = field(default_factory=list)

    def participants(
        self, *listeners: Participant, refusals: Refusals | None = None
    ) -> Participants:
        ports = replace(self.ports, write_log_line=self.lines.append)
        return Participants(listeners, refusals or Refusals(), ports.clock, ports.log)


def run(scenario: Callable[[Bench], Awaitable[None]]) -> None:
    with sim_node() as node:
        node.run(lambda: scenario(Bench(node.ports)))


def test_events_of_a_partition_come_in_order() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Listener(), partition("a")
        participants = bench.participants(listener)
        for event in (Started(), LEADS, Configured(values=())):
            participants.tell(one, event)
        await participants.settled()
        assert listener.of("a") == [Started(), LEADS, Configured(values=())]

    run(scenario)


def test_a_slow_partition_holds_up_no_other() -> None:
    async def scenario(bench: Bench) -> None:
        listener = Listener("slow")
        participants = bench.participants(listener)
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
    async def scenario(bench: Bench) -> None:
        slow, quick, one = Listener("a"), Listener(), partition("a")
        participants = bench.participants(slow, quick)
        participants.tell(one, Started())
        participants.tell(one, LEADS)
        while quick.of("a") != [Started(), LEADS]:
            await asyncio.sleep(0)
        assert slow.of("a") == [Started()]
        await participants.stop()

    run(scenario)


def test_of_roles_that_pass_while_nobody_listens_only_the_last_is_told() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Listener("a"), partition("a")
        participants = bench.participants(listener)
        participants.tell(one, Started())
        await asyncio.sleep(0)
        for event in (LEADS, FOLLOWS, Configured(values=()), LEADS_AGAIN):
            participants.tell(one, event)
        listener.go.set()
        await participants.settled()
        assert listener.of("a") == [Started(), Configured(values=()), LEADS_AGAIN]

    run(scenario)


def test_after_a_deletion_nothing_else_is_told() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Listener("a"), partition("a")
        participants = bench.participants(listener)
        participants.tell(one, Started())
        await asyncio.sleep(0)
        for event in (LEADS, Configured(values=()), Deleted()):
            participants.tell(one, event)
        listener.go.set()
        await participants.settled()
        assert listener.of("a") == [Started(), Deleted()]

    run(scenario)


def test_who_cannot_lead_is_held_back_in_that_epoch_and_the_controller_hears_of_it() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one, refusals = Listener(refuses=True), partition("a"), Refusals()
        participants = bench.participants(listener, refusals=refusals)
        participants.tell(one, LEADS)
        participants.tell(one, FOLLOWS)
        await participants.settled()
        assert one.refused_epoch == -1
        participants.tell(one, LEADS_AGAIN)
        await participants.settled()
        assert one.refused_epoch == LEADS_AGAIN.leader_epoch
        assert refusals.seen == [("a", LEADS_AGAIN.leader_epoch, "a gap")]

    run(scenario)


def test_what_a_participant_failed_to_hear_is_told_again_before_what_follows() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Failing(RoleChanged, times=2), partition("a")
        participants = bench.participants(listener)
        for event in (Started(), LEADS, Configured(values=())):
            participants.tell(one, event)
        await participants.settled()
        assert listener.of("a") == [Started(), LEADS, LEADS, LEADS, Configured(values=())]
        assert len(bench.lines) == 2
        assert "a-0 RoleChanged is to be told again: retry=0 OSError: the disk" in bench.lines[0]

    run(scenario)


def test_a_participant_that_goes_on_failing_is_told_less_and_less_often() -> None:
    async def scenario(bench: Bench) -> None:
        listener = Failing(RoleChanged, times=9)
        participants = bench.participants(listener)
        participants.tell(partition("a"), LEADS)
        await participants.settled()
        waits = [round(b - a, 1) for a, b in zip(listener.at, listener.at[1:], strict=False)]
        assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]

    run(scenario)


def test_a_partition_whose_participant_fails_holds_up_no_other() -> None:
    async def scenario(bench: Bench) -> None:
        listener = Failing(Started, times=1_000)
        participants = bench.participants(listener)
        for one in (partition("a"), partition("quick")):
            participants.tell(one, Started())
            participants.tell(one, LEADS)
        while listener.of("quick") != [Started(), LEADS]:
            await asyncio.sleep(0)
        assert listener.of("a") == [Started()]
        await participants.stop()

    run(scenario)


@pytest.mark.parametrize("newer", [FOLLOWS, Stopped(), Deleted()], ids=repr)
def test_a_role_that_failed_is_not_told_again_once_it_is_old(newer: Event) -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Failing(RoleChanged, times=1), partition("a")
        participants = bench.participants(listener)
        participants.tell(one, LEADS)
        while not bench.lines:
            await asyncio.sleep(0)
        participants.tell(one, newer)
        await participants.settled()
        assert listener.of("a") == [LEADS, newer]

    run(scenario)


def test_a_role_that_fails_when_it_is_old_already_is_not_told_again() -> None:
    async def scenario(bench: Bench) -> None:
        listener, one = Failing(RoleChanged, times=1), partition("a")
        participants = bench.participants(listener)
        participants.tell(one, LEADS)
        newer = iter([FOLLOWS])
        listener.before_failing = lambda: [participants.tell(one, each) for each in newer]
        await participants.settled()
        assert listener.of("a") == [LEADS, FOLLOWS]

    run(scenario)

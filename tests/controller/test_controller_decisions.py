"""The choices of the controller, cell by cell."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID

import pytest

from reference_impl.controller.decisions import (
    BrokerState,
    Elected,
    Election,
    Heartbeat,
    ProposedIsr,
    accept_alter_partition,
    admit_registration,
    bump_leader_epoch,
    complete_reassignment,
    elect_leader,
    eligible_for_isr,
    eligible_leader_replicas,
    fence_broker,
    next_broker_state,
    place_replicas,
)
from reference_impl.controller.placement import UsableBroker
from reference_impl.decisions import decisions
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.image import Broker, PartitionState

LED = PartitionState(replicas=(1, 2, 3), isr=(1, 2, 3), leader=1, leader_epoch=5, partition_epoch=9)


def led(**changes: object) -> PartitionState:
    return replace(LED, **changes)  # type: ignore[arg-type]


def broker(
    broker_id: int, *, epoch: int = 7, fenced: bool = False, leaving: bool = False
) -> Broker:
    return Broker(
        broker_id=broker_id,
        broker_epoch=epoch,
        incarnation_id=UUID(int=broker_id),
        host="h",
        port=1,
        rack=None,
        fenced=fenced,
        in_controlled_shutdown=leaving,
    )


def test_the_controllers_decisions_are_in_the_registry() -> None:
    names = [
        "place-replicas",
        "elect-leader",
        "eligible-leader-replicas",
        "bump-leader-epoch",
        "accept-alter-partition",
        "eligible-for-isr",
        "complete-reassignment",
        "next-broker-state",
        "fence-broker",
        "admit-registration",
    ]
    assert [name for name in names if name not in decisions()] == []


NOBODY = Elected(leader=-1)


@pytest.mark.parametrize(
    ("state", "up", "election", "elected"),
    [
        # the leader stays where it can, wherever it stands among the replicas
        (led(leader=2), (1, 2, 3), Election.ONLINE, Elected(leader=2)),
        (led(leader=2), (1, 2, 3), Election.UNCLEAN, Elected(leader=2)),
        (led(leader=2), (1, 2, 3), Election.PREFERRED, Elected(leader=1)),
        (led(leader=2), (2, 3), Election.PREFERRED, Elected(leader=2)),
        (led(leader=2, isr=(2, 3)), (1, 2, 3), Election.PREFERRED, Elected(leader=2)),
        # else the first replica in the ISR that is up
        (led(), (2, 3), Election.ONLINE, Elected(leader=2)),
        (led(), (3, 2), Election.ONLINE, Elected(leader=2)),
        (led(isr=(1, 3)), (2, 3), Election.ONLINE, Elected(leader=3)),
        (led(isr=(1,)), (2, 3), Election.ONLINE, NOBODY),
        (led(isr=(1,)), (2, 3), Election.PREFERRED, NOBODY),
        (led(isr=(1,)), (2, 3), Election.UNCLEAN, Elected(leader=2, unclean=True)),
        (led(isr=(1,)), (), Election.UNCLEAN, NOBODY),
        # an empty ISR leaves it to the eligible, and to nobody else
        (led(isr=(), elr=(3,), leader=-1), (2, 3), Election.ONLINE, Elected(leader=3)),
        (led(isr=(), elr=(3,), leader=-1), (2,), Election.ONLINE, NOBODY),
        (led(isr=(2,), elr=(3,), leader=-1), (3,), Election.ONLINE, NOBODY),
        # and where nobody is eligible, to the one who led last
        (
            led(isr=(), last_known_elr=(2,), leader=-1),
            (1, 2),
            Election.ONLINE,
            Elected(leader=2, unclean=True),
        ),
        (led(isr=(), last_known_elr=(2,), leader=-1), (1, 3), Election.ONLINE, NOBODY),
        (led(isr=(), last_known_elr=(2, 3), leader=-1), (2, 3), Election.ONLINE, NOBODY),
        (led(isr=(), elr=(3,), last_known_elr=(2,), leader=-1), (2,), Election.ONLINE, NOBODY),
    ],
)
def test_a_leader_is_elected(
    state: PartitionState, up: tuple[int, ...], election: Election, elected: Elected
) -> None:
    assert elect_leader(state, up, election) == elected


@pytest.mark.parametrize(
    ("state", "isr", "min_isr", "lost", "eligible"),
    [
        (LED, (1, 2), 2, (), ()),
        (LED, (1,), 2, (), (2, 3)),
        (LED, (), 1, (), (1, 2, 3)),
        (LED, (), 1, (2,), (1, 3)),
        (led(isr=(1,), elr=(3,)), (1,), 2, (), (3,)),
        (led(isr=(1,), elr=(3,)), (1, 3), 2, (), ()),
        (led(isr=(1,), elr=(3,)), (), 2, (), (1, 3)),
    ],
)
def test_who_leaves_an_isr_below_its_minimum_stays_eligible(
    state: PartitionState,
    isr: tuple[int, ...],
    min_isr: int,
    lost: tuple[int, ...],
    eligible: tuple[int, ...],
) -> None:
    assert eligible_leader_replicas(state, isr, min_isr, lost) == eligible


@pytest.mark.parametrize(
    ("leader", "replicas", "bumped"),
    [
        (1, (1, 2, 3), False),
        (2, (1, 2, 3), True),
        (-1, (1, 2, 3), True),
        (1, (1, 2, 3, 4), False),
        (1, (3, 2, 1), False),
        (1, (1, 2), True),
    ],
)
def test_the_leader_epoch_rises_with_the_leader_and_with_replicas_that_go(
    leader: int, replicas: tuple[int, ...], bumped: bool
) -> None:
    assert bump_leader_epoch(LED, leader, replicas) is bumped


def proposed(**changes: object) -> ProposedIsr:
    usual = ProposedIsr(broker_id=1, leader_epoch=5, partition_epoch=9, isr=((1, 7), (2, 7)))
    return replace(usual, **changes)  # type: ignore[arg-type]


BROKERS = {
    1: broker(1),
    2: broker(2),
    3: broker(3, fenced=True),
    4: broker(4),
}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (proposed(), ErrorCode.none),
        (proposed(leader_epoch=6), ErrorCode.not_controller),
        (proposed(partition_epoch=10), ErrorCode.not_controller),
        (proposed(leader_epoch=4), ErrorCode.fenced_leader_epoch),
        (proposed(leader_epoch=4, broker_id=2), ErrorCode.fenced_leader_epoch),
        (proposed(broker_id=2), ErrorCode.invalid_request),
        (proposed(partition_epoch=8), ErrorCode.invalid_update_version),
        (proposed(isr=((1, 7), (4, 7))), ErrorCode.invalid_request),
        (proposed(isr=((1, 7), (1, 7))), ErrorCode.invalid_request),
        (proposed(isr=((2, 7),)), ErrorCode.invalid_request),
        (proposed(isr=()), ErrorCode.invalid_request),
        (proposed(isr=((1, 7), (3, 7))), ErrorCode.ineligible_replica),
        (proposed(isr=((1, 7), (2, 6))), ErrorCode.ineligible_replica),
        (proposed(isr=((1, -1), (2, -1))), ErrorCode.none),
    ],
)
def test_only_the_present_leader_changes_the_isr(asked: ProposedIsr, code: ErrorCode) -> None:
    assert accept_alter_partition(LED, asked, BROKERS) is code


@pytest.mark.parametrize(
    ("member", "epoch", "eligible"),
    [
        (None, -1, False),
        (broker(2), 7, True),
        (broker(2), -1, True),
        (broker(2), 6, False),
        (broker(2, fenced=True), 7, False),
        (broker(2, leaving=True), 7, False),
    ],
)
def test_a_member_of_an_isr_is_up_and_the_one_the_leader_knew(
    member: Broker | None, epoch: int, eligible: bool
) -> None:
    assert eligible_for_isr(member, epoch) is eligible


@pytest.mark.parametrize(
    ("replicas", "adding", "removing", "isr", "done"),
    [
        ((1, 2, 3), (), (), (1, 2, 3), None),
        ((4, 2, 3, 1), (4,), (1,), (1, 2, 3), None),
        ((4, 2, 3, 1), (4,), (1,), (1, 4), ((4, 2, 3), (4,))),
        ((4, 2, 3, 1), (4,), (1,), (1, 2, 3, 4), ((4, 2, 3), (2, 3, 4))),
        ((1, 2, 3, 4), (4,), (), (1, 4), ((1, 2, 3, 4), (1, 4))),
        # fewer replicas than before: all that stay have to be in sync
        ((2, 3, 1), (), (1,), (1, 2), None),
        ((2, 3, 1), (), (1,), (1, 2, 3), ((2, 3), (2, 3))),
        ((2, 1), (), (1,), (1,), None),
    ],
)
def test_a_reassignment_is_complete_once_its_targets_are_in_sync(
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    isr: tuple[int, ...],
    done: object,
) -> None:
    state = led(replicas=replicas, adding=adding, removing=removing)
    assert complete_reassignment(state, isr) == done


def said(**changes: bool) -> Heartbeat:
    usual = Heartbeat(
        want_fence=False, want_shut_down=False, caught_up=True, leads=True, others_caught_up=True
    )
    return replace(usual, **changes)


FENCED, UNFENCED = BrokerState.FENCED, BrokerState.UNFENCED
LEAVING, GONE = BrokerState.CONTROLLED_SHUTDOWN, BrokerState.SHUTDOWN_NOW


@pytest.mark.parametrize(
    ("before", "heartbeat", "after"),
    [
        (FENCED, said(), UNFENCED),
        (FENCED, said(caught_up=False), FENCED),
        (FENCED, said(want_fence=True), FENCED),
        (FENCED, said(want_shut_down=True), GONE),
        (UNFENCED, said(), UNFENCED),
        (UNFENCED, said(caught_up=False), UNFENCED),
        (UNFENCED, said(want_fence=True), FENCED),
        (UNFENCED, said(want_fence=True, want_shut_down=True), GONE),
        (UNFENCED, said(want_shut_down=True), LEAVING),
        (UNFENCED, said(want_shut_down=True, leads=False), GONE),
        (LEAVING, said(), LEAVING),
        (LEAVING, said(leads=False), GONE),
        (LEAVING, said(leads=False, others_caught_up=False), LEAVING),
        (GONE, said(), GONE),
    ],
)
def test_a_heartbeat_takes_a_broker_from_state_to_state(
    before: BrokerState, heartbeat: Heartbeat, after: BrokerState
) -> None:
    assert next_broker_state(before, heartbeat) is after


@pytest.mark.parametrize(("silent_ms", "stale"), [(0, False), (8999, False), (9000, True)])
def test_a_broker_is_fenced_after_a_whole_session_of_silence(silent_ms: int, stale: bool) -> None:
    assert fence_broker(silent_ms, 9000) is stale


@pytest.mark.parametrize(
    ("existing", "same", "in_session", "admitted"),
    [
        (None, False, False, True),
        (broker(1), True, True, True),
        (broker(1), False, True, False),
        (broker(1), False, False, True),
    ],
)
def test_an_id_in_use_is_not_given_to_another(
    existing: Broker | None, same: bool, in_session: bool, admitted: bool
) -> None:
    assert admit_registration(existing, same, in_session) is admitted


def usable(*brokers: tuple[int, str | None]) -> tuple[UsableBroker, ...]:
    return tuple(UsableBroker(broker_id=i, rack=rack, fenced=False) for i, rack in brokers)


SIX = usable((1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "c"), (6, "c"))


@pytest.mark.parametrize("seed", range(5))
def test_replicas_of_a_partition_are_in_different_racks(seed: int) -> None:
    rack = {b.broker_id: b.rack for b in SIX}
    for replicas in place_replicas(SIX, 60, 3, random.Random(seed)):
        assert len({rack[broker] for broker in replicas}) == 3


@pytest.mark.parametrize("seed", range(5))
def test_leaderships_are_spread_evenly(seed: int) -> None:
    leaders = [replicas[0] for replicas in place_replicas(SIX, 60, 3, random.Random(seed))]
    assert sorted(leaders.count(b.broker_id) for b in SIX) == [10] * 6


def test_the_same_chance_places_the_same_way() -> None:
    placed = [place_replicas(SIX, 20, 3, random.Random(4)) for _ in range(2)]
    assert placed[0] == placed[1]


@pytest.mark.parametrize("seed", range(5))
def test_a_fenced_broker_follows_but_does_not_lead(seed: int) -> None:
    brokers = (*usable((1, None), (2, None)), UsableBroker(broker_id=3, rack=None, fenced=True))
    placed = place_replicas(brokers, 9, 3, random.Random(seed))
    assert all(sorted(replicas) == [1, 2, 3] and replicas[0] != 3 for replicas in placed)


@pytest.mark.parametrize(
    ("brokers", "why"),
    [
        (usable((1, None)), "The target replication factor of 2 cannot be reached"),
        ((UsableBroker(broker_id=1, rack=None, fenced=True),), "All brokers are currently fenced"),
        ((), "All brokers are currently fenced"),
    ],
)
def test_replicas_that_cannot_be_placed_are_refused(
    brokers: tuple[UsableBroker, ...], why: str
) -> None:
    with pytest.raises(KafkaError, match=why) as refused:
        place_replicas(brokers, 1, 2, random.Random(1))
    assert refused.value.code is ErrorCode.invalid_replication_factor

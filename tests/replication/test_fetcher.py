"""Work that an answer to a fetch leads to: beside the loop, and only for the log that asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from scripted_leader import FOLLOWER, Follower, ScriptedLeader, following

from harness.simulation.loop import SimLoop
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.producers import Producer
from reference_impl.replication.copying import RestartPoint
from reference_impl.replication.following import FollowState
from reference_impl.replication.leaders_log import LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition

MOVED = ErrorCode.offset_moved_to_tiered_storage
POINT = RestartPoint(
    offset=6,
    log_start_offset=2,
    epochs=(EpochEntry(0, 2), EpochEntry(1, 4)),
    producers=(Producer(producer_id=9, epoch=3),),
)


@dataclass
class Aux:
    """Gives one point, after as many failures as it is told."""

    failures: int = 0
    error: Exception = field(default_factory=lambda: KafkaError(ErrorCode.kafka_storage_error))
    go_on: asyncio.Event | None = None
    asked: list[tuple[int, LeadersStart]] = field(default_factory=list)

    async def build(
        self, partition: Partition, *, leader: LeadersStart, ask: LeadersLog
    ) -> RestartPoint:
        self.asked.append((partition.index, leader))
        if self.go_on is not None:
            await self.go_on.wait()
        if len(self.asked) <= self.failures:
            raise self.error
        return POINT


def tiered_leader(*ends: int) -> ScriptedLeader:
    """Its first partition begins at 2, on its disk at 6."""
    leader = ScriptedLeader(*ends)
    leader.starts[0], leader.local[0], leader.errors[0] = 2, 6, MOVED
    return leader


# Others go on.


def test_a_partition_whose_range_is_asked_for_in_vain_holds_up_no_other() -> None:
    leader = ScriptedLeader(9, 3)
    leader.starts[0] = leader.local[0] = 5
    leader.held[0] = asyncio.Event()

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(5)
        assert follower.partitions[0].following.state is FollowState.FINDING_RANGE
        leader.ends[1] = 8
        await asyncio.sleep(5)
        assert follower.ends() == [2, 8]
        leader.held[0].set()
        await asyncio.sleep(5)
        assert follower.ends() == [9, 8]

    following(leader, (2, 0), scenario)


def test_a_partition_whose_auxiliary_state_is_built_holds_up_no_other() -> None:
    leader, aux = tiered_leader(9, 3), Aux(go_on=asyncio.Event())

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(5)
        assert follower.partitions[0].following.state is FollowState.BUILDING_REMOTE_LOG_AUX
        leader.ends[1] = 8
        await asyncio.sleep(5)
        assert follower.ends() == [2, 8]
        assert len(leader.fetched[0]) == 1

    following(leader, (4, 0), scenario, remote_aux=aux)


# Only for the log that asked.


def test_what_was_learned_in_an_earlier_epoch_changes_nothing() -> None:
    leader = ScriptedLeader(9)
    leader.starts[0] = leader.local[0] = 5
    leader.held[0] = asyncio.Event()

    async def scenario(follower: Follower) -> None:
        (partition,) = follower.partitions
        await asyncio.sleep(1)
        await follower.take(partition, epoch=2, leader=FOLLOWER)
        leader.held[0].set()
        await asyncio.sleep(1)
        assert follower.ends() == [2]
        assert partition.following.state is FollowState.NOT_FOLLOWING

    following(leader, (2,), scenario)


def test_a_point_that_was_built_for_another_log_is_not_taken() -> None:
    leader, aux = tiered_leader(9), Aux(go_on=asyncio.Event())

    async def scenario(follower: Follower) -> None:
        (partition,) = follower.partitions
        await asyncio.sleep(1)
        await partition.log.restart_at(3)
        assert aux.go_on is not None
        leader.ends[0] = 3  # so that nothing more comes of the next fetch
        leader.local[0] = 0
        aux.go_on.set()
        await asyncio.sleep(3)
        assert partition.log.log_end_offset == 3
        assert partition.following.state is FollowState.FETCHING

    following(leader, (4,), scenario, remote_aux=aux)


def test_a_new_leader_epoch_ends_work_that_hangs() -> None:
    leader, aux = tiered_leader(9), Aux(go_on=asyncio.Event())

    async def scenario(follower: Follower) -> None:
        (partition,) = follower.partitions
        await asyncio.sleep(1)
        leader.local[0] = 0
        await follower.take(partition, epoch=2)
        await asyncio.sleep(3)
        assert follower.ends() == [9]

    following(leader, (4,), scenario, remote_aux=aux)


# Auxiliary state.


def test_a_follower_goes_on_from_the_point_with_its_epochs_and_producers() -> None:
    leader, aux = tiered_leader(9), Aux()

    async def scenario(follower: Follower) -> None:
        log = follower.partitions[0].log
        log.older_elsewhere = True
        await asyncio.sleep(3)
        assert (log.log_start_offset, log.local_log_start_offset, log.log_end_offset) == (2, 6, 9)
        assert log.epochs.entries == POINT.epochs
        assert log.producers.producers[9].epoch == 3

    following(leader, (4,), scenario, remote_aux=aux)
    learned = LeadersStart(log_start_offset=2, local_log_start_offset=6, local_log_start_epoch=1)
    assert aux.asked == [(0, learned)]
    assert leader.fetched[0][:2] == [(4, 1), (6, 1)]


def test_a_log_is_empty_at_the_leaders_log_start_while_its_auxiliary_state_is_built() -> None:
    leader, aux = tiered_leader(9), Aux(go_on=asyncio.Event())

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(1)
        log = follower.partitions[0].log
        assert follower.partitions[0].following.state is FollowState.BUILDING_REMOTE_LOG_AUX
        assert (log.log_start_offset, log.log_end_offset, log.epochs.entries) == (2, 2, ())

    following(leader, (4,), scenario, remote_aux=aux)


def test_nothing_is_touched_before_the_leader_has_said_where_its_disk_begins() -> None:
    leader, aux = tiered_leader(9), Aux()
    leader.list_error = ErrorCode.not_leader_or_follower

    async def scenario(follower: Follower) -> None:
        log = follower.partitions[0].log
        log.older_elsewhere = True
        await asyncio.sleep(5)
        assert (log.log_end_offset, log.epochs.entries) == (4, (EpochEntry(1, 0),))
        assert aux.asked == []
        assert 3 <= len(leader.listed) <= 5  # once a second, as replica.fetch.backoff.ms says
        leader.list_error = ErrorCode.none
        await asyncio.sleep(3)
        assert log.log_end_offset == 9

    following(leader, (4,), scenario, remote_aux=aux)


def test_where_nothing_is_elsewhere_any_more_nothing_is_built() -> None:
    leader, aux = tiered_leader(9), Aux()
    leader.starts[0] = 6

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(5)
        assert follower.ends() == [4]

    following(leader, (4,), scenario, remote_aux=aux)
    assert aux.asked == []


def test_a_point_that_cannot_be_known_now_is_asked_for_again_after_a_rest() -> None:
    leader, aux = tiered_leader(9), Aux(failures=2)

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(0.9)
        assert (len(aux.asked), follower.ends()) == (1, [2])
        await asyncio.sleep(8)
        assert (len(aux.asked), follower.ends()) == (3, [9])

    following(leader, (4,), scenario, remote_aux=aux)


def test_a_mistake_while_a_point_is_asked_for_is_told_and_leads_to_a_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leader, aux = tiered_leader(9), Aux(failures=2, error=LookupError("of a plug-in"))
    told: list[dict[str, object]] = []  # also what other loops leave behind, of other tests
    monkeypatch.setattr(SimLoop, "call_exception_handler", lambda loop, about: told.append(about))

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(0.9)
        assert len(aux.asked) == 1
        await asyncio.sleep(8)
        assert (len(aux.asked), follower.ends()) == (3, [9])

    following(leader, (4,), scenario, remote_aux=aux)
    assert [one["exception"] for one in told if "exception" in one].count(aux.error) == 2


def test_without_auxiliary_state_a_follower_asks_again_and_keeps_its_log() -> None:
    leader = tiered_leader(9)

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(5)
        assert follower.ends() == [4]

    following(leader, (4,), scenario)
    assert leader.listed == []
    assert len(leader.fetched[0]) in (4, 5)


@pytest.mark.parametrize("aux", [Aux(), None])
def test_a_log_below_the_leaders_begins_anew_at_its_log_start(aux: Aux | None) -> None:
    leader = tiered_leader(9)
    leader.errors[0] = ErrorCode.offset_out_of_range

    async def scenario(follower: Follower) -> None:
        await asyncio.sleep(0.45)
        assert follower.ends() == [2]

    following(leader, (1,), scenario, remote_aux=aux)
    assert leader.listed[:2] == [(0, -1), (0, -2)]


# The boundary.


def test_a_follower_stops_at_the_boundary_once_its_leader_knows() -> None:
    leader = ScriptedLeader(9)

    async def scenario(follower: Follower) -> None:
        (partition,) = follower.partitions
        await asyncio.sleep(3)
        assert follower.ends() == [5]
        assert partition.following.state is FollowState.STOPPED_AT_BOUNDARY
        assert [offset for offset, _ in leader.fetched[0]] == [2, 5]
        await follower.take(partition, epoch=2)
        await asyncio.sleep(3)
        assert [offset for offset, _ in leader.fetched[0]] == [2, 5, 5]

    following(leader, (2,), scenario, boundary=5)

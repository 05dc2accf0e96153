"""What leaders and administrators ask the controller for: ISRs, elections, reassignments."""

from __future__ import annotations

from typing import Any

import pytest
from one_controller import Lab, played, silence

from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode

Members = tuple[int, ...]


async def want_isr(lab: Lab, leader: int, *members: int, topic: str = "t") -> Any:
    """The leader asks for this ISR, knowing everything; the result."""
    state = await lab.state(topic)
    member = apis.ALTER_PARTITION.request.BrokerState
    wanted = [member(broker_id=m, broker_epoch=lab.epochs[m]) for m in members]
    return await lab.alter_isr(leader, topic, state, wanted)


async def reassign(lab: Lab, replicas: Members | None, *, resize: bool = True) -> Any:
    """Partition 0 of topic t is to have these replicas; the result."""
    request = apis.ALTER_PARTITION_REASSIGNMENTS.request
    asked = request.ReassignablePartition(
        partition_index=0, replicas=None if replicas is None else list(replicas)
    )
    answer = await lab.ask(
        apis.ALTER_PARTITION_REASSIGNMENTS,
        timeout_ms=1000,
        topics=[request.ReassignableTopic(name="t", partitions=[asked])],
        allow_replication_factor_change=resize,
    )
    return answer.responses[0].partitions[0]


async def elect(lab: Lab, kind: int, topic: str = "t") -> tuple[int, str | None]:
    """An election of that kind in partition 0; code and message."""
    answer = await lab.ask(
        apis.ELECT_LEADERS,
        election_type=kind,
        topic_partitions=[apis.ELECT_LEADERS.request.TopicPartitions(topic=topic, partitions=[0])],
        timeout_ms=1000,
    )
    result = answer.replica_election_results[0].partition_result[0]
    return result.error_code, result.error_message


PREFERRED, UNCLEAN = 0, 1


def test_a_leader_shrinks_and_expands_its_isr_in_its_own_epoch() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        for wanted, epoch in (((1,), 1), ((1, 2), 2)):
            result = await want_isr(lab, 1, *wanted)
            assert (result.error_code, result.leader_id, result.leader_epoch) == (0, 1, 0)
            assert (tuple(result.isr), result.partition_epoch) == (wanted, epoch)
            assert (await lab.state("t")).isr == wanted

    played(scenario)


def test_an_isr_below_its_minimum_leaves_the_others_eligible() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        await lab.create("t", (1, 2, 3), min_insync_replicas="2")
        await want_isr(lab, 1, 1)
        assert (await lab.state("t")).elr == (2, 3)
        await want_isr(lab, 1, 1, 3)
        assert (await lab.state("t")).elr == ()

    played(scenario)


def test_another_minimum_empties_the_elr_it_was_the_measure_of() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2), min_insync_replicas="2")
        await want_isr(lab, 1, 1)
        assert (await lab.state("t")).elr == (2,)
        request = apis.INCREMENTAL_ALTER_CONFIGS.request
        config = request.AlterableConfig(name="min.insync.replicas", config_operation=0, value="1")
        resource = request.AlterConfigsResource(
            resource_type=2, resource_name="t", configs=[config]
        )
        await lab.ask(apis.INCREMENTAL_ALTER_CONFIGS, resources=[resource])
        assert (await lab.state("t")).elr == ()

    played(scenario)


def test_who_does_not_lead_changes_no_isr() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        assert (await want_isr(lab, 2, 1, 2)).error_code == ErrorCode.invalid_request
        lab.epochs[1] += 1
        assert (await want_isr(lab, 1, 1, 2)).error_code == ErrorCode.stale_broker_epoch

    played(scenario)


def test_a_topic_nobody_knows_has_no_isr() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        request = apis.ALTER_PARTITION.request
        for partition, code in ((0, ErrorCode.unknown_topic_id),):
            answer = await lab.ask(
                apis.ALTER_PARTITION,
                broker_id=1,
                broker_epoch=lab.epochs[1],
                topics=[
                    request.TopicData(partitions=[request.PartitionData(partition_index=partition)])
                ],
            )
            assert answer.topics[0].partitions[0].error_code == code

    played(scenario)


def test_the_preferred_replica_is_elected_when_it_is_in_sync_again() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        not_needed = "Leader election not needed for topic partition."
        assert await elect(lab, PREFERRED) == (ErrorCode.election_not_needed, not_needed)
        await silence(lab, 2)
        await lab.beat(1)
        absent = "The preferred leader was not available."
        assert await elect(lab, PREFERRED) == (ErrorCode.preferred_leader_not_available, absent)

        await want_isr(lab, 2, 2, 1)
        assert await elect(lab, PREFERRED) == (ErrorCode.none, None)
        state = await lab.state("t")
        assert (state.leader, state.leader_epoch) == (1, 2)

    played(scenario)


def test_an_unclean_election_takes_whoever_is_there() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        assert (await elect(lab, UNCLEAN))[0] == ErrorCode.election_not_needed
        await want_isr(lab, 1, 1)
        await silence(lab, 2)
        assert (await lab.state("t")).leader == -1

        assert await elect(lab, UNCLEAN) == (ErrorCode.none, None)
        state = await lab.state("t")
        assert (state.leader, state.isr, state.elr) == (2, (2,), ())

    played(scenario)


def test_an_unclean_election_needs_somebody() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("t", (1,))
        await silence(lab)
        nobody = "Eligible topic partition leaders are not available."
        assert await elect(lab, UNCLEAN) == (ErrorCode.eligible_leaders_not_available, nobody)

    played(scenario)


def test_an_election_for_all_tells_only_of_those_that_were_needed() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2), (2, 1))
        await silence(lab, 2)
        await lab.beat(1)
        answer = await lab.ask(
            apis.ELECT_LEADERS, election_type=PREFERRED, topic_partitions=None, timeout_ms=1000
        )
        results = answer.replica_election_results[0].partition_result
        told = [(r.partition_id, r.error_code) for r in results]
        assert told == [(0, ErrorCode.preferred_leader_not_available)]

    played(scenario)


def test_a_reassignment_ends_when_the_new_replica_is_in_sync() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        await lab.create("t", (1, 2))
        assert (await reassign(lab, (1, 3))).error_code == 0
        state = await lab.state("t")
        assert (state.replicas, state.adding, state.removing) == ((1, 3, 2), (3,), (2,))
        assert (state.leader, state.leader_epoch) == (1, 0)
        listed = await lab.ask(apis.LIST_PARTITION_REASSIGNMENTS, timeout_ms=1000, topics=None)
        ongoing = listed.topics[0].partitions[0]
        assert (ongoing.replicas, ongoing.adding_replicas, ongoing.removing_replicas) == (
            [1, 3, 2],
            [3],
            [2],
        )

        assert (await want_isr(lab, 1, 1, 2, 3)).error_code == 0
        state = await lab.state("t")
        assert (state.replicas, state.isr, state.reassigning) == ((1, 3), (1, 3), False)
        assert state.leader_epoch == 1  # a replica went: it must learn that it is one no longer
        listed = await lab.ask(apis.LIST_PARTITION_REASSIGNMENTS, timeout_ms=1000, topics=None)
        assert listed.topics == []

    played(scenario)


def test_a_leader_that_is_reassigned_away_is_told_so() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1,))
        await reassign(lab, (2,))
        result = await want_isr(lab, 1, 1, 2)
        assert result.error_code == ErrorCode.new_leader_elected
        state = await lab.state("t")
        assert (state.replicas, state.leader, state.isr) == ((2,), 2, (2,))

    played(scenario)


def test_another_order_of_the_same_replicas_is_there_at_once() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        assert (await reassign(lab, (2, 1))).error_code == 0
        state = await lab.state("t")
        assert (state.replicas, state.reassigning, state.leader) == ((2, 1), False, 1)

    played(scenario)


def test_a_reassignment_that_is_called_off_leaves_what_was() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        await lab.create("t", (1, 2))
        assert (await reassign(lab, None)).error_code == ErrorCode.no_reassignment_in_progress
        await reassign(lab, (1, 3))
        assert (await reassign(lab, None)).error_code == 0
        state = await lab.state("t")
        assert (state.replicas, state.isr, state.reassigning) == ((1, 2), (1, 2), False)

    played(scenario)


@pytest.mark.parametrize(
    ("replicas", "resize", "code"),
    [
        ((), True, ErrorCode.invalid_replica_assignment),
        ((1, 1), True, ErrorCode.invalid_replica_assignment),
        ((1, 9), True, ErrorCode.invalid_replica_assignment),
        ((1, 2), False, ErrorCode.invalid_replication_factor),
    ],
)
def test_replicas_that_cannot_be_are_refused(
    replicas: Members, resize: bool, code: ErrorCode
) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1,))
        assert (await reassign(lab, replicas, resize=resize)).error_code == code
        assert (await lab.state("t")).replicas == (1,)

    played(scenario)

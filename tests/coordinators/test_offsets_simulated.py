"""Offsets on a simulated cluster: what was committed is told, whatever happens to coordinators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.simulation.simulation import Simulation
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode
from tests.coordinators.offset_bench import Group
from tests.coordinators.transaction_bench import TOPIC, Cluster, Producer


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Simulation(seed=1) as sim:
        yield Cluster(sim)


def begun(cluster: Cluster, name: str = "x", *, protocol: int = 2) -> Producer:
    producer = Producer(cluster, name, protocol=protocol)
    producer.init()
    return producer


def topic_id(cluster: Cluster) -> Any:
    request = apis.METADATA.request(topics=[apis.METADATA.request.MetadataRequestTopic(name=TOPIC)])
    return cluster.ask(1, apis.METADATA, 12, request).topics[0].topic_id


def test_what_a_group_commits_is_what_it_fetches(cluster: Cluster) -> None:
    group = Group(cluster)
    assert group.fetch() == -1
    assert group.commit(5) == "none"
    assert (group.fetch(), group.fetch(index=1), group.fetch(stable=True)) == (5, -1, 5)
    assert group.commit(3) == "none"
    assert group.fetch() == 3
    assert Group(cluster, "other").fetch() == -1


def test_offsets_survive_their_coordinator(cluster: Cluster) -> None:
    group = Group(cluster)
    assert group.commit(5) == "none"
    before = group.coordinator()
    cluster.kill(before)
    assert group.coordinator() != before
    assert group.fetch() == 5


def test_a_group_has_no_members(cluster: Cluster) -> None:
    group, said = Group(cluster), {"generation_id_or_member_epoch": 1, "member_id": "m"}
    assert group.commit(1, version=8, **said) == "illegal_generation"
    assert group.commit(1, version=9, **said) == "group_id_not_found"
    assert group.commit(1) == "none"
    assert group.commit(2, version=9, **said) == "unknown_member_id"
    assert group.commit(3, member_id="m") == "none"
    assert group.fetch() == 3


def test_partitions_and_metadata_are_checked_one_by_one(cluster: Cluster) -> None:
    group, asked = Group(cluster), apis.OFFSET_COMMIT.request
    group.commit(1)
    one = asked.OffsetCommitRequestPartition
    request = asked(
        group_id="g",
        topics=[
            asked.OffsetCommitRequestTopic(
                name=TOPIC,
                partitions=[
                    one(partition_index=0, committed_offset=7, committed_metadata="m" * 4097),
                    one(partition_index=1, committed_offset=8, committed_metadata="note"),
                    one(partition_index=9, committed_offset=9),
                ],
            ),
            asked.OffsetCommitRequestTopic(name="no", partitions=[one(partition_index=0)]),
        ],
    )
    answer = group.ask(apis.OFFSET_COMMIT, 9, request)
    told = [
        (topic.name, one.partition_index, ErrorCode(one.error_code).name)
        for topic in answer.topics
        for one in topic.partitions
    ]
    assert told == [
        (TOPIC, 9, "unknown_topic_or_partition"),
        (TOPIC, 0, "offset_metadata_too_large"),
        (TOPIC, 1, "none"),
        ("no", 0, "unknown_topic_or_partition"),
    ]
    assert (group.fetch(), group.fetch(index=1)) == (1, 8)


def test_another_broker_is_no_coordinator(cluster: Cluster) -> None:
    group, asked = Group(cluster), apis.OFFSET_FETCH.request
    group.commit(5)
    at = group.coordinator() % 3 + 1
    topics = [asked.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
    first = cluster.ask(at, apis.OFFSET_FETCH, 1, asked(group_id="g", topics=topics))
    assert ErrorCode(first.topics[0].partitions[0].error_code).name == "not_coordinator"
    later = cluster.ask(at, apis.OFFSET_FETCH, 7, asked(group_id="g", topics=topics))
    assert (ErrorCode(later.error_code).name, later.topics) == ("not_coordinator", [])


@pytest.mark.parametrize("version", range(1, 11))
def test_every_version_of_offset_fetch_tells_the_same(cluster: Cluster, version: int) -> None:
    group, asked, found = Group(cluster), apis.OFFSET_FETCH.request, topic_id(cluster)
    assert group.commit(5) == "none"
    if version < 8:
        topics = [asked.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
        request = asked(group_id="g", topics=topics if version < 2 else None)
        told = group.ask(apis.OFFSET_FETCH, version, request).topics
    else:
        one = asked.OffsetFetchRequestGroup(group_id="g", topics=None)
        told = group.ask(apis.OFFSET_FETCH, version, asked(groups=[one])).groups[0].topics
    (topic,) = told
    assert topic.topic_id == found if version >= 10 else topic.name == TOPIC
    assert [(one.partition_index, one.committed_offset) for one in topic.partitions] == [(0, 5)]


def test_topics_are_named_by_their_ids_in_the_newest_version(cluster: Cluster) -> None:
    group, found, strange = Group(cluster), topic_id(cluster), "3f" * 16
    group.coordinator()
    commit, fetch = apis.OFFSET_COMMIT.request, apis.OFFSET_FETCH.request
    ids = [found, type(found)(strange)]
    part = commit.OffsetCommitRequestPartition(partition_index=0, committed_offset=4)
    request = commit(
        group_id="g",
        topics=[commit.OffsetCommitRequestTopic(topic_id=one, partitions=[part]) for one in ids],
    )
    answer = group.ask(apis.OFFSET_COMMIT, 10, request)
    codes = {one.topic_id: ErrorCode(one.partitions[0].error_code).name for one in answer.topics}
    assert codes == {found: "none", ids[1]: "unknown_topic_id"}
    asked = fetch.OffsetFetchRequestGroup(
        group_id="g",
        topics=[
            fetch.OffsetFetchRequestTopics(topic_id=one, partition_indexes=[0])
            for one in reversed(ids)
        ],
    )
    told = group.ask(apis.OFFSET_FETCH, 10, fetch(groups=[asked])).groups[0].topics
    seen = [(one.topic_id, one.partitions[0].committed_offset) for one in told]
    assert seen == [(found, 4), (ids[1], -1)]
    assert ErrorCode(told[1].partitions[0].error_code).name == "unknown_topic_id"


def test_deleted_offsets_are_gone_also_for_the_next_coordinator(cluster: Cluster) -> None:
    group, asked = Group(cluster), apis.OFFSET_DELETE.request
    parts = [asked.OffsetDeleteRequestPartition(partition_index=one) for one in (0, 7)]
    request = asked(
        group_id="g", topics=[asked.OffsetDeleteRequestTopic(name=TOPIC, partitions=parts)]
    )
    group.coordinator()
    cluster.sim.advance(1)
    answer = group.ask(apis.OFFSET_DELETE, 0, request)
    assert ErrorCode(answer.error_code).name == "group_id_not_found"
    group.commit(5)
    group.commit(6, index=1)
    answer = group.ask(apis.OFFSET_DELETE, 0, request)
    codes = {
        one.partition_index: ErrorCode(one.error_code).name for one in answer.topics[0].partitions
    }
    assert codes == {7: "unknown_topic_or_partition", 0: "none"}
    assert (group.fetch(), group.fetch(index=1)) == (-1, 6)
    cluster.kill(group.coordinator())
    assert (group.fetch(), group.fetch(index=1)) == (-1, 6)


# Within transactions.


@pytest.mark.parametrize("protocol", [1, 2])
def test_offsets_of_a_transaction_count_when_it_is_committed(
    cluster: Cluster, protocol: int
) -> None:
    group, producer = Group(cluster), begun(cluster, protocol=protocol)
    group.commit(1)
    version = 5 if protocol == 2 else 3
    for commit, offset, counts in ((False, 5, 1), (True, 6, 6), (False, 7, 6), (True, 8, 8)):
        before = group.fetch()
        if protocol == 1:
            assert group.add_to(producer) == "none"
        assert group.commit_within(producer, offset, version=version) == "none"
        assert group.fetch() == before
        assert group.fetch(stable=True) == "unstable_offset_commit"
        assert group.fetch(index=1, stable=True) == -1
        assert producer.end(commit=commit) == "none"
        cluster.sim.advance(1)
        assert group.fetch(stable=True) == counts


def test_an_old_client_has_to_add_the_offsets_first(cluster: Cluster) -> None:
    group, producer = Group(cluster), begun(cluster, protocol=1)
    assert group.commit_within(producer, 5, version=3) == "invalid_txn_state"
    assert group.commit_within(producer, 5, version=4) == "transaction_abortable"
    assert group.fetch() == -1


def test_a_producer_that_was_replaced_commits_nothing(cluster: Cluster) -> None:
    group, old = Group(cluster), begun(cluster)
    assert group.commit_within(old, 5) == "none"
    young = begun(cluster)
    cluster.sim.advance(1)
    assert group.commit_within(old, 6) == "invalid_producer_epoch"
    assert group.fetch(stable=True) == -1
    assert group.commit_within(young, 7) == "none"
    assert young.end(commit=True) == "none"
    cluster.sim.advance(1)
    assert group.fetch(stable=True) == 7


@pytest.mark.parametrize("commit", [True, False])
def test_pending_offsets_survive_their_coordinator(cluster: Cluster, commit: bool) -> None:
    group, producer = Group(cluster), begun(cluster)
    group.commit(1)
    assert group.commit_within(producer, 5) == "none"
    cluster.kill(group.coordinator())
    assert (group.fetch(), group.fetch(stable=True)) == (1, "unstable_offset_commit")
    assert producer.end(commit=commit) == "none"
    cluster.sim.advance(2)
    assert group.fetch(stable=True) == (5 if commit else 1)


def test_what_a_marker_decided_survives_the_coordinator(cluster: Cluster) -> None:
    group, producer = Group(cluster), begun(cluster)
    for offset, commit in ((5, True), (6, False)):
        assert group.commit_within(producer, offset) == "none"
        assert producer.end(commit=commit) == "none"
        cluster.sim.advance(1)
    cluster.kill(group.coordinator())
    assert group.fetch(stable=True) == 5


def test_a_pipeline_is_exactly_once_while_its_coordinators_die(cluster: Cluster) -> None:
    """Each input is written to partition 1 with the offset behind it; a pipeline that is begun
    anew goes on from the group's offset."""
    group, inputs = Group(cluster), [f"in-{number}" for number in range(12)]
    killed = False
    producer = begun(cluster)
    attempts = 0
    while (at := group.fetch(stable=True)) != len(inputs):
        assert isinstance(at, int), at
        attempts += 1
        at = max(at, 0)
        sent = producer.send(1, inputs[at])
        assert sent == "none", sent
        assert group.commit_within(producer, at + 1) == "none"
        if at == 5 and not killed:
            killed = True
            cluster.kill(group.coordinator())
        if attempts % 3 == 0:  # it fails before it commits, and a successor takes over
            producer = begun(cluster)
        else:
            assert producer.end(commit=attempts % 4 != 1) == "none"
        cluster.sim.advance(1)
    assert killed
    assert attempts > len(inputs)
    assert cluster.read(1) == inputs


STEPS = ("record sent", "offsets committed", "end answered", "markers written")


@pytest.mark.parametrize("whose", ["offsets", "transaction"])
@pytest.mark.parametrize("dies_after", STEPS)
def test_records_and_offsets_of_a_transaction_share_its_fate_whenever_a_coordinator_dies(
    cluster: Cluster, dies_after: str, whose: str
) -> None:
    """The coordinator of the offsets dies, or that of the transaction: the one counts if and only
    if the other is read."""
    group, producer = Group(cluster), begun(cluster)
    group.commit(0)

    def step(name: str, at: int) -> None:
        if (name, at) == (dies_after, 0):
            offsets = whose == "offsets"
            cluster.kill(group.coordinator() if offsets else cluster.coordinator("x"))

    for at, commit in enumerate((True, False, True)):
        assert producer.send(1, f"in-{at}") == "none"
        step("record sent", at)
        assert group.commit_within(producer, at + 1) == "none"
        step("offsets committed", at)
        assert producer.end(commit=commit) == "none"
        step("end answered", at)
        cluster.sim.advance(3)
        step("markers written", at)
        assert group.fetch(stable=True) == (at + 1 if commit else at)
    assert cluster.read(1) == ["in-0", "in-2"]

"""The metadata manager on the internal topic: what it adds to the contract."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Any

import pytest
from metadata_contract import ask, follow, listed, publish, published
from metadata_vectors import FINISHED, MARKED, STARTED, VECTOR_2, VECTOR_3, VECTOR_4, VECTOR_5
from remote_events import COPIED, COPYING, DELETED, ORDERS, PAYMENTS, segment, update
from topic_bench import PARTITIONS, TopicBench

from harness.clients.admin import leadership
from harness.clients.operations import TopicPartition
from harness.simulation.disk import SimFile
from harness.simulation.disk_names import disk_says
from reference_impl.kafka.apis import DESCRIBE_CONFIGS
from reference_impl.ports import Ports
from reference_impl.tiered.flat_file import FOLDER, MetadataFiles, encode_committed_offsets
from reference_impl.tiered.metadata import MetadataUnavailable, NotInitialised
from reference_impl.tiered.partitioner import by_name
from reference_impl.tiered.records import encode_event
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.topic_client import METADATA_TOPIC, MetadataTopicClient

NUMBER = by_name(ORDERS, PARTITIONS)
NAME = "AAECAwQFBgcICQoLDA0ODw-0"


@pytest.fixture
def bench() -> Iterator[TopicBench]:
    made = TopicBench()
    yield made
    made.close()


def read_topic(bench: TopicBench) -> dict[int, list[tuple[int, bytes | None]]]:
    """All records of the topic."""

    async def fetched(ports: Ports, told: Any) -> None:
        client = MetadataTopicClient(ports, lambda: bench.cluster.address(1), "lab")
        found = {}
        for leader, numbers in (await client.leaders(range(PARTITIONS))).items():
            positions = dict.fromkeys(numbers, 0)
            answer = await client.fetch(leader, positions, max_wait_ms=0)
            for number, one in answer.items():
                found[number] = [tuple(record) for record in one.records]
        await client.close()
        told.set_result(found)

    return bench.on_node(fetched)


def leader_of(bench: TopicBench) -> int:
    client = bench.raw(1)
    tp = TopicPartition(METADATA_TOPIC, NUMBER)
    found = bench.sim.run(leadership(client, tp, timeout_s=5.0))
    client.abort()
    return found.leader


def test_the_topic_is_made_when_the_first_partition_is_told_of(bench: TopicBench) -> None:
    async def topic(ports: Ports, told: Any) -> None:
        client = MetadataTopicClient(ports, lambda: bench.cluster.address(1), "lab")
        told.set_result(await client.layout())

    assert bench.on_node(topic) is None
    bench.sim.advance(5)
    assert bench.on_node(topic) is None
    follow(bench, 1)
    layout = bench.on_node(topic)
    assert sorted(layout.leaders) == list(range(PARTITIONS))

    async def described(ports: Ports, told: Any) -> None:
        from reference_impl.kafka.client import Peer

        peer = Peer(ports.network, bench.cluster.address(1), "lab")
        asked = DESCRIBE_CONFIGS.request.DescribeConfigsResource(
            resource_type=2, resource_name=METADATA_TOPIC, configuration_keys=None
        )
        answer = await peer.ask(
            DESCRIBE_CONFIGS, 4, DESCRIBE_CONFIGS.request(resources=[asked]), timeout_s=5
        )
        told.set_result({one.name: one.value for one in answer.results[0].configs})

    configs = bench.on_node(described)
    assert configs["retention.ms"] == "-1"
    assert configs["cleanup.policy"] == "delete"


def test_events_are_the_bytes_of_the_vectors_in_the_partition_of_the_name(
    bench: TopicBench,
) -> None:
    follow(bench, 1)
    publish(bench, 1, STARTED, FINISHED, MARKED)

    assert read_topic(bench) == {
        1 - NUMBER: [],
        NUMBER: [(0, VECTOR_2), (1, VECTOR_3), (2, VECTOR_4)],
    }


def test_a_clean_end_writes_the_files_of_the_vector(bench: TopicBench) -> None:
    follow(bench, 1)
    publish(bench, 1, STARTED, FINISHED, MARKED)
    bench.close_manager(1)

    flat = bench.file(1, f"{FOLDER}/{NAME}")
    assert flat is not None
    assert flat[:25] + flat[26:] == VECTOR_5[:25] + VECTOR_5[27:]
    assert flat[25] == 3 << 1  # the next offset, where the vector has 2022
    assert bench.file(1, "_rlmm_committed_offsets") == f"{NUMBER} 3\n".encode()


def test_what_is_no_event_is_skipped_counted_and_said(bench: TopicBench) -> None:
    follow(bench, 1)
    stray = encode_event(segment(5, partition=ORDERS._replace(partition=1)))
    for bad in (b"", b"\x09\x00", VECTOR_2[:-1], b"\x00\x01" + VECTOR_2[2:]):
        bench.produce(NUMBER, bad)
    bench.produce(by_name(ORDERS, PARTITIONS), stray)
    publish(bench, 1, segment(1))

    assert listed(bench, 1) == [(1, COPYING)]
    skipped = bench.log(1).count("is no event, and was skipped")
    same = by_name(ORDERS._replace(partition=1), PARTITIONS) == NUMBER
    assert skipped == (4 if same else 5)
    assert f"recordsskipped_total {skipped}" in bench.metrics[1].page()


def test_a_dropped_event_is_counted_and_said_by_every_broker(bench: TopicBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1), update(1, COPIED))
    bench.produce(NUMBER, encode_event(update(1, DELETED)))

    for broker in (1, 2):
        assert listed(bench, broker) == [(1, COPIED)]
        assert "no such transition: DELETE_SEGMENT_FINISHED" in bench.log(broker)
        assert "eventsdropped_total 1" in bench.metrics[broker].page()


def test_with_too_few_brokers_nothing_is_made_and_it_is_tried_again() -> None:
    bench = TopicBench(brokers=2)
    with pytest.raises(MetadataUnavailable):
        follow(bench, 1)
    lines = bench.log(1)
    assert lines.count("is not there yet, trying again: INVALID_REPLICATION_FACTOR") > 10
    with pytest.raises(NotInitialised):
        publish(bench, 1, segment(1))
    bench.close()


def test_a_manager_with_another_number_of_partitions_does_not_start(bench: TopicBench) -> None:
    follow(bench, 1)
    publish(bench, 1, segment(1))
    bench.configs["remote.log.metadata.topic.num.partitions"] = "3"
    bench.restart(2)

    with pytest.raises((NotInitialised, MetadataUnavailable), match="does not have 3 partitions"):
        follow(bench, 2)
    with pytest.raises(NotInitialised, match="does not have 3 partitions"):
        publish(bench, 2, segment(2))
    assert "has 2 partitions and remote.log.metadata.topic.num.partitions is 3" in bench.log(2)


def test_nothing_is_answered_before_all_is_read_that_was_there(bench: TopicBench) -> None:
    follow(bench, 1)
    publish(bench, 1, segment(1))
    cut = bench.sim.levers.cut(["m2"], bench.cluster.plan.names)

    async def told(manager: Any) -> None:
        manager.on_partition_leadership_changes([], [ORDERS])

    bench.call(2, told)
    bench.sim.advance(30)
    assert not bench.managers[2].is_initialised(ORDERS)
    with pytest.raises(NotInitialised):
        bench.managers[2].list_remote_log_segments(ORDERS)
    cut.release()
    assert listed(bench, 2) == [(1, COPYING)]


def test_when_the_leader_of_the_metadata_partition_dies_another_one_is_asked(
    bench: TopicBench,
) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1))
    leader = leader_of(bench)
    # Not the broker that both managers ask who leads what.
    survivor = next(one for one in (1, 2) if one != leader)
    bench.sim.kill(f"broker-{leader}")
    for _ in range(20):
        try:
            publish(bench, survivor, segment(2, 10, 19))
            break
        except MetadataUnavailable:
            bench.sim.advance(2)

    assert listed(bench, survivor) == [(1, COPYING), (2, COPYING)]
    publish(bench, survivor, update(2, COPIED))
    assert listed(bench, survivor) == [(1, COPYING), (2, COPIED)]


def test_where_no_answer_comes_the_event_may_be_there_and_can_be_repeated(
    bench: TopicBench,
) -> None:
    follow(bench, 1, 2)
    cut = bench.sim.levers.cut(bench.cluster.plan.names, ["m1"], both=False)
    with pytest.raises(MetadataUnavailable):
        publish(bench, 1, segment(1))
    cut.release()
    publish(bench, 1, segment(1))
    publish(bench, 1, update(1, COPIED))

    assert listed(bench, 1) == listed(bench, 2) == [(1, COPIED)]


def dropped_lines(bench: TopicBench) -> int:
    """How often a record was read that is dropped whenever it is applied."""
    return bench.log(1).count("no such transition")


def with_history(bench: TopicBench) -> None:
    """Segments of two partitions, and a record that shows when it is read."""
    follow(bench, 1, partitions=(ORDERS, PAYMENTS))
    publish(bench, 1, segment(1), update(1, COPIED), segment(2, partition=PAYMENTS))
    bench.produce(NUMBER, encode_event(update(1, DELETED)))
    assert listed(bench, 1) == [(1, COPIED)]
    assert dropped_lines(bench) == 1


def test_after_a_clean_end_nothing_is_read_again(bench: TopicBench) -> None:
    with_history(bench)
    bench.restart(1)
    follow(bench, 1)
    publish(bench, 1, segment(3, 20, 29))

    assert listed(bench, 1) == [(1, COPIED), (3, COPYING)]
    assert dropped_lines(bench) == 1


@pytest.mark.parametrize(
    "damage",
    [
        {f"{FOLDER}/{NAME}": None},
        {f"{FOLDER}/{NAME}": b""},
        {f"{FOLDER}/{NAME}": VECTOR_5},
        {f"{FOLDER}/{NAME}.fencing": None},
        {f"{FOLDER}/{NAME}.fencing": b"?"},
    ],
)
def test_with_a_damaged_flat_file_its_partition_is_read_again(
    bench: TopicBench, damage: dict[str, bytes | None]
) -> None:
    with_history(bench)
    bench.close_manager(1)
    for path, data in damage.items():
        bench.overwrite(1, path, data)
    bench.start(1)
    follow(bench, 1, partitions=(ORDERS, PAYMENTS))

    assert listed(bench, 1) == [(1, COPIED)]
    assert listed(bench, 1, PAYMENTS) == [(2, COPYING)]
    assert dropped_lines(bench) == 2


def test_a_disk_that_fails_to_give_a_file_once_does_not_end_the_reading(
    bench: TopicBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_history(bench)
    bench.close_manager(1)
    reads, failed = SimFile.read, []

    async def read(file: SimFile, offset: int, count: int) -> bytes:
        if not failed:
            failed.append(disk_says(errno.EIO, NAME))
            raise failed[0]
        return await reads(file, offset, count)

    monkeypatch.setattr(SimFile, "read", read)
    bench.start(1)
    follow(bench, 1)

    assert len(failed) == 1
    assert listed(bench, 1) == [(1, COPIED)]


@pytest.mark.parametrize("data", [None, b"0 1", b"x 1\n"])
def test_without_committed_offsets_all_is_read_and_nothing_applied_again(
    bench: TopicBench, data: bytes | None
) -> None:
    with_history(bench)
    bench.close_manager(1)
    bench.overwrite(1, "_rlmm_committed_offsets", data)
    bench.start(1)
    follow(bench, 1)

    assert listed(bench, 1) == [(1, COPIED)]
    assert dropped_lines(bench) == 1


def test_files_are_written_every_minute_when_something_changed(bench: TopicBench) -> None:
    with_history(bench)
    assert bench.names(1, FOLDER) == ()
    bench.sim.advance(61)
    assert NAME in bench.names(1, FOLDER)
    bench.sim.kill("m1")
    bench.start(1)
    follow(bench, 1)

    assert listed(bench, 1) == [(1, COPIED)]
    assert dropped_lines(bench) == 1


def test_files_of_a_topic_that_was_replaced_are_not_believed(bench: TopicBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 2, segment(1))
    bench.close_manager(1)

    async def stored() -> None:
        files = MetadataFiles(bench.sim.nodes["m1"].disk)
        cache = SegmentCache(ORDERS)
        cache.apply(segment(9))
        await files.store(cache, 1000)

    bench.sim.run(stored())
    bench.overwrite(1, "_rlmm_committed_offsets", encode_committed_offsets({NUMBER: 1000}))
    bench.start(1)
    follow(bench, 1)

    assert listed(bench, 1) == [(1, COPYING)]
    assert "before what was read of it" in bench.log(1)


def test_many_publish_at_once_and_each_learns_what_became_of_its_own(bench: TopicBench) -> None:
    follow(bench, 1, 2)

    async def all_at_once() -> list[Any]:
        import asyncio

        work = [
            bench.called(
                1 + number % 2,
                lambda manager, number=number: published(
                    manager, segment(number // 2, epoch=number % 2)
                ),
            )
            for number in range(20)
        ]
        return await asyncio.gather(*work, return_exceptions=True)

    results = bench.sim.run(all_at_once())

    assert listed(bench, 1) == listed(bench, 2)
    assert [number for number, _ in listed(bench, 1)] == list(range(10))
    dropped = [one for one in results if one is not None]
    assert all("replaced" in str(one) for one in dropped)
    assert ask(bench, 2, lambda one: one.highest_leader_epoch(ORDERS)) == 1


def test_an_answer_to_a_fetch_from_before_is_not_taken_when_reading_went_back(
    bench: TopicBench,
) -> None:
    again = ORDERS._replace(topic_id=PAYMENTS.topic_id)  # the same metadata partition
    follow(bench, 1)
    follow(bench, 2, partitions=(ORDERS, again))
    publish(bench, 2, segment(1, partition=again))
    assert listed(bench, 1) == []

    async def told(manager: Any) -> None:
        manager.on_partition_leadership_changes([again], [])

    bench.call(1, told)
    bench.sim.advance(0.05)  # its fetch waits at the end, its position is the beginning again
    publish(bench, 2, segment(2))

    assert listed(bench, 1) == [(2, COPYING)]
    assert listed(bench, 1, again) == [(1, COPYING)]


def test_its_clients_go_by_the_settings_under_their_prefixes() -> None:
    bench = TopicBench(
        brokers=1,
        configs={
            "remote.log.metadata.topic.replication.factor": "1",
            "remote.log.metadata.common.client.request.timeout.ms": "4000",
            "remote.log.metadata.producer.request.timeout.ms": "3000",
        },
    )
    client = bench.managers[1]._client

    assert (client.producer.timeout_s, client.consumer.timeout_s) == (3, 4)
    bench.close()

"""Fetch and ListOffsets across tiers, as clients of a simulated cluster see them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.fetch.v12 import request as fetch_v12
from kio.schema.list_offsets.v11 import request as list_offsets_v11
from kio.static.primitive import i8, i32, i32Timedelta, i64

from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition, produce, records_in
from harness.simulation.simulation import Simulation
from reference_impl.tiered.object_storage import ObjectStorageManager
from tests.tiered.tiered_cluster import TINY_SEGMENTS, TP, TieredCluster

pytestmark = pytest.mark.sim
OUT_OF_RANGE, CORRUPT, STORAGE = 1, 2, 56
MANY = "many"


class Tiers(TieredCluster):
    """A cluster whose topic has its first offsets in the remote tier alone."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self.create()
        self.send(10)
        sim.advance(8)

    @property
    def elo(self) -> int:
        return self.log(1).local_log_start_offset

    async def fetched(
        self,
        wanted: Sequence[tuple[TopicPartition, int]],
        *,
        at: int = 1,
        wait_ms: int = 100,
        max_bytes: int = 1 << 20,
        min_bytes: int = 1,
    ) -> tuple[list[Any], float]:
        """The answers to one request for several partitions, and how long it took."""
        topics = tuple(
            fetch_v12.FetchTopic(
                topic=tp.topic,  # type: ignore[arg-type]
                partitions=(
                    fetch_v12.FetchPartition(
                        partition=i32(tp.partition),
                        current_leader_epoch=i32(-1),
                        fetch_offset=i64(offset),
                        partition_max_bytes=i32(1 << 20),
                    ),
                ),
            )
            for tp, offset in wanted
        )
        request = fetch_v12.FetchRequest(
            replica_id=i32(-1),  # type: ignore[arg-type]
            max_wait=i32Timedelta.parse(timedelta(milliseconds=wait_ms)),
            min_bytes=i32(min_bytes),
            max_bytes=i32(max_bytes),
            isolation_level=i8(0),
            session_epoch=i32(-1),
            topics=topics,
            forgotten_topics_data=(),
            rack_id="",
        )
        begun = asyncio.get_running_loop().time()
        with self.client(at) as client:
            answer = await client.ask(request, timeout_s=60.0)
        said = [one for topic in answer.responses for one in topic.partitions]
        return said, asyncio.get_running_loop().time() - begun

    async def offset_of(
        self, timestamp: int, *, timeout_ms: int = 5000
    ) -> tuple[int, int, int, int]:
        """Error, timestamp, offset and epoch, in the newest version."""
        v = list_offsets_v11
        one = v.ListOffsetsPartition(
            partition_index=i32(0), current_leader_epoch=i32(-1), timestamp=i64(timestamp)
        )
        request = v.ListOffsetsRequest(
            replica_id=i32(-1),  # type: ignore[arg-type]
            isolation_level=i8(0),
            topics=(v.ListOffsetsTopic(name=TP.topic, partitions=(one,)),),  # type: ignore[arg-type]
            timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms)),
        )
        with self.client(1) as client:
            answer = await client.ask(request, timeout_s=60.0)
        said = answer.topics[0].partitions[0]
        return int(said.error_code), said.timestamp, said.offset, said.leader_epoch


@pytest.fixture
def tiers() -> Iterator[Tiers]:
    with Simulation(seed=1) as sim:
        yield Tiers(sim)


def told(said: Any) -> tuple[int, int, int, int]:
    return (
        int(said.error_code),
        said.high_watermark,
        said.last_stable_offset,
        said.log_start_offset,
    )


def test_every_replica_reads_across_both_tiers(tiers: Tiers) -> None:
    assert 0 < tiers.elo < 10
    everything = [f"m{number}" for number in range(10)]
    assert [tiers.scan(at=broker) for broker in (1, 2, 3)] == [everything] * 3


def test_an_unavailable_store_is_told_at_the_deadline_with_the_bounds_of_the_log(
    tiers: Tiers,
) -> None:
    tiers.levers.refuse("object_store")
    for wait_ms, expected_s in ((0, 0.5), (100, 0.5), (500, 0.5), (2000, 2.0)):
        for broker in (1, 2):
            (said,), took = tiers.sim.run(tiers.fetched([(TP, 0)], at=broker, wait_ms=wait_ms))
            assert told(said) == (STORAGE, 10, 10, 0)
            assert not said.records
            assert took == pytest.approx(expected_s, abs=0.05)


def test_a_plug_in_that_raises_anything_is_an_unavailable_store_to_readers(
    tiers: Tiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: ObjectStorageManager, *asked: object) -> bytes:
        raise OSError("of the plug-in")

    monkeypatch.setattr(ObjectStorageManager, "fetch_log_segment", broken)
    (said,), _ = tiers.sim.run(tiers.fetched([(TP, 0)]))
    assert told(said) == (STORAGE, 10, 10, 0)
    assert tiers.read(9, at=1) == (0, ["m9"])


def test_all_that_is_read_from_the_store_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [0, 0]

    def noted(name: str) -> None:
        asked = getattr(ObjectStorageManager, name)

        async def note(self: ObjectStorageManager, *given: Any) -> bytes:
            taken[0] += 1
            data: bytes = await asked(self, *given)
            taken[1] += len(data)
            return data

        monkeypatch.setattr(ObjectStorageManager, name, note)

    for name in ("fetch_log_segment", "fetch_index"):
        noted(name)
    with Simulation(seed=1) as sim:
        tiers = Tiers(sim)
        lost = tiers.levers.wipe("broker-2")
        tiers.wait(lambda: tiers.in_sync() == (1, 3))
        registered = [one._tier.meters for one in tiers.managers.values()]
        lost.release()
        tiers.wait(lambda: tiers.in_sync() == (1, 2, 3))
        assert taken[0] > 0  # its follower was rebuilt
        tiers.scan(at=1)
        sim.run(tiers.offset_of(1))
        meters = [*registered, tiers.managers[2]._tier.meters]
        for counter, expected in (("read_requests", taken[0]), ("bytes_in", taken[1])):
            counted = (getattr(one, counter).values.get((TP.topic,), 0) for one in meters)
            assert sum(counted) == expected


def test_other_partitions_are_answered_beside_it_and_other_requests_at_once(tiers: Tiers) -> None:
    tiers.levers.refuse("object_store")

    async def story() -> tuple[Any, Any]:
        return await asyncio.gather(
            tiers.fetched([(TP, 0)], wait_ms=1000),
            tiers.fetched([(TP, 9)], wait_ms=1000),
        )

    ((remote,), remote_s), ((local,), local_s) = tiers.sim.run(story())
    assert (remote.error_code, local.error_code) == (STORAGE, 0)
    assert local_s < 0.05
    assert remote_s == pytest.approx(1.0, abs=0.05)
    tiers.send(1)  # producing goes on


def test_one_request_with_a_remote_and_a_local_partition_gets_both_answers(tiers: Tiers) -> None:
    with tiers.client(1) as client:
        tiers.sim.run(create_topic(client, MANY, assignments=[[1, 2, 3]]))
    tiers.sim.advance(2)
    with tiers.client(1) as client:
        tiers.sim.run(produce(client, TopicPartition(MANY, 0), records=[("x", 1)], acks=-1))
    tiers.levers.refuse("object_store")
    (remote, local), took = tiers.sim.run(
        tiers.fetched([(TP, 0), (TopicPartition(MANY, 0), 0)], wait_ms=100)
    )
    assert (int(remote.error_code), int(local.error_code)) == (STORAGE, 0)
    assert [value for _, value, *_ in records_in(bytes(local.records), 0)] == ["x"]
    assert took == pytest.approx(0.5, abs=0.05)


def test_a_store_that_comes_back_is_read_within_the_wait(tiers: Tiers) -> None:
    away = tiers.levers.refuse("object_store")

    async def story() -> tuple[list[Any], float]:
        asyncio.get_running_loop().call_later(1.0, away.release)
        return await tiers.fetched([(TP, 0)], wait_ms=5000)

    (said,), took = tiers.sim.run(story())
    assert (int(said.error_code), said.records is not None) == (0, True)
    assert took < 2.5


def test_what_was_read_is_answered_though_the_request_waits_for_more(tiers: Tiers) -> None:
    async def story() -> tuple[list[Any], float]:
        async def change() -> None:
            await asyncio.sleep(1.0)
            tiers.levers.refuse("object_store")
            with tiers.client(1) as client:
                await produce(client, TP, records=[("more", 1)], acks=-1)

        asked = tiers.fetched([(TP, 0)], wait_ms=2000, min_bytes=1 << 19)
        return (await asyncio.gather(asked, change()))[0]

    (said,), took = tiers.sim.run(story())
    assert told(said) == (0, 11, 11, 0)
    assert len(records_in(bytes(said.records), 0)) == 2
    assert took == pytest.approx(2.0, abs=0.05)


def test_several_remote_partitions_share_the_bytes_of_a_request_and_all_make_progress() -> None:
    with Simulation(seed=2) as sim:
        tiers = Tiers(sim)
        places = [TopicPartition(MANY, number) for number in range(3)]
        with tiers.client(1) as client:
            sim.run(create_topic(client, MANY, assignments=[[1, 2, 3]] * 3, configs=TINY_SEGMENTS))
        sim.advance(2)
        for tp in places:
            for number in range(6):
                with tiers.client(1) as client:
                    sim.run(produce(client, tp, records=[(f"{tp.partition}:{number}", 1)], acks=-1))
        sim.advance(8)
        everything, _ = sim.run(tiers.fetched([(tp, 0) for tp in places]))
        assert [len(records_in(bytes(one.records), 0)) for one in everything] == [2, 2, 2]
        for turn in range(3):
            order = places[turn:] + places[:turn]
            said, _ = sim.run(tiers.fetched([(tp, 0) for tp in order], max_bytes=1))
            assert [int(one.error_code) for one in said] == [0, 0, 0]
            told = {
                one.partition_index: len(records_in(bytes(one.records or b""), 0)) for one in said
            }
            assert told == {tp.partition: int(tp == order[0]) for tp in order}


@pytest.mark.parametrize(("how", "error"), [("corrupt", CORRUPT), ("vanished", STORAGE)])
def test_harmed_segments_are_an_error_and_never_an_offset_out_of_range(
    tiers: Tiers, how: str, error: int
) -> None:
    key = next(key for key in sorted(tiers.sim.store.contents()) if key.endswith("segment.log"))
    harmed = tiers.levers.damage(how, key)  # type: ignore[arg-type]
    for broker in (1, 2):
        (said,), _ = tiers.sim.run(tiers.fetched([(TP, 0)], at=broker))
        # One flipped bit may be in the second batch of the segment: then the first one is sent.
        assert int(said.error_code) in ((error, 0) if how == "corrupt" else (error,))
        assert len(records_in(bytes(said.records or b""), 0)) < 2
    harmed.release()
    assert tiers.scan(at=1) == [f"m{number}" for number in range(10)]


def test_offsets_below_the_log_start_are_out_of_range(tiers: Tiers) -> None:
    assert tiers.delete_records(3) == 0
    assert tiers.read(2, at=1)[0] == OUT_OF_RANGE
    assert tiers.read(3, at=1) == (0, ["m3"])


# --- ListOffsets ----------------------------------------------------------------------------------


def test_special_timestamps_name_the_bounds_of_both_tiers(tiers: Tiers) -> None:
    elo, epoch = tiers.elo, tiers.log(1).epochs.latest
    highest = max(one.end_offset for one in tiers.segments() if one.finished)
    found = {stamp: tiers.sim.run(tiers.offset_of(stamp)) for stamp in (-1, -2, -4, -5, -6)}
    assert found == {
        -1: (0, -1, 10, epoch),
        -2: (0, -1, 0, epoch),
        -4: (0, -1, elo, epoch),
        -5: (0, -1, highest, epoch),
        -6: (0, -1, highest + 1, epoch),
    }


def test_a_topic_with_nothing_tiered_yet_waits_for_the_upload_of_its_first_offset() -> None:
    with Simulation(seed=3) as sim:
        cluster = TieredCluster(sim)
        cluster.create(segment_index_bytes="1024")
        tiers: Any = cluster
        cluster.send(2)
        found = [sim.run(Tiers.offset_of(tiers, stamp)) for stamp in (-4, -5, -6)]
        assert found == [(0, -1, 0, 0), (0, -1, -1, -1), (0, -1, 0, 0)]


def test_timestamps_are_found_in_either_tier(tiers: Tiers) -> None:
    answers = [tiers.sim.run(tiers.fetched([(TP, offset)]))[0][0] for offset in range(tiers.sent)]
    stamps = [records_in(bytes(one.records), at)[0][2] for at, one in enumerate(answers)]
    assert stamps == sorted(stamps)
    for offset, stamp in enumerate(stamps):
        found = tiers.sim.run(tiers.offset_of(stamp))
        assert found == (0, stamp, stamps.index(stamp), 0), offset
    latest = tiers.sim.run(tiers.offset_of(-3))
    assert latest == (0, stamps[-1], stamps.index(stamps[-1]), 0)
    assert tiers.sim.run(tiers.offset_of(stamps[-1] + 1)) == (0, -1, -1, -1)


def test_the_largest_timestamp_may_be_in_the_remote_tier() -> None:
    with Simulation(seed=4) as sim:
        tiers = TieredCluster(sim)
        tiers.create()
        late = sim.now_ms + 50_000
        for stamp in (1, late, 2, late, 3, 4, 5):
            with tiers.client(1) as client:
                sim.run(produce(client, TP, records=[("x", stamp)], acks=-1))
            tiers.sent += 1
        sim.advance(8)
        assert tiers.log(1).local_log_start_offset >= 4
        cast: Any = tiers
        assert sim.run(Tiers.offset_of(cast, -3)) == (0, late, 1, 0)


def test_a_search_of_the_remote_tier_fails_at_the_time_it_was_given(tiers: Tiers) -> None:
    tiers.levers.refuse("object_store")

    async def timed() -> tuple[tuple[int, int, int, int], float]:
        begun = asyncio.get_running_loop().time()
        found = await tiers.offset_of(1, timeout_ms=3000)
        return found, asyncio.get_running_loop().time() - begun

    found, took = tiers.sim.run(timed())
    assert found == (STORAGE, -1, -1, -1)
    assert took == pytest.approx(3.0, abs=0.05)
    # What needs no remote segment is answered.
    for stamp in (-1, -2, -4, -5, -6):
        assert tiers.sim.run(tiers.offset_of(stamp))[0] == 0


# --- races ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_no_offset_is_lost_to_readers_while_segments_leave_the_disk(seed: int) -> None:
    with Simulation(seed=seed) as sim:
        tiers = TieredCluster(sim)
        tiers.create(local_retention_bytes="-1")
        tiers.send(16)
        sim.advance(6)  # everything finished is copied, nothing has left the disk
        assert tiers.log(1).local_log_start_offset == 0
        cast: Any = tiers
        seen: list[tuple[int, int, list[int]]] = []
        stamps: list[tuple[int, int]] = []

        async def read(broker: int, offset: int) -> None:
            while tiers.log(1).local_log_start_offset < 12:
                (said,), _ = await Tiers.fetched(cast, [(TP, offset)], at=broker, wait_ms=1000)
                found = [one[0] for one in records_in(bytes(said.records or b""), offset)]
                seen.append((offset, int(said.error_code), found[:1]))

        async def search() -> None:
            while tiers.log(1).local_log_start_offset < 12:
                found = await Tiers.offset_of(cast, 1)
                stamps.append((found[0], found[2]))

        async def leave() -> None:
            log = tiers.log(1)
            for upto in range(2, 14, 2):
                await asyncio.sleep(0.05)
                await log.delete_local_segments(upto)

        async def story() -> None:
            readers = [read(1, offset) for offset in range(1, 14, 2)]
            await asyncio.gather(leave(), search(), search(), *readers)

        sim.run(story())
        assert len(seen) > 20
        assert {(error, found == [offset]) for offset, error, found in seen} == {(0, True)}
        assert set(stamps) == {(0, 0)}

"""Reads of the remote tier: the right lineage, the right bytes, and the right error in time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from reference_impl.log.transactions import AbortedTransaction
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.stores import Range
from reference_impl.tiered.object_storage import INDEX_PARTS
from reference_impl.tiered.segments import SegmentState
from reference_impl.tiered.settings import TieredSettings
from reference_impl.tiered.storage import IndexKind
from tests.tiered.read_bench import ReadBench, on_bench, values
from tests.tiered.remote_segments import ORDERS, batch

RECORDS, GONE, CORRUPT, LATE = (
    ReadOutcome.RECORDS,
    ReadOutcome.GONE,
    ReadOutcome.CORRUPT,
    ReadOutcome.LATE,
)


async def ten(bench: ReadBench) -> None:
    """Offsets 0 to 9 of epoch 0 in two segments; the disk has what comes behind."""
    await bench.copy(1, [batch(offset, 0) for offset in range(5)])
    await bench.copy(2, [batch(offset, 0) for offset in range(5, 10)])
    await bench.begin(10, [(0, 0)])


# --- which batches --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "read"), [(0, range(5)), (3, [3, 4]), (4, [4]), (5, range(5, 10)), (9, [9])]
)
def test_a_read_goes_from_its_offset_to_the_end_of_the_segment(
    offset: int, read: Sequence[int]
) -> None:
    async def story(bench: ReadBench) -> list[str]:
        await ten(bench)
        return values(await bench.read(offset))

    assert on_bench(story) == [f"{one}@0" for one in read]


def test_a_read_ends_below_what_its_reader_may_see() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await ten(bench)
        return values(await bench.read(1, upto=3))

    assert on_bench(story) == ["1@0", "2@0"]


@pytest.mark.parametrize(
    ("max_bytes", "at_least_one", "read"),
    [(1, True, 1), (1, False, 0), (0, False, 0), (150, False, 2), (1 << 20, False, 5)],
)
def test_batches_come_whole_within_the_bytes_that_are_left(
    max_bytes: int, at_least_one: bool, read: int
) -> None:
    async def story(bench: ReadBench) -> list[str]:
        await ten(bench)
        return values(await bench.read(0, max_bytes=max_bytes, at_least_one=at_least_one))

    assert on_bench(story) == [f"{one}@0" for one in range(read)]


def test_a_batch_larger_than_what_is_fetched_at_first_comes_whole() -> None:
    async def story(bench: ReadBench) -> int:
        large = batch(1, 0, count=4000)
        await bench.copy(1, [batch(0, 0), large, batch(4001, 0)])
        await bench.begin(4002, [(0, 0)])
        read = await bench.read(1, max_bytes=10)
        assert len(large) > 40_000
        return len(values(read))

    assert on_bench(story) == 4000


def test_several_partitions_of_a_request_are_read_at_the_same_time() -> None:
    async def story(bench: ReadBench) -> float:
        await ten(bench)
        await bench.read(0)
        await bench.read(5)
        begun = bench.now_s()
        wanted = [Range(bench.partition, at, 10, 1 << 20, False) for at in (0, 5, 3, 8)]
        measured = [await bench.store.measure(one) for one in wanted]
        reads = await bench.store.read_many(measured, timeout_s=1)  # type: ignore[arg-type]
        assert [len(values(one)) for one in reads] == [5, 5, 2, 2]
        return bench.now_s() - begun

    assert on_bench(story) < 0.05  # one call there and back


def test_a_read_is_measured_without_the_store_and_by_its_segment_at_most() -> None:
    async def story(bench: ReadBench) -> list[int]:
        await ten(bench)
        bench.levers.refuse("object_store")
        size = len(batch(0, 0))
        found = []
        for most in (10, 5 * size, 1 << 20):
            wanted = Range(bench.partition, 0, 10, most, False)
            measured = await bench.store.measure(wanted)
            found.append(measured.bytes)  # type: ignore[union-attr]
        assert found[1] == 5 * size
        return found

    found = on_bench(story)
    assert found[0] == 10
    assert found[1] == found[2]


# --- lineage --------------------------------------------------------------------------------------


async def scenario_3(bench: ReadBench) -> None:
    """seg-0-1 was copied by a leader whose offset 1 was lost; seg-1-1 by its successor."""
    await bench.copy(1, [batch(0, 0), batch(1, 0)])
    await bench.copy(2, [batch(1, 1)])
    await bench.begin(2, [(0, 0), (1, 1)])


@pytest.mark.parametrize(("planned_in", "ended"), [(0, "gone"), (1, "records"), (-1, "records")])
def test_a_read_that_was_planned_in_another_lineage_is_routed_again(
    planned_in: int, ended: str
) -> None:
    async def story(bench: ReadBench) -> str:
        await scenario_3(bench)
        return (await bench.read(1, epoch=planned_in)).outcome

    assert on_bench(story) == ended


@pytest.mark.parametrize(("offset", "read"), [(0, ["0@0"]), (1, ["1@1"])])
def test_scenario_3_an_offset_is_read_in_the_epoch_of_this_log_and_no_further(
    offset: int, read: list[str]
) -> None:
    async def story(bench: ReadBench) -> list[str]:
        await scenario_3(bench)
        return values(await bench.read(offset))

    assert on_bench(story) == read


async def scenario_5(bench: ReadBench, lineage: Sequence[tuple[int, int]], elo: int) -> None:
    """Two unclean elections: two segments 0 to 3 that part at offset 2, and seg-4-5."""
    await bench.copy(1, [batch(offset, 0) for offset in range(4)])
    await bench.copy(2, [batch(0, 0), batch(1, 0), batch(2, 1), batch(3, 1)])
    await bench.copy(3, [batch(4, 0), batch(5, 2)])
    await bench.begin(elo, lineage)


def test_scenario_5_a_scan_is_that_of_the_last_leaders_log() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await scenario_5(bench, [(0, 0), (2, 5)], 6)
        found: list[str] = []
        while len(found) < 6:
            found += values(await bench.read(len(found)))
        return found

    assert on_bench(story) == ["0@0", "1@0", "2@0", "3@0", "4@0", "5@2"]


def test_scenario_5_the_leader_between_reads_its_own_lineage() -> None:
    async def story(bench: ReadBench) -> list[list[str]]:
        await scenario_5(bench, [(0, 0), (1, 2)], 4)
        return [values(await bench.read(offset)) for offset in (0, 2, 3)]

    first, *others = on_bench(story)
    assert first in (["0@0", "1@0"], ["0@0", "1@0", "2@1", "3@1"])
    assert others == [["2@1", "3@1"], ["3@1"]]


def test_a_batch_that_the_log_start_has_cut_is_of_the_epoch_that_the_log_begins_in() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await bench.copy(1, [batch(0, 0, count=4), batch(4, 0)])
        await bench.begin(5, [(0, 2)], log_start=2)
        return values(await bench.read(2))

    assert on_bench(story) == ["0@0", "1@0", "2@0", "3@0", "4@0"]


def test_an_offset_without_a_finished_segment_is_waited_for_and_then_unavailable() -> None:
    async def story(bench: ReadBench) -> tuple[ReadOutcome, float]:
        await bench.copy(1, [batch(0, 0)])
        await bench.begin(5, [(0, 0)])
        begun = bench.now_s()
        read = await bench.read(3)
        return read.outcome, bench.now_s() - begun

    outcome, took = on_bench(story)
    assert outcome is LATE
    assert took == pytest.approx(0.5, abs=0.001)


def test_a_segment_that_becomes_known_before_the_deadline_is_read() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await bench.begin(5, [(0, 0)])
        read = asyncio.get_running_loop().create_task(bench.read(0, timeout_s=2))
        await bench.copy(1, [batch(offset, 0) for offset in range(5)])
        return values(await read)

    assert on_bench(story) == [f"{offset}@0" for offset in range(5)]


# --- damage ---------------------------------------------------------------------------------------


def flipped(data: bytes, place: int) -> bytes:
    damaged = bytearray(data)
    damaged[place] ^= 0x10
    return bytes(damaged)


SIZE = len(batch(0, 0))
FIELDS = {
    "base offset": 7,
    "high base offset": 3,
    "length": 11,
    "leader epoch": 15,
    "magic": 16,
    "checksum": 18,
    "last offset delta": 26,
    "records": 65,
}


@pytest.mark.parametrize("place", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("damaged", range(5))
def test_a_damaged_batch_is_never_sent_and_the_good_ones_before_it_are(
    place: int, damaged: int
) -> None:
    async def story(bench: ReadBench) -> list[tuple[ReadOutcome, list[str]]]:
        await ten(bench)
        segment = await bench.copy(3, [batch(offset, 0) for offset in range(5)])
        data = await bench.bench.node.store.get(bench.key(segment))
        harmed = flipped(data, damaged * SIZE + place)
        await bench.bench.node.store.put(bench.key(segment), harmed)
        found = []
        for offset in range(5):
            read = await bench.read(offset)
            found.append((read.outcome, values(read)))
        return found

    for offset, (outcome, read) in enumerate(on_bench(story)):
        good = [f"{one}@0" for one in range(offset, 5)]
        before = good[: max(0, damaged - offset)]
        if offset > damaged:  # the index leads past the damage, or nothing does
            assert (outcome, read) in [(RECORDS, good), (CORRUPT, [])]
        else:
            assert (outcome, read) == ((RECORDS, before) if before else (CORRUPT, []))


@pytest.mark.parametrize("left", [0, 1, SIZE - 1, SIZE, 2 * SIZE + 5, 5 * SIZE - 1])
def test_a_torn_segment_gives_its_whole_batches_and_then_an_error(left: int) -> None:
    async def story(bench: ReadBench) -> list[tuple[ReadOutcome, list[str]]]:
        await ten(bench)
        segment = await bench.copy(3, [batch(offset, 0) for offset in range(5)])
        data = await bench.bench.node.store.get(bench.key(segment))
        await bench.bench.node.store.put(bench.key(segment), data[:left])
        reads = [await bench.read(offset) for offset in range(5)]
        return [(one.outcome, values(one)) for one in reads]

    for offset, (outcome, read) in enumerate(on_bench(story)):
        expected = [f"{one}@0" for one in range(offset, left // SIZE)]
        assert read == expected
        assert outcome is RECORDS if expected else outcome in (CORRUPT, LATE)


@pytest.mark.parametrize("bit", range(64))
def test_whatever_an_offset_index_says_the_records_are_the_right_ones(bit: int) -> None:
    async def story(bench: ReadBench) -> list[str]:
        segment = await bench.copy(1, [batch(offset, 0) for offset in range(5)])
        await bench.begin(5, [(0, 0)])
        key = bench.key(segment, INDEX_PARTS[IndexKind.OFFSET])
        data = bytearray(await bench.bench.node.store.get(key))
        data[8 + bit // 8] ^= 1 << bit % 8
        await bench.bench.node.store.put(key, bytes(data))
        return values(await bench.read(2))

    assert on_bench(story) == ["2@0", "3@0", "4@0"]


@pytest.mark.parametrize("kind", [IndexKind.OFFSET, IndexKind.TRANSACTION])
def test_a_missing_index_does_not_matter(kind: IndexKind) -> None:
    async def story(bench: ReadBench) -> list[str]:
        await ten(bench)
        for one in await bench.bench.node.store.list():
            if one.key.endswith(INDEX_PARTS[kind]):
                await bench.bench.node.store.delete([one.key])
        return values(await bench.read(3, committed=True))

    assert on_bench(story) == ["3@0", "4@0"]


# --- gone -----------------------------------------------------------------------------------------


def test_a_vanished_segment_is_unavailable_at_the_deadline() -> None:
    async def story(bench: ReadBench) -> tuple[ReadOutcome, float]:
        await ten(bench)
        segment = bench.bench.metadata.list_remote_log_segments(ORDERS)[0]
        await bench.tier.storage.delete_log_segment_data(segment)
        begun = bench.now_s()
        return (await bench.read(0)).outcome, bench.now_s() - begun

    outcome, took = on_bench(story)
    assert outcome is LATE
    assert took == pytest.approx(0.5, abs=0.001)


def test_of_two_copies_the_other_is_read_when_one_is_deleted() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await ten(bench)
        deleted = await bench.copy(3, [batch(offset, 0) for offset in range(5)])
        await bench.tier.storage.delete_log_segment_data(deleted)

        async def told_later() -> None:
            await asyncio.sleep(0.1)
            await bench.publish(deleted, SegmentState.DELETE_SEGMENT_STARTED)

        read, _ = await asyncio.gather(bench.read(0), told_later())
        return values(read)

    assert on_bench(story) == [f"{offset}@0" for offset in range(5)]


def test_an_offset_that_the_log_start_has_passed_is_routed_again() -> None:
    async def story(bench: ReadBench) -> ReadOutcome:
        await ten(bench)
        bench.log.high_watermark = 10
        await bench.log.advance_log_start_offset(4)
        return (await bench.read(3)).outcome

    assert on_bench(story) is GONE


# --- trouble --------------------------------------------------------------------------------------


def test_a_store_that_comes_back_before_the_deadline_is_read() -> None:
    async def story(bench: ReadBench) -> tuple[list[str], int, int]:
        await ten(bench)
        away = bench.levers.refuse("object_store")
        asyncio.get_running_loop().call_later(1.0, away.release)
        read = await bench.read(0, timeout_s=3)
        meters = bench.tier.meters
        return values(read), bench.counted(meters.read_requests), bench.counted(meters.read_errors)

    read, requests, errors = on_bench(story)
    assert read == [f"{offset}@0" for offset in range(5)]
    # After 50, 100, 200, 400 and 800 ms, give or take a fifth: the last one succeeds, and asks for
    # an index and for the segment.
    assert (requests, errors) == (7, 5)


@pytest.mark.parametrize("how", ["refuse", "hold", "lose_replies"])
def test_a_store_that_does_not_answer_is_unavailable_at_the_deadline_and_holds_no_reader(
    how: str,
) -> None:
    async def story(bench: ReadBench) -> tuple[ReadOutcome, float, int]:
        await ten(bench)
        if how == "hold":
            bench.levers.slow("object_store", 3600)
        else:
            getattr(bench.levers, how)("object_store")
        begun = bench.now_s()
        read = await bench.read(0, timeout_s=0.7)
        assert "TIERED_STORAGE_NOT_AVAILABLE" in bench.bench.lines[-1]
        return read.outcome, bench.now_s() - begun, bench.pool.busy

    outcome, took, busy = on_bench(story)
    assert (outcome, busy) == (LATE, 0)
    assert took == pytest.approx(0.7, abs=0.001)


def test_between_attempts_no_reader_is_held() -> None:
    async def story(bench: ReadBench) -> float:
        await ten(bench)
        bench.levers.refuse("object_store")
        read = asyncio.get_running_loop().create_task(bench.read(0, timeout_s=20))
        begun, idle_s = bench.now_s(), 0.0
        while not read.done():
            await asyncio.sleep(0.01)
            idle_s += 0.01 if not bench.pool.busy else 0
        return idle_s / (bench.now_s() - begun)

    assert on_bench(story) > 0.9


def test_a_full_queue_is_refused_at_once_and_others_are_served() -> None:
    settings = TieredSettings(reader_threads=1, reader_max_pending_tasks=1)

    async def story(bench: ReadBench) -> tuple[list[ReadOutcome], float]:
        await ten(bench)
        bench.levers.slow("object_store", 0.1)
        loop = asyncio.get_running_loop()
        reads = []
        for _ in range(2):
            reads.append(loop.create_task(bench.read(0, timeout_s=5)))
            await asyncio.sleep(0.001)
        begun = bench.now_s()
        refused = await bench.read(0, timeout_s=5)
        took = bench.now_s() - begun
        return [refused.outcome, *[(await one).outcome for one in reads]], took

    outcomes, took = on_bench(story, settings)
    assert outcomes == [LATE, RECORDS, RECORDS]
    assert took == 0


# --- transactions ---------------------------------------------------------------------------------


def marker(offset: int, producer: int) -> bytes:
    return batch(
        offset, 0, producer_id=producer, producer_epoch=0, transactional=True, control=True
    )


def sent(offset: int, producer: int) -> bytes:
    return batch(
        offset, 0, producer_id=producer, producer_epoch=0, base_sequence=0, transactional=True
    )


def aborted(producer: int, first: int, last: int, stable: int) -> AbortedTransaction:
    return AbortedTransaction(producer, first, last, stable)


async def transactions(bench: ReadBench) -> None:
    """Producer 7 aborts in its own segment, 8 in the one behind, 9 commits."""
    first = [sent(0, 7), marker(1, 7), sent(2, 8), sent(3, 9)]
    second = [marker(4, 9), marker(5, 8), batch(6, 0)]
    await bench.copy(1, first, aborted=[aborted(7, 0, 1, 0)])
    await bench.copy(2, second, aborted=[aborted(8, 2, 5, 2)])
    await bench.copy(3, [batch(7, 0), batch(8, 0)])
    await bench.begin(9, [(0, 0)])


@pytest.mark.parametrize(
    ("offset", "upto", "told"),
    [
        (0, 9, {(7, 0), (8, 2)}),
        (0, 2, {(7, 0)}),
        (2, 9, {(8, 2)}),
        (4, 9, {(8, 2)}),
        (6, 9, set()),
        (7, 9, set()),
    ],
)
def test_aborted_transactions_are_told_wherever_their_markers_are(
    offset: int, upto: int, told: set[tuple[int, int]]
) -> None:
    async def story(bench: ReadBench) -> tuple[tuple[int, int], ...]:
        await transactions(bench)
        return (await bench.read(offset, upto=upto, committed=True)).aborted

    found = on_bench(story)
    # A range without data of a transaction has nothing to be skipped, and need not say so.
    assert set(found) == told or (offset == 4 and found == ())


def test_readers_of_everything_and_of_plain_records_cost_no_transaction_index() -> None:
    async def story(bench: ReadBench) -> list[str]:
        await transactions(bench)
        await bench.read(0)
        await bench.read(7, committed=True)
        return list(await bench.tier.ports.disk.names("remote-log-index-cache"))

    assert not [one for one in on_bench(story) if one.endswith(".txnindex")]


def test_an_abort_of_another_lineage_is_none() -> None:
    async def story(bench: ReadBench) -> tuple[tuple[int, int], ...]:
        await bench.copy(1, [sent(0, 7), sent(1, 8), marker(2, 7)], aborted=[aborted(7, 0, 2, 0)])
        await bench.copy(2, [batch(2, 1), batch(3, 1)])
        await bench.begin(4, [(0, 0), (1, 2)])
        return (await bench.read(0, committed=True)).aborted

    assert on_bench(story) == ()


def test_a_damaged_transaction_index_is_unavailable_and_never_taken_for_empty() -> None:
    async def story(bench: ReadBench) -> ReadOutcome:
        await transactions(bench)
        for one in await bench.bench.node.store.list():
            if one.key.endswith(INDEX_PARTS[IndexKind.TRANSACTION]):
                await bench.bench.node.store.put(one.key, b"no index")
        return (await bench.read(0, committed=True)).outcome

    assert on_bench(story) is LATE

"""Opening a log again, after ends of every kind."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from log_bench import NOW, Bench, Killed, Producer, SetClock, batch

from reference_impl.kafka.batches import batches
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.live.disk import FileDisk
from reference_impl.log import Log, LogConfig

Opened = Callable[..., Bench]
SIZE = len(batch(b"a"))
LOG = "t-0/00000000000000000000.log"


def fill(bench: Bench, count: int, epoch: int = 0) -> None:
    for number in range(count):
        bench.append(batch(b"a", timestamp=NOW + number), epoch=epoch)


def write(bench: Bench, path: str, data: bytes) -> None:
    """Put other bytes into a file."""

    async def overwrite() -> None:
        file = await bench.sim.open(path)
        await file.truncate(0)
        await file.append(data)
        await file.close()

    bench.run(overwrite())


def test_a_tail_torn_at_any_byte_is_cut(opened: Opened) -> None:
    bench = opened()
    fill(bench, 3)
    bench.die()
    whole = bench.sim.contents()[LOG]
    for size in range(2 * SIZE, 3 * SIZE):
        write(bench, LOG, whole[:size])

        log = bench.open()

        assert log.log_end_offset == 2
        assert len(bench.sim.contents()[LOG]) == 2 * SIZE
        bench.die()


def test_a_damaged_batch_ends_the_log(opened: Opened) -> None:
    for place in (9, 16, 20, 57, SIZE - 1):
        bench = opened(segment_bytes=3 * SIZE)
        fill(bench, 8)
        bench.die()
        bench.sim.corrupt(LOG, SIZE + place)

        assert bench.open().log_end_offset == 1
        assert bench.append(batch(b"b")) == 1
        assert len(bench.everything()) == 2


def test_what_was_flushed_is_not_read_again(opened: Opened) -> None:
    bench = opened(segment_bytes=3 * SIZE)
    fill(bench, 8)
    bench.run(bench.log.flush())
    bench.die()
    bench.sim.corrupt(LOG, SIZE + 30)

    assert bench.open(recovery_point=8).log_end_offset == 8


def test_a_clean_end_is_taken_at_its_word(opened: Opened) -> None:
    bench = opened()
    fill(bench, 3)
    bench.run(bench.log.close(clean=True))
    bench.sim.kill()
    bench.sim.corrupt(LOG, SIZE + 30)

    assert bench.open(clean=True).log_end_offset == 3


INDEXES = ("t-0/00000000000000000000.index", "t-0/00000000000000000000.timeindex")


@pytest.mark.parametrize("path", INDEXES)
@pytest.mark.parametrize("how", ["missing", "torn", "zeros", "backwards", "beyond"])
def test_an_index_that_cannot_be_right_is_made_again(opened: Opened, path: str, how: str) -> None:
    bench = opened(index_interval_bytes=SIZE, segment_bytes=20 * SIZE)
    fill(bench, 30)
    bench.run(bench.log.close(clean=True))
    bench.sim.kill()
    whole = bench.sim.contents()
    entry = 8 if path.endswith(".index") else 12
    wrong = {
        "torn": whole[path][:-3],
        "zeros": whole[path] + bytes(2 * entry),
        "backwards": whole[path][entry:] + whole[path][:entry],
        "beyond": whole[path] + b"\x7f" * entry,
    }
    if how == "missing":
        bench.run(bench.sim.remove(path))
    else:
        write(bench, path, wrong[how])
    if how == "beyond" and entry == 12:
        return  # a time index knows nothing of the size of the log

    log = bench.open(clean=True)

    assert bench.sim.contents()[path] == whole[path]
    assert log.log_end_offset == 30
    assert [offset for offset, _ in bench.everything()] == list(range(30))


def test_the_indexes_are_kafkas(opened: Opened) -> None:
    bench = opened(index_interval_bytes=SIZE)
    fill(bench, 6)
    bench.run(bench.log.close(clean=True))

    # More than the interval has to lie between: every other batch, from the third on.
    index = bench.sim.contents()[INDEXES[0]]
    assert [index[at : at + 8].hex() for at in range(0, len(index), 8)] == [
        f"00000002{2 * SIZE:08x}",
        f"00000004{4 * SIZE:08x}",
    ]
    times = bench.sim.contents()[INDEXES[1]]
    assert [times[at : at + 12].hex() for at in range(0, len(times), 12)] == [
        f"{NOW + 2:016x}00000002",
        f"{NOW + 4:016x}00000004",
        f"{NOW + 5:016x}00000005",
    ]


def test_a_lost_checkpoint_of_epochs_is_learned_from_the_batches(opened: Opened) -> None:
    path = "t-0/leader-epoch-checkpoint"
    bench = opened(segment_bytes=3 * SIZE)
    for epoch in (0, 0, 2, 2, 2, 5):
        fill(bench, 1, epoch)
    entries = bench.log.epochs.entries
    assert bench.sim.contents()[path] == b"0\n3\n0 0\n2 2\n5 5\n"
    for damage in (None, b"", b"0\n9\n0 0\n", b"0\n1\nnonsense\n", b"\xff\xfe"):
        bench.die()
        if damage is None:
            bench.run(bench.sim.remove(path))
        else:
            write(bench, path, damage)

        assert bench.open().epochs.entries == entries


def test_an_epoch_without_records_is_forgotten(opened: Opened) -> None:
    bench = opened()
    fill(bench, 2, 1)
    bench.run(bench.log.assign_epoch(3))
    assert bench.log.epochs.latest == 3
    bench.die()

    assert bench.open().epochs.latest == 1


def test_a_log_shorter_than_its_log_start_begins_anew(opened: Opened) -> None:
    bench = opened()
    fill(bench, 3)
    bench.die()

    log = bench.open(log_start_offset=7)

    assert (log.log_start_offset, log.log_end_offset) == (7, 7)
    assert bench.append(batch(b"a")) == 7


def test_files_that_belong_to_nothing_are_removed(opened: Opened) -> None:
    bench = opened()
    fill(bench, 2)
    bench.die()
    for name in ("00000000000000000099.index", "00000000000000000001.log.deleted", "x.tmp"):
        write(bench, f"t-0/{name}", b"1234")
    write(bench, "t-0/partition.metadata", b"version: 0")

    bench.open()

    names = [path.split("/")[1] for path in bench.sim.contents()]
    assert names == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


async def story(log: Log, producer: Producer) -> None:
    """A bit of everything, with many files."""
    for number in range(5):
        await log.append_as_leader(producer.next(b"a", b"b"), leader_epoch=number // 2)
    await log.truncate_to(6)
    await log.flush()
    log.high_watermark = log.log_end_offset
    await log.advance_log_start_offset(3)
    await log.delete_old_segments()
    for number in range(3):
        await log.append_as_leader(batch(b"%d" % number), leader_epoch=9)
    await log.roll()
    await log.close(clean=True)


STORY = LogConfig(segment_bytes=2 * len(Producer(1).next(b"a", b"b")), index_interval_bytes=0)


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_log_that_died_at_any_effect_opens_again_whole(power: bool, after: bool) -> None:
    """Wherever it died: batches without gaps, epochs and producers that agree with them."""
    whole = Bench(STORY)
    whole.open()
    whole.run(story(whole.log, Producer(1)))
    effects = whole.gate.count
    whole.close()
    assert effects > 60
    for fatal in range(1, effects + 1):
        bench = Bench(STORY, seed=fatal)
        bench.open()
        start = bench.gate.count
        bench.gate.fatal, bench.gate.after = fatal, after
        if start < fatal:
            with pytest.raises(Killed):
                bench.run(story(bench.log, Producer(1)))
        bench.die(power=power)

        log = bench.open()

        found = [b for data in bench.read_all() for _, b in batches(data)]
        assert all(a.next_offset == b.base_offset for a, b in itertools.pairwise(found))
        for each in found:
            assert log.epochs.epoch_for(max(each.base_offset, log.log_start_offset)) == (
                each.partition_leader_epoch
            )
        mine = [each for each in found if each.producer_id == 1]
        if mine:
            known = log.producers.producers[1]
            assert known.last_sequence == mine[-1].last_sequence
        assert bench.append(batch(b"on")) == (
            found[-1].next_offset if found else log.log_start_offset
        )
        bench.close()


def test_indexes_on_disk_are_cut_with_the_log(opened: Opened) -> None:
    bench = opened(index_interval_bytes=0)
    fill(bench, 8)
    bench.run(bench.log.flush())
    bench.run(bench.log.truncate_to(3))
    bench.run(bench.log.close(clean=True))
    bench.sim.kill()

    bench.open(clean=True)

    latest = bench.run(bench.log.offset_of_max_timestamp(upto=3))
    assert latest is not None
    assert (latest.timestamp, latest.offset) == (NOW + 2, 2)
    assert [len(bench.sim.contents()[path]) for path in INDEXES] == [2 * 8, 2 * 12]


def test_a_disk_that_fails_takes_the_log_out_of_service(opened: Opened) -> None:
    bench = opened()
    fill(bench, 2)
    bench.sim.capacity = bench.sim.used + 10
    for _ in range(2):
        with pytest.raises(KafkaError) as refused:
            bench.append(batch(b"a"))
        assert refused.value.code is ErrorCode.kafka_storage_error
        bench.sim.capacity = None
    bench.die()

    assert bench.open().log_end_offset == 2


def test_an_append_given_up_in_the_middle_does_no_harm(opened: Opened) -> None:
    bench = opened()
    fill(bench, 1)
    bench.gate.fatal = bench.gate.count + 1
    bench.gate.after = True
    with pytest.raises(Killed):
        bench.append(batch(b"lost"))
    bench.gate.dead = False

    assert bench.append(batch(b"next")) == 1
    assert [value for _, value in bench.everything()] == [b"a", b"next"]


def test_the_same_story_on_files(tmp_path: Path) -> None:
    clock = SetClock()

    async def tell() -> None:
        disk = FileDisk(tmp_path)
        log = await Log.open(disk, "t-0", config=STORY, clock=clock, clean=False)
        await story(log, Producer(1))

    asyncio.run(tell())
    simulated = Bench(STORY)
    simulated.open()
    simulated.run(story(simulated.log, Producer(1)))
    on_files = {
        f"t-0/{name}": (tmp_path / "t-0" / name).read_bytes()
        for name in sorted(os.listdir(tmp_path / "t-0"))
    }
    assert on_files == simulated.sim.contents()
    simulated.close()

    async def again() -> tuple[int, int, int | None]:
        disk = FileDisk(tmp_path)
        log = await Log.open(disk, "t-0", config=STORY, clock=clock, clean=True, log_start_offset=3)
        ends = (log.log_start_offset, log.log_end_offset, log.epochs.latest)
        await log.close(clean=False)
        return ends

    assert asyncio.run(again()) == (3, 9, 9)

"""What else may happen to a simulated disk: syncs that fail, no room, being emptied, bad bits."""

from __future__ import annotations

import errno
from random import Random

import pytest
from at_once import now
from sim_files import left_after_power_loss, saved, written

from harness.simulation.disk import DeadFile, SimDisk, SimFile


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(7))


# --- syncs that fail --------------------------------------------------------------------------


def test_a_broken_sync_fails_with_an_input_output_error(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    disk.break_sync()

    with pytest.raises(OSError, match="log") as failed:
        now(file.sync())

    assert failed.value.errno == errno.EIO
    assert disk.counts.syncs_failed == 1
    assert disk.counts.bytes_not_synced == 3


def fail_sync(disk: SimDisk, file: SimFile) -> None:
    disk.break_sync(times=1)
    with pytest.raises(OSError, match="log"):
        now(file.sync())


def test_after_a_failed_sync_the_bytes_can_still_be_read(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.append(b"def"))
    fail_sync(disk, file)

    assert now(file.read(0, 9)) == b"abcdef"


def test_a_later_sync_does_not_save_what_a_failed_one_lost(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.append(b"def"))
    fail_sync(disk, file)
    now(file.sync())

    assert left_after_power_loss(disk) == {"log": b"abc"}


def test_what_is_synced_behind_lost_bytes_has_zeros_before_it(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.append(b"def"))
    fail_sync(disk, file)
    now(file.append(b"ghi"))
    now(file.sync())

    assert disk.contents() == {"log": b"abcdefghi"}
    assert left_after_power_loss(disk) == {"log": b"abc\0\0\0ghi"}


def test_lost_bytes_that_are_cut_and_written_again_are_saved(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.append(b"def"))
    fail_sync(disk, file)
    now(file.truncate(3))
    now(file.append(b"def"))
    now(file.sync())

    assert left_after_power_loss(disk) == {"log": b"abcdef"}


def test_a_cut_outlives_a_failed_sync(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abcdef")
    now(file.truncate(2))
    fail_sync(disk, file)

    assert disk.durable() == {"log": b"abcdef"}
    now(file.sync())
    assert left_after_power_loss(disk) == {"log": b"ab"}


def test_syncs_fail_only_where_they_are_broken(disk: SimDisk) -> None:
    disk.break_sync("logs/")

    saved(disk, "meta/log", b"abc")

    assert disk.durable() == {"meta/log": b"abc"}
    assert disk.counts.syncs_failed == 0


def test_a_sync_is_broken_where_the_file_is_now(disk: SimDisk) -> None:
    file = written(disk, "old/log", b"abc")
    now(disk.rename("old/log", "new/log"))
    disk.break_sync("new/")

    with pytest.raises(OSError, match="new/log"):
        now(file.sync())


def test_a_sync_is_broken_where_the_file_is_back_after_a_loss_of_power(disk: SimDisk) -> None:
    saved(disk, "old/log", b"abc")
    now(disk.rename("old/log", "new/log"))
    disk.lose_power(lose="all")
    disk.break_sync("old/log")

    with pytest.raises(OSError, match="old/log"):
        now(now(disk.open("old/log")).sync())


def test_syncs_fail_until_they_are_mended(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    disk.break_sync()
    for _ in range(3):
        with pytest.raises(OSError, match="log"):
            now(file.sync())
    disk.mend_sync()

    now(file.sync())


def test_a_sync_broken_once_works_the_next_time(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    fail_sync(disk, file)

    now(file.sync())


def test_one_failed_sync_uses_up_every_break_that_it_meets(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    disk.break_sync("log", times=1)
    fail_sync(disk, file)

    now(file.sync())
    assert disk.counts.syncs_failed == 1


def test_a_failed_sync_of_a_directory_leaves_its_names_to_the_next(disk: SimDisk) -> None:
    now(written(disk, "log", b"abc").sync())
    disk.break_sync(times=1)
    with pytest.raises(OSError, match="Input/output error"):
        now(disk.sync_directory())

    assert disk.durable() == {}
    now(disk.sync_directory())
    assert disk.durable() == {"log": b"abc"}


# --- room -------------------------------------------------------------------------------------


def test_a_write_that_does_not_fit_writes_what_fits(disk: SimDisk) -> None:
    disk.capacity = 5
    file = written(disk, "log", b"abc")

    with pytest.raises(OSError, match="log") as full:
        now(file.append(b"defgh"))

    assert full.value.errno == errno.ENOSPC
    assert disk.contents() == {"log": b"abcde"}
    assert disk.counts.writes_without_room == 1


def test_a_disk_made_smaller_than_its_files_takes_nothing_more(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    disk.capacity = 1

    with pytest.raises(OSError, match="log"):
        now(file.append(b"defgh"))

    assert disk.contents() == {"log": b"abc"}


@pytest.mark.parametrize("free", ["truncate", "remove", "replace"])
def test_room_can_be_made(disk: SimDisk, free: str) -> None:
    disk.capacity = 6
    now(written(disk, "old", b"abc").close())
    file = written(disk, "new", b"def")
    calls = {
        "truncate": lambda: now(disk.open("old")).truncate(0),
        "remove": lambda: disk.remove("old"),
        "replace": lambda: disk.rename("new", "old"),
    }
    now(calls[free]())

    now(file.append(b"ghi"))

    assert disk.used == 6


def test_a_removed_file_takes_its_room_until_it_is_closed(disk: SimDisk) -> None:
    disk.capacity = 3
    file = written(disk, "old", b"abc")
    now(disk.remove("old"))
    with pytest.raises(OSError, match="new"):
        written(disk, "new", b"d")
    now(file.close())

    written(disk, "new", b"def")

    assert disk.contents() == {"new": b"def"}


def test_a_process_that_dies_frees_the_files_it_had_removed(disk: SimDisk) -> None:
    written(disk, "old", b"abc")
    now(disk.remove("old"))
    disk.kill()

    assert disk.used == 0


def test_a_file_that_is_open_twice_takes_its_room_once(disk: SimDisk) -> None:
    written(disk, "log", b"abc")
    written(disk, "log", b"")

    assert disk.used == 3


# --- a new machine, and bits that turn over ---------------------------------------------------


def test_a_wiped_disk_is_empty_and_stays_so(disk: SimDisk) -> None:
    saved(disk, "topics/log", b"abc")

    assert disk.wipe() == 3

    assert now(disk.names()) == ()
    assert left_after_power_loss(disk) == {}


def test_files_are_dead_after_a_wipe(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    disk.wipe()

    with pytest.raises(DeadFile):
        now(file.size())


def bits_that_differ(one: bytes, other: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("safe", [True, False])
def test_a_corrupt_byte_has_one_bit_turned_over(disk: SimDisk, safe: bool) -> None:
    (saved if safe else written)(disk, "log", b"abcdef")

    disk.corrupt("log", 4)

    found = disk.contents()["log"]
    assert found[:4] + found[5:] == b"abcdf"
    assert bits_that_differ(found, b"abcdef") == 1


@pytest.mark.parametrize("safe", [True, False])
def test_a_corrupt_byte_stays_corrupt(disk: SimDisk, safe: bool) -> None:
    file = (saved if safe else written)(disk, "log", b"abcdef")
    disk.corrupt("log", 4)
    found = disk.contents()
    now(file.sync())
    now(disk.sync_directory())

    assert left_after_power_loss(disk) == found


def test_a_corrupt_byte_in_one_of_several_unsynced_writes_stays_corrupt(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    for data in (b"def", b"ghi", b"jkl"):
        now(file.append(data))
    disk.corrupt("log", 7)
    found = disk.contents()
    now(file.sync())

    assert left_after_power_loss(disk) == found


def test_of_writes_to_the_same_place_the_last_one_is_corrupted(disk: SimDisk) -> None:
    file = saved(disk, "log", b"")
    for data in (b"abc", b"def"):
        now(file.truncate(0))
        now(file.append(data))
    disk.corrupt("log", 1)
    found = disk.contents()
    now(file.sync())

    assert left_after_power_loss(disk) == found


def test_to_corrupt_what_was_not_synced_spares_what_was(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.truncate(0))
    now(file.append(b"def"))
    disk.corrupt("log", 1)

    assert left_after_power_loss(disk) == {"log": b"abc"}


def test_any_bit_may_turn_over() -> None:
    found = []
    for seed in range(100):
        disk = SimDisk(Random(seed))
        written(disk, "log", b"\0")
        disk.corrupt("log", 0)
        found.append(disk.contents()["log"][0])

    assert sorted({*found}) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_only_a_byte_that_is_there_can_be_corrupted(disk: SimDisk) -> None:
    written(disk, "log", b"abc")

    with pytest.raises(ValueError, match="log has no byte 3"):
        disk.corrupt("log", 3)


@pytest.mark.parametrize(
    ("offset", "count", "hits"), [(0, 4, 0), (0, 5, 1), (4, 1, 1), (5, 9, 0), (4, 0, 0)]
)
def test_reads_of_a_corrupt_byte_are_counted(
    disk: SimDisk, offset: int, count: int, hits: int
) -> None:
    file = written(disk, "log", b"abcdefgh")
    disk.corrupt("log", 4)

    now(file.read(offset, count))

    assert disk.counts.reads_corrupt == hits


def test_a_corrupt_byte_bites_after_a_loss_of_power_too(disk: SimDisk) -> None:
    saved(disk, "log", b"abcdefgh")
    disk.corrupt("log", 4)
    disk.lose_power(lose="all")
    now(now(disk.open("log")).read(4, 1))

    assert disk.counts.reads_corrupt == 1


def test_a_corrupt_byte_that_was_cut_off_bites_no_more(disk: SimDisk) -> None:
    file = written(disk, "log", b"abcdefgh")
    disk.corrupt("log", 4)
    now(file.truncate(4))
    now(file.append(b"efgh"))
    now(file.read(0, 8))

    assert disk.counts.reads_corrupt == 0

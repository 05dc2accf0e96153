"""What a simulated disk keeps when its process dies, and when its machine loses power.

What a loss of power may leave in general is in `test_sim_disk_power_loss`; here are the cases one
would ask about, each by itself, with everything unsynced lost.
"""

from __future__ import annotations

from random import Random

import pytest
from at_once import now
from sim_files import left_after_power_loss, saved, written

from harness.simulation.disk import DeadFile, PowerLoss, SimDisk


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(7))


# --- a process dies ---------------------------------------------------------------------------


def test_a_process_that_dies_keeps_every_byte(disk: SimDisk) -> None:
    written(disk, "log", b"abc")

    disk.kill()

    assert disk.contents() == {"log": b"abc"}


def test_a_process_that_dies_says_how_many_files_it_had_open(disk: SimDisk) -> None:
    written(disk, "log", b"abc")
    now(written(disk, "index", b"").close())

    assert disk.kill() == 1


@pytest.mark.parametrize("use", ["append", "read", "truncate", "size", "sync"])
def test_a_file_of_a_dead_process_is_not_for_use(disk: SimDisk, use: str) -> None:
    file = written(disk, "log", b"abc")
    disk.kill()
    calls = {
        "append": lambda: file.append(b"d"),
        "read": lambda: file.read(0, 1),
        "truncate": lambda: file.truncate(0),
        "size": file.size,
        "sync": file.sync,
    }

    with pytest.raises(DeadFile, match="log was opened by a process that is dead"):
        now(calls[use]())


def test_the_clean_up_of_a_dead_process_may_close_its_files(disk: SimDisk) -> None:
    file = written(disk, "log", b"abc")
    disk.kill()

    now(file.close())


def test_the_next_process_opens_the_file_anew(disk: SimDisk) -> None:
    written(disk, "log", b"abc")
    disk.kill()

    written(disk, "log", b"d")

    assert disk.contents() == {"log": b"abcd"}


# --- power is lost: bytes ---------------------------------------------------------------------


def test_bytes_that_were_not_synced_are_gone(disk: SimDisk) -> None:
    now(saved(disk, "log", b"abc").append(b"def"))

    assert left_after_power_loss(disk) == {"log": b"abc"}


def test_a_cut_that_was_not_synced_comes_undone(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abcdef")
    now(file.truncate(2))
    now(file.append(b"X"))

    assert left_after_power_loss(disk) == {"log": b"abcdef"}


def test_a_cut_that_was_synced_stays(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abcdef")
    now(file.truncate(2))
    now(file.sync())

    assert left_after_power_loss(disk) == {"log": b"ab"}


def test_the_last_byte_alone_can_be_cut(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.truncate(2))

    assert disk.contents() == {"log": b"ab"}


def test_a_sync_through_one_open_file_saves_what_another_wrote(disk: SimDisk) -> None:
    saved(disk, "log", b"")
    written(disk, "log", b"abc")
    now(now(disk.open("log")).sync())

    assert left_after_power_loss(disk) == {"log": b"abc"}


def test_what_is_durable_is_what_the_worst_loss_leaves(disk: SimDisk) -> None:
    now(saved(disk, "log", b"abc").append(b"def"))
    written(disk, "index", b"0")

    assert disk.durable() == {"log": b"abc"}
    assert disk.contents() == {"index": b"0", "log": b"abcdef"}


def test_files_are_dead_after_a_loss_of_power(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    disk.lose_power()

    with pytest.raises(DeadFile):
        now(file.size())


def test_what_survived_one_loss_of_power_survives_the_next(disk: SimDisk) -> None:
    written(disk, "a/log", b"abcdef")
    disk.lose_power()
    survived = disk.contents()

    assert left_after_power_loss(disk) == survived


# --- power is lost: names ---------------------------------------------------------------------


def test_a_file_whose_name_was_not_synced_is_gone_with_its_bytes(disk: SimDisk) -> None:
    now(written(disk, "log", b"abc").sync())

    assert left_after_power_loss(disk) == {}


def test_a_file_of_which_only_the_name_was_synced_is_empty(disk: SimDisk) -> None:
    written(disk, "log", b"abc")
    now(disk.sync_directory())

    assert left_after_power_loss(disk) == {"log": b""}


def test_a_rename_that_comes_undone_brings_both_files_back(disk: SimDisk) -> None:
    saved(disk, "checkpoint", b"old")
    saved(disk, "checkpoint.tmp", b"new")
    now(disk.rename("checkpoint.tmp", "checkpoint"))

    assert left_after_power_loss(disk) == {"checkpoint": b"old", "checkpoint.tmp": b"new"}


def test_a_rename_that_was_synced_stays(disk: SimDisk) -> None:
    saved(disk, "checkpoint", b"old")
    saved(disk, "checkpoint.tmp", b"new")
    now(disk.rename("checkpoint.tmp", "checkpoint"))
    now(disk.sync_directory())

    assert left_after_power_loss(disk) == {"checkpoint": b"new"}


def test_a_file_renamed_into_place_without_syncing_its_bytes_is_empty(disk: SimDisk) -> None:
    saved(disk, "checkpoint", b"old")
    written(disk, "checkpoint.tmp", b"new")
    now(disk.rename("checkpoint.tmp", "checkpoint"))
    now(disk.sync_directory())

    assert left_after_power_loss(disk) == {"checkpoint": b""}


@pytest.mark.parametrize("synced", ["from", "to"])
def test_a_rename_between_directories_is_settled_by_a_sync_of_either(
    disk: SimDisk, synced: str
) -> None:
    saved(disk, "from/log", b"abc")
    saved(disk, "to/other", b"")
    now(disk.rename("from/log", "to/log"))
    now(disk.sync_directory(synced))

    assert left_after_power_loss(disk) == {"to/log": b"abc", "to/other": b""}


def test_a_file_whose_removal_was_not_synced_is_back(disk: SimDisk) -> None:
    saved(disk, "log", b"abc")
    now(disk.remove("log"))

    assert disk.contents() == {}
    assert left_after_power_loss(disk) == {"log": b"abc"}


def test_a_file_that_is_back_has_what_was_synced_after_it_was_removed(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(disk.remove("log"))
    now(file.append(b"def"))
    now(file.sync())

    assert left_after_power_loss(disk) == {"log": b"abcdef"}


def test_a_name_removed_and_made_anew_is_the_old_file_again(disk: SimDisk) -> None:
    saved(disk, "log", b"old")
    now(disk.remove("log"))
    now(written(disk, "log", b"new").sync())

    assert left_after_power_loss(disk) == {"log": b"old"}


def test_a_directory_says_nothing_about_the_names_in_another(disk: SimDisk) -> None:
    saved(disk, "a/log", b"")
    now(written(disk, "b/log", b"").sync())
    now(disk.sync_directory("a"))

    assert left_after_power_loss(disk) == {"a/log": b""}


def test_a_directory_that_was_synced_can_be_reached(disk: SimDisk) -> None:
    saved(disk, "topics/t/0/log", b"abc")

    assert left_after_power_loss(disk) == {"topics/t/0/log": b"abc"}


def test_a_directory_that_was_not_synced_is_gone(disk: SimDisk) -> None:
    written(disk, "topics/log", b"abc")
    disk.lose_power(lose="all")

    assert now(disk.names()) == ()


def test_a_file_where_a_directory_came_undone_can_be_made(disk: SimDisk) -> None:
    written(disk, "a/log", b"abc")
    disk.lose_power(lose="all")
    saved(disk, "a", b"abc")

    assert disk.durable() == {"a": b"abc"}


# --- power is lost: evidence and chance -------------------------------------------------------


def test_a_loss_of_power_says_what_it_took(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abc")
    now(file.append(b"def"))
    now(file.append(b"gh"))
    written(disk, "index", b"1234")

    loss = disk.lose_power(lose="all")

    assert loss == PowerLoss(bytes_lost=9, writes_lost=2, writes_torn=0, names_lost=1)


def test_a_cut_that_comes_undone_is_a_write_lost_and_no_byte(disk: SimDisk) -> None:
    now(saved(disk, "log", b"abc").truncate(1))

    loss = disk.lose_power(lose="all")

    assert loss == PowerLoss(bytes_lost=0, writes_lost=1, writes_torn=0, names_lost=0)


def test_bytes_are_counted_from_the_first_that_is_another(disk: SimDisk) -> None:
    file = saved(disk, "log", b"abcdef")
    now(file.truncate(2))
    now(file.append(b"XYZ"))

    assert disk.lose_power(lose="all").bytes_lost == 3


def test_directories_are_no_names_that_were_lost(disk: SimDisk) -> None:
    written(disk, "topics/t/log", b"")

    assert disk.lose_power(lose="all").names_lost == 1


@pytest.mark.parametrize("nothing", ["an empty append", "a cut at the end", "the same name"])
def test_what_changes_nothing_is_not_lost(disk: SimDisk, nothing: str) -> None:
    file = saved(disk, "log", b"abc")
    calls = {
        "an empty append": lambda: file.append(b""),
        "a cut at the end": lambda: file.truncate(3),
        "the same name": lambda: disk.rename("log", "log"),
    }
    now(calls[nothing]())

    assert disk.lose_power(lose="all") == PowerLoss(
        bytes_lost=0, writes_lost=0, writes_torn=0, names_lost=0
    )


def test_a_torn_write_is_counted_as_such() -> None:
    for seed in range(100):
        disk = SimDisk(Random(seed))
        now(saved(disk, "log", b"").append(b"abcdef"))
        loss = disk.lose_power()
        kept = len(disk.contents()["log"])

        assert loss.writes_torn == (0 < kept < 6)
        assert loss.writes_lost == (kept == 0)
        assert loss.bytes_lost == 6 - kept


def test_a_loss_of_power_with_everything_synced_takes_nothing(disk: SimDisk) -> None:
    saved(disk, "log", b"abc")

    assert disk.lose_power() == PowerLoss(bytes_lost=0, writes_lost=0, writes_torn=0, names_lost=0)


def test_the_disk_adds_up_what_it_lost(disk: SimDisk) -> None:
    for _ in range(2):
        now(saved(disk, "log", b"abc").append(b"de"))
        disk.lose_power(lose="all")

    assert (disk.counts.bytes_lost, disk.counts.writes_lost) == (4, 2)


def test_the_same_chance_leaves_the_same() -> None:
    def survivors(seed: int) -> dict[str, bytes]:
        disk = SimDisk(Random(seed))
        for name in ("a/x", "b/x", "c"):
            file = written(disk, name, b"abcdef")
            now(file.append(b"ghijkl"))
        disk.lose_power()
        return disk.contents()

    assert [survivors(seed) for seed in range(50)] == [survivors(seed) for seed in range(50)]

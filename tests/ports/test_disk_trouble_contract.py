"""What every disk keeps when a process dies in the middle of its work, or when room runs out."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from itertools import count

import pytest
from disk_benches import MIB, MORTALS, SMALL_DISKS, DiskBench, MortalBench
from disk_programs import record
from disk_use import all_of, content, write


@pytest.fixture(params=MORTALS)
def mortal(request: pytest.FixtureRequest) -> Iterator[MortalBench]:
    with request.param() as opened:
        yield opened


@pytest.fixture(params=SMALL_DISKS)
def small(request: pytest.FixtureRequest) -> Iterator[DiskBench]:
    with request.param() as opened:
        yield opened


# --- death ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, 200])
def test_what_was_appended_outlives_the_process(mortal: MortalBench, after: int) -> None:
    acknowledged = mortal.kill_during("append", after=after)

    async def scenario() -> bytes:
        return await content(mortal.disk, "log/0")

    left = mortal.run(scenario)
    assert acknowledged >= after
    for step in count(1):  # whole records, the last one perhaps only in part
        whole = record(step)
        if not left.startswith(whole):
            assert step > acknowledged
            assert whole.startswith(left)
            break
        left = left[len(whole) :]


@pytest.mark.parametrize("after", [1, 200])
def test_a_rename_is_done_or_not_when_the_process_dies(mortal: MortalBench, after: int) -> None:
    acknowledged = mortal.kill_during("replace", after=after)

    async def scenario() -> tuple[bytes, tuple[str, ...]]:
        return await content(mortal.disk, "state/current"), await mortal.disk.names("state")

    left, names = mortal.run(scenario)
    assert left in (record(acknowledged), record(acknowledged + 1))
    assert names in (("current",), ("current", "next"))


# --- no room --------------------------------------------------------------------------------------


def test_a_write_without_room_keeps_a_part_of_its_bytes_at_most(small: DiskBench) -> None:
    async def scenario() -> bytes:
        file = await small.disk.open("log")
        await file.append(b"a" * (MIB // 2))
        with pytest.raises(OSError, match="space") as full:
            await file.append(b"b" * MIB)
        assert full.value.errno == errno.ENOSPC
        read = await all_of(file)
        await file.close()
        return read

    left = small.run(scenario)
    assert len(left) <= MIB
    assert left == b"a" * (MIB // 2) + b"b" * (len(left) - MIB // 2)


def test_room_that_was_freed_can_be_used(small: DiskBench) -> None:
    async def scenario() -> bytes:
        await write(small.disk, "old", b"x" * (MIB // 2))
        file = await small.disk.open("log")
        with pytest.raises(OSError, match="space"):
            await file.append(b"y" * MIB)
        await file.truncate(0)
        await small.disk.remove("old")
        await file.append(b"z" * (MIB // 4 * 3))
        read = await all_of(file)
        await file.close()
        return read

    assert small.run(scenario) == b"z" * (MIB // 4 * 3)

"""What every disk promises to whoever uses its port, whatever keeps the bytes.

What a loss of power leaves is tested where power can be lost: in the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from disk_benches import DISKS, DiskBench
from disk_use import all_of, content, write

from reference_impl.ports.disk import Disk

# Reports cannot hold half a surrogate pair, so tests get a word for it.
LONE = "half a surrogate"
NOT_PATHS = ["", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\0b", LONE]


@pytest.fixture(params=DISKS)
def bench(request: pytest.FixtureRequest) -> Iterator[DiskBench]:
    with request.param() as opened:
        yield opened


@pytest.fixture
def disk(bench: DiskBench) -> Disk:
    return bench.disk


# --- bytes ----------------------------------------------------------------------------------------


def test_what_was_appended_is_read_back(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        file = await disk.open("log")
        for data in (b"one", b"", b"two" * 100_000):
            await file.append(data)
        read = await all_of(file)
        await file.close()
        return read

    assert bench.run(scenario) == b"one" + b"two" * 100_000


def test_a_file_keeps_its_bytes_when_it_is_closed(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        await write(disk, "log", b"one")
        await write(disk, "log", b"two")
        return await content(disk, "log")

    assert bench.run(scenario) == b"onetwo"


def test_reading_stops_at_the_end_of_the_file(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> list[bytes]:
        file = await disk.open("log")
        await file.append(b"0123456789")
        read = [await file.read(*where) for where in ((2, 3), (8, 5), (10, 1), (99, 1), (3, 0))]
        await file.close()
        return read

    assert bench.run(scenario) == [b"234", b"89", b"", b"", b""]


@pytest.mark.parametrize("where", [(-1, 1), (0, -1)])
def test_reading_before_the_beginning_is_a_mistake(
    bench: DiskBench, disk: Disk, where: tuple[int, int]
) -> None:
    async def scenario() -> None:
        file = await disk.open("log")
        try:
            with pytest.raises(ValueError, match="-1"):
                await file.read(*where)
        finally:
            await file.close()

    bench.run(scenario)


def test_files_open_on_one_path_see_the_same_bytes(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        one, two = await disk.open("log"), await disk.open("log")
        await one.append(b"a")
        await two.append(b"b")
        await one.append(b"c")
        read = await all_of(one), await all_of(two)
        await one.close()
        await two.close()
        return read

    assert bench.run(scenario) == (b"abc", b"abc")


def test_after_a_truncation_bytes_are_appended_at_the_new_end(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        one, two = await disk.open("log"), await disk.open("log")
        await one.append(b"0123456789")
        await two.truncate(4)
        await one.append(b"!")
        read = await all_of(two)
        await one.close()
        await two.close()
        return read

    assert bench.run(scenario) == b"0123!"


@pytest.mark.parametrize("size", [11, -1])
def test_a_file_is_not_truncated_to_more_than_it_holds(
    bench: DiskBench, disk: Disk, size: int
) -> None:
    async def scenario() -> int:
        file = await disk.open("log")
        await file.append(b"0123456789")
        with pytest.raises(ValueError, match=str(size)):
            await file.truncate(size)
        left = await file.size()
        await file.close()
        return left

    assert bench.run(scenario) == 10


def test_a_closed_file_is_of_no_use(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> None:
        file = await disk.open("log")
        await file.close()
        await file.close()
        uses = (
            file.append(b"x"),
            file.read(0, 1),
            file.truncate(0),
            file.size(),
            file.sync(),
        )
        for use in uses:
            with pytest.raises(ValueError, match="closed"):
                await use

    bench.run(scenario)


def test_syncing_changes_nothing_that_is_read(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        file = await disk.open("a/b/log")
        await file.append(b"bytes")
        await file.sync()
        await disk.sync_directory("a/b")
        await disk.sync_directory()
        await file.close()
        return await content(disk, "a/b/log")

    assert bench.run(scenario) == b"bytes"


# --- names ----------------------------------------------------------------------------------------


def test_a_file_is_made_only_where_it_may_be(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> tuple[str, ...]:
        with pytest.raises(FileNotFoundError):
            await disk.open("a/log", create=False)
        return await disk.names()

    assert bench.run(scenario) == ()


def test_directories_are_there_once_something_is_put_into_them(
    bench: DiskBench, disk: Disk
) -> None:
    async def scenario() -> list[tuple[str, ...]]:
        for path in ("b/z", "b/a/x", "b/é", "a", "B"):
            await write(disk, path, b"")
        return [await disk.names(directory) for directory in ("", "b", "b/a", "none", "b/none")]

    assert bench.run(scenario) == [("B", "a", "b"), ("a", "z", "é"), ("x",), (), ()]


def test_a_directory_stays_when_its_last_file_is_gone(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> list[tuple[str, ...]]:
        await write(disk, "a/b", b"")
        await disk.remove("a/b")
        await disk.sync_directory("a")
        return [await disk.names(), await disk.names("a")]

    assert bench.run(scenario) == [("a",), ()]


def test_a_rename_takes_the_place_of_what_was_there(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> tuple[bytes, tuple[str, ...]]:
        await write(disk, "next", b"new")
        await write(disk, "a/current", b"old")
        await disk.rename("next", "a/current")
        return await content(disk, "a/current"), await disk.names()

    assert bench.run(scenario) == (b"new", ("a",))


def test_a_rename_makes_the_directories_it_needs(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        await write(disk, "file", b"bytes")
        await disk.rename("file", "a/b/file")
        return await content(disk, "a/b/file")

    assert bench.run(scenario) == b"bytes"


def test_a_rename_to_its_own_name_changes_nothing(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        await write(disk, "file", b"bytes")
        await disk.rename("file", "file")
        return await content(disk, "file")

    assert bench.run(scenario) == b"bytes"


def test_a_rename_of_nothing_leaves_everything_as_it_was(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> tuple[bytes, tuple[str, ...]]:
        await write(disk, "current", b"old")
        for to in ("current", "new/current"):
            with pytest.raises(FileNotFoundError):
                await disk.rename("next", to)
        return await content(disk, "current"), await disk.names()

    assert bench.run(scenario) == (b"old", ("current",))


def test_an_open_file_is_the_same_under_another_name(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        file = await disk.open("old")
        await disk.rename("old", "new")
        await file.append(b"late")
        await file.close()
        return await content(disk, "new")

    assert bench.run(scenario) == b"late"


def test_a_removed_file_stays_with_whoever_has_it_open(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        file = await disk.open("log")
        await file.append(b"a")
        await disk.remove("log")
        await file.append(b"b")
        await file.sync()
        await write(disk, "log", b"another")
        read = await all_of(file), await content(disk, "log")
        await file.close()
        return read

    assert bench.run(scenario) == (b"ab", b"another")


def test_what_is_not_there_cannot_be_removed(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> None:
        with pytest.raises(FileNotFoundError):
            await disk.remove("log")
        with pytest.raises(FileNotFoundError):
            await disk.sync_directory("a")

    bench.run(scenario)


def test_a_directory_is_no_file(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> bytes:
        await write(disk, "a/b", b"bytes")
        await write(disk, "c", b"")
        with pytest.raises(IsADirectoryError):
            await disk.open("a")
        with pytest.raises(IsADirectoryError):
            await disk.rename("a", "d")
        with pytest.raises(IsADirectoryError):
            await disk.rename("c", "a")
        with pytest.raises(IsADirectoryError):
            await disk.remove("a")
        return await content(disk, "a/b")

    assert bench.run(scenario) == b"bytes"


def test_a_file_is_no_directory(bench: DiskBench, disk: Disk) -> None:
    async def scenario() -> None:
        await write(disk, "a", b"")
        await write(disk, "c", b"")
        with pytest.raises(NotADirectoryError):
            await disk.open("a/b")
        with pytest.raises(NotADirectoryError):
            await disk.open("a/b/c", create=False)
        with pytest.raises(NotADirectoryError):
            await disk.rename("c", "a/b")
        with pytest.raises(NotADirectoryError):
            await disk.rename("c", "a/b/c")
        with pytest.raises(NotADirectoryError):
            await disk.remove("a/b")
        with pytest.raises(NotADirectoryError):
            await disk.names("a")
        with pytest.raises(NotADirectoryError):
            await disk.sync_directory("a")

    bench.run(scenario)


@pytest.mark.parametrize("path", NOT_PATHS)
def test_what_is_no_path_is_refused(bench: DiskBench, disk: Disk, path: str) -> None:
    path = "\ud800" if path == LONE else path

    async def scenario() -> None:
        await write(disk, "file", b"")
        uses: list[Any] = [
            disk.open(path),
            disk.open(path, create=False),
            disk.rename("file", path),
            disk.rename(path, "file"),
            disk.remove(path),
        ]
        if path:  # the empty text is a directory
            uses += [disk.names(path), disk.sync_directory(path)]
        for use in uses:
            with pytest.raises(ValueError, match="not a path"):
                await use

    bench.run(scenario)

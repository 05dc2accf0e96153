"""The disk on real files: what the system is asked to do, and where it never goes."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from reference_impl.live.disk import FileDisk
from reference_impl.ports.disk import Disk

Sync = Callable[[int], None]


@pytest.fixture
def disk(tmp_path: Path) -> FileDisk:
    return FileDisk(tmp_path / "disk")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The places that were synced, in order."""
    places: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: places.append(os.readlink(f"/proc/self/fd/{fd}")))
    return places


async def write(disk: Disk, path: str, data: bytes) -> None:
    file = await disk.open(path)
    await file.append(data)
    await file.close()


def test_a_file_is_where_its_path_says(disk: FileDisk, tmp_path: Path) -> None:
    asyncio.run(write(disk, "a/b", b"bytes"))
    assert (tmp_path / "disk" / "a" / "b").read_bytes() == b"bytes"


def test_a_short_write_goes_on_where_it_stopped(
    disk: FileDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
    asyncio.run(write(disk, "a", b"0123456789"))
    assert (tmp_path / "disk" / "a").read_bytes() == b"0123456789"


def test_a_short_read_goes_on_where_it_stopped(
    disk: FileDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.pread

    async def story() -> bytes:
        await write(disk, "a", b"0123456789")
        monkeypatch.setattr(os, "pread", lambda fd, count, at: real(fd, min(count, 3), at))
        file = await disk.open("a")
        read = await file.read(1, 20)
        await file.close()
        return read

    assert asyncio.run(story()) == b"123456789"


def test_a_sync_reaches_the_file(disk: FileDisk, tmp_path: Path, synced: list[str]) -> None:
    async def story() -> None:
        file = await disk.open("a/b")
        await file.sync()
        await file.close()

    asyncio.run(story())
    assert synced == [str(tmp_path / "disk" / "a" / "b")]


def test_a_sync_of_a_directory_reaches_every_one_above(
    disk: FileDisk, tmp_path: Path, synced: list[str]
) -> None:
    async def story() -> None:
        await write(disk, "a/b/c", b"")
        await disk.sync_directory("a/b")

    asyncio.run(story())
    root = tmp_path / "disk"
    assert synced == [str(root / "a" / "b"), str(root / "a"), str(root)]


@pytest.mark.parametrize("directory", [False, True], ids=["file", "directory"])
def test_others_run_while_a_sync_waits_for_the_device(
    disk: FileDisk, monkeypatch: pytest.MonkeyPatch, directory: bool
) -> None:
    ran = threading.Event()

    def slow(descriptor: int) -> None:
        assert ran.wait(10)

    async def story() -> None:
        file = await disk.open("a")
        syncing = asyncio.create_task(disk.sync_directory() if directory else file.sync())
        await asyncio.sleep(0)
        ran.set()
        await syncing
        await file.close()

    monkeypatch.setattr(os, "fsync", slow)
    asyncio.run(story())


def test_a_sync_that_fails_says_so(disk: FileDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "bad block")

    async def story() -> None:
        file = await disk.open("a")
        with pytest.raises(OSError, match="bad block"):
            await file.sync()
        with pytest.raises(OSError, match="bad block"):
            await disk.sync_directory()
        await file.close()

    monkeypatch.setattr(os, "fsync", fail)
    asyncio.run(story())


def test_a_sync_that_was_given_up_touches_no_other_file(
    disk: FileDisk, tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note = os.fsync
    go = threading.Event()

    def late(descriptor: int) -> None:
        assert go.wait(10)
        note(descriptor)

    async def story() -> None:
        file = await disk.open("first")
        syncing = asyncio.create_task(file.sync())
        await asyncio.sleep(0)
        syncing.cancel()
        await file.close()
        other = await disk.open("second")  # gets the number that has become free
        go.set()
        await asyncio.gather(syncing, return_exceptions=True)
        await other.close()

    monkeypatch.setattr(os, "fsync", late)
    asyncio.run(story())
    assert synced == [str(tmp_path / "disk" / "first")]


def test_no_descriptor_is_left_behind(disk: FileDisk) -> None:
    async def story() -> None:
        file = await disk.open("a/b")
        await file.sync()
        await disk.sync_directory("a")
        with pytest.raises(IsADirectoryError):
            await disk.open("a")
        await file.close()

    asyncio.run(story())
    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(story())
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("target", ["outside", "disk/inside"])
def test_a_symbolic_link_is_refused_wherever_it_points(
    disk: FileDisk, tmp_path: Path, target: str
) -> None:
    (tmp_path / target).mkdir()
    (tmp_path / target / "file").write_text("theirs")
    (tmp_path / "disk" / "folder").symlink_to(tmp_path / target)
    (tmp_path / "disk" / "link").symlink_to(tmp_path / target / "file")

    async def story() -> None:
        for use in (
            disk.open("link"),
            disk.open("folder/file"),
            disk.open("folder/new"),
            disk.names("folder"),
            disk.rename("link", "other"),
            disk.rename("folder/file", "other"),
            disk.remove("link"),
            disk.sync_directory("folder"),
        ):
            with pytest.raises(OSError, match="symbolic") as refused:
                await use
            assert refused.value.errno == errno.ELOOP

    asyncio.run(story())
    assert [path.name for path in (tmp_path / target).iterdir()] == ["file"]
    assert (tmp_path / target / "file").read_text() == "theirs"


def test_the_root_may_be_reached_by_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    asyncio.run(write(FileDisk(tmp_path / "link"), "a", b"bytes"))
    assert (tmp_path / "real" / "a").read_bytes() == b"bytes"

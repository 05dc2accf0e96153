"""Which calls of a port are effects, what is traced of them, and how they fail."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from traces import Lines, Troubled, calls, each_trouble

from reference_impl.live.disk import FileDisk
from reference_impl.live.object_store import open_object_store
from reference_impl.ports.disk import Disk, GatedDisk
from reference_impl.ports.effects import TracingGate, Trouble
from reference_impl.ports.network import Address, Connection, GatedNetwork, Handler
from reference_impl.ports.object_store import (
    AlreadyExists,
    GatedObjectStore,
    ObjectNotFound,
    ObjectStore,
    StoreUnavailable,
)


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
def gate(lines: Lines) -> TracingGate:
    return TracingGate(lines)


# --- the network ----------------------------------------------------------------------------------


class Wire:
    """A connection that remembers what was done to it."""

    peer = "n2:9092"

    def __init__(self) -> None:
        self.done: list[object] = []

    async def read_exactly(self, count: int) -> bytes:
        return b"x" * count

    read_long = read_exactly

    async def read_into(self, place: memoryview) -> None:
        place[:] = b"x" * len(place)

    async def read_some(self, most: int) -> bytes:
        return b"x"

    async def send(self, data: bytes) -> None:
        self.done.append(data)

    async def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")


class Wires:
    """A network where each connection is the same one."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.handler: Handler | None = None

    async def connect(self, address: Address) -> Connection:
        self.wire.done.append(address)
        return self.wire

    async def listen(self, address: Address, handler: Handler) -> Any:
        self.handler = handler
        return address


N2 = Address("n2", 9092)


def test_connecting_and_sending_are_effects_and_nothing_else_is(
    gate: TracingGate, lines: Lines
) -> None:
    wires = Wires()

    async def story() -> None:
        connection = await GatedNetwork(wires, gate).connect(N2)
        assert connection.peer == "n2:9092"
        await connection.send(b"four")
        assert await connection.read_exactly(2) == b"xx"
        assert await connection.read_some(9) == b"x"
        await connection.close()
        connection.abort()

    asyncio.run(story())
    assert {line.port for line in lines} == {"network"}
    assert calls(lines) == [
        ("connect", {"to": "n2:9092"}, "ok"),
        ("send", {"to": "n2:9092", "bytes": 4}, "ok"),
    ]
    assert wires.wire.done == [N2, b"four", "close", "abort"]


def test_what_is_sent_on_an_accepted_connection_is_an_effect(
    gate: TracingGate, lines: Lines
) -> None:
    wires = Wires()

    async def story() -> None:
        async def handle(connection: Connection) -> None:
            await connection.send(b"hello")

        assert await GatedNetwork(wires, gate).listen(N2, handle) is N2
        assert wires.handler is not None
        await wires.handler(wires.wire)

    asyncio.run(story())
    assert calls(lines) == [("send", {"to": "n2:9092", "bytes": 5}, "ok")]


@each_trouble
def test_a_connect_that_fails_is_refused(trouble: Trouble) -> None:
    wires = Wires()
    with pytest.raises(ConnectionRefusedError, match=trouble.value):
        asyncio.run(GatedNetwork(wires, Troubled(trouble)).connect(N2))
    assert wires.wire.done == ([N2, "abort"] if trouble is Trouble.LOST else [])


@each_trouble
def test_a_send_that_fails_breaks_the_connection(trouble: Trouble) -> None:
    wires = Wires()

    async def story() -> None:
        async def handle(connection: Connection) -> None:
            with pytest.raises(ConnectionResetError, match=trouble.value):
                await connection.send(b"x")

        await GatedNetwork(wires, Troubled(trouble)).listen(N2, handle)
        assert wires.handler is not None
        await wires.handler(wires.wire)

    asyncio.run(story())
    assert wires.wire.done == ([b"x", "abort"] if trouble is Trouble.LOST else ["abort"])


# --- the disk -------------------------------------------------------------------------------------


def test_whatever_changes_a_disk_is_an_effect(
    gate: TracingGate, lines: Lines, tmp_path: Path
) -> None:
    async def story() -> None:
        disk = GatedDisk(FileDisk(tmp_path), gate)
        file = await disk.open("d/a")
        await file.append(b"four")
        await file.truncate(2)
        await file.sync()
        await file.close()
        await disk.rename("d/a", "b")
        await disk.sync_directory("d")
        await disk.remove("b")

    asyncio.run(story())
    assert {line.port for line in lines} == {"disk"}
    assert calls(lines) == [
        ("create", {"path": "d/a"}, "ok"),
        ("append", {"path": "d/a", "bytes": 4}, "ok"),
        ("truncate", {"path": "d/a", "size": 2}, "ok"),
        ("sync", {"path": "d/a"}, "ok"),
        ("rename", {"path": "d/a", "to": "b"}, "ok"),
        ("sync_directory", {"path": "d"}, "ok"),
        ("remove", {"path": "b"}, "ok"),
    ]


def test_looking_at_a_disk_is_no_effect(gate: TracingGate, lines: Lines, tmp_path: Path) -> None:
    async def story() -> None:
        disk = GatedDisk(FileDisk(tmp_path), gate)
        (tmp_path / "a").write_bytes(b"bytes")
        for create in (True, False):
            file = await disk.open("a", create=create)
            assert await file.read(0, await file.size()) == b"bytes"
            await file.close()
        assert await disk.names() == ("a",)
        with pytest.raises(FileNotFoundError):
            await disk.open("b", create=False)

    asyncio.run(story())
    assert lines == []


def test_a_disk_that_refuses_by_itself_is_traced_by_its_error(
    gate: TracingGate, lines: Lines, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(GatedDisk(FileDisk(tmp_path), gate).remove("none"))
    assert calls(lines) == [("remove", {"path": "none"}, "FileNotFoundError")]


async def append(disk: Disk) -> None:
    file = await disk.open("there")
    try:
        await file.append(b"!")
    finally:
        await file.close()


@each_trouble
@pytest.mark.parametrize(
    ("change", "done"),
    [
        (lambda disk: disk.open("new"), {"there": b"", "new": b""}),
        (append, {"there": b"!"}),
        (lambda disk: disk.rename("there", "new"), {"new": b""}),
        (lambda disk: disk.remove("there"), {}),
    ],
    ids=["create", "append", "rename", "remove"],
)
def test_a_disk_in_trouble_raises_an_error_with_a_number(
    tmp_path: Path,
    trouble: Trouble,
    change: Callable[[Disk], Awaitable[None]],
    done: dict[str, bytes],
) -> None:
    (tmp_path / "there").touch()

    async def story() -> None:
        await change(GatedDisk(FileDisk(tmp_path), Troubled(trouble)))

    with pytest.raises(OSError, match=r"space|Input/output") as failed:
        asyncio.run(story())
    assert failed.value.errno == (errno.ENOSPC if trouble is Trouble.FULL else errno.EIO)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == (done if trouble is Trouble.LOST else {"there": b""})


# --- the object store -----------------------------------------------------------------------------


def test_every_call_of_a_store_is_an_effect(gate: TracingGate, lines: Lines) -> None:
    async def story() -> None:
        store = GatedObjectStore(open_object_store("memory:"), gate)
        await store.put("k", b"four")
        with pytest.raises(AlreadyExists):
            await store.put("k", b"x", if_absent=True)
        assert await store.get("k") == b"four"
        assert await store.get_range("k", 1, 2) == b"ou"
        assert (await store.head("k")).size == 4
        assert len(await store.list("k")) == 1
        await store.delete(("k", "none"))
        with pytest.raises(ObjectNotFound):
            await store.get("k")
        await store.close()

    asyncio.run(story())
    assert {line.port for line in lines} == {"object_store"}
    assert calls(lines) == [
        ("put", {"key": "k", "bytes": 4}, "ok"),
        ("put_if_absent", {"key": "k", "bytes": 1}, "AlreadyExists"),
        ("get", {"key": "k"}, "ok"),
        ("get_range", {"key": "k", "start": 1, "count": 2}, "ok"),
        ("head", {"key": "k"}, "ok"),
        ("list", {"prefix": "k"}, "ok"),
        ("delete", {"keys": ["k", "none"]}, "ok"),
        ("get", {"key": "k"}, "ObjectNotFound"),
    ]


@each_trouble
@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.put("new", b""),
        lambda store: store.put("new", b"", if_absent=True),
        lambda store: store.get("there"),
        lambda store: store.get_range("there", 0, 1),
        lambda store: store.head("there"),
        lambda store: store.list(),
        lambda store: store.delete(["there"]),
    ],
    ids=["put", "put_if_absent", "get", "get_range", "head", "list", "delete"],
)
def test_a_store_in_trouble_is_unavailable(
    trouble: Trouble, call: Callable[[ObjectStore], Awaitable[object]]
) -> None:
    async def story() -> None:
        inner = open_object_store("memory:")
        await inner.put("there", b"bytes")
        with pytest.raises(StoreUnavailable, match=trouble.value):
            await call(GatedObjectStore(inner, Troubled(trouble)))

    asyncio.run(story())


@each_trouble
def test_only_a_lost_reply_has_put_the_object(trouble: Trouble) -> None:
    async def story() -> list[str]:
        inner = open_object_store("memory:")
        with pytest.raises(StoreUnavailable):
            await GatedObjectStore(inner, Troubled(trouble)).put("k", b"")
        return [found.key for found in await inner.list()]

    assert asyncio.run(story()) == (["k"] if trouble is Trouble.LOST else [])

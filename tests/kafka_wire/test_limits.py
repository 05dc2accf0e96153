"""What clients may cost: room for long frames, connections, and patience."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from wire_server import (
    HANDLERS,
    is_closed,
    metadata_frame,
    produce,
    produce_frame,
    read_frame,
    run,
    serving,
)

from reference_impl.kafka.apis import PRODUCE
from reference_impl.kafka.limits import CHUNK_BYTES, Limits, Room
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context

LONG = 4 * CHUNK_BYTES


def test_a_long_frame_is_read_whole_and_its_room_given_back() -> None:
    limits = Limits(room=Room(frame_bytes=LONG // 2))

    async def scenario() -> bytes:
        async with serving(limits=limits) as connect:
            connection = await connect()
            await connection.send(produce_frame(3, bytes(LONG)))
            answer = await read_frame(connection)
            await connection.send(metadata_frame(4))
            await read_frame(connection)
            return answer

    answer = run(scenario)

    assert answer[:4] == struct.pack(">i", 3)
    assert struct.pack(">q", LONG) in answer
    assert limits.room.used_bytes == 0


def test_an_announced_size_takes_no_room() -> None:
    limits = Limits(room=Room(frame_bytes=CHUNK_BYTES))

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            for _ in range(5):
                await (await connect()).send(struct.pack(">i", 100_000_000))
            busy = await connect()
            await busy.send(produce_frame(3, bytes(LONG)))
            await read_frame(busy)

    run(scenario)


def test_a_long_frame_waits_for_room_and_short_ones_do_not() -> None:
    limits = Limits(room=Room(frame_bytes=CHUNK_BYTES))

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            first, second, short = [await connect() for _ in range(3)]
            frame = produce_frame(1, bytes(LONG))
            await first.send(frame[: 2 * CHUNK_BYTES + 4])
            while limits.room.used_bytes < 2 * CHUNK_BYTES:
                await asyncio.sleep(0)
            sent = asyncio.create_task(second.send(produce_frame(2, bytes(LONG))))
            await short.send(metadata_frame(3))
            assert (await read_frame(short))[:4] == struct.pack(">i", 3)
            assert limits.room.used_bytes == 2 * CHUNK_BYTES  # the second reads nothing yet
            await first.send(frame[2 * CHUNK_BYTES + 4 :])
            assert (await read_frame(first))[:4] == struct.pack(">i", 1)
            assert (await read_frame(second))[:4] == struct.pack(">i", 2)
            await sent

    run(scenario)
    assert limits.room.used_bytes == 0


def test_a_long_frame_waits_for_requests_that_are_being_handled() -> None:
    limits = Limits(room=Room(frame_bytes=CHUNK_BYTES))
    handling: list[str] = []
    release = asyncio.Event()

    async def slow(context: Context, request: Any) -> Message | None:
        handling.append(context.client_id)
        await release.wait()
        return await produce(context, request)

    async def scenario() -> None:
        async with serving({**HANDLERS, PRODUCE: slow}, limits) as connect:
            first, second, short = [await connect() for _ in range(3)]
            await first.send(produce_frame(1, bytes(LONG)))
            while not handling:
                await asyncio.sleep(0)
            taken = limits.room.used_bytes
            sent = asyncio.create_task(second.send(produce_frame(2, bytes(LONG))))
            await short.send(metadata_frame(3))
            await read_frame(short)
            assert (len(handling), limits.room.used_bytes) == (1, taken)
            release.set()
            assert (await read_frame(first))[:4] == struct.pack(">i", 1)
            assert (await read_frame(second))[:4] == struct.pack(">i", 2)
            await sent

    run(scenario)
    assert limits.room.used_bytes == 0


def test_a_long_frame_that_stalls_is_closed_and_others_go_on() -> None:
    limits = Limits(stall_s=0.05, room=Room(frame_bytes=1))

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            stalled, other = await connect(), await connect()
            await stalled.send(produce_frame(1, bytes(LONG))[: CHUNK_BYTES + 4])
            while not limits.room.used_bytes:
                await asyncio.sleep(0)
            await other.send(produce_frame(2, bytes(LONG)))
            assert (await read_frame(other))[:4] == struct.pack(">i", 2)
            assert await is_closed(stalled)

    run(scenario)
    assert limits.room.used_bytes == 0


def test_an_idle_connection_is_closed() -> None:
    async def scenario() -> bool:
        async with serving(limits=Limits(idle_s=0.01)) as connect:
            return await is_closed(await connect())

    assert run(scenario)


def test_a_connection_too_many_is_closed_until_another_one_ends() -> None:
    limits = Limits(room=Room(connections=1))

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            first = await connect()
            await first.send(metadata_frame(1))
            await read_frame(first)
            assert await is_closed(await connect())
            await first.close()
            while limits.room.open_connections:
                await asyncio.sleep(0)
            later = await connect()
            await later.send(metadata_frame(2))
            assert (await read_frame(later))[:4] == struct.pack(">i", 2)

    run(scenario)

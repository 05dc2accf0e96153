"""What clients may cost: room for frames, connections, and patience."""

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

from reference_impl.kafka.apis import METADATA, PRODUCE
from reference_impl.kafka.limits import TINY_BYTES, Limits
from reference_impl.kafka.message import Message
from reference_impl.kafka.room import CHUNK_BYTES, PIECE_BYTES, Room
from reference_impl.kafka.server import Context

LONG = 4 * CHUNK_BYTES
NORMAL = 4 * PIECE_BYTES
AROUND_RECORDS = len(produce_frame(1, bytes(LONG))) - LONG - 4


def room_for_one_long_frame() -> Room:
    """Of which another one may have the first piece at the same time."""
    longest = LONG + AROUND_RECORDS
    return Room(max_frame_bytes=longest, long_bytes=longest + PIECE_BYTES)


def test_frames_of_all_lengths_are_read_whole_and_their_room_given_back() -> None:
    limits = Limits(room=room_for_one_long_frame())
    lengths = (0, TINY_BYTES, PIECE_BYTES - 100, PIECE_BYTES, NORMAL, CHUNK_BYTES, LONG)

    async def scenario() -> list[bytes]:
        async with serving(limits=limits) as connect:
            connection = await connect()
            answers = []
            for length in lengths:
                await connection.send(produce_frame(3, bytes(length)))
                answers.append(await read_frame(connection))
            await connection.send(metadata_frame(4))
            await read_frame(connection)
            return answers

    for length, answer in zip(lengths, run(scenario), strict=True):
        assert answer[:4] == struct.pack(">i", 3)
        assert struct.pack(">q", length) in answer
    assert limits.room.used_bytes == 0


def test_an_announced_size_takes_the_room_of_a_piece() -> None:
    limits = Limits(room=Room())

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            for _ in range(5):
                await (await connect()).send(struct.pack(">i", 100_000_000))
            while limits.room.used_bytes < 5 * PIECE_BYTES:
                await asyncio.sleep(0)
            busy = await connect()
            await busy.send(produce_frame(3, bytes(LONG)))
            await read_frame(busy)
            assert limits.room.used_bytes == 5 * PIECE_BYTES

    run(scenario)
    assert limits.room.used_bytes == 0


def test_a_long_frame_waits_for_room_and_normal_ones_do_not() -> None:
    limits = Limits(room=room_for_one_long_frame())

    async def scenario() -> None:
        async with serving(limits=limits) as connect:
            first, second, third, other = [await connect() for _ in range(4)]
            frame = produce_frame(1, bytes(LONG))
            await first.send(frame[: 4 + 2 * CHUNK_BYTES])
            while limits.room.used_bytes < 2 * CHUNK_BYTES:
                await asyncio.sleep(0)
            held = limits.room.used_bytes
            sent = [
                asyncio.create_task(one.send(produce_frame(2, bytes(LONG))))
                for one in (second, third)
            ]
            await other.send(metadata_frame(3) + produce_frame(4, bytes(NORMAL)))
            assert (await read_frame(other))[:4] == struct.pack(">i", 3)
            assert (await read_frame(other))[:4] == struct.pack(">i", 4)
            assert limits.room.used_bytes == held  # nothing of the others' is read yet
            await first.send(frame[4 + 2 * CHUNK_BYTES :])
            assert (await read_frame(first))[:4] == struct.pack(">i", 1)
            for one in (second, third):
                assert (await read_frame(one))[:4] == struct.pack(">i", 2)
            await asyncio.gather(*sent)

    run(scenario)
    assert limits.room.used_bytes == 0


def test_a_long_frame_waits_for_requests_that_are_being_handled() -> None:
    limits = Limits(room=room_for_one_long_frame())
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


def test_a_request_that_keeps_no_bytes_holds_none_while_it_is_handled() -> None:
    limits = Limits(room=room_for_one_long_frame())
    held: list[int] = []

    async def waiting(context: Context, request: Any) -> Message:
        held.append(limits.room.used_bytes)
        return METADATA.response(brokers=[])

    async def scenario() -> None:
        async with serving({METADATA: waiting}, limits) as connect:
            connection = await connect()
            body = metadata_frame(3)[4:] + bytes(LONG)  # what follows a message is ignored
            body = body[: LONG + AROUND_RECORDS]
            await connection.send(struct.pack(">i", len(body)) + body)
            await read_frame(connection)

    run(scenario)
    assert held == [0]


def test_a_long_frame_that_stalls_is_closed_and_others_go_on() -> None:
    limits = Limits(stall_s=0.5, room=room_for_one_long_frame())

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

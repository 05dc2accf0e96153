"""What every network promises to whoever uses its port, whatever carries the bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from echo_peer import echo
from hypothesis import given, settings
from hypothesis import strategies as st
from network_benches import NETWORKS, NetworkBench
from network_talk import (
    KIB,
    SILENCE_S,
    Flood,
    LateReader,
    connected,
    read_all,
    send_for_ever,
    silent,
)

from reference_impl.ports.network import Connection, EndOfStream

OpenBench = Callable[[], AbstractContextManager[NetworkBench]]


@pytest.fixture(scope="module", params=NETWORKS)
def open_bench(request: pytest.FixtureRequest) -> OpenBench:
    return request.param


@pytest.fixture
def bench(open_bench: OpenBench) -> Iterator[NetworkBench]:
    with open_bench() as opened:
        yield opened


# --- bytes ----------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    sent=st.lists(st.binary(max_size=200) | st.just(b"x" * 70_000), max_size=8),
    sizes=st.lists(st.integers(1, 100), min_size=1, max_size=5),
)
def test_bytes_arrive_in_the_order_in_which_they_were_sent(
    open_bench: OpenBench, sent: list[bytes], sizes: list[int]
) -> None:
    async def speak(connection: Connection) -> None:
        for data in sent:
            await connection.send(data)

    async def scenario() -> bytes:
        read = bytearray()
        async with connected(bench, await bench.listen(speak)) as connection:
            for size in sizes:
                if len(read) + size <= len(b"".join(sent)):
                    read += await connection.read_exactly(size)
            read += await read_all(connection)
        return bytes(read)

    with open_bench() as bench:
        assert bench.run(scenario) == b"".join(sent)


@pytest.mark.parametrize("size", [1, 100, 300_000])
def test_bytes_are_read_into_a_place_and_what_follows_stays(bench: NetworkBench, size: int) -> None:
    async def speak(connection: Connection) -> None:
        await connection.send(b"<" + b"x" * size + b">")

    async def scenario() -> tuple[bytearray, bytes]:
        place = bytearray(size + 2)
        async with connected(bench, await bench.listen(speak)) as connection:
            assert await connection.read_exactly(1) == b"<"
            await connection.read_into(memoryview(place)[1:-1])
            with pytest.raises(EndOfStream):
                await connection.read_into(memoryview(bytearray(2)))
            return place, await read_all(connection)

    place, rest = bench.run(scenario)
    assert place == b"\0" + b"x" * size + b"\0"
    assert rest in (b">", b"")  # what a read that failed has seen may be gone


def test_both_sides_may_speak_at_once(bench: NetworkBench) -> None:
    heard = []

    async def speak(connection: Connection) -> None:
        await connection.send(b"from the server")
        heard.append(await connection.read_exactly(15))

    async def scenario() -> None:
        async with connected(bench, await bench.listen(speak)) as connection:
            await connection.send(b"from the client")
            heard.append(await connection.read_exactly(15))
            assert await read_all(connection) == b""

    bench.run(scenario)
    assert sorted(heard) == [b"from the client", b"from the server"]


def test_reading_some_waits_for_one_byte_and_gives_at_most_so_many(bench: NetworkBench) -> None:
    async def scenario() -> list[bytes]:
        async with connected(bench, await bench.listen(echo)) as connection:
            waiting = asyncio.create_task(connection.read_some(3))
            await connection.send(b"abcdefgh")
            pieces = [await waiting]
            while sum(map(len, pieces)) < 8:
                pieces.append(await connection.read_some(3))
            return pieces

    pieces = bench.run(scenario)
    assert b"".join(pieces) == b"abcdefgh"
    assert all(1 <= len(piece) <= 3 for piece in pieces)


@pytest.mark.parametrize("most", [0, -1])
def test_reading_nothing_is_a_mistake(bench: NetworkBench, most: int) -> None:
    async def scenario() -> None:
        async with connected(bench, await bench.listen(echo)) as connection:
            await connection.read_some(most)

    with pytest.raises(ValueError, match=str(most)):
        bench.run(scenario)


def test_a_read_that_was_given_up_loses_no_byte(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        async with connected(bench, await bench.listen(echo)) as connection:
            await connection.send(b"one")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(SILENCE_S):
                    await connection.read_exactly(6)
            await connection.send(b"two")
            return await connection.read_exactly(6)

    assert bench.run(scenario) == b"onetwo"


# --- the end --------------------------------------------------------------------------------------


def test_a_peer_that_closes_is_seen_after_its_last_byte(bench: NetworkBench) -> None:
    async def speak(connection: Connection) -> None:
        await connection.send(b"x" * 300 * KIB)
        await connection.close()

    async def scenario() -> int:
        async with connected(bench, await bench.listen(speak)) as connection:
            read = await connection.read_exactly(300 * KIB)
            for _ in range(2):  # and stays seen
                with pytest.raises(EndOfStream):
                    await connection.read_exactly(1)
                with pytest.raises(EndOfStream):
                    await connection.read_some(1)
            return len(read)

    assert bench.run(scenario) == 300 * KIB


def test_a_peer_that_closes_in_the_middle_of_a_message_is_the_end(bench: NetworkBench) -> None:
    async def speak(connection: Connection) -> None:
        await connection.send(b"half")

    async def scenario() -> None:
        async with connected(bench, await bench.listen(speak)) as connection:
            with pytest.raises(EndOfStream):
                await connection.read_exactly(8)

    bench.run(scenario)


def test_a_connection_is_closed_after_its_handler(bench: NetworkBench) -> None:
    async def handle(connection: Connection) -> None:
        await connection.send(b"bye")

    async def scenario() -> bytes:
        async with connected(bench, await bench.listen(handle)) as connection:
            return await read_all(connection)

    assert bench.run(scenario) == b"bye"


def test_closing_sends_what_is_left(bench: NetworkBench) -> None:
    async def scenario() -> tuple[int, bytes]:
        reader = LateReader()
        async with connected(bench, await bench.listen(reader)) as connection:
            flood = Flood(connection)
            sent = await flood.held_back()
            closing = asyncio.create_task(connection.close())
            reader.go.set()
            await closing
            await asyncio.gather(flood.sending, return_exceptions=True)
            return sent, await reader.result

    sent, got = bench.run(scenario)
    assert len(got) >= sent * 64 * KIB
    assert b"".join(Flood.chunks).startswith(got)


def test_an_abort_is_seen_as_a_reset(bench: NetworkBench) -> None:
    async def handle(connection: Connection) -> None:
        await connection.read_exactly(1)
        connection.abort()

    async def scenario() -> BaseException:
        async with connected(bench, await bench.listen(handle)) as connection:
            await connection.send(b"!")
            with pytest.raises(ConnectionError) as seen:
                await connection.read_exactly(1)
            return seen.value

    assert not isinstance(bench.run(scenario), EndOfStream)


def test_who_keeps_sending_to_a_peer_that_is_gone_is_told(bench: NetworkBench) -> None:
    async def handle(connection: Connection) -> None:
        connection.abort()

    async def scenario() -> None:
        async with connected(bench, await bench.listen(handle)) as connection:
            with pytest.raises(ConnectionError):
                await send_for_ever(connection)

    bench.run(scenario)


def test_a_connection_closed_on_this_side_is_of_no_use(bench: NetworkBench) -> None:
    async def scenario() -> None:
        async with connected(bench, await bench.listen(echo)) as connection:
            await connection.close()
            with pytest.raises(ConnectionError):
                await connection.send(b"x")
            with pytest.raises(ConnectionError):
                await connection.read_some(1)

    bench.run(scenario)


def test_ending_a_connection_again_is_harmless(bench: NetworkBench) -> None:
    async def scenario() -> None:
        listener = await bench.listen(echo)
        async with connected(bench, listener) as connection:
            await connection.close()
            await connection.close()
            connection.abort()
            await connection.close()
        async with connected(bench, listener) as connection:
            connection.abort()
            connection.abort()
            await connection.close()

    bench.run(scenario)


def test_a_close_that_is_given_up_breaks_the_connection(bench: NetworkBench) -> None:
    async def scenario() -> None:
        reader = LateReader()
        async with connected(bench, await bench.listen(reader)) as connection:
            flood = Flood(connection)
            await flood.held_back()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.close(), SILENCE_S)
            reader.go.set()
            await asyncio.gather(flood.sending, return_exceptions=True)
            with pytest.raises(ConnectionError):
                await reader.result

    bench.run(scenario)


# --- listening ------------------------------------------------------------------------------------


def test_connecting_where_nobody_listens_is_refused(bench: NetworkBench) -> None:
    async def scenario() -> None:
        with pytest.raises(ConnectionError):
            await bench.client.connect(bench.nowhere)

    bench.run(scenario)


def test_each_listener_says_where_it_really_listens(bench: NetworkBench) -> None:
    async def scenario() -> list[int]:
        listeners = [await bench.listen(echo) for _ in range(2)]
        for listener in listeners:
            async with connected(bench, listener):
                pass
        return [listener.address.port for listener in listeners]

    ports = bench.run(scenario)
    assert 0 not in ports
    assert ports[0] != ports[1]


def test_a_closed_listener_accepts_no_more_and_keeps_what_is_open(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        listener = await bench.listen(echo)
        async with connected(bench, listener) as connection:
            await connection.send(b"1")
            await connection.read_exactly(1)
            await listener.close()
            with pytest.raises(ConnectionError):
                await bench.client.connect(listener.address)
            await connection.send(b"still here")
            return await connection.read_exactly(10)

    assert bench.run(scenario) == b"still here"


def test_connections_are_handled_side_by_side(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        listener = await bench.listen(echo)
        async with connected(bench, listener) as idle, connected(bench, listener) as busy:
            await busy.send(b"served")
            served = await busy.read_exactly(6)
            assert await silent(idle)
            return served

    assert bench.run(scenario) == b"served"


def test_a_handler_that_loses_its_peer_is_nobodys_trouble(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        listener = await bench.listen(echo)
        async with connected(bench, listener) as first:
            await first.send(b"x" * 64 * KIB)
            first.abort()
        async with connected(bench, listener) as second:
            await second.send(b"next")
            return await second.read_exactly(4)

    assert bench.run(scenario) == b"next"


def test_a_handler_that_fails_is_heard_of_and_its_peer_sees_a_reset(bench: NetworkBench) -> None:
    seen: list[BaseException] = []

    async def fail(connection: Connection) -> None:
        await connection.read_exactly(1)
        raise ZeroDivisionError

    async def scenario() -> None:
        async with connected(bench, await bench.listen(fail)) as connection:
            await connection.send(b"x")
            try:
                await connection.read_exactly(1)
            except ConnectionError as error:
                seen.append(error)

    with pytest.raises(Exception) as heard:  # noqa: PT011 - each world wraps it in its own way
        bench.run(scenario)
    assert isinstance(heard.value.__cause__, ZeroDivisionError)
    assert [isinstance(error, EndOfStream) for error in seen] == [False]

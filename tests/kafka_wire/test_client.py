"""Peers: one connection, one request at a time, and a clean start after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from wire_server import HANDLERS, LOOPBACK, run

from reference_impl.kafka.apis import METADATA
from reference_impl.kafka.client import Peer
from reference_impl.kafka.frames import response_frame
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context, serve
from reference_impl.live.network import StreamNetwork
from reference_impl.ports.network import Address, Connection, Handler

ASKED = METADATA.request(topics=[])


@asynccontextmanager
async def peer_of(handler: Handler) -> AsyncIterator[Peer]:
    network = StreamNetwork()
    listener = await network.listen(LOOPBACK, handler)
    peer = Peer(network, listener.address, "broker-1")
    try:
        yield peer
    finally:
        await peer.close()
        await listener.close()


async def server(connection: Connection) -> None:
    await serve(connection, HANDLERS, limits=Limits())


@pytest.mark.parametrize("version", METADATA.versions)
def test_an_answer_comes_back(version: int) -> None:
    async def scenario() -> Message:
        async with peer_of(server) as peer:
            await peer.ask(METADATA, version, ASKED, timeout_s=10)
            return await peer.ask(METADATA, version, ASKED, timeout_s=10)

    assert run(scenario).brokers[0].host == "broker-1"


def test_requests_take_turns_on_one_connection() -> None:
    connections: list[Connection] = []
    under_way: list[int] = []

    async def one_at_a_time(context: Context, request: Any) -> Message:
        under_way.append(1)
        assert len(under_way) == 1
        await asyncio.sleep(0)
        under_way.pop()
        return METADATA.response()

    async def count(connection: Connection) -> None:
        connections.append(connection)
        await serve(connection, {METADATA: one_at_a_time}, limits=Limits())

    async def scenario() -> None:
        async with peer_of(count) as peer:
            asks = [peer.ask(METADATA, 9, ASKED, timeout_s=10) for _ in range(10)]
            assert len(await asyncio.gather(*asks)) == 10

    run(scenario)
    assert len(connections) == 1


def test_no_connection_is_made_before_it_is_needed() -> None:
    peer = Peer(StreamNetwork(), Address("127.0.0.1", 1), "broker-1")

    async def scenario() -> None:
        with pytest.raises(ConnectionError):
            await peer.ask(METADATA, 9, ASKED, timeout_s=10)
        await peer.close()

    run(scenario)


def test_a_late_answer_breaks_the_connection_and_the_next_request_makes_a_new_one() -> None:
    silent = [True]

    async def silent_once(connection: Connection) -> None:
        if silent.pop():
            silent.append(False)
            await connection.read_some(1 << 20)
            await connection.read_some(1)  # until the other side gives up
        silent.append(False)
        await server(connection)

    async def scenario() -> Message:
        async with peer_of(silent_once) as peer:
            with pytest.raises(ConnectionError, match="did not answer Metadata"):
                await peer.ask(METADATA, 9, ASKED, timeout_s=0.05)
            return await peer.ask(METADATA, 9, ASKED, timeout_s=10)

    assert run(scenario).brokers[0].node_id == 1


def test_waiting_for_others_too_long_leaves_their_request_alone() -> None:
    release = asyncio.Event()

    async def wait(context: Context, request: Any) -> Message:
        await release.wait()
        return METADATA.response()

    async def slow(connection: Connection) -> None:
        await serve(connection, {METADATA: wait}, limits=Limits())

    async def scenario() -> None:
        async with peer_of(slow) as peer:
            first = asyncio.create_task(peer.ask(METADATA, 9, ASKED, timeout_s=10))
            await asyncio.sleep(0)
            with pytest.raises(ConnectionError, match="did not answer"):
                await peer.ask(METADATA, 9, ASKED, timeout_s=0.01)
            release.set()
            await first

    run(scenario)


def test_a_request_given_up_breaks_the_connection() -> None:
    asked = asyncio.Event()

    async def never(context: Context, request: Any) -> Message | None:
        asked.set()
        return None

    async def silent(connection: Connection) -> None:
        await serve(connection, {METADATA: never}, limits=Limits())

    async def scenario() -> None:
        async with peer_of(silent) as peer:
            task = asyncio.create_task(peer.ask(METADATA, 9, ASKED, timeout_s=10))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert peer._connection is None

    run(scenario)


ANSWERS = {
    "another request's answer": response_frame(METADATA, 9, 99, METADATA.response()),
    "no header": b"\0\0\0\x02\0\0",
    "garbage": b"\0\0\0\x07\0\0\0\x01\0\xff\xff",
    "a negative size": b"\xff\xff\xff\xff",
    "the end": b"",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_wrong_answer_is_a_connection_error(answer: bytes) -> None:
    async def wrong(connection: Connection) -> None:
        await connection.read_some(1 << 20)
        await connection.send(answer)

    async def scenario() -> None:
        async with peer_of(wrong) as peer:
            with pytest.raises(ConnectionError):
                await peer.ask(METADATA, 9, ASKED, timeout_s=10)

    run(scenario)

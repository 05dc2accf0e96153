"""What every network promises when peers are slow, silent or dead, and links are cut."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator

import pytest
from echo_peer import echo
from network_benches import NETWORKS, PEERS, NetworkBench, PeerBench
from network_talk import SILENCE_S, Flood, LateReader, ask, connected, read_until_silent, silent

from reference_impl.ports.network import Connection


@pytest.fixture(params=NETWORKS)
def bench(request: pytest.FixtureRequest) -> Iterator[NetworkBench]:
    with request.param() as opened:
        yield opened


@pytest.fixture(params=PEERS)
def peer_bench(request: pytest.FixtureRequest) -> Iterator[PeerBench]:
    with request.param() as opened:
        yield opened


# --- peers ----------------------------------------------------------------------------------------


def test_a_slow_peer_holds_the_sender_back(bench: NetworkBench) -> None:
    async def scenario() -> tuple[int, str]:
        reader = LateReader()
        async with connected(bench, await bench.listen(reader)) as connection:
            flood = Flood(connection)
            sent = await flood.held_back()
            reader.go.set()
            await flood.sending
            await connection.close()
            return sent, hashlib.sha256(await reader.result).hexdigest()

    sent, digest = bench.run(scenario)
    assert sent < len(Flood.chunks)
    assert digest == hashlib.sha256(b"".join(Flood.chunks)).hexdigest()


def test_a_frozen_peer_is_silent_and_then_goes_on(peer_bench: PeerBench) -> None:
    async def scenario() -> bytes:
        async with connected(peer_bench, await peer_bench.start_echo()) as connection:
            await connection.send(b"one")
            assert await connection.read_exactly(3) == b"one"
            peer_bench.freeze()
            await connection.send(b"two")
            assert await silent(connection)
            peer_bench.thaw()
            return await connection.read_exactly(3)

    assert peer_bench.run(scenario) == b"two"


def test_a_peer_that_dies_is_an_error_or_silence(peer_bench: PeerBench) -> None:
    async def scenario() -> None:
        async with connected(peer_bench, await peer_bench.start_echo()) as connection:
            await connection.send(b"one")
            assert await connection.read_exactly(3) == b"one"
            peer_bench.kill()
            with pytest.raises((ConnectionError, TimeoutError)):
                await ask(connection, b"two")

    peer_bench.run(scenario)


# --- links that are cut ---------------------------------------------------------------------------


def test_what_a_cut_link_keeps_arrives_once_it_heals(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        address = await bench.by_link(await bench.listen(echo))
        async with connected(bench, address) as connection:
            for number in range(100):
                await connection.send(b"%04d" % number)
                if number == 30:
                    bench.cut()
            before = await read_until_silent(connection)
            assert len(before) < 400
            bench.heal()
            return before + await connection.read_exactly(400 - len(before))

    assert bench.run(scenario) == b"".join(b"%04d" % number for number in range(100))


def test_no_byte_comes_after_the_last_one_of_a_healed_link(bench: NetworkBench) -> None:
    async def scenario() -> bool:
        address = await bench.by_link(await bench.listen(echo))
        async with connected(bench, address) as connection:
            bench.cut()
            await connection.send(b"once")
            assert await silent(connection)
            bench.heal()
            assert await connection.read_exactly(4) == b"once"
            return await silent(connection)

    assert bench.run(scenario)


def test_a_link_cut_towards_the_client_keeps_only_the_replies(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        heard = asyncio.get_running_loop().create_future()

        async def answer(connection: Connection) -> None:
            heard.set_result(await connection.read_exactly(3))
            await connection.send(b"yes")

        address = await bench.by_link(await bench.listen(answer))
        async with connected(bench, address) as connection:
            bench.cut(to_server=False)
            await connection.send(b"ask")
            assert await heard == b"ask"
            assert await silent(connection)
            bench.heal()
            return await connection.read_exactly(3)

    assert bench.run(scenario) == b"yes"


def test_a_link_cut_towards_the_server_keeps_only_the_requests(bench: NetworkBench) -> None:
    async def scenario() -> bytes:
        heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        go = asyncio.Event()

        async def speak_first(connection: Connection) -> None:
            await go.wait()
            await connection.send(b"news")
            heard.set_result(await connection.read_exactly(3))

        address = await bench.by_link(await bench.listen(speak_first))
        async with connected(bench, address) as connection:
            bench.cut(to_client=False)
            await connection.send(b"ask")
            go.set()
            assert await connection.read_exactly(4) == b"news"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(heard), SILENCE_S)
            bench.heal()
            return await heard

    assert bench.run(scenario) == b"ask"

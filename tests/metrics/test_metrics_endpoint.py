"""The page of a node, and everything else that may be asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from harness.simulation.simulation import Simulation
from reference_impl.metrics import names
from reference_impl.metrics.endpoint import (
    HEAD_BYTES,
    MOST_CONNECTIONS,
    PATIENCE_S,
    MetricsEndpoint,
    MetricsSettings,
)
from reference_impl.metrics.registry import Registry
from reference_impl.ports import Address, Connection, EndOfStream, Ports

AT = Address("n1", 9404)
Result = TypeVar("Result")
GET = b"GET /metrics HTTP/1.1\r\nHost: n1\r\n\r\n"


async def node(ports: Ports) -> None:
    registry = Registry()
    registry.gauge(names.LEADER_COUNT, lambda: 7)
    async with MetricsEndpoint.opened(registry, ports.network, MetricsSettings(listen=AT)):
        await asyncio.Event().wait()


def with_node(scenario: Callable[[Simulation], Coroutine[Any, Any, Result]]) -> Result:
    with Simulation(seed=3) as sim:
        sim.add("n1", node)
        sim.advance(1)
        return sim.run(scenario(sim))


async def answer(connection: Connection) -> str:
    """All that comes until it is closed."""
    found = b""
    try:
        while True:
            found += await connection.read_some(1 << 16)
    except EndOfStream:
        return found.decode()
    finally:
        connection.abort()


def asked(*pieces: bytes) -> str:
    """The answer to a request that is sent in these pieces."""

    async def ask(sim: Simulation) -> str:
        connection = await sim.lab.connect(AT)
        for piece in pieces:
            await connection.send(piece)
            await asyncio.sleep(0.1)
        return await answer(connection)

    return with_node(ask)


def test_the_page_is_answered_with_its_length_and_type() -> None:
    head, _, page = asked(GET).partition("\r\n\r\n")

    assert head.split("\r\n") == [
        "HTTP/1.1 200 OK",
        "Content-Type: text/plain; version=0.0.4; charset=utf-8",
        f"Content-Length: {len(page)}",
        "Connection: close",
    ]
    assert page.endswith("kafka_server_replicamanager_leadercount 7\n")


def test_a_request_may_come_in_pieces() -> None:
    assert asked(GET[:7], GET[7:20], GET[20:]).startswith("HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"GET /metrics/more HTTP/1.0\r\n\r\n", 404),
        (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
        (b"GET /metrics HTTP/2\r\n\r\n", 400),
        (b"GET /metrics\r\n\r\n", 400),
        (b"\x00\x00\x00\x10\xff\xfe\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES, 431),
    ],
)
def test_what_is_no_request_for_the_page_is_told_so(request_: bytes, status: int) -> None:
    assert asked(request_).startswith(f"HTTP/1.1 {status} ")


def test_a_query_does_not_matter() -> None:
    assert asked(b"GET /metrics?name[]=x HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 200 ")


def test_who_does_not_end_its_request_is_closed_after_a_while() -> None:
    async def slow(sim: Simulation) -> float:
        connection = await sim.lab.connect(AT)
        began = sim.now_ns
        await connection.send(GET[:-2])
        with pytest.raises(ConnectionError):
            await connection.read_some(1)
        connection.abort()
        return (sim.now_ns - began) / 1e9

    assert with_node(slow) == pytest.approx(PATIENCE_S, abs=0.5)


def test_one_too_many_at_a_time_is_sent_away_and_the_next_is_not() -> None:
    async def crowd(sim: Simulation) -> list[str]:
        waiting = [await sim.lab.connect(AT) for _ in range(MOST_CONNECTIONS)]
        await asyncio.sleep(0.1)
        refused = await answer(await sim.lab.connect(AT))
        for one in waiting:
            one.abort()
        await asyncio.sleep(0.1)
        connection = await sim.lab.connect(AT)
        await connection.send(GET)
        return [refused[:12], (await answer(connection))[:12]]

    assert with_node(crowd) == ["HTTP/1.1 503", "HTTP/1.1 200"]

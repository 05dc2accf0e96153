"""The page of a node's metrics, over HTTP/1.1: ``GET /metrics``, one request a connection.

| a request | is answered |
|---|---|
| ``GET /metrics`` | 200, the page |
| with another path | 404 |
| with another method | 405 |
| that is no HTTP/1 request | 400 |
| whose head is longer than 8 KiB | 431 |
| whose head has not ended, or whose answer nobody has taken, within 5 s | not at all: closed |
| while 16 others are being answered | 503 |
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from reference_impl.metrics.registry import Registry
from reference_impl.ports.network import Address, Connection, Network

HEAD_BYTES: Final = 8 * 1024
PATIENCE_S: Final = 5.0
MOST_CONNECTIONS: Final = 16
PATH: Final = "/metrics"

_END: Final = b"\r\n\r\n"
_REQUEST: Final = re.compile(rb"([!-~]+) ([!-~]+) HTTP/1\.[01]\r\n")
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Where a node's page is served, if at all; ``announce`` is told the real address."""

    listen: Address | None = None
    announce: Callable[[Address], None] | None = None


class MetricsEndpoint:
    """Serves the page of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._open = 0

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(
        cls, registry: Registry, network: Network, settings: MetricsSettings
    ) -> AsyncIterator[None]:
        """Serve as the settings say for as long as the node lives."""
        if settings.listen is None:
            yield
            return
        listener = await network.listen(settings.listen, cls(registry).serve)
        if settings.announce is not None:
            settings.announce(listener.address)
        try:
            yield
        finally:
            await listener.close()

    async def serve(self, connection: Connection) -> None:
        """Answer one request and be done."""
        self._open += 1
        try:
            async with asyncio.timeout(PATIENCE_S):
                if self._open > MOST_CONNECTIONS:
                    await connection.send(_response(503))
                    return
                head = await _head(connection)
                await connection.send(self._answer(head))
        except TimeoutError:
            connection.abort()  # closing would wait for the same peer
        finally:
            self._open -= 1

    def _answer(self, head: bytes | None) -> bytes:
        if head is None:
            return _response(431)
        asked = _REQUEST.match(head)
        if asked is None:
            return _response(400)
        method, target = asked[1].decode("ascii"), asked[2].decode("ascii")
        if target.partition("?")[0] != PATH:
            return _response(404)
        if method != "GET":
            return _response(405, "Allow: GET\r\n")
        return _response(200, page=self._registry.page())


async def _head(connection: Connection) -> bytes | None:
    """A request up to its empty line; None if it is too long."""
    head = b""
    while _END not in head:
        if len(head) >= HEAD_BYTES:
            return None
        head += await connection.read_some(HEAD_BYTES - len(head))
    return head


def _response(status: int, fields: str = "", page: str = "") -> bytes:
    body = page.encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n{fields}Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body

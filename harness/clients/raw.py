"""A client that sends one request and gets one answer, by kio, over any Network.

It hides nothing: no retries, no metadata of its own, no batching. It uses another codec than the
reference does, so that a mistake in one of them cannot cancel out.
"""

from __future__ import annotations

import asyncio
import io
import struct
from typing import Any

from kio.index import load_response_schema
from kio.serial import entity_writer

from harness.clients.answers import answer_size, read_answer
from reference_impl.ports import Address, Connection, Network


class RawClient:
    """One connection to one broker, made when it is needed."""

    def __init__(self, network: Network, address: Address, client_id: str = "tidemark") -> None:
        self.address = address
        self._network = network
        self._client_id = client_id
        self._connection: Connection | None = None
        self._correlation_id = 0

    async def ask(self, request: Any, *, timeout_s: float) -> Any:
        """The answer; a ConnectionError or TimeoutError leaves open whether it was carried out.

        An ``UnreadableAnswer`` is one of them.
        """
        try:
            async with asyncio.timeout(timeout_s):
                return await self._ask(request)
        except BaseException:
            self.abort()
            raise

    async def tell(self, request: Any, *, timeout_s: float) -> None:
        """Send a request that is not answered."""
        async with asyncio.timeout(timeout_s):
            await (await self._connected()).send(self._frame(request))

    async def connect(self) -> None:
        """Connect now, and not with the first request."""
        await self._connected()

    def abort(self) -> None:
        """Break the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()

    async def _ask(self, request: Any) -> Any:
        connection = await self._connected()
        await connection.send(self._frame(request))
        data = await connection.read_exactly(answer_size(await connection.read_exactly(4)))
        schema = load_response_schema(request.__api_key__, request.__version__)
        return read_answer(schema, data, self._correlation_id)

    async def _connected(self) -> Connection:
        if self._connection is None:
            try:
                self._connection = await self._network.connect(self.address)
            except (ValueError, OverflowError) as problem:  # a system may name any host and port
                raise ConnectionError(f"{self.address} is no address: {problem}") from None
        return self._connection

    def _frame(self, request: Any) -> bytes:
        self._correlation_id += 1
        kind = request.__header_schema__
        said: dict[str, Any] = {
            "request_api_key": request.__api_key__,
            "request_api_version": request.__version__,
            "correlation_id": self._correlation_id,
            "client_id": self._client_id,
        }
        buffer = io.BytesIO()
        entity_writer(kind)(buffer, kind(**said))
        entity_writer(type(request))(buffer, request)
        data = buffer.getvalue()
        return struct.pack(">i", len(data)) + data

"""A client that sends one request and gets one answer, by kio, over any Network.

It hides nothing: no retries, no metadata of its own, no batching. A broker that is known not to
offer a request in its version is asked in an older one (`versions`). It uses another codec than the
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
from harness.clients.versions import OfferedAddress, OlderAnswer, spoken, spoken_version
from reference_impl.ports import Address, Connection, Network


class RawClient:
    """One connection to one broker, made when it is needed."""

    def __init__(self, network: Network, address: Address, client_id: str = "tidemark") -> None:
        self.address = address
        self._network = network
        self._client_id = client_id
        self._connection: Connection | None = None
        self._correlation_id = 0

    async def ask(self, request: Any, *, timeout_s: float, schema: Any = None) -> Any:
        """The answer; a ConnectionError or TimeoutError leaves open whether it was carried out.

        An ``UnreadableAnswer`` is one of them. It is read by kio's schema unless one is given.
        """
        try:
            async with asyncio.timeout(timeout_s):
                return await self._ask(request, schema)
        except BaseException:
            self.abort()
            raise

    async def tell(self, request: Any, *, timeout_s: float) -> None:
        """Send a request that is not answered."""
        async with asyncio.timeout(timeout_s):
            asked = self._spoken(request)
            await (await self._connected()).send(self._frame(asked))

    async def connect(self) -> None:
        """Connect now, and not with the first request."""
        await self._connected()

    def offers(self, api: str, version: int) -> bool:
        """Whether the broker can be asked that, as far as it is known what it offers."""
        if not isinstance(self.address, OfferedAddress):
            return True
        return spoken_version(api, version, self.address.offered) is not None

    def abort(self) -> None:
        """Break the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()

    async def _ask(self, request: Any, schema: Any) -> Any:
        known = schema or load_response_schema(request.__api_key__, request.__version__)
        asked = self._spoken(request)
        connection = await self._connected()
        await connection.send(self._frame(asked))
        data = await connection.read_exactly(answer_size(await connection.read_exactly(4)))
        if asked.__version__ == request.__version__:
            return read_answer(known, data, self._correlation_id)
        older = load_response_schema(asked.__api_key__, asked.__version__)
        return OlderAnswer(read_answer(older, data, self._correlation_id), known)

    def _spoken(self, request: Any) -> Any:
        """In the version that both sides speak, where it is known what the broker offers."""
        if isinstance(self.address, OfferedAddress):
            return spoken(request, self.address.offered)
        return request

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

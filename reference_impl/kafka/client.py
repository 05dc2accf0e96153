"""Asking: how nodes of a cluster talk to each other.

A ``Peer`` has one connection, made when it is needed, and one request on it at a time; others wait
for their turn. Whatever goes wrong breaks the connection, because nobody knows then which answer
would come next, and is a ``ConnectionError``: the request may have been carried out or not. The
next request makes a new connection.
"""

from __future__ import annotations

import asyncio

from reference_impl.kafka.apis import Answered, Api, Asked
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.frames import read_response, request_frame
from reference_impl.ports.network import Address, Connection, Network


class Peer:
    """Somebody who answers requests at an address."""

    def __init__(self, network: Network, address: Address, client_id: str) -> None:
        self.address = address
        self._network = network
        self._client_id = client_id
        self._connection: Connection | None = None
        self._correlation_id = 0
        self._turn = asyncio.Lock()

    async def ask(
        self, api: Api[Asked, Answered], version: int, message: Asked, *, timeout_s: float
    ) -> Answered:
        """The answer; a ConnectionError if there is none in time, waiting for others included.

        A message that cannot be written is a WireError.
        """
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                return await self._ask(api, version, message)
        except TimeoutError:
            late = f"{self.address} did not answer {api.name} within {timeout_s} s"
            raise ConnectionError(late) from None

    async def _ask(self, api: Api[Asked, Answered], version: int, message: Asked) -> Answered:
        self._correlation_id = number = (self._correlation_id + 1) & 0x7FFFFFFF
        frame = request_frame(api, version, number, self._client_id, message)
        try:
            if self._connection is None:
                self._connection = await self._network.connect(self.address)
            await self._connection.send(frame)
            return await read_response(self._connection, api, version, number)
        except BaseException as error:
            self.abort()
            if isinstance(error, WireError):
                raise ConnectionError(f"{self.address} answered {api.name}: {error}") from error
            raise

    def abort(self) -> None:
        """Break the connection, if there is one; who waits for an answer gets a ConnectionError."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()

    async def close(self) -> None:
        """Close the connection, if there is one, after the request that is under way."""
        async with self._turn:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()

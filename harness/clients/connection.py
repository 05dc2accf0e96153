"""One connection to a broker, for requests as raw as wanted, over any Network.

A broker's answer may also be that it closes the connection, or (acks 0) nothing at all. Both are
answers here, not errors. Only a broker that stays silent where it must speak is one: `Silence`.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from typing import Any

from harness.clients.answers import NOT_READABLE, UnreadableAnswer, answer_size
from harness.clients.messages import (
    API_KEYS,
    build,
    decode,
    encode,
    known_versions,
    plain,
    request_schema,
    response_schema,
)
from reference_impl.ports import Address, Network
from reference_impl.ports import Connection as Wire

CLOSED: Mapping[str, Any] = {"connection": "closed"}
"""The answer of a broker that hangs up."""

NO_ANSWER: Mapping[str, Any] = {"connection": "open, no answer"}
"""The answer to a produce request with acks 0 that was taken."""

PATIENCE_S = 40.0
_SIZE = struct.Struct(">i")


class Silence(TimeoutError):
    """A broker neither answered nor hung up."""


class Connection:
    """A connection, and the correlation ids on it."""

    def __init__(self, wire: Wire, *, timeout_s: float = PATIENCE_S) -> None:
        self.timeout_s = timeout_s
        self.closed = False
        self._wire = wire
        self._correlation_id = 0

    def abort(self) -> None:
        """Break it."""
        self._wire.abort()
        self.closed = True

    async def ask(self, api: str, version: int, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one request and return its answer as plain data."""
        if version not in known_versions(api):
            return await self.ask_raw(api, version, b"")
        body = encode(build(request_schema(api, version), fields))
        if api == "produce" and fields.get("acks") == 0:
            return await self._tell(api, version, body)
        return await self.ask_raw(api, version, body)

    async def ask_raw(self, api: str, version: int, body: bytes) -> Mapping[str, Any]:
        """The same with a body of any bytes."""
        self._correlation_id += 1
        return await self.ask_frame(api, version, self._header(api, version) + body)

    async def ask_frame(self, api: str, version: int, frame: bytes) -> Mapping[str, Any]:
        """The same with a frame of any bytes, its header among them."""
        self._correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        try:
            answer = await self._exchange(frame)
        except UnreadableAnswer as problem:
            self.abort()
            return {"undecodable": "", "because": str(problem)}
        if answer is None:
            return CLOSED
        try:
            return self._decode(api, version, answer)
        except (*NOT_READABLE, KeyError) as problem:
            return {"undecodable": answer.hex(), "because": type(problem).__name__}

    async def _tell(self, api: str, version: int, body: bytes) -> Mapping[str, Any]:
        """A request without an answer; the next one shows whether the broker still listens."""
        self._correlation_id += 1
        sent = await self._send(self._header(api, version) + body)
        alive = sent and "connection" not in await self.ask("api_versions", 0, {})
        return NO_ANSWER if alive else CLOSED

    def _header(self, api: str, version: int) -> bytes:
        versions = known_versions(api)
        like = min(max(version, versions.start), versions.stop - 1)
        schema = request_schema(api, like).__header_schema__
        said = {
            "request_api_key": API_KEYS[api],
            "request_api_version": version,
            "correlation_id": self._correlation_id,
            "client_id": "tidemark",
        }
        return encode(build(schema, said))

    def _decode(self, api: str, version: int, data: bytes) -> Mapping[str, Any]:
        if version not in known_versions(api):
            version = 0 if api == "api_versions" else max(known_versions(api))
        schema = response_schema(api, version)
        if api == "api_versions" and data[4:6] == b"\x00\x23":
            schema = response_schema(api, 0)  # too new for this broker: it answers in version 0
        header, at = decode(schema.__header_schema__, data, 0)
        message, at = decode(schema, data, at)
        answer = plain(message)
        if header.correlation_id != self._correlation_id:
            answer["wrong_correlation_id"] = header.correlation_id - self._correlation_id
        if at != len(data):
            answer["bytes_behind_the_answer"] = len(data) - at
        return answer

    async def _exchange(self, payload: bytes) -> bytes | None:
        """The frame that answers this one, or None if the broker hangs up instead."""
        try:
            async with asyncio.timeout(self.timeout_s):
                if not await self._send(payload):
                    return None
                size = answer_size(await self._wire.read_exactly(_SIZE.size))
                return await self._wire.read_exactly(size)
        except UnreadableAnswer:
            raise
        except ConnectionError:
            self.abort()
            return None
        except TimeoutError:
            raise Silence(f"no answer within {self.timeout_s:g} s") from None

    async def _send(self, payload: bytes) -> bool:
        """One frame; false if the broker has hung up."""
        try:
            await self._wire.send(_SIZE.pack(len(payload)) + payload)
        except ConnectionError:
            self.abort()
            return False
        return True


async def connected(
    network: Network, address: Address, *, timeout_s: float = PATIENCE_S
) -> Connection:
    """A connection to a broker; a ConnectionError or `Silence` if there is none to be had."""
    try:
        async with asyncio.timeout(timeout_s):
            return Connection(await network.connect(address), timeout_s=timeout_s)
    except (ValueError, OverflowError) as problem:  # a system may name any host and port
        raise ConnectionError(f"{address} is no address: {problem}") from None
    except ConnectionError:
        raise
    except TimeoutError:
        raise Silence(f"no connection within {timeout_s:g} s") from None


async def ask_once(
    network: Network,
    address: Address,
    api: str,
    version: int,
    fields: Mapping[str, Any],
    *,
    timeout_s: float = PATIENCE_S,
) -> Mapping[str, Any]:
    """The answer to one request on a connection of its own."""
    connection = await connected(network, address, timeout_s=timeout_s)
    try:
        return await connection.ask(api, version, fields)
    finally:
        connection.abort()

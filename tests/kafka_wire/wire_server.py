"""A small server on loopback with real handlers, and raw bytes to throw at it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from reference_impl.kafka.apis import FETCH, METADATA, PRODUCE, Api
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.frames import request_frame
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context, Handler, serve
from reference_impl.live.network import StreamNetwork
from reference_impl.ports.network import Address, Connection, EndOfStream

Result = TypeVar("Result")
LOOPBACK = Address("127.0.0.1", 0)


async def metadata(context: Context, request: Any) -> Message:
    """Answers with one broker, named like the client."""
    node = METADATA.response.MetadataResponseBroker(node_id=1, host=context.client_id, port=9)
    return METADATA.response(brokers=[node])


async def produce(context: Context, request: Any) -> Message | None:
    """Echoes the number of bytes as the offset; with acks=0 says nothing."""
    if request.acks == 0:
        return None
    rows = [
        PRODUCE.response.TopicProduceResponse(
            name=topic.name,
            partition_responses=[
                PRODUCE.response.PartitionProduceResponse(
                    index=row.index, base_offset=len(row.records)
                )
                for row in topic.partition_data
            ],
        )
        for topic in request.topic_data
    ]
    return PRODUCE.response(responses=rows)


async def refused_fetch(context: Context, request: Any) -> Message:
    raise KafkaError(ErrorCode.fetch_session_id_not_found, "no sessions here")


HANDLERS: Mapping[Api, Handler] = {METADATA: metadata, PRODUCE: produce, FETCH: refused_fetch}


@asynccontextmanager
async def serving(
    handlers: Mapping[Api, Handler] = HANDLERS, limits: Limits | None = None
) -> AsyncIterator[Callable[[], Awaitable[Connection]]]:
    """A server; what it gives makes a connection to it."""
    network, shared = StreamNetwork(), limits or Limits()

    async def handle(connection: Connection) -> None:
        await serve(connection, handlers, limits=shared)

    listener = await network.listen(LOOPBACK, handle)
    made: list[Connection] = []

    async def connect() -> Connection:
        made.append(await network.connect(listener.address))
        return made[-1]

    try:
        yield connect
    finally:
        for connection in made:
            await connection.close()
        await listener.close()


def run(scenario: Callable[[], Awaitable[Result]], *, uncaught: int = 0) -> Result:
    """Run to the end; exactly so many failures may have reached the loop's exception handler."""
    seen: list[dict[str, Any]] = []

    async def watched() -> Result:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
        async with asyncio.timeout(60):  # a test that hangs is to fail
            return await scenario()

    result = asyncio.run(watched())
    assert len(seen) == uncaught, seen
    return result


async def read_frame(connection: Connection) -> bytes:
    """The next frame, without its size."""
    (size,) = struct.unpack(">i", await connection.read_exactly(4))
    return await connection.read_exactly(size)


async def is_closed(connection: Connection) -> bool:
    """Whether the server has closed, without another byte."""
    try:
        await connection.read_some(1)
    except ConnectionError as error:
        return isinstance(error, EndOfStream | ConnectionResetError)
    return False


def metadata_frame(correlation_id: int, version: int = 9, client_id: str = "me") -> bytes:
    """A whole request."""
    return request_frame(METADATA, version, correlation_id, client_id, METADATA.request(topics=[]))


def produce_frame(correlation_id: int, records: bytes, *, acks: int = 1) -> bytes:
    """A whole request."""
    row = PRODUCE.request.PartitionProduceData(index=0, records=records)
    topic = PRODUCE.request.TopicProduceData(name="t", partition_data=[row])
    return request_frame(
        PRODUCE, 9, correlation_id, "me", PRODUCE.request(acks=acks, topic_data=[topic])
    )


def framed(data: bytes) -> bytes:
    """Any bytes as a frame."""
    return struct.pack(">i", len(data)) + data

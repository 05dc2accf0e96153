"""The least that a client takes for a broker: asyncio, kio's messages, batches in memory.

It is the baseline of the rows about brokers, in a process of its own, as ours is. Each topic that
somebody asks for exists and has one partition. A batch gets its offset and is opaque otherwise: no
checksum, no look at records, no disk, no replicas, no limits, no errors. It offers one version of
each API, the one that librdkafka picks with our broker, too.

    python -m harness.cli.benches.broker_bare      says its port in one line, serves until killed
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import struct
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import UUID

from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

HOST = "127.0.0.1"
READ_AHEAD_BYTES = 16 << 20  # with the usual 64 KiB a batch of a megabyte comes in crumbs
OFFERED = {0: 10, 1: 16, 2: 7, 3: 12, 18: 3}
# Not typed: kio has a class for each width of number, and no plain one will do.
_PRODUCE: Any = import_module("kio.schema.produce.v10.response")
_FETCH: Any = import_module("kio.schema.fetch.v16.response")
_LIST_OFFSETS: Any = import_module("kio.schema.list_offsets.v7.response")
_METADATA: Any = import_module("kio.schema.metadata.v12.response")
_API_VERSIONS: Any = import_module("kio.schema.api_versions.v3.response")
_NO_TIME = timedelta(0)
_SIZE = struct.Struct(">i")


class Partition:
    """Batches, and the offset behind each."""

    def __init__(self) -> None:
        self._batches: list[bytes] = []
        self._ends: list[int] = []
        self.grown = asyncio.Event()

    @property
    def end(self) -> int:
        """The offset behind the last record."""
        return self._ends[-1] if self._ends else 0

    def append(self, batch: bytes) -> int:
        """The offset it gets; whoever waits for more may look again."""
        base = self.end
        self._batches.append(b"".join((base.to_bytes(8, "big"), memoryview(batch)[8:])))
        self._ends.append(base + int.from_bytes(batch[57:61], "big"))
        self.grown.set()
        self.grown = asyncio.Event()
        return base

    def read(self, offset: int, most: int) -> bytes:
        """Whole batches from that offset on: as many as fit, but one if there is any."""
        first = last = bisect_right(self._ends, offset)
        size = 0
        while last < len(self._batches):
            size += len(self._batches[last])
            if size > most and last > first:
                break
            last += 1
        return b"".join(self._batches[first:last])


class BareBroker:
    """Topics by name and by id, and an answer to each request."""

    def __init__(self) -> None:
        self.port = 0
        self._names: dict[UUID, str] = {}
        self._topics: dict[str, Partition] = {}
        answers: dict[int, Callable[[Any], Awaitable[Any]]] = {
            0: self._produce,
            1: self._fetch,
            2: self._list_offsets,
            3: self._metadata,
            18: self._api_versions,
        }
        self._codecs: dict[int, Any] = {}
        for key, answer in answers.items():
            asked: Any = load_request_schema(key, OFFERED[key])
            answered: Any = load_response_schema(key, OFFERED[key])
            self._codecs[key] = (
                entity_reader(asked.__header_schema__),
                entity_reader(asked),
                answer,
                answered.__header_schema__,
                entity_writer(answered.__header_schema__),
                entity_writer(answered),
            )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = _SIZE.unpack(await reader.readexactly(4))
                writer.write(await self._answered(await reader.readexactly(size)))
                await writer.drain()
        writer.close()

    async def _answered(self, frame: bytes) -> bytes:
        read_header, read, answer, header, write_header, write = self._codecs[
            int.from_bytes(frame[:2], "big")
        ]
        asked, at = read_header(frame, 0)
        request, _ = read(frame, at)
        buffer = io.BytesIO(bytes(4))
        buffer.seek(4)
        write_header(buffer, header(correlation_id=asked.correlation_id))
        write(buffer, await answer(request))
        _SIZE.pack_into(buffer.getbuffer(), 0, len(buffer.getbuffer()) - 4)
        return buffer.getvalue()

    def _partition(self, name: str) -> Partition:
        if name not in self._topics:
            self._topics[name] = Partition()
            self._names[UUID(int=len(self._topics))] = name
        return self._topics[name]

    def _topic_id(self, name: str) -> UUID:
        return next(topic_id for topic_id, one in self._names.items() if one == name)

    async def _produce(self, request: Any) -> Any:
        said = _PRODUCE
        return said.ProduceResponse(
            responses=tuple(
                said.TopicProduceResponse(
                    name=topic.name,
                    partition_responses=tuple(
                        said.PartitionProduceResponse(
                            index=one.index,
                            error_code=ErrorCode.none,
                            base_offset=self._partition(topic.name).append(one.records),
                            log_start_offset=0,
                            record_errors=(),
                        )
                        for one in topic.partition_data
                    ),
                )
                for topic in request.topic_data
            )
        )

    async def _fetch(self, request: Any) -> Any:
        said = _FETCH
        asked = [(topic, one) for topic in request.topics for one in topic.partitions]
        if len(asked) == 1:  # a consumer that waits, waits for one partition here
            partition = self._topics[self._names[asked[0][0].topic_id]]
            if asked[0][1].fetch_offset >= partition.end:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(request.max_wait.total_seconds()):
                        await partition.grown.wait()
        return said.FetchResponse(
            throttle_time=_NO_TIME,
            error_code=ErrorCode.none,
            session_id=0,
            responses=tuple(
                said.FetchableTopicResponse(
                    topic_id=topic.topic_id,
                    partitions=tuple(self._data(topic.topic_id, one) for one in topic.partitions),
                )
                for topic in request.topics
            ),
        )

    def _data(self, topic_id: UUID, asked: Any) -> Any:
        partition = self._topics[self._names[topic_id]]
        return _FETCH.PartitionData(
            partition_index=asked.partition,
            error_code=ErrorCode.none,
            high_watermark=partition.end,
            last_stable_offset=partition.end,
            log_start_offset=0,
            aborted_transactions=None,
            records=partition.read(asked.fetch_offset, asked.partition_max_bytes),
        )

    async def _list_offsets(self, request: Any) -> Any:
        said = _LIST_OFFSETS
        return said.ListOffsetsResponse(
            throttle_time=_NO_TIME,
            topics=tuple(
                said.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=tuple(
                        said.ListOffsetsPartitionResponse(
                            partition_index=one.partition_index,
                            error_code=ErrorCode.none,
                            offset=0 if one.timestamp == -2 else self._partition(topic.name).end,
                            leader_epoch=0,
                        )
                        for one in topic.partitions
                    ),
                )
                for topic in request.topics
            ),
        )

    async def _metadata(self, request: Any) -> Any:
        said = _METADATA
        for topic in request.topics or ():
            self._partition(topic.name)
        partition = said.MetadataResponsePartition(
            error_code=ErrorCode.none,
            partition_index=0,
            leader_id=1,
            leader_epoch=0,
            replica_nodes=(1,),
            isr_nodes=(1,),
        )
        return said.MetadataResponse(
            throttle_time=_NO_TIME,
            brokers=(said.MetadataResponseBroker(node_id=1, host=HOST, port=self.port),),
            cluster_id="bare",
            controller_id=1,
            topics=tuple(
                said.MetadataResponseTopic(
                    error_code=ErrorCode.none,
                    name=name,
                    topic_id=self._topic_id(name),
                    partitions=(partition,),
                )
                for name in (one.name for one in request.topics or ())
            ),
        )

    async def _api_versions(self, request: Any) -> Any:
        said = _API_VERSIONS
        return said.ApiVersionsResponse(
            error_code=ErrorCode.none,
            throttle_time=_NO_TIME,
            api_keys=tuple(
                # From 0, or librdkafka would take it for a broker that lacks what it needs.
                said.ApiVersion(
                    api_key=key,
                    min_version=0,
                    max_version=version,
                )
                for key, version in OFFERED.items()
            ),
        )


async def _main() -> None:
    broker = BareBroker()
    server = await asyncio.start_server(broker.serve, HOST, 0, limit=READ_AHEAD_BYTES)
    broker.port = server.sockets[0].getsockname()[1]
    print(broker.port, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
